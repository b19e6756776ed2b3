#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
# without it the job goes to RM, which has no GPUs
#SBATCH -p GPU
#SBATCH -N 2
# counts the whole job, not one node
#SBATCH --gpus=h100-80:16
#SBATCH --ntasks-per-node=1
#SBATCH -t 01:00:00

# Bridges-2: PyTorch DDP, 2 x 8 = 16 ranks (8 of 8 H100 GPUs a node, one rank each).
# Facts of 2026-07. Submit: sbatch bridges2-pytorch-ddp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=8
# the container image
export SIF="/ocean/containers/ngc/pytorch/pytorch_latest.sif"

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
srun --ntasks="$NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --cpu-bind=none \
    singularity exec --nv "$SIF" torchrun \
    --nnodes="$NNODES" --nproc-per-node="$RANKS_PER_NODE" \
    --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$MASTER_ADDR:$MASTER_PORT" \
    "${PROGRAM[@]}"
