"""How far a long piece of work is, on stderr: a bar with rate and time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

SAY_EVERY_S = 10.0


class ProgressCallback:
    """Called with what is done, how much of it, and of how much; a new `what` begins a new line."""

    def __init__(self) -> None:
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._what = ""
        self._began = 0.0
        self._said = 0.0
        self._first = 0

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._bar = bar()
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what != self._what:
            self._what, self._began, self._said, self._first = what, now, now, done
            if self._bar:
                self._task = self._bar.add_task(what, total=total or None)
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=done, total=total or None)
        elif now - self._said >= SAY_EVERY_S:
            self._said = now
            print(line(what, done - self._first, done, total, now - self._began), file=sys.stderr, flush=True)


def bar() -> Bar:
    """A bar that goes away when the work is done. rich takes 80 ms to import and comes with textual."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(TextColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.0f}/s" if task.speed else "")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(""), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def line(what: str, since: int, done: int, total: int, seconds: float) -> str:
    """`reading: 120 of 263 (46 %), 12/s, 12 s left`."""
    rate = since / seconds if seconds > 0 else 0.0
    share = f" of {total} ({100 * done // total} %)" if total else ""
    left = f", {(total - done) / rate:.0f} s left" if total and rate else ""
    return f"{what}: {done}{share}, {rate:.1f}/s{left}"
