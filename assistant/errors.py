"""The errors that a door shows. The tree is drawn in knowledge/errors.py."""

from knowledge.errors import FactsError, InputError, MapleError, UnavailableError, UnprovenJailError

__all__ = ["FactsError", "InputError", "MapleError", "UnavailableError", "UnprovenJailError"]
