"""A way of a resource plan as a script: its sizes stand in the arguments, the side files or variables."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import yaml

from graph.planning.plan import plan
from graph.usecases.plan_resources import plan_resources
from knowledge.catalogue import catalogue
from knowledge.resource_question import ResourceQuestion
from knowledge.types import Framework, JobRequest, LaunchBundle, LaunchPlan, Strategy
from templates.render import render

SIZES = JobRequest(
    machine="perlmutter",
    nodes=2,
    micro_batch=2,
    gradient_accumulation=4,
    activation_checkpointing=True,
    sequence_length=8192,
)


def taken(framework: Framework, strategy: Strategy) -> tuple[LaunchPlan, LaunchBundle]:
    made = plan(replace(SIZES, framework=framework, strategy=strategy), catalogue().clusters["perlmutter"])
    assert isinstance(made, LaunchPlan), made
    return made, render(made)


@pytest.mark.parametrize(
    ("framework", "strategy", "lines"),
    [
        ("pytorch", "fsdp", ("MICRO_BATCH=2", "GRADIENT_ACCUMULATION=4", "ACTIVATION_CHECKPOINTING=1")),
        ("pytorch", "fsdp", ("SEQUENCE_LENGTH=8192",)),
        ("accelerate", "fsdp", ("ACCELERATE_GRADIENT_ACCUMULATION_STEPS=4", "MICRO_BATCH=2")),
        ("megatron", "tp", ("--recompute-granularity full", "--seq-length 8192", "--micro-batch-size 2")),
        ("torchtitan", "fsdp", ("--activation_checkpoint.mode full", "--training.seq_len 8192")),
        ("hf-trainer", "fsdp", ("--gradient_checkpointing True", "--gradient_accumulation_steps 4")),
    ],
)
def test_the_sizes_stand_in_the_script(framework: Framework, strategy: Strategy, lines: tuple[str, ...]) -> None:
    decided, bundle = taken(framework, strategy)
    text = bundle.script.replace("'", "")
    assert [line for line in lines if line not in text] == [], text
    exported = [one.name for one in decided.user_variables if one.name != "ACCELERATE_GRADIENT_ACCUMULATION_STEPS"]
    assert all(any(f"`{name}`" in note for note in decided.notes) for name in exported), decided.notes


def test_the_side_files_hold_them() -> None:
    zero = json.loads(taken("deepspeed", "zero3")[1].files[0].text)
    assert (zero["train_micro_batch_size_per_gpu"], zero["gradient_accumulation_steps"]) == (2, 4)
    settings = yaml.safe_load(taken("accelerate", "fsdp")[1].files[0].text)
    assert settings["fsdp_config"]["fsdp_activation_checkpointing"] is True


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        (
            ResourceQuestion(model="Llama-3-8B", machines=("perlmutter",), nodes=2, gpu_gb=40),
            {"strategy": "fsdp", "nodes": 2, "micro_batch": 1, "activation_checkpointing": True},
        ),
        (
            ResourceQuestion(model="Llama-3-8B", machines=("leonardo",), nodes=2, tokens=2e9),
            {"walltime": "24:00:00", "chain": 2},
        ),
        (
            ResourceQuestion(model="GPT-2", machines=("delta",), gpu="A100", gpus=2, strategy="ddp", sequence=1024),
            {"gpus_per_node": 2, "nodes": 1, "strategy": "ddp", "sequence_length": 1024},
        ),
    ],
)
def test_a_way_says_what_its_script_is_asked_for(question: ResourceQuestion, wanted: dict[str, object]) -> None:
    weighed = plan_resources(question)
    change = dict(weighed.change(weighed.options[0]))
    assert {name: change[name] for name in wanted} == wanted


def test_every_way_that_is_laid_before_a_person_can_be_written() -> None:
    """On each machine, for a small and a large model: no row ends in a refusal."""
    for model in ("GPT-2", "Llama-3-8B"):
        for cluster in catalogue().clusters.values():
            weighed = plan_resources(ResourceQuestion(model=model, machines=(cluster.id,)))
            for option in weighed.options:
                if not (change := weighed.change(option)):
                    continue
                request = replace(JobRequest(framework="pytorch"), **dict(change))  # type: ignore[arg-type]
                made = plan(request, cluster)
                assert isinstance(made, LaunchPlan), (cluster.id, model, change, made)
