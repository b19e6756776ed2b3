#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH --account=YOUR_ACCOUNT
#SBATCH --nodes=2
# without the model a job may be refused or get any GPU
#SBATCH --gpus-per-node=a100:4
#SBATCH --ntasks-per-node=4
# 12 cores a GPU at most
#SBATCH --cpus-per-task=12
# memory a node; the default is 256 MB a core
#SBATCH --mem=496G
#SBATCH --time=01:00:00

# Narval: PyTorch DDP, 2 x 4 = 8 ranks (4 of 4 A100 GPUs a node, one rank each).
# Facts of 2026-05. Submit: sbatch narval-pytorch-ddp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=4
# your Python environment, made from the site's wheels
export VENV="$HOME/envs/train"

# --- Software
module load StdEnv/2023 python/3.12 cuda
source "$VENV/bin/activate"

# --- The program: its arguments may use what stands above
PROGRAM=(train.py)
# Not above: environment scripts and arguments may read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
export NNODES=$SLURM_JOB_NUM_NODES
MASTER_ADDR=$(hostname)
MASTER_PORT=$((10000 + SLURM_JOB_ID % 50000))
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: each task is one rank, and tells PyTorch so
srun --ntasks="$WORLD_SIZE" --ntasks-per-node="$RANKS_PER_NODE" --kill-on-bad-exit=1 --cpus-per-task=12 \
    bash -c 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID LOCAL_WORLD_SIZE="$RANKS_PER_NODE"; exec "$@"' worker \
    python -u "${PROGRAM[@]}"
