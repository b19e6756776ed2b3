"""Tables with a header line, as schedulers print them: columns cut to a width, cells empty, one column of free words.

A row is read by the cheapest way to hand its words to the columns in order: a word of the wrong kind is dear, a word
that does not stand under its column costs a little, only columns of free words take several. So a row is read right
also where pasting has lost the blanks between its columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from knowledge.data_file import read_data
from knowledge.schedulers.records import Fields, Phase, Scheduler

# What a cell of each kind looks like.
CELL = {
    "id": re.compile(r"(?=\S*\d)[\w.\[\]%,:+*()-]+|[ƒf][1-9A-HJ-NP-Za-km-z]+"),
    "state": re.compile(r"[A-Z][A-Z_+]*"),
    "time": re.compile(
        r"(?:\d+-)?\d+(?::\d+)*(?:\.\d+)?[smhd]?|--|-|N/A|UNLIMITED|INVALID|NOT_SET|Unknown|Partition_Limit"
    ),
    "count": re.compile(r"\d+(?:\.\d+)?[KMG]?(?:-\d+)?|--|-"),
    "number": re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?[KMGT]?|--|-|inf|nan"),
    "date": re.compile(r"\d{4}-\d\d-\d\dT\S+|N/A|Unknown|None|[A-Z][a-z]{2}|\d{1,2}|\d\d?:\d\d(?::\d\d)?|--|-"),
    "word": re.compile(r"\S+"),
    "free": re.compile(r"\S+"),
}
SEVERAL = frozenset({"free", "date"})
WRONG, EMPTY, APART, MORE = 20.0, 1.0, 0.8, 0.3
INFINITE = float("inf")
# A header cut by its column's width is known by so many letters.
SHORTEST = 6
# One that lost its last letter alone by this many.
LEAST = 4
# With more columns than these a line is a header even behind other words.
FEW = 4
WORD = re.compile(r"\S+")
RULE = re.compile(r"\s*-{2,}(?:\s+-+)*\s*")


DATA: Mapping[str, Any] = read_data(Path(__file__).with_name("output_tables.yaml"))


def phase_in(scheduler: Scheduler, state: str) -> Phase:
    """What a state of that scheduler is for a person."""
    phase: Phase = DATA["states"][scheduler].get(state, "unknown")
    return phase


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name in the header, the kind of its cells, and where its header (or its rule) stands."""

    name: str
    kind: str
    start: int
    end: int


@cache
def header_pattern(names: frozenset[str]) -> re.Pattern[str]:
    """Longest names first, so that `Job id` is one column and `NODELIST (REASON)` is not `NODELIST`."""
    choices = "|".join(
        re.escape(name).replace(r"\ ", " +").replace(r"\(", r" ?\(") for name in sorted(names, key=len, reverse=True)
    )
    return re.compile(rf"(?<![^\s|])(?:{choices})(?![^\s|])")


@cache
def spellings(names: frozenset[str]) -> dict[str, str]:
    """The names and what a narrow column leaves of them (`TIME_LIMI`), each with the whole name."""
    cut = [(name[:length], name) for name in names for length in range(SHORTEST, len(name))]
    once = {short: name for short, name in cut if sum(short == other for other, _ in cut) == 1 and short not in names}
    by_one = {name[:-1]: name for name in names if len(name) > LEAST and name[:-1] not in names}  # `NODE` of `%.4D`
    return by_one | once | {name: name for name in names}


def header_columns(line: str, kinds: Mapping[str, str]) -> tuple[Column, ...]:
    """The columns that a header line names; empty where other words stand in it, or fewer than two columns.

    Words before the first of many columns are those of the person who pasted the table behind them.
    """
    names = spellings(frozenset(kinds))
    pattern = header_pattern(frozenset(names))
    found = [
        (names[" ".join(m.group().split()).replace(" (", "(")], m.start(), m.end()) for m in pattern.finditer(line)
    ]
    if len(found) < 2:
        return ()
    rest = pattern.sub(" ", line[found[0][1] :] if len(found) > FEW else line).replace("|", " ").strip()
    if rest:
        return ()
    return tuple(Column(name, kinds[name], start, end) for name, start, end in found)


def ruled(columns: Sequence[Column], line: str) -> tuple[Column, ...]:
    """The columns with the widths that a line of dashes draws; as they are where it draws another number."""
    spans = [m.span() for m in WORD.finditer(line)]
    if not RULE.fullmatch(line) or len(spans) > len(columns):
        return tuple(columns)
    drawn = [Column(c.name, c.kind, *span) for c, span in zip(columns, spans, strict=False)]
    return (*drawn, *columns[len(spans) :])


def unplaced(kinds: Mapping[str, str], names: Sequence[str]) -> tuple[Column, ...]:
    """Columns of which only the order is known: rows pasted without their header, or printed without one."""
    return tuple(Column(name, kinds.get(name, "word"), 0, 10**6) for name in names)


def realigned(columns: Sequence[Column], lines: Sequence[str]) -> tuple[Column, ...]:
    """The columns moved over their cells, where a header was copied without the blanks that stand before it."""
    if not columns or columns[0].start or not drawn_apart(columns):
        return tuple(columns)
    for words in ([(m.group(), m.start(), m.end()) for m in WORD.finditer(line)] for line in lines):
        if len(words) == len(columns) and not all(map(fits, words, columns)):
            for by in (words[0][2] - columns[0].end, words[0][1] - columns[0].start):
                moved = tuple(Column(c.name, c.kind, c.start + by, c.end + by) for c in columns)
                if all(map(fits, words, moved)):
                    return moved
    return tuple(columns)


def row_fields(line: str, columns: Sequence[Column]) -> Fields | None:
    """The cells of a row under their columns' names; None where the line is no row of this table."""
    if "|" in line and line.count("|") >= len(columns) - 1:
        return tuple((c.name, cell.strip()) for c, cell in zip(columns, line.split("|"), strict=False))
    words = [(m.group(), m.start(), m.end()) for m in WORD.finditer(line)]
    # A word under each column is free, and no other way is: most rows of a long queue need no search.
    under = fits if drawn_apart(columns) else may_be
    if len(words) == len(columns) and all(map(under, words, columns)):
        return tuple((c.name, w[0]) for c, w in zip(columns, words, strict=True))
    if MORE * (len(words) - len(columns)) >= WRONG:  # too dear, however they are handed out
        return None
    cells = cheapest(words, columns) if words else None
    if cells is None:
        return None
    return tuple((c.name, " ".join(cell)) for c, cell in zip(columns, cells, strict=True))


Found = tuple[str, int, int]


def cheapest(words: Sequence[Found], columns: Sequence[Column]) -> list[list[str]] | None:
    """The cheapest way to hand all words to the columns in order; None where each way has a word of the wrong kind."""
    # How many words are placed in the columns so far -> what that costs, and where the last of these columns began.
    ways: list[dict[int, tuple[float, int]]] = [{0: (0.0, 0)}]
    for column in columns:
        found: dict[int, tuple[float, int]] = {}
        for begin, (before, _) in ways[-1].items():
            for end, cost in cells_from(begin, words, column):
                way = (before + cost, begin)
                if way[0] < WRONG and way < found.get(end, (INFINITE, 0)):
                    found[end] = way
        ways.append(found)
    end, cells = len(words), list[list[str]]()
    if end not in ways[-1]:
        return None
    for found in reversed(ways[1:]):
        begin = found[end][1]
        cells.append([word for word, _, _ in words[begin:end]])
        end = begin
    return cells[::-1]


def cells_from(begin: int, words: Sequence[Found], column: Column) -> Iterator[tuple[int, float]]:
    """Where a cell that begins there may end, and its cost: empty, one word, several in a column of free words."""
    yield begin, EMPTY
    for end in range(begin + 1, (len(words) if column.kind in SEVERAL else min(begin + 1, len(words))) + 1):
        if not CELL[column.kind].fullmatch(words[end - 1][0]):
            return
        apart = words[end - 1][2] <= column.start or words[begin][1] >= column.end
        yield end, (APART if apart else 0.0) + MORE * (end - begin - 1)


def drawn_apart(columns: Sequence[Column]) -> bool:
    """Whether the header shows where columns stand: one with single blanks between all its names does not."""
    return any(after.start - before.end != 1 for before, after in pairwise(columns))


def may_be(word: Found, column: Column) -> bool:
    """Whether a word alone is a cell of the column, wherever it stands."""
    return CELL[column.kind].fullmatch(word[0]) is not None


def fits(word: Found, column: Column) -> bool:
    """Whether a word alone is a cell of the column, and stands under it."""
    return CELL[column.kind].fullmatch(word[0]) is not None and word[2] > column.start and word[1] < column.end
