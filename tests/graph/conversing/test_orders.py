"""What a person orders is done and priced, what costs unordered is offered; patches, jobs and counts stay theirs."""

from __future__ import annotations

from typing import Any

import pytest
from player import Player, Thread, call, first_script

from graph.conversing.orders import AGREES
from graph.conversing.said import is_said
from knowledge.types import Made, OfferEdit

OWN = """#!/bin/bash
#SBATCH -A bdxx-delta-gpu
#SBATCH -p gpuA100x4
#SBATCH -N 1
#SBATCH --gpus-per-node=4
#SBATCH --mem=0
#SBATCH -t 08:00:00
srun torchrun --standalone --nproc_per_node 4 train.py --bs 128
"""


def started(*moves: Any) -> Thread:
    return Thread(Player(*moves), first_script())


def patch(old: str, new: str) -> Any:
    return call("edit_script", patch=[{"old": old, "new": new}])


def last(thread: Thread) -> str:
    return thread.player.asked[-1][-1].text


# A patch of our script.

GREETS = patch("set -eo pipefail", 'set -eo pipefail\necho "begins $(date)"')


def test_a_patch_of_our_script_leaves_it_ours_and_stands_in_the_next() -> None:
    thread = started(GREETS, "It says when it begins.", call("edit_script", fields={"nodes": "4"}), "Four nodes.")
    thread.say("print the date at the start")
    assert 'echo "begins $(date)"' in thread.script and thread.state.get("own") is None
    thread.say("4 nodes")
    assert 'echo "begins $(date)"' in thread.script and "--nodes=4" in thread.script
    thread.say("undo")
    assert "--nodes=2" in thread.script and "begins" in thread.script
    thread.say("undo")
    assert "begins" not in thread.script


def test_a_patch_that_no_longer_applies_is_named() -> None:
    thread = started(patch("train.py --bs 8)", 'train.py --bs 8 --log "$SLURM_JOB_ID.txt")'), "Yes.")
    thread.say("log into a file with the job's number")
    assert '--log "$SLURM_JOB_ID.txt"' in thread.script
    thread.player.moves = [call("edit_script", fields={"args": "--bs 16"}), "Sixteen."]
    told = thread.say("bs 16")
    assert "--bs 16" in thread.script and "JOB_ID.txt" not in thread.script
    assert "has no place in this script any more" in told and "$SLURM_JOB_ID.txt" in told


def test_sizes_of_our_script_are_fields_however_they_are_given() -> None:
    thread = started(patch("#SBATCH --nodes=2", "#SBATCH --nodes=8"), "Eight.")
    thread.say("8 nodes")
    assert "--nodes=8" in thread.script and thread.state["request"].nodes == 8 and "32 node hours" in last(thread)
    thread.player.moves = [patch("#SBATCH --nodes=8", "#SBATCH --nodes=16"), "Say yes."]
    thread.say("it is slow")
    assert "--nodes=8" in thread.script and "NOT done, offered" in last(thread)


# Orders and offers.


@pytest.mark.parametrize(
    ("words", "fields", "row"),
    [
        ("use 8 nodes", {"nodes": "8"}, "--nodes=8"),
        ("eight nodes please", {"nodes": "8"}, "--nodes=8"),
        ("acht Knoten bitte", {"nodes": "8"}, "--nodes=8"),
        ("make it 6 hours", {"walltime": "06:00:00"}, "--time=06:00:00"),
        ("let it run for a day", {"walltime": "24:00:00"}, "--time=24:00:00"),
        ("double the nodes", {"nodes": "4"}, "--nodes=4"),
    ],
)
def test_what_is_ordered_is_done_and_its_price_told(words: str, fields: dict[str, str], row: str) -> None:
    thread = started(call("edit_script", fields=fields), "Done.")
    told = thread.say(words)
    assert row in thread.script and "What that costs: up to" in told and thread.state.get("pending") is None


@pytest.mark.parametrize(
    ("words", "fields", "rows"),
    [
        ("make it 6 nodes and 48 hours", {"nodes": "6", "walltime": "48:00:00"}, ("--nodes=6", "--time=48:00:00")),
        ("6 nodes, one and a half days", {"nodes": "6", "walltime": "1-12"}, ("--nodes=6", "--time=36:00:00")),
        ("add 2 nodes and 2 hours", {"nodes": "4", "walltime": "6 hrs"}, ("--nodes=4", "--time=06:00:00")),
        ("mehr Knoten, und verdopple die Zeit", {"nodes": "4", "walltime": "8h"}, ("--nodes=4", "--time=08:00:00")),
        ("10 nodes overnight", {"nodes": "10", "walltime": "12:00:00"}, ("--nodes=10", "--time=12:00:00")),
    ],
)
def test_each_of_several_values_is_ordered_by_itself(words: str, fields: Any, rows: Any) -> None:
    thread = started(call("edit_script", fields=fields), "Done.")
    thread.say(words)
    assert all(one in thread.script for one in rows) and thread.state.get("pending") is None


def test_what_was_ordered_takes_with_it_what_it_cannot_be_without() -> None:
    thread = started(call("edit_script", fields={"queue": "debug", "walltime": "00:20:00"}), "Small.")
    thread.say("the debug queue, 20 minutes")
    thread.player.moves = [
        call("edit_script", fields={"nodes": "16", "walltime": "24:00:00", "queue": "regular"}), "Done."
    ]  # fmt: skip
    thread.say("make it 16 nodes and 24 hours")
    assert "--nodes=16" in thread.script and "--qos=regular" in thread.script and "What that costs" in last(thread)


def test_what_the_message_before_ordered_needs_no_yes() -> None:
    fields = {"nodes": "6", "walltime": "48:00:00", "account": "m9999_g"}
    thread = started("Which account?", call("edit_script", fields=fields), "Done.")
    thread.say("I want 24 GPUs for two days")
    thread.say("the account is m9999_g; everything else as I said above, thank you very much")
    assert "--nodes=6" in thread.script and "--time=48:00:00" in thread.script


def test_what_was_ordered_is_done_where_something_else_is_offered() -> None:
    thread = started(call("edit_script", fields={"nodes": "3", "walltime": "20:00:00"}), "Three; say yes for more.")
    thread.say("3 nodes please")
    assert "--nodes=3" in thread.script and "20:00:00" not in thread.script and "NOT done, offered" in last(thread)
    thread.say("yes")
    assert "--nodes=3" in thread.script and "--time=20:00:00" in thread.script


def test_an_offer_outlives_a_later_edit_of_the_same_turn() -> None:
    moves = [call("edit_script", fields={"nodes": "8"}), call("edit_script", fields={"job_name": "big"}), "Say yes."]
    thread = started(*moves)
    thread.say("call it big; what would make it faster?")
    offers = thread.state["pending"]
    assert isinstance(offers, OfferEdit) and "--job-name=big" in thread.script and "--nodes=2" in thread.script
    thread.player.moves = [call("take_offer", number=1), call("edit_script", fields={"requeue": "yes"}), "Done."]
    thread.say("yes do that, and let it requeue by itself when the node dies please")
    assert "--nodes=8" in thread.script and "--requeue" in thread.script and "--job-name=big" in thread.script


def test_a_yes_with_more_words_agrees_to_what_was_only_said() -> None:
    thread = started("It would take 8 nodes; shall I?", call("edit_script", fields={"nodes": "8"}), "Eight.")
    thread.say("it is too slow, what can I do?")
    thread.say("yes please go ahead and then tell me what that will cost me in the end")
    assert "--nodes=8" in thread.script
    assert AGREES.match("ok do it") and not AGREES.match("the yes or no")


@pytest.mark.parametrize(
    ("says", "shown"),
    [
        ("8 nodes instead of 2: up to 32 node hours instead of 8. Say *yes*.", ""),
        (
            "8 nodes instead of 2 cost up to 16 node hours. Say *yes*.",
            "What that would cost: up to 32 node hours instead of 8.",
        ),
        ("More nodes would help.", "(up to 32 node hours instead of 8)"),
    ],
)
def test_an_offer_reaches_the_person_with_its_true_price(says: str, shown: str) -> None:
    thread = started(call("edit_script", fields={"nodes": "8"}), says)
    assert thread.say("it is too slow").removeprefix(says).strip().endswith(shown)


def test_the_offer_of_this_very_turn_is_not_taken() -> None:
    thread = started(call("edit_script", fields={"nodes": "8"}), call("take_offer"), "Say yes.")
    thread.say("it is too slow")
    assert "the person has to agree first" in last(thread) and "--nodes=2" in thread.script


def test_an_offer_for_the_own_script_keeps_what_is_changed_beside_it() -> None:
    thread = Thread(Player(patch("-t 08:00:00", "-t 24:00:00"), patch("--bs 128", "--bs 64"), "Say yes for the time."))
    thread.say(f"it does not finish and runs out of memory, halve the batch\n{OWN}")
    assert "--bs 64" in thread.script and "08:00:00" in thread.script
    thread.say("yes")
    assert "--bs 64" in thread.script and "24:00:00" in thread.script


@pytest.mark.parametrize(
    ("value", "words", "said"),
    [
        ("00:30:00", "half an hour is enough", True),
        ("24:00:00", "a day", True),
        ("1", "on a node", True),
        ("8", "huit noeuds", True),
        ("8", "as it is", False),
        ("32", "make it thirty two", True),
        ("32", "make it thirty", False),
        ("gpu-preempt", "all at once after all but preemptable", True),
        ("gpu-preempt", "all at once after all", False),
    ],
)
def test_values_are_found_in_words(value: str, words: str, said: bool) -> None:
    assert is_said(value, words) is said


def test_a_way_of_a_plan_is_taken_by_its_number() -> None:
    plan = call("plan_resources", model="Llama-3-8B", machines=["delta"], nodes=8, tokens=2e9)
    thread = Thread(Player(plan, "It fits on 8 nodes; *take 1* writes it."))
    thread.say("does Llama-3-8B fit on 8 nodes of delta, 2B tokens?")
    thread.player.moves = [AssertionError("not asked")]
    thread.say("take 1")
    assert "--nodes=8" in thread.script and "FSDP" in thread.script


# New jobs.


def test_a_second_job_is_shown_whole_under_a_name_of_its_own_and_the_first_is_parked() -> None:
    args = {"machine": "perlmutter", "framework": "pytorch", "strategy": "fsdp", "nodes": 1, "entry": "eval.py"}
    thread = started(call("write_script", **args), "The second one.")
    first = thread.state["bundle"]
    told = thread.say("and another job: eval.py on one node")
    second, made = thread.state["bundle"], next(one for one in thread.state["said"] if isinstance(one, Made))
    assert first and second and "eval.py" in second.script and not made.diff and "(before)" not in told
    assert "m1234_g" in second.script, "the account goes with the machine"
    assert second.name != first.name and second.name in second.submit and second.name in second.script
    thread.player.moves = [AssertionError("not asked")]
    thread.say("back to the first job")
    assert thread.script == first.script
    thread.player.moves = [call("history", action="back", number=1), call("edit_script", fields={"nodes": "2"}), "Two."]
    thread.say("and in the second one: 2 nodes")
    assert thread.state["bundle"] and thread.state["bundle"].name == second.name


def test_a_strategy_that_was_not_said_is_the_usual_one_and_told() -> None:
    thread = Thread(Player(call("write_script", machine="delta", framework="pytorch", nodes=2, entry="a.py"), "Here."))
    told = thread.say("a.py with pytorch on 2 nodes of delta")
    assert "DDP" in thread.script and "strategy: `ddp`, not said, so what is usual for pytorch" in told


def test_the_script_of_the_rules_is_edited_where_none_is_in_hand() -> None:
    thread = Thread(Player(call("edit_script", fields={"environment_kind": "active"}), "Here it is."))
    told = thread.say("perlmutter, pytorch fsdp, 2 nodes, train.py --bs 8, account m1234_g, 4 hours")
    made = [part for part in thread.state["said"] if isinstance(part, Made)]
    assert "--nodes=2" in thread.script and "m1234_g" in thread.script and "module load pytorch" not in thread.script
    assert len(made) == 1 and not made[0].diff and "(before)" not in told
    assert len(thread.state["revisions"]) == 1
    thread = Thread(Player(call("edit_script", fields={"nodes": "3"}), "None."))
    thread.say("what is fsdp?")
    assert "no script is in hand" in last(thread) and not thread.script


def test_a_refused_port_leaves_the_own_script_in_hand() -> None:
    player = Player(call("port_script", machine="delta", fields={"nodes": "4000"}), "It cannot.")
    thread = Thread(player)
    thread.say(f"run it on delta with 4000 nodes\n{OWN.replace('gpuA100x4', 'gpuA40x4')}")
    assert "REFUSED" in last(thread) and thread.state["own"] and "#SBATCH -N 1" in thread.script


# Environments and counts.


def test_a_program_that_uses_vllm_gets_no_arguments_of_the_server() -> None:
    more = {"tensor_parallel": "4", "precision": "bf16"}
    args = {"machine": "delta", "framework": "vllm", "nodes": 1, "entry": "generate.py", "more_fields": more}
    thread = Thread(Player(call("write_script", **args), "Here."))
    told = thread.say("generate.py uses vllm's LLM with tensor parallel 4, one node of delta")
    assert "--tensor-parallel-size" not in thread.script and "--dtype" not in thread.script
    assert "The server listens" not in told


@pytest.mark.parametrize(
    ("framework", "entry", "program"),
    [
        ("pytorch", "torchrun --nproc_per_node=4 train.py --lr 1", "train.py --lr 1"),
        ("accelerate", "accelerate launch --num_processes 4 -m pkg.train --lr 1", "-m pkg.train --lr 1"),
        ("pytorch", "srun python -u train.py --tags 'a b'", "train.py --tags 'a b'"),
        ("pytorch", "python -m torch.distributed.run --nproc_per_node 4 t.py --x", "t.py --x"),
        ("megatron", "pretrain.sh --x", "bash pretrain.sh --x"),
        ("vllm", "meta-llama/Llama-3-8B", "vllm serve meta-llama/Llama-3-8B --tensor-parallel-size 4"),
        ("vllm", "python -m vllm.entrypoints.openai.api_server --model m",
         "-m vllm.entrypoints.openai.api_server --model m --tensor-parallel-size 4"),
    ],
)  # fmt: skip
def test_a_program_starts_once_and_by_what_it_is(framework: str, entry: str, program: str) -> None:
    thread = Thread(Player(call("write_script", machine="delta", framework=framework, nodes=1, entry=entry), "Here."))
    thread.say(f"{entry} with {framework} on one node of delta")
    assert f"PROGRAM=({program})" in thread.script and "TENSOR_PARALLEL" not in thread.script
    launcher = entry.split()[0] in ("torchrun", "accelerate", "srun")
    assert not launcher or "the script starts the ranks itself" in last(thread)


@pytest.mark.parametrize(
    ("machine", "fields", "held", "never"),
    [
        ("delta", {"environment_kind": "active"}, "torchrun", "module load"),
        ("polaris", {"environment_kind": "active"}, "#PBS -V", "conda activate"),
        ("delta", {"source_files": "/u/me/env.sh"}, "source /u/me/env.sh", ""),
        ("alps-clariden", {"container": "/users/me/ngc.toml"}, "/users/me/ngc.toml", "apptainer"),
        ("alps-clariden", {"container": "ngc-24.11"}, "EDF=ngc-24.11", "container.toml"),
    ],
)
def test_environments_are_values(machine: str, fields: dict[str, str], held: str, never: str) -> None:
    args = {"machine": machine, "framework": "pytorch", "strategy": "ddp", "nodes": 1, "more_fields": fields}
    thread = Thread(Player(call("write_script", **args), "Here."))
    thread.say(f"ddp on one node of {machine}, {fields}")
    assert held in thread.script and (not never or never not in thread.script)


@pytest.mark.parametrize(
    ("words", "given", "ranks", "told"),
    [
        ("4 GCDs on one node", 4, 4, False),
        ("8 GCDs", 8, 8, False),
        ("two cards of a node", 2, 4, False),
        ("all 4 MI250X of a node", 4, 8, False),
        ("4 GPUs of a node", 4, 8, True),
    ],
)
def test_cards_and_gcds_are_counted_as_said(words: str, given: int, ranks: int, told: bool) -> None:
    args = {"machine": "lumi", "framework": "pytorch", "strategy": "ddp", "nodes": 1, "gpus_per_node": given}
    thread = Thread(Player(call("write_script", **args), "Here."))
    answer = thread.say(f"ddp on lumi, train.py, 1 node, {words}")
    assert f"RANKS_PER_NODE={ranks}" in thread.script
    assert ("read as cards" in last(thread)) is told, "the model is told, and tells it in its own words"
    assert "read as cards" not in answer


# Orders of earlier turns, and deeds done twice.


@pytest.mark.parametrize(
    ("earlier", "done"),
    [
        ("Please run it in the premium queue from now on.", True),
        ("Would the premium queue be faster?", False),
        ("Take the premium queue. No: leave it in the regular queue.", False),
    ],
)
def test_what_was_ordered_in_an_earlier_turn_needs_no_second_yes(earlier: str, done: bool) -> None:
    thread = started("Noted.", call("edit_script", fields={"queue": "premium", "nodes": "4"}), "Done.")
    thread.say(earlier)
    told = thread.say("and 4 nodes")
    assert "--nodes=4" in thread.script and ("--qos=premium" in thread.script) is done
    assert "another queue" in told and isinstance(thread.state.get("pending"), OfferEdit) is not done


def test_two_steps_back_are_two_deeds() -> None:
    thread = started(call("edit_script", fields={"nodes": "3"}), "Three.", call("edit_script", fields={"nodes": "4"}))
    thread.player.moves.append("Four.")
    thread.say("3 nodes")
    thread.say("4 nodes")
    thread.player.moves = [call("history", action="undo"), call("history", action="undo"), "As at first."]
    thread.say("undo both, one after the other")
    assert "--nodes=2" in thread.script and "same call" not in last(thread)


def test_a_patch_that_failed_leaves_the_rules_script_to_be_taken() -> None:
    thread = Thread(Player(patch("no such line", "x"), "Here it is.\n\n[[rules]]", "Yes."))
    thread.say("perlmutter, pytorch fsdp, 2 nodes, train.py --bs 8, account m1234_g, 4 hours")
    assert "--nodes=2" in thread.script
    thread.say("is that all?")
    assert "SCRIPT IN HAND perlmutter-pytorch-fsdp.sh" in thread.player.asked[-1][1].text


PBS = """#!/bin/bash -l
#PBS -l select=10:ncpus=64:ngpus=4:system=polaris
#PBS -l place=scatter
#PBS -l walltime=06:00:00
#PBS -l filesystems=home:eagle
#PBS -q prod
#PBS -A climate
cd $PBS_O_WORKDIR
mpiexec -n 40 --ppn 4 python train.py
"""
LSF = """#!/bin/bash
#BSUB -P ABC123
#BSUB -nnodes 4
#BSUB -W 2:00
jsrun -n 16 --nnodes 4 python train.py
"""
BSC = """#!/bin/bash
#SBATCH --account=ehpc01
#SBATCH --partition=acc
#SBATCH --qos=acc_debug
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gres=gpu:4
#SBATCH --cpus-per-task=20
#SBATCH --time=01:00:00
srun python train.py
"""


@pytest.mark.parametrize(
    ("own", "words", "fields", "lines"),
    [
        (
            PBS,
            "20 nodes",
            {"nodes": "20"},
            ("#PBS -l select=20:ncpus=64:ngpus=4:system=polaris", "mpiexec -n 80 --ppn 4"),
        ),
        (
            PBS,
            "prod, 3 hours",
            {"queue": "prod", "walltime": "03:00:00"},
            ("select=10:", "walltime=03:00:00", "-q prod"),
        ),
        (LSF, "8 nodes, 90 minutes", {"nodes": "8", "walltime": "01:30:00"}, ("-nnodes 8", "-W 1:30", "-n 32")),
        (BSC, "acc_ehpc", {"queue": "acc_ehpc"}, ("--partition=acc\n", "--qos=acc_ehpc")),
        (BSC, "2 GPUs", {"gpus_per_node": "2"}, ("--gres=gpu:2",)),
    ],
)
def test_fields_of_an_own_script_go_where_its_directives_hold_them(
    own: str, words: str, fields: dict[str, str], lines: tuple[str, ...]
) -> None:
    thread = Thread(Player(call("edit_script", fields=fields), "Done."))
    thread.say(f"make it {words}\n```bash\n{own}```")
    assert all(one in thread.script for one in lines), last(thread)


# The rules' words beside the model's own.


def test_the_rules_words_do_not_repeat_what_the_model_says() -> None:
    asked = "what is FSDP?"
    rules = Thread(Player("[[rules]]")).say(asked)
    words = rules.partition("\n\nSources")[0]
    assert rules.count("shard") and Thread(Player(f"{words}\n\n[[rules]]")).say(asked).count("shard") == words.count(
        "shard"
    )
    assert Thread(Player("In short:\n\n[[rules]]")).say(asked).count("shard") == rules.count("shard")


def test_the_rules_no_answer_is_left_out_where_the_model_answers() -> None:
    asked = "make it 3 nodes, and what is the meaning of the colour on line twelve?"
    assert "so I do not guess" in started("[[rules]]").say(asked)
    told = started("Line 12 has no colour; three nodes it is.\n\n[[rules]]").say(asked)
    assert "so I do not guess" not in told and "--nodes=3" in told


@pytest.mark.parametrize(
    "change",
    [
        call("edit_script", fields={"gpus_per_node": "4 GCDs"}),
        call("edit_script", fields={"gpus_per_node": "2 cards"}),
        patch("#SBATCH --gpus-per-node=8", "#SBATCH --gpus-per-node=4"),
    ],
)
def test_half_a_node_of_tiles_can_be_had_in_either_count(change: Any) -> None:
    thread = Thread(Player("[[rules]]"))
    thread.say("lumi, pytorch ddp, 2 nodes, train.py --bs 8, account project_465000001, 4 hours, standard-g")
    assert "--gpus-per-node=8" in thread.script
    thread.player.moves = [change, "Half of each node."]
    thread.say("use only half of each node")
    assert "--gpus-per-node=4" in thread.script and "--nodes=2" in thread.script


def test_the_account_of_their_own_script_is_said() -> None:
    thread = Thread(
        Player(call("write_script", machine="polaris", nodes=2, account="climate", walltime="01:00:00"), "Done.")
    )
    thread.say(f"write me a fresh one for 2 nodes and an hour, same account as in this\n\n{PBS}")
    assert "-A climate" in thread.script


def test_the_account_of_a_script_for_another_site_is_not() -> None:
    fields = {"machine": "frontier", "framework": "pytorch", "strategy": "ddp", "entry": "train.py", "nodes": 2}
    thread = Thread(Player(call("write_script", **fields, account="climate", walltime="01:00:00"), "Done."))
    thread.say(f"write me one for Frontier, 2 nodes and an hour; this is what I run on Polaris\n\n{PBS}")
    assert "JOB machine=polaris" in thread.player.asked[0][-1].text
    assert "climate" not in thread.script and "YOUR_ACCOUNT" in thread.script
