#!/bin/bash
# flux: --job-name=train
# flux: --output=train-{{id}}.out
# flux: --nodes=2
# whole nodes with all their APUs
# flux: --exclusive
# flux: --time-limit=120m
# flux: --queue=pbatch

# Tuolumne: Ray, 2 x 4 = 8 ranks (4 of 4 MI300A (APU) GPUs a node, one rank each).
# Facts of 2026-08. Submit: flux batch tuolumne-ray-ddp.sh

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

# --- The program: its arguments may use what stands above
PROGRAM=(train.py --lr 1e-3)
# Not above: environment scripts and arguments may read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
# As in --nodes above.
export NNODES=2
MASTER_ADDR=$(flux hostlist -n 0 local)
MASTER_PORT=29500
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Ray: the head on the first node, a worker on each other one
HEAD_IP=$(getent ahostsv4 "$MASTER_ADDR" | awk 'NR == 1 {print $1}')
# Ray keeps ports 10001 to 19999 for its own workers.
export RAY_ADDRESS="$HEAD_IP:$((20000 + MASTER_PORT % 20000))"
flux run --nodes="$NNODES" --ntasks="$NNODES" --exclusive --unbuffered -ofastload=on -onosetpgrp --setattr=rdzv_get_en=0 --gpus-per-task=4 \
    bash -c 'if [ "$FLUX_TASK_RANK" -eq 0 ]; then
        set -- --head --node-ip-address="${RAY_ADDRESS%:*}" --port="${RAY_ADDRESS##*:}" --dashboard-host=127.0.0.1
    else
        # A worker gives up soon where no head answers.
        for ((try = 0; try < 150; try++)); do
            if (exec 3<>"/dev/tcp/${RAY_ADDRESS%:*}/${RAY_ADDRESS##*:}") 2>/dev/null; then break; fi
            sleep 2
        done
        set -- --address="$RAY_ADDRESS"
    fi
    exec ray start "$@" --num-gpus="$RANKS_PER_NODE" --block' worker &
RAY=$!
# The program starts once every node has joined; gives up after five minutes.
JOINED='import ray, sys; ray.init(logging_level="ERROR"); sys.exit(sum(n["Alive"] for n in ray.nodes()) < int(sys.argv[1]))'
for ((try = 0; try < 60; try++)); do
    if python -c "$JOINED" "$NNODES" >/dev/null 2>&1; then break; fi
    kill -0 "$RAY" || { echo 'Ray ended before all nodes had joined' >&2; exit 1; }
    sleep 5
done
[ "$try" -lt 60 ] || { echo "Ray has fewer than $NNODES nodes" >&2; exit 1; }

# --- Launch: the program, on the first node
STATUS=0
python -u "${PROGRAM[@]}" || STATUS=$?
kill "$RAY" 2>/dev/null || true
wait "$RAY" 2>/dev/null || true
[ "$STATUS" -eq 0 ] || exit "$STATUS"
