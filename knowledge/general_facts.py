"""What holds on any machine, read from a file each: what a topic's answer rests on, what helps against a cause, which
frameworks run on which GPUs, what codes and letters mean, and what people do with a job.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from knowledge.data_file import read_facts
from knowledge.strict import Facts
from knowledge.types import Scheduler

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicText(Facts):
    """What holds on any machine for a topic. why: the reason behind its answers; general: the answer while no machine
    is named. Empty where nobody wrote it down."""

    why: str = ""
    general: str = ""


@cache
def topic_texts() -> Mapping[str, TopicText]:
    """By topic (or act) of acts.yaml. Raises FactsError on a wrong file."""
    found: Mapping[str, TopicText] = read_facts(HERE / "topic_texts.yaml", Mapping[str, TopicText])  # type: ignore[type-abstract]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Help(Facts):
    """Whether what people think of helps against a cause. causes: ids, or beginnings of a family (`gpu-`); of: a
    pattern over lower-case words; says: yes or no, why."""

    causes: tuple[str, ...]
    of: str
    says: str


@cache
def what_helps() -> tuple[Help, ...]:
    """The table, in the order in which it counts. Raises FactsError on a wrong file."""
    found: tuple[Help, ...] = read_facts(HERE / "what_helps.yaml", tuple[Help, ...])
    return found


def would_help(cause: str, words: str) -> str:
    """What is known of it; empty where nothing is."""
    of_cause = (
        one for one in what_helps() if any(cause == c or (c.endswith("-") and cause.startswith(c)) for c in one.causes)
    )
    return next((one.says for one in of_cause if re.search(one.of, words.lower())), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameworkBuilds(Facts):
    """A framework or package by the GPUs that it has builds for. names: a pattern; nvidia, amd, intel: whether and as
    what it runs on GPUs of that vendor. least, most: the NVIDIA architectures that it runs on (`sm_80`); instead: what
    takes its place on the others; source: the project's page."""

    names: str
    title: str
    nvidia: str
    amd: str
    intel: str
    least: str | None = None
    most: str | None = None
    instead: str = ""
    source: str | None = None


@cache
def framework_builds() -> tuple[FrameworkBuilds, ...]:
    """All of them. Raises FactsError on a wrong file."""
    found: tuple[FrameworkBuilds, ...] = read_facts(HERE / "framework_builds.yaml", tuple[FrameworkBuilds, ...])
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameworkLaunch(Facts):
    """How programs of a framework are started. names: a pattern; says: whether torchrun belongs in front, what does."""

    names: str
    title: str
    says: str
    source: str
    as_of: str


@cache
def framework_launches() -> tuple[FrameworkLaunch, ...]:
    """All of them. Raises FactsError on a wrong file."""
    found: tuple[FrameworkLaunch, ...] = read_facts(HERE / "framework_launch.yaml", tuple[FrameworkLaunch, ...])
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCodes(Facts):
    """What exit codes, signals and the queue's letters mean. exit and signal: by number; state: by scheduler and
    letters; each with a sentence."""

    exit: Mapping[str, str]
    signal: Mapping[str, str]
    state: Mapping[Scheduler, Mapping[str, str]]


@cache
def job_codes() -> JobCodes:
    """All codes. Raises FactsError on a wrong file."""
    return read_facts(HERE / "job_codes.yaml", JobCodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed(Facts):
    """One thing done with a job: a sentence, the steps (why, command), a note. {script} and {job} are filled in."""

    says: str
    steps: tuple[tuple[str, str], ...]
    note: str = ""


@cache
def job_life() -> Mapping[Scheduler, Mapping[str, Deed]]:
    """What people do with a job (submit, watch, cancel, find its output ...), by scheduler and name. Raises FactsError
    on a wrong file."""
    deeds: Mapping[Scheduler, Mapping[str, Deed]] = read_facts(
        HERE / "job_life.yaml",
        Mapping[Scheduler, Mapping[str, Deed]],  # type: ignore[type-abstract]
    )
    return deeds
