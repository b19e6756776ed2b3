"""A log of any size in as many letters as a model has room for: the first errors, the last lines, each once, numbered.

Bounded memory and one pass: RE2 finds the lines that speak of trouble, Python touches only those.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import re2

from graph.debugging.log import LogSource, blocks, message, printable
from knowledge.signatures.matcher import options

TROUBLE = re2.compile(
    rb"(?i)error|exception|fail|fatal|abort|kill|denied|cannot|can't|could ?n[o']t|unable|not found|no such|invalid"
    rb"|refused|time[d ]?.?out|traceback|segfault|signal|dumped|out of memory|\boom\b|mismatch|unexpected|undefined"
    rb"|unsupported|exceed|panic|corrupt|unreachable|exit(?:ed|s)? |terminat|missing|incompatib"
    rb"|not (?:supported|available|allowed|enough)|\bbad |assert|expected|requires?\b|lost\b|stuck|hang\b|quota|full\b",
    options(),
)
LONGEST_LINE = 300
LAST = 30
MOST_KINDS = 400
NUMBERS = re.compile(r"0x[0-9a-f]+|\d+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line: its number in its file (from 1), the file (None: pasted), its text, and how often its like came."""

    number: int
    text: str
    file: str | None = None
    count: int = 1
    last: bool = False


@dataclass(frozen=True, slots=True)
class Compressed:
    """lines in the log's order; total lines of the log; left_out says what is not here."""

    lines: tuple[LogLine, ...]
    total: int

    @property
    def left_out(self) -> str:
        shown = len(self.lines)
        if shown >= self.total:
            return "The log is complete."
        return f"{shown} of {self.total} lines are shown: lines that speak of trouble, once each, and the last lines."

    def text(self) -> str:
        """The lines with names that are unique over all files: #1, #2, ..."""
        return "\n".join(f"#{n} {_shown(line)}" for n, line in enumerate(self.lines, 1))


def _shown(line: LogLine) -> str:
    times = f" (and {line.count - 1} more like it)" if line.count > 1 else ""
    return f"{line.text}{times}"


def compress(sources: Sequence[LogSource], room: int) -> Compressed:
    """The most telling lines within about `room` letters. Raises InputError when a log cannot be read."""
    troubled: dict[str, LogLine] = {}
    ends: list[LogLine] = []
    total = 0
    for source in sources:
        last: deque[LogLine] = deque(maxlen=max(3, LAST // len(sources)))
        lines = 0
        for block in blocks(source):
            data = block.data[: block.limit]
            _troubled(data, block.first_line, source.name, troubled)
            rows = (
                data.rstrip(b"\n").split(b"\n")
                if len(data) < 1 << 20
                else data[-(1 << 16) :].rstrip(b"\n").split(b"\n")
            )
            first = block.first_line + data.rstrip(b"\n").count(b"\n") + 1 - len(rows)
            for n, row in enumerate(rows[-LAST:], max(0, len(rows) - LAST)):
                last.append(_line(first + n, row, source.name))
            lines = block.first_line + data.rstrip(b"\n").count(b"\n")
        total += lines
        ends += [replace(line, last=True) for line in last if line.text]
    return Compressed(_chosen(list(troubled.values()), ends, room), total)


def _troubled(data: bytes, first_line: int, name: str | None, found: dict[str, LogLine]) -> None:
    """Add this block's lines of trouble, folded."""
    at, number, done = 0, first_line, -1
    for match in TROUBLE.finditer(data):
        if match.start() < done:
            continue
        start = data.rfind(b"\n", 0, match.start()) + 1
        end = data.find(b"\n", match.start())
        done = end if end >= 0 else len(data)
        number += data.count(b"\n", at, start)
        at = start
        line = _line(number, data[start : min(done, start + 4 * LONGEST_LINE)], name)
        key = NUMBERS.sub("0", message(line.text)[0])
        if key in found:
            found[key] = replace(found[key], count=found[key].count + 1)
        elif len(found) < MOST_KINDS:
            found[key] = line


def _line(number: int, data: bytes, name: str | None) -> LogLine:
    return LogLine(number, printable(data.decode("utf-8", "replace"))[:LONGEST_LINE], name)


def _chosen(troubled: list[LogLine], ends: list[LogLine], room: int) -> tuple[LogLine, ...]:
    """First a few of the first errors and of the last lines, then more of both while there is room."""
    order = [*troubled[:8], *reversed(ends[-8:]), *troubled[8:60], *reversed(ends[:-8]), *troubled[60:]]
    taken: dict[tuple[str | None, int], LogLine] = {}
    used = 0
    for line in order:
        size = len(line.text) + 12
        if (line.file, line.number) not in taken and used + size <= room:
            taken[line.file, line.number] = line
            used += size
    return tuple(_ordered(taken.values()))


def _ordered(lines: Iterable[LogLine]) -> list[LogLine]:
    files: dict[str | None, int] = {}
    for line in lines:
        files.setdefault(line.file, len(files))
    return sorted(lines, key=lambda line: (files[line.file], line.number))
