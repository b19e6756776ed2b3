"""The error cases that the Maple paper tells of (arXiv 2510.08842, its error analysis): from symptom to remedy.

Where the script's text can cure it, the corrected script is asserted and checked. Where the cure is outside of it (an
environment, a licence, an argument only the person knows), the script stays as it is and the steps say what to do.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from graph.debugging.advice import for_cluster
from graph.debugging.diagnosis import diagnose
from graph.usecases.mend_script import mend_script
from graph.verification.checks import check
from knowledge.catalogue import catalogue

DELTAAI = """#!/bin/bash
#SBATCH --account=abcd-dtai-gh
#SBATCH --partition=ghx4
#SBATCH --nodes=2
#SBATCH --gpus-per-node=4
#SBATCH --ntasks-per-node=1
#SBATCH --mem=0
#SBATCH --time=01:00:00
module load python/miniforge3_pytorch/2.10.0
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun --export=NONE torchrun --nnodes=2 --nproc-per-node=4 --rdzv-backend=c10d \\
    --rdzv-endpoint="$MASTER_ADDR:29500" train.py
"""
AURORA = """#!/bin/bash -l
#PBS -A proj
#PBS -q debug
#PBS -l select=2
#PBS -l place=scatter
#PBS -l walltime=00:30:00
#PBS -l filesystems=home:flare
module load frameworks
mpiexec -n 24 --ppn 12 python3 train.py --backend nccl
"""
PLAIN = """#!/bin/bash
#SBATCH -N 1
#SBATCH -t 01:00:00
python train.py
"""


@dataclass(frozen=True)
class Case:
    machine: str
    log: str
    cause: str
    step: str
    script: str = PLAIN
    becomes: str = ""


CASES = {
    "DeltaAI: variables do not reach the other nodes": Case(
        "deltaai",
        "slurmstepd: error: execve(): torchrun: No such file or directory\n"
        "srun: error: gh014: task 1: Exited with exit code 2\n",
        "env-not-propagated",
        "srun --export=ALL,PYTHONPATH,LD_LIBRARY_PATH",
        DELTAAI,
        "srun --export=ALL,PATH,PYTHONPATH,LD_LIBRARY_PATH torchrun",
    ),
    "Intel GPUs: the backend is not built in": Case(
        "aurora",
        '[rank5]:   File "/flare/proj/train.py", line 12, in <module>\n'
        "[rank5]: RuntimeError: Distributed package doesn't have NCCL built in\n",
        "fw-backend",
        "xccl",
        AURORA,
        "--backend xccl",
    ),
    "Stampede3 and Aurora: driver or compiler against the communication library": Case(
        "aurora",
        "2026:11:20-10:00:00:(4117) |CCL_ERROR| ze_call.cpp:55: |L0| error at zeMemOpenIpcHandle, code: "
        "ZE_RESULT_ERROR_INVALID_ARGUMENT\nterminate called after throwing an instance of 'ccl::v1::exception'\n",
        "comm-oneccl",
        "oneCCL",
    ),
    "Vista and DeltaAI: Apex does not compile": Case(
        "vista",
        "  RuntimeError: The detected CUDA version (12.8) mismatches the version that was used to compile\n"
        "  PyTorch (12.4). Please make sure to use the same CUDA versions.\n"
        "  ERROR: Failed building wheel for apex\n",
        "env-compiler",
        "torch.version.cuda",
    ),
    "Perlmutter: GCC and CUDA do not fit": Case(
        "perlmutter",
        "host_config.h:143:2: error: #error -- unsupported GNU version! gcc versions later than 13 are not supported!\n"
        "ninja: build stopped: subcommand failed.\n",
        "env-compiler",
        "gcc/13.2.0 and cuda/12.4",
    ),
    "Lonestar6: arguments are missing": Case(
        "lonestar6",
        "usage: run_glue.py [-h] --model_name_or_path M --output_dir DIR\n"
        "run_glue.py: error: the following arguments are required: --output_dir\n",
        "user-arguments",
        "Give --output_dir on the command line",
    ),
    "several: a gated model": Case(
        "polaris",
        "OSError: You are trying to access a gated repo.\n"
        "Cannot access gated repo for url https://huggingface.co/meta-llama/Llama-3.1-8B/resolve/main/config.json.\n",
        "user-auth",
        "token",
    ),
    "DeltaAI: fused Adam does not build": Case(
        "deltaai",
        "Building extension module fused_adam...\nFAILED: multi_tensor_adam.cuda.o\n"
        "RuntimeError: Error building extension 'fused_adam'\n",
        "fw-op-build",
        "fused AdamW",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_from_symptom_to_remedy(name: str) -> None:
    case = CASES[name]
    cluster = catalogue().clusters[case.machine]
    found = for_cluster(diagnose(case.log), cluster)
    assert found.cause == case.cause
    assert case.step in " ".join((found.says, *found.fix))
    mended = mend_script(case.script, found, cluster)
    if not case.becomes:
        assert not mended.diff
        return
    assert case.becomes in mended.text
    before = {(f.rule, f.says) for f in check(case.script, cluster) if f.severity == "error"}
    assert {(f.rule, f.says) for f in check(mended.text, cluster) if f.severity == "error"} <= before
