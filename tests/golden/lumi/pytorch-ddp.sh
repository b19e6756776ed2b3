#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH --account=YOUR_ACCOUNT
#SBATCH --partition=standard-g
#SBATCH --nodes=2
# counts GCDs: 8 a node
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=8
# 56 of the 64 cores are for jobs, 7 a GCD
#SBATCH --cpus-per-task=7
# the default is small, even with --exclusive
#SBATCH --mem=480G
#SBATCH --time=01:00:00

# LUMI: PyTorch DDP, 2 x 8 = 16 ranks (8 ranks a node, one a GCD (4 cards x 2 GCDs)).
# Facts of 2026-05. Submit: sbatch lumi-pytorch-ddp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=8
# container image with PyTorch for ROCm; a dated one keeps a run reproducible
export SIF="/appl/local/laifs/containers/lumi-multitorch-latest.sif"

# --- Software
module purge
module use /appl/local/laifs/modules
module load lumi-aif-singularity-bindings

# --- Environment
# on Lustre MIOpen's database fails on file locks
export MIOPEN_CUSTOM_CACHE_DIR="/tmp/$USER-miopen-$SLURM_JOB_ID"
# on Lustre MIOpen's database fails on file locks (the AI guide of 2026-05 sets MIOPEN_USER_DB)
export MIOPEN_USER_DB_PATH="/tmp/$USER-miopen-$SLURM_JOB_ID"

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

# --- Launch: each task is one rank, and tells PyTorch so
srun --ntasks="$WORLD_SIZE" --ntasks-per-node="$RANKS_PER_NODE" --kill-on-bad-exit=1 \
    --cpus-per-task=7 \
    --cpu-bind=mask_cpu:0xfe000000000000,0xfe00000000000000,0xfe0000,0xfe000000,0xfe,0xfe00,0xfe00000000,0xfe0000000000 \
    bash -c 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID LOCAL_WORLD_SIZE="$RANKS_PER_NODE"; exec "$@"' worker \
    singularity run "$SIF" python -u "${PROGRAM[@]}"
