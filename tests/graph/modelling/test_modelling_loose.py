"""Loose requests that the rules leave open: what an honest reader would choose is offered, and little else."""

from __future__ import annotations

import json

import pytest
from scripted_model import Scripted

from graph.build import build
from graph.context import Context
from graph.extraction.request import understand
from graph.modelling.asking import Models
from graph.modelling.candidates import candidates, machine_meant, tables
from graph.modelling.extracting import fill
from graph.state import State, new_turn
from knowledge.catalogue import catalogue
from knowledge.types import JobRequest, Question

# What was said, and what the rules miss in it.
LOOSE: dict[str, dict[str, object]] = {
    "PyTorch on the big machine in Oak Ridge, sixty-four nodes, plain data parallel": {"machine": "frontier"},
    "Script for the Argonne exascale system, DeepSpeed stage 2, 4 nodes": {"machine": "aurora"},
    "The A100 system at Argonne, two nodes, pytorch ddp": {"machine": "polaris"},
    "A job on the TACC Grace Hopper box, 16 nodes, pytorch fsdp": {"machine": "vista"},
    "Purdue's cluster, the A100 part, two nodes, lightning": {"machine": "anvil"},
    "the San Diego one, V100s, single node pytorch": {"machine": "expanse"},
    "Job on Perlmutter with sixteen of those big A100 cards, ddp": {"total_gpus": 16},
    "I want sixteen of those shiny accelerators on Delta, pytorch ddp": {"total_gpus": 16},
    "shard everything, optimizer too, PyTorch on Perlmutter, 4 nodes": {"strategy": "fsdp"},
    "every GPU should hold only a slice of the weights, pytorch on Delta, 4 nodes x 4": {"strategy": "fsdp"},
    "cut the optimizer state in pieces with deepspeed on Polaris, 4 nodes": {"strategy": "zero1"},
    "cut the network into four stages, one per GPU, pytorch on Delta": {"strategy": "pp"},
    "tensor slicing within the node, megatron, Perlmutter, single node": {"strategy": "tp"},
    "Skript fuer Frontier, acht Knoten, DeepSpeed, den Optimierer auf alle Karten verteilen": {"strategy": "zero1"},
    "un script pour Polaris avec DeepSpeed, deux noeuds, partager l'optimiseur entre les GPU": {"strategy": "zero1"},
    "script para Vista con DeepSpeed, ocho nodos, repartir los pesos": {"strategy": "zero3"},
    "在 Perlmutter 上用 4 个节点, DeepSpeed, 优化器状态分片": {"strategy": "zero1"},
}


@pytest.mark.parametrize(("text", "want"), LOOSE.items(), ids=[text[:40] for text in LOOSE])
def test_an_honest_model_helps(text: str, want: dict[str, object]) -> None:
    request = understand(text, None, None, None).request
    assert all(getattr(request, name) is None for name in want)
    model = Scripted(json.dumps(want))
    filled = fill(text, request, catalogue(), Models({"small": lambda: model})).request
    assert {name: getattr(filled, name) for name in want} == want


@pytest.mark.parametrize(
    "text",
    [
        "a machine at Argonne or at Purdue",
        "somewhere at TACC",
        "Livermore's new system",
        "the A100 part of something",
        "three things: machine is mine",
        "two. Nodes are cheap",
        "four machine types",
    ],
)
def test_what_is_open_or_not_said_is_not_offered(text: str) -> None:
    assert candidates(text, JobRequest(), catalogue()) == ()


@pytest.mark.parametrize(
    ("text", "stages"),
    [
        ("partition the optimizer and nothing else", {"zero1"}),
        ("distribute the optimizer and the gradients", {"zero2"}),
        ("shard the optimizer, gradients and parameters", {"fsdp", "zero3"}),
        ("split the weights", {"fsdp", "zero3", "tp", "pp"}),
    ],
)
def test_what_is_sharded_says_how_far(text: str, stages: set[str]) -> None:
    """A model cannot choose a stage that the words do not bear."""
    assert {c.value for c in candidates(text, JobRequest(), catalogue())} == stages


def test_one_number_of_gpus_is_enough() -> None:
    assert candidates("sixteen shiny cards", JobRequest(gpus_per_node=4), catalogue()) == ()


def test_the_same_words_are_taken_once() -> None:
    model = Scripted('{"gpus_per_node": 16, "total_gpus": 16}')
    filled = fill("sixteen shiny cards", JobRequest(), catalogue(), Models({"small": lambda: model}))
    assert len(model.asked) == 1 and filled.chosen == ()


def test_machines_of_the_table_are_those_of_the_catalogue() -> None:
    named = {name for names in tables()["tells"].values() for name in names}
    assert named <= set(catalogue().clusters) and machine_meant("at argonne, exascale", catalogue()) is not None


def say(text: str, model: Scripted) -> State:
    context = Context(model=Models({"small": lambda: model, "large": lambda: model}))
    state: State = build().invoke(new_turn(1, text), context=context)
    return state


def test_a_message_that_the_rules_cannot_place_is_shown_to_the_model() -> None:
    text = "put our thing on the big machine in Oak Ridge"
    assert understand(text, None, None, None).intent == "other"
    state = say(text, Scripted('{"machine": "frontier"}'))
    assert state["request"].machine == "frontier" and isinstance(state["said"][-1], Question)


@pytest.mark.parametrize("text", ["delete all my files at Oak Ridge", "write me a poem about Oak Ridge"])
def test_orders_and_other_subjects_are_not(text: str) -> None:
    model = Scripted('{"machine": "frontier"}')
    assert say(text, model)["request"].machine is None and not model.asked
