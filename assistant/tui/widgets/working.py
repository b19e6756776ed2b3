"""One line while something takes time: what, how far, how long still, and how to stop it."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import ProgressBar, Static

LONGEST = 46


class WorkingBar(Horizontal):
    """Hidden while nothing is worked on. The newest piece of work is shown."""

    def compose(self) -> ComposeResult:
        yield Static(id="what", markup=False)
        yield ProgressBar(show_eta=True)
        yield Static("Esc stops", id="stops")

    def on_mount(self) -> None:
        self.display = False
        self.jobs: dict[str, str] = {}

    def begin(self, job: str, what: str) -> None:
        """Show it; nobody knows yet how long it takes."""
        self.jobs[job] = what
        self.tell(job, what, 0, 0)

    def tell(self, job: str, what: str, done: int, total: int) -> None:
        """The news of a job that goes on."""
        if job not in self.jobs:
            return
        self.jobs[job] = what
        if job != next(reversed(self.jobs)):
            return
        self.display = True
        self.query_one("#what", Static).update(f"{what[:LONGEST]} …")
        bar = self.query_one(ProgressBar)
        bar.display = total > 0
        if total > 0:
            bar.update(total=total, progress=done)

    def end(self, job: str) -> None:
        """Over; the one before it comes into sight again."""
        self.jobs.pop(job, None)
        self.display = bool(self.jobs)
        if self.jobs:
            newest = next(reversed(self.jobs))
            self.tell(newest, self.jobs[newest], 0, 0)
        else:
            self.query_one(ProgressBar).update(total=None, progress=0)
