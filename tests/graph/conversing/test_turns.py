"""What a turn leaves for the next: citations, placeholders, the job that is spoken of; and that no field is dropped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from player import Player, Thread, call, first_script

from graph.conversing.briefing import told_request
from graph.conversing.hand import shortened
from graph.planning.request_fields import FIELDS

OWN = """#!/bin/bash
#SBATCH -A bdxx-delta-gpu
#SBATCH -p gpuA100x4
#SBATCH -N 2
#SBATCH --gpus-per-node=4
#SBATCH -t 08:00:00
module load pytorch-conda/2.12
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$MASTER_ADDR:29500 train.py --bs 8
"""
# A value of each field that no script here has by itself.
VALUES = {
    "framework": "accelerate", "strategy": "fsdp", "nodes": "3", "gpus_per_node": "2", "total_gpus": "12",
    "walltime": "05:00:00", "model": "Llama-3-8B", "entry": "other.py", "account": "bdyy-delta-gpu",
    "queue": "gpuA40x4",
    "args": "--lr 3", "environment": "ownenv", "container": "/c/x.sif", "variables": "OWN_NAME=7",
    "node_type": "gpuA40x4",
    "job_name": "ownjob", "output": "own-%j.txt", "memory_gb": "111", "cpus_per_task": "13", "processes_per_node": "2",
    "cpu_only": "yes", "array": "lr=1,2", "dependency": "afterok:99", "chain": "3", "requeue": "yes",
    "signal": "USR2@77", "mail": "a@b.org:end", "exclusive": "no", "reservation": "ownres", "constraint": "ownfeat",
    "begin": "2027-01-01T00:00:00", "nodelist": "gpua001", "exclude_nodes": "gpua009", "extra_directives": "--nice=7",
    "environment_kind": "venv", "modules": "cuda/99.1", "modules_removed": "pytorch-conda", "modules_only": "yes",
    "source_files": "own.sh", "container_runtime": "apptainer", "binds": "/own", "stage_in": "/data/own",
    "stage_environment": "yes", "before": "echo one", "after": "echo two", "then": "own.py", "beside": "own.py;helper",
    "argument_edits": "--own=1", "first_run": "yes", "spare_nodes": "1", "least_nodes": "1", "offline": "yes",
    "tensor_parallel": "2", "pipeline_parallel": "2", "micro_batch": "3", "global_batch": "96",
    "gradient_accumulation": "5", "precision": "bf16", "context_parallel": "2",
    "sequence_length": "4096", "launcher": "srun", "activation_checkpointing": "yes", "offload_optimizer": "yes",
    "offload_parameters": "yes", "port": "30123",
}  # fmt: skip


def briefs(thread: Thread) -> str:
    return thread.player.asked[-1][1].text


def results(thread: Thread) -> str:
    return "\n".join(one.text for one in thread.player.asked[-1] if one.role == "tool")


def test_an_answer_is_told_whole_with_its_pages_under_the_same_numbers() -> None:
    first = "The account comes from your PI [2]. " + "It ends on -delta-gpu. " * 40 + "The queue is gpuA100x4 [1]."
    facts = call("cluster_facts", machine="delta", about=["queues", "account"])
    thread = Thread(Player(facts, first, "As said, from your PI [2]."))
    told = thread.say("which queue and account on delta?")
    page = thread.state["grounds"].pages
    again = thread.say("hm, who said that?")
    brief = thread.player.asked[2][1].text
    assert "from your PI [2]." in brief and "The queue is gpuA100x4 [1]." in brief and "letters left out" not in brief
    assert all(f"[{at}] {text}" in brief for at, text in page) and {at for at, _ in page} == {1, 2}
    cited = dict(page)[2].partition(" ")[0]
    assert f"[1] {cited}" in again and cited in told, "the person reads each answer's pages from 1 on"


def test_a_text_is_cut_at_the_end_of_a_sentence() -> None:
    assert shortened("One sentence here. Another one goes on and on", 30) == "One sentence here. (27 letters more)"
    assert shortened("short", 30) == "short"


def test_the_same_name_has_the_same_placeholder_in_every_turn_and_public_addresses_stay() -> None:
    player = Player("Log in at login.delta.ncsa.illinois.edu; data go to /work/hdd/<code>.", "yes")
    player.leaves = True
    thread = Thread(player)
    thread.say("i am on delta, data in /work/hdd/bdxx/anna, account bdxx-delta-gpu")
    thread.say("and with account bdyy12-delta-gpu, is /projects/bdyy/ben the place?")
    thread.say("so /projects/bdyy/ben, and /work/hdd/bdxx/anna stays?")
    sent = ["\n".join(m.text for m in one[1:]) for one in player.asked]
    named = dict(thread.state["grounds"].masked)
    path = next(name for name, value in named.items() if value == "/work/hdd/bdxx/anna")
    assert all(f"<{path}>" in one for one in sent) and not any("anna" in one or "bdyy" in one for one in sent)
    assert "login.delta.ncsa.illinois.edu" in sent[1], "what our own pages hold is nobody's"


@pytest.mark.parametrize(
    ("turns", "job"),
    [
        (("i work on delta", "train.py with ddp, 2 nodes"), "machine=delta; framework=pytorch; strategy=ddp; nodes=2"),
        (("i work on delta", "does Expanse allow longer jobs than 48 h?"), "machine=delta"),
        (("i work on delta", "what about Frontier, how many GPUs per node?"), "machine=delta"),
        (("i work on delta", "does a V100 do bf16?"), "machine=delta"),
        (("i work on delta", "hm, let's take frontier instead"), "machine=frontier"),
        (("we have an allocation on Anvil. how do i copy data there from Expanse?",), "machine=anvil"),
        (("which is best, Perlmutter or Frontier, for sft.py with deepspeed?",), "entry=sft.py"),
        (("my lab's cluster is called Zephyr, slurm, 8 A100 a node", "where is my quota?"), "machine=Zephyr"),
    ],
)
def test_the_job_is_what_was_stated_and_a_question_changes_nothing(turns: tuple[str, ...], job: str) -> None:
    thread = Thread(Player("One line."))
    for one in turns:
        thread.say(one)
    told = told_request(thread.state["request"])
    assert told.startswith(job) and ("precision" not in told)
    if "Zephyr" in job:
        assert "slurm, 8 A100 a node" in told


def test_what_was_chosen_is_told_no_more_once_it_is_said() -> None:
    write = call("write_script", machine="delta", framework="pytorch", strategy="ddp", nodes=3, entry="train.py")
    account = call("edit_script", fields={"account": "bdxx-delta-gpu", "nodes": "3"})
    thread = Thread(Player(write, "Below.", account, "Done."))
    assert "nodes: `3`, chosen for you" in thread.say("ddp with train.py on delta")
    told = thread.say("yes, three nodes are right; account bdxx-delta-gpu")
    assert "bdxx-delta-gpu" in thread.script and "chosen for you" not in told


def test_nodes_that_follow_from_all_the_gpus_were_said() -> None:
    write = call("write_script", machine="delta", framework="pytorch", strategy="ddp", nodes=2, gpus_per_node=4)
    assert "chosen for you" not in Thread(Player(write, "Below.")).say("train.py with ddp on 8 GPUs of delta")


def started(kind: str) -> Thread:
    """A thread with a script of that kind in hand."""
    if kind == "ours":
        return Thread(Player("Done."), first_script())
    moves: dict[str, Any] = {
        "own": ["Read."],
        "ported": [call("port_script", machine="anvil"), "Ported."],
        "drafted": [call("write_script", machine="zephyr", framework="pytorch", strategy="ddp", nodes=2), "A draft."],
    }
    words = (
        "my cluster zephyr, slurm, 4 A100 a node: train.py with ddp on 2 nodes" if kind == "drafted" else f"read\n{OWN}"
    )
    thread = Thread(Player(*moves[kind]))
    thread.say(words)
    return thread


@pytest.fixture(scope="module", params=["ours", "own", "ported", "drafted"])
def kind(request: pytest.FixtureRequest) -> Iterator[str]:
    yield request.param


def test_every_field_has_a_value_here() -> None:
    assert set(FIELDS) <= set(VALUES)


def test_no_field_is_dropped_in_silence(kind: str) -> None:
    began = started(kind).state
    silent = []
    for name in FIELDS:
        thread = Thread(Player(call("edit_script", fields={name: VALUES[name]}), "Done."), began)
        thread.turn = 5
        thread.say(f"set {name} to {VALUES[name]}")
        told = results(thread)
        answered = any(
            word in told
            for word in ("not done: ", "error: ", "REFUSED", "NOT done, offered", "has that already", "missing")
        )
        if thread.state["bundle"] == began["bundle"] and not answered:
            silent.append((name, told[:200]))
    assert not silent


def test_a_field_that_changes_nothing_is_told_to_the_model_and_the_person() -> None:
    write = call("write_script", machine="delta", framework="pytorch", strategy="ddp", nodes=2, entry="train.py",
                 more_fields={"precision": "bf16", "memory_gb": "100"})  # fmt: skip
    thread = Thread(Player(write, "Below."))
    told = thread.say("train.py with ddp on 2 nodes of delta, bf16, 100 GB")
    assert "not done: precision=bf16" in results(thread) and "Not in the script: precision=bf16." in told
    assert "memory_gb" not in results(thread) and "--mem=100G" in thread.script


def test_a_field_that_is_so_anyhow_is_not_told_as_missing() -> None:
    """A job is called after its program anyhow: the name that was given is in the script."""
    write = call("write_script", machine="delta", framework="pytorch", strategy="ddp", nodes=2, entry="train.py",
                 more_fields={"job_name": "train"})  # fmt: skip
    thread = Thread(Player(write, "Below."))
    told = thread.say("train.py with ddp on 2 nodes of delta, call the job train")
    assert "#SBATCH --job-name=train" in thread.script
    assert "not done" not in results(thread) and "Not in the script" not in told


@pytest.mark.parametrize(("name", "value"), [("binds", "/own:/data"), ("binds", "/big/model=7:/data")])
def test_a_value_that_changes_nothing_is_told_whole(name: str, value: str) -> None:
    write = call("write_script", machine="delta", framework="pytorch", strategy="ddp", nodes=2, entry="train.py",
                 more_fields={name: value})  # fmt: skip
    thread = Thread(Player(write, "Below."))
    told = thread.say(f"train.py with ddp on 2 nodes of delta, {name} {value}")
    assert f"Not in the script: {name}={value}." in told


def test_a_ported_script_takes_variables_and_memory_and_a_draft_its_cores() -> None:
    edit = call("edit_script", fields={"variables": "NCCL_DEBUG=INFO", "memory_gb": "200"})
    thread = Thread(Player(edit, "Done."), started("ported").state)
    thread.say("NCCL_DEBUG=INFO and 200 GB please")
    assert "export NCCL_DEBUG=INFO" in thread.script and "--mem=200G" in thread.script and "--bs" in thread.script
    drafted = Thread(Player(call("edit_script", fields={"cpus_per_task": "12"}), "Done."), started("drafted").state)
    drafted.say("12 cores a task")
    assert "#SBATCH --cpus-per-task=12" in drafted.script and "srun" in drafted.script
    assert "--cpus-per-task=12" in drafted.script.partition("\nsrun ")[2]


def test_an_argument_that_another_tool_cannot_use_is_refused_or_named() -> None:
    moves = [
        call("history", action="undo", number=3),
        call("cluster_facts", machine="zephyr", about=["queues"]),
        call("plan_resources", model="7B", machines=["zephyr"]),
        call("log_lines", around=9),
    ]
    thread = Thread(Player(moves, "Done."), started("drafted").state)
    thread.say("what of zephyr?")
    told = [one.text for one in thread.player.asked[-1] if one.role == "tool"]
    assert "number" in told[0] and "not done: about=queues" in told[1] and "not done: machines=zephyr" in told[2]
    assert "error" in told[3]


def test_every_tool_refuses_an_argument_that_it_does_not_know() -> None:
    thread = Thread(Player("x"))
    thread.say("hello there, who are you?")
    names = [one.name for one in thread.player.offered[0]]
    player = Player(
        [call(name, colour="red") for name in names[:8]], [call(name, colour="red") for name in names[8:]], "x"
    )
    thread = Thread(player)
    thread.say("hello there, who are you?")
    told = [one.text for one in player.asked[-1] if one.role == "tool"]
    assert len(told) >= 8 and all("no argument colour" in one for one in told[:8])


def test_mending_names_the_steps_that_no_line_does() -> None:
    log = "slurmstepd: error: *** JOB 123 ON gpua001 CANCELLED AT 2026-11-01T10:00:00 DUE TO TIME LIMIT ***"
    thread = Thread(Player("[[diagnosis]]", call("mend_script"), "Say yes."))
    thread.say(f"why?\n{OWN}\n{log}")
    thread.say("fix it")
    told = results(thread)
    assert "the script does not hold" in told and "--signal=B:USR1@300" in told


def test_a_way_round_a_refusal_has_its_price() -> None:
    edit = call("edit_script", fields={"walltime": "200:00:00"})
    write = call("write_script", machine="polaris", framework="pytorch", strategy="ddp", nodes=4, entry="train.py")
    thread = Thread(Player(write, "Below.", edit, "It cannot."))
    thread.say("ddp on polaris, train.py, 4 nodes")
    thread.say("200 hours please")
    assert "up to 672 node hours instead of 4" in results(thread)


def test_a_message_that_is_too_long_is_said_to_be() -> None:
    pad = "we looked at this for a long time and nothing came of it at all. " * 200
    assert "first and last 3,000 characters" in Thread(Player("So.")).say(f"{pad} which queues has Anvil?")
