"""What the words of an error make likely where no signature knows the message: a small linear model, weights as data.

Fitted on the examples of all signatures by `python bench/fit_wording.py`, which also says how often it is right on
messages of signatures that it has not seen.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

WEIGHTS = Path(__file__).with_name("wording.json")
# From here on the words decide over the place an exception came from: seven of ten are right on messages that no
# signature knew. Where nothing else tells, half of them is enough.
PLAIN, LIKELY = 0.6, 0.45
MOST_WORDS = 60
# The type alone of such an exception tells nothing of the cause.
BARE_TYPE = re.compile(
    r"^(?:\w+\.)*(?:Runtime|Value|OS|Assertion|Import|Type|Key|Attribute|Index|Name|Environment)?(?:Error|Exception): "
)
LIBRARY, FILE = re.compile(r"\.so[\d.]*"), re.compile(r"(?:[\w.~-]*/)+[\w.+-]*")
NUMBER, WORD = re.compile(r"0x[0-9a-f]+|\d+"), re.compile(r"[A-Z]?[a-z]+|[A-Z]{2,}(?![a-z])|<\w+>|0")


def words(message: str) -> list[str]:
    """The words and pairs of words of a message; paths, libraries and numbers stand for all of their kind."""
    text = LIBRARY.sub(" <so> ", BARE_TYPE.sub("", message))
    text = NUMBER.sub("0", FILE.sub(" <path> ", text))
    found = [word.lower() for word in WORD.findall(text)][:MOST_WORDS]
    return list(dict.fromkeys([*found, *(f"{first} {second}" for first, second in pairwise(found))]))


def likely_cause(message: str) -> tuple[str, float]:
    """The cause that the words speak for most, and its probability; `calm` is a message that tells of no failure."""
    model = _model()
    scores: dict[str, float] = dict(model["bias"])
    for word in words(message):
        for cause, weight in model["words"].get(word, {}).items():
            scores[cause] += weight
    best = max(scores, key=lambda cause: scores[cause])
    return best, 1 / sum(math.exp(score - scores[best]) for score in scores.values())


@cache
def _model() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(WEIGHTS.read_text())
    return loaded
