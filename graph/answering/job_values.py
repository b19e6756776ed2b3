"""What a question about a job tells: which of the printed jobs it means, what is to change, and to which value."""

from __future__ import annotations

import re
from collections.abc import Sequence

from knowledge.schedulers.records import QueuedJob

STRETCH = (
    r"(\d+(?:[.,]\d+)?)\s*(s(?:ec\w*)?|m(?:in\w*)?|h(?:ours?|rs?)?|d(?:ays?)?|std\w*|stunden?|heures?|horas?|ore)\b"
)
AIMED_AT = re.compile(rf"\b(?:to|auf|zu|à|a|hasta)\s+{STRETCH}(?!\s+(?:more|longer|less|mehr|länger))", re.I)
ANY_STRETCH = re.compile(STRETCH, re.I)
# What stands before the length that a job has, and is no wish.
OF_NOW = re.compile(
    r"(?i)\b(?:is|are|has|was|asks?(?: for)?|of|from|ist|hat|von|est|de|es|tiene)\s+"
    r"(?:now\s+|at\s+|set\s+to\s+)?$|\b(?:in|since|after|for|seit|nach|depuis|desde)\s+(?:the\s+)?$"
)
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "o": 3600}
NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "ein": 1, "zwei": 2, "un": 1}
NODES = re.compile(rf"(?i)\b(\d{{1,5}}|{'|'.join(NUMBERS)})\s+(?:nodes?|knoten|n[oœ]e?uds?|nodos?|nodi)\b")
# What of a job is to change: the commands that change it, and the words that ask for it.
CHANGED = {
    "time": (
        r"TimeLimit=|walltime=|-W 12|duration=",
        r"(?i)\b(?:time|walltime|limit|short\w*|long\w*|less|hours?|days?|zeit|kürz\w*|temps|tiempo|tempo)\b|\d ?h\b",
    ),
    "nodes": (r"NumNodes=|nodect|select=|-n \d", r"(?i)\bnodes?\b|\bknoten\b|\bn[oœ]e?uds?\b|\bnodos?\b|\bnodi\b"),
    "queue": (
        r"Partition=|qmove|bswitch|queue=",
        r"(?i)(?<!in the )(?<!in der )\b(?:queue|partition|qos|warteschlange|file d'attente|cola|coda)\b",
    ),
    "parent": (r"Dependency=|depend=|-w ", r"(?i)\b(?:after|depend\w*|behind|nach|apr[eè]s|dopo)\b"),
    "throttle": (r"ArrayTaskThrottle", r"(?i)\b(?:array|at (?:once|a time)|throttle|parallel)\b"),
}
CLOCK = r"(\d{1,2})[:.h](\d\d)?"
NOW = re.compile(rf"(?i)\b(?:now|jetzt|maintenant|ahora|adesso)\b\D{{0,12}}{CLOCK}")
BEGINS = re.compile(
    rf"(?i)\b(?:maintenance|downtime|reservation|wartung|it|window)\b[^.?!]{{0,30}}?\b(?:starts?|begins?|at|from|ab|um)\b\D{{0,15}}{CLOCK}"
)
WINDOW = "Started now ({}) it would end at {}, {} {}: it has to start by {}, and later only with less time."
WAITING = re.compile(r"(?i)\b(?:pending|waiting|queued|not (?:yet )?(?:running|started)|wartend\w*)\b")
RUNNING = re.compile(r"(?i)\b(?:running|started|laufend\w*)\b")
FIRST = re.compile(r"(?i)\b(?:top|upper)\b|\b(?:the|my) (?:first|oldest)\b")
LAST = re.compile(r"(?i)\b(?:bottom|lower) (?:one|job)\b|\b(?:the|my) (?:last|bottom|newest|latest)\b")
# `What if I kill 12?`: what it would mean for the waiting one is asked.
SUPPOSED = re.compile(r"(?i)\b(?:if|wenn|falls|si|se|als)\b|如果|もし")
SPARED = re.compile(r"(?i)\b(?:but|except\w*|other than|apart from|besides?|not|keep|leave)\b")
WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{2,}")


def wanted_seconds(text: str) -> float | None:
    """The time that a job is to have; None where none is said, or several may be meant."""
    if aimed := AIMED_AT.search(text):
        return seconds_of(aimed)
    free = [one for one in ANY_STRETCH.finditer(text) if not OF_NOW.search(text[: one.start()])]
    return seconds_of(free[0]) if len(free) == 1 else None


def seconds_of(found: re.Match[str]) -> float:
    return float(found[1].replace(",", ".")) * UNITS[found[2][0].lower()]


def wanted_nodes(text: str) -> int | None:
    """The number of nodes that a job is to have; None where not one is said."""
    found = {NUMBERS.get(one.lower(), one) for one in NODES.findall(text)}
    return int(found.pop()) if len(found) == 1 else None


def changes_meant(text: str) -> list[str]:
    """What of a job is to change, by the commands that do it; empty where nothing of it is named."""
    return [command for command, words in CHANGED.values() if re.search(words, text)]


def fits_before(text: str, seconds: float) -> str:
    """Whether a job of that length ends before what is told to begin; empty where the two times are not told."""
    now, begins = NOW.search(text), BEGINS.search(text)
    if not now or not begins:
        return ""
    at, until = (int(one[1]) * 60 + int(one[2] or 0) for one in (now, begins))
    left = (until - at) % 1440 - seconds / 60
    if left < 0:
        return f"Started now it would not end before {clock(until)}: {clock(until - at)} hours are left."
    return WINDOW.format(clock(at), clock(at + seconds / 60), "before", clock(until), clock(at + left))


def clock(minutes: float) -> str:
    return f"{int(minutes) // 60 % 24:02d}:{int(minutes) % 60:02d}"


def jobs_named(text: str, jobs: Sequence[QueuedJob]) -> tuple[str, ...]:
    """The ids of the printed jobs that the words mean by number, name, state or place; empty where none is told
    apart."""
    there = [one for one in jobs if one.id and one.phase not in ("ended", "ending")]
    cut = SPARED.search(text)
    said, spared = (text[: cut.start()], text[cut.end() :]) if cut else (text, "")
    kept = meant_by(spared, there) if cut else []
    found = meant_by(said, there) or (there if kept else [])
    return tuple(id_of(one) for one in found if one not in kept)


def meant_by(text: str, jobs: list[QueuedJob]) -> list[QueuedJob]:
    """By number; by a part of the name that not all have; by state; by place. Each narrows what is left."""
    if by_id := [one for one in jobs if re.search(rf"(?<!\d){re.escape(id_of(one))}(?!\d)", text)]:
        return by_id
    if by_name := [one for one in jobs if one.name and re.search(rf"(?<![\w-]){re.escape(one.name)}(?![\w-])", text)]:
        return by_name
    words = [one.lower() for one in WORD.findall(text)]
    named = [one for one in jobs if any(is_called(word, part) for part in parts(one, jobs) for word in words)]
    named = named or called_in_short(text, jobs)
    left = named or jobs
    for pattern, phase in ((WAITING, "waiting"), (RUNNING, "running")):
        if pattern.search(text):
            left = named = [one for one in left if one.phase == phase]
    if len(jobs) > 1 and left and (FIRST.search(text) or LAST.search(text)):
        return [left[-1] if LAST.search(text) else left[0]]
    return named


def parts(job: QueuedJob, jobs: Sequence[QueuedJob]) -> list[str]:
    """The parts of a job's name that tell it from others."""
    own = [one.lower() for one in WORD.findall(job.name)]
    return [one for one in own if not all(one in other.name.lower() for other in jobs)]


def is_called(word: str, part: str) -> bool:
    """Whether a word is a name's part, or one is short for the other (`abl`, `ablation`)."""
    short, long = sorted((word, part), key=len)
    return len(short) >= 3 and long.startswith(short)


# `the eval one`: what follows the article is what the job is called.
CALLED = re.compile(r"(?i)\b(?:the|my|de[rn]|die|das|l[ea]|el|il|lo) (\w{3,}) (?:one|1|jobs?|run|task|array)\b")
# A column of squeue cuts names at so many letters.
NAME_WIDTH = 8


def called_in_short(text: str, jobs: Sequence[QueuedJob]) -> list[QueuedJob]:
    """The one job that is called by a part of its name, also by one that the column cut: `boltz-ev`, the eval one."""
    words = [one.lower() for one in CALLED.findall(text)]
    found = [
        job
        for job in jobs
        if any(is_called(word, part) for word in words for part in parts(job, jobs))
        or any(word.startswith(end) for word in words for end in cut_end(job.name))
    ]
    return found if len(found) == 1 else []


THE_OTHER = re.compile(
    r"(?i)\bthe other(?: one| job)?\b(?! jobs)|\b(?:de[rnm]|die|das) andere\w*|\bl['\u2019]autre\b|\bel otro\b"
)


def other_than_named(text: str, jobs: Sequence[QueuedJob]) -> tuple[str, ...]:
    """The one waiting job beside the one that the words name, where they speak of the other (`kill the eval one, cut
    the time of the other`)."""
    waits = [one for one in jobs if one.id and one.phase == "waiting"]
    named = meant_by(THE_OTHER.sub(" ", text), waits) if THE_OTHER.search(text) else []
    left = [one for one in waits if one not in named]
    return (id_of(left[0]),) if len(named) == 1 and len(left) == 1 else ()


def cut_end(name: str) -> list[str]:
    """The last part of a name that its column may have cut, if it is more than a letter."""
    end = re.split(r"[^a-z]", name.lower())[-1] if len(name) == NAME_WIDTH else ""
    return [end] if len(end) > 1 else []


# What is done with a job, in a sentence that may name others, too.
DEED = re.compile(
    r"(?i)\b(?:s?cancel\w*|kill\w*|stop\w*|delet\w*|remov\w*|qdel|bkill|get rid of|hold|releas\w*|chang\w*|extend\w*"
    r"|shorten\w*|lower\w*|rais\w*|mov(?:e|ing)|requeue\w*|abbrech\w*|storn\w*|annul\w*|supprim\w*|änder\w*"
    r"|elimin\w*|cambi\w*|avbryt\w*)\b|取消|キャンセル|취소"
)
STOPS = re.compile(r"[;.?!\n]\s")
LISTED = re.compile(r"(?i)\s*(?:[,&/+]|and|und|et|y|e|och|en)?\s*(?:and|und|et|y|e|och|en)?\s*(?:#|job )?\s*")
# Behind a number that the deed is not done with: it is the subject of its own clause.
SUBJECT = re.compile(
    r"(?i)\s+(?:keeps?|stays?|runs?|should|shall|is|are|was|has|must|can|may|will|needs?|goes|bleibt|läuft|soll)\b"
)
FAR = 1000


def ids_of_deed(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """Of the job numbers that stand at these places those that the deed's verb stands nearest to, in its own sentence
    before others, with what is listed beside them; all where no verb tells."""
    deed = DEED.search(text)
    if deed is None or len(spans) < 2:
        return tuple(text[a:b] for a, b in spans)

    def apart(span: tuple[int, int]) -> int:
        between = text[deed.end() : span[0]] if span[0] > deed.start() else text[span[1] : deed.start()]
        return len(between) + FAR * len(STOPS.findall(between))

    at = spans.index(min(spans, key=apart))
    first = last = at
    while first and LISTED.fullmatch(text[spans[first - 1][1] : spans[first][0]]):
        first -= 1
    while last + 1 < len(spans) and LISTED.fullmatch(text[spans[last][1] : spans[last + 1][0]]):
        if SUBJECT.match(text, spans[last + 1][1]):
            break
        last += 1
    return tuple(text[a:b] for a, b in spans[first : last + 1])


def id_of(job: QueuedJob) -> str:
    """The number by which a command takes it: without a server's name that a column cut."""
    return re.sub(r"\..*\*$", "", job.id).partition("_[")[0]


def means_others(text: str, jobs: Sequence[QueuedJob]) -> bool:
    """Whether the words spare some of several printed jobs, or mean jobs of which none waits: what is known of the
    waiting one is no answer to that."""
    named = jobs_named(text, jobs)
    phases = {one.phase for one in jobs if id_of(one) in named}
    elsewhere = "waiting" not in phases and not SUPPOSED.search(text)
    return len(jobs) > 1 and bool(named) and (bool(SPARED.search(text)) or elsewhere)
