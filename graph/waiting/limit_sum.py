"""The limit as a sum: who holds how much of it, what is left, what is short, and whose end frees enough.

Every question about a limit (who, how much over, when, what if that one is cancelled) is answered out of this.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from graph.waiting.amounts import GPUS, held_in, request_of, spoken_amount
from graph.waiting.case import WaitCase
from graph.waiting.limit_tables import LimitSeen
from graph.waiting.limits_told import amount_asked, counted_of, held_together, limits_meant, running_of, spoken_of
from graph.waiting.spoken import listed, running_job, time_to_end, until
from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.times import spoken_time


@dataclass(frozen=True, slots=True)
class Holder:
    """A running job that counts against the limit; what it holds and the seconds to its end, where they are printed."""

    job: QueuedJob
    held: float | None
    left: float | None
    amount: float | None
    """What counts of it: what it holds, or that x the minutes that it may still run."""


@dataclass(frozen=True, slots=True)
class LimitSum:
    """A limit with all that counts against it; None: not printed."""

    of: str
    limit: LimitSeen | None
    asked: float | None
    used: float | None
    holders: tuple[Holder, ...]

    @property
    def shrinks(self) -> bool:
        """Whether what counts gets less as the jobs run on."""
        return self.limit is not None and self.limit.counts == "run-minutes"

    @property
    def short(self) -> float | None:
        """How much too little is left for the job; 0 and less: it fits."""
        return self.short_without(())

    def short_without(self, ids: Collection[str], asked: float | None = None) -> float | None:
        """The same once these jobs have ended, or for another amount."""
        gone = [one.amount for one in self.holders if one.job.id in ids]
        value = self.asked if asked is None else asked
        if self.limit is None or self.used is None or value is None or None in gone:
            return None
        return self.used - sum(one or 0 for one in gone) + value - self.limit.most

    def enough_alone(self) -> list[Holder]:
        """Those of which any one has to end."""
        short = self.short
        return [one for one in self.holders if short is not None and one.amount is not None and short <= one.amount]

    def holder_words(self, people: bool) -> str:
        """`71 train (8 GPUs, 2 nodes, at most 3 h left) and 72`; `people`: by user, with what each holds together."""
        if not people:
            return listed([self.told(one) for one in self.holders])
        found = []
        for user in dict.fromkeys(one.job.user for one in self.holders):
            own = [one for one in self.holders if one.job.user == user]
            each = [one.amount for one in own]
            several = len(own) > 1 and None not in each and self.of != "jobs" and not self.shrinks
            sum_of = f" {spoken_amount(self.of, sum(one or 0 for one in each))} by" if several else ""
            found.append(f"{user or 'one'}:{sum_of} {listed([self.told(one) for one in own])}")
        return listed(found)

    def told(self, one: Holder) -> str:
        known = self.of not in ("", "jobs", "node", "time")
        return running_job(one.job, spoken_amount(self.of, one.held) if known and one.held else "")

    def when(self, case: WaitCase | None = None) -> str:
        """Which of them has to end, and by when that is at the latest."""
        names = [one.job.id for one in self.holders]
        alone = [one.job.id for one in self.enough_alone()]
        if len(names) == 1:
            # What it holds may not be told: then its end may well be enough.
            short = self.short_without(names)
            which = f"{'not even ' if short is not None and short > 0 else ''}when {names[0]} ends"
        elif alone == names:
            which = f"when {' or '.join(names)} ends" if len(names) == 2 else f"when any one of {listed(names)} ends"
        elif alone:
            which = f"when {' or '.join(alone)} ends, which alone is enough, or enough of the others"
        else:
            which = f"when enough of {listed(names)} end"
        return f"It can start {which}.{self.at_the_latest(case)}"

    def at_the_latest(self, case: WaitCase | None = None) -> str:
        """By when running jobs have given back enough by their time limits."""
        ends = sorted(((one.left, one) for one in self.holders if one.left is not None), key=lambda pair: pair[0])
        if self.shrinks and (soon := self.shrunk()) is not None:
            return f" By their time limits they have run down far enough in {spoken_time(soon)} at the latest."
        short = self.short
        for left, one in ends:
            short = None if short is None or one.amount is None else short - one.amount
            if short is not None and short <= 0:
                by = until(case, left) if case else ""
                return f" By its time limit {one.job.id} frees enough in {spoken_time(left)} at the latest{by}."
        return f" The first to end is {ends[0][1].job.id}, in {spoken_time(ends[0][0])} at the latest." if ends else ""

    def shrunk(self) -> float | None:
        """The seconds until running jobs have run down what is too much; None where one of them does not tell."""
        over, passed = self.short, 0.0
        ends = sorted((one.left, one.held) for one in self.holders if one.left is not None and one.held)
        if over is None or over <= 0 or len(ends) < len(self.holders):
            return None
        for at, (left, _) in enumerate(ends):
            each_minute = sum(held for _, held in ends[at:])
            if over <= each_minute * (left - passed) / 60:
                return passed + over / each_minute * 60
            over, passed = over - each_minute * (left - passed) / 60, left
        return None


def of_a_node(job: QueuedJob) -> float | None:
    """The GPUs that it has on each node."""
    found = GPUS.search(job.printed("TRES_PER_NODE"))
    return float(found[1]) if found else None


def limit_sum(case: WaitCase) -> LimitSum:
    """The sum for the limit that the job's reason speaks of."""
    of, _, counts = spoken_of(case)
    limit = next((one for one in limits_meant(case) if one.counts == counts), None)
    of = limit.of if limit else of
    running = running_of(case, limit.per if limit and limit.per in ("user", "account") else "")
    told = [(job, held_in(case, job).get(of)) for job in running]
    # Of a node each, where the nodes are not printed: so it is if that makes what is told to be in use.
    least = [held if held is not None else of_a_node(job) if of == "gpu" else None for job, held in told]
    if limit and limit.used and None not in least and sum(one or 0 for one in least) == limit.used:
        told = list(zip(running, least, strict=True))
    holders = tuple(
        Holder(job, held, time_to_end(job), counted_of(job, limit, held) if limit else held) for job, held in told
    )
    used = None if limit is None else limit.used if limit.used is not None else held_together(case, limit)
    if counts not in ("held", "run-minutes"):
        return LimitSum(of, None, None, None, holders)
    asked = 1.0 if of == "jobs" else amount_asked(limit, request_of(case), case) if limit else None
    return LimitSum(of, limit, request_of(case).get(of) if limit is None and of != "jobs" else asked, used, holders)
