"""Follows a run: what it prints goes in with the time when it came; the first sign of trouble comes out, once each."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from graph.watching.utilisation import Utilisation
from knowledge.schedulers.times import spoken_time

# One line of a training's output: step, steps in all, loss, rank, speed.


NUMBER = r"[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|nan|inf(?:inity)?)"
STEP = re.compile(
    r"(?i)(?<![\w.])(?:global[_ ]?step|train[_ ]?step|step|iteration|iter|batch|update)s?['\"]?\s*[\])]?\s*[=:#\[]?\s*"
    r"(\d[\d,]*)(?:\s*(?:/|of)\s*(\d[\d,]*))?(?![\w.]*/s)"
)
# tqdm: ` 12%|█▏  | 120/1000 [01:10<08:33, 1.71it/s, loss=2.3]`
BAR = re.compile(r"\d+%\|.*?\|\s*(\d+)/(\d+)\s*\[")
LOSS = re.compile(rf"(?i)(?<![\w])(?:\w+[_ /])?loss['\"]?\s*[=:]?\s*(?:tensor\()?({NUMBER})\b")
SPEED = re.compile(rf"(?i)(tokens|samples|images)\s*(?:/|per)\s*s(?:ec(?:ond)?)?['\"]?\s*[=:]?\s*({NUMBER})")
SPEED_BEFORE = re.compile(rf"(?i)({NUMBER})\s*(tokens|samples|images)\s*(?:/|per)\s*s")
RANK = re.compile(r"(?i)(?:^|[\s\[(])(?:rank[ :=_]?|default)(\d+)\b|^\s*(\d+):\s")


@dataclass(frozen=True, slots=True)
class ProgressLine:
    """What one line says of the run. None: it does not."""

    step: int | None = None
    total: int | None = None
    loss: float | None = None
    rank: int | None = None
    speed: float | None = None
    unit: str = ""


def progress_line(line: str) -> ProgressLine | None:
    """The progress that a line tells; None where it tells none."""
    found = BAR.search(line) or STEP.search(line)
    loss = LOSS.search(line)
    if not found and not loss:
        return None
    rank = RANK.search(line)
    speed, unit = speed_of(line)
    return ProgressLine(
        step=int(found[1].replace(",", "")) if found else None,
        total=int(found[2].replace(",", "")) if found and found[2] else None,
        loss=float(loss[1]) if loss else None,
        rank=int(rank[1] or rank[2]) if rank else None,
        speed=speed,
        unit=unit,
    )


def speed_of(line: str) -> tuple[float | None, str]:
    """Tokens, samples or images a second, where the line prints them."""
    if found := SPEED.search(line):
        return float(found[2]), f"{found[1].lower()}/s"
    if found := SPEED_BEFORE.search(line):
        return float(found[1]), f"{found[2].lower()}/s"
    return None, ""


# A run is stalled after so many of its own steps' time, and never before so many seconds.
STALLED, SHORTEST_STALL = 12.0, 60.0
# A rank is behind when it lacks so many steps, or says nothing while the others make so many.
BEHIND = 20
# Pace is the middle of so many last steps; fewer than these say nothing.
WINDOW, FEWEST = 64, 4
# The end is told by the mean of so many readings: half an hour of looks.
LONG = 900


@dataclass(frozen=True, slots=True)
class WatchNotice:
    """One thing to tell. key: told once."""

    key: str
    text: str


@dataclass(slots=True)
class RankProgress:
    """How far a rank is, and when it last said so (seconds)."""

    step: int
    at: float


@dataclass(slots=True)
class RunWatch:
    """The state of one run. Times are seconds of any one clock; `ends` is when its time limit ends, on that clock."""

    ends: float | None = None
    step: int | None = None
    total: int | None = None
    loss: float | None = None
    speed: float | None = None
    unit: str = ""
    at: float | None = None
    """When the last step was seen."""
    ranks: dict[int, RankProgress] = field(default_factory=dict)
    losses: deque[float] = field(default_factory=lambda: deque(maxlen=WINDOW))
    paces: deque[float] = field(default_factory=lambda: deque(maxlen=WINDOW))
    spans: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=LONG))
    """Seconds and steps between readings that saw a new step."""
    told: set[str] = field(default_factory=set)
    utilisation: Utilisation | None = None

    def feed(self, lines: Sequence[str], now: float) -> list[WatchNotice]:
        """Take in lines that came at `now`; what is new and wrong comes back."""
        found: list[WatchNotice] = []
        step, at = self.step, self.at
        for line in lines:
            if said := progress_line(line):
                found += self.took(said, now)
        # Lines that came in one reading share their time: the pace is that of all steps since the reading before.
        if self.step is not None and step is not None and at is not None and self.step > step and now > at:
            self.paces.append((now - at) / (self.step - step))
            self.spans.append((now - at, self.step - step))
        return [*found, *self.look(now)]

    def took(self, said: ProgressLine, now: float) -> list[WatchNotice]:
        """One line of progress."""
        self.total = said.total or self.total
        self.speed, self.unit = (said.speed, said.unit) if said.speed is not None else (self.speed, self.unit)
        if said.step is not None:
            self.moved(said.step, now)
            if said.rank is not None:
                self.ranks[said.rank] = RankProgress(said.step, now)
        if said.loss is None:
            return []
        if math.isnan(said.loss) or math.isinf(said.loss):
            where = f" at step {said.step if said.step is not None else self.step}" if self.step is not None else ""
            word = "NaN" if math.isnan(said.loss) else "infinite"
            text = f"the loss is {word}{where}: stop and go back to the last good checkpoint; what follows is lost time"
            return self.once("nan", text)
        self.loss = said.loss
        self.losses.append(said.loss)
        return []

    def moved(self, step: int, now: float) -> None:
        """A new highest step."""
        if self.step is None or step > self.step:
            self.step, self.at = step, now

    @property
    def seconds_a_step(self) -> float | None:
        """Its own pace, the middle of the last steps; None before it is known."""
        return median(self.paces) if len(self.paces) >= FEWEST else None

    def end_in(self) -> float | None:
        """Seconds until its last step, counted from the last step seen.

        By the mean of its steps, which holds its pauses for evaluation and checkpoints, without the first, which
        holds its warm-up.
        """
        spans = list(self.spans)[1:] if len(self.spans) < LONG else self.spans
        steps = sum(many for _, many in spans)
        pace = sum(seconds for seconds, _ in spans) / steps if steps and self.seconds_a_step else None
        return (self.total - self.step) * pace if pace and self.total and self.step is not None else None

    def look(self, now: float) -> list[WatchNotice]:
        """What is wrong now, also where no line came: a stall, ranks behind, an end past the limit."""
        return [*self.stall(now), *self.slow_ranks(), *self.late_end(now)]

    def stall(self, now: float) -> list[WatchNotice]:
        """No step for much longer than its own steps take."""
        pace = self.seconds_a_step
        if pace is None or self.at is None or (self.total is not None and self.step == self.total):
            return []
        patience = max(STALLED * max(self.paces), SHORTEST_STALL)
        if now - self.at < patience:
            self.told.discard("stall")
            return []
        text = (
            f"no step for {spoken_time(now - self.at)} after step {self.step}; its steps take {pace:.2g} s: it may hang"
        )
        return self.once("stall", text)

    def slow_ranks(self) -> list[WatchNotice]:
        """Ranks far behind the first, each told once."""
        if len(self.ranks) < 2:
            return []
        first = max(rank.step for rank in self.ranks.values())
        late = {number: rank for number, rank in self.ranks.items() if first - rank.step >= BEHIND}
        return [
            notice
            for number, rank in sorted(late.items())
            for notice in self.once(
                f"rank-{number}", f"rank {number} is at step {rank.step} while others are at {first}: slow, or silent"
            )
        ]

    def late_end(self, now: float) -> list[WatchNotice]:
        """It will not be done when its time limit ends."""
        left = self.end_in()
        if left is None or self.ends is None or self.at is None or self.at + left <= self.ends:
            return []
        over = self.at + left - self.ends
        done = self.step or 0
        reach = done + int(max(0.0, self.ends - self.at) / (self.seconds_a_step or 1))
        text = (
            f"at this pace it needs {spoken_time(over)} more than its time limit allows: it will be stopped near step "
            f"{reach} of {self.total}; see that it saves before"
        )
        return self.once("late", text)

    def once(self, key: str, text: str) -> list[WatchNotice]:
        if key in self.told:
            return []
        self.told.add(key)
        return [WatchNotice(key, text)]

    def line(self, now: float) -> str:
        """Where it stands, in one line."""
        if self.step is None:
            return "no step seen yet"
        of = f" of {self.total:,}" if self.total else ""
        parts = [f"step {self.step:,}{of}"]
        if pace := self.seconds_a_step:
            parts.append(f"{1 / pace:.2f} steps/s" if pace < 1 else f"{pace:.2f} s a step")
        if self.loss is not None:
            parts.append(f"loss {self.loss:.4g}")
        if self.speed is not None:
            parts.append(f"{self.speed:,.0f} {self.unit}")
            if self.utilisation and self.unit.startswith("tokens"):
                parts.append(self.utilisation.words(self.speed))
        if (left := self.end_in()) is not None and self.at is not None:
            parts.append(f"done in about {spoken_time(max(0.0, self.at + left - now))}")
        if self.ends is not None:
            parts.append(f"time limit in {spoken_time(max(0.0, self.ends - now))}")
        return ", ".join(parts)
