"""Refits the reader: reads tests/reading/sentences/*.jsonl and patterns.yaml, and writes graph/reading/acts.npz and
meaning.npz.

    python -m graph.reading.train [--blind [NAME ...]] [--wrong]

With `--blind` it fits on all files but one, for each in turn, and prints how many sentences of that one it reads right.
A line is {"text", "label", "also": [labels as right], "thread": {field of ThreadView, "last": label}}.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.svm import LinearSVC

from graph.reading.classifier import WEIGHTS, LinearModel
from graph.reading.features import clause_features
from graph.reading.mentions import find_mentions
from graph.reading.reader import MEANING
from graph.reading.utterance import ThreadView
from knowledge.data_file import read_data
from knowledge.embedding import embedder
from knowledge.meaning import LONGEST, save_weights

DATA = Path(__file__).parents[2] / "tests" / "reading"
DRAWS = 8  # sentences made of each pattern
MOST_FEATURES = 40_000
# In a pattern `(a|b)` is a choice and `{name}` a slot.
CHOICE = re.compile(r"(?<!\\)\(([^()]*)(?<!\\)\)")
SLOT = re.compile(r"\{(\w+)\}")
STRENGTH = 1.0  # inverse of the regularisation
SHARPNESS = 4.0  # from margins to probabilities: right as often as they say, on held-out files
MEANING_SHARE = 0.5  # how much a vector's opinion weighs beside the words' (best on held-out files)
# Where a sentence names no thread, it is also learnt in threads such as these: they do not change what it means.
THREADS: tuple[Mapping[str, Any], ...] = (
    {},
    {"has_script": True, "last": "write"},
    {"has_script": True, "last": "edit"},
    {"has_log": True, "last": "diagnose"},
    {"last": "ask/concept"},
    {"last": "ask/site.limits"},
    {"has_script": True, "last": "ask/script.line"},
    {"last": "ask/job.watch"},
    {"last": "chat"},
    {"asked": "nodes"},
    {"asked": "strategy"},
)
# These begin a thread or need one; elsewhere they would be read otherwise.
IN_NO_THREAD = frozenset(("write", "reply"))
# Where these are said, as they stand in the patterns.
PLACES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "write": ({}, {}, {"last": "chat"}, {"last": "ask/concept"}, {"has_log": True, "last": "diagnose"}),
    "edit": (
        {"has_script": True, "last": "write"},
        {"has_script": True, "last": "edit"},
        {"has_script": True, "last": "ask/script.line"},
        {"has_script": True, "has_log": True, "last": "diagnose"},
    ),
    "mend": ({"new_script": True}, {"new_script": True, "new_log": True}, {"has_script": True}),
    "review": ({"new_script": True}, {"new_script": True}, {"has_script": True}),
    "port": ({"new_script": True}, {}, {"has_script": True}),
    "diagnose": ({}, {"new_log": True}, {"has_script": True, "last": "write"}),
    "undo": ({"has_script": True, "last": "edit"},),
    "redo": ({"has_script": True, "last": "undo"},),
    "back": ({"has_script": True, "last": "edit"},),
}


@dataclass(frozen=True, slots=True)
class Example:
    """One training sentence: its features, its label, and the labels that count as right."""

    text: str
    features: tuple[str, ...]
    label: str
    right: frozenset[str]


def read_file(path: Path, threads: int) -> list[Example]:
    """The sentences of one file; threads: in how many further threads each is learnt."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [example for row in rows if row["text"] for example in _examples(row, threads)]


def expand_patterns(path: Path, draws: int) -> Iterator[tuple[str, str]]:
    """Label and sentence of every pattern of the file, each drawn `draws` times, without repeats."""
    data: dict[str, Any] = read_data(path)
    for label, patterns in data["patterns"].items():
        for pattern in patterns:
            source = random.Random(f"{label} {pattern}")
            drawn = (draw_sentence(pattern, data["slots"], source) for _ in range(draws))
            yield from ((label, sentence) for sentence in dict.fromkeys(drawn))


def draw_sentence(pattern: str, slots: Mapping[str, Sequence[str]], source: random.Random) -> str:
    """One sentence of a pattern; inner choices first."""
    while choice := CHOICE.search(pattern):
        pattern = pattern[: choice.start()] + source.choice(choice[1].split("|")) + pattern[choice.end() :]
    filled = SLOT.sub(lambda slot: source.choice(slots[slot[1]]), pattern.replace("\\", ""))
    return " ".join(filled.split())


def made_examples() -> list[Example]:
    """The sentences made from patterns, each in a thread where it may be said."""
    out = []
    for label, text in expand_patterns(DATA / "patterns.yaml", DRAWS):
        places = PLACES.get(label, THREADS)
        context = random.Random(text).choice(places)
        out.append(Example(text, tuple(_features(text, context)), label, frozenset((label,))))
    return out


def _examples(row: Mapping[str, Any], threads: int) -> Iterable[Example]:
    text, label = row["text"], row["label"]
    contexts: list[Mapping[str, Any]] = [row.get("thread", {})]
    if threads and "thread" not in row and label not in IN_NO_THREAD:
        contexts += random.Random(text).sample(THREADS[1:], threads)
    for context in contexts:
        yield Example(text, tuple(_features(text, context)), label, frozenset((label, *row.get("also", ()))))


def _features(text: str, context: Mapping[str, Any]) -> list[str]:
    known = dict(context)
    act, _, topic = str(known.pop("last", "")).partition("/")
    thread = ThreadView(last_act=act, last_topic=topic, **known)
    line, mentions = find_mentions(text)
    return clause_features(text, mentions, line, 0, thread)


def fit(examples: Sequence[Example]) -> tuple[list[str], tuple[str, ...], Any, Any]:
    """Names of features, labels, weights (features x labels), bias: fitted, cut to the strongest, refitted."""
    counts = Counter(name for e in examples for name in e.features)
    names = sorted(name for name, count in counts.items() if count > 1)
    model = _fitted(examples, names)
    if len(names) > MOST_FEATURES:
        strength = np.abs(model.coef_).max(axis=0)
        names = [names[i] for i in sorted(np.argsort(-strength)[:MOST_FEATURES])]
        model = _fitted(examples, names)
    return names, tuple(model.classes_), SHARPNESS * model.coef_.T, SHARPNESS * model.intercept_


def _fitted(examples: Sequence[Example], names: Sequence[str]) -> Any:
    index = {name: i for i, name in enumerate(names)}
    rows, columns, values = [], [], []
    for row, example in enumerate(examples):
        known = [index[name] for name in example.features if name in index]
        rows += [row] * len(known)
        columns += known
        values += [1 / np.sqrt(len(example.features))] * len(known)
    matrix = csr_matrix((values, (rows, columns)), shape=(len(examples), len(names)), dtype=np.float32)
    return LinearSVC(C=STRENGTH).fit(matrix, [e.label for e in examples])


def fit_meaning(examples: Sequence[Example], labels: Sequence[str]) -> tuple[Any, Any]:
    """Weights (384 x labels) and bias over MiniLM's vectors. Raises UnavailableError where its weights are missing."""
    pairs = sorted({(e.text[:LONGEST], e.label) for e in examples})
    vectors = embedder().embed([text for text, _ in pairs])
    model = LinearSVC(C=2.0).fit(vectors, [label for _, label in pairs])
    order = [list(model.classes_).index(label) for label in labels]
    share = SHARPNESS * MEANING_SHARE
    return share * model.coef_.T[:, order], share * model.intercept_[order]


def save_model(path: Path, names: Sequence[str], labels: Sequence[str], weights: Any, bias: Any) -> None:
    """weights: float, features x labels; as `load_model` reads it."""
    save_weights(path, weights, bias, features=np.array("\n".join(names)), labels=np.array("\n".join(labels)))


def score_blind(files: Sequence[Path], names: Sequence[str], wrong: bool) -> None:
    """For each file named (none: all): fitted on the others, how many sentences are read right (act; act and topic)."""
    learnt, made = {path: read_file(path, 1) for path in files}, made_examples()
    for path in (path for path in files if not names or path.stem in names):
        features, labels, weights, bias = fit([*made, *(e for other in files if other != path for e in learnt[other])])
        model = LinearModel(
            {n: i for i, n in enumerate(features)}, labels, weights.ravel().tolist(), [1.0] * len(labels), bias.tolist()
        )
        acts = whole = 0
        cases = read_file(path, 0)
        for case in cases:
            got = model.probabilities(case.features)[0][0]
            whole += got in case.right
            acts += got.partition("/")[0] in {right.partition("/")[0] for right in case.right}
            if wrong and got not in case.right:
                print(f"  {path.stem}: {case.text[:80]!r}: {case.label}, got {got}")
        share = 100 / len(cases)
        print(f"{path.stem}: acts {acts * share:.1f}, with topics {whole * share:.1f} of {len(cases)}")


def main() -> None:
    """Refit, or score blind."""
    parser = argparse.ArgumentParser(description="Refit the reader of acts and topics.")
    parser.add_argument(
        "--blind", nargs="*", metavar="NAME", help="hold out each file (or those named) in turn: its score"
    )
    parser.add_argument("--wrong", action="store_true", help="with --blind: each sentence that was read wrong")
    options = parser.parse_args()
    files = sorted((DATA / "sentences").glob("*.jsonl"))
    if options.blind is not None:
        return score_blind(files, options.blind, options.wrong)
    examples = [*made_examples(), *(e for path in files for e in read_file(path, 1))]
    names, labels, weights, bias = fit(examples)
    save_model(WEIGHTS, names, labels, weights, bias)
    save_weights(MEANING, *fit_meaning(examples, labels))
    print(f"{WEIGHTS.name}: {len(names)} features, {len(labels)} labels, {WEIGHTS.stat().st_size / 1e6:.2f} MB")
    return None


if __name__ == "__main__":
    main()
