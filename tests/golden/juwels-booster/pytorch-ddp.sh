#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH --account=YOUR_ACCOUNT
#SBATCH --partition=booster
#SBATCH --nodes=2
#SBATCH --gres=gpu:4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=48
#SBATCH --time=01:00:00

# JUWELS Booster: PyTorch DDP, 2 x 4 = 8 ranks (4 of 4 A100 GPUs a node, one rank each).
# Facts of 2026-08. Submit: sbatch juwels-booster-pytorch-ddp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=4
# folder made from sc_venv_template: its activate.sh loads the modules too
export VENV="$PROJECT/$USER/sc_venv_template"

# --- Software
source "$VENV/activate.sh"

# --- Environment
# Slurm there shows a task only its nearest GPU
export CUDA_VISIBLE_DEVICES=0,1,2,3
# bootstrap over InfiniBand
export NCCL_SOCKET_IFNAME=ib0
# Gloo errors without it there
export GLOO_SOCKET_IFNAME=ib0

# --- The program: its arguments may use what stands above
PROGRAM=(train.py)
# Not above: environment scripts and arguments may read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
export NNODES=$SLURM_JOB_NUM_NODES
MASTER_ADDR=$(nslookup "$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)i" | grep -oP '(?<=Address: ).*' | tail -n 1)
MASTER_PORT=7010
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: one torchrun a node starts the ranks
srun --ntasks="$NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --cpu-bind=none --cpus-per-task=48 \
    bash -c 'exec torchrun_jsc --rdzv_conf=is_host=$(if ((SLURM_NODEID)); then echo 0; else echo 1; fi) "$@"' worker \
    --nnodes="$NNODES" --nproc-per-node="$RANKS_PER_NODE" \
    --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$MASTER_ADDR:$MASTER_PORT" \
    "${PROGRAM[@]}"
