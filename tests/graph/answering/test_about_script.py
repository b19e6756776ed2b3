"""Questions about the script that stands, answered from its plan and its own lines."""

from __future__ import annotations

from functools import cache

import pytest

from graph.answering.about_script import about_script
from graph.answering.grounds import grounds
from graph.answering.script_lines import explanations, lines
from graph.context import Context
from graph.extraction.request import understand
from graph.planning.plan import plan
from graph.state import State
from knowledge.catalogue import catalogue
from knowledge.types import JobRequest, LaunchBundle, LaunchPlan
from templates.render import render


@cache
def written(machine: str, strategy: str) -> tuple[JobRequest, LaunchPlan, LaunchBundle]:
    request = understand(f"{strategy} on {machine}, 2 nodes", None, None, None).request
    decided = plan(request, catalogue().clusters[machine])
    assert isinstance(decided, LaunchPlan)
    return request, decided, render(decided)


@pytest.mark.parametrize(
    ("machine", "strategy", "question", "says"),
    [
        ("perlmutter", "fsdp", "why 4 tasks per node?", ["2 nodes x 4 ranks = 8 ranks", "one task a node, `torchrun`"]),
        ("aurora", "zero3", "is that 24 ranks?", ["2 nodes x 12 ranks = 24", "`mpiexec` starts each rank"]),
        ("aurora", "ddp", "why 12?", ["6 cards x 2 tiles"]),
        ("perlmutter", "fsdp", "how many GPUs is that in total?", ["8 ranks in all"]),
        ("perlmutter", "fsdp", "why the regular queue?", ["I took queue regular", "usual GPU queue"]),
        ("perlmutter", "fsdp", "why gpu-a100-40?", ["queue regular also has gpu-a100-80"]),
        ("perlmutter", "fsdp", "why fsdp?", ["your words: *fsdp*"]),
        ("perlmutter", "fsdp", "why do I need -C gpu?", ["`#SBATCH --constraint=gpu`", "Without it: no GPU node"]),
        ("perlmutter", "fsdp", "why -C gpu? why 4 ranks per node", ["no GPU node", "2 nodes x 4 ranks"]),
        ("perlmutter", "fsdp", "why --gres=gpu:9? why 4 ranks?", ["2 nodes x 4 ranks", "gpu:9* I find nothing"]),
        ("perlmutter", "fsdp", "what does --cpus-per-task do here", ["`#SBATCH --cpus-per-task=128`", "data loaders"]),
        ("perlmutter", "fsdp", "what's kill-on-bad-exit", ["When one task fails"]),
        ("perlmutter", "fsdp", "what does MASTER_ADDR mean?", ["`MASTER_ADDR=$(scontrol", "Rank 0 listens"]),
        ("perlmutter", "fsdp", "what does `set -u` do", ["a variable that is not set"]),
        ("perlmutter", "fsdp", "what does this line do: export FI_MR_CACHE_MONITOR=userfaultfd", ["hangs of large"]),
        ("aurora", "ddp", "why filesystems=home:flare?", ["Required", "waits while one of them is down"]),
        ("perlmutter", "fsdp", "what does line 2 do?", ["Line 2, `#SBATCH --job-name=train`"]),
        ("perlmutter", "fsdp", "line 1000?", ["The script has"]),
        ("perlmutter", "fsdp", "what does this line do?", ["Which line?"]),
    ],
)
def test_what_is_said_of_the_script(machine: str, strategy: str, question: str, says: list[str]) -> None:
    answer = about_script(question, *written(machine, strategy))
    assert answer and all(words in answer.text for words in says), answer


@pytest.mark.parametrize(
    "question",
    [
        "how many GPUs does a node have?",
        "what is the longest walltime?",
        "why not srun for each rank?",
        "why is my job pending?",
        "what does FSDP mean?",
        "is it ok to use 2 nodes?",
        "what is the default queue?",
        "why does it hang?",
    ],
)
def test_what_is_about_something_else(question: str) -> None:
    assert about_script(question, *written("perlmutter", "fsdp")) is None


def test_a_question_about_another_machine_is_not_about_the_script() -> None:
    request, decided, bundle = written("perlmutter", "fsdp")
    state = State(request=request, plan=decided, bundle=bundle)
    assert "2 nodes x 4" in str(grounds("why 4 ranks?", state, Context()).fact)
    assert "2 nodes x 4" not in str(grounds("why 12 ranks a node on Aurora?", state, Context()).fact)


def test_only_the_machine_knows_the_moment() -> None:
    state = State(request=JobRequest(machine="frontier"))
    found = grounds("how long is the queue wait right now?", state, Context())
    assert found.fact and "squeue" in found.fact.text and not found.passages
    assert "qstat" in str(grounds("is Aurora down?", State(), Context()).fact)


@pytest.mark.parametrize("machine", sorted(catalogue().clusters))
def test_each_command_of_our_scripts_is_explained(machine: str) -> None:
    """But for what the facts bring: modules, wrappers, variables and their own directives."""
    _, _, bundle = written(machine, "ddp")
    ours = [
        one for one in lines(bundle.script) if one.text.split()[0] in ("srun", "mpiexec", "mpirun", "ibrun", "jsrun")
    ]
    ours += [one for one in lines(bundle.script) if one.text.startswith(("set ", "MASTER", "NNODES", "export WORLD"))]
    assert len(ours) >= 4
    for line in ours:
        assert about_script(f"what does line {line.number} do?", *written(machine, "ddp"))
        assert ": " in str(about_script(f"line {line.number}", *written(machine, "ddp"))), line


def test_the_table_of_explanations_compiles() -> None:
    assert len(explanations()) > 25
