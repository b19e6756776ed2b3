"""Fits the weights of graph/answering/gate.json, and says how often what it lets through is right.

    python bench/fit_gate.py [--check]

Every file of tests/reading/sentences is read by a reader that was fitted without it (in FOLDS groups of files), as a
person's words of a new voice are; a reading is right where its label is the sentence's own. --check writes nothing.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from graph.answering.gate import WEIGHTS, ThreadHeld, gate_features
from graph.reading import coverage, reader, train
from graph.reading.classifier import LinearModel
from graph.reading.utterance import ThreadView, Utterance
from knowledge import meaning
from knowledge.embedding import embedder

FOLDS = 5
ANSWERED = ("ask", "plan", "review")
STRENGTH = 1.0
Row = tuple[dict[str, float], bool, str]


def rows_of(path: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def use_reader(made: Sequence[train.Example], files: Sequence[Path], vectors: Mapping[str, Any]) -> None:
    """From here on sentences are read by a reader of these files alone, and of what was made from patterns."""
    examples = [*made, *(one for path in files for one in train.read_file(path, 1))]
    names, labels, weights, bias = train.fit(examples)
    index = {name: at for at, name in enumerate(names)}
    model = LinearModel(index, labels, weights.ravel().tolist(), [1.0] * len(labels), bias.tolist())
    pairs = sorted({(one.text[: meaning.LONGEST], one.label) for one in examples})
    meant = LinearSVC(C=2.0).fit(np.array([vectors[text] for text, _ in pairs]), [label for _, label in pairs])
    order = [list(meant.classes_).index(label) for label in labels]
    share = train.SHARPNESS * train.MEANING_SHARE
    second = meaning.MeaningModel(share * meant.coef_.T[:, order], share * meant.intercept_[order])
    reader.act_model = coverage.act_model = lambda: model  # type: ignore[assignment, attr-defined]
    reader.meaning_model = lambda path: second  # type: ignore[assignment, attr-defined]
    coverage.weight.cache_clear()


def readings(path: Path) -> Iterator[Row]:
    """(features, whether it is right, label read) of each sentence that is taken for a question."""
    for row in rows_of(path):
        thread = dict(row.get("thread", {}))
        act, _, topic = str(thread.pop("last", "")).partition("/")
        view = ThreadView(last_act=act, last_topic=topic, **thread)
        clause = reader.read_as_one(row["text"], view)
        if clause.act in ANSWERED and row["text"]:
            utterance = Utterance(row["text"], reader.find_mentions(row["text"])[1], (clause,))
            held = ThreadHeld(view.has_script, view.has_log, topic)
            right = clause.label in {row["label"], *row.get("also", ())}
            yield gate_features(utterance, clause, held), right, clause.label


def all_readings() -> list[Row]:
    files = sorted((train.DATA / "sentences").glob("*.jsonl"))
    made = train.made_examples()
    said = (row["text"] for path in files for row in rows_of(path) if row["text"])
    texts = sorted({text[: meaning.LONGEST] for text in (*said, *(one.text for one in made))})
    vectors = dict(zip(texts, embedder().embed(texts), strict=True))
    found: list[Row] = []
    for fold in range(FOLDS):
        held_out = files[fold::FOLDS]
        use_reader(made, [path for path in files if path not in held_out], vectors)
        found += [row for path in held_out for row in readings(path)]
    return found


def main() -> None:
    """Fit, say how right it is at some thresholds, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    found = all_readings()
    vector = DictVectorizer(sparse=False)
    seen, right = vector.fit_transform([row for row, _, _ in found]), np.array([one for _, one, _ in found])
    folds = np.arange(len(found)) % FOLDS
    sure = np.zeros(len(found))
    for fold in range(FOLDS):
        model = LogisticRegression(C=STRENGTH, max_iter=2000, fit_intercept=False).fit(
            seen[folds != fold], right[folds != fold]
        )
        sure[folds == fold] = model.predict_proba(seen[folds == fold])[:, 1]
    print(f"{len(found)} readings, {right.mean():.3f} right")
    for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        through = sure >= least
        print(
            f"{least}: {through.mean():.3f} through, of these {right[through].mean():.3f} right; "
            f"of those withheld {right[~through].mean():.3f} were right"
        )
    model = fitted(seen, right)
    told = {name: round(float(one), 4) for name, one in zip(vector.feature_names_, model.coef_[0], strict=True)}
    print(json.dumps(told))
    if not options.check:
        WEIGHTS.write_text(json.dumps(told, indent=0) + "\n", encoding="utf-8")


def fitted(seen: Any, right: Any) -> LogisticRegression:
    return LogisticRegression(C=STRENGTH, max_iter=2000, fit_intercept=False).fit(seen, right)


if __name__ == "__main__":
    main()
