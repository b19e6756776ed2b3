# ruff: noqa: E501
"""Whatever the text, check answers: it never raises, and no rule fails."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.usecases.mend_script import cure
from graph.verification.checks import check
from knowledge.catalogue import catalogue

MACHINES = [None, *catalogue().clusters.values()]
PIECES = st.sampled_from(
    [
        "#!/bin/bash", "#SBATCH --nodes=2", "#SBATCH -N", "#SBATCH --time=", "#SBATCH --gres=gpu:", "#SBATCH --mem=99999999999T",
        "#PBS -l select=", "#PBS -l select=2:ngpus=x+", "#BSUB -W", "#BSUB -nnodes 999999999999999", "#flux: -N=2", "# flux: --time-limit=1e9d",
        "srun torchrun --nnodes=$((1/0)) --nproc-per-node=${X[@]} train.py", "srun bash -c \"RANK=$SLURM_PROCID exec '$@'\" a b",
        "jsrun -n $((", "flux run -N -n", "accelerate launch --num_processes 0 --num_machines 0 x.py", "mpirun -np 0 --map-by ppr:0:node python t.py",
        "export MASTER_ADDR=$(", "export MASTER_PORT=$((99999999999999999999))", "cat <<'EOF' > w.sh", "EOF", "if [", "fi", "done", "{", "}", "'", '"',
        "for i in 1 2; do", "X=(", "ibrun w.sh", "#SBATCH --account=\udcff", "\u2013nodes", "a\u00a0b \\ ", "WORLD_SIZE=$((NNODES%0))", "PATH = x", "case x in",
        "export CUDA_VISIBLE_DEVICES=0,99999999999999999999", "srun --export=,,, python -m", "deepspeed --hostfile", "module load ", "[[", "))", "$(", "`",
    ]
)  # fmt: skip
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=30)), max_size=25).map("\n".join)
QUIET = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUIET
@given(text=TEXTS, machine=st.sampled_from(MACHINES))
def test_pieces_of_scripts(text: str, machine: object) -> None:
    found = check(text, machine)  # type: ignore[arg-type]
    assert [one.says for one in found if one.rule == "rule-failed"] == []
    lines = text.replace("\r\n", "\n").count("\n") + text.count("\r") + 2
    assert all(0 <= one.line <= lines and one.says and one.why for one in found)


@QUIET
@given(text=st.text(max_size=300))
def test_any_text(text: str) -> None:
    assert [one for one in check(text, None) if one.rule == "rule-failed"] == []


@settings(max_examples=50, deadline=None)
@given(text=TEXTS)
def test_a_cure_never_adds_errors(text: str) -> None:
    before = sum(one.severity == "error" for one in check(text, None))
    assert sum(one.severity == "error" for one in cure(text, None).left) <= before
