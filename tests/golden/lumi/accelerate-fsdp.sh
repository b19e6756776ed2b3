#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH --account=YOUR_ACCOUNT
#SBATCH --partition=standard-g
#SBATCH --nodes=2
# counts GCDs: 8 a node
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=1
# 56 of the 64 cores are for jobs, 7 a GCD
#SBATCH --cpus-per-task=56
# the default is small, even with --exclusive
#SBATCH --mem=480G
#SBATCH --time=01:00:00

# LUMI: Accelerate FSDP, 2 x 8 = 16 ranks (8 ranks a node, one a GCD (4 cards x 2 GCDs)).
# Facts of 2026-05. Submit: sbatch lumi-accelerate-fsdp.sh

set -eo pipefail

# --- Yours to change
PROGRAM=(train.py)
export RANKS_PER_NODE=8
# container image with PyTorch for ROCm; a dated one keeps a run reproducible
export SIF="/appl/local/laifs/containers/lumi-multitorch-latest.sif"

# --- Software
module purge
module use /appl/local/laifs/modules
module load lumi-aif-singularity-bindings
# After the software: module and environment scripts read unset variables.
set -u

# --- Environment
# on Lustre MIOpen's database fails on file locks
export MIOPEN_CUSTOM_CACHE_DIR="/tmp/$USER-miopen-$SLURM_JOB_ID"
# on Lustre MIOpen's database fails on file locks (the AI guide of 2026-05 sets MIOPEN_USER_DB)
export MIOPEN_USER_DB_PATH="/tmp/$USER-miopen-$SLURM_JOB_ID"

# --- Rendezvous: rank 0 is on the first node
export NNODES=$SLURM_JOB_NUM_NODES
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
MASTER_PORT=$((10000 + SLURM_JOB_ID % 10000))
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: one accelerate a node starts the ranks
srun --ntasks="$NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --cpus-per-task=56 \
    bash -c 'exec singularity run "$SIF" accelerate launch --machine_rank "$SLURM_PROCID" "$@"' worker \
    --config_file accelerate.yaml --num_machines "$NNODES" --num_processes "$WORLD_SIZE" \
    --main_process_ip "$MASTER_ADDR" --main_process_port "$MASTER_PORT" \
    "${PROGRAM[@]}"
