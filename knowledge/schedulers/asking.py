"""Asks a scheduler's command, with a time limit and without a shell: what it printed, or why it could not be asked."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from knowledge.schedulers.records import Scheduler

# A login node's scheduler answers in a second; a controller under load in ten.
PATIENCE = 15.0
# The commands that show which scheduler is here, the one of the machine before one that only came with a package.
SHOWS: tuple[tuple[str, Scheduler], ...] = (("squeue", "slurm"), ("bjobs", "lsf"), ("qstat", "pbs"), ("flux", "flux"))


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command printed; empty text is an answer too: there is none."""

    text: str


@dataclass(frozen=True, slots=True)
class CouldNotAsk:
    """The command is not there, did not end in time, or failed: that says nothing of the jobs."""

    command: str
    why: str


def scheduler_here() -> Scheduler | None:
    """The scheduler whose commands are on the path."""
    return next((scheduler for command, scheduler in SHOWS if shutil.which(command)), None)


def ask_command(words: Sequence[str], patience: float = PATIENCE) -> Printed | CouldNotAsk:
    """Run a command and read what it prints; it and its children are ended after `patience` seconds.

    What it says on stderr in a failure is part of the reason: `Invalid job id specified`.
    """
    command = " ".join(words)
    try:
        child = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=plain_environment(),
            start_new_session=True,
        )
    except OSError as error:
        return CouldNotAsk(command, f"it cannot be run ({error.strerror})")
    try:
        out, err = child.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        end(child)
        return CouldNotAsk(command, f"no answer within {patience:g} s")
    if child.returncode:
        said = " ".join(err.decode("utf-8", "replace").split()) or f"exit code {child.returncode}"
        return CouldNotAsk(command, said[:400])
    return Printed(out.decode("utf-8", "replace"))


def end(child: subprocess.Popen[bytes]) -> None:
    """End a command that hangs, with all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        child.communicate(timeout=1)


def plain_environment() -> dict[str, str]:
    """The environment without what changes how the commands print."""
    formats = ("SQUEUE_", "SINFO_", "SACCT_", "SPRIO_", "SLURM_TIME_FORMAT", "SLURM_JSON", "LSB_BJOBS", "QSTAT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(formats)}
    return kept | {"LC_ALL": "C"}
