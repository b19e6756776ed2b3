"""Which words speak of which cause: what a line must share with a cause before a model may call it so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from knowledge.signatures.loader import library

WORD = re.compile(r"[a-z][a-z0-9]{3,}")
# A single word tells only when it is of one cause and no short one; two words together may be of two.
MOST_CAUSES, MOST_OF_PAIRS, SHORTEST = 1, 2, 5
# What a line must weigh before it bears a cause: one long word or pair, or two other words.
ENOUGH, LONG = 2, 8
# Words of any trouble: a pair with one of them tells no more than the other word alone.
GENERAL = frozenset(
    {"something", "anything", "went", "wrong", "found", "failed", "error", "cannot", "could", "with", "from"}
)
NEVER = frozenset({"no-failure", "unknown"})


def words(text: str) -> frozenset[str]:
    """The words of a text, and each two telling ones in a row; CamelCase and under_scores are taken apart."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text)
    single = [word.removesuffix("s") for word in WORD.findall(apart.lower())]
    return frozenset(single) | {f"{a} {b}" for a, b in pairwise(single) if not {a, b} & GENERAL}


@cache
def vocabulary() -> Mapping[str, frozenset[str]]:
    """Cause -> its telling words: those of its meaning and of its signatures' patterns that few other causes share."""
    found = {c.id: set(words(c.means)) for c in library().causes.values() if c.id not in NEVER}
    for signature in library().signatures:
        if signature.cause in found and signature.kind in ("cause", "verdict", "error"):
            found[signature.cause] |= words(
                re.sub(r"\\[a-zA-Z]|\(\?\w*(?:P<\w+>)?|[\[\]{}()*+?^$\\]", " ", signature.pattern)
            )
    spread = Counter(word for told in found.values() for word in told)
    return {cause: frozenset(w for w in told if is_telling(w, spread[w])) for cause, told in found.items()}


def is_telling(word: str, causes: int) -> bool:
    return causes <= MOST_OF_PAIRS if " " in word else causes <= MOST_CAUSES and len(word) >= SHORTEST


def borne_by(text: str) -> frozenset[str]:
    """The causes of which this text speaks: with two telling words, or with one that is long or a pair."""
    said = words(text)
    shared = {cause: said & told for cause, told in vocabulary().items()}
    return frozenset(cause for cause, told in shared.items() if sum(weight(word) for word in told) >= ENOUGH)


def weight(word: str) -> int:
    return ENOUGH if " " in word or len(word) >= LONG else 1
