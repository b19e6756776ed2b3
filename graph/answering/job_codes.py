"""What an exit code, a signal or a state of the queue means, and where to look next."""

from __future__ import annotations

import re

from graph.answering.ask import Ask
from graph.answering.situation import Situation, list_steps, write_document
from knowledge.document import Document
from knowledge.general_facts import job_codes
from knowledge.types import SCHEDULERS, Scheduler

# Slurm's `9:0`, `0:15`; a code with its sign. A job's number is longer.
PAIR = re.compile(r"(?<![\d:.])(\d{1,3}):(\d{1,3})(?![\d:])")
NUMBER = re.compile(r"(?<![\w.:/%-])-?\d{1,3}(?![\w:/]|\.\d)")
SIGNAL = re.compile(r"\bsig(?:nal)?[ -]?(\d{1,2})\b", re.I)
SUBMITTED = re.compile(
    r"\bsubmitted batch job (\d+)|^[^\S\n]*(\d{4,}\.[\w.-]+)\s*$|\bjob <(\d+)> is submitted", re.I | re.M
)
HISTORY: dict[Scheduler, str] = {
    "slurm": "sacct -j {job} -o JobID,State,ExitCode,Elapsed,Timelimit,MaxRSS,NodeList",
    "pbs": "qstat -xf {job} | grep -E 'Exit_status|comment|resources_used'",
    "lsf": "bhist -l {job}",
    "flux": "flux job last; flux jobs -a",
}
DETAILS: dict[Scheduler, str] = {
    "slurm": "scontrol show job {job}",
    "pbs": "qstat -xf {job}",
    "lsf": "bjobs -l {job}",
    "flux": "flux jobs -a",
}
ASK_LOG = "Paste the last lines of its log and I say what went wrong first."


def explain_code(ask: Ask) -> Document | None:
    """What the exit codes and signals in the words mean, how to see more, and what to send. None: no number."""
    told = [*(of_pair(int(a), int(b)) for a, b in PAIR.findall(ask.text))]
    rest = PAIR.sub(" ", ask.text)
    told += [of_signal(int(number)) for number in SIGNAL.findall(rest)]
    told += [of_code(int(number)) for number in NUMBER.findall(SIGNAL.sub(" ", rest))]
    found = list(dict.fromkeys(filter(None, told)))
    if not found:
        return None
    look = list_steps(
        ("what the scheduler kept of it", HISTORY[scheduler(ask.situation)].format(job=ask.situation.job))
    )
    return write_document(*found[:3], look, ASK_LOG)


def scheduler(situation: Situation) -> Scheduler:
    return situation.queueing or "slurm"


def of_pair(code: int, signal: int) -> str:
    """Slurm's `code:signal`."""
    known = job_codes().exit.get(str(signal), "") if signal in (53, 125) else ""
    if signal:
        return f"**{code}:{signal}:** {known or of_signal(signal) or f'ended by signal {signal}.'}"
    return f"**{code}:0:** no signal; {of_code(code) or f'the program ended with {code}.'}"


def of_signal(number: int) -> str:
    text = job_codes().signal.get(str(number), "")
    return f"**Signal {number}** is {text}" if text else ""


def of_code(number: int) -> str:
    """By the table; else as a signal on top of 128 or 256; else the program's own."""
    codes = job_codes()
    if text := codes.exit.get(str(number)):
        return f"**Exit code {number}:** {text}"
    for base in (128, 256):
        if text := codes.signal.get(str(number - base)):
            return f"**Exit code {number}** is {base} + {number - base}, {text}"
    return (
        f"**Exit code {number}** is the program's own; the lines before its end tell more." if 0 < number < 256 else ""
    )


def explain_state(ask: Ask) -> Document | None:
    """What the state means that the words name, or that a submission was taken. None: none is named."""
    taken = SUBMITTED.search(ask.text)
    queueing = scheduler(ask.situation)
    if taken:
        job = next(filter(None, taken.groups()))
        see = {"slurm": f"squeue -j {job}", "pbs": f"qstat {job}", "lsf": f"bjobs {job}", "flux": "flux jobs"}[queueing]
        return write_document(
            f"The scheduler took it as job {job}. It waits now, or runs already.",
            list_steps(("which of the two, and for what it waits", see)),
            f"What it prints goes to a file, by default `slurm-{job}.out` in the folder of the submission."
            if queueing == "slurm"
            else "",
        )
    found = named_state(ask.text, queueing, only=ask.situation.queueing is not None)
    if found is None:
        return None
    where, letters, says = found
    end = ASK_LOG if letters in ("F", "EXIT", "OOM") else ""
    look = list_steps(("all that the scheduler knows of it", DETAILS[where].format(job=ask.situation.job)))
    return write_document(f"**{letters}** ({where.upper() if where != 'slurm' else 'Slurm'}): {says}", look, end)


def named_state(text: str, queueing: Scheduler, *, only: bool) -> tuple[Scheduler, str, str] | None:
    """The first state of that scheduler among the words as written in capitals, or its full word; then of others."""
    words = re.findall(r"\b[A-Za-z_]+\b", text)
    for one in (queueing, *(() if only else (other for other in SCHEDULERS if other != queueing))):
        states = job_codes().state[one]
        full = {says.partition(":")[0]: letters for letters, says in states.items() if says.partition(":")[0].isupper()}
        for word in words:
            letters = word if word in states and word != "I" else full.get(word.upper(), "") if len(word) > 3 else ""
            if letters:
                return one, letters, states[letters]
    return None
