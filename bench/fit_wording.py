"""Fits the weights of knowledge/signatures/wording.json and wording_meaning.npz, and says how right they are on
signatures not seen in the fit.

    python bench/fit_wording.py [--check]

Examples are those of the signatures, the labelled messages of the tests and those of wording.txt, grouped by
signature: no group stands on both sides of a fold. --check prints the figures and writes nothing.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from knowledge.embedding import embedder
from knowledge.meaning import LONGEST, save_weights
from knowledge.signatures.loader import CAUSES_FILE, load, signature_files
from knowledge.signatures.matcher import Matcher
from knowledge.signatures.wording import MEANING, WEIGHTS, WORDS_SHARE, plain_text, words

TESTS = Path(__file__).parent.parent / "tests" / "graph" / "debugging"
# Weights below this change nothing.
SMALL = 0.3
STRENGTH, MEANING_STRENGTH = 3.0, 64.0  # inverse of the regularisation
# How much the meaning counts beside the words: the probabilities are right as often as they say.
MEANING_SHARE = 0.5
Bag = Mapping[str, int]


def examples() -> list[tuple[str, str, str]]:
    """(message, cause, group), group being the signature that knows the message."""
    signatures = load({path: path.read_bytes() for path in [CAUSES_FILE, *signature_files()]}).signatures
    use = Matcher(signatures)
    found = [
        (example, "calm" if s.kind in ("harmless", "success") else s.cause, s.id)
        for s in signatures
        for example in s.example
        if s.kind not in ("frame", "context", "start", "final") and s.cause != "unknown"
    ]
    listed = (TESTS / "messages.txt", Path(__file__).with_name("wording.txt"))
    for line in (line for path in listed for line in path.read_text().splitlines()[1:]):
        cause, _, message = line.partition(" | ")
        known = [s for s in use.match(message.encode()) if s.cause]
        found.append((message, cause, max(known, key=lambda s: s.strength).id if known else message))
    return found + [(line, "calm", line) for line in (TESTS / "harmless.txt").read_text().splitlines()[1:]]


@dataclass(frozen=True, slots=True)
class Wording:
    """Two linear models over the same causes: of a message's words, and of what it means. bags: words of a message."""

    causes: Sequence[str]
    vector: DictVectorizer
    by_words: LogisticRegression
    by_meaning: LogisticRegression

    def logits(self, bags: Sequence[Bag], vectors: NDArray[np.float32]) -> tuple[NDArray[np.float64], ...]:
        """Of the words alone, and of both; messages x causes."""
        words_alone = self.by_words.decision_function(self.vector.transform(bags))
        return words_alone, WORDS_SHARE * words_alone + MEANING_SHARE * self.by_meaning.decision_function(vectors)


def fit(bags: Sequence[Bag], vectors: NDArray[np.float32], causes: Sequence[str]) -> Wording:
    """vectors: MiniLM's, of the messages' plain texts."""
    vector = DictVectorizer()
    by_words = LogisticRegression(C=STRENGTH, max_iter=300).fit(vector.fit_transform(bags), causes)
    by_meaning = LogisticRegression(C=MEANING_STRENGTH, max_iter=300).fit(vectors, causes)
    return Wording(by_words.classes_, vector, by_words, by_meaning)


def report(cases: Sequence[tuple[str, str, str]], bags: Sequence[Bag], vectors: NDArray[np.float32]) -> None:
    """How right messages are read whose signature was left out of the fit."""
    causes, groups = np.array([c for _, c, _ in cases]), np.array([g for _, _, g in cases])
    sure, right = np.zeros((2, len(cases))), np.zeros((2, len(cases)), dtype=bool)
    for train, test in GroupKFold(10).split(bags, causes, groups):
        model = fit([bags[n] for n in train], vectors[train], causes[train])
        for at, logits in enumerate(model.logits([bags[n] for n in test], vectors[test])):
            sure[at, test] = 1 / np.exp(logits - logits.max(1, keepdims=True)).sum(1)
            right[at, test] = model.causes[logits.argmax(1)] == causes[test]
    for at, name in enumerate(("words alone", "with their meaning")):
        print(f"{name}: {right[at].mean():.0%} right")
        for floor in (0.45, 0.6, 0.7, 0.8, 0.9):
            said = sure[at] >= floor
            print(f"  said at {floor:.2f} or more: {said.mean():.0%}, of these right: {right[at][said].mean():.0%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    cases = examples()
    bags = [dict.fromkeys(words(message), 1) for message, _, _ in cases]
    vectors = embedder().embed([plain_text(message)[:LONGEST] for message, _, _ in cases])
    print(f"{len(cases)} messages, {len({group for *_, group in cases})} groups")
    report(cases, bags, vectors)
    if options.check:
        return
    model = fit(bags, vectors, [cause for _, cause, _ in cases])
    table = {
        word: {c: round(float(w), 1) for c, w in zip(model.causes, column, strict=True) if abs(w) >= SMALL}
        for word, column in zip(model.vector.feature_names_, model.by_words.coef_.T, strict=True)
    }
    bias = {c: round(float(b), 2) for c, b in zip(model.causes, model.by_words.intercept_, strict=True)}
    lines = [json.dumps(word) + ": " + json.dumps(weights) for word, weights in sorted(table.items()) if weights]
    WEIGHTS.write_text(f'{{"bias": {json.dumps(bias)}, "words": {{\n' + ",\n".join(lines) + "\n}}\n")
    meant = model.by_meaning
    save_weights(MEANING, MEANING_SHARE * meant.coef_.T, MEANING_SHARE * meant.intercept_)


if __name__ == "__main__":
    main()
