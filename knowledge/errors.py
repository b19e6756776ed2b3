"""Our errors. Each message is one line that says what is wrong and what to do next.

MapleError
├── InputError          what a person gave cannot be used (exit 2)
├── FactsError          a file of facts is wrong: file, key, reason
└── UnavailableError    a part is not installed or does not answer
    └── UnprovenJailError    a script was not run, since it could have got out of its jail
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


class MapleError(Exception):
    """The root. str(error) is fit for a person."""


class InputError(MapleError):
    """What a person gave cannot be used."""


class FactsError(MapleError):
    """A file of facts is wrong."""


class UnavailableError(MapleError):
    """A part is not installed or does not answer."""


class UnprovenJailError(UnavailableError):
    """A script was not run: the jail could be broken in the ways named, and nobody has agreed to that."""

    def __init__(self, message: str, ways: tuple[str, ...]) -> None:
        super().__init__(message)
        self.ways = ways


def database_words(error: sqlite3.Error, path: Path | None = None) -> str:
    """SQLite's message without what stood in a row: of text that it cannot decode it prints the text.

    path: the database. SQLite also calls it locked where its file system has no locks at all.
    """
    words = str(error).partition(" with text ")[0]
    if path and "locked" in words:
        from knowledge.file_locks import has_locks

        return words if has_locks(path.parent) else "its file system has no locks"
    return words
