"""One pass over the logs: which signatures stand where, folded over ranks.

The union pattern jumps from candidate to candidate; Python touches only those lines. What repeats is folded: one event
per message and run, with a count, the ranks, and the first and last line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

from graph.debugging.echoes import is_source, piece, spoken
from graph.debugging.events import Event as Event
from graph.debugging.events import Scan as Scan
from graph.debugging.flood import CLOSE, Flood
from graph.debugging.headway import Headways
from graph.debugging.lines import OPENING, PROGRESS, SHOWN_SOURCE, begins_no_run, level, opening, stamp
from graph.debugging.log import LogBlock, LogSource, NotTextError, blocks, message, printable
from graph.debugging.memory import LineMemory
from graph.debugging.process_ends import decode
from graph.debugging.python_errors import PythonError, read_frames_above, read_swallowed, read_traceback
from graph.debugging.run_signs import LOOKED_THROUGH
from graph.debugging.texts import look
from graph.debugging.together import told_ranks
from graph.debugging.trouble import tail_of
from knowledge.signatures.matcher import Matcher
from knowledge.signatures.model import Signature, strongest

# Beyond this many, only messages of a kind that was not met yet are kept.
MOST_EVENTS = 8_000
MOST_TRACEBACKS = 3_000
MOST_HEADERS = 5_000
LONGEST_LINE = 4_000
# How much of a longer line is read before what was found in it.
WHOLE = 400
LOOK_BACK = 64 << 10
LONGEST_DOCUMENT = 256 << 10

HEADER = b"Traceback (most recent call last)"
EXCEPTION = "python-exception"
# A program that has ended lets such an exception go; its exit code stays 0.
AT_EXIT = b"Exception ignored in atexit callback"
# The summary of torch/distributed/elastic/multiprocessing/errors/__init__.py
SUMMARY = b"Root Cause (first observed failure)"
SUMMARY_SIZE = 1200
SUMMARY_RANK = re.compile(rb"\brank +: (\d{1,6}) \(local_rank")
SUMMARY_TIME = re.compile(rb"\btime +: (\d{4}-\d\d-\d\d_\d\d:\d\d:\d\d)")
# So many lines of progress after an event: the run went on. So many: for long, or it was another run; fewer may be what
# a program that died had not yet written (8 KiB are held back).
WENT_ON, LONG = 3, 200
PLAIN = re.compile(rb"\d+")
# How the second line of an exception's message begins: not as a message of its own.
CONTINUED = re.compile(rb"(?![\w./-]+(?:\[\d+\])?: |\s*File )[a-z\s(\[\"'-]")

LEVELED = re.compile(r"\([^()\n]{1,60}\) (?:ERROR|WARN|INFO|DEBUG|FATAL|CRITICAL)")


class Scanner:
    """Runs the matcher over sources and folds what it finds."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.scan = Scan()
        self._folded: dict[tuple[int, str, bytes, str | None], Event] = {}
        self._kinds: set[tuple[int, str, str | None]] = set()
        self._seen_tracebacks: dict[bytes, int] = {}
        self._memory = LineMemory(matcher)
        self._flood = Flood(matcher)
        self._headways = Headways()
        self._parsed = self._headers = 0
        self._many = False
        self._handled: set[int] = set()
        self._order = 0
        self._ended = self._broke = False
        self._opening: Any = None
        self._checked = False
        self._last: Event | None = None
        self._hit: Event | None = None

    def read(self, sources: Iterable[LogSource]) -> Scan:
        """All events of all logs, in the order read. Raises InputError when a log cannot be read."""
        sources = list(sources)
        self._many = len(sources) > 1
        for source in sources:
            self._memory, self._flood = LineMemory(self.matcher), Flood(self.matcher)
            self._handled.clear()
            self._ended, self._broke, self._checked, self._last = False, False, False, None
            if self.scan.bytes:
                self.scan.runs += 1000  # runs of different files are different, yet parallel
            try:
                for block in blocks(source):
                    self._look(block, source.name)
                    if block.first_line == 1:
                        self.scan.noted.take(block.data, min(block.limit, LOOKED_THROUGH))
                    self._block(block, source.name)
            except NotTextError as found:
                self.scan.no_texts[source.name] = str(found)
        self.scan.events = list(self._folded.values())
        self.scan.headways = self._headways.ranks
        return self.scan

    def _look(self, block: LogBlock, name: str | None) -> None:
        """Whether this is a log at all, told from its start; what is long is one."""
        if block.first_line > 1 or block.limit > LONGEST_DOCUMENT:
            self.scan.no_logs.pop(name, None)
        elif (kind := look(block.data)) != "log":
            self.scan.no_logs[name] = kind

    def _block(self, block: LogBlock, name: str | None) -> None:
        data, at, counted, line = block.data, 0, 0, block.first_line
        whole, calm = self.matcher.union.search, data.rfind(b"\n", 0, max(0, block.limit - CLOSE)) + 1
        search, until = whole, len(data)
        between = first = end = looked = 0
        self._flood.next_block()
        if block.first_line == 1:
            self._opening = opening(data)
        while at < block.limit:
            found = search(data, at, until)
            if found is None and until == calm:
                at = between = max(at, calm)
                search, until = whole, len(data)
                continue
            if found is None:
                break
            hit = found.start()
            if hit >= block.limit:
                break
            if hit >= end:  # a new line; within one line its borders are not searched again
                first = data.rfind(b"\n", at, hit) + 1 or at
                end = data.find(b"\n", hit)
                end = len(data) if end < 0 else end
            start = data.rfind(b"\r", first, hit) + 1 or first
            line += data.count(b"\n", counted, start)
            counted = start
            self._progress(data, max(between, hit - LOOK_BACK), start)
            looked = self._again_from_the_top(data, looked, start)
            known = self._line(data, start, hit, end, line, name)
            at = _next(data, found.end(), end)
            between = start if self._hit is None else at
            if known and until == calm:
                self._flood.settle(self._hit)
            if known and self._flood.rises(found.group(), self._hit) and at < calm:
                search, until = self._flood.search(data, at, calm), calm
        self._progress(data, max(between, block.limit - LOOK_BACK), block.limit)
        self.scan.lines = block.first_line + data.count(b"\n", 0, block.limit)
        self.scan.tails[name] = tail_of(data, block.first_line, block.limit)
        self.scan.bytes += 0 if data.isspace() else block.limit

    def _progress(self, data: bytes, start: int, end: int) -> None:
        last = self._last
        most = LONG if last is not None and last.count == 1 else WENT_ON
        if last is not None and last.progress_after < most and end - start > 12:
            for found in islice(PROGRESS.finditer(data, start, end), most):
                last.progress_after += 1
                self._headways.saw(data, found.start(), last.file, last.run)

    def _again_from_the_top(self, data: bytes, start: int, end: int) -> int:
        """After an end, the lines with which the file began: another run was appended. Where to look from next time."""
        if self._opening is None or not (self._ended or self._broke):
            return end
        if not self._checked:  # lines that come again in the midst of a run are no beginning
            self._checked = True
            if self._opening.search(data, len(data) - len(data.lstrip(b"\n")), start):
                self._opening = None
                return end
        found = self._opening.search(data, start, end)
        if not found:
            return max(start, end - OPENING)
        self.scan.runs += 1
        self._ended = self._broke = False
        return int(found.end())

    def _line(self, data: bytes, start: int, hit: int, end: int, line: int, name: str | None) -> bool:
        """Judge one candidate line: remembered, a traceback's header, or new. True where its verdict was known."""
        self._hit = None
        if line in self._handled:
            return False
        first = start if end - start <= LONGEST_LINE else max(start, hit - WHOLE)
        raw = data[first : min(end, first + LONGEST_LINE)].partition(b"\r")[0]
        begun, raw = piece(raw, hit - first)
        start += begun
        self._order += 1
        if begins_no_run(data, start, raw):
            return False
        if SUMMARY in raw:
            self._failed_first(data[start : start + SUMMARY_SIZE])
        header = HEADER in raw
        if header:
            self._headers += 1
            if self._headers > MOST_HEADERS:
                self._hit = None
                return True
            if self._traceback(data, start, line, name):
                return False
        key = self._memory.key(raw, plain=not header)
        known, self._hit = self._memory.known(key, self.scan.runs)
        if known:
            if self._hit is not None:
                self._again(self._hit, line)
            return True
        more = b"" if header else data[end + 1 : end + WHOLE].partition(b"\n")[0]
        event = None if _shows_source(data, start, raw) else self._judge(raw, line, name, more=more)
        if not header:
            self._memory.keep(key, event)
        self._hit = event
        if event is not None and event.count == 1:
            event.time = self._stamp(data, start, raw)
            event.beside = _beside(data, start, more)
            if event.error is None and event.signature.kind in ("fallback", "error"):
                swallowed = read_swallowed(data, start, line, event.text)
                event.error = swallowed or read_frames_above(data, start, line, event.text)
        return False

    def _failed_first(self, summary: bytes) -> None:
        """Keep the first failing rank; each node's launcher prints a summary, and the earliest is right."""
        rank, time = SUMMARY_RANK.search(summary), SUMMARY_TIME.search(summary)
        at = time[1].decode() if time else ""
        if rank and (self.scan.failed_first is None or at < self.scan.failed_at):
            self.scan.failed_first, self.scan.failed_at = int(rank[1]), at

    def _again(self, event: Event, line: int) -> None:
        """One more of the same message: what the run did since the last one no longer counts."""
        event.count += 1
        event.last_line = line
        event.last_order = self._order
        event.progress_between += event.progress_after
        event.progress_after = 0
        self._last = event

    def _judge(
        self,
        raw: bytes,
        line: int,
        name: str | None,
        error: PythonError | None = None,
        more: bytes = b"",
    ) -> Event | None:
        """The event of a line that is new, or None where no signature, or a harmless one, holds it."""
        text, rank = message(printable(raw.decode("utf-8", "replace")))
        if len(raw) < WHOLE and SHOWN_SOURCE.match(text):
            return None
        clean = spoken(text).encode("utf-8", "replace")
        matched = self.matcher.telling(clean)
        if more and matched and all(s.kind == "fallback" for s in matched) and _goes_on(more):
            joined = clean + b" " + more.strip()
            if any(s.kind in ("cause", "error") for s in self.matcher.telling(joined)):
                clean, matched = joined, self.matcher.telling(joined)
        if error is None and not matched:
            return None
        if error is not None and not any(s.strength >= 10 for s in matched):
            if not matched and any(s.kind == "harmless" for s in self.matcher.match(clean)):
                return None
            matched.append(_by_id(self.matcher, EXCEPTION))
        best = strongest(matched)
        event = Event(
            best,
            line,
            text,
            self._order,
            self.scan.runs,
            rank,
            name,
            raw=clean,
            last_order=self._order,
            last_line=line,
            also=tuple(s for s in matched if s is not best),
            error=error,
            level=level(text),
        )
        return self._fold(event)

    def _fold(self, event: Event) -> Event:
        if event.signature.kind == "start":
            if self._ended:
                self.scan.runs += 1
                self._ended = self._broke = False
            return event
        self._ended = self._ended or event.signature.kind in ("final", "success")
        self._broke = self._broke or (event.error is not None and not event.error.ignored)
        ended = decode(event.text) if event.signature.kind == "final" else (None, None)
        key = (event.run, event.signature.id, PLAIN.sub(b"0", event.raw)[:400] + repr(ended).encode(), event.file)
        known = self._folded.get(key)
        if known is None:
            kind = (event.run, event.signature.id, event.file)
            if len(self._folded) >= MOST_EVENTS and kind in self._kinds:
                self.scan.dropped += 1
                return event
            self._kinds.add(kind)
            known = self._folded[key] = event
        else:
            if event.line < known.line:  # of ranks whose tracebacks interleave the first to end is shown
                known.line, known.rank, known.text = event.line, event.rank, event.text
                known.error = event.error or known.error
            self._again(known, max(event.line, known.last_line))
            known.error = known.error or event.error
        if event.rank is not None and len(known.ranks) < 4096:
            known.ranks.add(event.rank)
            known.headway[event.rank] = self._headways.watch(event.file, event.run, event.rank).lines
        known.ranks |= told_ranks(event)
        self._last = known
        return known

    def _traceback(self, data: bytes, start: int, line: int, name: str | None) -> bool:
        """Read a traceback and judge its exception's line at once, with the frames at hand. False: it has no end."""
        if self._parsed >= MOST_TRACEBACKS:
            return True
        shape = PLAIN.sub(b"", data[start : start + 1000])
        seen = self._seen_tracebacks.get(shape, 0)
        if seen >= 20:
            return True
        if len(self._seen_tracebacks) < MOST_TRACEBACKS:
            self._seen_tracebacks[shape] = seen + 1
        self._parsed += 1
        error = read_traceback(data, start, line)
        if error is None:
            return False
        if error.log_line in self._handled:
            return True
        self._handled.add(error.log_line)
        if AT_EXIT in data[max(0, start - WHOLE) : max(0, start - 1)].rpartition(b"\n")[2]:
            return True
        end = data.find(b"\n", error.offset)
        raw = data[error.offset : end if end >= 0 else len(data)][:LONGEST_LINE]
        self._order += 1
        event = self._judge(
            raw, error.log_line, name, error, data[end + 1 : end + WHOLE].partition(b"\n")[0] if end > 0 else b""
        )
        if event is not None and event.count == 1:
            event.time = self._stamp(data, start, raw)
            event.announced = _above(data, start)
        return True

    def _stamp(self, data: bytes, start: int, raw: bytes) -> int | None:
        """When it was printed, where that decides: over several files, and among ranks."""
        return stamp(data, start, raw) if self._many or self._headways.ranks else None


def _beside(data: bytes, start: int, below: bytes) -> str:
    """The line below, and the one above where it announces this one (`Failed to download, trying next:`)."""
    above = _above(data, start)
    return "\n".join([above] * above.rstrip().endswith(":") + [below.decode("utf-8", "replace")])


def _above(data: bytes, start: int) -> str:
    """The line above the one that begins at `start`, or its end."""
    return data[max(0, start - WHOLE) : max(0, start - 1)].rpartition(b"\n")[2].decode("utf-8", "replace")


def _goes_on(line: bytes) -> bool:
    """Whether a line may continue the message above it: it has no mark of a rank, process or level of its own."""
    text = line.decode("utf-8", "replace")
    return CONTINUED.match(line) is not None and message(text)[0] == text and not LEVELED.match(text)


def _shows_source(data: bytes, start: int, raw: bytes) -> bool:
    """Whether the line is source code that a traceback or a warning shows."""
    above = data[data.rfind(b"\n", 0, max(0, start - 1)) + 1 : max(0, start - 1)][:LONGEST_LINE]
    return is_source(message(raw.decode("utf-8", "replace").rstrip())[0], above.decode("utf-8", "replace"))


def _next(data: bytes, matched: int, end: int) -> int:
    """Where to go on: the next line, or the next piece of a line that carriage returns or sheer length have cut."""
    piece = data.find(b"\r", matched, end)
    return min((piece if piece >= 0 else end) + 1, matched + LONGEST_LINE)


def _by_id(matcher: Matcher, name: str) -> Signature:
    return next(s for s in matcher.signatures if s.id == name)
