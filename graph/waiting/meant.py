"""Which of the jobs in a message is meant: by id, by name, by user; else each that waits."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from typing import Any

from knowledge.schedulers.command_lines import PROMPT, prompted
from knowledge.schedulers.records import QueuedJob, SchedulerOutput

# `squeue -u marta`, `squeue | grep marta`.
USER_OPTION = re.compile(r"(?:(?:-u|--user|-U)[= ]*|\|\s*grep (?:-\w+ )*)([\w.-]+)")
# "Will it start when 90377 is over?" is asked of the one that waits.
SOON = re.compile(
    r"(?i)\b(?:when|after|once|until|wenn|sobald|nach|quand|apr[eè]s|cuando|quando|dopo|depois) (?:\w+ )?\d{2}"
)
# A condition as it is given to a submission: its jobs are waited for, and not asked about.
CONDITION_GIVEN = re.compile(
    r"(?:(?<![\w-])-[dw]|--dependency|-W *depend)[= ]*[\"']?([a-z][^\s\"',;]+(?: *&& *[^\s\"',;]+)*)"
)
PROMPT_USER = re.compile(r"^[^\S\n]*\[?([\w.-]+)@[\w.-]+", re.MULTILINE)


def read_jobs(outputs: Sequence[SchedulerOutput]) -> list[QueuedJob]:
    """The jobs of all outputs, each once: what several outputs tell of one job is put together.

    What stands without an id (a part cut out by grep, a comment alone) belongs to the one job that it can be of.
    """
    tellings: dict[tuple[str, str], list[QueuedJob]] = {}
    nameless: list[QueuedJob] = []
    rows: list[QueuedJob] = []
    for output in outputs:
        bare = [job for job in output.jobs if not job.id]
        (rows if len(bare) > 1 else nameless).extend(bare)  # several rows without ids are as many jobs
        for job in output.jobs:
            if job.id:
                tellings.setdefault((job.scheduler, job.id), []).append(job)
    jobs = [joined(told) if len(told) > 1 else told[0] for told in tellings.values()]
    for part in nameless:
        may = [job for job in jobs if may_be_of(part, job)]
        waiting = [job for job in may if job.phase in ("waiting", "unknown") or job.state == "B"]
        owners = [job for job in waiting if not job.reason] if len(waiting) > 1 else waiting or may
        if len(owners) > 1:  # what has a planned start is what the others wait behind
            owners = [job for job in owners if not job.start]
        if len(owners) == 1:
            jobs[jobs.index(owners[0])] = joined([owners[0], part])
        else:
            jobs.append(part)
    return [*jobs, *rows]


# Of these a job has one value each, whichever command prints it.
SAME = ("name", "user", "queue", "account", "qos", "nodes", "limit")


def may_be_of(part: QueuedJob, job: QueuedJob) -> bool:
    """Whether what stands without an id can be told of this job: nothing of it contradicts."""
    if part.scheduler != job.scheduler or (part.reason and job.reason and not same_reason(part.reason, job.reason)):
        return False
    # An array of PBS has begun (B) while its tasks wait.
    if part.phase not in (job.phase, "unknown") and job.phase != "unknown" and job.state != "B":
        return False
    values = ((getattr(part, name), getattr(job, name)) for name in SAME)
    return all(one in ("", None) or other in ("", None) or alike(str(one), str(other)) for one, other in values)


def alike(one: str, other: str) -> bool:
    """Whether two printed values are one: a column of squeue cuts them at eight letters."""
    short, long = sorted((one.rstrip("+"), other.rstrip("+")), key=len)
    return short == long or (len(short) >= 7 and long.startswith(short))


def same_reason(one: str, other: str) -> bool:
    """Whether two reasons are one: scontrol prints `_` for a blank, and a column cuts."""
    short, long = sorted((re.sub(r"[\W_]+", "", text).lower() for text in (one, other)), key=len)
    return long.startswith(short)


LASTING = ("name", "user", "queue", "account", "qos", "nodes", "tasks", "limit", "submitted", "depends")


def joined(tellings: Sequence[QueuedJob]) -> QueuedJob:
    """What several outputs tell of one job, in the order of the paste: the first value of each field.

    Where they tell of different states the last one is true now (a run that ended before the job was put back, a job
    that started between two looks); of the others only what does not change with the state is kept.
    """
    now = next((job.phase for job in reversed(tellings) if job.phase != "unknown"), "unknown")
    same = [job for job in tellings if job.phase in (now, "unknown")]
    older = [job for job in tellings if job.phase not in (now, "unknown")]
    first = next((job for job in same if job.phase == now), same[0])
    ended = [job for job in older if job.phase == "ended"]
    last = {"State": ended[-1].state, "End": ended[-1].printed("End"), "Exit": ended[-1].exit_code} if ended else {}
    last |= {"Nodes": ended[-1].where or ended[-1].printed("NodeList")} if ended else {}
    ran = tuple((f"Earlier{name}", value) for name, value in last.items())
    ran += (("EarlierRuns", str(len(ended))),) if ended else ()
    values: dict[str, Any] = {
        field.name: filled_in(field.name, (first, *same, *(older if field.name in LASTING else ())))
        for field in fields(first)
        if field.name not in ("fields", "scheduler", "phase")
    }
    told = dict.fromkeys((*(pair for job in same for pair in job.fields), *ran))
    return replace(first, **values, fields=tuple(told))


def filled_in(name: str, tellings: Sequence[QueuedJob]) -> object:
    """The first of the tellings' values that is printed."""
    empty = getattr(tellings[0], name)
    # The accounting prints `None` for every job that has not begun.
    nothing = ("", None, "None") if name == "reason" else ("", None)
    return next((value for job in tellings if (value := getattr(job, name)) not in nothing), empty)


def jobs_meant(jobs: Sequence[QueuedJob], words: str, text: str) -> list[QueuedJob]:
    """The jobs that the words are about: named by id, by name or by user; all where none of these is told.

    Steps of a job (`71208.batch`) stand for their job. Of the jobs that are meant those that wait come first.
    """
    whole = [job for job in jobs if not re.search(r"\d\.\w+$", job.id) or job.scheduler != "slurm"] or list(jobs)
    ids = {job.id for job in whole if job.id}
    said = CONDITION_GIVEN.sub(" ", " ".join(line for line in words.splitlines() if not is_printed(line, ids)))
    asked = " ".join(PROMPT.sub("", line, count=1) for line in words.splitlines() if prompted(line))
    waits = [job for job in whole if job.phase == "waiting"]
    meant = named_by(whole, said, "id") or named_by(whole, said, "name")
    if not meant:
        # A command that names a job only looks at it: the parent of one that waits, say.
        shown = named_by(whole, asked, "id")
        meant = shown if not waits or any(job.phase == "waiting" for job in shown) else []
    if not meant and any(job.reason for job in waits):  # one with a planned start alone is what the others wait behind
        whole = [job for job in whole if job.reason or not job.start or job.phase != "waiting"]
    meant = meant or by_user(whole, said, text) or by_reason(waits, said) or whole
    if len(meant) == 1 and (own := beaten_by(meant[0], waits, said)):
        meant = own
    if waits and SOON.search(said) and all(job.phase == "running" for job in meant):
        meant = waits
    order = {"waiting": 0, "starting": 1, "suspended": 2, "running": 3, "ending": 4, "ended": 5, "unknown": 6}
    if any(job.phase == "waiting" for job in meant):
        meant = [job for job in meant if job.phase == "waiting"]
    return sorted(meant, key=lambda job: order[job.phase])


def is_printed(line: str, ids: Collection[str]) -> bool:
    """Whether it is a command, or a row that begins with a job's id and holds no word: neither asks about that job."""
    first, *rest = line.split() or [""]
    words = any(re.search(r"[^\W\d_]{2}", one) for one in rest)
    return bool(prompted(line)) or (first in ids and not words and bool(re.search(r"\d", " ".join(rest))))


RIVAL = re.compile(
    r"(?i)\b(?:beat\w*|before|ahead of|in front of|overt\w+|pass\w*|than|vor|avant|devant|antes que|prima di)\b"
    r"[^.?\n]{0,20}"
    r"\b(?:me|mine|my|mir|meine\w*|mien|moi|mon|mi|mí|mio|io)\b"
)


def beaten_by(named: QueuedJob, waits: Sequence[QueuedJob], said: str) -> list[QueuedJob]:
    """The jobs that are asked about where the named one is another user's: `why is 5090 ahead of me?`."""
    others = [
        job for job in waits if job.id != named.id and named.user and job.user and not alike(job.user, named.user)
    ]
    return others if RIVAL.search(said) and len({job.user for job in others}) == 1 else []


def named_by(jobs: Sequence[QueuedJob], words: str, field: str) -> list[QueuedJob]:
    """The jobs whose id or name stands in the words as a word; a name has to be no common one of the table's own."""
    found = []
    for job in jobs:
        name = getattr(job, field)
        base = re.split(r"[_\[.]", name)[0] if field == "id" else name.rstrip("+")
        # Looked for plainly first: a pattern for each of 50,000 jobs is dear.
        if field == "name":  # `es2` of `sft-es2`, where no other job's name has it
            parts = [part for part in re.split(r"[^A-Za-z0-9]+", base) if re.search(r"\d", part) and len(part) > 2]
            said = [] if base in words else [part for part in parts if part in words]
            base = next((part for part in said if sum(part in one.name for one in jobs) == 1), base)
        if len(base) > 2 and base in words and re.search(rf"(?<![\w/.-]){re.escape(base)}(?![\w/-])", words):
            found.append(job)
    waiting = [job for job in found if job.phase == "waiting"]
    return (waiting or found) if field == "id" else found if len(found) < len(jobs) or waiting else []


def by_reason(waits: Sequence[QueuedJob], said: str) -> list[QueuedJob]:
    """Of the waiting jobs of several users the one whose reason the person names: `my job has (Priority), why?`."""
    named = [job for job in waits if len(job.reason) > 5 and job.reason in said]
    return named if len(named) == 1 and len({job.user for job in waits}) > 1 else []


I_AM = re.compile(
    r"(?i)\b(?:i am|i'm|im|my (?:user ?name|user|login|account) is|ich bin|je suis|soy|sou|sono|ik ben)\W+([\w.-]+)"
)
# Names in a prompt that stand for anybody.
NOBODY = ("user", "username", "me", "root", "login", "you")
MY_JOB = re.compile(r"(?i)\b(?:my|mine|mein\w*|mon|mi|meu|mio|mijn)\b(?: [a-z]+){0,2}[ (#]*(\d{3,}[\w.\[\]-]*)")
ANOTHERS = re.compile(
    r"(?i)\b(?:his|her|their|someone else(?:'s)?|"
    r"(?:my |a )?(?:colleague|coworker|labmate|student|postdoc|supervisor|boss|friend)(?:'s)?|"
    r"kolleg\w+|collègue|compañer\w+|collega)\b"
)


# What lists the jobs of whoever runs it (bjobs and flux do so by themselves; `-u`, `-A` and `-a` name others).
OWN_LIST = re.compile(
    r"\bsqueue\b[^|\n]{0,300}(?:--me\b|(?:-u|--user)[= ]*\"?\$\{?(?:USER|LOGNAME)\b)|"
    r"\bqstat\b[^|\n]{0,300}-\w*u[= ]*\"?\$\{?USER\b|"
    r"\bbjobs\b(?![^|\n]{0,300}-u)|\bflux jobs\b(?![^|\n]{0,300} -\w*[Au])"
)


def lister(outputs: Sequence[SchedulerOutput], text: str) -> str:
    """The user whose jobs a command printed that lists one's own; empty where none did."""
    lines = text.split("\n")
    own = (one for one in outputs if one.jobs and one.first and OWN_LIST.search(lines[one.first - 1]))
    users = {job.user for output in own for job in output.jobs if job.user}
    return next(iter(users)) if len(users) == 1 else ""


def speaker(jobs: Sequence[QueuedJob], words: str, text: str, own: str = "") -> str:
    """The user name of the person who speaks, by the prompt, a sentence or a job of theirs; empty: not told.

    `own`: the user whose jobs a command listed as one's own.
    """
    users = {job.user.rstrip("+") for job in jobs if job.user}
    said = [name for one in I_AM.findall(words) if (name := one.rstrip(".-")) in users]
    mine = [job.user for one in MY_JOB.findall(words) for job in jobs if job.id == one and job.user]
    prompt = [name for name in PROMPT_USER.findall(text) if name not in NOBODY]
    return next(iter([*said, *prompt, *filter(None, [own]), *mine]), "")


def is_anothers(job: QueuedJob, who: str, words: str) -> bool:
    """Whether the job is not the person's own: of another user than they are, or theirs by the words."""
    if who and job.user:
        return not alike(job.user, who)
    return bool(ANOTHERS.search(words)) and bool(job.user) and bool(re.search(rf"\b{re.escape(job.user)}\b", words))


def by_user(jobs: Sequence[QueuedJob], words: str, text: str) -> list[QueuedJob]:
    """The jobs of the user who speaks: `i am tvogel`, `-u tvogel`, the user of the prompt."""
    jobs = [job for job in jobs if job.id.strip()] or jobs
    users = {job.user.rstrip("+") for job in jobs if job.user}
    asked = [*USER_OPTION.findall(text), *PROMPT_USER.findall(text), *re.findall(r"[\w-]+(?:\.[\w-]+)*", words)]
    user = next((name for name in asked if name in users), "")
    return [job for job in jobs if user and job.user.rstrip("+") == user]
