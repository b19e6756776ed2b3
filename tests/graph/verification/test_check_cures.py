# ruff: noqa: E501
"""Edits cure what they say, and nothing else changes."""

from __future__ import annotations

import pytest

from graph.usecases.mend_script import cure, edited
from graph.verification.checks.rule import Edit
from knowledge.catalogue import catalogue

GOOD = (
    "#!/bin/bash\n#SBATCH -A abcd-delta-gpu -p gpuA100x4 --mem=0\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1 --gpus-per-node=4\n"
    "#SBATCH --time=01:00:00\nsource env/bin/activate\nexport NCCL_SOCKET_IFNAME=hsn\n"
    "export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)\n"
    "srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$MASTER_ADDR:29500 \\\n    train.py\n"
)
DELTA = catalogue().clusters["delta"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n", "\r\n"),
        ("#SBATCH --nodes", "#SBTACH --nodes"),
        ("--nodes=2", "--node_s=2"),
        ("--nodes=2", "--nodes = 2"),
        ("01:00:00", "1h"),
        ("export NCCL", "NCCL"),
        ("export NCCL_SOCKET_IFNAME=hsn\n", ""),
        ("29500 \\\n", "29500 \\  \n"),
        ("srun torchrun", "srun\u00a0torchrun"),
        ("#!/bin/bash\n", ""),
        ("gpuA100x4", "gpuA100x44"),
        ("$SLURM_JOB_NODELIST", "$SLURM_JOB_NODE_LIST"),
        ("#SBATCH --time=01:00:00\nsource env/bin/activate\n", "source env/bin/activate\n#SBATCH --time=01:00:00\n"),
    ],
)
def test_a_defect_is_cured(old: str, new: str) -> None:
    done = cure(GOOD.replace(old, new, -1 if old == "\n" else 1), DELTA)
    assert done.left == ()
    assert done.cured


def test_the_good_script_stays_to_the_letter() -> None:
    assert cure(GOOD, DELTA).text == GOOD


def test_line_ends_come_back_as_they_were_meant() -> None:
    assert cure(GOOD.replace("\n", "\r\n"), DELTA).text == GOOD


def test_what_only_a_person_knows_is_left() -> None:
    done = cure(GOOD.replace("abcd-delta-gpu", "<account>"), DELTA)
    assert [one.rule for one in done.left] == ["directive-placeholder"]


def test_edits_replace_insert_and_delete() -> None:
    text = "a\nb\nc\n"
    assert edited(text, [Edit(2, 2, ("B",))]) == "a\nB\nc\n"
    assert edited(text, [Edit(2, 1, ("x", "y"))]) == "a\nx\ny\nb\nc\n"
    assert edited(text, [Edit(1, 1, ()), Edit(3, 3, ("C",))]) == "b\nC\n"
