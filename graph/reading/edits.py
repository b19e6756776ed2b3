"""What a message does to a request, as operations, and the one place that applies them.

A field is a name of JobRequest. What cannot be applied is handed back by name, never dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from knowledge.types import JobRequest

FIELDS = frozenset(f.name for f in fields(JobRequest))


@dataclass(frozen=True, slots=True)
class Set:
    """The field takes this value; None empties it. words: what was said, to be shown again."""

    field: str
    value: Any
    words: str = ""


@dataclass(frozen=True, slots=True)
class Add:
    """One more value in a field that holds several (variables, modules, argument_edits, ...)."""

    field: str
    value: Any
    words: str = ""


@dataclass(frozen=True, slots=True)
class Remove:
    """A value is taken out of a field that holds several, or the field is emptied where it holds one."""

    field: str
    value: Any = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """A number or a time of the request, multiplied: half the nodes, twice as long."""

    field: str
    factor: float
    words: str = ""


@dataclass(frozen=True, slots=True)
class Undo:
    """The last change is taken back."""

    words: str = ""


@dataclass(frozen=True, slots=True)
class Redo:
    """The change taken back is made again."""

    words: str = ""


@dataclass(frozen=True, slots=True)
class Reset:
    """Everything said so far is forgotten."""

    words: str = ""


@dataclass(frozen=True, slots=True)
class NewJob:
    """A further job begins; the old one stays as it is."""

    words: str = ""


@dataclass(frozen=True, slots=True)
class Back:
    """The way back to an earlier version: the first, or the one that held this value."""

    value: Any = None
    words: str = ""


Edit = Set | Add | Remove | Scale | Undo | Redo | Reset | NewJob | Back


@dataclass(frozen=True, slots=True)
class Applied:
    """The request after its edits; changes: (field, before, now); left: the edits that had no place."""

    request: JobRequest
    changes: tuple[tuple[str, Any, Any], ...] = ()
    left: tuple[Edit, ...] = ()


def apply_edits(request: JobRequest, edits: Sequence[Edit]) -> Applied:
    """The request after the edits, in their order.

    Undo, Redo, Reset, NewJob and Back speak of the thread's history, not of a request: they are left to the caller.
    """
    now, left = request, list[Edit]()
    for edit in edits:
        changed = _applied(now, edit)
        if changed is None:
            left.append(edit)
        else:
            now = changed
    changes = tuple((n, getattr(request, n), getattr(now, n)) for n in sorted(FIELDS - {"heard"}))
    return Applied(now, tuple(c for c in changes if c[1] != c[2]), tuple(left))


def _applied(request: JobRequest, edit: Edit) -> JobRequest | None:
    if not isinstance(edit, (Set, Add, Remove, Scale)) or edit.field not in FIELDS:
        return None
    before = getattr(request, edit.field)
    match edit:
        case Set():
            return _set(request, edit.field, edit.value)
        case Add():
            several = before if isinstance(before, tuple) else ()
            return _set(request, edit.field, (*(v for v in several if v != edit.value), edit.value))
        case Remove():
            return _removed(request, edit, before)
    scaled = _scaled(before, edit.factor)
    return _set(request, edit.field, scaled) if scaled is not None else None


def _set(request: JobRequest, field: str, value: Any) -> JobRequest:
    changes: dict[str, Any] = {field: value}
    return replace(request, **changes)


def _removed(request: JobRequest, edit: Remove, before: Any) -> JobRequest | None:
    if not isinstance(before, tuple):
        return _set(request, edit.field, None) if before is not None else None
    kept = tuple(v for v in before if edit.value is not None and v != edit.value)
    return _set(request, edit.field, kept) if kept != before else None


def _scaled(before: Any, factor: float) -> int | str | None:
    if isinstance(before, str) and before.count(":") == 2:
        hours, minutes, seconds = map(int, before.split(":"))
        whole = round((hours * 3600 + minutes * 60 + seconds) * factor)
        return f"{whole // 3600:02}:{whole % 3600 // 60:02}:{whole % 60:02}"
    return max(1, round(before * factor)) if isinstance(before, int) and not isinstance(before, bool) else None
