"""A run as it goes: loss and pace as lines, its end against the time limit, and each trouble once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Sparkline, Static

from assistant.watching import LOOK, Watching
from graph.watching.run_watch import WatchNotice

NOTHING = "Nothing is watched. /watch FILE or /watch JOBID follows a run."
FINE = "No trouble so far."


class WatchPane(VerticalScroll):
    """One run at a time. It is looked at every two seconds, whether it is in sight or not."""

    class Told(Message):
        """A sign of trouble, or that the run is over."""

        def __init__(self, notice: WatchNotice) -> None:
            super().__init__()
            self.notice = notice

    def __init__(self) -> None:
        super().__init__()
        self.watching: Watching | None = None
        self.told: list[str] = []
        self.timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Static(NOTHING, id="watch-head", markup=False)
        yield Static("", id="watch-line", markup=False)
        yield Static("", id="watch-loss", markup=False, classes="curve")
        yield Sparkline([], id="loss-curve", summary_function=mean)
        yield Static("", id="watch-pace", markup=False, classes="curve")
        yield Sparkline([], id="pace-curve", summary_function=mean)
        yield Static("", id="watch-told", markup=False)

    async def show(self, watching: Watching) -> None:
        """Follow another run."""
        self.stop()
        self.watching, self.told = watching, []
        await self.tick()
        self.timer = self.set_interval(LOOK, self.tick)

    def stop(self) -> None:
        """Look no more; what was seen stays."""
        if self.timer:
            self.timer.stop()
        self.timer = None

    async def tick(self) -> None:
        """One look, in a thread: a diagnosis may take a moment."""
        watching = self.watching
        if watching is None:
            return
        now = time.monotonic()
        notices = await asyncio.to_thread(watching.look, now)
        over = await asyncio.to_thread(watching.over, now)
        if watching is not self.watching or not self.is_mounted:
            return
        if over:
            self.stop()
        for notice in [*notices, *([over] if over else [])]:
            self.told.append(f"{time.strftime('%H:%M')} {notice.text}")
            self.post_message(self.Told(notice))
        self.draw(watching, now)

    def draw(self, watching: Watching, now: float) -> None:
        run = watching.run
        self.query_one("#watch-head", Static).update(
            f"Watching {watching.name}" if self.timer or not self.told else watching.name
        )
        self.query_one("#watch-line", Static).update(run.line(now))
        losses, paces = list(run.losses), list(run.paces)
        shown = f"Loss, last {len(losses)}: {losses[0]:.4g} to {losses[-1]:.4g}" if losses else "Loss: none printed yet"
        self.query_one("#watch-loss", Static).update(shown)
        pace = run.seconds_a_step
        kept = f"Pace, seconds a step: {pace:.3g} in the middle" if pace else "Pace: not known yet"
        self.query_one("#watch-pace", Static).update(kept)
        self.query_one("#loss-curve", Sparkline).data = losses
        self.query_one("#pace-curve", Sparkline).data = paces
        told = self.query_one("#watch-told", Static)
        told.update("\n".join(f"! {line}" for line in self.told) or FINE)
        told.set_class(bool(self.told), "problem")


def mean(values: Sequence[float]) -> float:
    """What a bar shows of several values: a maximum would hide that a loss falls."""
    return sum(values) / len(values)
