"""Logs of any size, read with progress: the diagnosis with every hit, and the lines of one rank."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from assistant.tui.work.found import TroubleSign
from graph.debugging.counting import counted
from graph.debugging.diagnosis import judge
from graph.debugging.log import cleaned, message, printable
from graph.debugging.scan import Event, Scanner
from graph.debugging.secrets import masked
from graph.debugging.weighing import FAINT, weight
from knowledge.opening import open_plain
from knowledge.signatures.matcher import matcher
from knowledge.types import Diagnosis, LogEvidence

BLOCK = 4 << 20
MOST_HITS = 2_000
SHOWN = 300
# How far into a line a rank's mark may stand.
MARK, AFTER_MARK = 60, 40
MOST_VERDICTS = 50_000
Tell = Callable[[object], None]


def diagnosis_and_hits(paths: Sequence[Path], tell: Tell) -> tuple[Diagnosis, tuple[TroubleSign, ...]]:
    """What `diagnose` finds, and all that it found on the way. Raises InputError where a file cannot be read."""
    scanner = Scanner(matcher())
    scan = scanner.read(counted(paths, tell))
    diagnosis = judge(scan, scanner.matcher)
    return diagnosis, hits(scan.events, diagnosis)


def hits(events: Sequence[Event], diagnosis: Diagnosis) -> tuple[TroubleSign, ...]:
    """The signs of trouble in the order of their lines, the ones that the diagnosis shows among them."""
    telling = {(shown.file, shown.line): place for place, shown in enumerate(diagnosis.evidence, 1)}
    found = {
        (event.file, event.line): hit_of(event, telling.get((event.file, event.line), 0))
        for event in events
        if event.signature.kind not in ("start", "harmless", "success") and weight(event) >= FAINT
    }
    for place, shown in enumerate(diagnosis.evidence, 1):
        found.setdefault((shown.file, shown.line), of_evidence(shown, diagnosis.cause, place))
    listed = sorted(found.values(), key=lambda hit: (hit.file or "", hit.line))
    return tuple(listed[:MOST_HITS])


def hit_of(event: Event, telling: int) -> TroubleSign:
    text = masked(event.text)[:SHOWN]
    return TroubleSign(event.line, text, event.signature.cause, event.rank, event.file, event.count, telling)


def of_evidence(shown: LogEvidence, cause: str, telling: int) -> TroubleSign:
    return TroubleSign(shown.line, shown.text[:SHOWN], cause, shown.rank, shown.file, shown.count, telling)


def rank_lines(path: Path, rank: int) -> Iterator[tuple[int, int, array[int]]]:
    """Bytes read, of how many, and the numbers of the lines whose mark names that rank."""
    mark = re.compile(rb"%d(?:\]|:| pid)" % rank)
    verdicts: dict[bytes, bool] = {}
    total, done, line, kept = path.stat().st_size, 0, 1, b""
    with open_plain(path) as file:
        while block := file.read(BLOCK):
            done += len(block)
            data = kept + block
            end = data.rfind(b"\n") + 1
            yield done, total, marked(data[:end], line, mark, rank, verdicts)
            line += data.count(b"\n", 0, end)
            kept = data[end : end + 4 * MARK]  # of an endless line only the mark counts
    yield done, total, marked(kept, line, mark, rank, verdicts)


def marked(data: bytes, line: int, mark: re.Pattern[bytes], rank: int, verdicts: dict[bytes, bool]) -> array[int]:
    """The lines of that rank in whole lines, the first of which has that number. verdicts: marks judged before."""
    found, counted, judged = array("Q"), 0, -1
    for match in mark.finditer(data):
        start = data.rfind(b"\n", 0, match.start()) + 1
        if start == judged or match.start() - start > MARK or data[match.start() - 1 : match.start()].isdigit():
            continue
        head = data[start : match.end() + AFTER_MARK].partition(b"\n")[0]
        head = head[: match.end() - start] + head[match.end() - start :].partition(b" ")[0] + b" x"
        if head not in verdicts:
            if len(verdicts) > MOST_VERDICTS:
                verdicts.clear()
            verdicts[head] = message(printable(cleaned(head).decode("utf-8", "replace")))[1] == rank
        judged = start
        if verdicts[head]:
            line += data.count(b"\n", counted, start)
            counted = start
            found.append(line)
    return found
