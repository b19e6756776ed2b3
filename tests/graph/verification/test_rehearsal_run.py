"""Whole rehearsals: scripts that work pass, and each single slip is caught. Needs the extra `rehearse`."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from graph.verification.rehearsal import rehearse
from graph.verification.rehearsal.report import text_of
from graph.verification.rehearsal.types import Rehearsal
from graph.verification.simulator import isolation, stage
from graph.verification.simulator.jail.kernel import landlock_version
from knowledge.catalogue import catalogue
from knowledge.errors import UnavailableError
from knowledge.types import SideFile

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed (extra: rehearse)"),
    pytest.mark.skipif(isolation.available() is None, reason="nothing here could keep a script in its folder"),
]

GOLDEN = Path(__file__).parents[2] / "golden"
SRUN = """#!/bin/bash
#SBATCH -N 2
#SBATCH -C gpu
#SBATCH --ntasks-per-node=2
#SBATCH --gpus-per-node=2
export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
export MASTER_PORT=29500
export WORLD_SIZE=$SLURM_NTASKS
srun bash -c 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID; python train.py'
"""
TORCHRUN = """#!/bin/bash
#SBATCH -N 2
#SBATCH -C gpu
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=2
head_node=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
srun torchrun --nnodes=2 --nproc_per_node=2 --rdzv_backend=c10d --rdzv_id=$SLURM_JOB_ID \\
    --rdzv_endpoint=$head_node:29500 train.py
"""


def go(text: str, machine: str = "perlmutter", files: tuple[SideFile, ...] = (), **options: object) -> Rehearsal:
    cluster = catalogue().find(machine)
    assert cluster
    return rehearse(text, files, cluster, **options)  # type: ignore[arg-type]


def rules(outcome: Rehearsal) -> set[str]:
    return {one.rule.removeprefix("rehearsal-") for one in outcome.findings if one.severity == "error"}


@pytest.mark.parametrize("script", [SRUN, TORCHRUN], ids=["srun", "torchrun"])
def test_a_good_script_forms_its_group(script: str) -> None:
    outcome = go(script)
    assert outcome.passed, text_of(outcome)
    assert [rank.rank for rank in outcome.ranks] == [0, 1, 2, 3]
    assert {rank.world_size for rank in outcome.ranks} == {4} == {outcome.promised}
    assert [(r.node, r.device) for r in outcome.ranks] == [
        ("nid000001", "0"), ("nid000001", "1"), ("nid000002", "0"), ("nid000002", "1"),
    ]  # fmt: skip
    assert all(rank.sums_right and rank.loss and rank.loss > 0 for rank in outcome.ranks)


def test_it_forms_under_landlock_too() -> None:
    if landlock_version() < 3:
        pytest.skip("no Landlock on this computer")
    outcome = go(TORCHRUN, isolation="landlock")
    assert outcome.passed, text_of(outcome)
    assert len(outcome.ranks) == 4


SLIPS = {
    "rank from the wrong variable": (SRUN, "RANK=$SLURM_PROCID", "RANK=$SLURM_NODEID", "rank-twice"),
    "rank of another launcher": (SRUN, "RANK=$SLURM_PROCID", "RANK=$PMI_RANK", "rank-failed"),
    "no rank": (SRUN, "export RANK=$SLURM_PROCID", "export X=1", "rank-failed"),
    "local rank is the rank": (SRUN, "LOCAL_RANK=$SLURM_LOCALID", "LOCAL_RANK=$SLURM_PROCID", "rank-failed"),
    "local rank always 0": (SRUN, "LOCAL_RANK=$SLURM_LOCALID", "LOCAL_RANK=0", "shared-gpu"),
    "expanded too early": (SRUN, "'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID; python train.py'",
                           '"export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID; python train.py"', "rank-twice"),
    "address of each node": (SRUN, "python train.py", "MASTER_ADDR=$(hostname) python train.py", "master-differs"),
    "localhost": (SRUN, "MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)",
                  "MASTER_ADDR=localhost", "master-local"),
    "a node that is not there": (SRUN, "MASTER_ADDR=$(scontrol", "MASTER_ADDR=x$(scontrol", "rank-failed"),
    "port of each rank": (SRUN, "python train.py", "MASTER_PORT=$((29500 + RANK)) python train.py", "master-differs"),
    "no port": (SRUN, "export MASTER_PORT=29500", "", "rank-failed"),
    "world of nodes": (SRUN, "WORLD_SIZE=$SLURM_NTASKS", "WORLD_SIZE=$SLURM_NNODES", "world-size"),
    "one task a node": (SRUN, "--ntasks-per-node=2", "--ntasks-per-node=1", "world-size"),
    "more tasks than GPUs": (SRUN, "--ntasks-per-node=2", "--ntasks-per-node=4", "rank-failed"),
    "one GPU seen": (SRUN, "srun bash", "srun --gpus-per-task=1 bash", "rank-failed"),
    "no GPU asked for": (SRUN, "#SBATCH --gpus-per-node=2\n", "", "no-gpus"),
    "unknown option": (SRUN, "srun bash", "srun --task-per-node=2 bash", "refused"),
    "more nodes than the job": (SRUN, "srun bash", "srun -N 4 bash", "refused"),
    "slip of the pen": (SRUN, "srun bash", "srnu bash", "unknown-command"),
    "no variable exported": (SRUN, "export WORLD_SIZE", "WORLD_SIZE", "rank-failed"),
    "torchrun on every GPU": (TORCHRUN, "--ntasks-per-node=1", "--ntasks-per-node=2", "inner-failed"),
    "one group a node": (TORCHRUN, "--nnodes=2", "--nnodes=1", "world-size"),
    "workers missing": (TORCHRUN, "--nproc_per_node=2", "--nproc_per_node=1", "world-size"),
    "endpoint on every node": (TORCHRUN, "srun torchrun", "srun bash -c 'torchrun \"$@\"' w", None),
    "misspelt worker option": (TORCHRUN, "--nproc_per_node", "--procs_per_node", "inner-failed"),
}  # fmt: skip


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_caught(name: str) -> None:
    script, good, bad, rule = SLIPS[name]
    assert good in script
    outcome = go(script.replace(good, bad), timeout=60)
    assert outcome.passed is (rule is None), text_of(outcome)
    assert rule is None or rule in rules(outcome), text_of(outcome)


@pytest.mark.parametrize(
    ("name", "good", "bad", "rule"),
    [
        ("aurora/pytorch-ddp", "module load frameworks", "module load framework", "unknown-module"),
        ("lumi/pytorch-ddp", 'exec "$@"', 'exec "$*"', "no-ranks"),
        ("polaris/pytorch-ddp", 'cd "$PBS_O_WORKDIR"', "", "wrong-folder"),
        ("lonestar6/pytorch-ddp", "RANKS_PER_NODE=3", "RANKS_PER_NODE=4", "rank-failed"),
        ("frontier/pytorch-ddp", "LOCAL_RANK=0", "LOCAL_RANK=$SLURM_LOCALID", "rank-failed"),
        ("lassen/pytorch-ddp", "--tasks_per_rs", "--tasks_per_host", "refused"),
        ("tuolumne/pytorch-ddp", "FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID", "rank-twice"),
        ("abci3/pytorch-ddp", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "rank-failed"),
    ],
)
def test_a_slip_in_a_generated_script_is_caught(name: str, good: str, bad: str, rule: str) -> None:
    text = (GOLDEN / f"{name}.sh").read_text()
    assert good in text
    outcome = go(text.replace(good, bad), name.split("/")[0], timeout=90)
    assert rule in rules(outcome), text_of(outcome)


def test_four_nodes_are_rehearsed_on_two() -> None:
    script = TORCHRUN.replace("-N 2", "-N 4").replace("--nnodes=2", "--nnodes=4")
    outcome = go(script)
    assert outcome.passed, text_of(outcome)
    assert (outcome.promised, len(outcome.ranks), outcome.nodes, outcome.nodes_of_job) == (8, 4, 2, 4)
    assert any("only 2 had processes" in text for text in outcome.unseen)


def test_a_wrong_count_is_not_cut_away() -> None:
    # The group never forms, so all of the time is waited for: enough that a busy computer starts the launchers in it.
    outcome = go(TORCHRUN.replace("-N 2", "-N 4").replace("--nnodes=2", "--nnodes=3"), timeout=45)
    assert rules(outcome) == {"nodes"}, text_of(outcome)


def test_ranks_of_a_large_job_are_numbered_anew() -> None:
    outcome = go(SRUN.replace("-N 2", "-N 8"), gpus_per_node=1)
    assert outcome.passed, text_of(outcome)
    assert [rank.rank for rank in outcome.ranks] == [0, 1]


@pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="deepspeed is not installed")
def test_the_deepspeed_launcher_starts_nodes_over_its_hostfile() -> None:
    script = """#!/bin/bash
#SBATCH -N 2
#SBATCH -C gpu
#SBATCH --gpus-per-node=2
for host in $(scontrol show hostnames $SLURM_JOB_NODELIST); do echo "$host slots=2"; done > hostfile
head_node=$(head -n 1 hostfile | cut -d ' ' -f 1)
deepspeed --hostfile hostfile --master_addr $head_node --master_port 29500 train.py --deepspeed_config ds.json
"""
    outcome = go(script, files=(SideFile("ds.json", '{"zero_optimization": {"stage": 2}}'),))
    assert outcome.passed, text_of(outcome)
    assert {rank.wrapper for rank in outcome.ranks} == {"DeepSpeedEngine ZeRO-2"}


def test_a_script_of_two_faults_names_the_lines_to_look_at() -> None:
    outcome = go(SRUN.replace("srun bash", "srun -N 9 bash"))
    refused = next(one for one in outcome.findings if one.rule == "rehearsal-refused")
    assert "Only allocated 2 nodes asked for 9" in refused.says
    assert refused.line == 9


def test_the_missing_extra_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UnavailableError, match="the rehearsal needs torch") as error:
        go(SRUN)
    assert "\n" not in str(error.value)


def test_the_mini_app_is_a_program_of_its_own() -> None:
    variables = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29519"}
    done = subprocess.run(
        [sys.executable, str(stage.MINIAPP)], capture_output=True, text=True, env=variables, check=True
    )
    said = json.loads(done.stdout)
    assert (said["rank"], said["world_size"], said["sums_right"], said["error"]) == (0, 1, True, "")
