#!/bin/bash
# flux: --job-name=train
# flux: --output=train-{{id}}.out
# flux: --nodes=2
# whole nodes with all their APUs
# flux: --exclusive
# flux: --time-limit=60m
# flux: --queue=pbatch

# Tuolumne: Megatron tensor parallel, 2 x 4 = 8 ranks (4 of 4 MI300A (APU) GPUs a node, one rank
# each).
# Facts of 2026-08. Submit: flux batch tuolumne-megatron-tp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=4
# your Python environment, with a ROCm PyTorch wheel
export VENV="/usr/workspace/$USER/venvs/train"
# the wheel's own ROCm version (torch.version.hip)
export ROCM="6.4.1"

# --- Software
module load cray-python/3.11.7
module load "rocm/$ROCM"
source "$VENV/bin/activate"
if [ -d "/collab/usr/global/tools/rccl/$SYS_TYPE/rocm-$ROCM/install/lib" ]; then export LD_LIBRARY_PATH="/collab/usr/global/tools/rccl/$SYS_TYPE/rocm-$ROCM/install/lib:${LD_LIBRARY_PATH:-}"; fi  # aws-ofi-rccl: RCCL over Slingshot

# --- Environment
# the rendezvous that RCCL needs there, with the thresholds below and rdzv_get_en=0
export FI_CXI_RDZV_PROTO=alt_read
export FI_CXI_RDZV_THRESHOLD=0
export FI_CXI_RDZV_GET_MIN=0
export FI_CXI_RDZV_EAGER_SIZE=0
# from HPE; avoids hangs
export NCCL_NET_GDR_LEVEL=3
# bootstrap at large scale; only used for wire-up
export NCCL_SOCKET_IFNAME=hsi0
# known RCCL hang with the memhooks monitor
export FI_MR_CACHE_MONITOR=userfaultfd
# keeps the caches off the shared file system
export MIOPEN_USER_DB_PATH="${TMPDIR:-/tmp}/MIOpen_user_db"
export MIOPEN_CUSTOM_CACHE_DIR="${TMPDIR:-/tmp}/MIOpen_custom_cache"
# Megatron asks for it with tensor or context parallelism: it queues communication before compute
export CUDA_DEVICE_MAX_CONNECTIONS=1

# --- The program: its arguments may use what stands above
PROGRAM=(train.py)
TENSOR_PARALLEL=4
PROGRAM+=(--tensor-model-parallel-size "$TENSOR_PARALLEL")
# Not above: environment scripts and arguments may read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
# As in --nodes above.
export NNODES=2
MASTER_ADDR=$(flux hostlist -n 0 local)
MASTER_PORT=29500
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: each task is one rank, and tells PyTorch so
flux run --nodes="$NNODES" --ntasks="$WORLD_SIZE" \
    --exclusive \
    --unbuffered \
    -ofastload=on \
    -onosetpgrp \
    --setattr=rdzv_get_en=0 \
    --gpus-per-task=1 \
    -ompibind=omp_proc_bind,omp_places \
    bash -c 'export RANK=$FLUX_TASK_RANK LOCAL_RANK=0 LOCAL_WORLD_SIZE="$RANKS_PER_NODE"; exec "$@"' worker \
    python -u "${PROGRAM[@]}"
