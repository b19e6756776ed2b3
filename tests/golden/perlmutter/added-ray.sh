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
#SBATCH --time=02:00:00

# Perlmutter: Ray, 2 x 4 = 8 ranks (4 of 4 A100 GPUs a node, one rank each).
# Facts of 2026-01. Submit: sbatch perlmutter-ray-ddp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=4

# --- Software
module load pytorch

# --- Environment
# avoids hangs of large multi-node jobs; set in NERSC's data-parallel tutorial scripts 2022 to 2025
# and by podman-hpc --nccl
export FI_MR_CACHE_MONITOR=userfaultfd

# --- The program: its arguments may use what stands above
PROGRAM=(train.py --lr 1e-3)
# Not above: environment scripts and arguments may read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
export NNODES=$SLURM_JOB_NUM_NODES
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
MASTER_PORT=$((10000 + SLURM_JOB_ID % 50000))
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Ray: the head on the first node, a worker on each other one
HEAD_IP=$(getent ahostsv4 "$MASTER_ADDR" | awk 'NR == 1 {print $1}')
# Ray keeps ports 10001 to 19999 for its own workers.
export RAY_ADDRESS="$HEAD_IP:$((20000 + MASTER_PORT % 20000))"
srun --ntasks="$NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --cpus-per-task=128 \
    bash -c 'if [ "$SLURM_PROCID" -eq 0 ]; then
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
