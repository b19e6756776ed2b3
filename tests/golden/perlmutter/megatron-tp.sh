#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH --account=YOUR_ACCOUNT_g
# without it: no GPU node
#SBATCH --constraint=gpu
#SBATCH --qos=regular
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
# hardware threads
#SBATCH --cpus-per-task=128
# not --gpus-per-task: it hides the GPUs of a node from each other
#SBATCH --gpus-per-node=4
#SBATCH --time=01:00:00

# Perlmutter: Megatron tensor parallel, 2 x 4 = 8 ranks (4 of 4 A100 GPUs a node, one rank each).
# Facts of 2026-01. Submit: sbatch perlmutter-megatron-tp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=4

# --- Software
module load pytorch

# --- Environment
# avoids hangs of large multi-node jobs; set in NERSC's data-parallel tutorial scripts 2022 to 2025
# and by podman-hpc --nccl
export FI_MR_CACHE_MONITOR=userfaultfd
# Megatron asks for it with tensor or context parallelism: it queues communication before compute
export CUDA_DEVICE_MAX_CONNECTIONS=1

# --- The program: its arguments may use what stands above
PROGRAM=(train.py)
TENSOR_PARALLEL=4
PROGRAM+=(--tensor-model-parallel-size "$TENSOR_PARALLEL")
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
