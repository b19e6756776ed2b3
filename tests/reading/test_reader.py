"""One message becomes one Utterance: its mentions with their values, its clauses in order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graph.reading.classifier import WEIGHTS, act_model, load_model
from graph.reading.edits import Add, Remove, Scale, Set, Undo, apply_edits
from graph.reading.reader import acts, read_utterance
from graph.reading.train import save_model
from graph.reading.utterance import ThreadView
from knowledge.types import JobRequest


def test_mentions_carry_kind_value_and_place() -> None:
    words = "on perlmutter run job 7712045 with --lr=3e-4 for 1-12:00:00 on 16 nodes, rank 3 said line 40 of train.py"
    found = {m.kind: m for m in read_utterance(words, ThreadView()).mentions}
    assert found["Machine"].value == "perlmutter"
    assert found["JobId"].value == "7712045"
    assert found["Option"].value == "--lr=3e-4"
    assert found["Duration"].value == 129600
    assert (found["Quantity"].value, found["Quantity"].unit) == (16, "node")
    assert found["Rank"].value == 3
    assert found["LineNumber"].value == 40
    assert found["Path"].value == "train.py"
    assert all(words[m.start : m.end] == m.text for m in found.values())


def test_clauses_part_at_stops_and_before_joined_questions() -> None:
    words = "Set 6h. what does it cost and how do I submit it?"
    clauses = read_utterance(words, ThreadView()).clauses
    assert [c.text for c in clauses] == ["Set 6h.", "what does it cost", "and how do I submit it?"]


def test_a_message_has_always_a_clause() -> None:
    for words in ("", "  ", "?", "\n\n", "🙂"):
        assert len(read_utterance(words, ThreadView()).clauses) == 1


def test_each_act_and_topic_says_what_it_is() -> None:
    for table in acts().values():
        assert all(entry["says"] and len(entry["examples"]) == 2 for entry in table.values())


def test_edits_apply_in_order_and_leave_what_has_no_place() -> None:
    request = JobRequest(nodes=4, walltime="02:00:00", setup=("a",))
    edits = [
        Scale("nodes", 0.5),
        Scale("walltime", 1.5),
        Add("setup", "b"),
        Remove("setup", "a"),
        Set("colour", 1),
        Undo(),
    ]
    applied = apply_edits(request, edits)
    assert (applied.request.nodes, applied.request.walltime, applied.request.setup) == (2, "03:00:00", ("b",))
    assert applied.changes == (
        ("nodes", 4, 2),
        ("setup", ("a",), ("b",)),
        ("walltime", "02:00:00", "03:00:00"),
    )
    assert applied.left == (Set("colour", 1), Undo())


def read_label(words: str, **thread: Any) -> str:
    return read_utterance(words, ThreadView(**thread)).main.label


def test_acts_and_topics_are_told_apart() -> None:
    assert read_label("how do I cancel it?", has_script=True, last_act="write") == "ask/job.cancel"
    assert read_label("undo", has_script=True) == "undo"
    assert read_label("thanks a lot!") == "chat"
    assert read_label("what is a node?") == "ask/concept"


def test_the_thread_decides_what_an_elliptic_message_means() -> None:
    assert read_label("and 4?", has_script=True, last_act="edit", last_field="nodes") == "edit"
    assert read_label("and on Frontier?", last_act="ask", last_topic="site.internet") == "ask/site.internet"
    assert read_label("4", asked="nodes") == "reply"


def test_each_training_sentence_has_a_known_label() -> None:
    known = {*acts()["acts"], *(f"ask/{topic}" for topic in acts()["topics"])}
    for path in (Path(__file__).parent / "sentences").glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            assert {row["label"], *row.get("also", ())} <= known, row


def test_the_shipped_weights_know_every_label_of_the_sentences() -> None:
    assert set(act_model().labels) <= {*acts()["acts"], *(f"ask/{topic}" for topic in acts()["topics"])}
    assert WEIGHTS.stat().st_size < 2_000_000


def test_a_model_is_read_as_it_was_stored(tmp_path: Path) -> None:
    weights = np.array([[0.0, 2.0, -1.27], [1.0, -2.0, 0.5]])
    save_model(tmp_path / "m.npz", ("word=warum", "word=größe"), ("ask", "write", "chat"), weights, [0.5, 0.0, -0.5])
    model = load_model(tmp_path / "m.npz")
    told = model.logits(["word=größe", "word=warum", "word=unknown"])
    assert told == pytest.approx([0.5 + 1 / 3**0.5, 0.0, -0.5 + (0.5 - 1.27) / 3**0.5], abs=0.01)
    assert [label for label, _ in model.probabilities(["word=größe"])] == ["ask", "chat", "write"]
    assert sum(share for _, share in model.probabilities([])) == pytest.approx(1)


def test_a_clause_ends_at_a_stop_behind_a_name_with_a_digit_and_not_inside_brackets() -> None:
    def clauses(words: str) -> list[str]:
        return [one.text for one in read_utterance(words, ThreadView()).clauses]

    assert clauses("add --precision fp16. would it be faster") == ["add --precision fp16.", "would it be faster"]
    assert clauses("it died (epoch 3) and i did --mem=60g") == ["it died (epoch 3) and i did --mem=60g"]
