"""Lines of a person's own script by what people call them, and the account of an edit over its words."""

from __future__ import annotations

import pytest

from graph.usecases.edit_script import edit_script, left_open
from graph.usecases.script_lines import bring_back, named_lines, scope_notes, unaccounted, unsaid

SCRIPT = """#!/bin/bash
#SBATCH -A m1
#SBATCH -t 02:00:00
#SBATCH --mail-type=END
#SBATCH --mail-user=a@b.org
module load conda
export OMP_NUM_THREADS=8
export NCCL_DEBUG=INFO
srun -N 2 torchrun --nnodes=2 train.py --lr 1e-3
"""


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("the omp line", [6]),
        ("the mail", [3, 4]),
        ("Laufzeit", [2]),
        ("the conda module", [5]),
        ("the learning rate line", []),
        ("it", []),
    ],
)
def test_lines_by_their_names(words: str, lines: list[int]) -> None:
    assert named_lines(SCRIPT, words) == lines


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        ("remove the omp line", ["export OMP_NUM_THREADS=8"]),
        ("no mail please", ["#SBATCH --mail-type=END", "#SBATCH --mail-user=a@b.org"]),
        ("don't touch the mail", []),
        ("my boss says no mail", []),
    ],
)
def test_a_denial_takes_out_what_it_names(words: str, gone: list[str]) -> None:
    edited = edit_script(SCRIPT, words, None)
    after = edited.text.splitlines() if edited else SCRIPT.splitlines()
    assert [line for line in SCRIPT.splitlines() if line not in after] == gone


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("add --exclusive", "#SBATCH --exclusive"),
        ("use --exclusive too please", "#SBATCH --exclusive"),
        ("add --max-restarts=2", "srun -N 2 torchrun --max-restarts=2 --nnodes=2 train.py --lr 1e-3"),
        ("add --seed 4", "srun -N 2 torchrun --nnodes=2 train.py --lr 1e-3 --seed 4"),
    ],
)
def test_an_option_goes_where_its_owner_reads_it(words: str, line: str) -> None:
    edited = edit_script(SCRIPT, words, None)
    assert edited is not None
    assert [one for one in edited.text.splitlines() if one not in SCRIPT.splitlines()] == [line]


def test_a_part_is_brought_back_alone() -> None:
    edited = edit_script(SCRIPT, "4 hours, remove the omp line", None)
    assert edited is not None
    back = bring_back(edited.text, SCRIPT, "the time")
    assert "-t 02:00:00" in back and "OMP_NUM_THREADS" not in back
    assert bring_back(back, SCRIPT, "the OMP line") == SCRIPT


@pytest.mark.parametrize(
    ("words", "open_words"),
    [
        ("3 hours and --wd 0.1", ()),
        ("3 hours and warmup 500", ("500",)),
        ("3 hours, the colleague has 500", ()),
    ],
)
def test_every_value_is_accounted_for(words: str, open_words: tuple[str, ...]) -> None:
    edited = edit_script(SCRIPT, words, None)
    assert edited is not None
    left = left_open(SCRIPT, edited, words)
    assert all(any(word in piece for piece in left) for word in open_words) and bool(left) == bool(open_words)


def test_a_line_with_a_number_that_nobody_said_is_unsaid() -> None:
    assert unsaid(SCRIPT, SCRIPT.replace("-N 2", "-N 7"), "more nodes", ()) != ()
    assert unsaid(SCRIPT, SCRIPT.replace("-N 2", "-N 7"), "7 nodes", ()) == ()


def test_a_time_is_the_same_in_every_form() -> None:
    assert unaccounted("make it 90 min", ["#SBATCH -t 01:30:00"]) == ()
    assert unaccounted("make it 1h30", ["#SBATCH -t 01:30:00"]) == ()
    assert unaccounted("make it 2h", ["#SBATCH -t 01:30:00"]) != ()


def test_what_is_denied_and_not_there_is_said() -> None:
    assert "gets none" in scope_notes(SCRIPT, "don't add --exclusive")[0]
    assert "stays" in scope_notes(SCRIPT, "don't touch the mail")[0]
    assert scope_notes(SCRIPT, "8 nodes") == () == scope_notes(WISHED, "no memory line please")
    assert "limit" in scope_notes(WISHED, "don't use so much memory")[0]


LONG = """#!/bin/bash
#SBATCH -N 2
#SBATCH --array=0-9
nodes=( $(scontrol show hostnames) )
srun python t.py \\
    --lr ${LRS[$SLURM_ARRAY_TASK_ID]} \\
    --steps 9000 --mode auto --amp
"""


@pytest.mark.parametrize(
    ("words", "old", "new"),
    [
        ("no amp", " --amp", ""),
        ("not auto, latest", "--mode auto", "--mode latest"),
        ("not 10, 20", "", ""),
        ("save every 500 steps", "", ""),
        ("4 nodes", "-N 2", "-N 4"),
        ("5000 steps", "--steps 9000", "--steps 5000"),
    ],
)
def test_a_launch_of_several_lines_stays_whole(words: str, old: str, new: str) -> None:
    edited = edit_script(LONG, words, None)
    assert (edited.text if edited else LONG) == (LONG.replace(old, new) if old else LONG)


def test_what_an_array_leaves_behind_is_said() -> None:
    edited = edit_script(LONG, "no array please", None)
    assert edited is not None
    assert edited.text == LONG.replace("#SBATCH --array=0-9\n", "")
    assert "SLURM_ARRAY_TASK_ID" in " ".join(edited.says)


WISHED = """#!/bin/bash
#SBATCH --nodes=4
#SBATCH --time=12:00:00
#SBATCH --mem=200G
#SBATCH --gpus-per-node=4
#SBATCH --array=0-7
export OMP_NUM_THREADS=8
srun python train.py --epochs 10 --warmup-epochs 2 --mode auto
"""


@pytest.mark.parametrize(
    ("words", "new"),
    [
        ("don't use more than 2 nodes", []),
        ("I don't need 12 hours", []),
        ("don't use so much memory", []),
        ("never use more than 8 threads", []),
        ("instead of 4 nodes use 2", ["#SBATCH --nodes=2"]),
        ("use 2 nodes instead of 4 for 6 hours", ["#SBATCH --nodes=2", "#SBATCH --time=06:00:00"]),
        ("without the memory line for 6 hours", ["#SBATCH --time=06:00:00"]),
        ("never run it for 6 hours", []),
        ("add --profile to train.py", [" --mode auto --profile"]),
        ("pass --export onnx to train.py", [" --mode auto --export onnx"]),
        ("add --exclusive", ["#SBATCH --exclusive"]),
        ("add --verbose", []),
        ("add --exclusive and pass --export onnx to train.py", ["#SBATCH --exclusive", " --export onnx"]),
        ("remove --warmup-epochs 2", [" --epochs 10 --mode auto"]),
        ("add --constraint", []),
        ("add --constraint a100", ["#SBATCH --constraint=a100"]),
        ("use a warmup of 5 epochs", []),
        ("early stopping with patience 3 epochs", []),
        ("because it takes 6 hours set the time to 7 h", ["#SBATCH --time=07:00:00"]),
        ("I tried 8 nodes now use 2 nodes", ["#SBATCH --nodes=2"]),
        ("I used 8 nodes last time so use 2 nodes", ["#SBATCH --nodes=2"]),
        ("I tried to use 2 nodes", []),
        ("not 8, 4", []),
        ("not 20, 0", []),
        ("not auto, latest", [" --mode latest"]),
    ],
)
def test_a_wish_that_is_not_surely_read_changes_nothing(words: str, new: list[str]) -> None:
    edited = edit_script(WISHED, words, None)
    after = edited.text.splitlines() if edited and not edited.doubtful else WISHED.splitlines()  # else it is said first
    found = [line for line in after if line not in WISHED.splitlines()]
    assert len(found) == len(new) and all(map(str.endswith, found, new))
    added = "--exclusive" in words or words.endswith("a100")
    assert len(after) == len(WISHED.splitlines()) + added - ("memory line" in words)


def test_what_is_counted_per_node_is_no_node_line() -> None:
    assert named_lines(WISHED, "the node line") == [1]
    assert named_lines(WISHED.replace("#SBATCH --nodes=4\n", ""), "the node line") == []


@pytest.mark.parametrize("words", ["20 epochs", "train for 20 epochs please", "go to 20 epochs and 4 nodes"])
def test_a_count_alone_sets_what_it_counts(words: str) -> None:
    text = WISHED.replace(" --warmup-epochs 2", "")
    edited = edit_script(text, words, None)
    assert edited is not None and "--epochs 20 " in edited.text
    kept = edit_script(text, "early stopping with patience 3 epochs", None)
    assert kept is None


def test_a_number_one_less_counts_for_an_array_alone() -> None:
    assert unaccounted("5 workers", ["#SBATCH --nodes=4"]) == ("5",)
    assert unaccounted("5 tasks", ["#SBATCH --array=0-4"]) == ()
    assert unaccounted("4 nodes, without 6 of them", ["#SBATCH --nodes=4"]) == ("6",)


def test_counts_that_follow_hide_no_other_number() -> None:
    edited = edit_script(SCRIPT, "4 nodes", None)
    assert edited is not None
    told = (*edited.says, *edited.follows)
    assert unsaid(SCRIPT, edited.text, "4 nodes", told) == ()
    assert unsaid(SCRIPT, edited.text.replace("=8", "=77"), "4 nodes", told) == ("export OMP_NUM_THREADS=77",)
