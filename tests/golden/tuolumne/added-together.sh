#!/bin/bash
# flux: --job-name=train
# flux: --output=train-{{id}}.out
# flux: --nodes=2
# whole nodes with all their APUs
# flux: --exclusive
# flux: --time-limit=120m
# flux: --queue=pbatch

# Tuolumne: PyTorch DDP, 2 x 4 = 8 ranks (4 of 4 MI300A (APU) GPUs a node, one rank each).
# Facts of 2026-08. Submit: bash tuolumne-pytorch-ddp-submit.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=4
# your environment
export VENV=vit
# the wheel's own ROCm version (torch.version.hip)
export ROCM="6.4.1"

# --- This task of the array: 3 in all
TASK=${ARRAY_TASK:-0}
LR_VALUES=(1e-3 1e-4 3e-4)
export TASK

# --- Software
module load cray-python/3.11.7
module load "rocm/$ROCM"
if [ -d "/collab/usr/global/tools/rccl/$SYS_TYPE/rocm-$ROCM/install/lib" ]; then export LD_LIBRARY_PATH="/collab/usr/global/tools/rccl/$SYS_TYPE/rocm-$ROCM/install/lib:${LD_LIBRARY_PATH:-}"; fi  # aws-ofi-rccl: RCCL over Slingshot
eval "$(conda shell.bash hook)"
conda activate "$VENV"

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
# no network: runs are kept beside the script, `wandb sync` sends them later
export WANDB_MODE=offline
# no network: models and data come from the cache
export HF_HUB_OFFLINE=1
export HF_DATASETS_OFFLINE=1
export TRANSFORMERS_OFFLINE=1
# pip fails at once instead of waiting for the network
export PIP_NO_INDEX=1

# --- The program: its arguments may use what stands above
PROGRAM=(train.py)
PROGRAM+=(--lr "${LR_VALUES[TASK]}")
# Not above: environment scripts and arguments may read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
# As in --nodes above.
export NNODES=2
MASTER_ADDR=$(flux hostlist -n 0 local)
MASTER_PORT=29500
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Before it
python prep.py

# --- 300 s before the limit the program gets USR1: it saves and ends
WARNED=
LAUNCHED=
warn() {
    WARNED=1
    echo "$(date +%T) time is nearly over: USR1 to the program"
    [ -z "$LAUNCHED" ] || kill -USR1 "$LAUNCHED" 2>/dev/null || true
}
trap warn USR1
# Flux sends the script no signal before the limit: a clock does.
(sleep $((6900 - SECONDS)); kill -USR1 $$) >/dev/null 2>&1 &
CLOCK=$!

# --- Launch: each task is one rank, and tells PyTorch so
flux run --nodes="$NNODES" --ntasks="$WORLD_SIZE" \
    --exclusive \
    --unbuffered \
    -ofastload=on \
    -onosetpgrp \
    --setattr=rdzv_get_en=0 \
    --gpus-per-task=1 \
    -ompibind=omp_proc_bind,omp_places \
    bash -c 'trap "" USR1; export RANK=$FLUX_TASK_RANK LOCAL_RANK=0 LOCAL_WORLD_SIZE="$RANKS_PER_NODE"; exec "$@"' worker \
    python -u "${PROGRAM[@]}" &
LAUNCHED=$!
STATUS=0
wait "$LAUNCHED" || STATUS=$?
# The signal ends the first wait; the program is still saving.
if [ -n "$WARNED" ]; then
    STATUS=0
    wait "$LAUNCHED" || STATUS=$?
fi
kill "$CLOCK" 2>/dev/null || true
[ "$STATUS" -eq 0 ] || exit "$STATUS"

# --- Then
PROGRAM=(eval.py)
flux run --nodes="$NNODES" --ntasks="$WORLD_SIZE" \
    --exclusive \
    --unbuffered \
    -ofastload=on \
    -onosetpgrp \
    --setattr=rdzv_get_en=0 \
    --gpus-per-task=1 \
    -ompibind=omp_proc_bind,omp_places \
    bash -c 'trap "" USR1; export RANK=$FLUX_TASK_RANK LOCAL_RANK=0 LOCAL_WORLD_SIZE="$RANKS_PER_NODE"; exec "$@"' worker \
    python -u "${PROGRAM[@]}"
