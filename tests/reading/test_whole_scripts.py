"""A script that is pasted without a fence is one script, whatever stands in it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from graph.reading.message import UNNAMED, take_apart

GOLDEN = Path(__file__).parents[1] / "golden"
SCRIPTS = sorted(one for one in GOLDEN.rglob("*.sh") if one.read_text().startswith("#!"))
HEREDOC = """#!/bin/bash
#SBATCH -N 2
cat > ds.json <<EOF
{
  "train_batch_size": 8,
  "fp16": {"enabled": true}
}
EOF
cat hostfile

A=1
B=2
srun python train.py --deepspeed ds.json
"""
NODE_FILE = """#!/bin/bash -l
#PBS -l select=10:system=polaris
cd ${PBS_O_WORKDIR}
NNODES=$(wc -l < $PBS_NODEFILE)
NGPU_PER_NODE=4
NGPUS=$((NNODES * NGPU_PER_NODE))

ml Stages/2025 GCC OpenMPI Python PyTorch
run_training 50 ./select_gpu  # of the group
mpiexec -n $NGPUS --ppn 4 ./set_rank.sh python3 train.py
"""


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda one: f"{one.parent.name}/{one.stem}")
def test_a_script_stays_whole(path: Path) -> None:
    text = path.read_text()
    found = take_apart(f"please port this to Aurora\n\n{text}")
    assert [one.text.strip() for one in found.scripts] == [text.strip()] and not found.files


@pytest.mark.parametrize("text", [HEREDOC, NODE_FILE])
def test_what_a_script_writes_or_counts_is_no_file_beside_it(text: str) -> None:
    found = take_apart(f'move this to 4 nodes\n{text}\nds2.json:\n{{\n  "train_batch_size": 16\n}}\n')
    assert [one.text.strip() for one in found.scripts] == [text.strip()]
    assert [one.name for one in found.files] == ["ds2.json"]


def test_what_the_person_says_below_a_script_is_no_line_of_it() -> None:
    found = take_apart(f"{NODE_FILE}\nnow on 20 nodes please, and why is it slow?")
    assert found.scripts[0].text.strip() == NODE_FILE.strip() and "20 nodes" in found.words


QUOTED = """#!/bin/bash
#SBATCH -N 2
srun -l bash -c "
  export RANK=\\$SLURM_PROCID
  python train.py
"
"""
RANKS = """0: init nccl rank 0/8
3: init nccl rank 3/8
1: Traceback (most recent call last):
1:   File "/x/train.py", line 57, in main
1: RuntimeError: CUDA error: invalid device ordinal
srun: error: n1: tasks 1-3: Exited with exit code 1"""
OWN_OUTPUT = """cells 4096 halo 2
solver cg, tolerance 1e-6
| pass | cost |
| 1 | 0.812 |
| 2 | 0.604 |
=>> PBS: job killed: walltime 3622 exceeded limit 3600
x3006c0: rank 0 died"""


def test_a_quoted_text_of_several_lines_is_the_script_s_to_its_closing_sign() -> None:
    message = take_apart(f"why did it fail, mend it\n\n{QUOTED}\nlog:\n{RANKS}")
    assert message.scripts[0].text.strip() == QUOTED.strip()
    assert message.logs[0].text.strip() == RANKS and "nccl" not in message.words


def test_a_program_s_own_output_is_a_log_by_the_failure_in_it() -> None:
    message = take_apart(f"stopped in the middle, no traceback at all, last part of it:\n\n{OWN_OUTPUT}")
    assert message.logs[0].text.strip() in OWN_OUTPUT and "solver" not in message.words


def test_words_about_an_error_and_a_list_of_wishes_are_no_log() -> None:
    wishes = "machine: perlmutter\nnodes: 4\nframework: pytorch\nstrategy: fsdp\ntime: 2 h\nprogram: train.py"
    assert not take_apart(wishes).logs
    told = "my job ended at the walltime yesterday.\nI asked for 4 hours.\nIt wants 6 i think.\nWhat do I do?\nThanks!"
    assert not take_apart(told).logs


@pytest.mark.parametrize(
    ("words", "line", "name"),
    [
        ("this is night.sh", "sbatch night.sh", "night.sh"),  # a job that hands itself in again
        ("run.sh:", "./my_run.sh", "run.sh"),
        ("this is run.sh", "cp run.sh $OUT/", "run.sh"),
        ("I use env.sh in it", "source /w/ada/env.sh", UNNAMED),
        ("see wrap.sh", "srun -n 4 bash wrap.sh", UNNAMED),
    ],
)
def test_a_script_is_called_as_said_but_not_as_what_it_runs(words: str, line: str, name: str) -> None:
    found = take_apart(f"{words}\n\n```\n#!/bin/bash\n#SBATCH -N 1\n{line}\nsrun python t.py\n```\n")
    assert [one.name for one in found.scripts] == [name]


def test_a_long_word_above_a_comma_is_read_in_time() -> None:
    began = time.process_time()
    take_apart(f"#!/bin/bash\nsrun python t.py\n\n{'a' * 40_000} and b")
    assert time.process_time() - began < 2
