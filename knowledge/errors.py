"""Our errors. Each message is one line that says what is wrong and what to do next.

MapleError
├── InputError          what a person gave cannot be used (exit 2)
├── FactsError          a file of facts is wrong: file, key, reason
└── UnavailableError    a part is not installed or does not answer
"""

from __future__ import annotations


class MapleError(Exception):
    """The root. str(error) is fit for a person."""


class InputError(MapleError):
    """What a person gave cannot be used."""


class FactsError(MapleError):
    """A file of facts is wrong."""


class UnavailableError(MapleError):
    """A part is not installed or does not answer."""
