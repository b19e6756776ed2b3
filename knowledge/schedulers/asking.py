"""Asks a scheduler's command, with a time limit and without a shell: what it printed, or why it could not be asked."""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from knowledge.schedulers.records import Scheduler

# A login node's scheduler answers in a second; a controller under load in ten.
PATIENCE = 15.0
# All commands of one question together get so long, whatever hangs.
TOGETHER = 30.0
# No listing is larger: 50,000 jobs in our columns are 8 MiB, in JSON 250.
MOST_PRINTED = 512 << 20
# The commands that show which scheduler is here, the one of the machine before one that only came with a package.
SHOWS: tuple[tuple[str, Scheduler], ...] = (("squeue", "slurm"), ("bjobs", "lsf"), ("qstat", "pbs"), ("flux", "flux"))


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command printed; empty text is an answer too: there is none."""

    text: str
    beside: str = ""
    """What it said on stderr: Slurm's dry run answers there."""


@dataclass(frozen=True, slots=True)
class CouldNotAsk:
    """The command is not there, did not end in time, or failed: that says nothing of the jobs."""

    command: str
    why: str

    @property
    def says(self) -> str:
        """In a clause, for a person."""
        return f"`{self.command}` could not be asked ({self.why})"


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
        out, err = read_both(child, time.monotonic() + patience)
    except TimeoutError:
        end(child)
        return CouldNotAsk(command, f"no answer within {patience:.3g} s")
    except OverflowError:
        end(child)
        return CouldNotAsk(command, f"it printed more than {MOST_PRINTED >> 20} MiB, and was stopped")
    if child.returncode:
        # `scontrol show job 9_2` says on stdout that it is gone.
        # Of several lines the last is the reason of all.
        told = (text[-4000:].decode("utf-8", "replace").split("\n") for text in (err, out))
        last = (" ".join(line.split()) for lines in told for line in reversed(lines))
        return CouldNotAsk(command, next(filter(None, last), f"exit code {child.returncode}")[:400])
    return Printed(out.decode("utf-8", "replace"), err[:4000].decode("utf-8", "replace"))


@dataclass(slots=True)
class BoundedAsking:
    """Asks the commands of one question: together they get `together` seconds, and one that hung is not tried again."""

    together: float = TOGETHER
    ends: float = 0.0
    hung: set[str] = field(default_factory=set)

    def __call__(self, words: Sequence[str]) -> Printed | CouldNotAsk:
        """Ask; the time begins with the first command."""
        now = time.monotonic()
        self.ends = self.ends or now + self.together
        if words[0] in self.hung:
            return CouldNotAsk(" ".join(words), f"{words[0]} gave no answer a moment ago")
        if now >= self.ends:
            return CouldNotAsk(" ".join(words), f"{self.together:.3g} s for all questions are over")
        told = ask_command(words, min(PATIENCE, self.ends - now))
        if isinstance(told, CouldNotAsk) and told.why.startswith("no answer within"):
            self.hung.add(words[0])
        return told


def read_both(child: subprocess.Popen[bytes], ends: float) -> tuple[bytes, bytes]:
    """Stdout and stderr to their ends. Raises TimeoutError at `ends`, OverflowError past MOST_PRINTED."""
    assert child.stdout and child.stderr
    parts: dict[int, list[bytes]] = {child.stdout.fileno(): [], child.stderr.fileno(): []}
    size = 0
    with selectors.DefaultSelector() as ready, child.stdout, child.stderr:
        for pipe in parts:
            ready.register(pipe, selectors.EVENT_READ)
        while ready.get_map():
            found = ready.select(max(0.0, ends - time.monotonic()))
            if not found and time.monotonic() >= ends:
                raise TimeoutError
            for key, _ in found:
                data = os.read(key.fd, 1 << 16)
                parts[key.fd].append(data)
                size += len(data)
                if not data:
                    ready.unregister(key.fd)
            if size > MOST_PRINTED:
                raise OverflowError
            if time.monotonic() >= ends and ready.get_map():
                raise TimeoutError
    out, err = (b"".join(part) for part in parts.values())
    try:
        child.wait(max(0.05, ends - time.monotonic()))
    except subprocess.TimeoutExpired as late:
        raise TimeoutError from late
    return out, err


def end(child: subprocess.Popen[bytes]) -> None:
    """End a command that hangs, with all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        child.wait(timeout=1)


def plain_environment() -> dict[str, str]:
    """The environment without what changes how the commands print."""
    formats = ("SQUEUE_", "SINFO_", "SACCT_", "SPRIO_", "SLURM_TIME_FORMAT", "SLURM_JSON", "LSB_BJOBS", "QSTAT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(formats)}
    return kept | {"LC_ALL": "C"}
