#!/bin/bash -l
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH --partition=h100
#SBATCH --nodes=2
#SBATCH --gres=gpu:h100:4
#SBATCH --ntasks-per-node=1
# 32 cores a GPU
#SBATCH --cpus-per-task=128
#SBATCH --time=01:00:00
#SBATCH --export=NONE

# Helma: PyTorch DDP, 2 x 4 = 8 ranks (4 of 4 H100 GPUs a node, one rank each).
# Facts of 2026-06. Submit: sbatch helma-pytorch-ddp.sh

set -eo pipefail
# with --export=NONE srun would pass nothing on
unset SLURM_EXPORT_ENV

# --- Yours to change
export RANKS_PER_NODE=4
# your conda environment, in home: $WORK is not on Helma's compute nodes
export CONDA_ENV="$HOME/envs/train"

# --- Software
module load python
conda activate "$CONDA_ENV"

# --- Environment
# the way out of a compute node
export http_proxy=http://proxy.nhr.fau.de:80
export https_proxy=http://proxy.nhr.fau.de:80

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
srun --ntasks="$NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --cpus-per-task=128 \
    torchrun \
    --nnodes="$NNODES" --nproc-per-node="$RANKS_PER_NODE" \
    --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$MASTER_ADDR:$MASTER_PORT" \
    "${PROGRAM[@]}"
