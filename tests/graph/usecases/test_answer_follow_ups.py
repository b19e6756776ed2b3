"""Machines side by side, and all of them."""

from __future__ import annotations

from graph.answering.ask import Ask
from graph.answering.machines_known import compare_machines, list_machines
from graph.reading.mentions import find_mentions
from graph.reading.utterance import Clause, Utterance
from knowledge.catalogue import catalogue
from knowledge.document import Document


def ask(text: str, **more: object) -> Ask:
    clause = Clause(0, len(text), text, "ask", "", 0.3)
    return Ask(clause, Utterance(text, find_mentions(text)[1], (clause,)), **more)  # type: ignore[arg-type]


def words(document: Document | None) -> str:
    return "\n".join(getattr(part, "text", "") for part in document.parts) if document else ""


def test_machines_are_set_side_by_side() -> None:
    told = words(compare_machines(ask("leonardo or lumi, which is faster to start?")))
    assert "I cannot see from here" in told and "**Leonardo** (Slurm): 4 x A100" in told and "LUMI holds" in told
    assert compare_machines(ask("is lumi good?")) is None


def test_all_machines_are_listed() -> None:
    told = words(list_machines(ask("which clusters do you know?")))
    assert all(one.title in told for one in catalogue().clusters.values())
