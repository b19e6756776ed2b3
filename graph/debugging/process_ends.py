"""How processes ended, read from what shells, torchrun, srun, mpiexec, PBS, LSF, Ray and Kubernetes print of it.

An exit status above 128 is a signal for shells (137 = 128 + 9), a negative one for Python (-9), 256 more for PBS (265),
and 256 less where eight bits of a negative one are shown (247 = 256 - 9).
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable
from dataclasses import dataclass

NAMES = {s.name: int(s) for s in signal.Signals}
SHELL_WORDS = {
    "Killed": 9,
    "Terminated": 15,
    "Segmentation fault": 11,
    "Bus error": 7,
    "Aborted": 6,
    "Illegal instruction": 4,
    "Floating point exception": 8,
    "Hangup": 1,
    "Interrupt": 2,
    "CPU time limit exceeded": 24,
    "File size limit exceeded": 25,
}
NAMED = re.compile(r"\b(SIG(?:KILL|SEGV|BUS|ABRT|TERM|FPE|ILL|HUP|INT|USR[12]|XCPU|QUIT|PIPE))\b")
NUMBERED = re.compile(r"(?i)\bsignal:?\s*\(?(\d{1,2})\b|KILLED BY SIGNAL: (\d{1,2})")
STATUS = re.compile(
    r"(?i)\bexit[ _]?(?:code|status)?[^\w-]{0,4}(?:with |is |of )?(?:exit )?(?:code|status|value)?[^\w-]{0,4}"
    r"(-?\d{1,5})\b"
    r"|\b(?:return(?:ed|s)?|rc)[^\w-]{0,3}(?:code|with|non-zero exit status|value|status)?[^\w-]{0,4}(-?\d{1,5})\b"
    r"|\bended with (?:exit )?(?:code|status):? (-?\d{1,5})\b|\b(?:status|code)[ :=]+(-?\d{1,5})\b"
)
WORDED = re.compile(rf"(?:^|[\s:(])({'|'.join(map(re.escape, SHELL_WORDS))})\b(?![^.]{{0,20}}(?:ByUser|for))")
WHO = re.compile(
    r"(?i)\b(?:task|rank|local_rank)s?\s*[:=]?\s*(\d{1,6})|process (?:rank )?(\d{1,6})|worker[ -](\d{1,6})"
)


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """How one process ended: its exit code, or the signal that ended it; who is a rank, task or process number."""

    code: int | None
    signal: int | None
    who: str
    line: int
    text: str
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an end means where nothing else is known: a cause, how sure, in words, and the one thing to send next."""

    cause: str
    confidence: float
    says: str
    ask: str


SHOT = "the memory line of the scheduler (`sacct -j JOB -o state,maxrss,reqmem`, `qstat -xf JOB`, `dmesg` on the node)"
BEFORE = "the program's own output just before, or a run with `python -X faulthandler`"
STATE = "what the scheduler says of the job (`sacct -j JOB -o state,exitcode,elapsed,timelimit`, `qstat -xf JOB`)"
KILLED = "A process was killed with SIGKILL, most often because the node's memory ran out; nothing in this log says so"
CRASHED = "A process crashed in compiled code (segmentation fault, SIGSEGV)"
BUS = "A process got a bus error (SIGBUS): most often /dev/shm, or the disk behind a mapped file, is full"
ILLEGAL = "A process met an instruction that this processor does not have (SIGILL): a library was built for another one"
ARITHMETIC = "A process divided by zero or overflowed (SIGFPE)"
STOPPED = "The processes were asked to stop from outside (SIGTERM): by a person, the scheduler or the launcher"
INTERRUPTED = "The job was interrupted (SIGINT): Ctrl-C, or a scheduler that stops jobs so"
HUNG_UP = "The login session that started the program was closed (SIGHUP)"
NOT_RUN = "A command was found and may not be executed (exit code 126)"
USAGE = "The program ended with exit code 2: wrong arguments, or a script that cannot be opened"
SIGNALS: dict[int, Meaning] = {
    9: Meaning("sched-host-oom", 0.5, KILLED, SHOT),
    11: Meaning("user-code", 0.5, CRASHED, BEFORE),
    7: Meaning("env-disk", 0.45, BUS, "`df -h /dev/shm` and `df -h` on the node while the job runs"),
    4: Meaning("env-shared-library", 0.45, ILLEGAL, "`lscpu` of the node, and where the program was built"),
    8: Meaning("user-numerics", 0.45, ARITHMETIC, BEFORE),
    15: Meaning("sched-cancelled", 0.45, STOPPED, STATE),
    2: Meaning("sched-cancelled", 0.6, INTERRUPTED, STATE),
    1: Meaning("sched-cancelled", 0.6, HUNG_UP, "how the job was started (a batch script, tmux, nohup)"),
    24: Meaning("sched-time-limit", 0.6, "The limit on processor time was reached (SIGXCPU)", "`ulimit -t` in the job"),
    25: Meaning("env-disk", 0.6, "The limit on the size of files was reached (SIGXFSZ)", "`ulimit -f` in the job"),
}
CODES: dict[int, Meaning] = {
    126: Meaning("env-permission", 0.45, NOT_RUN, "the line that starts it, and `ls -l` of the program"),
    127: Meaning("user-shell", 0.45, "A command was not found (exit code 127)", "the standard error"),
    2: Meaning("user-arguments", 0.45, USAGE, "the standard error of the program (`usage: ...`)"),
}


def decode(text: str) -> tuple[int | None, int | None]:
    """The exit code and the signal that a line tells of a process; None where it tells none."""
    if found := NAMED.search(text):
        return None, NAMES[found[1]]
    if found := NUMBERED.search(text):
        return None, int(found[1] or found[2])
    if found := STATUS.search(text):
        return _normal(int(next(group for group in found.groups() if group)))
    if found := WORDED.search(text):
        return None, SHELL_WORDS[found[1]]
    return None, None


def _normal(status: int) -> tuple[int | None, int | None]:
    """An exit status as (code, signal)."""
    known = set(NAMES.values())
    number = -status if status < 0 else status - 256 if status > 256 else status - 128 if 128 < status <= 165 else 0
    number = number or (256 - status if 240 <= status < 255 else 0)
    return (None, number) if number in known else (status, None)


def process_ends(lines: Iterable[tuple[int, str, str | None]]) -> list[ProcessEnd]:
    """The ends that lines (number, text, file) tell of, those without a fault left out."""
    found: list[ProcessEnd] = []
    for number, text, file in lines:
        code, sent = decode(text)
        if code or sent:
            who = WHO.search(text)
            found.append(
                ProcessEnd(code, sent, next((g for g in who.groups() if g), "") if who else "", number, text, file)
            )
    return found


def first_fault(ends: list[ProcessEnd]) -> tuple[ProcessEnd, Meaning] | None:
    """The first end that means something by itself; those that the launcher brought about by stopping them do not."""
    for end in ends:
        meaning = SIGNALS.get(end.signal) if end.signal else CODES.get(end.code or 0)
        if meaning and not (end.signal in (15, 9) and _others_differ(end, ends)):
            return end, meaning
    return None


def _others_differ(end: ProcessEnd, ends: list[ProcessEnd]) -> bool:
    """Whether another process ended in another way: then the launcher stopped this one."""
    return any((other.code, other.signal) != (end.code, end.signal) and other.signal not in (15,) for other in ends)
