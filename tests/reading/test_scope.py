"""What is denied, told, supposed or said by others sets nothing, for every reader of wishes."""

from __future__ import annotations

import pytest

from graph.extraction.request import understand
from graph.reading.scope import denials, stretches, wanted
from knowledge.types import JobRequest

STANDS = JobRequest(machine="delta", strategy="fsdp", nodes=2, entry="train.py", args="--lr 1e-3", framework="pytorch")


@pytest.mark.parametrize(
    ("text", "scope", "piece"),
    [
        ("8 nodes, but don't touch the queue", "negated", "don't touch the queue"),
        ("kein --exclusive bitte", "negated", "kein --exclusive bitte"),
        ("die Queue nicht ändern, nur 4 Knoten", "negated", "die Queue nicht ändern"),
        ("no quites la cola", "negated", "no quites la cola"),
        ("my boss wants 8 nodes, but I think 4 will do", "others", "my boss wants 8 nodes,"),
        ("the docs say use --x. what is it?", "others", "the docs say use --x"),
        ("if I went to 32 nodes would it start?", "hypothetical", "if I went to 32 nodes would it start"),
        ("we had 4 nodes, now 8", "past", "we had 4 nodes"),
    ],
)
def test_a_stretch_has_its_scope(text: str, scope: str, piece: str) -> None:
    assert (scope, piece) in [(one.scope, one.text) for one in stretches(text)]


@pytest.mark.parametrize(
    "text", ["don't forget to requeue", "no, 4 nodes", "not before 2030-01-01", "if a node fails requeue it", "no wait"]
)
def test_what_only_looks_like_a_denial_is_wanted(text: str) -> None:
    assert wanted(text) == text


def test_a_denial_that_keeps_is_told_from_one_that_does_without() -> None:
    assert [one.keeps for one in denials("don't change the time; no mail")] == [True, False]


@pytest.mark.parametrize(
    "text",
    [
        "don't add --exclusive",
        "don't run it in exclusive mode",
        "my colleague says add --wandb off",
        "a colleague uses the venv /w/venv",
        "don't load the module gcc/12",
        "we tried --seed 3 yesterday",
    ],
)
def test_nothing_is_set_by_it(text: str) -> None:
    assert understand(text, STANDS, None, None).request == STANDS


def test_what_is_denied_and_there_goes() -> None:
    stands = understand("my conda env vit, and exclusive nodes", STANDS, None, None).request
    assert stands.exclusive
    assert not understand("don't use exclusive nodes", stands, None, None).request.exclusive
