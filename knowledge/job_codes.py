"""What exit codes, signals and the queue's letters mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from knowledge.data_file import read_facts
from knowledge.strict import Facts
from knowledge.types import Scheduler

JOB_CODES = Path(__file__).parent / "job_codes.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCodes(Facts):
    """exit and signal: by number; state: by scheduler and letters; each with a sentence."""

    exit: Mapping[str, str]
    signal: Mapping[str, str]
    state: Mapping[Scheduler, Mapping[str, str]]


@cache
def job_codes() -> JobCodes:
    """All codes. Raises FactsError on a wrong file."""
    return read_facts(JOB_CODES, JobCodes)
