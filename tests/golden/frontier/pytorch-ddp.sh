#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH -A YOUR_ACCOUNT
#SBATCH -p batch
#SBATCH -N 2
#SBATCH -t 01:00:00
# better RCCL at scale; goes with FI_CXI_RDZV_PROTO=alt_read, which rccl-net-plugin sets
#SBATCH --network=disable_rdzv_get

# Frontier: PyTorch DDP, 2 x 8 = 16 ranks (8 ranks a node, one a GCD (4 cards x 2 GCDs)).
# Facts of 2026-07. Submit: sbatch frontier-pytorch-ddp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=8
# your conda environment, best on Orion
export CONDA_ENV="$MEMBERWORK/$SLURM_JOB_ACCOUNT/envs/train"

# --- Software
module load PrgEnv-gnu/8.7.0
module load cpe/26.03
module load miniforge3/23.11.0-0
module load rocm/7.1.1
module load rccl-net-plugin
module load craype-accel-amd-gfx90a
export LD_LIBRARY_PATH="$CRAY_LD_LIBRARY_PATH:$LD_LIBRARY_PATH"
conda activate "$CONDA_ENV"

# --- Environment
# OLCF calls it of utmost importance on several nodes; hsn0 alone if it hangs
export NCCL_SOCKET_IFNAME=hsn0,hsn1,hsn2,hsn3
# MIOpen's cache on a shared file system gives disk I/O errors
export MIOPEN_USER_DB_PATH="/tmp/$USER-miopen-$SLURM_JOB_ID"
export MIOPEN_CUSTOM_CACHE_DIR="$MIOPEN_USER_DB_PATH"
# the way out of a compute node
export http_proxy=http://proxy.ccs.ornl.gov:3128/
export https_proxy=http://proxy.ccs.ornl.gov:3128/
export no_proxy='localhost,127.0.0.0/8,*.ccs.ornl.gov'

# --- The program: its arguments may use what stands above
PROGRAM=(train.py)
# Not above: environment scripts and arguments may read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
export NNODES=$SLURM_JOB_NUM_NODES
MASTER_ADDR=$(hostname -i)
MASTER_PORT=3442
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: each task is one rank, and tells PyTorch so
srun --ntasks="$WORLD_SIZE" --ntasks-per-node="$RANKS_PER_NODE" --kill-on-bad-exit=1 \
    --cpus-per-task=7 \
    --gpus-per-task=1 \
    --gpu-bind=closest \
    bash -c 'export RANK=$SLURM_PROCID LOCAL_RANK=0 LOCAL_WORLD_SIZE="$RANKS_PER_NODE"; exec "$@"' worker \
    python3 -u "${PROGRAM[@]}"
