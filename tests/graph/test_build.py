"""Order and choice: what a conversation says, turn by turn. The reading of messages is replaced by a small stand-in."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TypeVar

import pytest

from graph.build import build
from graph.checkpoints import Checkpoints
from graph.context import Context
from graph.reading.mentions import find_mentions
from graph.reading.utterance import Clause, ThreadView, Utterance
from graph.state import State, new_turn
from knowledge.document import Document
from knowledge.types import Diagnosis, Intent, JobRequest, Made, Question, Refusal, Said, Say, Understood
from templates.library import Library
from templates.saved import SavingWish

T = TypeVar("T")
Talk = Callable[..., Sequence[Said]]


def read(
    text: str, before: JobRequest | None, asked: str | None, options: Sequence[str] | None, *, stands: bool = True
) -> Understood:
    """`machine=aurora nodes=4` sets fields; a bare word answers the question; `?` asks; `hi` is small talk."""
    request = before or JobRequest()
    found = dict(re.findall(r"(\w+)=(\S+)", text))
    if asked and (text.isdigit() if asked == "nodes" else text in (options or ())):
        found = {asked: text}
    change = {name: int(value) if value.isdigit() else value for name, value in found.items()}
    # A bare number without a question that it could answer is small talk to the real reader, too.
    intents: dict[str, Intent] = {"1": "smalltalk", "hi": "smalltalk", "Traceback": "diagnose", "job": "generate"}
    kind: Intent = "question" if text.endswith("?") else intents.get(text.split(" ")[0], "other")
    return Understood("generate" if change else kind, replace(request, **change))  # type: ignore[arg-type]


def utter(words: str, view: ThreadView) -> Utterance:
    """The same reading as acts."""
    acts = {"generate": "edit", "smalltalk": "chat", "question": "ask", "diagnose": "diagnose", "other": "reply"}
    act = acts[read(words, None, view.asked, view.options).intent]
    topic = "site.hardware" if "GPUs" in words else ""
    return Utterance(words, find_mentions(words)[1], (Clause(0, len(words), words, act, topic),))


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Talk:
    """Say something on the thread and get what is said; the graph is built anew each time, as after a restart."""
    monkeypatch.setattr("graph.conversation.words.read", read)
    monkeypatch.setattr("graph.conversation.turn.read_utterance", utter)
    turns, context = iter(range(1000)), Context(library=Library(folder=tmp_path / "templates"))

    def say(text: str) -> Sequence[Said]:
        graph = build(Checkpoints(tmp_path / "c.sqlite"))
        config = {"configurable": {"thread_id": "t"}}
        state: State = graph.invoke(new_turn(next(turns), text), config, context=context, durability="exit")
        return state["said"]

    return say


def only(said: Sequence[Said], kind: type[T]) -> T:
    found = [part for part in said if isinstance(part, kind)]
    assert len(found) == 1, said
    return found[0]


def test_asks_one_thing_at_a_time_the_most_telling_first(talk: Talk) -> None:
    asked = [only(talk(text), Question).field for text in ("job", "perlmutter", "pytorch", "fsdp")]
    assert asked == ["machine", "framework", "strategy", "nodes"]
    made = only(talk("4"), Made)
    assert "--nodes=4" in made.bundle.script
    assert not made.changes and not made.diff


def test_what_the_message_says_is_not_asked(talk: Talk) -> None:
    assert only(talk("strategy=ddp nodes=2"), Question).field == "machine"
    assert only(talk("lonestar6"), Made)


def test_a_question_in_between_is_answered_and_the_open_one_comes_again(talk: Talk) -> None:
    asked = only(talk("machine=perlmutter strategy=fsdp"), Question)
    said = talk("how many GPUs does a node have?")
    assert isinstance(said[0], Document) and "A100" in str(said[0])
    assert isinstance(said[-1], Question) and said[-1].text == asked.text
    assert only(talk("2"), Made)


def test_what_the_facts_do_not_say_is_not_guessed(talk: Talk) -> None:
    said = only(talk("what is the capital of Peru?"), Say).text
    assert "*what is the capital of Peru?*" in said and "do not guess" in said


def test_small_talk_gets_a_line_and_the_open_question(talk: Talk) -> None:
    talk("machine=perlmutter strategy=fsdp")
    assert [type(part) for part in talk("hi")] == [Say, Question]


def test_an_answer_that_cannot_be_read_is_said_to_be_one(talk: Talk) -> None:
    asked = only(talk("machine=perlmutter"), Question)
    said = talk("banana")
    assert "a framework in *banana*" in only(said, Say).text
    assert said[-1] == asked


def test_a_choice_left_to_us_is_taken_and_shown_as_assumed(talk: Talk) -> None:
    talk("machine=perlmutter framework=pytorch")
    made = only(talk("you choose"), Made)
    assert ("strategy", "ddp") in [(a.field, a.value) for a in made.assumptions]


def test_a_choice_that_was_overruled_is_no_longer_ours(talk: Talk) -> None:
    talk("machine=perlmutter framework=pytorch")
    talk("you choose")
    made = only(talk("strategy=fsdp"), Made)
    assert "strategy" not in [a.field for a in made.assumptions]


def test_a_correction_gives_the_new_script_and_what_changed(talk: Talk) -> None:
    talk("machine=perlmutter strategy=fsdp nodes=4")
    made = only(talk("nodes=8 account=m1234"), Made)
    assert made.changes == ("nodes: 4 → 8", "account: YOUR_ACCOUNT_g → m1234")
    assert "-#SBATCH --nodes=4" in made.diff and "+#SBATCH --nodes=8" in made.diff


def test_what_was_assumed_is_not_said_again_but_for_the_placeholder(talk: Talk) -> None:
    first = only(talk("machine=perlmutter strategy=fsdp nodes=4"), Made)
    assert {"walltime", "queue", "account"} <= {a.field for a in first.assumptions}
    again = only(talk("nodes=8"), Made)
    assert [a.field for a in again.assumptions] == ["account"] and not set(again.notes) & set(first.notes)


def test_another_machine_gets_no_diff_of_every_line(talk: Talk) -> None:
    talk("machine=perlmutter strategy=fsdp nodes=4")
    made = only(talk("machine=frontier"), Made)
    assert made.changes[0].startswith("machine: Perlmutter") and not made.diff


def test_a_script_that_stays_as_it_is_is_not_said_again(talk: Talk) -> None:
    talk("machine=perlmutter strategy=fsdp nodes=4")
    assert "has that already" in only(talk("nodes=4"), Say).text


def test_a_refusal_is_got_round_by_its_number(talk: Talk) -> None:
    refusal = only(talk("machine=lonestar6 strategy=ddp nodes=2 gpus_per_node=4"), Refusal)
    assert refusal.instead
    made = only(talk("1"), Made)
    assert made.bundle.script


def test_the_ways_round_stay_open_over_a_question(talk: Talk) -> None:
    talk("machine=lonestar6 strategy=ddp nodes=2 gpus_per_node=4")
    talk("how many GPUs does a node have?")
    assert only(talk("1"), Made)


def test_a_field_that_no_script_can_hold_is_refused_in_words(talk: Talk) -> None:
    refusal = only(talk("machine=perlmutter strategy=ddp nodes=2 account=$(id)"), Refusal)
    assert "Account '$(id)'" in refusal.why
    assert only(talk("account=m1234"), Made)


def test_a_misspelt_machine_is_offered_as_it_is_spelt(talk: Talk) -> None:
    refusal = only(talk("machine=perlmuter strategy=ddp nodes=2"), Refusal)
    assert "perlmuter" in refusal.says
    made = only(talk("1"), Made)
    assert made.title == "Perlmutter" and "machine" not in [a.field for a in made.assumptions]


def test_a_machine_that_nobody_described_gets_a_draft(talk: Talk) -> None:
    made = only(talk("machine=zugspitze strategy=ddp nodes=2"), Made)
    assert "zugspitze" in made.title and "#SBATCH --partition=YOUR_PARTITION" in made.bundle.script
    assert any("sinfo" in note for note in made.notes) and any("discover" in note for note in made.notes)
    assert "nobody described" not in " ".join(only(talk("machine=vista"), Made).notes)


def test_what_the_message_tells_of_the_machine_is_no_open_line(talk: Talk) -> None:
    made = only(talk("machine=zugspitze strategy=ddp nodes=2 PBS and 4 NVIDIA A100 a node"), Made)
    assert "#PBS -l select=2:ngpus=4" in made.bundle.script and "sinfo" not in " ".join(made.notes)


def test_a_log_is_diagnosed_and_the_open_question_comes_again(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph.nodes.diagnose.find_cause", lambda source: Diagnosis("gpu-oom", str(source), 0.9))
    talk("machine=perlmutter")
    said = talk("Traceback of a job")
    assert only(said, Diagnosis).says == "Traceback of a job"
    assert isinstance(said[-1], Question)


def test_a_failure_without_its_log_is_asked_for_the_log(talk: Talk) -> None:
    assert "Show me the log" in only(talk("Traceback somewhere in my job"), Say).text


def test_only_the_newest_checkpoint_is_kept_and_nothing_needs_shared_memory(talk: Talk, tmp_path: Path) -> None:
    for text in ("job", "perlmutter", "hi"):
        talk(text)
    checkpoints = Checkpoints(tmp_path / "c.sqlite")
    checkpoints.prune(["t"])
    database = sqlite3.connect(tmp_path / "c.sqlite")
    assert database.execute("SELECT count(*) FROM checkpoints").fetchone() == (1,)
    assert database.execute("PRAGMA journal_mode").fetchone() != ("wal",)
    assert only(talk("machine=perlmutter"), Question)


def test_what_comes_back_from_disk_is_what_was_stored(talk: Talk, tmp_path: Path) -> None:
    made = only(talk("machine=perlmutter strategy=zero3 nodes=4"), Made)
    values = build(Checkpoints(tmp_path / "c.sqlite")).get_state({"configurable": {"thread_id": "t"}}).values
    assert values["bundle"] == made.bundle
    assert tuple(values["said"]) == (made,)
    hash(values["plan"])


SCRIPT = """#!/bin/bash
#SBATCH -A m9999 -C gpu -q regular
#SBATCH -N 4 --gpus-per-node=4 -t 02:00:00
srun torchrun --nnodes=4 --nproc-per-node=4 pretrain.py --lr 1e-4
"""


def test_a_pasted_script_is_carried_over_to_another_machine(talk: Talk) -> None:
    said = talk(f"port to vista machine=vista strategy=ddp please\n{SCRIPT}")
    assert isinstance(said[0], Say) and "pretrain.py" in said[0].text
    made = only(said, Made)
    assert "pretrain.py" in made.bundle.script and "02:00:00" in made.bundle.script
    assert "m9999" not in made.bundle.script
    assert "4 x 4 ranks become 16 x 1" in " ".join(made.notes), made.notes
    again = only(talk("account=a77 nodes=8"), Made)
    assert "a77" in again.bundle.script and "-N 8" in again.bundle.script and "pretrain.py" in again.bundle.script


def test_a_script_that_starts_nothing_is_refused(talk: Talk) -> None:
    assert "carry" in only(talk("move it to vista machine=vista\n#SBATCH -N 2\n\necho hello\n"), Refusal).says


def test_a_script_that_worked_there_is_named(talk: Talk, tmp_path: Path) -> None:
    made = only(talk("machine=perlmutter strategy=ddp nodes=2"), Made)
    wish = SavingWish("perlmutter", "pytorch", "ddp", "me", date(2026, 11, 1), evidence="job 17 ran")
    Library(folder=tmp_path / "templates").add(wish, made.bundle.script)
    assert any("job 17 ran" in note for note in only(talk("nodes=4"), Made).notes)
