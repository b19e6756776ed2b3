"""The evidence: the log with the telling line in sight, the other signs of trouble, and the ranks that wrote them."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from assistant.tui.logfile import LogFile
from assistant.tui.widgets.log_view import LogView
from assistant.tui.work.found import TroubleSign

NOTHING = "No log yet. Paste one, drop a file on the window, or type /why FILE: the line that tells is shown here."


class LogPane(Vertical):
    """One log at a time. Hits are told by `show`; the index grows in a worker."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "hit(1)", "Next"),
        Binding("p", "hit(-1)", "Prev"),
        Binding("t", "telling", "Telling"),
        Binding("r", "rank", "Rank"),
    ]

    class RankWanted(Message):
        """The person wants the lines of one rank; the screen asks which."""

    class Indexing(Message):
        """How far the index is; done of total bytes."""

        def __init__(self, done: int, total: int) -> None:
            super().__init__()
            self.done, self.total = done, total

    def __init__(self) -> None:
        super().__init__()
        self.hits: tuple[TroubleSign, ...] = ()
        self.rank: int | None = None
        self.place = -1
        self.wanted = 0

    def compose(self) -> ComposeResult:
        yield Static(NOTHING, id="log-head", markup=False)
        yield LogView()

    @property
    def view(self) -> LogView:
        return self.query_one(LogView)

    @property
    def path(self) -> Path | None:
        return self.view.log_file.path if self.view.log_file else None

    def clear(self) -> None:
        """No log: another conversation."""
        self.workers.cancel_node(self)
        if self.view.log_file:
            self.view.log_file.close()
        self.hits, self.rank, self.place, self.wanted = (), None, -1, 0
        self.view.open(None)
        self.head()

    def show(self, path: Path, hits: Sequence[TroubleSign]) -> None:
        """Open a log and go to its telling line. Raises OSError."""
        file = LogFile(path)
        self.clear()
        self.view.open(file)
        self.set_hits(hits)
        self.index(file)

    def set_hits(self, hits: Sequence[TroubleSign]) -> None:
        """The signs of trouble; the telling line is gone to."""
        self.hits = tuple(hits)
        self.view.hits = {hit.line: hit for hit in hits}
        self.action_telling()

    @work(group="index")
    async def index(self, file: LogFile) -> None:
        """Count the lines. Each step reads 16 MB in a thread; what is known so far can be read meanwhile."""
        worker = get_current_worker()
        steps = file.index(lambda: worker.is_cancelled)
        while (step := await asyncio.to_thread(next, steps, None)) is not None:
            if worker.is_cancelled:
                return
            self.view.grown()
            if self.wanted and self.wanted <= file.lines:
                self.view.go(self.wanted)
                self.wanted = 0
            self.head()
            self.post_message(self.Indexing(*step))

    @property
    def shown_hits(self) -> tuple[TroubleSign, ...]:
        """Those of the rank that is filtered for."""
        return tuple(hit for hit in self.hits if self.rank is None or hit.rank in (None, self.rank))

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that showed signs of trouble."""
        return tuple(sorted({hit.rank for hit in self.hits if hit.rank is not None}))

    def action_hit(self, step: int) -> None:
        hits = self.shown_hits
        if hits:
            self.go(max(0, min(len(hits) - 1, self.place + step)))

    def action_telling(self) -> None:
        """The line that the diagnosis rests on first."""
        hits = self.shown_hits
        if hits:
            self.go(min(range(len(hits)), key=lambda place: hits[place].telling or len(hits) + 99))

    def action_rank(self) -> None:
        self.post_message(self.RankWanted())

    def go(self, place: int) -> None:
        self.place = place
        line = self.shown_hits[place].line
        file = self.view.log_file
        self.wanted = line if file and line > file.lines else 0
        self.view.go(line)
        self.head()

    def filter(self, rank: int | None) -> None:
        """Only the lines of that rank, as far as they are found; None: all lines."""
        self.rank = rank
        self.view.only = None if rank is None else array("Q")
        self.view.grown()
        self.place = -1
        self.action_telling()
        self.head()

    def add(self, numbers: array[int]) -> None:
        """More lines of the rank."""
        if self.view.only is not None:
            self.view.only.extend(numbers)
            self.view.grown()
            if 0 <= self.place < len(self.shown_hits):
                self.view.go(self.shown_hits[self.place].line)
            self.head()

    def head(self) -> None:
        """What is shown, in one line."""
        file = self.view.log_file
        if file is None:
            self.query_one("#log-head", Static).update(NOTHING)
            return
        hits = self.shown_hits
        known = (
            f"{file.lines:,} line{'s' * (file.lines != 1)}"
            if file.indexed >= file.size
            else f"{file.indexed * 100 // max(1, file.size)} % read"
        )
        parts = [file.path.name if len(file.path.name) < 30 else f"…{file.path.name[-29:]}", known]
        if hits:
            parts.append(f"sign {self.place + 1} of {len(hits)}: {hits[self.place].cause}")
        if self.rank is not None:
            parts.append(f"rank {self.rank} only ({self.view.count:,} lines)")
        self.query_one("#log-head", Static).update(" · ".join(parts))
