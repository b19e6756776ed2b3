#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH --partition=gpu_h100
#SBATCH --nodes=2
#SBATCH --gpus-per-node=4
#SBATCH --ntasks-per-node=1
# 16 cores a GPU on H100 nodes, 18 on A100 nodes
#SBATCH --cpus-per-task=64
#SBATCH --exclusive
# the default is 5 minutes
#SBATCH --time=01:00:00

# Snellius: PyTorch DDP, 2 x 4 = 8 ranks (4 of 4 H100 GPUs a node, one rank each).
# Facts of 2026-06. Submit: sbatch snellius-pytorch-ddp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=4
# your project's folder; it is bound into the container
export PROJECT_SPACE="/projects/0/YOUR_PROJECT"
# your container image with PyTorch
export SIF="/projects/0/YOUR_PROJECT/containers/train.sif"

# --- Software
module purge
module load 2024 NCCL/2.22.3-GCCcore-13.3.0-CUDA-12.6.0

# --- The program: its arguments may use what stands above
PROGRAM=(train.py)
# Not above: environment scripts and arguments may read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
export NNODES=$SLURM_JOB_NUM_NODES
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
MASTER_PORT=$((10000 + SLURM_JOB_ID % 10000))
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: one torchrun a node starts the ranks
srun --ntasks="$NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --cpus-per-task=64 \
    apptainer exec --nv -B "$PROJECT_SPACE" "$SIF" torchrun \
    --nnodes="$NNODES" --nproc-per-node="$RANKS_PER_NODE" \
    --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$MASTER_ADDR:$MASTER_PORT" \
    "${PROGRAM[@]}"
