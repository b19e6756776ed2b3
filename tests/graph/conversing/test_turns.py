"""What a turn leaves for the next: citations, placeholders, the job that is spoken of; and that no field is dropped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from player import Player, Thread, call, first_script

from graph.conversing.hand import in_rows, shortened
from graph.conversing.job_told import decided, told_request
from graph.modelling.model import ModelError
from graph.planning.request_fields import FIELDS
from graph.state import State

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
    "offload_parameters": "yes", "port": "30123", "config_file": "own_fsdp.yaml",
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
    assert all(f"[{at}] {text}" in brief for at, text in page if at in (1, 2))
    cited = f"[2] {dict(page)[2]}"
    assert cited in again and cited in told, "a page keeps its number all through the thread"


def test_a_long_answer_keeps_whole_rows_of_each_list() -> None:
    rows = [f"- queue q{at}: {'x' * 60}" for at in range(40)]
    text = "\n".join(["queues:", *(f"  {row}\n    limit: {at} h" for at, row in enumerate(rows)), "account: bdxx"])
    told = in_rows(text, 900)
    assert len(told) <= 900 and told.endswith("account: bdxx") and "limit: 1 h" in told
    kept = told.count("- queue")
    assert f"({40 - kept} more left out" in told and told.count("limit:") == kept and in_rows(text, 9000) == text


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
    person = next(name for name, value in named.items() if value == "anna")
    assert all(f"/work/hdd/bdxx/<{person}>" in one for one in sent), "the project stays, a person has one number"
    assert "account bdxx-delta-gpu" in sent[0] and not any("anna" in one or "/ben" in one for one in sent)
    assert "login.delta.ncsa.illinois.edu" in sent[1], "what our own pages hold is nobody's"


def test_what_a_model_wrote_itself_is_no_key_in_later_turns_and_what_a_person_wrote_is() -> None:
    own = ('squeue -o "%i %j %T %N"', "`Qwen2DecoderLayer`", "Lonestar6's form")
    player = Player(f"Look with `{own[0]}`; wrap {own[1]}, as in {own[2]}.", "Yes.")
    player.leaves = True
    thread = Thread(player)
    thread.say("on delta, export WANDB_API_KEY=9d3f0c7a1be24f8896ab01c2d3e4f5a6b7c8d9e0, which layer do i wrap?")
    thread.say("and with WANDB_API_KEY=1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e ?")
    first, second = ("\n".join(m.text for m in one[1:]) for one in player.asked)
    assert all(one in second for one in own)
    assert "9d3f0c7a" not in first + second and "1b2c3d4e" not in second and second.count("and with WANDB") == 1


def test_our_own_facts_hide_nothing() -> None:
    player = Player(call("cluster_facts", machine="marenostrum5", about=["login"]), "Log in at alogin1.")
    player.leaves = True
    thread = Thread(player)
    thread.say("marenostrum 5: where do i log in?")
    told = player.asked[-1][-1].text
    assert "<KEY_" not in told and "alogin4 and" in told


def test_an_invented_placeholder_goes_into_no_script_and_the_model_is_told() -> None:
    player = Player("[[rules]]")
    player.leaves = True
    thread = Thread(player)
    thread.say("perlmutter, pytorch ddp, train.py, 1 node, 1 hour, account m4471_g")
    player.moves = [call("edit_script", fields={"account": "<ACCOUNT_7>"}), "I did not change it."]
    thread.say("take my other account")
    assert "stands for nothing" in "\n".join(m.text for m in player.asked[-1]) and "ACCOUNT_7" not in thread.script


def test_the_numbers_of_names_stay_where_a_turn_falls_back_to_the_rules() -> None:
    player = Player(ModelError("gone"), "Yes.")
    player.leaves = True
    thread = Thread(player)
    thread.say("on perlmutter, is account m4471 enough for user mvarga7?")
    thread.models.breakers.clear()
    thread.say("and for user ben12, or mvarga7?")
    assert "user <USER_2>, or <USER_1>" in "\n".join(m.text for m in player.asked[-1])


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
    assert len(told) >= 8 and all(one.startswith("error: ") for one in told)
    refused = [one for one in told[:8] if "no argument colour" in one]
    assert len(refused) == 5  # the three others take fields by name, and fail earlier: no machine, no script


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


PRINTED = """Job Id: 2719944.polaris-pbs-01
    Job_Name = mae
    job_state = Q
    queue = small
    Resource_List.nodect = 16
    Resource_List.walltime = 03:00:00
    comment = Not Running: Insufficient amount of resource: grand_fs (False != True)"""


def test_the_persons_own_words_are_kept_whole() -> None:
    thread = started("own")
    words = "ok. can u just send me the whole script fixed so i can paste it"
    thread.say(words)
    thread.say("thanks")
    assert f"person: {words}" in briefs(thread)


def test_a_script_that_was_shown_is_not_told_again_beside_the_one_in_hand() -> None:
    thread = Thread(Player("The whole file:\n\n[[script]]\n\nSubmit it.", "Fine."), started("own").state)
    thread.say("send me the whole script")
    thread.say("thanks, and now?")
    brief = briefs(thread)
    assert brief.count("srun torchrun --nnodes=2") == 1 and "The whole file:" in brief and "Submit it." in brief


def test_what_tools_told_is_known_in_the_next_turns_with_its_pages() -> None:
    facts = call("cluster_facts", machine="anvil", about=["queues"])
    thread = Thread(Player("Noted.", facts, "There are several.", "It is short."))
    for says in ("i work on delta", "which queues are on anvil?", "and for a test?", "and at night?"):
        thread.say(says)
    found = briefs(thread).partition("FOUND by tools")[2].partition("\n\n")
    assert "cluster_facts anvil, queues" in found[0] and "gpu-debug" in found[0]
    page = found[0].partition("gpu-debug")[2].partition("[")[2].partition("]")[0]
    assert f"[{page}] http" in found[2]


def test_what_a_scheduler_printed_stays_known_by_its_job() -> None:
    thread = Thread(Player("It waits for grand."))
    thread.say(f"polaris, why does it wait?\n\n{PRINTED}")
    asked = "now:  comment = Not Running: Job would conflict with reservation or top job   ... is that bad?"
    thread.say(asked)
    brief = briefs(thread)
    assert "nodect = 16" in brief and "top job" in brief.partition("SCHEDULER OUTPUT")[2].partition("MESSAGE")[0]
    assert asked in brief.partition("\nMESSAGE\n")[2] and "no words" not in brief
    thread.say("and now?\n\n" + PRINTED.replace("= 16", "= 8"))
    assert "nodect = 8" in briefs(thread) and "nodect = 16" not in briefs(thread)


def test_the_message_is_told_as_it_was_sent_with_marks_for_what_is_shown_above() -> None:
    thread = Thread(Player("Read."))
    thread.say(
        f"here is mine\n\n{OWN}\nand it prints this, why?\n\nslurmstepd: error: Detected 1 oom_kill event in step 1.0"
    )
    message = briefs(thread).partition("\nMESSAGE\n")[2]
    assert "here is mine" in message and "(the script in hand)" in message and "(the log)" in message
    assert "module load" not in message and "and it prints this, why?" in message


@pytest.mark.parametrize(
    "asked",
    ["should I tell my supervisor about it first?", "send me the whole script so i can paste it"],
)
def test_rules_that_answered_nothing_are_not_told(asked: str) -> None:
    thread = Thread(Player("Words."), started("own").state)
    thread.say(asked)
    assert "RULES would answer" not in briefs(thread)


def test_many_long_turns_stay_small_and_the_last_answer_is_whole() -> None:
    last = "It is so. " * 250 + "Say *three* and I set it."
    thread = Thread(Player(*["A long answer about it. " * 120] * 8, last, "Yes."))
    for at in range(10):
        thread.say(f"question {at} about the job " + "and this and that " * 100)
    assert "Say *three* and I set it." in briefs(thread)
    assert thread.player.tokens(briefs(thread)) < 5000


@pytest.mark.parametrize(
    "around",
    [
        "Script vista_lora.sh:\n\n{}",
        "```bash vista_lora.sh\n{}\n```",
        "$ sbatch vista_lora.sh\n{}",
        "cat > vista_lora.sh <<'EOF'\n{}EOF\n",
    ],
)
def test_a_script_keeps_the_name_of_its_file(around: str) -> None:
    thread = Thread(Player("Read."))
    thread.say("why does it fail? " + around.format(OWN))
    assert thread.state["bundle"].name == "vista_lora.sh"
    assert thread.state["bundle"].submit == "sbatch vista_lora.sh"


def test_who_is_asked_for_the_whole_script_shows_it_whole() -> None:
    edit = call("edit_script", fields={"walltime": "04:00:00"})
    thread = Thread(Player(edit, "Four hours.", "Here it is."), started("own").state)
    told = thread.say("make it 4 hours and send me the whole script")
    assert "#SBATCH -t 04:00:00" in told and "module load" in told and "@@" not in told
    assert "module load" in thread.say("the whole script again please")


def test_what_was_tried_and_undone_in_a_turn_is_told_of_no_more() -> None:
    times = [call("edit_script", fields={"walltime": one}) for one in ("02:00:00", "07:00:00")]
    moves = [call("port_script", machine="anvil"), call("history", action="undo"), *times]
    thread = Thread(Player(*moves, "Seven hours."), started("own").state)
    told = thread.say("make it 7 hours")
    assert "-#SBATCH -t 08:00:00\n+#SBATCH -t 07:00:00" in told and "02:00:00" not in told and "Assumed" not in told


def test_the_machine_of_an_own_script_is_set_without_porting_it() -> None:
    moves = [call("edit_script", fields={"machine": "anvil", "walltime": "07:00:00"}), "Done."]
    thread = Thread(Player(*moves), started("own").state)
    thread.say("this is for anvil by the way; make it 7 hours")
    assert (
        thread.state["request"].machine == "anvil" and "-p gpuA100x4" in thread.script and "07:00:00" in thread.script
    )


@pytest.mark.parametrize(
    ("says", "machine"),
    [
        ("My Stampede3... no sorry, Vista job fails", "vista"),
        ("on delta, i mean anvil, it dies", "anvil"),
        ("perlmutter - sorry, frontier: why does it wait?", "frontier"),
        ("on delta, no, anvil", "anvil"),
        ("en Delta, no Anvil: falla", "delta"),
        ("Delta or Anvil, either is fine", "delta"),
    ],
)
def test_a_name_that_corrects_takes_the_place_of_the_one_before(says: str, machine: str) -> None:
    thread = Thread(Player("Read."))
    thread.say(f"{says}\n\n#!/bin/bash\n#SBATCH -N 2\nsrun python train.py\n")
    assert thread.state["request"].machine == machine


def test_a_script_goes_where_the_words_say_and_not_where_it_came_from() -> None:
    thread = Thread(Player("[[rules]]"))
    thread.say(f"we move from Frontier to Perlmutter. This is what I run on Frontier, please port it\n\n{OWN}")
    assert thread.state["request"].machine == "perlmutter"


def test_the_sizes_of_a_machine_that_is_told_of_are_not_those_of_a_job_elsewhere() -> None:
    thread = Thread(Player("Either."))
    words = 'I have an allocation on Delta and one on our own cluster "Hydra" (8 nodes x 8 H200, slurm). '
    thread.say(words + "Want to finetune Qwen2.5-14B, 120k samples of 2k tokens. Which machine, how long?")
    request = thread.state["request"]
    assert request.nodes is None and request.gpus_per_node is None and "RULES" not in briefs(thread)


def test_one_gpu_needs_no_word_on_its_strategy() -> None:
    write = call(
        "write_script",
        machine="delta",
        framework="hf-trainer",
        strategy="none",
        nodes=1,
        gpus_per_node=1,
        entry="sft.py",
    )
    assert "chosen for you" not in Thread(Player(write, "Below.")).say("lora on delta, one A100, sft.py, 1 node")


def test_versions_of_one_size_and_a_filled_placeholder_are_not_told_again() -> None:
    patch = [{"old": "train.py --bs 8", "new": "train.py --bs 4"}]
    thread = Thread(Player(call("edit_script", patch=patch), "Four.", "Yes."), started("own").state)
    thread.say("batch 4 please")
    thread.say("really?")
    versions = briefs(thread).partition("VERSIONS")[2].partition("\n")[0]
    assert "2. other lines" in versions
    write = call("write_script", machine="delta", framework="pytorch", strategy="ddp", nodes=1, entry="train.py")
    thread = Thread(Player(write, "Below."))
    thread.say("train.py with ddp on 1 node of delta")
    filled = replace(thread.state["bundle"], script=thread.script.replace("YOUR_ACCOUNT", "bdxx"))
    assert "YOUR_ACCOUNT" in decided(thread.state, 1500)
    assert "YOUR_ACCOUNT" not in decided(State(**{**thread.state, "bundle": filled}), 1500)
