"""The first process of the jail: it starts nothing of the script's, watches, answers the filter, and ends everything.

Under namespaces it is process 1 of its own process space, else it adopts the orphans of all that it started.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from graph.verification.simulator import config
from graph.verification.simulator.jail import limits
from graph.verification.simulator.jail.listener import Listener

BETWEEN_LOOKS = 0.2
"""Seconds between two looks at what is used."""
SHARE_OF_LOOKS = 9
"""Looking takes a tenth of a processor at most, however many processes there are."""


@dataclass(slots=True)
class Warden:
    """runner is the process that everything else descends from; disk the folder to watch, where it lies on one."""

    runner: int
    most_processes: int
    most_memory: int
    disk: str
    tell: Callable[[str, str], None]
    shared: int = 0

    def watch(self, listener: Listener | None) -> int:
        """Until the runner ends or takes too much. Gives its exit code."""
        waiting = select.poll()
        if listener:
            waiting.register(listener.descriptor, select.POLLIN)
        look = time.monotonic()
        while True:
            for _, event in waiting.poll(50):
                if listener and event & select.POLLIN:
                    listener.answer_next()
                elif listener:
                    waiting.unregister(listener.descriptor)
            ended = self.reap()
            if ended is not None:
                return ended
            if time.monotonic() > look:
                began = time.monotonic()
                too_much = self.too_much()
                look = time.monotonic() + max(BETWEEN_LOOKS, SHARE_OF_LOOKS * (time.monotonic() - began))
                if too_much:
                    return too_much

    def too_much(self) -> int:
        """0, or the exit code of a rehearsal that takes more than it may; what it is was told."""
        everyone = descendants()
        if len(everyone) > self.most_processes:
            return config.TOO_MANY
        self.shared = max(self.shared, limits.anonymous(self.runner))
        unnamed = sum(map(limits.unnamed, everyone))
        used = limits.memory_used(everyone, self.shared, self.most_memory) + (0 if self.disk else unnamed)
        if used > self.most_memory or limits.free_memory() < limits.LEFT_FOR_OTHERS:
            self.tell("memory", f"{used >> 20} MiB of memory; {self.most_memory >> 20} MiB are allowed here")
            return config.TOO_MUCH
        if self.disk and limits.disk_used(self.disk) + unnamed > limits.MOST_DISK:
            most = f"{limits.MOST_DISK >> 20} MiB on disk or {limits.MOST_FILES} files"
            self.tell("disk", f"more than {most}, which are allowed here")
            return config.TOO_MUCH
        return 0

    def reap(self) -> int | None:
        """Orphans come to this process; gives the runner's exit code once it has ended."""
        with contextlib.suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if process == self.runner:
                    return os.waitstatus_to_exitcode(status)
                if not process:
                    return None
        return 1


def descendants() -> list[int]:
    """All processes of the jail but this one."""
    if os.getpid() == 1:
        return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and entry.name != "1"]
    found, waiting = [], [os.getpid()]
    while waiting:
        now = children(waiting.pop())
        found += now
        waiting += now
    return found


def children(process: int) -> list[int]:
    """The processes that all threads of a process have started; none where it is gone."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (thread / "children").read_text().split())
    return found


def is_descendant(process: int) -> bool:
    """Whether a process was started, over any number of others, by this one; this one itself is not."""
    own, process = os.getpid(), parent_of(process)
    while process > 1 and process != own:
        process = parent_of(process)
    return process == own


def parent_of(process: int) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def threads_running() -> int:
    """All threads of the computer."""
    found = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                found += len(list((entry / "task").iterdir()))
    return found


def end_descendants() -> None:
    """Kill children until the kernel says that none is left: orphans come to this process, so that none gets away.

    The list in /proc leaves some out while others end, so an empty one proves nothing.
    """
    while True:
        for child in children(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.005)
