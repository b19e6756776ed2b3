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

# Bridges-2: DeepSpeed ZeRO-3, 2 x 8 = 16 ranks (8 of 8 H100 GPUs a node, one rank each).
# Facts of 2026-07. Submit: sbatch bridges2-deepspeed-zero3.sh

set -eo pipefail

# --- Yours to change
PROGRAM=(train.py --deepspeed --deepspeed_config ds_zero3.json)
export RANKS_PER_NODE=8
# your conda environment, in $PROJECT: home is small
export CONDA_ENV="$PROJECT/envs/train"

# --- Software
module load anaconda3
conda activate "$CONDA_ENV"
module load cuda
# After the software: module and environment scripts read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
export NNODES=$SLURM_JOB_NUM_NODES
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
MASTER_PORT=$((10000 + SLURM_JOB_ID % 50000))
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: one torchrun a node starts the ranks
srun --ntasks="$NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --cpu-bind=none \
    torchrun \
    --nnodes="$NNODES" --nproc-per-node="$RANKS_PER_NODE" \
    --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$MASTER_ADDR:$MASTER_PORT" \
    "${PROGRAM[@]}"
