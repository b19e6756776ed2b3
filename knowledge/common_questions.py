"""Questions that people ask on any machine: the ways in which each is asked, its answer, and the page that bears it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from knowledge.cards import Address, Day, Id
from knowledge.strict import Checked, Facts, check_filled
from knowledge.types import SCHEDULER_TITLES, Passage, Scheduler

FILES = Path(__file__).parent / "common_questions"
HEADING = "Common questions"

Asks = Annotated[tuple[str, ...], Checked(check_filled)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonQuestion(Facts):
    """asks: ways to ask it, by which it is found; says: the answer, good on any machine.

    by: what to do under each scheduler, (what, command) pairs; {job} and {script} stand for the job's number and file.
    """

    id: Id
    asks: Asks
    says: str
    by: Mapping[Scheduler, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    source: Address
    as_of: Day


def question_passages(question: CommonQuestion) -> Iterator[Passage]:
    """The answer with Slurm's commands, for anybody, and one for each other scheduler that has commands of its own."""
    says = " ".join(question.says.split())
    for scheduler in ("", *(name for name in question.by if name != "slurm")):
        steps = question.by.get(scheduler or "slurm", ())  # type: ignore[call-overload]
        told = "; ".join(f"{what}: `{filled(command)}`" for what, command in steps)
        under = f" Under {SCHEDULER_TITLES[scheduler or 'slurm']}: {told}." if told else ""
        yield Passage(
            text=f"{says}{under}",
            title=question.asks[0],
            source=question.source,
            date=question.as_of,
            path=(HEADING,),
            kind="fact",
            scheduler=scheduler,
            asks=question.asks,
        )


def filled(command: str) -> str:
    return command.replace("{job}", "JOBID").replace("{script}", "job.sh")


def is_common(passage: Passage) -> bool:
    """Whether a passage is the answer to a common question."""
    return passage.path[:1] == (HEADING,)
