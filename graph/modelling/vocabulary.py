"""Which words speak of which cause: what a line must share with a cause before a model may call it so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from knowledge.signatures.loader import library

WORD = re.compile(r"[a-z][a-z0-9]{3,}")
# A word of more causes than this tells nothing; neither do two words together of more than that.
MOST_CAUSES, MOST_OF_PAIRS = 2, 3
NEVER = frozenset({"no-failure", "unknown"})


def words(text: str) -> frozenset[str]:
    """The words of a text, and each two that follow one another; CamelCase and under_scores are taken apart."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text)
    single = [word.removesuffix("s") for word in WORD.findall(apart.lower())]
    return frozenset(single) | {f"{a} {b}" for a, b in pairwise(single)}


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
    most = {word: MOST_OF_PAIRS if " " in word else MOST_CAUSES for word in spread}
    return {cause: frozenset(word for word in told if spread[word] <= most[word]) for cause, told in found.items()}


def borne_by(text: str) -> frozenset[str]:
    """The causes of which this text speaks with a telling word."""
    said = words(text)
    return frozenset(cause for cause, told in vocabulary().items() if said & told)
