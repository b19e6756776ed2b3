"""Fits the weights of knowledge/signatures/wording.json, and says how right they are on signatures not seen in the fit.

    python bench/fit_wording.py [--check]

Examples are those of the signatures and the labelled messages of the tests, grouped by signature: no group stands on
both sides of a fold. --check prints the figures and writes nothing.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from knowledge.signatures.loader import CAUSES_FILE, load, signature_files
from knowledge.signatures.matcher import Matcher
from knowledge.signatures.wording import WEIGHTS, words

TESTS = Path(__file__).parent.parent / "tests" / "graph" / "debugging"
# Weights below this change nothing.
SMALL = 0.3
STRENGTH = 3.0


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
    for line in (TESTS / "messages.txt").read_text().splitlines()[1:]:
        cause, _, message = line.partition(" | ")
        known = [s for s in use.match(message.encode()) if s.cause]
        found.append((message, cause, max(known, key=lambda s: s.strength).id if known else message))
    return found + [(line, "calm", line) for line in (TESTS / "harmless.txt").read_text().splitlines()[1:]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    cases = examples()
    bags = [dict.fromkeys(words(message), 1) for message, _, _ in cases]
    causes, groups = np.array([c for _, c, _ in cases]), np.array([g for _, _, g in cases])
    sure, right = np.zeros(len(cases)), np.zeros(len(cases), dtype=bool)
    for train, test in GroupKFold(10).split(bags, causes, groups):
        vector = DictVectorizer()
        model = LogisticRegression(C=STRENGTH, max_iter=300)
        model.fit(vector.fit_transform([bags[n] for n in train]), causes[train])
        chance = model.predict_proba(vector.transform([bags[n] for n in test]))
        sure[test], right[test] = chance.max(1), model.classes_[chance.argmax(1)] == causes[test]
    print(f"{len(cases)} messages, {len(set(groups))} groups")
    for floor in (0.0, 0.5, 0.6, 0.7, 0.8, 0.9):
        said = sure >= floor
        print(f"said at {floor:.1f} or more: {said.mean():.0%}, of these right: {right[said].mean():.0%}")
    if options.check:
        return
    vector = DictVectorizer()
    model = LogisticRegression(C=STRENGTH, max_iter=300).fit(vector.fit_transform(bags), causes)
    table = {
        word: {c: round(float(w), 1) for c, w in zip(model.classes_, column, strict=True) if abs(w) >= SMALL}
        for word, column in zip(vector.feature_names_, model.coef_.T, strict=True)
    }
    bias = {c: round(float(b), 2) for c, b in zip(model.classes_, model.intercept_, strict=True)}
    lines = [json.dumps(word) + ": " + json.dumps(weights) for word, weights in sorted(table.items()) if weights]
    WEIGHTS.write_text(f'{{"bias": {json.dumps(bias)}, "words": {{\n' + ",\n".join(lines) + "\n}}\n")


if __name__ == "__main__":
    main()
