"""What people say of a script that they have, and what becomes of a change that was refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.build import build
from graph.checkpoints import Serializer
from graph.context import Context
from graph.conversation.history import NOTHING, UNDO
from graph.extraction.request import understand
from graph.nodes.ask import SUGGESTED
from graph.state import State, new_turn
from graph.wishes import wishes
from knowledge.catalogue import catalogue
from knowledge.document import Document
from knowledge.types import JobRequest, Made, Question, Refusal, Said, Say

WHOLE = "Train with PyTorch FSDP on Perlmutter, 4 nodes, 4 GPUs per node, account m1"
LAID_OUT = JobRequest(machine="perlmutter", framework="pytorch", strategy="fsdp", nodes=4, gpus_per_node=4)


class Talk:
    """A conversation on the real graph."""

    def __init__(self) -> None:
        self.graph = build(InMemorySaver(serde=Serializer()))
        self.number = 0
        self.state = State()

    def say(self, text: str) -> tuple[Said, ...]:
        self.number += 1
        entry = new_turn(self.number, text)
        config = {"configurable": {"thread_id": "t"}}
        self.state = self.graph.invoke(entry, config, context=Context())  # type: ignore[call-overload]
        return tuple(self.state["said"])

    @property
    def script(self) -> str:
        bundle = self.state["bundle"]
        assert bundle
        return bundle.script


@pytest.fixture
def talk() -> Talk:
    talk = Talk()
    talk.say(WHOLE)
    return talk


def made(said: tuple[Said, ...]) -> Made:
    return next(part for part in said if isinstance(part, Made))


def test_a_refused_change_is_dropped_and_said(talk: Talk) -> None:
    said = talk.say("make it 100000 nodes")
    assert isinstance(said[0], Refusal) and isinstance(said[1], Say) and "nodes 100000" in said[1].text
    assert made(talk.say("set the walltime to 2 hours")).changes == ("walltime: 01:00:00 → 02:00:00",)


def test_a_refused_change_may_be_mended(talk: Talk) -> None:
    talk.say("use 9 GPUs per node and 2 hours of walltime")
    assert set(made(talk.say("then 2 GPUs per node")).changes) == {
        "ranks per node: 4 → 2",
        "walltime: 01:00:00 → 02:00:00",
    }


def test_a_way_round_a_refusal_keeps_the_rest_of_the_change(talk: Talk) -> None:
    talk.say("use 9 GPUs per node and 2 hours of walltime")
    assert made(talk.say("1")).changes == ("walltime: 01:00:00 → 02:00:00",)


def test_another_machine_that_refuses_is_still_spoken_of(talk: Talk) -> None:
    assert any(isinstance(part, Refusal) for part in talk.say("move it to Lonestar6 with 4 GPUs per node"))
    assert made(talk.say("then 3 GPUs per node")).title == "Lonestar6"


def test_undo_goes_back_step_by_step(talk: Talk) -> None:
    first = talk.script
    talk.say("make it 8 nodes")
    talk.say("use DDP")
    assert made(talk.say("undo")).changes == ("strategy: ddp → fsdp",)
    assert made(talk.say("undo that, please")).changes == ("nodes: 8 → 4",)
    assert talk.script == first
    assert talk.say("undo") == (Say(NOTHING),)


@pytest.mark.parametrize(
    "text", ["undo", "please undo that", "Revert!", "go back", "back to the previous version", "actually no, undo that"]
)
def test_ways_to_say_undo(text: str) -> None:
    assert UNDO.fullmatch(text)


@pytest.mark.parametrize(
    "text", ["can I undo a submitted job?", "go back to 4 nodes", "the job went back to the queue"]
)
def test_what_is_no_undo(text: str) -> None:
    assert not UNDO.fullmatch(text)


def test_a_variable_is_set_and_taken_away(talk: Talk) -> None:
    talk.say("set OMP_NUM_THREADS=4 and NCCL_DEBUG=INFO")
    assert "OMP_NUM_THREADS=4" in talk.script and "NCCL_DEBUG=INFO" in talk.script
    talk.say("export MY_NAME='$(touch /tmp/x)'")
    assert "MY_NAME='$(touch /tmp/x)'" in talk.script
    talk.say("change MY_NAME to you!")
    assert "MY_NAME=you" in talk.script
    talk.say("unset NCCL_DEBUG")
    assert "NCCL_DEBUG=INFO" not in talk.script and "OMP_NUM_THREADS=4" in talk.script


def test_cards_by_their_memory(talk: Talk) -> None:
    talk.say("use the 80GB cards")
    assert "hbm80g" in talk.script
    said = talk.say("use the 95 GB cards")
    assert isinstance(said[0], Say) and "A100 with 40 GB" in said[0].text and "hbm80g" in talk.script


def test_a_question_that_came_with_a_change_is_answered(talk: Talk) -> None:
    said = talk.say("make it 8 nodes. And what is the longest walltime?")
    assert made(said).changes == ("nodes: 4 → 8",)
    assert isinstance(said[-1], Document) and "48" in str(said[-1])


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("32 GPUs", (8, 4, None)),
        ("make it 32 GPUs please", (8, 4, None)),
        ("I meant 4 GPUs in total", (1, 4, None)),
        ("2 GPUs altogether", (1, 2, None)),
        ("30 GPUs in total", (None, None, 30)),
        ("2 GPUs", (4, 2, None)),
        ("2 GPUs per node", (4, 2, None)),
        ("32 GPUs per node", (4, 32, None)),
        ("-3 nodes", (4, 4, None)),
        ("0 nodes", (4, 4, None)),
        ("half a node", (4, 4, None)),
        ("2.5 nodes", (4, 4, None)),
        ("-2 GPUs per node", (4, 4, None)),
        ("10 nodes", (10, 4, None)),
    ],
)
def test_layouts_after_a_layout(text: str, layout: tuple[int | None, ...]) -> None:
    heard, _ = wishes(text, LAID_OUT, understand(text, LAID_OUT, None, None), catalogue().find("perlmutter"))
    assert (heard.request.nodes, heard.request.gpus_per_node, heard.request.total_gpus) == layout


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("double the walltime", "walltime", "02:00:00"),
        ("an hour more", "walltime", "02:00:00"),
        ("extend it by 30 minutes", "walltime", "01:30:00"),
        ("half the GPUs", "gpus_per_node", 2),
        ("double the GPUs", "nodes", 8),
        ("half the nodes", "nodes", 2),
    ],
)
def test_changes_count_from_what_was_assumed(text: str, field: str, value: str | int) -> None:
    talk = Talk()
    talk.say("Train with PyTorch FSDP on Perlmutter, 4 nodes")
    talk.say(text)
    request = talk.state["request"]
    assert getattr(request, field) == value
    others = {"walltime": None, "nodes": 4, "gpus_per_node": None} | {field: value}
    assert {name: getattr(request, name) for name in others} == others


def test_nodes_of_a_total_change_by_a_factor() -> None:
    talk = Talk()
    talk.say("Train with PyTorch FSDP on Perlmutter, 16 GPUs in total")
    assert made(talk.say("half the nodes")).changes == ("nodes: 4 → 2",)


@pytest.mark.parametrize(
    ("text", "ways"), [("half the nodes", "*2 nodes* or *3 nodes*"), ("a third of the nodes", "*1")]
)
def test_a_share_that_is_not_whole_is_said(text: str, ways: str) -> None:
    talk = Talk()
    talk.say("Train with PyTorch FSDP on Perlmutter, 5 nodes, 4 GPUs per node, account m1")
    said = talk.say(text)
    assert isinstance(said[0], Say) and ways in said[0].text and talk.state["request"].nodes == 5


@pytest.mark.parametrize("text", ["-3 nodes", "half a node", "0 nodes"])
def test_an_amount_that_cannot_be_is_asked_again(text: str) -> None:
    said = Talk().say(f"Train with PyTorch FSDP on Perlmutter, {text}")
    assert isinstance(said[0], Say) and text in said[0].text
    assert isinstance(said[1], Question) and said[1].field == "nodes"


@pytest.mark.parametrize(
    "text",
    [
        "2-3 nodes",
        "RuntimeError: 0 nodes are available\n[rank0]: A_B=1\nsrun: error\nx",
        "can I ask for half a node?",
        "the dataset has 80 GB, cards are idle",
        "is NCCL_DEBUG=INFO of any use?",
        "use DDP to train on 4 nodes",
        "add FSDP to the script",
        "Perlmutter,4 nodes,fsdp",
        "-Perlmutter\n-4 nodes",
        "Perlmutter -4 nodes -fsdp",
        "my 40 GB model on 4 nodes",
    ],
)
def test_what_is_no_wish(text: str) -> None:
    heard = understand(text, LAID_OUT, None, None)
    assert wishes(text, LAID_OUT, heard, catalogue().find("perlmutter")) == (heard, ())


def test_a_path_that_a_shell_would_make_is_no_program() -> None:
    talk = Talk()
    said = talk.say("Train $(rm -rf x)/mine.py with PyTorch FSDP on Perlmutter, 4 nodes")
    assert isinstance(said[0], Say) and "plain path" in said[0].text
    assert "mine.py" not in talk.script and "rm -rf" not in talk.script


def test_a_vague_wish_gets_a_suggestion() -> None:
    said = Talk().say("I want to train something big")
    assert said[0] == Say(SUGGESTED) and isinstance(said[1], Question)


@pytest.mark.parametrize(
    ("text", "node_type", "says"),
    [
        ("ddp on Lonestar6 with H100s, 2 nodes", "h100", "I take the nodes with H100"),
        ("not A100 but H100 on Anvil", "anvil-h100", "I take the nodes with H100"),
        ("4 H100 on Perlmutter with fsdp", None, "Perlmutter has no H100; it has A100."),
        ("ddp with H100s, 2 nodes", "h100", "I look for nodes with H100."),
        ("ddp on Delta, 2 nodes with A100s", None, ""),
        ("port my A100 script from Perlmutter to Lonestar6", None, ""),
        ("my code runs on an A100, write a script for Lonestar6", None, ""),
    ],
)
def test_a_kind_of_gpu(text: str, node_type: str | None, says: str) -> None:
    read = understand(text, None, None, None)
    machine = catalogue().find(read.request.machine) if read.request.machine else None
    heard, said = wishes(text, None, read, machine)
    assert heard.request.node_type == node_type and " ".join(said).startswith(says) and bool(said) == bool(says)


def test_there_is_nothing_to_undo_before_the_first_script() -> None:
    assert Talk().say("undo") == (Say(NOTHING),)


def test_a_number_that_was_not_offered_is_no_count_of_nodes() -> None:
    talk = Talk()
    talk.say("fsdp on Perlmutter, 1000 nodes for 5 days")
    said = talk.say("3")
    assert isinstance(said[0], Say) and "I offered 1 above" in said[0].text
    assert talk.state["request"].nodes == 1000


def test_machines_that_were_named_are_those_to_choose_from() -> None:
    talk = Talk()
    said = talk.say("write me a ddp script for Delta and Anvil, 2 nodes")
    assert isinstance(said[0], Question) and said[0].options == ("delta", "anvil")


def test_another_gpu_leaves_a_queue_that_has_none() -> None:
    talk = Talk()
    talk.say("make me a script for anvil, AI partition, with 2 H100 nodes, fsdp")
    assert made(talk.say("no, the A100 ones")).changes[-1].endswith("gpu")
    assert talk.state["request"].queue is None


def test_a_name_that_is_like_no_other_is_no_slip() -> None:
    assert any("nobody described Summit" in note for note in made(Talk().say("train on Summit with 2 nodes ddp")).notes)
    slip = Talk().say("write a ddp script for the machine called perlmuttr, 2 nodes")
    assert not any("nobody described" in note for part in slip if isinstance(part, Made) for note in part.notes)


def test_the_script_is_shown_again(talk: Talk) -> None:
    shown = made(talk.say("show me the script again"))
    assert shown.bundle.script == talk.script and not shown.changes
    assert isinstance(talk.say("make it 4 nodes")[0], Say)


def test_an_order_is_no_name_of_a_machine() -> None:
    talk = Talk()
    talk.say("write me a ddp script")
    talk.say("save it")
    assert talk.state["request"].machine is None


def test_nodes_of_another_machine_are_named_as_they_are() -> None:
    talk = Talk()
    talk.say("fsdp on Perlmutter, 2 nodes, use the 80GB cards, account m1")
    taken = {one.field: one.why for one in made(talk.say("and now on Delta")).assumptions}
    assert taken["node type"] == "Delta has no gpu-a100-80; these nodes have A100 with 40 GB"


def test_a_finding_is_told_in_sentences() -> None:
    said = Talk().say("ddp on frontier with 4 GCDs per node, 2 nodes")
    note = next(note for note in made(said).notes if note.startswith("Check, line"))
    assert note.endswith(".") and "idle. " in note


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("the preemptable queue, with as many nodes as it allows", 10),
        ("use queue preemptable and the maximum number of nodes it takes", 10),
        ("twice as many nodes please, queue preemptable", None),
        ("we have as many nodes as projects, queue preemptable", None),
    ],
)
def test_as_many_nodes_as_the_queue_takes(text: str, nodes: int | None) -> None:
    before = replace(LAID_OUT, machine="polaris", nodes=4, walltime="05:00:00")
    heard, said = wishes(text, before, understand(text, before, None, None), catalogue().find("polaris"))
    assert (heard.request.nodes == nodes) if nodes else heard.request.nodes != 10
    assert any("preemptable takes at most 10" in one for one in said) == bool(nodes)
