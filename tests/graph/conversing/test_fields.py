"""Each field of a call by itself: what can be is done in the same call, the rest told with what works instead."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
from player import Player, Thread, call, first_script

from knowledge.types import OfferChoice, OfferEdit


def edit(**fields: str) -> Any:
    return call("edit_script", fields=fields)


def after(words: str, *calls: Any, own: str = "") -> tuple[Thread, str]:
    """The thread after one message with these calls, and what the last call answered."""
    thread = Thread(Player(*calls, "Done."), None if own else first_script())
    thread.say(f"{words}\n{own}")
    return thread, thread.player.asked[-1][-1].text


def test_an_array_without_tasks_is_not_written() -> None:
    own = "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --time=1:00:00\nsrun python train.py\n"
    thread, told = after("make it an array over 10-1", edit(array="10-1"), own=own)
    assert "no tasks" in told and "--array" not in thread.script


# Our script.


def test_a_field_that_cannot_be_leaves_the_others_done() -> None:
    thread, told = after(
        "8 nodes, mail me at a@b.de, colour blue", edit(nodes="8", mail="a@b.de", colour="blue", constraint="a b")
    )
    assert "--nodes=8" in thread.script and "--mail-user=a@b.de" in thread.script
    assert "not done: colour=blue: no field" in told and "constraint not changed" in told and "a b" not in thread.script


def test_a_field_beside_the_fields_is_one_of_them() -> None:
    thread, told = after("8 nodes, and mail me at a@b.de", call("edit_script", nodes="8", fields={"mail": "a@b.de"}))
    assert "--nodes=8" in thread.script and "--mail-user=a@b.de" in thread.script and "error" not in told
    _, told = after("8 nodes", call("edit_script", colour="blue"))
    assert "colour=blue: no field" in told


def test_an_unknown_queue_leaves_the_nodes_and_offers_the_queues() -> None:
    thread, told = after("32 nodes in qos foo", edit(nodes="32", qos="foo"))
    assert "--nodes=32" in thread.script and "queue not changed, the other fields are" in told
    assert isinstance(thread.state["pending"], OfferChoice)
    thread.say("5")
    assert "--nodes=32" in thread.script and "--qos=preempt" in thread.script


def test_a_size_that_does_not_go_together_is_one_refusal_with_its_ways_and_the_rest_is_done() -> None:
    fields = {"nodes": "32", "queue": "debug", "walltime": "10:00:00", "job_name": "big"}
    thread, told = after("32 nodes on debug for 10 hours; call it big", edit(**fields))
    assert "--job-name=big" in thread.script and "--nodes=2" in thread.script and "04:00:00" in thread.script
    assert "nodes" in told.partition("not changed")[0] and "32 nodes for 10:00:00 (queue regular)" in told
    thread.say("1")
    assert "--nodes=32" in thread.script and "--time=10:00:00" in thread.script and "--job-name=big" in thread.script


def test_fields_that_fit_only_together_are_done_together() -> None:
    thread, _ = after("debug queue, 8 nodes, 30 minutes", edit(queue="debug", nodes="8", walltime="30m"))
    assert "--qos=debug" in thread.script and "--nodes=8" in thread.script and "--time=00:30:00" in thread.script


def test_a_question_is_never_done() -> None:
    thread, told = after("would 32 nodes be faster?", edit(nodes="32"))
    assert "--nodes=2" in thread.script and "TRIED, not done" in told and "would cost" in told
    thread, _ = after("could you make it 32 nodes?", edit(nodes="32"))
    assert "--nodes=32" in thread.script


def test_a_new_script_is_written_without_the_part_that_cannot_be() -> None:
    args = {"machine": "delta", "framework": "pytorch", "strategy": "ddp", "nodes": 2, "entry": "a.py"}
    more = {"constraint": "a b", "variables": "SEED=$(cat seed.txt)", "after": 'echo "ended with $?"'}
    thread, told = after("a.py on 2 nodes of delta", call("write_script", **args, more_fields=more))
    assert "not done: constraint=a b" in told and 'SEED="$(cat seed.txt)"' in thread.script
    assert 'echo "ended with $?"' in thread.script and subprocess.run(["bash", "-n"], input=thread.script.encode()).returncode == 0  # fmt: skip  # noqa: E501


@pytest.mark.parametrize(
    ("launcher", "row"), [("srun", 'srun --ntasks="$WORLD_SIZE"'), ("torchrun", "torchrun"), ("mpirun", "")]
)
def test_the_launcher_that_was_said_starts_the_program(launcher: str, row: str) -> None:
    thread, told = after(f"start it with {launcher}", edit(launcher=launcher, job_name="own"))
    assert "--job-name=own" in thread.script and row in thread.script
    assert ("starts tasks with srun" in told) is (launcher == "mpirun")
    assert ("torchrun" in thread.script) is (launcher != "srun")


# Scripts of the person's own.

PBS = """#!/bin/bash -l
#PBS -l select=4:system=polaris
#PBS -l walltime=01:00:00
#PBS -q prod
#PBS -A datascience
cd ${PBS_O_WORKDIR}
module load conda; conda activate base
mpiexec -n 16 --ppn 4 --cpu-bind depth -d 8 python train.py --epochs 3
"""
LSF = """#!/bin/bash
#BSUB -P ABC123
#BSUB -nnodes 2
#BSUB -W 2:00
module load open-ce
jsrun -n 2 -r 1 -a 1 -c 42 -g 6 ./launch.sh train.py --batch 32
"""
ARRAY = """#!/bin/bash
#SBATCH -p gpuA100x4
#SBATCH --account=bdxx-delta-gpu
#SBATCH --array=0-9
#SBATCH --gres=gpu:1
#SBATCH -t 2:00:00
source ~/miniconda3/etc/profile.d/conda.sh
conda activate ml
LRS=(1e-3 1e-4)
for s in 1 2 3; do
  python train.py --seed $s --lr ${LRS[$SLURM_ARRAY_TASK_ID]} \\
     --out runs/$SLURM_ARRAY_TASK_ID
done
cat <<EOF > done.txt
finished $SLURM_JOB_ID
EOF
"""
IMAGE = """#!/bin/bash
#SBATCH -N 2
#SBATCH --gpus-per-node=4
#SBATCH -A m1234
#SBATCH -C gpu
#SBATCH -q regular
#SBATCH -t 4:00:00
set -e
srun apptainer exec --nv img.sif python train.py --lr 0.1
"""
ACCELERATE = """#!/bin/bash
#SBATCH -p gpu
#SBATCH -N 1
#SBATCH --gres=gpu:2
#SBATCH -t 12:00:00
source activate llm
accelerate launch --num_processes 2 finetune.py \\
    --lr 1e-5 > log.txt 2>&1 &
PID=$!
wait $PID
"""
TORQUE = """#!/bin/csh
#PBS -l nodes=1:ppn=4
#PBS -l walltime=10:00:00
cd $PBS_O_WORKDIR
python train.py
"""


@pytest.mark.parametrize(
    ("own", "fields", "rows", "never"),
    [
        (PBS, {"job_name": "big", "output": "o.txt", "mail": "a@b.de:end"}, ("-N big", "-o o.txt", "-M a@b.de"), ""),
        (PBS, {"environment": "$HOME/v", "environment_kind": "venv"},
         ('module load conda; source "$HOME/v/bin/activate"\n',), "conda activate"),
        (PBS, {"args": "--epochs 10 --amp", "variables": "OMP_NUM_THREADS=4"},
         ("--epochs 10 --amp", "export OMP_NUM_THREADS=4\nmpiexec"), "--epochs 3"),
        (PBS, {"processes_per_node": "2"}, ("-n 8 --ppn 2",), "-n 16"),
        (LSF, {"nodes": "4"}, ("-nnodes 4", "jsrun -n 4 -r 1"), "-n 2"),
        (LSF, {"argument_edits": "--batch=64", "before": "nvidia-smi"}, ("--batch 64", "nvidia-smi\njsrun"), ""),
        (ARRAY, {"array": "20%4", "environment": "ml2", "walltime": "03:00:00"},
         ("--array=0-19%4", "conda activate ml2\n", "-t 03:00:00"), "activate ml\n"),
        (ARRAY, {"before": "nvidia-smi", "after": "touch end"},
         ("nvidia-smi\nfor s in", "done\ntouch end\ncat <<EOF"), ""),
        (IMAGE, {"container": "new.sif", "requeue": "yes", "memory_gb": "100"},
         ("--nv new.sif python", "--requeue", "--mem=100G"), "img.sif"),
        (ACCELERATE, {"gpus_per_node": "4", "args": "--lr 2e-5", "after": "cp log.txt $HOME/"},
         ("--gres=gpu:4", "--num_processes 4", "--lr 2e-5 > log.txt", "wait $PID\ncp log.txt $HOME/"), "_processes 2"),
        (TORQUE, {"nodes": "2"}, ("nodes=2:ppn=4",), ""),
        (IMAGE, {"after": 'echo "ended with $?"'}, ("set +e\nsrun", "--lr 0.1\necho \"ended with $?\""), ""),
    ],
)  # fmt: skip
def test_fields_of_an_own_script_find_their_place(own: str, fields: dict[str, str], rows: Any, never: str) -> None:
    thread, told = after(f"please: {fields}", edit(**fields), own=own)
    assert all(one in thread.script for one in rows), (told, thread.script)
    assert not never or never not in thread.script


def test_what_an_own_script_has_no_place_for_leaves_the_rest_done() -> None:
    fields = {"nodes": "3", "strategy": "fsdp", "scheduler": "slurm", "container": "x.sif"}
    thread, told = after("3 nodes, fsdp, slurm, in x.sif", edit(**fields), own=LSF)
    assert "-nnodes 3" in thread.script and "jsrun -n 3" in thread.script
    assert "not done: strategy=fsdp" in told and "not done: container" in told
    assert "scheduler=slurm: a script for another scheduler is one for another machine" in told


def test_what_costs_unordered_is_offered_beside_what_is_done() -> None:
    fields = {"container": "new.sif", "walltime": "12:00:00"}
    thread, told = after("take new.sif; it never finishes", edit(**fields), own=IMAGE)
    assert "new.sif" in thread.script and "-t 4:00:00" in thread.script and "NOT done, offered" in told
    assert isinstance(thread.state["pending"], OfferEdit)
    thread.say("yes")
    assert "new.sif" in thread.script and "-t 12:00:00" in thread.script


def test_a_file_without_a_scheduler_is_told_how_it_becomes_a_job() -> None:
    wrapper = "#!/bin/bash\nexport DATA=/data/x\n./prepare.sh\n./go.sh 2>&1 | tee log.txt\n"
    port = call("port_script", machine="delta")
    thread, _ = after("run this on 2 nodes of delta", edit(nodes="2"), port, own=wrapper)
    texts = [one.text for one in thread.player.asked[-1] if one.role == "tool"]
    assert "write_script makes a job of it (entry: bash" in texts[0]


@pytest.mark.parametrize(
    ("own", "fields", "rows", "never"),
    [
        (IMAGE, {"constraint": "", "argument_edits": ["--tags=a;b,c", "--wd=0.1"]},
         ("--tags 'a;b,c' --wd 0.1",), "-C gpu"),
        (IMAGE, {"variables": {"A": "1", "B": "x y"}, "processes_per_node": 4},
         ("export A=1\nexport B='x y'\nsrun", "#SBATCH --ntasks-per-node=4"), ""),
        (IMAGE, {"requeue": "yes", "signal": "USR1@300"}, ("--requeue", "--signal=B:USR1@300", "scontrol requeue"), ""),
        (IMAGE, {"constraint": "=gpu&hbm80g"}, ("--constraint=gpu&hbm80g\n",), "gpu&gpu"),
        (IMAGE, {"constraint": "gpu&hbm80g"}, ("-C gpu&hbm80g\n",), "gpu&gpu"),
        (PBS, {"modules": "!conda"}, ("\nconda activate base",), "module"),
        (ARRAY, {"environment": "", "array": "2"}, ("--array=0-1", "conda.sh\nLRS="), "conda activate"),
    ],
)  # fmt: skip
def test_lists_objects_and_empty_values_are_taken(own: str, fields: dict[str, Any], rows: Any, never: str) -> None:
    thread, told = after(f"please: {fields}", edit(**fields), own=own)
    assert all(one in thread.script for one in rows), (told, thread.script)
    assert "not done" not in told and (not never or never not in thread.script)


def test_lists_and_single_values_of_our_script_go_one_by_one() -> None:
    more = {
        "variables": {"A": "1", "B": "x y"},
        "argument_edits": ["--tags=a;b,c", "--prompt=two words"],
        "requeue": True,
    }
    thread, told = after("set all that", edit(**more, signal="USR1@300"))
    assert "export A=1" in thread.script and "--tags 'a;b,c' --prompt 'two words'" in thread.script
    assert "not done" not in told and "--signal=B:USR1@300" in thread.script
    again = Thread(Player(edit(variables="!A", signal="", requeue=""), "Done."), thread.state)
    again.say("without A, and no requeue or signal")
    assert "export A=1" not in again.script and "export B='x y'" in again.script and "--signal" not in again.script


def test_the_checks_refuse_one_field_and_the_others_are_done() -> None:
    thread, told = after("200 hours and call it big", edit(walltime="200:00:00", job_name="big"), own=IMAGE)
    assert "--job-name=big" in thread.script and "-t 4:00:00" in thread.script
    assert "not done: walltime=200:00:00: the checks refuse it" in told


def test_fields_and_a_patch_of_one_call_are_checked_together() -> None:
    patch = [{"old": "srun apptainer exec --nv img.sif python train.py", "new": "srun -n 4 python main.py"}]
    move = call("edit_script", fields={"nodes": "3", "container": "x.sif"}, patch=patch)
    thread, told = after("3 nodes, and main.py without the image", move, own=IMAGE)
    assert "#SBATCH -N 3" in thread.script and "python main.py --lr 0.1" in thread.script, told
    assert "not done: container=x.sif" in told


def test_a_signal_that_nothing_acts_on_is_refused_with_the_pattern() -> None:
    thread, told = after("send USR1 5 minutes before", edit(signal="USR1@300"), own=ACCELERATE)
    assert "--signal" not in thread.script and "trap 'kill -USR1 $PID' USR1" in told
    trapped = ACCELERATE.replace("source act", "trap 'kill -USR1 $PID' USR1\nsource act")
    assert "--signal=B:USR1@300" in after("send USR1 5 minutes before", edit(signal="USR1@300"), own=trapped)[0].script


# Patches.


def test_a_patch_with_nothing_in_its_place_leaves_no_empty_line() -> None:
    thread, _ = after("no modules", call("edit_script", patch=[{"old": "conda activate ml", "new": ""}]), own=ARRAY)
    assert "conda.sh\nLRS=" in thread.script


@pytest.mark.parametrize(
    ("patch", "rows"),
    [
        ([{"line": 9, "new": "for s in 1 2; do"}, {"old": "touch", "line": 0, "new": ""}], ()),
        ([{"line": 10, "new": "for s in 1 2; do"}, {"old": "finished $SLURM_JOB_ID", "new": "at $(date)"}],
         ("for s in 1 2; do", "at $(date)\nEOF")),
        ([{"old": "python train.py --seed $s --lr ${LRS[$SLURM_ARRAY_TASK_ID]} \\\n--out runs/$SLURM_ARRAY_TASK_ID",
           "new": "python train.py --seed $s"}], ("  python train.py --seed $s\ndone",)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_patch_goes_by_line_or_by_text_whatever_the_blanks_and_line_ends(patch: Any, rows: Any, ends: str) -> None:
    own = ARRAY.replace("\n", ends)
    thread, told = after("change it so", call("edit_script", patch=patch), own=own)
    text = thread.script.replace("\r\n", "\n")
    assert all(one in text for one in rows), told
    assert rows or "not done of the patch: old text `touch` stands" in told
    assert "  python train.py" in text


def test_a_patch_without_a_place_says_what_stands_there() -> None:
    swaps = [{"old": "conda activate m1", "new": "x"}, {"line": 99, "new": "x"}, {"line": 8, "old": "ml", "new": "x"}]
    _, told = after("patch", call("edit_script", patch=swaps), own=ARRAY)
    assert "line 8 is `conda activate ml`" in told and "there is no line 99" in told


# What a model leads a beginner with.


def test_a_step_that_names_an_address_reaches_the_model() -> None:
    thread = Thread(Player(call("ask_rules", question="how do I start on LUMI?"), "So."))
    thread.say("I have an account on lumi, how do I start?")
    assert "1. log in: ssh" in thread.player.asked[-1][-1].text


def test_where_no_machine_is_known_the_rules_say_how_it_is_found_out() -> None:
    thread = Thread(Player(call("ask_rules", question="which machine am I on?"), "So."))
    thread.say("hello, I am new here")
    told = thread.player.asked[-1][-1].text
    assert "hostname -f" in told and "sinfo -s" in told and "module avail" in told


def test_a_queue_with_rules_of_its_own_is_a_way_round_a_limit() -> None:
    args = {"machine": "leonardo", "framework": "pytorch", "strategy": "ddp", "nodes": 2, "entry": "a.py"}
    thread = Thread(Player(call("write_script", **args, walltime="72:00:00"), "So."))
    thread.say("a.py, 2 nodes of leonardo, ddp, for 3 days")
    assert "1. 2 nodes for 72:00:00 (queue boost_qos_lprod: with rules of its own" in thread.player.asked[-1][-1].text
    thread.say("1")
    assert "--qos=boost_qos_lprod" in thread.script and "--time=72:00:00" in thread.script


CHAIN = (
    "leonardo: get_data.py needs the network, then train.py on 4 nodes, 24 h, then eval.py on one GPU; account IscrB_X"
)
DATA, EVAL = (
    "get_data.py;first;queue=lrd_all_serial;walltime=04:00:00",
    "eval.py;nodes=1;gpus_per_node=1;walltime=02:00:00",
)


def chained(*links: str) -> Thread:
    job = {"machine": "leonardo", "framework": "pytorch", "strategy": "ddp", "nodes": 4, "walltime": "24:00:00"}
    more = {"then": list(links)}
    thread = Thread(Player(call("write_script", **job, account="IscrB_X", entry="train.py", more_fields=more), "Done."))
    thread.say(CHAIN)
    return thread


def test_jobs_of_a_chain_have_their_own_queue_and_size_before_and_behind_the_main_one() -> None:
    thread = chained(DATA, EVAL)
    files = {one.name: one.text for one in thread.state["bundle"].files}
    first, last = files["first-leonardo-cpu.sh"], files["2-leonardo-pytorch-ddp.sh"]
    assert "--partition=lrd_all_serial" in first and "--time=04:00:00" in first and "gres" not in first
    assert "--nodes=1" in last and "--gres=gpu:1" in last and "--time=02:00:00" in last
    assert "--nodes=4" in thread.script and "--partition=boost_usr_prod" in thread.script
    sent = [row for row in files["leonardo-pytorch-ddp-submit.sh"].splitlines() if row.startswith("submit '")]
    assert [row.split()[-1] for row in sent] == [
        "first-leonardo-cpu.sh",
        "leonardo-pytorch-ddp.sh",
        "2-leonardo-pytorch-ddp.sh",
    ]
    assert all("afterok" in row for row in sent)


def test_an_account_of_a_job_in_a_chain_has_to_be_said_too() -> None:
    thread = chained(f"{DATA};account=evil_1")
    told = [one.text for one in thread.player.asked[-1] if one.role == "tool"][-1]
    assert "account 'evil_1' was not said" in told


def test_the_further_fields_may_stand_under_their_one_name() -> None:
    nested = {"nodes": "3", "more_fields": {"job_name": "wide"}}
    thread = Thread(Player(call("edit_script", fields=nested), "Done."), first_script())
    thread.say("3 nodes, and call it wide")
    assert "--nodes=3" in thread.script and "--job-name=wide" in thread.script
    thread.player.moves = [call("port_script", machine="delta", fields={"more_fields": {"job_name": "far"}}), "Done."]
    thread.say("the same on delta, call it far")
    assert "--job-name=far" in thread.script


def test_the_longest_that_is_allowed_is_an_order_in_any_language() -> None:
    for says in ("take the longest it allows", "nimm die längste erlaubte Zeit", "就按允许的最长时间来"):
        thread = Thread(
            Player(call("edit_script", fields={"walltime": "48:00:00"}, purpose="order"), "Done."), first_script()
        )
        thread.say(says)
        assert "#SBATCH --time=48:00:00" in thread.script, says


def test_a_queue_that_an_ordered_size_cannot_be_without_is_part_of_the_order() -> None:
    own = (
        "#!/bin/bash\n#SBATCH -A m1234_g\n#SBATCH -C gpu\n#SBATCH -q debug\n#SBATCH -N 2\n#SBATCH --gpus-per-node=4\n"
        "#SBATCH --ntasks-per-node=4\n#SBATCH -t 00:30:00\nsrun python train.py\n"
    )
    patch = [{"line": 4, "new": "#SBATCH -q regular"}, {"line": 8, "new": "#SBATCH -t 04:00:00"}]
    thread = Thread(Player(call("edit_script", patch=patch, purpose="order"), "Done."))
    told = thread.say(f"this runs on perlmutter in debug, i need it for 4 hours now:\n```bash\n{own}```")
    assert "-q regular" in thread.script and "-t 04:00:00" in thread.script and "yes" not in told
