#!/bin/bash -l
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH --account=YOUR_ACCOUNT
#SBATCH --partition=booster
#SBATCH --nodes=2
# GPUs are asked for, though nodes come whole
#SBATCH --gres=gpu:4
#SBATCH --ntasks-per-node=1
# 72 cores a GPU
#SBATCH --cpus-per-task=288
# 12 hours at most
#SBATCH --time=01:00:00

# JUPITER: PyTorch DDP, 2 x 4 = 8 ranks (4 of 4 GH200 GPUs a node, one rank each).
# Facts of 2026-09. Submit: sbatch jupiter-pytorch-ddp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=4
# your Python environment (aarch64 wheels)
export VENV="$PROJECT/$USER/envs/train"

# --- Software
module load GCC OpenMPI CUDA Python
source "$VENV/bin/activate"

# --- Environment
# Slurm at JSC may show a task only its nearest GPU (our reading, from JUWELS Booster; nodes are yours
# alone)
export CUDA_VISIBLE_DEVICES=0,1,2,3

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
srun --ntasks="$NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --cpus-per-task=288 \
    torchrun \
    --nnodes="$NNODES" --nproc-per-node="$RANKS_PER_NODE" \
    --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$MASTER_ADDR:$MASTER_PORT" \
    "${PROGRAM[@]}"
