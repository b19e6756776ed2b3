"""Write, check, mend, and again after a failure: what a conversation does with findings and with a pasted log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from graph.build import build
from graph.checkpoints import Checkpoints
from graph.context import Context
from graph.state import State, new_turn
from knowledge.cluster import Cluster
from knowledge.types import Diagnosis, Finding, Made, Said, Say
from templates.library import Library

Talk = Callable[[str], Sequence[Said]]
ASK = "pytorch ddp on perlmutter, 4 nodes, account m1234_g, 1 hour"
TIME = "step 10\nslurmstepd: error: *** JOB 77 ON nid000012 CANCELLED AT 2026-11-20T10:00:00 DUE TO TIME LIMIT ***\n"
MEMORY = (
    "[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 2 has a total capacity of "
    "39.39 GiB of which 900.00 MiB is free.\n"
)


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    turns, context = iter(range(100)), Context(library=Library(folder=tmp_path / "templates"))

    def say(text: str) -> Sequence[Said]:
        graph = build(Checkpoints(tmp_path / "c.sqlite"))
        config = {"configurable": {"thread_id": "t"}}
        state: State = graph.invoke(new_turn(next(turns), text), config, context=context, durability="exit")
        return state["said"]

    return say


def made(said: Sequence[Said]) -> Made:
    return next(part for part in said if isinstance(part, Made))


def test_a_script_says_what_was_checked_and_what_was_not(talk: Talk) -> None:
    notes = " ".join(made(talk(ASK)).notes)
    assert "Checked against Perlmutter's facts: nothing found. Not proved:" in notes


def test_more_time_is_offered_with_its_price_and_done_on_a_yes(talk: Talk) -> None:
    talk(ASK)
    said = talk(TIME)
    assert isinstance(said[0], Diagnosis) and said[0].cause == "sched-time-limit"
    assert not any(isinstance(part, Made) for part in said)
    assert "8 node hours instead of 4" in said[1].text
    assert "+#SBATCH --time=02:00:00" in made(talk("yes")).diff
    talk(TIME)
    assert "+#SBATCH --time=04:00:00" in made(talk("yes please")).diff


def test_a_full_gpu_gives_way_to_sharding_then_to_more_nodes(talk: Talk) -> None:
    talk(ASK)
    said = talk(MEMORY)
    assert any(isinstance(part, Say) and "has to be written for fsdp" in part.text for part in said)
    assert "strategy: ddp → fsdp" in made(talk("1")).changes
    assert "8 nodes instead of 4" in talk(MEMORY)[1].text
    assert "nodes: 4 → 8" in made(talk("yes")).changes


def test_a_question_about_a_failure_changes_nothing(talk: Talk) -> None:
    talk(ASK)
    talk(MEMORY)
    for question in ("why did it fail?", "why did it fail?", "does that cost more?"):
        assert not any(isinstance(part, Made) for part in talk(question))


def test_what_was_declined_is_not_done_by_a_later_yes(talk: Talk) -> None:
    talk(ASK)
    talk(MEMORY)
    talk("no")
    said = talk("yes")
    assert not any(isinstance(part, Made) for part in said)


def test_a_log_without_a_script_is_only_diagnosed(talk: Talk) -> None:
    said = talk(TIME)
    assert [type(part) for part in said] == [Diagnosis, Say]
    assert "script" in said[1].text


def finding(nodes: int) -> Finding:
    return Finding("made-up", "error", 1, "Too many nodes.", "A test wants it.", None, (("nodes", nodes),))


def test_a_finding_with_a_cure_is_cured(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    found = "graph.usecases.write_script.check"
    monkeypatch.setattr(found, lambda text, _: [finding(2)] if "--nodes=4" in text else [])
    script = made(talk(ASK))
    assert "#SBATCH --nodes=2" in script.bundle.script
    assert "nothing found" in " ".join(script.notes)


def test_at_most_five_scripts_are_written(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def never_content(text: str, cluster: Cluster) -> list[Finding]:
        seen.append(text)
        return [finding(10 + len(seen))]

    monkeypatch.setattr("graph.usecases.write_script.check", never_content)
    script = made(talk(ASK))
    assert len(seen) == 5
    assert "Check, line 1: Too many nodes." in " ".join(script.notes)
