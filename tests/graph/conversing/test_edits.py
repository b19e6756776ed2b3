"""A changed text of a script, whole or a piece, is judged by its hunks; several scripts of a thread are kept apart."""

from __future__ import annotations

from typing import Any

import pytest
from player import Player, Thread, call, first_script

from graph.conversing.hand import lines_that_do
from knowledge.types import Made, OfferEdit

OWN = """#!/bin/bash
# the baseline
#SBATCH -A bdxx-delta-gpu
#SBATCH -p gpuA100x4
#SBATCH -N 1
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=16
#SBATCH -t 08:00:00

# where the ranks meet
export MASTER_PORT=29500
LRS=(1e-4 3e-4)
for step in 1 2; do
  echo "step $step"
done
srun torchrun --standalone --nproc_per_node 4 train.py --bs 128
"""
PREP = "#!/bin/bash\n#SBATCH -p cpu\n#SBATCH -t 1:00:00\npython prep.py --shards 10\n"


def text(*texts: str, **more: Any) -> list[Any]:
    return [*(call("edit_script", text=one, **more) for one in texts), "Done."]


def changed(words: str, *texts: str, own: str = OWN) -> Thread:
    thread = Thread(Player(*text(*texts)))
    thread.say(f"{words}\n```bash\n{own}```")
    return thread


def told(thread: Thread) -> str:
    """What the last call answered."""
    return [one.text for one in thread.player.asked[-1] if one.role == "tool"][-1]


def new_lines(thread: Thread, before: str = OWN) -> list[str]:
    return [row for row in thread.script.splitlines() if row not in before.splitlines()]


# A whole text, and a piece.


def test_a_whole_text_does_what_no_field_covers_and_is_one_step_back() -> None:
    wanted = (
        OWN.replace("-t 08:00:00", "-t 08:00:00\n#SBATCH --array=0-1")
        .replace("=29500", "=$((20000 + SLURM_JOB_ID % 20000))")
        .replace("--cpus-per-task=16", "--cpus-per-task=32")
        .replace("--bs 128", "--bs 128 --lr ${LRS[$SLURM_ARRAY_TASK_ID]}")
    )
    thread = changed("an array over LRS, a port of its own for each job, 32 cores", wanted)
    assert thread.script.rstrip() == wanted.rstrip()
    made = [one for one in thread.state["said"] if isinstance(one, Made)]
    assert len(made) == 1 and "+#SBATCH --array=0-1" in made[0].diff and thread.state["own"]
    thread.player.moves = [call("edit_script", fields={"walltime": "04:00:00"}), "Four hours."]
    thread.say("4 hours")
    assert "--array=0-1" in thread.script and "-t 04:00:00" in thread.script
    thread.say("undo")
    thread.say("undo")
    assert thread.script.rstrip() == OWN.rstrip()


@pytest.mark.parametrize(
    ("piece", "lines"),
    [
        ("LRS=(1e-4 3e-4)\nenv | sort\nfor step in 1 2; do", ["env | sort"]),
        ("env | sort\nsrun torchrun --standalone --nproc_per_node 4 train.py --bs 64",
         ["env | sort", "srun torchrun --standalone --nproc_per_node 4 train.py --bs 64"]),
        ("export MASTER_PORT=29511", ["export MASTER_PORT=29511"]),
        ("```bash\nexport MASTER_PORT=29511\n```", ["export MASTER_PORT=29511"]),
        ("for step in 1 2 3; do\necho \"step $step\"\ndone", ["for step in 1 2 3; do"]),
        ("#!/bin/bash\n#SBATCH -A bdxx-delta-gpu\n...\nexport MASTER_PORT=29511\n# ... (as before)\n",
         ["export MASTER_PORT=29511"]),
        ("5 #SBATCH -N 1\n6 #SBATCH --gpus-per-node=4\n7 #SBATCH --cpus-per-task=8\n8 #SBATCH -t 08:00:00",
         ["#SBATCH --cpus-per-task=8"]),
        ("#!/bin/bash\n#SBATCH -A bdxx-delta-gpu\n#SBATCH -p gpuA100x4\n#SBATCH --exclusive\n#SBATCH -N 1",
         ["#SBATCH --exclusive"]),
    ],
)  # fmt: skip
def test_a_piece_takes_its_place_and_all_else_stays(piece: str, lines: list[str]) -> None:
    thread = changed("do that", piece)
    assert new_lines(thread) == lines
    assert len(thread.script.splitlines()) - len(OWN.splitlines()) in (0, 1)
    assert thread.script.count("\ndone\n") == 1 and "# the baseline" in thread.script


def test_of_a_patch_the_pieces_that_have_a_place_are_done() -> None:
    pieces = [{"old": "--bs 128", "new": "--bs 64"}, {"old": "--epochs 3", "new": "--epochs 4"}]
    thread = Thread(Player(call("edit_script", patch=pieces), "Done."))
    thread.say(f"batch 64, 4 epochs\n```bash\n{OWN}```")
    assert "--bs 64" in thread.script and "not done of the patch: old text `--epochs 3`" in told(thread)


def test_a_piece_without_a_place_is_refused() -> None:
    thread = changed("do that", "rsync -a a b\ntar xf b")
    assert "has no place in the script" in told(thread) and not new_lines(thread)


def test_remarks_that_a_text_leaves_out_stay_and_that_is_told() -> None:
    thread = changed("batch 64", "\n".join(lines_that_do(OWN)).replace("--bs 128", "--bs 64"))
    assert new_lines(thread) == [OWN.splitlines()[-1].replace("128", "64")]
    assert "# where the ranks meet" in thread.script and "kept: the remarks of lines 2, 10" in told(thread)


# Each hunk by itself.


def test_what_the_checks_refuse_is_told_by_hunk_and_the_rest_is_done() -> None:
    thread = changed("batch 64, and print it", OWN.replace("128", "64").replace("LRS=", "if [ 1 ; then\nLRS="))
    assert "--bs 64" in thread.script and "if [" not in thread.script
    assert "not done: line 12 to `if [ 1 ; then`: the checks refuse it" in told(thread)


def test_an_account_that_nobody_named_is_refused_and_a_larger_job_offered() -> None:
    wanted = OWN.replace("bdxx", "zzzz").replace("08:00:00", "24:00:00").replace("29500", "29511")
    thread = changed("port 29511; the job does not finish", wanted)
    assert new_lines(thread) == ["export MASTER_PORT=29511"]
    assert "account 'zzzz-delta-gpu' was not said" in told(thread) and "NOT done, offered" in told(thread)
    assert isinstance(thread.state["pending"], OfferEdit)
    thread.say("yes")
    assert "-t 24:00:00" in thread.script and "29511" in thread.script and "zzzz" not in thread.script


def test_what_waits_with_an_offer_is_named() -> None:
    launch = "--nnodes=2 --rdzv-backend=c10d --rdzv-endpoint=$HOSTNAME:29500"
    thread = changed(
        "batch 64; and it is slow",
        OWN.replace("-N 1", "-N 2").replace("--standalone", launch).replace("--bs 128", "--bs 64"),
    )
    assert "offered: 2 nodes" in told(thread) and "With it wait" in told(thread) and "--nnodes=2" in told(thread)


def test_a_size_that_was_ordered_is_done_with_its_launch_and_price() -> None:
    launch = '--nnodes=2 --rdzv-backend=c10d --rdzv-endpoint="$(scontrol show hostnames | head -n 1):29500"'
    thread = changed("2 nodes", OWN.replace("-N 1", "-N 2").replace("--standalone", launch))
    assert "-N 2" in thread.script and "--nnodes=2" in thread.script and "16 node hours instead of 8" in told(thread)


def test_a_text_of_our_script_leaves_it_ours() -> None:
    thread = Thread(Player("x"), first_script())
    script = "\n".join(lines_that_do(thread.state["bundle"].script))  # type: ignore[union-attr]
    wanted = script.replace("--nodes=2", "--nodes=4").replace("set -eo pipefail", "set -eo pipefail\nulimit -n 65536")
    thread.player.moves = text(wanted)
    thread.say("4 nodes, and ulimit -n 65536 first")
    assert "--nodes=4" in thread.script and "ulimit -n 65536" in thread.script and thread.state.get("own") is None
    assert "4 x 4 = 16 ranks" in thread.script, "the fields' own lines are rendered anew"
    assert thread.script.count("\n#") > 5, "the comments that the model is not shown stay"
    thread.player.moves = [call("edit_script", fields={"nodes": "3"}), "Three."]
    thread.say("3 nodes")
    assert "--nodes=3" in thread.script and "ulimit -n 65536" in thread.script


# A first script as a text.


def test_a_first_script_that_no_field_tells_is_taken_as_a_text() -> None:
    body = "#!/bin/bash\n#SBATCH -p gpu\n#SBATCH -N 2\n#SBATCH -t 10:00:00\n#SBATCH -A {}\nsrun Rscript model.R\n"
    texts = [body.format("abc"), body.format("YOUR_ACCOUNT")]
    calls = [call("write_script", machine="mycluster", text=one) for one in texts]
    thread = Thread(Player(*calls, "Here."))
    answer = thread.say("write me run7.slurm for mycluster (slurm): Rscript model.R, 2 nodes")
    answers = [one.text for one in thread.player.asked[-1] if one.role == "tool"]
    assert "account 'abc' was not said" in answers[0] and thread.script == texts[1]
    assert "sbatch run7.slurm" in answer and "walltime: `10:00:00`, chosen for you, not said" in answer
    assert "`nodes` = 2" not in answer and "YOUR_ACCOUNT" in answer


# Several scripts.


def test_two_scripts_have_their_names_and_each_is_edited_by_it() -> None:
    thread = Thread(Player(call("edit_script", file="train.slurm", fields={"nodes": "2"}), "Two."))
    answer = thread.say(f"prep.sh:\n```bash\n{PREP}```\nand train.slurm:\n```bash\n{OWN}```\ntrain.slurm on 2 nodes")
    brief = thread.player.asked[0][1].text
    assert "SCRIPT IN HAND prep.sh" in brief and "PARKED JOB 1. train.slurm" in brief
    assert "sbatch train.slurm" in answer and "-N 2" in thread.script
    thread.player.moves = [
        call("edit_script", file="prep.sh", patch=[{"old": "--shards 10", "new": "--shards 20"}]),
        call("edit_script", file="train.slurm", text="export MASTER_PORT=29511"),
        "Both.",
    ]
    answer = thread.say("20 shards in prep.sh; port 29511 in train.slurm")
    assert "+python prep.py --shards 20" in answer and "+export MASTER_PORT=29511" in answer
    assert answer.index("prep.sh") < answer.index("train.slurm")
    thread.say("undo")
    assert "29500" in thread.script and "-N 2" in thread.script, "each script has its own past"


def test_a_script_of_a_later_message_is_another_one_unless_it_is_the_same_file() -> None:
    thread = Thread(Player("Fine."))
    thread.say(f"is this fine? train.slurm:\n```bash\n{OWN}```")
    thread.say(f"and prep.sh:\n```bash\n{PREP}```")
    assert thread.state["own"].name == "prep.sh" and len(thread.state["jobs"]) == 1  # type: ignore[union-attr]
    thread.say(f"prep.sh is now:\n```bash\n{PREP.replace('10', '30')}```")
    assert len(thread.state["jobs"]) == 1 and "--shards 30" in thread.script


def test_a_script_without_a_name_gets_the_one_that_the_person_says() -> None:
    thread = Thread(Player("Fine.", call("edit_script", file="run7.slurm", text="export MASTER_PORT=29511"), "Done."))
    thread.say(f"my script\n```bash\n{OWN}```\nis it fine?")
    assert "sbatch run7.slurm" in thread.say("the file is run7.slurm; port 29511 please")
    thread.player.moves = [call("edit_script", file="nothing.sh", fields={"nodes": "2"}), "No."]
    thread.say("2 nodes")
    assert "there are run7.slurm" in told(thread)
    thread.say("undo")
    assert thread.state["own"].name == "run7.slurm" and "29500" in thread.script  # type: ignore[union-attr]


def test_a_short_script_of_the_person_is_shown_whole_beside_a_long_talk() -> None:
    own = OWN + "".join(f"cp $SCRATCH/shard_{n:02} /tmp/shard_{n:02}\n" for n in range(40))
    thread = Thread(Player("Well.\n" + "It is so. " * 300, context=6500))
    thread.say(f"what of this?\n```bash\n{own}```")
    thread.say("and why " + "so " * 900)
    brief = thread.player.asked[-1][1].text
    assert all(f"{at} {row}" in brief for at, row in enumerate(own.splitlines(), 1))


# Another file beside the script.


def beside(words: str, *moves: Any) -> Thread:
    thread = Thread(Player("Fine."))
    thread.say(f"this is job.sh\n```bash\n{OWN}```")
    thread.player.moves = [*moves, "Done."]
    thread.say(words)
    return thread


SMALL = {"queue": "gpuA100x4-interactive", "walltime": "00:30:00"}


@pytest.mark.parametrize(
    "change",
    [
        {"fields": SMALL},
        {"text": OWN.replace("-p gpuA100x4", "-p gpuA100x4-interactive").replace("08:00:00", "00:30:00")},
        {"patch": [{"old": "-p gpuA100x4", "new": "-p gpuA100x4-interactive"}, {"old": "08:00:00", "new": "00:30:00"}]},
    ],
)
def test_a_script_under_a_new_name_is_one_beside(change: dict[str, Any]) -> None:
    words = "a 30 min version in gpuA100x4-interactive, separate file, debug.sh"
    thread = beside(words, call("edit_script", file="debug.sh", **change))
    assert thread.state["bundle"].name == "debug.sh" and "-t 00:30:00" in thread.script
    assert "debug.sh is a script of its own, in hand now; job.sh is kept" in told(thread)
    thread.player.moves = [call("edit_script", file="job.sh", fields={"walltime": "04:00:00"}), "Done."]
    answer = thread.say("and the long one 4 hours")
    assert thread.state["bundle"].name == "job.sh" and "-t 04:00:00" in thread.script
    assert "-p gpuA100x4\n" in thread.script and "debug.sh" not in answer
    thread.player.moves = [call("edit_script", file="debug.sh", fields={"walltime": "00:10:00"}), "Done."]
    thread.say("the debug one 10 minutes")
    assert "-t 00:10:00" in thread.script and "gpuA100x4-interactive" in thread.script


def test_a_whole_new_script_has_the_name_that_it_is_given() -> None:
    other = OWN.replace("train.py --bs 128", "eval.py")
    for name, words in (
        ("eval.sh", "another one on delta for eval.py"),
        ("", "on delta eval.sh, for eval.py"),
    ):
        thread = beside(words, call("write_script", machine="delta", text=other, **({"file": name} if name else {})))
        assert thread.state["bundle"].name == "eval.sh" and "eval.py" in thread.script


def test_a_file_that_the_script_starts_is_no_name_for_another() -> None:
    thread = Thread(Player("Fine."))
    thread.say(f"this is job.sh\n```bash\n{OWN.replace('train.py', './wrap.sh train.py')}```")
    thread.player.moves = [call("write_script", machine="delta", text=OWN), "Done."]
    thread.say("wrap.sh is gone, so give me one without it, for delta")
    assert thread.state["bundle"].name not in ("wrap.sh", "")


def test_files_written_with_a_script_are_read_and_changed_like_it() -> None:
    more = {"then": "eval.py;nodes=1;walltime=00:30:00"}
    thread = Thread(Player(call("edit_script", fields=more), "Done."), first_script())
    thread.say("then eval.py, 1 node, 30 min, a job of its own")
    name = next(one.name for one in thread.state["bundle"].files if one.name.startswith("2-"))
    main = thread.state["bundle"].name
    thread.player.moves = [
        call("edit_script", file=name),
        call("edit_script", file=name, patch=[{"old": "eval.py", "new": "eval.py --split test"}]),
        "Done.",
    ]
    answer = thread.say("eval.py gets --split test")
    assert f"BESIDE IT, by edit_script file: {name}" in thread.player.asked[-2][1].text
    read = [one.text for one in thread.player.asked[-2] if one.role == "tool"][-1]
    assert "#SBATCH --nodes=1" in read and "PROGRAM=(eval.py --split test)" in answer
    assert thread.state["bundle"].name == name and f"{main} is kept" in told(thread)


def test_a_config_that_was_pasted_is_read_and_changed() -> None:
    config = "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nnum_processes: 8\nmixed_precision: bf16\n"
    thread = Thread(Player("Fine."))
    thread.say(f"job.sh:\n```bash\n{OWN}```\nand fsdp.yaml:\n```yaml\n{config}```")
    assert [one.name for one in thread.state["files"]] == ["fsdp.yaml"]
    patch = [{"old": "num_processes: 8", "new": "num_processes: 4"}]
    thread.player.moves = [
        call("edit_script", file="fsdp.yaml"),
        call("edit_script", file="fsdp.yaml", patch=patch),
        "Now `num_processes: 4`.",
    ]
    thread.say("4 processes in the yaml")
    assert "num_processes: 4" in thread.state["files"][0].text and "num_processes: 4" in told(thread)
    assert thread.script.rstrip() == OWN.rstrip()
