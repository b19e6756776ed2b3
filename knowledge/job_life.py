"""What people do with a job (submit, watch, cancel, find its output ...), by scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from knowledge.data_file import read_facts
from knowledge.strict import Facts
from knowledge.types import Scheduler

JOB_LIFE = Path(__file__).parent / "job_life.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed(Facts):
    """One thing done with a job: a sentence, the steps (why, command), a note. {script} and {job} are filled in."""

    says: str
    steps: tuple[tuple[str, str], ...]
    note: str = ""


@cache
def job_life() -> Mapping[Scheduler, Mapping[str, Deed]]:
    """All deeds by scheduler and name. Raises FactsError on a wrong file."""
    deeds: Mapping[Scheduler, Mapping[str, Deed]] = read_facts(JOB_LIFE, Mapping[Scheduler, Mapping[str, Deed]])  # type: ignore[type-abstract]
    return deeds
