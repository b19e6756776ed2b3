"""Refits the tagger of wishes: reads tests/reading/wishes/*.txt and writes graph/reading/wishes/tagger.npz.

    python -m graph.reading.wishes.train [--blind [NAME ...]] [--wrong] [--data FOLDER]

With `--blind` it fits on all files but one, for each in turn, and prints what of that one it reads right. The chain is
fitted by its likelihood (AdaGrad over batches, forward and backward in NumPy), the two linear models by scikit-learn.
"""

from __future__ import annotations

import argparse
import os
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the products are small: threads wait for each other

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from graph.reading.mentions import find_mentions
from graph.reading.wishes.corpus import AnnotatedLine, Mark, labels_of, read_lines
from graph.reading.wishes.features import kind_features, sign_features, token_features
from graph.reading.wishes.tagger import WEIGHTS, Span, Tagger, Weights, Wishes
from graph.reading.wishes.tokens import find_tokens
from knowledge.word_lists import word_set

DATA = Path(__file__).parents[3] / "tests" / "reading" / "wishes"
EPOCHS = 4
BATCH = 48  # lines whose gradient is one step
RATE = 0.35  # AdaGrad's
DECAY = 2e-6  # how much of a weight goes with each step that touches it
FEWEST = 4  # times that a feature is seen, else it is left out
DROPPED = 0.4  # share of the features that a step does not see, so that no wording decides by itself
SHORT, JOINED = 70, 0.35  # letters of a line that is told beside another, and how many lines have one
NEVER = -30.0  # of a transition that may not be
MOST_FEATURES = 40_000  # of a model that are stored, the strongest
FAINT = 3  # a stored weight (-127 to 127) nearer to zero is none
# Slots whose values may stand in each other's sentences.
SWAPPED = word_set(
    "machine source_machine nodes gpus_per_node total_gpus walltime queue account model entry job_name output "
    "error_output memory cpus tasks_per_node reservation constraint nodelist exclude begin array array_count "
    "array_at_once chain after_ok after_any after_fail after_start mail_to conda venv uv module container edf "
    "bind source_file var var_value stage_in arg arg_value sweep_value framework_config make_folder copy_out "
    "port spare_nodes least_nodes tp pp cp micro_batch global_batch grad_acc seq_len was given arg_name "
    "sweep_name then beside"
)
# What each file of lines knows of its thread.
THREADS: Mapping[str, tuple[str, ...]] = {"edits": ("stands",), "requests": ("first",)}


@dataclass(frozen=True, slots=True)
class TaggedExample:
    """One line as the models see it."""

    line: AnnotatedLine
    features: list[list[str]]
    labels: list[str]


def make_example(line: AnnotatedLine, thread: Sequence[str]) -> TaggedExample:
    """The line with the features and the label of each token."""
    tokens = find_tokens(line.text)
    features = token_features(line.text, tokens, find_mentions(line.text)[1], thread)
    return TaggedExample(line, features, list(labels_of(tokens, line.marks)))


def varied(lines: Sequence[AnnotatedLine]) -> Iterator[AnnotatedLine]:
    """Each line once more: other values of the same slots, other case, less punctuation, a slip of the finger, and
    beside it what people tell or wish in the same breath."""
    values = defaultdict[tuple[str, str], list[str]](list)
    for line in lines:
        for mark in line.marks:
            if mark.slot in SWAPPED:
                values[mark.slot, mark.sign].append(line.text[mark.start : mark.end])
    short = [line for line in lines if line.kind != "ask" and len(line.text) < SHORT]
    for line in lines:
        source = random.Random(line.text)
        other = _slipped(_with_values(line, values, source), source)
        joined = line.kind == "do" and source.random() < JOINED
        yield _joined(other, source.choice(short or lines), source) if joined else other


def _joined(line: AnnotatedLine, other: AnnotatedLine, source: random.Random) -> AnnotatedLine:
    """Two lines as one message, in either order."""
    first, then = (line, other) if source.random() < 0.6 else (other, line)
    text = first.text.rstrip(".!? ") + source.choice((", ", ". ", "; ", " - ", " and ", ", so "))
    moved = (replace(mark, start=mark.start + len(text), end=mark.end + len(text)) for mark in then.marks)
    kept = tuple(mark for mark in first.marks if mark.end <= len(text))
    return AnnotatedLine("do", text + then.text, (*kept, *moved))


def _with_values(
    line: AnnotatedLine, values: Mapping[tuple[str, str], Sequence[str]], source: random.Random
) -> AnnotatedLine:
    pieces, marks, at, length = list[str](), list[Mark](), 0, 0
    for mark in line.marks:
        words = line.text[mark.start : mark.end]
        if mark.slot in SWAPPED and mark.sign == "" and source.random() < 0.6:
            words = source.choice(values[mark.slot, mark.sign])
        pieces += [line.text[at : mark.start], words]
        start = length + mark.start - at
        length, at = start + len(words), mark.end
        marks.append(replace(mark, start=start, end=length))
    return AnnotatedLine(line.kind, "".join([*pieces, line.text[at:]]), tuple(marks))


def _slipped(line: AnnotatedLine, source: random.Random) -> AnnotatedLine:
    """The line in lower case, without its last sign, or with two letters of a plain word exchanged."""
    text = line.text
    if source.random() < 0.3:
        lower = text.lower()
        text = lower if len(lower) == len(text) else text
    if source.random() < 0.3 and text[-1:] in ".!" and not any(mark.end == len(text) for mark in line.marks):
        text = text[:-1]
    if source.random() < 0.35:
        words = [m for m in re.finditer(r"[^\W\d_]{4,}", text) if not _in_mark(m.start(), m.end(), line.marks)]
        if words:
            word = source.choice(words)
            at = source.randrange(word.start(), word.end() - 1)
            text = text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return replace(line, text=text)


def _in_mark(start: int, end: int, marks: Sequence[Mark]) -> bool:
    return any(start < mark.end and mark.start < end for mark in marks)


def fit_chain(examples: Sequence[TaggedExample]) -> tuple[Weights, Any]:
    """The weights of the chain and its transitions."""
    counts = Counter(name for e in examples for token in e.features for name in set(token))
    index = {name: i for i, name in enumerate(sorted(name for name, n in counts.items() if n >= FEWEST))}
    labels = ("O", *sorted({label for e in examples for label in e.labels} - {"O"}))
    code = {label: i for i, label in enumerate(labels)}
    table, moves = np.zeros((len(index), len(labels)), np.float32), np.zeros((len(labels), len(labels)), np.float32)
    steps = [np.full(one.shape, 1e-2, np.float32) for one in (table, moves)]
    barred = _barred(labels)
    rows = [_matrix(e.features, index) for e in examples]
    gold = [np.array([code[label] for label in e.labels]) for e in examples]
    order, source, drops = [i for i in range(len(examples)) if len(gold[i])], random.Random(1), np.random.default_rng(1)
    for _ in range(EPOCHS):
        source.shuffle(order)
        # Lines of a length stand together, so that a batch has no empty places; batches come in any order.
        parts = [order[i : i + 40 * BATCH] for i in range(0, len(order), 40 * BATCH)]
        batches = [
            ranked[i : i + BATCH]
            for part in parts
            for ranked in [sorted(part, key=lambda n: len(gold[n]))]
            for i in range(0, len(ranked), BATCH)
        ]
        source.shuffle(batches)
        for batch in batches:
            _step(table, moves, steps, barred, [rows[i] for i in batch], [gold[i] for i in batch], drops)
    return Weights(index, labels, table), moves + barred


def _barred(labels: Sequence[str]) -> Any:
    """NEVER where a label may not follow another: I-slot only behind B-slot or I-slot."""
    out = np.zeros((len(labels), len(labels)), np.float32)
    for j, label in enumerate(labels):
        if label[0] == "I":
            out[:, j] = [0 if before[2:] == label[2:] and before != "O" else NEVER for before in labels]
    return out


def _matrix(features: Sequence[Sequence[str]], index: Mapping[str, int]) -> Any:
    columns = [sorted({index[name] for name in token if name in index}) for token in features]
    ends = np.cumsum([0, *map(len, columns)])
    flat = np.array([c for one in columns for c in one], dtype=np.int64)
    return csr_matrix((np.ones(len(flat), np.float32), flat, ends), shape=(len(columns), len(index)))


def _step(
    table: Any, moves: Any, steps: list[Any], barred: Any, rows: Sequence[Any], gold: Sequence[Any], source: Any
) -> None:
    """One step of AdaGrad on a batch of lines; changes table, moves and steps (the sums of squares)."""
    from scipy.sparse import vstack

    matrix = vstack(rows, format="csr")
    matrix.data *= (source.random(len(matrix.data), dtype=np.float32) >= DROPPED) / np.float32(1 - DROPPED)
    used, columns = np.unique(matrix.indices, return_inverse=True)
    small = csr_matrix((matrix.data, columns, matrix.indptr), shape=(matrix.shape[0], len(used)))
    weights = table[used]
    scores = small @ weights
    wrong, turns = _expected(scores, moves + barred, [len(one) for one in gold])
    wrong[np.arange(len(wrong)), np.concatenate(gold)] -= 1
    for one in gold:
        np.add.at(turns, (one[:-1], one[1:]), -1)
    change = (small.T @ wrong) / len(gold) + DECAY * weights
    sums = steps[0][used] + change**2
    steps[0][used] = sums
    table[used] = weights - RATE * change / np.sqrt(sums)
    turns = turns / len(gold) + DECAY * moves
    steps[1] += turns**2
    moves -= RATE * turns / np.sqrt(steps[1])


def _expected(scores: Any, transitions: Any, lengths: Sequence[int]) -> tuple[Any, Any]:
    """The probability of each label at each token, and of each transition over all lines (tokens behind each other)."""
    width, longest, count = scores.shape[1], max(lengths), len(lengths)
    starts = np.cumsum([0, *lengths[:-1]])
    local = np.ones((longest, count, width), np.float32)
    there = np.zeros((longest, count), bool)
    for n, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        there[:length, n] = True
        local[:length, n] = np.exp(
            scores[start : start + length] - scores[start : start + length].max(1, keepdims=True)
        )
    exp = np.exp(transitions)
    ahead, behind = np.empty_like(local), np.ones_like(local)
    ahead[0] = local[0] / local[0].sum(1, keepdims=True)
    for t in range(1, longest):
        now = (ahead[t - 1] @ exp) * local[t]
        ahead[t] = np.where(there[t][:, None], now / now.sum(1, keepdims=True), ahead[t - 1])
    for t in range(longest - 2, -1, -1):
        now = (behind[t + 1] * local[t + 1]) @ exp.T
        behind[t] = np.where(there[t + 1][:, None], now / now.sum(1, keepdims=True), 1.0)
    both = ahead * behind
    both /= both.sum(2, keepdims=True)
    turns = np.zeros((width, width), np.float32)
    for t in range(longest - 1):
        live = there[t + 1]
        right = (behind[t + 1] * local[t + 1])[live]
        left = ahead[t][live]
        norm = ((left @ exp) * right).sum(1, keepdims=True)
        turns += (left / norm).T @ right
    out = np.concatenate([both[:length, n] for n, length in enumerate(lengths)])
    return out, turns * exp


def fit_linear(rows: Sequence[Sequence[str]], labels: Sequence[str], strength: float = 4.0) -> Weights:
    """A linear model with probabilities."""
    counts = Counter(name for row in rows for name in set(row))
    index = {name: i for i, name in enumerate(sorted(name for name, n in counts.items() if n >= FEWEST))}
    model = LogisticRegression(C=strength, max_iter=400, fit_intercept=False).fit(_matrix(rows, index), list(labels))
    table = model.coef_.T if len(model.classes_) > 2 else np.hstack([-model.coef_.T / 2, model.coef_.T / 2])
    return Weights(index, tuple(model.classes_), table.astype(np.float32))


def fit(files: Mapping[str, Sequence[AnnotatedLine]]) -> Tagger:
    """A tagger of the lines of these files, by their names."""
    examples = [
        make_example(line, thread)
        for name, lines in files.items()
        for own in [THREADS.get(name, ())]
        for line, thread in (*((one, own) for one in lines), *((one, ()) for one in varied(lines)))
    ]
    chain, transitions = fit_chain(examples)
    marked = [(e, *one) for e in examples for one in _marked_tokens(e)]
    signs = fit_linear(
        [sign_features(find_tokens(e.line.text), first, last, mark.slot) for e, mark, first, last in marked],
        [f"={mark.sign}" for _, mark, _, _ in marked],
    )
    told = [kind_features(e.line.text, find_tokens(e.line.text)) for e in examples]
    kinds = fit_linear(told, [e.line.kind for e in examples])
    return Tagger(chain, signs, kinds, transitions)


def _marked_tokens(example: TaggedExample) -> Iterator[tuple[Mark, int, int]]:
    tokens = find_tokens(example.line.text)
    for mark in example.line.marks:
        inside = [i for i, token in enumerate(tokens) if token.start < mark.end and mark.start < token.end]
        if inside:
            yield mark, inside[0], inside[-1]


def save(path: Path, model: Tagger) -> None:
    """The tagger as `load_tagger` reads it."""
    stored: dict[str, Any] = {"transitions": model.transitions.astype(np.float16), "heat": np.float32(model.heat)}
    for name in ("slots", "signs", "kinds"):
        part: Weights = getattr(model, name)
        scale = np.maximum(np.abs(part.table).max(axis=0), 1e-9) / 127
        whole = np.round(part.table / scale).astype(np.int8)
        whole[np.abs(whole) < FAINT] = 0
        strength = np.abs(part.table).max(axis=1)
        least = np.sort(strength)[-MOST_FEATURES] if len(strength) > MOST_FEATURES else 0
        kept = (np.abs(whole).max(axis=1) > 0) & (strength >= least)
        names = [one for one, row in sorted(part.index.items(), key=lambda pair: pair[1]) if kept[row]]
        stored[f"{name}_features"] = np.array("\n".join(names))
        stored[f"{name}_labels"] = np.array("\n".join(part.labels))
        stored[f"{name}_weights"], stored[f"{name}_scale"] = whole[kept], scale.astype(np.float32)
    np.savez_compressed(path, **stored)


@dataclass(slots=True)
class Score:
    """What was read right of one file; slots: slot -> (right, read, meant)."""

    lines: int = 0
    whole: int = 0
    kinds: int = 0
    slots: dict[str, list[int]] | None = None

    def add(self, line: AnnotatedLine, got: Wishes) -> bool:
        """Count one line; whether its spans are all right."""
        meant = {(mark.start, mark.end, mark.slot, mark.sign) for mark in line.marks}
        read = {(span.start, span.end, span.slot, span.sign) for span in got.spans}
        self.slots = self.slots or {}
        for which, spans in enumerate((meant & read, read, meant)):
            for one in spans:
                self.slots.setdefault(one[2], [0, 0, 0])[which] += 1
        self.lines += 1
        self.whole += meant == read
        self.kinds += line.kind == got.kind
        return meant == read

    def told(self) -> str:
        """F1 over spans, lines with all spans right, kinds right, in percent."""
        right, read, meant = (sum(one[i] for one in (self.slots or {}).values()) for i in range(3))
        share = 100 / max(self.lines, 1)
        return (
            f"F1 {200 * right / max(read + meant, 1):.1f}, whole lines {self.whole * share:.1f}, "
            f"kind {self.kinds * share:.1f} of {self.lines}"
        )


def score_blind(files: Mapping[str, Sequence[AnnotatedLine]], names: Sequence[str], wrong: bool) -> None:
    """For each file named (none: all): fitted on the others, what of it is read right."""
    whole = Score()
    for name, lines in files.items():
        if names and name not in names:
            continue
        model, own = fit({other: rest for other, rest in files.items() if other != name}), Score()
        for line in lines:
            got = model.read(line.text, find_mentions(line.text)[1], THREADS.get(name, ()))
            own.add(line, got)
            if not whole.add(line, got) and wrong:
                print(f"  {line.kind}/{got.kind} {line.text}\n      {_differences(line, got.spans)}")
        print(f"{name}: {own.told()}", flush=True)
    for slot, (right, read, meant) in sorted((whole.slots or {}).items(), key=lambda one: -one[1][2]):
        print(f"  {slot}: F1 {200 * right / max(read + meant, 1):.0f} ({right} right, {read} read, {meant} meant)")
    print(whole.told())


def _differences(line: AnnotatedLine, spans: Iterable[Span]) -> str:
    meant = {(m.start, m.end, m.slot, m.sign) for m in line.marks}
    read = {(s.start, s.end, s.slot, s.sign): s.sure for s in spans}
    lost = [f"-[{slot}{sign}:{line.text[a:b]}]" for a, b, slot, sign in sorted(meant - read.keys())]
    more = [
        f"+[{slot}{sign}:{line.text[a:b]} {read[a, b, slot, sign]:.2f}]"
        for a, b, slot, sign in sorted(read.keys() - meant)
    ]
    return " ".join([*lost, *more])


def main() -> None:
    """Refit, or score blind."""
    parser = argparse.ArgumentParser(description="Refit the tagger of wishes.")
    parser.add_argument("--blind", nargs="*", metavar="NAME", help="hold out each file (or those named) in turn")
    parser.add_argument("--wrong", action="store_true", help="with --blind: each line that was read wrong")
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER", help="the annotated lines")
    options = parser.parse_args()
    files = {path.stem: read_lines(path) for path in sorted(options.data.glob("*.txt"))}
    if options.blind is not None:
        return score_blind(files, options.blind, options.wrong)
    model = fit(files)
    save(WEIGHTS, model)
    labels, size = len(model.slots.labels), WEIGHTS.stat().st_size / 1e6
    print(f"{WEIGHTS.name}: {len(model.slots.index)} features, {labels} labels, {size:.2f} MB")
    return None


if __name__ == "__main__":
    main()
