#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH -A YOUR_ACCOUNT-gpu
#SBATCH -p gpu
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=128
# RCAC: jobs may misbehave with other GPU options
#SBATCH --gpus-per-node=4
# the default is about 1.9 GB a core
#SBATCH --mem=480G
#SBATCH --time=01:00:00

# Anvil: PyTorch DDP, 2 x 4 = 8 ranks (4 of 4 A100 GPUs a node, one rank each).
# Facts of 2026. Submit: sbatch anvil-pytorch-ddp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=4
# your conda environment
export CONDA_ENV="$PROJECT/envs/train"

# --- Software
module purge
module load modtree/gpu
module load conda
conda activate "$CONDA_ENV"

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
