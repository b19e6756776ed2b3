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

# Bridges-2: Accelerate DDP, 2 x 8 = 16 ranks (8 of 8 H100 GPUs a node, one rank each).
# Facts of 2026-07. Submit: sbatch bridges2-accelerate-ddp.sh

set -eo pipefail

# --- Yours to change
PROGRAM=(train.py)
export RANKS_PER_NODE=8
# your conda environment, in $PROJECT: home is small
export CONDA_ENV="$PROJECT/envs/train"

# --- Software
module load anaconda3
conda activate "$CONDA_ENV"
# After the software: module and environment scripts read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
export NNODES=$SLURM_JOB_NUM_NODES
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
MASTER_PORT=$((10000 + SLURM_JOB_ID % 50000))
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: one accelerate a node starts the ranks
srun --ntasks="$NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --cpu-bind=none \
    bash -c 'exec accelerate launch --machine_rank "$SLURM_PROCID" "$@"' worker \
    --config_file accelerate.yaml --num_machines "$NNODES" --num_processes "$WORLD_SIZE" \
    --main_process_ip "$MASTER_ADDR" --main_process_port "$MASTER_PORT" \
    "${PROGRAM[@]}"
