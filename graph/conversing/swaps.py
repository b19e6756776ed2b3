"""A patch put into a text: its pieces found by their words or by a line's number, the text's own blanks kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from graph.conversing.tools import Swap
from knowledge.errors import InputError
from knowledge.script_keys import STANDS_FOR_KEY

SHOWN = 80


def swapped(text: str, patch: Sequence[Swap]) -> tuple[str, tuple[str, ...]]:
    """The text (line ends as LF) with every piece replaced that has its place, and what is wrong with the others.

    Numbers count the lines of the text as it stood before. Raises InputError where no piece has a place.
    """
    rows = text.replace("\r\n", "\n").split("\n")
    wrong = tuple(why for one in patch if (why := misplaced(one, rows)))
    if wrong and len(wrong) == len(patch):
        raise InputError("nothing of the patch is applied: " + "; ".join(wrong))
    patch = [one for one in patch if not misplaced(one, rows)]
    numbered = [one for one in patch if one.get("line")]
    for one in sorted(numbered, key=lambda swap: -swap["line"]):
        at, old, new = one["line"] - 1, one.get("old", ""), one.get("new", "")
        if is_part(old, rows[at]):
            rows[at] = put(rows[at], old, new) if new else rows[at].replace(old, new)
            continue
        last = at + len(old.rstrip("\n").split("\n"))
        rows[at:last] = rows[at:last] if is_in_place(rows, at, last, new_rows(new)) else new_rows(new)
    now = "\n".join(rows)
    for one in (swap for swap in patch if not swap.get("line")):
        now = put(now, one["old"].replace("\r\n", "\n"), one.get("new", "").replace("\r\n", "\n"))
    return now, wrong


def new_rows(new: str) -> list[str]:
    return new.rstrip("\n").split("\n") if new else []


def is_in_place(rows: Sequence[str], first: int, last: int, new: Sequence[str]) -> bool:
    """Whether the rows that are to be replaced stand among the new ones already: the piece was put in before."""
    held, bare, coming = ([row.strip() for row in some] for some in (rows[first:last], rows, new))
    begins = (first - at for at in range(len(coming)) if coming[at : at + len(held)] == held)
    return any(at >= 0 and bare[at : at + len(coming)] == coming for at in begins)


def misplaced(swap: Swap, rows: Sequence[str]) -> str:
    """Why the piece has no place; empty where it has one."""
    line, old = swap.get("line"), swap.get("old", "").replace("\r\n", "\n")
    if not line:
        return "" if not old or place(old, rows) else nearest(old, rows)
    if not 1 <= line <= len(rows):
        return f"there is no line {line}; the script has {len(rows)}"
    wanted = old.rstrip("\n").split("\n")
    held = rows[line - 1 : line - 1 + len(wanted)]
    whole = len(held) == len(wanted) and all(map(is_row, held, wanted))
    if old and not whole and not is_part(old, rows[line - 1]):
        return f"line {line} is `{rows[line - 1][:SHOWN]}`"
    return ""


def is_part(old: str, row: str) -> bool:
    """Whether a text is a part of one line, and stands once in it."""
    return bool(old.strip()) and old.strip() != row.strip() and row.count(old) == 1


def is_row(row: str, told: str) -> bool:
    """Whether a row is the one that was told, but for blanks around it; what stands for a key may be any word."""
    parts = STANDS_FOR_KEY.split(told.strip())
    return row.strip() == parts[0] or (
        len(parts) > 1 and re.fullmatch(r"\S+".join(map(re.escape, parts)), row.strip()) is not None
    )


def place(old: str, rows: Sequence[str]) -> tuple[int, int] | None:
    """Where the old text stands: (0, 0) where it stands once to the letter, else the rows that are it but for blanks.

    None where it stands nowhere, or twice.
    """
    text = "\n".join(rows)
    if text.count(old) == 1:
        return (0, 0)
    wanted = [one.strip() for one in old.strip("\n").split("\n")]
    begins = range(len(rows) - len(wanted) + 1)
    found = [at for at in begins if all(map(is_row, rows[at : at + len(wanted)], wanted))]
    return (found[0], found[0] + len(wanted)) if len(found) == 1 and text.count(old) < 2 else None


def put(text: str, old: str, new: str) -> str:
    rows = text.split("\n")
    if not old:
        raise InputError("a piece of the patch has neither an old text nor a line")
    found = place(old, rows)
    if found is None:
        raise InputError(f"nothing of the patch is applied: after its other pieces {nearest(old, rows)}")
    if found == (0, 0):
        # What stands once, and has the new text around it, was put in before.
        if old in new and re.search(rf"(?<![\w.-](?=[\w.-])){re.escape(new)}(?!(?<=[\w.-])[\w.-])", text):
            return text
        gone = (
            ""
            if new
            else re.sub(rf"^[ \t]*{re.escape(old.rstrip(chr(10)))}[ \t]*(?:\n|\Z)", "", text, count=1, flags=re.M)
        )
        return gone if not new and gone != text else text.replace(old, new)
    first, last = found
    if is_in_place(rows, first, last, new_rows(new)):
        return text
    indent = rows[first][: len(rows[first]) - len(rows[first].lstrip())]
    told = [one if one[:1].isspace() or not one else indent + one for one in new_rows(new)]
    return "\n".join([*rows[:first], *told, *rows[last:]])


def nearest(old: str, rows: Sequence[str]) -> str:
    """What is wrong with an old text: how often it stands, or the line that comes nearest to what is not there."""
    count = "\n".join(rows).count(old)
    if count > 1:
        numbers = [str(at) for at, row in enumerate(rows, 1) if old.split("\n")[0] in row]
        return f"old text `{old[:SHOWN]}` stands {count} times (lines {', '.join(numbers[:6])}): give its line"
    bare = [row.strip() for row in rows]
    missing = next((one for one in old.split("\n") if one.strip() and one.strip() not in bare), old)
    near = get_close_matches(missing.strip(), bare, 1, 0.4)
    stands = f"; line {bare.index(near[0]) + 1} is `{rows[bare.index(near[0])][:SHOWN]}`" if near else ""
    return f"old text `{missing.strip()[:SHOWN]}` stands 0 times in the script{stands}"
