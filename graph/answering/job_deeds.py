"""What to do with a job: by the scheduler's own commands, and the machine's where it has others."""

from __future__ import annotations

import re

from graph.answering.job_values import (
    STRETCH,
    UNITS,
    changes_meant,
    fits_before,
    wanted_nodes,
    wanted_seconds,
)
from graph.answering.situation import Situation, cite, gpu_tool, list_steps, write_document
from knowledge.document import Document
from knowledge.general_facts import Deed, job_life
from knowledge.schedulers.times import asked_time
from knowledge.site import Site, as_there, site_of
from knowledge.types import SCHEDULERS

NAMES = {"slurm": "Slurm", "pbs": "PBS", "lsf": "LSF", "flux": "Flux"}
# Which field of a site's `watch` tells the same thing in that machine's own commands.
OF_THE_SITE = {
    "watch": "queue",
    "start": "start_estimate",
    "output": "output",
    "cancel": "cancel",
    "hold": "hold",
    "efficiency": "efficiency",
}
UNCHANGED = (
    "There users cannot change a job that was handed in (the command for it is off): cancel it, change the script and "
    "hand it in anew. It then waits from the start again."
)
# More time for a job that is there: what users mostly cannot give it, and what they do instead.
LENGTHENS = re.compile(
    r"(?i)\b(?:more|extra|additional|another) (?:\w+ ){0,2}(?:(?:run|wall)?time|h|hrs?|hours?|days?|min(?:ute)?s?)\b"
    r"|\b(?:\d+|\w+) ?(?:h|hrs?|hours?|days?|min(?:ute)?s?) (?:more|longer|extra|on top)\b"
    r"|\b(?:longer|lengthen\w*|extend\w*|prolong\w*|extension|l[äa]nger\w*|verl[äa]nger\w*|rallong\w*|alarg\w+"
    r"|extender|ampliar|allung\w+|estend\w+)\b(?! than)|\b(?:increas|rais)\w+ (?:\w+ ){0,2}(?:\w*time|limit)\b"
    r"|\bmehr (?:lauf)?zeit|\b(?:stunden|std|tage?|minuten) (?:mehr|länger)|\bnoch \w+ (?:stunden|std|tage)"
    r"|\bplus (?:de temps|longtemps)|\bheures? de plus|\bm[áa]s (?:tiempo|horas)|\bpi[ùu] (?:tempo|ore)|延長|延ば"
)
SUBMIT = ("sbatch {", "qsub {", "bsub <", "flux batch")


def explain_deed(name: str, situation: Situation) -> Document | None:
    """How to do that with a job (submit, watch, cancel ...); None where no scheduler has such an entry.

    Without a machine or scheduler Slurm is told, and of each other one the command.
    """
    name = "longer" if name == "change" and LENGTHENS.search(situation.text) else name
    if name not in job_life()["slurm"]:
        return None
    if situation.queueing is None:
        return compare_schedulers(name, situation)
    deed = job_life()[situation.queueing].get(name)
    if deed is None:
        return None
    site = site_of(situation.cluster.id) if situation.cluster else None
    there = situation.cluster.id if situation.cluster else ""
    asked = told_steps(name, deed, situation)
    ways = [(text, as_there(command, there)) for text, command in asked]
    window = ""
    if name == "change":
        seconds = wanted_seconds(situation.text)
        ways = [(text, with_values(command, situation, seconds)) for text, command in ways]
        window = fits_before(situation.text, seconds) if seconds else ""
    steps = [(text, fill(command, situation)) for text, command in ways if command]
    own, pages = say_of_site(name, situation, site)
    if name == "notify" and site and site.sends_no_mail:
        return write_document(own, cite(pages, date(site)))
    if name == "change" and any(command and not told for (_, command), (_, told) in zip(asked, ways, strict=True)):
        return write_document(UNCHANGED, cite(pages, date(site)))
    if name == "detached" and (situation.by_hand or BY_HAND.search(situation.text)):
        return write_document(ENDS_WITH_IT, fill(deed.note, situation), fill(deed.says, situation))
    own = "" if name == "cancel" and not ends_many(situation.text) and ENDS_ALL.search(own) else own
    return write_document(
        answer_first(name, f"{situation.text} {situation.before}"),
        fill(deed.says, situation),
        list_steps(*steps),
        window,
        fill(deed.note, situation),
        own,
        cite(pages, date(site)),
    )


# What runs in a terminal, and what is said of it first where the talk is of that.
BY_HAND = re.compile(r"(?i)\b(?:salloc|srun|qsub -I|bsub -I\w*|flux alloc|idev|interact\w*|interakt\w*|login node)\b")
ENDS_WITH_IT = "An interactive session normally ends with the connection, and what runs in it ends too."
MANY = re.compile(r"(?i)\b(?:all|every\w*|jobs|both|several|those|these|which|waiting|pending|queued)\b")
SPARES = re.compile(r"(?i)\b(?:but|except\w*|other than|apart from|besides?|not)\b")
# What ends more than one job, in a site's own words.
ENDS_ALL = re.compile(r"scancel (?:--me|-u)|qselect|bkill (?:-u|0)|flux cancel --all")


def ends_many(text: str) -> bool:
    """Whether several jobs are to be ended, and none of them spared."""
    return bool(MANY.search(text)) and not SPARES.search(text)


def told_steps(name: str, deed: Deed, situation: Situation) -> list[tuple[str, str]]:
    """The deed's steps. Who would end one job is not shown what ends all; who spares one is not shown how to end it."""
    if name == "change" and (meant := changes_meant(situation.text)):
        of_it = [one for one in deed.steps if any(re.search(command, one[1]) for command in meant)]
        return [*of_it, deed.steps[-1]] if of_it else list(deed.steps)
    if name != "cancel":
        return list(deed.steps)
    if len(situation.jobs) > 0:
        return [("these and no other" if len(situation.jobs) > 1 else "this one", deed.steps[0][1])]
    if ends_many(situation.text):
        return list(deed.steps)
    if MANY.search(situation.text):
        return [("each by its number", deed.steps[0][1].replace("{job}", "JOBID"))]
    return [(text, command) for text, command in deed.steps if "{job}" in command]


def answer_first(name: str, text: str) -> str:
    """What the words themselves decide: the end of a run whose steps are said, or that a cancelled job is gone."""
    if name == "cancel" and re.search(r"\b(?:back|undo|restore|recover)\b", text, re.I):
        return "No: a cancelled job is gone; submit its script again. What it had written stays, checkpoints too."
    return estimate(text) if name == "runtime" else ""


def estimate(text: str) -> str:
    """Time a step x steps, from `step 1400/50000 after 35 min`; with a limit whether it is enough. Empty: not said."""
    steps = re.search(r"\b(\d[\d,]*)\s*(?:/|of|out of)\s*(\d[\d,]*)\b", text)
    took = re.search(rf"\b(?:after|in|took|for|since)\s+{STRETCH}", text, re.I)
    limit = re.search(rf"\blimit\D{{0,12}}{STRETCH}", text, re.I)
    if not steps or not took:
        return ""
    done, every = (int(steps[at].replace(",", "")) for at in (1, 2))
    seconds = float(took[1]) * UNITS[took[2][0].lower()]
    if not 0 < done <= every:
        return ""
    each, whole = seconds / done, seconds / done * every
    told = (
        f"About {(whole - seconds) / 3600:.1f} h more: {seconds / 60:.0f} min / {done} = {each:.2f} s a step, x "
        f"{every} = "
        f"{whole / 3600:.1f} h in all, if the pace holds (start-up makes it look slower)."
    )
    if not limit:
        return told
    most = float(limit[1]) * UNITS[limit[2][0].lower()]
    fits = "It fits" if whole < 0.9 * most else "It is tight" if whole < most else "It does not fit"
    return f"{told} {fits} in the limit of {most / 3600:g} h; save checkpoints."


def compare_schedulers(name: str, situation: Situation) -> Document:
    """All of it for Slurm, which most machines run; of the others the command, and how to be told more."""
    deed = job_life()["slurm"][name]
    steps = told_steps(name, deed, situation)
    others = [(NAMES[one], first_command(job_life()[one][name], situation, name)) for one in SCHEDULERS[1:]]
    return write_document(
        answer_first(name, situation.text),
        f"Under Slurm: {fill(deed.says, situation)}",
        list_steps(*((text, fill(command, situation)) for text, command in steps)),
        fill(deed.note, situation),
        "Under another scheduler (name the machine and I give you all of it):",
        list_steps(*others),
    )


def first_command(deed: Deed, situation: Situation, name: str) -> str:
    """The command that does it; for submit it is not the first, which only tries the file."""
    commands = [command for _, command in told_steps(name, deed, situation)]
    return fill(next((c for c in commands if name == "submit" and c.startswith(SUBMIT)), commands[0]), situation)


def say_of_site(name: str, situation: Situation, site: Site | None) -> tuple[str, tuple[str, ...]]:
    """What the machine's own pages say to the same thing, and which pages."""
    told = getattr(site.watch, OF_THE_SITE[name]) if site and name in OF_THE_SITE else ""
    if name == "notify" and site and site.email_notices:
        return f"On {title(situation)}: {site.email_notices.text}", site.email_notices.sources
    if name in ("priority", "start") and site and site.queue_wait and site.queue_wait.priority:
        told = f"{told}. {site.queue_wait.priority}" if told else site.queue_wait.priority
        return f"On {title(situation)}: {told}", site.queue_wait.sources
    return (f"On {title(situation)}: {told}", site.watch.sources) if told and site else ("", ())


def title(situation: Situation) -> str:
    return situation.cluster.title if situation.cluster else "this machine"


def date(site: Site | None) -> str:
    return site.as_of if site else ""


def with_values(command: str, situation: Situation, seconds: float | None) -> str:
    """A command that changes a job, with the time and the nodes that were said in the place of its examples.

    Without a time the place is left open: an example that is run as it stands would end a running job.
    """
    asked = asked_time(situation.queueing or "slurm", seconds) if seconds else "TIME"
    nodes = wanted_nodes(situation.text)
    command = re.sub(r"\b12:00:00\b|\b12:00\b|\b12h\b", asked, command)
    return command.replace("NODES", str(nodes)) if nodes else command


def fill(text: str, situation: Situation) -> str:
    together = "," if "scontrol update" in text or "scontrol hold" in text else " "
    job = together.join(situation.jobs) if situation.jobs else situation.job
    text, tool = text.format(script=situation.script, job=job), gpu_tool(situation.cluster)
    return text if tool in text else text.replace("nvidia-smi", tool)
