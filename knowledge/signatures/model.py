"""One signature, and the rules a file of signatures must keep.

Checked by hand, not by pydantic: importing pydantic costs 0.13 s, a third of what a cold `maple-chat why` may take.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, get_args

from knowledge.errors import FactsError

Kind = Literal[
    "cause", "error", "fallback", "verdict", "effect", "context", "harmless", "success", "final", "start", "frame"
]
KINDS: tuple[Kind, ...] = get_args(Kind)

# How much a line of this kind says about the root cause. 70 and more: it names it. 45 and more: an error of a general
# kind. 15 and more: an after-effect that names a cause only when nothing better stands in the log.
STRENGTH: dict[str, int] = {
    "cause": 80,
    "verdict": 75,
    "error": 50,
    "fallback": 47,
    "effect": 30,
    "context": 5,
    "harmless": 0,
    "success": 10,
    "final": 10,
    "start": 0,
    "frame": 55,
}


@dataclass(frozen=True, slots=True)
class Signature:
    """A pattern (RE2 syntax, one line of text), the cause it shows, and how strongly.

    cause is an id of causes.yaml, empty for harmless, success and start. `^` is the start of the message after rank
    prefixes. says and fix, where given, replace the cause's own; named groups fill their {names}. example holds lines
    that this signature must decide, unlike lines that it must leave alone. ends names signatures whose trouble is over
    when this line comes. group is the file it stands in.
    """

    id: str
    pattern: str
    cause: str = ""
    kind: Kind = "cause"
    strength: int = 0
    example: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    source: str = ""
    says: str = ""
    fix: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    group: str = ""
    literals: tuple[str, ...] = ()


def strongest(matched: Sequence[Signature]) -> Signature:
    """The one that decides a line. A fallback (the mere type of an exception) yields to anything more exact."""
    exact = [s for s in matched if s.kind not in ("fallback", "context")]
    return max(exact or matched, key=lambda s: s.strength)


KEYS = frozenset(f.name for f in fields(Signature)) - {"group", "literals"}
LISTS = ("example", "unlike", "fix", "ends", "literals")


def signature(raw: object, where: str, group: str, source: str) -> Signature:
    """One entry of a file as a Signature. Raises FactsError naming the file, the entry and the key."""
    if not isinstance(raw, Mapping):
        raise FactsError(f"{where}: each signature is a mapping with id, pattern, cause and example")
    name = f"{where}: {raw.get('id', '?')}"
    if unknown := set(raw) - KEYS:
        raise FactsError(f"{name}: unknown key {sorted(unknown)}; known are {', '.join(sorted(KEYS))}")
    kind = raw.get("kind", "cause")
    if kind not in KINDS:
        raise FactsError(f"{name}: kind '{kind}' is none of {', '.join(KINDS)}")
    needs = ["id", "pattern", "example"] + ["cause"] * (kind not in ("context", "harmless", "success", "start"))
    if missing := [key for key in needs if not raw.get(key)]:
        raise FactsError(f"{name}: missing {', '.join(missing)}")
    return Signature(
        id=str(raw["id"]),
        pattern=str(raw["pattern"]),
        cause=str(raw.get("cause", "")),
        kind=kind,
        strength=int(raw.get("strength", STRENGTH[kind])),
        example=_lines(raw["example"]),
        unlike=_lines(raw.get("unlike", ())),
        source=str(raw.get("source", source)),
        says=str(raw.get("says", "")),
        fix=_lines(raw.get("fix", ())),
        ends=_lines(raw.get("ends", ())),
        group=group,
        literals=_literals(str(raw["pattern"]), kind, name),
    )


def _lines(value: object) -> tuple[str, ...]:
    """One text or a list of them."""
    return tuple(str(each) for each in value) if isinstance(value, list | tuple) else (str(value),)


def _literals(pattern: str, kind: str, name: str) -> tuple[str, ...]:
    """The pattern's fixed words. Raises FactsError where it has none, since the scan could not find it."""
    from knowledge.signatures.literals import SHORTEST, literals  # not needed when the library comes from the cache

    if kind == "frame":
        return ()
    try:
        words = literals(pattern, common=kind == "harmless")
    except re.error as error:
        raise FactsError(f"{name}: the pattern does not compile: {error}") from error
    if not words:
        raise FactsError(f"{name}: the pattern needs a fixed, telling word of {SHORTEST} letters in each branch")
    return words
