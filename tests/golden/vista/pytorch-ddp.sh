#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH -p gh
#SBATCH -N 2
# one task a node, one GPU a task
#SBATCH -n 2
#SBATCH -t 01:00:00
#SBATCH -A YOUR_ACCOUNT

# Vista: PyTorch DDP, 2 x 1 = 2 ranks (1 of 1 GH200 GPUs a node, one rank each).
# Facts of 2026-08. Submit: sbatch vista-pytorch-ddp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=1
# your Python environment (aarch64 wheels)
export VENV="$SCRATCH/python-envs/train"

# --- Software
module load gcc cuda
module load python3
source "$VENV/bin/activate"

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

# --- Launch: one torchrun a node starts the ranks
mpirun -np "$NNODES" --map-by ppr:1:node --bind-to none \
    -x PATH -x LD_LIBRARY_PATH -x MASTER_ADDR -x MASTER_PORT -x WORLD_SIZE -x NNODES \
    -x RANKS_PER_NODE -x VENV \
    torchrun \
    --nnodes="$NNODES" --nproc-per-node="$RANKS_PER_NODE" \
    --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$MASTER_ADDR:$MASTER_PORT" \
    "${PROGRAM[@]}"
