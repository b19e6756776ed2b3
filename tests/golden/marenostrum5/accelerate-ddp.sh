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

# MareNostrum 5: Accelerate DDP, 2 x 4 = 8 ranks (4 of 4 H100 (custom) GPUs a node, one rank each).
# Facts of 2026-08. Submit: sbatch marenostrum5-accelerate-ddp.sh

set -eo pipefail

# --- Yours to change
PROGRAM=(train.py)
export RANKS_PER_NODE=4
# your Python environment: a venv, or an unpacked conda-pack archive
export VENV="$HOME/envs/train"

# --- Software
module load cuda/12.8
source "$VENV/bin/activate"
# After the software: module and environment scripts read unset variables.
set -u

# --- Environment
# bootstrap interfaces
export NCCL_SOCKET_IFNAME=ib0,ib1,ib2,ib3
# leaves out mlx5_2 and mlx5_3, which are Ethernet
export NCCL_IB_HCA=mlx5_0,mlx5_1,mlx5_4,mlx5_5

# --- Rendezvous: rank 0 is on the first node
export NNODES=$SLURM_JOB_NUM_NODES
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
MASTER_PORT=$((10000 + SLURM_JOB_ID % 50000))
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: one accelerate a node starts the ranks
srun --ntasks="$NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 \
    --cpus-per-task=80 \
    --cpu-bind=none \
    --gpu-bind=none \
    bash -c 'exec accelerate launch --machine_rank "$SLURM_PROCID" "$@"' worker \
    --config_file accelerate.yaml --num_machines "$NNODES" --num_processes "$WORLD_SIZE" \
    --main_process_ip "$MASTER_ADDR" --main_process_port "$MASTER_PORT" \
    "${PROGRAM[@]}"
