#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH --account=YOUR_ACCOUNT
#SBATCH --partition=boost_usr_prod
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
# 8 cores a GPU
#SBATCH --cpus-per-task=32
# without it: no GPU
#SBATCH --gres=gpu:4
#SBATCH --exclusive
#SBATCH --time=01:00:00

# Leonardo: Megatron pipeline parallel, 2 x 4 = 8 ranks (4 of 4 A100 (custom) GPUs a node, one rank
# each).
# Facts of 2026-08. Submit: sbatch leonardo-megatron-pp.sh

set -eo pipefail

# --- Yours to change
PROGRAM=(train.py)
export RANKS_PER_NODE=4
TENSOR_PARALLEL=1
PIPELINE_PARALLEL=2
PROGRAM+=(--tensor-model-parallel-size "$TENSOR_PARALLEL" --pipeline-model-parallel-size "$PIPELINE_PARALLEL")
# your Python environment
export VENV="$WORK/venvs/train"

# --- Software
module load python/3.11.7 cuda/12.6
source "$VENV/bin/activate"
# After the software: module and environment scripts read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
export NNODES=$SLURM_JOB_NUM_NODES
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
MASTER_PORT=$((10000 + SLURM_JOB_ID % 50000))
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: one torchrun a node starts the ranks
srun --ntasks="$NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --cpus-per-task=32 \
    torchrun \
    --nnodes="$NNODES" --nproc-per-node="$RANKS_PER_NODE" \
    --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$MASTER_ADDR:$MASTER_PORT" \
    "${PROGRAM[@]}"
