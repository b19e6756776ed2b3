"""The one way to open a path that a person, a message or a fetched folder names: plain files only, and never for ever.

A pipe would wait for a writer, a device has no end, and some files of /proc are both. Opening never waits (O_NONBLOCK),
what was opened is what was looked at (the descriptor is asked, not the name), and a reader says how much it will take.
"""

from __future__ import annotations

import errno
import gzip
import os
import stat
import zlib
from pathlib import Path
from typing import BinaryIO

UNENDING = ("/proc/", "/sys/", "/dev/")
CHUNK = 1 << 20
LARGEST_SCRIPT = 8_000_000
"""Bytes; no launch script, settings file or template is larger."""
GZIP = b"\x1f\x8b"


class NotPlainFileError(OSError):
    """A pipe, a device, a folder or a file of the system's own: nothing that can be read to an end."""

    def __init__(self, path: str) -> None:
        says = "No plain file but a pipe, device or folder; a pipe's text goes in as - on standard input"
        super().__init__(errno.EINVAL, says, path)


class TooLargeError(OSError):
    """More bytes than the reader takes."""

    def __init__(self, path: str, most: int) -> None:
        super().__init__(errno.EFBIG, f"Is larger than {most / 1e6:,.0f} MB", path)


class OutsideError(OSError):
    """A link that leads out of the folder that was to be read."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.EXDEV, "Is a link that leads out of the folder", path)


def open_plain(path: Path | str, *, follow: bool = True, inside: Path | None = None, buffered: bool = True) -> BinaryIO:
    """The file, open for reading bytes. follow: it may be a link, but none that leads out of the folder `inside`.

    Raises OSError: NotPlainFileError for anything else than a plain file, OutsideError, and what the system says.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except ValueError as error:  # a NUL in the name
        raise OSError(errno.EINVAL, str(error).capitalize(), str(path)) from error
    try:
        if not is_plain(descriptor):
            raise NotPlainFileError(str(path))
        if inside is not None and not real_path(descriptor, path).is_relative_to(inside):
            raise OutsideError(str(path))
        return os.fdopen(descriptor, "rb", -1 if buffered else 0)
    except BaseException:
        os.close(descriptor)
        raise


def is_plain(descriptor: int) -> bool:
    """Whether it is a regular file of a file system of its own, not one that the kernel makes up while it is read."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return False
    try:
        return not str(Path(f"/proc/self/fd/{descriptor}").readlink()).startswith(UNENDING)
    except OSError:  # no /proc here
        return True


def real_path(descriptor: int, path: Path | str) -> Path:
    """Where an open file really lies; asked of the descriptor, so that nobody can change it in between."""
    try:
        return Path(f"/proc/self/fd/{descriptor}").readlink()
    except OSError:  # no /proc here
        return Path(path).resolve()


def read_plain(path: Path | str, most: int, *, follow: bool = True) -> bytes:
    """All bytes of a plain file. Raises OSError, TooLargeError above `most` bytes."""
    with open_plain(path, follow=follow) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise TooLargeError(str(path), most)
    return data


def measure_unpacked(path: Path, most: int) -> int:
    """How many bytes the file has once unpacked, where gzip packed it; stops counting above `most`. Raises OSError."""
    with open_plain(path) as file:
        if file.read(2) != GZIP:
            return os.fstat(file.fileno()).st_size
        file.seek(0)
        return count_unpacked(file, most)


def count_unpacked(file: BinaryIO, most: int) -> int:
    """Bytes that gzip holds, up to a little more than `most`; of a damaged file those before the damage."""
    size = 0
    with gzip.GzipFile(fileobj=file) as packed:
        while size <= most:
            try:
                block = packed.read1(CHUNK)
            except (EOFError, zlib.error, gzip.BadGzipFile):
                break
            if not block:
                break
            size += len(block)
    return size
