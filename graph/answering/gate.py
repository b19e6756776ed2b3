"""How probable it is that a question is about what it was read as: a logistic model of the reading and its words.

`python bench/fit_gate.py` fits the weights (gate.json) on the labelled sentences, each read by a reader that was fitted
without its file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from graph.reading.coverage import content_words, left_over
from graph.reading.utterance import Clause, Utterance

WEIGHTS = Path(__file__).parent / "gate.json"
MOST = 4.0  # left words beyond which more change nothing
LEAST = 0.001


@dataclass(frozen=True, slots=True)
class ThreadHeld:
    """What the thread holds that a topic may be about. last: the topic of the question before."""

    script: bool = False
    log: bool = False
    last: str = ""


def gate_features(utterance: Utterance, clause: Clause, thread: ThreadHeld) -> dict[str, float]:
    """What the model sees: the reader's probability and its lead, the words that the reading holds, the thread."""
    words = content_words(utterance, clause)
    left = left_over(utterance, clause, clause.label)
    share = min(max(clause.confidence, LEAST), 1 - LEAST)
    second = next((one for topic, one in clause.topics if topic != clause.topic), 0.0)
    group = clause.topic.partition(".")[0] or clause.act
    held = {"script": thread.script, "log": thread.log}.get(group)
    return {
        "bias": 1.0,
        "logit": math.log(share / (1 - share)),
        "lead": clause.confidence - second,
        "left": min(float(len(left)), MOST),
        "share left": len(left) / len(words) if words else 0.0,
        "no words": float(not words),
        "words": math.log1p(len(words)),
        "agrees": float(bool(thread.last) and thread.last.partition(".")[0] == group),
        "held": float(held is True),
        "not held": float(held is False),
        f"of {group}": 1.0,
    }
