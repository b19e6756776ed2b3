"""What holds on any machine for a topic: the reason behind its answers, and the answer while no machine is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from knowledge.data_file import read_facts
from knowledge.strict import Facts

TOPIC_TEXTS = Path(__file__).parent / "topic_texts.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicText(Facts):
    """why: the reason; general: the answer without a machine. Empty where nobody wrote it down."""

    why: str = ""
    general: str = ""


@cache
def topic_texts() -> Mapping[str, TopicText]:
    """By topic (or act) of acts.yaml. Raises FactsError on a wrong file."""
    found: Mapping[str, TopicText] = read_facts(TOPIC_TEXTS, Mapping[str, TopicText])  # type: ignore[type-abstract]
    return found
