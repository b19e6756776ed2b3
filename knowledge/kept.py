"""What was read from files and validated, kept between processes.

A file $XDG_CACHE_HOME/maple-chat/NAME.pickle holds the value and a key made of the files' paths, sizes and times, of
this package's own sources, and of the Python version. Another key, an unreadable file, or one that somebody else could
have written: as if there were none. Losing it costs a fraction of a second.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any

SOURCES = tuple(sorted(path for form in ("*.py", "*/*_types.py") for path in Path(__file__).parent.glob(form)))


def folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "maple-chat"


def key_of(paths: Sequence[Path]) -> str:
    return hashlib.sha256("\n".join((*_code(), *map(_stamp, paths))).encode()).hexdigest()


@cache
def _code() -> tuple[str, ...]:
    return (sys.version, *map(_stamp, SOURCES))


def _stamp(path: Path) -> str:
    found = path.stat()
    return f"{path} {found.st_size} {found.st_mtime_ns}"


def kept(name: str, paths: Sequence[Path]) -> Any | None:
    """The value kept for these files as they are now, or None."""
    path = folder() / f"{name}.pickle"
    try:
        with path.open("rb") as file:
            if not only_mine(os.fstat(file.fileno())) or file.readline().strip().decode() != key_of(paths):
                return None
            return pickle.load(file)
    except (OSError, ValueError, EOFError, AttributeError, ImportError, pickle.PickleError):
        return None


def keep(name: str, paths: Sequence[Path], value: Any) -> None:
    """Keep the value for the next process; where that is not possible, do without."""
    try:
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        with replacing(folder() / f"{name}.pickle") as file:
            file.write(key_of(paths).encode() + b"\n")
            pickle.dump(value, file, protocol=pickle.HIGHEST_PROTOCOL)
    except OSError:
        return


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the path's place when it is whole; where it cannot be written (quotas!), nothing is left."""
    file = tempfile.NamedTemporaryFile(dir=path.parent, delete=False)  # noqa: SIM115
    try:
        with file:
            yield file
        Path(file.name).replace(path)
    except BaseException:
        Path(file.name).unlink(missing_ok=True)
        raise


def only_mine(found: os.stat_result) -> bool:
    """A pickle runs what it holds: only a file that nobody else can write is read."""
    return found.st_uid == os.getuid() and not found.st_mode & 0o022
