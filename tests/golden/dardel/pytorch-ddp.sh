#!/bin/bash -l
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH -A YOUR_ACCOUNT
#SBATCH -p gpu
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=64
#SBATCH -t 01:00:00

# Dardel: PyTorch DDP, 2 x 8 = 16 ranks (8 ranks a node, one a GCD (4 cards x 2 GCDs)).
# Facts of 2026-06. Submit: sbatch dardel-pytorch-ddp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=8
# the site's container with PyTorch 2.4 for ROCm 6.3
export SIF="/pdc/software/resources/sing_hub/rocm6.3_ubuntu24.04_py3.12_pytorch_release_2.4.0"

# --- Software
ml add PDC
ml add singularity/4.2.0-cpeGNU-24.11

# --- The program: its arguments may use what stands above
PROGRAM=(train.py)
# Not above: environment scripts and arguments may read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
export NNODES=$SLURM_JOB_NUM_NODES
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
MASTER_PORT=$((10000 + SLURM_JOB_ID % 50000))
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: one torchrun a node starts the ranks
srun --ntasks="$NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --cpus-per-task=64 \
    singularity exec --rocm -B /cfs/klemming "$SIF" torchrun \
    --nnodes="$NNODES" --nproc-per-node="$RANKS_PER_NODE" \
    --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$MASTER_ADDR:$MASTER_PORT" \
    "${PROGRAM[@]}"
