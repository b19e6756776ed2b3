"""Long text is kept in a file and named in the message: a log has no place in an input box or a checkpoint."""

from __future__ import annotations

import re
import time
from pathlib import Path

from assistant.errors import InputError, UnavailableError
from assistant.paths import exists, expanded
from knowledge.opening import open_plain
from knowledge.printable import printable
from knowledge.types import Attachment

MOST_CHARACTERS = 8_000
MOST_LINES = 60
CHUNK = 1 << 20
AT_PATH = re.compile(r"(?:^|\s)@(\S+)")
# A name that can only be meant as a file's; a decorator, which begins its line in pasted code, is none.
FILE_NAME = re.compile(r"[\w.~/+-]*\.\w{1,5}")
DECORATOR = re.compile(r"^[ \t]*@", re.M)


def clean(text: str) -> str:
    """A typed message without what could move the cursor or fool the eye; line ends become \\n."""
    return printable(text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode())


def is_long(text: str) -> bool:
    return len(text) > MOST_CHARACTERS or text.count("\n") >= MOST_LINES


def keep(text: str, folder: Path) -> Attachment:
    """Write pasted text into a file of its own, as it came. Raises UnavailableError."""
    lines = text.count("\n") + (not text.endswith("\n"))
    path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 10**9:09}.log"
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise UnavailableError(f"cannot keep the pasted text in {folder}: {error.strerror}; free some room") from error
    return Attachment("pasted", str(path), lines)


def attach(path: Path) -> Attachment:
    """A file that a person named, where it lies. Raises InputError where it cannot be read, or not a second time."""
    try:
        path = expanded(str(path))
        if not (path.is_file() or path.is_dir()) and path.exists():
            raise InputError(f"{path} is a pipe or a device, which is read only once; give a file")
        path = path.resolve()
        with open_plain(path) as file:
            lines = sum(block.count(b"\n") for block in iter(lambda: file.read(CHUNK), b""))
    except (OSError, RuntimeError) as error:
        raise InputError(f"cannot read {path}: {getattr(error, 'strerror', error)}; check the name") from error
    return Attachment(path.name, str(path), lines)


def named_files(text: str) -> tuple[Attachment, ...]:
    """The files that a message names as @path, or by being the path of one, as when a file is dropped on the window.

    Raises InputError where an @path with an ending names no file: an answer without it would be about something else.
    """
    alone = text.strip().strip("'\"")
    if alone.startswith(("/", "~/", "./")) and "\n" not in alone:
        path = expanded(alone)
        if exists(path) and path.is_file():
            return (attach(path),)
    code = "\n" in text and DECORATOR.search(text)
    found = []
    for name in (name.rstrip(",;:?!)") for name in AT_PATH.findall(text)):
        path = expanded(name)
        if exists(path):
            found += [attach(path)] if path.is_file() else []
        elif FILE_NAME.fullmatch(name) and not code:
            raise InputError(f"no file {path} is here; correct the name after the @")
    return tuple(found)


def worded(attachment: Attachment) -> str:
    """How an attachment is shown: `pasted, 12,331 lines`; of a folder the name alone."""
    if attachment.name.endswith("/"):
        return attachment.name
    return f"{attachment.name}, {attachment.lines:,} line{'' if attachment.lines == 1 else 's'}"
