"""Changes of a script's text for which no field exists, put into it again each time it is rendered.

A patch is kept as lines with their neighbours, so that it finds its place in a script whose other lines changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from knowledge.job_parts import Patch
from knowledge.types import LaunchBundle, LaunchPlan, SideFile

LOST = "An earlier change has no place in this script any more and was left out: {}. Say it again if it is wanted."
LONGEST_SHOWN = 80


def patches_between(before: str, after: str) -> tuple[Patch, ...]:
    """What was changed between two texts, each run of lines with the line above and below it."""
    old, new = before.splitlines(), after.splitlines()
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(anchored(old, a, b, tuple(new[c:d])) for kind, a, b, c, d in steps if kind != "equal")


def anchored(rows: Sequence[str], first: int, last: int, new: tuple[str, ...]) -> Patch:
    """New lines for those rows, as a patch that finds its place again: beside empty lines alone none does, so the ones
    above belong to it up to a line that says something."""
    while first and not rows[first - 1].strip() and not "".join(rows[last : last + 1]).strip():
        first, new = first - 1, (rows[first - 1], *new)
    return Patch(tuple(rows[first:last]), new, rows[first - 1] if first else "", "".join(rows[last : last + 1]))


def with_patches(plan: LaunchPlan, bundle: LaunchBundle, patches: Sequence[Patch]) -> tuple[LaunchPlan, LaunchBundle]:
    """The rendered script with the patches in it; what finds no place is a note of the plan."""
    text, lost = patched(bundle.script, patches)
    notes = tuple(dict.fromkeys(LOST.format(shown(one)) for one in lost))
    return replace(plan, notes=(*plan.notes, *notes)), replace(bundle, script=text, files=still_named(bundle, text))


def still_named(bundle: LaunchBundle, script: str) -> tuple[SideFile, ...]:
    """The files beside the script without those that only a line named which a patch took out."""

    def named_in(text: str, but: SideFile) -> bool:
        return but.name in text or any(but.name in one.text for one in bundle.files if one is not but)

    return tuple(one for one in bundle.files if named_in(script, one) or not named_in(bundle.script, one))


def patched(text: str, patches: Iterable[Patch]) -> tuple[str, tuple[Patch, ...]]:
    """The text with the patches in it, in their order, and those that found no place or more than one."""
    rows, lost = text.splitlines(), []
    for one in patches:
        at = place_of(one, rows)
        if at is None:
            lost += [] if is_in(one, rows) else [one]
        else:
            rows[at : at + len(one.old)] = one.new
    return "\n".join(rows) + ("\n" if text.endswith("\n") else ""), tuple(lost)


def is_in(patch: Patch, rows: Sequence[str]) -> bool:
    """Whether the rows are as the patch would have them: its new lines are there, or what it took out is not."""
    there = {row.strip() for row in rows}
    new = [row.strip() for row in patch.new if row.strip()]
    return (
        all(row in there for row in new) if new else not any(row.strip() in there for row in patch.old if row.strip())
    )


def standing(text: str, patches: Iterable[Patch]) -> tuple[Patch, ...]:
    """The patches that are in the text: one that was lost, and told of, is not tried again with each later change."""
    rows = text.splitlines()
    return tuple(one for one in patches if is_in(one, rows))


def place_of(patch: Patch, rows: Sequence[str]) -> int | None:
    """Where the patch goes: at its old lines, among several those beside a neighbour; new lines go beside one."""
    size = len(patch.old)
    if size:
        found = [at for at in range(len(rows) - size + 1) if tuple(rows[at : at + size]) == patch.old]
        beside = [at for at in found if neighbours(patch, rows, at)]
        chosen = found if len(found) == 1 else beside
        return chosen[0] if len(chosen) == 1 else None
    both = [at for at in range(len(rows) + 1) if neighbours(patch, rows, at) == 2]
    one = both or [at for at in range(len(rows) + 1) if neighbours(patch, rows, at)]
    return one[0] if one and (len(one) == 1 or both) else None


def neighbours(patch: Patch, rows: Sequence[str], at: int) -> int:
    """How many of the two lines beside this place are those of the patch; empty lines tell nothing."""
    above = rows[at - 1] if at else ""
    end = at + len(patch.old)
    below = rows[end] if end < len(rows) else ""
    return sum(bool(want.strip()) and want == there for want, there in ((patch.above, above), (patch.below, below)))


def shown(patch: Patch) -> str:
    """The patch in a line: what it put in, or what it took out."""
    text = "; ".join(row.strip() for row in patch.new if row.strip())
    said = f"`{text}`" if text else f"without `{'; '.join(row.strip() for row in patch.old if row.strip())}`"
    return said if len(said) <= LONGEST_SHOWN else f"{said[:LONGEST_SHOWN]}...`"
