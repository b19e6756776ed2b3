"""The trained tagger of wishes: which words of a message are a value, of which slot, and what is to be done with it.

A linear chain over tokens (a conditional random field) decides the slots jointly; two linear models over the same words
decide each span's operation, and whether the whole orders, asks or tells. `python -m graph.reading.wishes.train` writes
the weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

from graph.reading.mentions import find_mentions
from graph.reading.utterance import Mention
from graph.reading.wishes.features import kind_features, sign_features, token_features
from graph.reading.wishes.tokens import WishToken, find_tokens

WEIGHTS = Path(__file__).parent / "tagger.npz"
MODELS = ("slots", "signs", "kinds")


@dataclass(frozen=True, slots=True)
class Span:
    """One value: characters of the text, its slot, the operation (see corpus.py), and how sure both are, 0 to 1."""

    start: int
    end: int
    text: str
    slot: str
    sign: str
    sure: float


@dataclass(frozen=True, slots=True)
class Wishes:
    """kind: do, ask or tell, with its probability; spans in the order of the text; chances: slot -> the probability of
    its likeliest token; whole: the probability that all spans are right and none is missing."""

    kind: str
    sure: float
    spans: tuple[Span, ...]
    chances: Mapping[str, float] = field(default_factory=dict)
    whole: float = 1.0


@dataclass(frozen=True, slots=True)
class Weights:
    """index: feature -> row; table: features x labels; scale: what a label's numbers are multiplied by."""

    index: Mapping[str, int]
    labels: tuple[str, ...]
    table: Any
    scale: Any = 1.0

    def scores(self, features: Sequence[str]) -> Any:
        """A number a label."""
        rows = [self.index[name] for name in features if name in self.index]
        return self.table[rows].sum(axis=0, dtype="float32") * self.scale


@dataclass(frozen=True, slots=True)
class Tagger:
    """transitions: float, labels x labels, what follows what; what may not is far below zero."""

    slots: Weights
    signs: Weights
    kinds: Weights
    transitions: Any
    heat: float = 1.0

    def read(self, text: str, mentions: Sequence[Mention], thread: Sequence[str] = ()) -> Wishes:
        """The wishes of a text. Pure; the work is bounded by tokens.MOST."""
        import numpy as np

        tokens = find_tokens(text)
        if not tokens:
            return Wishes("tell", 1.0, ())
        scores = np.stack([self.slots.scores(one) for one in token_features(text, tokens, mentions, thread)])
        path = decoded(scores * self.heat, self.transitions * self.heat)
        each, total = marginals(scores * self.heat, self.transitions * self.heat)
        share = each[np.arange(len(path)), path]
        chances = dict[str, float]()
        for label, most in zip(self.slots.labels, each.max(axis=0), strict=True):
            chances[label[2:]] = max(chances.get(label[2:], 0.0), float(most))
        kind = softmax(self.kinds.scores(kind_features(text, tokens)))
        best = int(kind.argmax())
        found = runs([self.slots.labels[at] for at in path], share)
        spans = tuple(self._span(text, tokens, *one) for one in found)
        whole = share_of(path, scores * self.heat, self.transitions * self.heat, total)
        whole *= min((span.sure / sure for span, (*_, sure) in zip(spans, found, strict=True)), default=1.0)
        return Wishes(self.kinds.labels[best], float(kind[best]), spans, chances, whole)

    def _span(self, text: str, tokens: Sequence[WishToken], first: int, last: int, slot: str, sure: float) -> Span:
        shares = softmax(self.signs.scores(sign_features(tokens, first, last, slot)))
        best = int(shares.argmax())
        start, end = tokens[first].start, tokens[last].end
        sign = self.signs.labels[best].removeprefix("=")
        return Span(start, end, text[start:end], slot, sign, sure * float(shares[best]))


def softmax(scores: Any) -> Any:
    """Probabilities of the scores."""
    import numpy as np

    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def decoded(scores: Any, transitions: Any) -> list[int]:
    """The best row of labels (scores: tokens x labels)."""
    import numpy as np

    count, width = scores.shape
    best, back = scores[0].copy(), np.zeros((count, width), dtype=np.int32)
    for i in range(1, count):
        through = best[:, None] + transitions
        back[i] = through.argmax(axis=0)
        best = through[back[i], np.arange(width)] + scores[i]
    path = [int(best.argmax())]
    for i in range(count - 1, 0, -1):
        path.append(int(back[i][path[-1]]))
    path.reverse()
    return path


def marginals(scores: Any, transitions: Any) -> tuple[Any, float]:
    """The probability of each label at each token (tokens x labels), and the logarithm of the sum over all rows."""
    import numpy as np

    count = len(scores)
    local, moves = np.exp(scores - scores.max(axis=1, keepdims=True)), np.exp(transitions)
    ahead, behind = local.copy(), np.ones_like(local)
    whole = float(scores.max(axis=1).sum())
    for i in range(count):
        ahead[i] *= ahead[i - 1] @ moves if i else 1
        total = float(ahead[i].sum())
        ahead[i] /= total
        whole += log(total)
    for i in range(count - 2, -1, -1):
        behind[i] = moves @ (behind[i + 1] * local[i + 1])
        behind[i] /= behind[i].sum()
    both = ahead * behind
    return both / both.sum(axis=1, keepdims=True), whole


def share_of(path: Sequence[int], scores: Any, transitions: Any, whole: float) -> float:
    """The probability of one row of labels among all rows. whole: the logarithm of the sum over these."""
    import numpy as np

    own = sum(float(scores[i, label]) for i, label in enumerate(path))
    return float(np.exp(own + sum(float(transitions[pair]) for pair in pairwise(path)) - whole))


def runs(labels: Sequence[str], share: Sequence[float]) -> list[tuple[int, int, str, float]]:
    """The spans of a row of labels: first and last token, slot, and the least probability in it."""
    out = list[tuple[int, int, str, float]]()
    for i, label in enumerate(labels):
        if label == "O":
            continue
        if label[0] == "I" and out and out[-1][1] == i - 1 and out[-1][2] == label[2:]:
            first, _, slot, sure = out.pop()
            out.append((first, i, slot, min(sure, float(share[i]))))
        else:
            out.append((i, i, label[2:], float(share[i])))
    return out


@cache
def tagger() -> Tagger:
    """The tagger, read once a process."""
    return load_tagger(WEIGHTS)


def load_tagger(path: Path) -> Tagger:
    """A tagger as the trainer wrote it: per model its features and labels (joined by line ends), int8 rows, a scale a
    label."""
    import numpy as np

    with np.load(path, allow_pickle=False) as stored:
        models = []
        for name in MODELS:
            features = str(stored[f"{name}_features"]).split("\n")
            labels = tuple(str(stored[f"{name}_labels"]).split("\n"))
            index = {one: row for row, one in enumerate(features)}
            models.append(Weights(index, labels, stored[f"{name}_weights"], stored[f"{name}_scale"]))
        slots, signs, kinds = models
        return Tagger(slots, signs, kinds, stored["transitions"].astype(np.float32), float(stored["heat"]))


@lru_cache(maxsize=64)
def read_wishes(text: str, thread: tuple[str, ...] = ()) -> Wishes:
    """The wishes of a message. thread: see features.token_features."""
    return tagger().read(text, find_mentions(text)[1], thread)
