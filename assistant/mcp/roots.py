"""Files that a tool may read: those below the folders that the client or the person granted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from assistant.errors import InputError
from knowledge.opening import open_plain

NO_ROOTS = (
    "no folder is granted, so no file is read; give the text itself, or have the person start the server with "
    "`maple-chat mcp --root FOLDER`"
)


def folders_of(addresses: Iterable[str]) -> tuple[Path, ...]:
    """The folders of a client's roots; what is no file address grants nothing."""
    parts = [urlsplit(address) for address in addresses]
    return tuple(Path(unquote(one.path)) for one in parts if one.scheme == "file" and one.netloc in ("", "localhost"))


def open_granted(name: str, roots: Sequence[Path]) -> BinaryIO:
    """The file, open for reading, where it lies below a root, links followed. Raises InputError.

    What was opened is looked at once more: a link that was put in its way meanwhile is refused too.
    """
    folders = [Path(os.path.realpath(root)) for root in roots]
    if not folders:
        raise InputError(NO_ROOTS)
    path = Path(os.path.realpath(name if "\0" not in name else "", strict=False))
    if not any(path.is_relative_to(folder) for folder in folders) or not Path(name).is_absolute():
        raise InputError(outside(folders))
    try:
        file = open_plain(path, follow=False)
    except OSError as error:
        raise InputError(f"that file cannot be read ({error.strerror}); give a plain file below a root") from error
    opened = Path(os.path.realpath(f"/proc/self/fd/{file.fileno()}"))
    if opened.exists() and not any(opened.is_relative_to(folder) for folder in folders):
        file.close()
        raise InputError(outside(folders))
    return file


def outside(folders: Sequence[Path]) -> str:
    return f"that is no absolute path below a granted folder ({', '.join(map(str, folders[:5]))}); give the text itself"
