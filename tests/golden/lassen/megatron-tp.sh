#!/bin/bash
#BSUB -J train
#BSUB -o train-%J.out
#BSUB -nnodes 2
# hours:minutes, no seconds
#BSUB -W 1:00
#BSUB -q pbatch
# the bank
#BSUB -G YOUR_ACCOUNT

# Lassen: Megatron tensor parallel, 2 x 4 = 8 ranks (4 of 4 V100 GPUs a node, one rank each).
# Facts of 2026-08. Submit: bsub < lassen-megatron-tp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=4
# your Python environment (ppc64le)
export VENV="/usr/workspace/$USER/venvs/train"

# --- Software
module load gcc/11.2.1 cuda/12.0.0 python/3.11.5
source "$VENV/bin/activate"

# --- Environment
# InfiniBand can hang when an MPI process forks
export IBV_FORK_SAFE=1
# hang in MPI_Bcast with hcoll
export OMPI_MCA_coll_hcoll_enable=0
export HCOLL_ENABLE_SHARP=0
# PAMI bug
export PAMI_MAX_NUM_CACHED_PAGES=0
# Megatron asks for it with tensor or context parallelism: it queues communication before compute
export CUDA_DEVICE_MAX_CONNECTIONS=1

# --- The program: its arguments may use what stands above
PROGRAM=(train.py)
TENSOR_PARALLEL=4
PROGRAM+=(--tensor-model-parallel-size "$TENSOR_PARALLEL")
# Not above: environment scripts and arguments may read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
# As in -nnodes above.
export NNODES=2
MASTER_ADDR=$(cut -d ' ' -f 3 <<< "$LSB_MCPU_HOSTS")
MASTER_PORT=29500
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: each task is one rank, and tells PyTorch so
jsrun --nrs "$NNODES" --rs_per_host 1 --tasks_per_rs "$RANKS_PER_NODE" \
    --cpu_per_rs ALL_CPUS --gpu_per_rs ALL_GPUS --smpiargs=-gpu --bind=packed:8 \
    bash -c 'export RANK=$OMPI_COMM_WORLD_RANK LOCAL_RANK=$OMPI_COMM_WORLD_LOCAL_RANK LOCAL_WORLD_SIZE="$RANKS_PER_NODE"; exec "$@"' worker \
    python -u "${PROGRAM[@]}"
