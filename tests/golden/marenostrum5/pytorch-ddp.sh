#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH --account=YOUR_ACCOUNT
# decides the queue; bsc_queues lists an account's own
#SBATCH --qos=acc_ehpc
#SBATCH --partition=acc
#SBATCH --nodes=2
#SBATCH --gres=gpu:4
#SBATCH --ntasks-per-node=1
# 20 cores a GPU are mandatory
#SBATCH --cpus-per-task=80
#SBATCH --exclusive
#SBATCH --time=01:00:00

# MareNostrum 5: PyTorch DDP, 2 x 4 = 8 ranks (4 of 4 H100 (custom) GPUs a node, one rank each).
# Facts of 2026-08. Submit: sbatch marenostrum5-pytorch-ddp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=4
# your Python environment: a venv, or an unpacked conda-pack archive
export VENV="$HOME/envs/train"

# --- Software
module load cuda/12.8
source "$VENV/bin/activate"

# --- Environment
# bootstrap interfaces
export NCCL_SOCKET_IFNAME=ib0,ib1,ib2,ib3
# leaves out mlx5_2 and mlx5_3, which are Ethernet
export NCCL_IB_HCA=mlx5_0,mlx5_1,mlx5_4,mlx5_5

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
srun --ntasks="$NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 \
    --cpus-per-task=80 \
    --cpu-bind=none \
    --gpu-bind=none \
    torchrun \
    --nnodes="$NNODES" --nproc-per-node="$RANKS_PER_NODE" \
    --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$MASTER_ADDR:$MASTER_PORT" \
    "${PROGRAM[@]}"
