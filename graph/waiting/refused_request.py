"""Behind a submission that was refused for its size: what its own lines ask for, where nothing told more of them."""

from __future__ import annotations

import re

from graph.waiting.case import WaitCase, WaitingNote
from graph.waiting.spoken import listed
from knowledge.document import Step

SIZES = ("time refused", "nodes refused", "node shape refused", "over limit", "policy", "policy limit", "slots refused")
# A directive, or the command that was refused.
ASKING = re.compile(r"(?m)^.*?(?:#(?:SBATCH|PBS|BSUB)|\b(?:sbatch|srun|salloc|qsub|bsub)) .*$")
# Options that tell a size; the letters alone mean other things to other commands.
SIZE = re.compile(
    r"(?<!\S)(?:--(?:time|nodes|ntasks|ntasks-per-node|cpus-per-task|mem|mem-per-cpu|gres|gpus|gpus-per-node|constraint)"
    r"[= ]\S+|-[tNncGC] ?\d\S*|-W ?\d\S*|-gpu \S+|-l ?(?:select|walltime|nodes|mem|ncpus)=\S+)"
)
# More options than these are no request of a person's.
MOST = 12
# IBM's page of -W: [hour:]minute.
LSF_TIME = re.compile(r"-W ?(?P<hours>\d{1,4}):(?P<minutes>\d\d)(?![\d:])")


def what_it_asked(case: WaitCase) -> WaitingNote | None:
    """The sizes in the lines of the submission."""
    if case.found.reason.word not in SIZES:
        return None
    lines = [found[0] for found in ASKING.finditer(case.text)]
    asked = list(dict.fromkeys(found[0] for line in lines for found in SIZE.finditer(line)))[:MOST]
    return WaitingNote(f"It asked for {listed([f'`{one}`' for one in asked], MOST)}.") if asked else None


def hours_of_lsf(case: WaitCase) -> WaitingNote | None:
    """`-W 30:00`, which LSF reads as hours and minutes."""
    found = LSF_TIME.search(case.text) if case.job.scheduler == "lsf" else None
    if not found or case.found.reason.word != "time refused":
        return None
    hours, minutes = int(found["hours"]), int(found["minutes"])
    long = f"{hours} h{f' {minutes} min' if minutes else ''}"
    meant = Step(f"if {hours} minutes were meant", f"bsub -W {hours}") if hours and not minutes else None
    says = f"`{found[0]}` is {long}: LSF reads hours:minutes."
    return WaitingNote(says, do=(meant,) if meant else ())
