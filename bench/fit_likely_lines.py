"""Fits the weights of graph/debugging/likely_lines.npz, and says how well they tell trouble from other lines.

    python bench/fit_likely_lines.py [--check]

Trouble are the messages from which the words of causes are learned (bench/fit_wording.py). The other lines are those
marked calm there, and what stands in labelled logs: in healthy ones any line, in others those before the first line of
evidence. The blind logs are not among them. --check prints the figures and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from fit_wording import examples
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from graph.debugging.diagnosis import diagnose
from graph.debugging.likely_lines import NUMBER, SHORTEST, WEIGHTS
from knowledge.embedding import embedder
from knowledge.meaning import LONGEST, save_weights
from knowledge.signatures.matcher import matcher
from knowledge.signatures.wording import plain_text

ROOT = Path(__file__).parent.parent
WHOLE = ROOT / "bench" / "accuracy" / "development"
# Lines of one log; more would be of one program.
EACH, LONGEST_LINE = 14, 400
# Inverse of the regularisation; how much an ordinary line counts beside one of trouble.
STRENGTH, CALM_COUNTS = 16.0, 2
LABEL = "# cause"


def logs() -> Iterator[tuple[Path, str, str]]:
    """(file, its cause, its telling line; empty where the label has none)."""
    for line in (WHOLE / "whole_logs.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield WHOLE / row["file"], row["cause"], row.get("evidence") or ""
    for path in sorted([*(WHOLE / "staged").glob("**/*.log"), *(ROOT / "tests" / "logs").glob("*/*.log")]):
        yield path, path.parent.name, ""


def ordinary_lines() -> list[str]:
    """Lines of logs that tell of no trouble and that no signature of a failure knows, each shape once."""
    use, shapes = matcher(), dict[str, str]()
    draw = random.Random(1)
    for path, cause, evidence in logs():
        text = path.read_text(errors="replace")
        rows = [row.strip() for row in text.replace("\r", "\n").split("\n")]
        if cause != "no-failure":
            told = next((at for at, row in enumerate(rows) if evidence and evidence.strip() in row), None)
            first = next((one.line - 1 for one in diagnose(text).evidence), 0)
            rows = rows[: first if told is None else told]
        kept = [row for row in rows if SHORTEST <= len(row) < LONGEST_LINE and not row.startswith(LABEL)]
        calm = ("harmless", "success")
        kept = [row for row in kept if not any(one.cause and one.kind not in calm for one in use.match(row.encode()))]
        new = [row for row in dict.fromkeys(kept) if NUMBER.sub("0", row) not in shapes]
        shapes |= {NUMBER.sub("0", row): row for row in draw.sample(new, min(EACH, len(new)))}
    return list(shapes.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    cases = examples()
    trouble = [message for message, cause, _ in cases if cause != "calm"]
    other = [*(message for message, cause, _ in cases if cause == "calm"), *ordinary_lines()]
    vectors = embedder().embed([plain_text(text)[:LONGEST] for text in (*trouble, *other)])
    told = np.array([1] * len(trouble) + [0] * len(other))
    model = LogisticRegression(C=STRENGTH, max_iter=500, class_weight={1: 1, 0: CALM_COUNTS})
    sure = cross_val_predict(model, vectors, told, cv=5, method="predict_proba")[:, 1]
    print(f"{len(trouble)} lines of trouble, {len(other)} others")
    for floor in (0.5, 0.8, 0.9):
        found, wrong = ((sure[told == one] >= floor).mean() for one in (1, 0))
        print(f"from {floor:.1f} on: {found:.0%} of trouble, {wrong:.1%} of the others")
    if not options.check:
        model.fit(vectors, told)
        save_weights(WEIGHTS, model.coef_.T, model.intercept_)


if __name__ == "__main__":
    main()
