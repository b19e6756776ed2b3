#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH --account=YOUR_ACCOUNT
#SBATCH --partition=normal
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=72
#SBATCH --time=01:00:00

# Alps (Clariden): PyTorch DDP, 2 x 4 = 8 ranks (4 of 4 GH200 (Hopper) GPUs a node, one rank each).
# Facts of 2026-08. Submit: sbatch alps-clariden-pytorch-ddp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=4
# environment definition file: names the container image
export EDF="$PWD/pytorch.toml"

# --- Environment
# GPU-aware MPI beside NCCL can deadlock
export MPICH_GPU_SUPPORT_ENABLED=0
# tears the process down on an NCCL error
export TORCH_NCCL_ASYNC_ERROR_HANDLING=1
# keeps JIT binaries off the shared file system
export CUDA_CACHE_DISABLE=1

# --- The program: its arguments may use what stands above
PROGRAM=(train.py)
# Not above: environment scripts and arguments may read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
export NNODES=$SLURM_JOB_NUM_NODES
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
MASTER_PORT=29500
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: each task is one rank, and tells PyTorch so
srun --ntasks="$WORLD_SIZE" --ntasks-per-node="$RANKS_PER_NODE" --kill-on-bad-exit=1 --environment="$EDF" --cpus-per-task=72 \
    bash -c 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID LOCAL_WORLD_SIZE="$RANKS_PER_NODE"; exec "$@"' worker \
    python -u "${PROGRAM[@]}"
