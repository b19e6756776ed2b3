"""Frameworks and packages by the GPUs that they have builds for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from knowledge.data_file import read_facts
from knowledge.strict import Facts

FRAMEWORK_BUILDS = Path(__file__).parent / "framework_builds.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameworkBuilds(Facts):
    """names: a pattern; nvidia, amd, intel: whether and as what it runs on GPUs of that vendor."""

    names: str
    title: str
    nvidia: str
    amd: str
    intel: str


@cache
def framework_builds() -> tuple[FrameworkBuilds, ...]:
    """All of them. Raises FactsError on a wrong file."""
    found: tuple[FrameworkBuilds, ...] = read_facts(FRAMEWORK_BUILDS, tuple[FrameworkBuilds, ...])
    return found
