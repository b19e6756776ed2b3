"""From a symptom to the corrected script and the next plan: the Maple paper's error cases (section 6), and others."""

from __future__ import annotations

import pytest

from graph.debugging.advice import for_cluster
from graph.debugging.diagnosis import diagnose
from graph.debugging.remedies import request_of, revise
from graph.extraction.script_record import understand_script
from graph.usecases.mend_script import mend_script
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.types import JobRequest

SLURM = """#!/bin/bash
#SBATCH --account=abc_g
#SBATCH --partition={queue}
#SBATCH --nodes=2
#SBATCH --gpus-per-node=4
#SBATCH --time=01:00:00
export MASTER_ADDR=localhost
export MASTER_PORT=29500
srun torchrun --nnodes=2 --nproc-per-node=4 --rdzv-endpoint=$MASTER_ADDR:29500 train.py --backend nccl
"""
PBS = """#!/bin/bash
#PBS -A abc
#PBS -q debug
#PBS -l select=2
#PBS -l walltime=00:30:00
mpiexec -n 24 --ppn 12 python train.py --backend nccl
"""


def cluster(name: str) -> Cluster:
    found = catalogue().find(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("machine", "script", "log", "cause", "line"),
    [
        (
            "deltaai",
            SLURM,
            "slurmstepd: error: execve(): python: No such file or directory",
            "env-not-propagated",
            "+srun --export=ALL,PATH,PYTHONPATH,LD_LIBRARY_PATH torchrun",
        ),
        (
            "aurora",
            PBS,
            "RuntimeError: Distributed package doesn't have NCCL built in",
            "fw-backend",
            "+mpiexec -n 24 --ppn 12 python train.py --backend xccl",
        ),
        (
            "perlmutter",
            SLURM,
            "RuntimeError: The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use)",
            "comm-port-in-use",
            "+export MASTER_PORT=$((10000 + SLURM_JOB_ID % 50000))",
        ),
        (
            "perlmutter",
            SLURM.replace("--gpus-per-node", "--gpu-per-node"),
            "sbatch: unrecognized option '--gpu-per-node=4'",
            "sched-bad-directive",
            "+#SBATCH --gpus-per-node=4",
        ),
        (
            "aurora",
            PBS,
            "python: can't open file '/home/ada/train.py': [Errno 2] No such file or directory",
            "env-file-missing",
            '+cd "$PBS_O_WORKDIR"',
        ),
        (
            "polaris",
            PBS,
            "OSError: We couldn't connect to 'https://huggingface.co' to load the files",
            "env-no-internet",
            "+export http",
        ),
        (
            "perlmutter",
            SLURM.replace("\n", "\r\n"),
            "sbatch: error: Batch script contains DOS line breaks (\\r\\n)",
            "user-shell",
            "",
        ),
    ],
)
def test_from_the_symptom_to_the_corrected_script(machine: str, script: str, log: str, cause: str, line: str) -> None:
    found = diagnose(log)
    assert found.cause == cause
    text = script.replace("{queue}", "regular")
    mended = mend_script(text, found, cluster(machine))
    assert mended.diff and mended.says
    assert line.lower() in mended.diff.lower()
    assert "\r" not in mended.text


@pytest.mark.parametrize(
    ("machine", "log", "cause", "word"),
    [
        ("perlmutter", "#error -- unsupported GNU version! gcc versions later than 11", "env-compiler", "module load"),
        ("vista", "RuntimeError: Error building extension 'fused_adam'", "fw-op-build", ""),
        ("deltaai", "RuntimeError: Error building extension 'fused_adam'", "fw-op-build", ""),
        ("lonestar6", "train.py: error: the following arguments are required: --data", "user-arguments", "give --data"),
        ("perlmutter", "OSError: You are trying to access a gated repo.", "user-auth", "hf auth login"),
        (
            "stampede3",
            "oneCCL: atl_ofi_comm.cpp init_transport: EXCEPTION: failed to initialize ATL",
            "comm-oneccl",
            "CCL",
        ),
    ],
)
def test_where_words_must_do(machine: str, log: str, cause: str, word: str) -> None:
    """The paper's cases without a safe change of text: the cause is named, and the steps are this machine's."""
    found = for_cluster(diagnose(log), cluster(machine))
    assert found.cause == cause
    assert found.fix
    assert word.lower() in " ".join(found.fix).lower()
    assert not mend_script(SLURM, found, cluster(machine)).diff


def test_a_script_that_needs_a_person_is_left_alone() -> None:
    found = diagnose(
        "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified"
    )
    assert not mend_script(SLURM, found, cluster("perlmutter")).diff


def test_time_at_the_limit_of_the_queue_is_not_raised() -> None:
    request = JobRequest(queue="debug", walltime="00:30:00", nodes=2)
    log = "slurmstepd: error: *** JOB 9 ON n CANCELLED AT 2026-11-21T10:00:00 DUE TO TIME LIMIT ***"
    assert revise(diagnose(log), cluster("perlmutter"), request).change == ()


def test_more_time_costs_and_is_only_offered() -> None:
    log = "slurmstepd: error: *** JOB 9 ON n CANCELLED AT 2026-11-21T10:00:00 DUE TO TIME LIMIT ***"
    mended = mend_script(SLURM.replace("{queue}", "regular"), diagnose(log), cluster("perlmutter"))
    assert not mended.diff
    assert [offer.price for offer in mended.offers] == ["up to 4 node hours instead of 2"]
    assert "#SBATCH --time=02:00:00\n" in mended.offers[0].script


@pytest.mark.parametrize(
    ("request_", "change"),
    [
        (JobRequest(framework="pytorch", strategy="ddp"), (("strategy", "fsdp"),)),
        (JobRequest(framework="deepspeed", strategy="zero2"), (("strategy", "zero3"),)),
        (JobRequest(framework="pytorch", strategy="fsdp", nodes=2), (("nodes", 4),)),
    ],
)
def test_out_of_memory_shards_more(request_: JobRequest, change: object) -> None:
    found = diagnose("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")
    assert revise(found, cluster("perlmutter"), request_).change == change


def test_the_request_of_a_script() -> None:
    request = request_of(understand_script(SLURM.replace("{queue}", "regular")))
    assert (request.nodes, request.gpus_per_node, request.walltime, request.queue) == (2, 4, "01:00:00", "regular")


def test_who_stayed_away_from_a_collective_is_asked_before_the_network_is() -> None:
    hung = "[rank3]: Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE) ran for 9 ms"
    found = diagnose(f"step 400 loss 1.9\n{hung}")
    assert found.cause == "comm-collective-timeout"
    polaris = for_cluster(found, cluster("polaris")).fix
    assert polaris[: len(found.fix)] == found.fix
    assert "unset NCCL_NET_GDR_LEVEL NCCL_CROSS_NIC" in polaris[-1]
    assert "export NCCL_CROSS_NIC" not in " ".join(polaris)
    frontier = for_cluster(found, cluster("frontier")).fix
    assert frontier[len(found.fix)].startswith("If your script does not set what Frontier documents: `export ")


def test_a_value_of_several_words_is_quoted_for_the_shell() -> None:
    found = diagnose("RuntimeError: NCCL error: unhandled system error, NCCL version 2.28.3")
    assert "`export NCCL_NET='AWS Libfabric'`" in " ".join(for_cluster(found, cluster("polaris")).fix)


@pytest.mark.parametrize("machine", ["perlmutter", "lumi"])
def test_an_unknown_module_is_named_and_no_other_fact_about_modules_told(machine: str) -> None:
    said = 'Lmod has detected the following error:  The following module(s) are unknown: "pytorch/2.9.9"'
    found = for_cluster(diagnose(said), cluster(machine))
    assert "(pytorch/2.9.9)" in found.says
    own, spider = found.fix
    assert "sets up its software with: module " in own
    assert "instead of pytorch/2.9.9; `module spider pytorch`" in spider
