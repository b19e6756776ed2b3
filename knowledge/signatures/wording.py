"""What the words of an error make likely where no signature knows the message: a small linear model, weights as data.

Where the words leave it open, what the message means has a say too, if MiniLM's weights are installed. Fitted on the
examples of all signatures by `python bench/fit_wording.py`, which also says how often it is right on messages of
signatures that it has not seen.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from knowledge.meaning import meaning_model

WEIGHTS = Path(__file__).with_name("wording.json")
MEANING = Path(__file__).with_name("wording_meaning.npz")
# From here on the words need no second opinion; below, they count for half beside the meaning.
CLEAR, WORDS_SHARE = 0.8, 0.5
# From here on the words decide over the place an exception came from: seven of ten are right on messages that no
# signature knew. Where nothing else tells, half of them is enough.
PLAIN, LIKELY = 0.6, 0.45
MOST_WORDS = 60
# What a message must speak of, or a guess from its other words would send a person elsewhere.
SPEAKS_OF = {
    "gpu-not-visible": re.compile(r"(?i)\bgpu|cuda|nvidia|nvml|\bhip|rocm|sycl|\bxpu|accelerator|opencl"),
    "fw-checkpoint": re.compile(r"(?i)check-?point|ckpt|weight|state|resum|restor|shard|tensor|pickle|zip|model|key"),
}
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


def plain_text(message: str) -> str:
    """A message as its meaning is looked at: without the type of a general exception, without numbers."""
    return NUMBER.sub("0", BARE_TYPE.sub("", message))


@lru_cache(maxsize=256)
def likely_cause(message: str) -> tuple[str, float]:
    """The cause that the words speak for most, and its probability; `calm` is a message that tells of no failure."""
    scores = scores_of(message)
    best, chance = most_likely(scores)
    if chance < CLEAR and (meaning := meaning_model(MEANING)) is not None:
        meant = zip(scores.items(), meaning.logits(plain_text(message)), strict=True)
        best, chance = most_likely({cause: WORDS_SHARE * score + float(more) for (cause, score), more in meant})
    return best, chance if best not in SPEAKS_OF or SPEAKS_OF[best].search(message) else 0.0


def scores_of(message: str) -> dict[str, float]:
    """How much the words speak for each cause, in the model's order."""
    model = _model()
    scores: dict[str, float] = dict(model["bias"])
    for word in words(message):
        for cause, weight in model["words"].get(word, {}).items():
            scores[cause] += weight
    return scores


def most_likely(scores: Mapping[str, float]) -> tuple[str, float]:
    """The cause with the highest score, and its probability."""
    best = max(scores, key=lambda cause: scores[cause])
    return best, 1 / sum(math.exp(score - scores[best]) for score in scores.values())


@cache
def _model() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(WEIGHTS.read_text())
    return loaded
