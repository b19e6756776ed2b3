#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH --account=YOUR_ACCOUNT
#SBATCH --partition=gpu
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=40
# must be given: the default is 1 GB a GPU
#SBATCH --mem=368G
# counts the whole job
#SBATCH --gpus=8
# else a node without Lustre may be given
#SBATCH --constraint=lustre
#SBATCH --no-requeue
#SBATCH --export=ALL
#SBATCH --time=01:00:00

# Expanse: DeepSpeed ZeRO-2, 2 x 4 = 8 ranks (4 of 4 V100 GPUs a node, one rank each).
# Facts of 2026-06. Submit: sbatch expanse-deepspeed-zero2.sh

set -eo pipefail

# --- Yours to change
PROGRAM=(train.py --deepspeed --deepspeed_config ds_zero2.json)
export RANKS_PER_NODE=4
# your conda environment
export CONDA_ENV="$HOME/envs/train"
# your conda installation
export CONDA="$HOME/miniforge3"

# --- Software
module reset
source "$CONDA/etc/profile.d/conda.sh"
conda activate "$CONDA_ENV"
module load gpu cuda
# After the software: module and environment scripts read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
export NNODES=$SLURM_JOB_NUM_NODES
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
MASTER_PORT=$((10000 + SLURM_JOB_ID % 50000))
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: one torchrun a node starts the ranks
srun --ntasks="$NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --cpus-per-task=40 \
    torchrun \
    --nnodes="$NNODES" --nproc-per-node="$RANKS_PER_NODE" \
    --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$MASTER_ADDR:$MASTER_PORT" \
    "${PROGRAM[@]}"
