"""A script's changed text, whole or a piece of it, laid over the script; and the hunks in which two texts differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import product

from graph.conversing.hand import REMARK
from graph.extraction.script import read_script
from graph.planning.patches import anchored
from graph.reading.message import FENCE, SHEBANG
from knowledge.errors import InputError
from knowledge.job_parts import Patch

# A line that stands for lines which stay: `...`, `# ... (rest as before)`.
ELIDED = re.compile(r"\s*#?\s*[\[(<]?\s*(?:\.{3}|…)(?!\w)")
# What a line sets or runs, by which its change is known as one of that line.
KEY = re.compile(r"\s*(?:#\w+:?\s+-{1,2}[\w-]+(?:\s+[a-z]+(?==))?|(?:export\s+)?\w+(?==)|\S+(?:\s+[^\s=-]\S*)?)")
# Numbers in front of every line, as the script is shown.
NUMBERED = re.compile(r"\s*\d+(?:[ \t]|$)")
NO_PLACE = (
    "the piece that begins with `{}` has no place in the script: begin and end it with lines that stay, or give the "
    "whole script"
)
SHOWN = 80
# From this likeness on the lines between two places are what a piece is of.
ALIKE = 0.2
# Places of a first line times those of a last line that are compared.
MOST_PLACES = 64


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that a changed text has in the place of others. first: the row of the script (from 0) at which they begin;
    last: the row behind them."""

    first: int
    last: int
    new: tuple[str, ...]

    def told(self, rows: Sequence[str]) -> str:
        """The hunk in a line: its place, and what it puts in or takes out."""
        lines = self.new or rows[self.first : self.last]
        text = "; ".join(row.strip() for row in lines if row.strip())[:SHOWN]
        return f"line {self.first + 1} {'to' if self.new else 'without'} `{text}`"


def laid_over(script: str, text: str) -> tuple[str, tuple[int, ...]]:
    """The script with the changed text in its place, and the numbers of its remarks that the text leaves out: those
    stay, since a script is shown without them or retold without them, and nothing that runs depends on them.

    Raises InputError with the piece that has no place.
    """
    rows, given = (
        script.split("\n"),
        without_numbers(without_fence(text.replace("\r\n", "\n").strip("\n").split("\n")), script),
    )
    parts = list(pieces(given))
    if not parts:
        raise InputError("the text is empty")
    made, kept = list(rows), list[int]()
    runs = [
        (*region(rows, part, opens=not at and not ELIDED.match(given[0]), closes=at == len(parts) - 1 and not
                 ELIDED.match(given[-1])), part)
        for at, part in enumerate(parts)
    ]  # fmt: skip
    for first, last, part in sorted(runs, key=lambda run: -run[0]):
        merged, left = merge(rows[first:last], part)
        made[first:last] = merged
        kept += [first + at + 1 for at in left]
    return "\n".join(made), tuple(sorted(kept))


def without_fence(rows: list[str]) -> list[str]:
    """The lines without a fence around them."""
    return rows[1:-1] if len(rows) > 2 and FENCE.match(rows[0]) and FENCE.match(rows[-1]) else rows


def without_numbers(rows: list[str], script: str) -> list[str]:
    """The lines without the numbers that the script was shown with, where all have one."""
    told = [row for row in rows if row.strip()]
    if len(told) < 2 or not all(map(NUMBERED.match, told)) or NUMBERED.match(script):
        return rows
    return [NUMBERED.sub("", row, count=1) for row in rows]


def pieces(rows: Sequence[str]) -> Iterator[list[str]]:
    """The lines between those that stand for what stays."""
    part = list[str]()
    for row in (*rows, "..."):
        if not ELIDED.match(row):
            part.append(row)
        elif any(one.strip() for one in part):
            yield trimmed(part)
            part = []


def trimmed(rows: Sequence[str]) -> list[str]:
    """The lines without the blank ones at both ends."""
    told = [at for at, row in enumerate(rows) if row.strip()]
    return list(rows[told[0] : told[-1] + 1])


def region(rows: Sequence[str], part: Sequence[str], *, opens: bool, closes: bool) -> tuple[int, int]:
    """The rows of the script that a piece is of. opens, closes: nothing was left out before it, or behind it.

    Raises InputError where it has no place, or more than one.
    """
    begins = opens and bool(SHEBANG.match(part[0]) or part[0].strip() == rows[0].strip())
    anchors = [at for at, row in enumerate(part) if row.strip() and places(rows, row)]
    if begins and closes and (not anchors or is_whole(rows, part, anchors[-1])):
        return 0, len(rows)
    if not anchors:
        raise InputError(NO_PLACE.format(part[0].strip()[:SHOWN]))
    starts = [0] if begins else places(rows, part[anchors[0]])
    ends = [at + 1 for at in places(rows, part[anchors[-1]])]
    pairs = [(a, b) for a, b in list(product(starts, ends))[:MOST_PLACES] if a < b]
    known = [row.strip() for row in part]
    alike = [
        (SequenceMatcher(None, [row.strip() for row in rows[a:b]], known, autojunk=False).ratio(), a, b)
        for a, b in pairs
    ]
    best = sorted(alike, reverse=True)[:2]
    if not best or (best[0][0] < ALIKE and len(pairs) > 1) or (len(best) > 1 and best[0][0] == best[1][0]):
        raise InputError(NO_PLACE.format(part[0].strip()[:SHOWN]))
    return best[0][1], best[0][2]


def is_whole(rows: Sequence[str], part: Sequence[str], anchor: int) -> bool:
    """Whether a text with the script's head is all of it: it reaches the last line, or has its launch."""
    last = max(at for at, row in enumerate(rows) if row.strip())
    if last in places(rows, part[anchor]):
        return True
    old, new = (read_script("\n".join(one)).training for one in (rows, part))
    return new is not None or old is None


def places(rows: Sequence[str], row: str) -> list[int]:
    """Where the script has the line, or else the one line that sets or runs the same."""
    same = [at for at, one in enumerate(rows) if one.strip() == row.strip()]
    if same or REMARK.match(row):
        return same
    alike = [at for at, one in enumerate(rows) if not REMARK.match(one) and key(one) == key(row)]
    return alike if len(alike) == 1 else []


def key(row: str) -> str:
    found = KEY.match(row)
    return " ".join(found[0].split()) if found else row


def merge(old: Sequence[str], new: Sequence[str]) -> tuple[list[str], list[int]]:
    """The new lines in the place of the old ones, with the old lines' blanks and the remarks that the new ones leave
    out beside what stays; and where those remarks were."""
    made, kept = list[str](), list[int]()
    steps = SequenceMatcher(None, [row.strip() for row in old], [row.strip() for row in new], autojunk=False)
    for kind, a, b, c, d in steps.get_opcodes():
        coming = list(new[c:d])
        if kind == "equal":
            made += map(with_blanks, old[a:b], coming)
            continue
        comes = any(row.strip() for row in coming)
        does = [at for at in range(a, b) if not REMARK.match(old[at])]
        head, tail = (range(a, does[0]), range(does[-1] + 1, b)) if does else (range(a, b), range(0))
        if comes and any(row.strip() and REMARK.match(row) for row in coming):
            head = tail = range(0)  # they tell their own
        elif does and not comes:
            head = range(0)  # what was said of the lines that go
        bare = {row.strip(" \t#") for row in coming}
        stays = [[at for at in one if not old[at].strip() or old[at].strip(" \t#") not in bare] for one in (head, tail)]
        above, below = ([old[at] for at in one] for one in stays)
        new_rows = coming if comes else []
        made += [*above, *new_rows, *below] if does else [*new_rows, *above]  # a remark tells of what is below it
        kept += [at for one in stays for at in one if old[at].strip()]
    return made, kept


def with_blanks(was: str, now: str) -> str:
    """A line that stays, as it was but for another indentation."""
    return was if was.rstrip() == now.rstrip() or not now[:1].isspace() else now


def hunks_between(before: str, after: str) -> tuple[Hunk, ...]:
    """The hunks in which the texts differ, each as small as can be: a line for a line where they set the same."""
    old, new = before.split("\n"), after.split("\n")
    found = list[Hunk]()
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            found += finer(old, new, (a, b, c, d))
    return tuple(found)


def finer(old: Sequence[str], new: Sequence[str], block: tuple[int, int, int, int]) -> Iterator[Hunk]:
    """A block of lines by the lines that set or run the same; a command over several lines is one."""
    a, b, c, d = block
    if any(row.rstrip().endswith("\\") for row in (*old[a:b], *new[c:d])):
        yield Hunk(a, b, tuple(new[c:d]))
        return
    keys = [key(row) for row in old[a:b]], [key(row) for row in new[c:d]]
    for kind, i, j, k, m in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from (Hunk(a + i + at, a + i + at + 1, (new[c + k + at],)) for at in range(j - i))
        elif i == j and all(row.startswith("#") for row in new[c + k : c + m]):
            yield from (Hunk(a + i, a + i, (row,)) for row in new[c + k : c + m])
        else:
            yield Hunk(a + i, a + j, tuple(new[c + k : c + m]))


def with_hunks(text: str, hunks: Sequence[Hunk]) -> str:
    """The text with these of its hunks."""
    rows, at = list[str](), 0
    old = text.split("\n")
    for one in sorted(hunks, key=lambda hunk: (hunk.first, hunk.last)):
        rows += [*old[at : one.first], *one.new]
        at = one.last
    return "\n".join([*rows, *old[at:]])


def rebased(hunks: Sequence[Hunk], before: str, after: str) -> tuple[Hunk, ...]:
    """The hunks of one text at the same places of another that was made of it.

    What that put in stays; where it replaced the rows of a hunk, the hunk replaces what stands there now.
    """
    steps = SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False).get_opcodes()

    def moved(row: int) -> int:
        for _, a, b, c, d in steps:
            if a <= row < b:
                return min(c + row - a, d)
        return steps[-1][4] if steps else row

    def rebase(one: Hunk) -> Hunk:
        first = moved(one.first)
        return Hunk(first, max(first, moved(one.last - 1) + 1) if one.last > one.first else first, one.new)

    return tuple(map(rebase, hunks))


def as_patches(text: str, hunks: Sequence[Hunk]) -> tuple[Patch, ...]:
    """The hunks as patches, each with the neighbours that it has once those before it are in the text."""
    rows, shift, found = text.splitlines(), 0, list[Patch]()
    end = len(rows)  # a hunk counts what stands behind the last line's end as a row, which no script has
    for one in sorted(hunks, key=lambda hunk: (hunk.first, hunk.last)):
        new = ("", *one.new) if one.first > end else one.new
        new = new[:-1] if one.last > end and new[-1:] == ("",) else new
        a, b = min(one.first, end) + shift, min(one.last, end) + shift
        found.append(anchored(rows, a, b, new))
        rows[a:b] = new
        shift += len(new) - (b - a)
    return tuple(found)


def most_of(hunks: tuple[Hunk, ...], passes: Callable[[tuple[Hunk, ...]], bool]) -> tuple[Hunk, ...]:
    """As many of the hunks as pass together: all, all but one, else what can be added one after the other."""
    ways = (hunks, *(tuple(one for one in hunks if one is not left) for left in hunks))
    whole = next((way for way in ways if passes(way)), None)
    if whole is not None:
        return whole
    taken = list[Hunk]()
    for one in (*hunks, *hunks):  # a line may need another one that comes later
        taken += [one] if one not in taken and passes((*taken, one)) else []
    return tuple(one for one in hunks if one in taken)
