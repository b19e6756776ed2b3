"""Requests and dialogues in many wordings: what is read, and what is not made up. New cases are new lines of the files.

requests.jsonl: text, intent, the fields that are said (all others must stay empty), and `alt`: other values that are
right too (null: leaving the field empty). intents.jsonl: text and intent. dialogues.jsonl: turns, each with what was
asked and offered before it, and the fields after it. phrasings.yaml: ways of saying one thing, for any machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from graph.extraction.request import ASKED_FOR, understand
from knowledge.catalogue import catalogue
from knowledge.types import JobRequest

HERE = Path(__file__).parent
FIELDS = (
    *("machine", "source_machine", "framework", "strategy", "nodes", "gpus_per_node", "total_gpus"),
    *("walltime", "model", "entry", "account", "queue"),
)
Case = Mapping[str, Any]


def cases(name: str) -> list[Case]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def plain(field: str, value: str | int | None) -> str | int | None:
    if not isinstance(value, str):
        return value
    value = value.removeprefix("-m ")  # a module
    return re.sub(r"[\s_-]+", "", value.lower()) if field == "model" else value.lower()


def wrong(want: Case, alt: Case, request: JobRequest) -> list[str]:
    """The fields that differ, as text."""
    out = []
    for field in FIELDS:
        got = getattr(request, field)
        right = [want.get(field), *alt.get(field, [])]
        if plain(field, got) not in [plain(field, value) for value in right]:
            out.append(f"{field}: want {want.get(field)!r}, got {got!r}")
    return out


@pytest.mark.parametrize("case", cases("requests.jsonl"), ids=lambda c: c["id"])
def test_a_request(case: Case) -> None:
    alt = case.get("alt", {})
    understood = understand(case["text"], None, None, None)
    assert wrong(case["fields"], alt, understood.request) == []
    assert understood.intent in [case["intent"], *alt.get("intent", [])]
    if understood.intent in ("generate", "port"):
        empty = tuple(f for f in ASKED_FOR if getattr(understood.request, f) is None)
        assert understood.missing == empty


@pytest.mark.parametrize("case", cases("intents.jsonl"), ids=lambda c: c["text"][:40])
def test_an_intent(case: Case) -> None:
    assert understand(case["text"], None, None, None).intent == case["intent"]


@pytest.mark.parametrize("case", cases("dialogues.jsonl"), ids=lambda c: c["id"])
def test_a_dialogue(case: Case) -> None:
    before: JobRequest | None = None
    for turn in case["turns"]:
        understood = understand(turn["text"], before, turn.get("asked"), turn.get("options"))
        assert wrong(turn["fields"], turn.get("alt", {}), understood.request) == [], turn["text"]
        before = understood.request


@pytest.mark.parametrize("case", cases("requests.jsonl"), ids=lambda c: c["id"])
def test_each_value_says_where_it_came_from(case: Case) -> None:
    request = understand(case["text"], None, None, None).request
    filled = {f for f in (*FIELDS, "args", "environment", "container") if getattr(request, f) is not None}
    assert {h.field for h in request.heard} == filled
    assert len(request.heard) == len(filled)
    assert all(h.words and h.origin in ("said", "script") for h in request.heard)


PHRASINGS: Mapping[str, list[str]] = yaml.safe_load((HERE / "phrasings.yaml").read_text(encoding="utf-8"))
MACHINES = sorted(catalogue().clusters)


def spoken(machine: str) -> str:
    """A machine as people call it; a name that is also a word in the languages of the phrasings has its site before."""
    title = re.sub(r"\s*\(.*?\)", "", catalogue().clusters[machine].title)
    return "LLNL Lassen" if machine == "lassen" else title


@pytest.mark.parametrize("phrase", PHRASINGS["port"])
def test_a_move_names_source_and_target(phrase: str) -> None:
    shift = PHRASINGS["port"].index(phrase)
    for step in (1, 5):
        source, target = MACHINES[shift % len(MACHINES)], MACHINES[(shift + step) % len(MACHINES)]
        text = phrase.format(A=spoken(source), B=spoken(target))
        understood = understand(text, None, None, None)
        request = understood.request
        assert (understood.intent, request.source_machine, request.machine) == ("port", source, target), text


@pytest.mark.parametrize("intent", ["question", "diagnose", "generate", "port_one"])
def test_a_phrase_says_what_it_is_for(intent: str) -> None:
    for number, phrase in enumerate(PHRASINGS[intent]):
        machine = MACHINES[number % len(MACHINES)]
        text = phrase.format(A=spoken(machine), B=spoken(machine))
        understood = understand(text, None, None, None)
        assert understood.intent == intent.removesuffix("_one"), text
        assert (understood.request.machine, understood.request.source_machine) == (machine, None), text
