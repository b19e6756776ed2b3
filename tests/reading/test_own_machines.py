"""Which machines a person says are theirs; questions and wishes say nothing of the kind."""

from __future__ import annotations

import pytest

from graph.reading.own_machines import the_rest, told_machines
from graph.reading.reader import read_utterance
from graph.reading.utterance import ThreadView

BEFORE = ("lumi", "delta")


@pytest.mark.parametrize(
    ("text", "machines"),
    [
        ("I have access to perlmutter and delta", ("perlmutter", "delta")),
        ("we have allocations on Frontier, Polaris and Aurora.", ("frontier", "polaris", "aurora")),
        ("i can only use vista", ("vista",)),
        (
            "i have time on perlmutter (4000 node hours), frontier (20k) and delta. where should it go?",
            ("perlmutter", "frontier", "delta"),
        ),
        ("My machines are leonardo / lumi", ("leonardo", "lumi")),
        ("i also have access to vista", ("lumi", "delta", "vista")),
        ("we have accounts on vista too", ("lumi", "delta", "vista")),
        ("I no longer have access to Delta", ("lumi",)),
        ("forget my machines", ()),
        ("do i have access to aurora?", None),
        ("can I use delta for this?", None),
        ("train.py with FSDP on Delta, 2 nodes", None),
        ("how do I get access to Perlmutter?", None),
        ("my job on delta ran out of memory", None),
    ],
)
def test_what_is_theirs(text: str, machines: tuple[str, ...] | None) -> None:
    assert told_machines(read_utterance(text, ThreadView()), BEFORE) == machines


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("I have access to perlmutter and delta", ""),
        ("i also have access to vista, thanks", ""),
        ("I have access to vista. Which one for a 7B model?", "Which one for a 7B model?"),
    ],
)
def test_what_else_is_said(text: str, rest: str) -> None:
    assert the_rest(read_utterance(text, ThreadView())) == rest
