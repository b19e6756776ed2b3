"""What a turn takes from words, calls and pages, and what it leaves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from player import Player, Thread, call, first_script

from graph.conversing.claims import mounted_in, queues_of
from graph.conversing.ground import Ground
from graph.conversing.orders import as_many_gpus, parts_of
from graph.conversing.porting import untold
from graph.conversing.rewriting import Hunk, rebased, with_hunks
from graph.modelling.model import ToolCall
from graph.planning.charging import runs
from knowledge.catalogue import catalogue
from knowledge.job_parts import LimitSignal, Patch
from knowledge.types import JobRequest, LaunchBundle

SCRIPT = """#!/bin/bash
#SBATCH -A m1234_g
#SBATCH -C gpu
#SBATCH -q shared
#SBATCH -N 1
#SBATCH -n 1
#SBATCH -c 32
#SBATCH --gpus-per-task=1
#SBATCH -t 02:00:00
srun python train.py --kappa 0.27 --lr 1e-3 --fp16 --out $SCRATCH/runs/k
"""
LOG = """x4117c3s2b0n0.hostmgmt2117.cm.aurora.alcf.anl.gov 0: Traceback (most recent call last):
x4117c3s2b0n0.hostmgmt2117.cm.aurora.alcf.anl.gov 0:   File "/flare/Proj/surr/main.py", line 41, in <module>
x4117c3s2b0n0.hostmgmt2117.cm.aurora.alcf.anl.gov 0:     torch.cuda.set_device(local_rank)
x4117c3s2b0n0.cm.aurora.alcf.anl.gov 0: AttributeError: module 'torch._C' has no attribute '_cuda_setDevice'
"""


def owned(*moves: object) -> Thread:
    thread = Thread(Player("Read.", *moves, "Done."))  # type: ignore[arg-type]
    thread.say(f"my script for perlmutter\n```bash\n{SCRIPT}```")
    return thread


def test_a_log_that_shows_its_machine_is_of_it_whatever_machines_the_words_name() -> None:
    thread = Thread(Player("Of Aurora."))
    thread.say(f"{LOG}\nworked on polaris")
    assert thread.player.asked[-1][1].text.startswith("MACHINE aurora")
    assert (request := thread.state.get("request")) and request.machine == "aurora"
    assert "GPUs of Aurora is xccl" in thread.player.asked[-1][1].text


def test_an_order_beside_a_question_is_done_without_being_called_one() -> None:
    thread = Thread(Player(call("edit_script", fields={"nodes": 3}), "Done."), first_script())
    thread.say("go back to 3 nodes. why was it slow with 2?")
    assert "#SBATCH --nodes=3" in thread.script
    thread = Thread(Player(call("edit_script", fields={"nodes": 3}), "Done."), first_script())
    thread.say("would 3 nodes be quicker?")
    assert "#SBATCH --nodes=2" in thread.script


def test_several_edits_of_arguments_in_one_text_are_each_done() -> None:
    thread = owned(call("edit_script", fields={"argument_edits": "--lr=1e-4, --seed=7, !--fp16"}, purpose="order"))
    thread.say("lr 1e-4, seed 7, and no fp16 please")
    assert "--lr 1e-4" in thread.script and "--seed 7" in thread.script.replace("=", " ")
    assert "--fp16" not in thread.script


def test_edits_of_arguments_are_not_parted_within_quotes() -> None:
    parts = parts_of("argument_edits", """--opts="-a -b", --lr=1e-4, !--amp""")
    assert parts == ('--opts="-a -b"', "--lr=1e-4", "!--amp")


def test_what_the_checks_warn_of_with_a_change_is_told() -> None:
    thread = owned(call("edit_script", fields={"array": "kappa=0.1,0.2,0.27"}))
    thread.say("an array over kappa 0.1, 0.2, 0.27")
    told = next(one.text for one in thread.player.asked[-1] if one.role == "tool")
    assert "with this change the checks warn" in told and "same for all tasks" in told


def test_a_whole_script_under_a_new_name_stands_beside_the_one_in_hand() -> None:
    text = SCRIPT.replace("02:00:00", "00:10:00")
    thread = owned(call("edit_script", file="try.sh", text=text))
    thread.say("what would a ten minute try look like?")
    assert "00:10:00" in thread.script and len(thread.state["jobs"]) == 1


def test_fewer_gpus_are_counted_as_the_script_in_hand_counts_them() -> None:
    sizes = {"nodes": 1, "gpus_per_node": 8, "entry": "train.py", "walltime": "01:00:00", "strategy": "ddp"}
    write = call("write_script", machine="lumi", account="project_465001877", framework="pytorch", **sizes)
    edit = call("edit_script", fields={"queue": "small-g", "gpus_per_node": 4}, purpose="order")
    thread = Thread(Player(write, "Below.", edit, "Done."))
    thread.say("lumi, ddp, 1 node 8 gpus, train.py, project_465001877, 1 h")
    thread.say("small-g then, i only need 4 of the gpus")
    assert "#SBATCH --gpus-per-node=4" in thread.script


@pytest.mark.parametrize("words", ["QOS `gp_` only", "sbatch --qos=ESA_QOS job.sh", "the queue YOUR_QUEUE"])
def test_the_beginning_of_names_and_a_placeholder_are_no_queues(words: str) -> None:
    assert queues_of(words) == []


def test_a_folder_that_the_facts_give_for_every_project_is_known() -> None:
    ground, lumi = Ground(), catalogue().clusters["lumi"]
    assert ground.has_path("/scratch/project_465001877/data", [lumi])
    assert not ground.has_path("/archive/other/data", [lumi])


def test_a_lost_line_is_told_by_its_option_or_by_its_folder() -> None:
    lines = ["#SBATCH -p GPU", "source /eagle/Proj/me/venv_gnn/bin/activate", "export OLD_PATH=/x/yz"]
    words = "| `-p GPU` | now `-q batch` | and `source .../venv_gnn/...` is the new one |"
    assert untold(lines, words) == ["export OLD_PATH=/x/yz"]


def test_a_part_of_a_numbered_line_is_replaced() -> None:
    line = SCRIPT.splitlines().index("#SBATCH -t 02:00:00") + 1
    thread = owned(call("edit_script", patch=[{"line": line, "old": "02:00:00", "new": "01:30:00"}], purpose="order"))
    thread.say("make it 1.5 hours")
    assert "#SBATCH -t 01:30:00\n" in thread.script


def test_a_file_that_no_scheduler_reads_is_no_copy_of_the_script() -> None:
    thread = owned(call("edit_script", file="jax.toml", text='image = "x"\n', purpose="order"))
    thread.say("and the jax.toml for it please")
    assert "in your answer" in thread.player.asked[-1][-1].text and "image" not in thread.script


def test_a_draft_whose_name_the_last_script_has_is_not_shown() -> None:
    sizes = {"nodes": 1, "gpus_per_node": 8, "entry": "train.py", "walltime": "01:00:00", "strategy": "none"}
    draft = call("write_script", machine="lumi", account="project_465001877", framework="jax", **sizes)
    rows = ("#!/bin/bash", "#SBATCH -A project_465001877 -p standard-g", "#SBATCH -N 1 -t 1:00:00", "srun true")
    text = "\n".join(rows)
    whole = call("write_script", machine="lumi", text=text, file="lumi-jax.sh")
    thread = Thread(Player(draft, whole, "Below."))
    told = thread.say("lumi, jax, 1 node, 8 gpus, train.py, 1 h, project_465001877")
    assert told.count("```bash") == 1 and "srun true" in told


def test_the_starts_that_a_changed_line_gives_are_the_price() -> None:
    request = JobRequest(nodes=1, walltime="04:00:00", requeue=True, signal=LimitSignal("USR1", 300))
    fewer = replace(request, patches=(Patch(("MOST_STARTS=20",), ("MOST_STARTS=3",)),))
    assert (runs(request, "slurm"), runs(fewer, "slurm")) == (20, 3)


def test_an_account_that_is_left_open_again_keeps_its_line() -> None:
    open_ = patch_of("#SBATCH --account=m1234_g", "#SBATCH --account=YOUR_ACCOUNT")
    thread = Thread(Player(open_, "Done."), first_script())
    thread.say("that account is of another site, put a placeholder there")
    assert "#SBATCH --account=YOUR_ACCOUNT" in thread.script and "m1234" not in thread.script


def patch_of(old: str, new: str) -> ToolCall:
    return call("edit_script", patch=[{"old": old, "new": new}], purpose="order")


@pytest.mark.parametrize(
    "words, done",
    [
        ("mit vier mal so vielen gpus bitte", True),
        ("es hakt manchmal, mit vier mal so vielen gpus bitte", True),
        ("it is slow", False),
    ],
)
def test_a_multiple_that_is_said_is_an_order(words: str, done: bool) -> None:
    thread = Thread(Player(call("edit_script", fields={"nodes": 8}), "Done."), first_script())
    thread.say(words)
    assert ("#SBATCH --nodes=8" in thread.script) is done


def test_a_change_of_what_an_earlier_change_put_in_leaves_the_rest_of_it() -> None:
    block = (
        "AGAIN=$WARNED\n# a crash after an hour: once more\nif [ $SECONDS -gt 3600 ]; then AGAIN=1; fi\nsrun --ntasks"
    )
    moves = [
        patch_of("srun --ntasks", block),
        patch_of("[ $SECONDS -gt 3600 ]", "[ $SECONDS -ge 600 ]"),
        patch_of("[ $SECONDS -ge 600 ]", "[ $SECONDS -ge 1200 ]"),
        call("edit_script", fields={"nodes": 4}),
    ]
    thread = Thread(Player("Yes."), first_script())
    for move in moves:
        thread.player.moves = [move, "Done."]
        told = thread.say("4 nodes, and change that block as I said")
        assert "AGAIN=$WARNED\n# a crash" in thread.script and "no place" not in told
    assert "[ $SECONDS -ge 1200 ]; then" in thread.script and "--nodes=4" in thread.script


def test_some_lines_of_a_script_are_not_handed_in() -> None:
    line = "srun torchrun --nproc-per-node=4 train.py --bs 8"
    thread = Thread(Player("Read.", patch_of("--bs 8", "--bs 16"), "Done."))
    thread.say(f"my launch line on perlmutter\n```bash\n{line}\n```")
    told = thread.say("batch 16")
    assert "--bs 16" in told and "sbatch" not in told


def test_an_order_that_only_another_account_takes_is_done_with_the_account_open() -> None:
    sizes = {"nodes": 1, "gpus_per_node": 4, "entry": "train.py", "walltime": "10:00:00", "strategy": "ddp"}
    write = call("write_script", machine="anvil", account="che230059-gpu", framework="pytorch", **sizes)
    thread = Thread(Player(write, "Below.", call("edit_script", fields={"queue": "ai"}, purpose="order"), "Done."))
    thread.say("anvil, 1 node 4 gpus, train.py, 10 h, account che230059-gpu, ddp")
    told = thread.say("no wait, the h100s please, partition ai")
    assert "#SBATCH -p ai" in thread.script and "#SBATCH -A YOUR_ACCOUNT-ai" in thread.script
    assert "YOUR_ACCOUNT-ai" in told and "end on -ai" in thread.player.asked[-1][-1].text


@pytest.mark.parametrize(
    "script, excerpt",
    [
        ("#SBATCH -N 2\n#SBATCH -t 1:00:00\n", True),
        ("#SBATCH -N 2\nsrun python t.py\n", True),
        ("#PBS -l select=2\nmpiexec python t.py\n", False),
        ("#!/bin/bash\n#SBATCH -N 2\nsrun python t.py\n", False),
    ],
)
def test_what_no_scheduler_would_take_is_an_excerpt(script: str, excerpt: bool) -> None:
    assert LaunchBundle("job.sh", script, (), "sbatch job.sh").is_excerpt is excerpt


def test_lines_beside_a_changed_field_are_put_in_with_it() -> None:
    new = "#SBATCH --time=03:00:00\n#SBATCH --signal=B:USR1@120\nulimit -c 0"
    swap = {"old": "#SBATCH --time=04:00:00", "new": new}
    thread = Thread(Player(call("edit_script", patch=[swap], purpose="order"), "Done."), first_script())
    thread.say("3 hours, a signal two minutes before the end and no core files")
    assert "--time=03:00:00" in thread.script and "ulimit -c 0" in thread.script


def test_as_many_gpus_on_fewer_nodes_are_no_dearer_order() -> None:
    mine = SCRIPT.replace("-q shared", "-q regular").replace("-N 1", "-N 2").replace("-n 1", "--ntasks-per-node=2")
    mine = mine.replace("--gpus-per-task=1", "--gpus-per-node=2")
    fields = {"nodes": 1, "gpus_per_node": 4}
    thread = Thread(Player("Read.", call("edit_script", fields=fields, purpose="order"), "Done."))
    thread.say(f"my script for perlmutter\n```bash\n{mine}```")
    thread.say("put it all on a single machine, same size")
    assert "-N 1" in thread.script and "--gpus-per-node=4" in thread.script
    assert not thread.state.get("pending")


def test_a_name_for_a_script_of_ours_is_not_dropped_in_silence() -> None:
    given = {"machine": "perlmutter", "framework": "pytorch", "strategy": "ddp", "nodes": 1, "entry": "train.py"}
    thread = Thread(Player(call("write_script", file="weak.sh", account="m1234_g", walltime="1h", **given), "Done."))
    thread.say("perlmutter, pytorch ddp on 1 node for 1h, train.py, account m1234_g, as weak.sh")
    assert "weak.sh" in thread.player.asked[-1][-1].text and "saved as weak.sh" in thread.player.asked[-1][-1].text


def test_a_hunk_finds_its_place_in_a_text_that_was_changed_elsewhere() -> None:
    hunks = (Hunk(1, 2, ("B",)), Hunk(3, 3, ("new",)))
    assert with_hunks("a\nb\nX\nc\nd", rebased(hunks, "a\nb\nc\nd", "a\nb\nX\nc\nd")) == "a\nB\nX\nc\nnew\nd"
    assert with_hunks("a\nc\nX", rebased((Hunk(1, 2, ("C",)),), "a\nc", "a\nc\nX")) == "a\nC\nX"


def test_more_nodes_with_as_many_gpus_are_an_order_of_their_own() -> None:
    two = JobRequest(nodes=2, gpus_per_node=4)
    assert as_many_gpus(two, JobRequest(nodes=1, gpus_per_node=8))
    assert not as_many_gpus(two, JobRequest(nodes=8, gpus_per_node=1))


def test_folders_that_an_answer_makes_in_a_container() -> None:
    assert mounted_in("docker run -v $PWD:/out x") == ["/out"]
    assert mounted_in("apptainer exec -B /lustre/a:/lustre/a i.sif x, target=/lustre/b, -v $PWD:/.") == []
