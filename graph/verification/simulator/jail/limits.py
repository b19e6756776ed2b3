"""How much a rehearsal may take of this computer: processes, memory, disk. What the kernel cannot bound is watched."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterable
from pathlib import Path

LONGEST_FILE = 1 << 28
MOST_MEMORY = 8 << 30
LEFT_FOR_OTHERS = 1 << 30
"""Bytes of memory that the computer keeps free whatever a rehearsal does."""
MOST_DISK = 1 << 29
MOST_FILES, DEEPEST = 20_000, 100
THREADS_EACH = 10
"""Threads that a rank of torch has, about."""


def most_memory() -> int:
    """In bytes: half of what is free, 8 GiB at most."""
    return min(MOST_MEMORY, free_memory() // 2)


def free_memory() -> int:
    with contextlib.suppress(OSError, IndexError, ValueError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 2 * MOST_MEMORY


def bound_each(most_memory: int) -> None:
    """The kernel's own limits, for this process and those that it starts."""
    for kind, most in (
        (resource.RLIMIT_FSIZE, LONGEST_FILE),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_DATA, most_memory),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (value, value))


def bound_threads(most_processes: int, outside: int) -> None:
    """outside: the threads of the computer, which kernels before 5.14 count in."""
    threads = THREADS_EACH * most_processes + outside
    resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads))


def memory_used(processes: Iterable[int], shared: int, most: int) -> int:
    """Bytes of their own that these processes hold.

    Processes of ours share up to `shared` bytes with the one that they were forked from. The exact count is dear: it
    is taken where a rough one, which counts what is shared once for each, is beyond `most`.
    """
    rough = {process: anonymous(process) for process in processes}
    if sum(rough.values()) <= most:
        return sum(rough.values())
    return sum(exact(process, size, shared) for process, size in rough.items())


def anonymous(process: int) -> int:
    """Memory that has no file: private, or shared with other processes."""
    return kilobytes(f"/proc/{process}/status", ("RssAnon:", "RssShmem:")) or 0


def kilobytes(path: str, names: tuple[str, ...]) -> int | None:
    """The sum, in bytes, of the lines of those names; None where the file cannot be read."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        words = [line.split() for line in Path(path).read_text().splitlines()]
        return sum(int(one[1]) * 1024 for one in words if one and one[0] in names)
    return None


def exact(process: int, size: int, shared: int) -> int:
    """By what the kernel counts in proportion; a process that we may not look into is one of ours."""
    found = kilobytes(f"/proc/{process}/smaps_rollup", ("Pss_Anon:", "Pss_Shmem:"))
    return max(0, size - shared) if found is None else found


def disk_used(folder: str) -> int:
    """Bytes on disk below the folder; beyond every bound where there are too many files. Links are not followed."""
    waiting, total, files = [(folder, 0)], 0, 0
    while waiting:
        path, depth = waiting.pop()
        with contextlib.suppress(OSError), os.scandir(path) as entries:
            for entry in entries:
                files += 1
                total += entry.stat(follow_symlinks=False).st_blocks * 512
                if files > MOST_FILES or depth > DEEPEST:
                    return 1 << 62
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, depth + 1))
    return total


def unnamed(process: int) -> int:
    """Bytes in open files that have no name (any more): removed ones on disk, and those that lie in memory alone."""
    total = 0
    with contextlib.suppress(OSError):
        for descriptor in Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(OSError):
                found = descriptor.stat()
                total += found.st_blocks * 512 if found.st_nlink == 0 else 0
    return total
