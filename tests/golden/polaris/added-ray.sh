#!/bin/bash -l
#PBS -N train
#PBS -A YOUR_ACCOUNT
#PBS -q capacity
#PBS -l select=2:system=polaris
#PBS -l place=scatter
#PBS -l walltime=02:00:00
# required: the file systems the job needs
#PBS -l filesystems=home:eagle
#PBS -k doe
#PBS -j oe

# Polaris: Ray, 2 x 4 = 8 ranks (4 of 4 A100 GPUs a node, one rank each).
# Facts of 2026-08. Submit: qsub polaris-ray-ddp.sh

set -eo pipefail
cd "$PBS_O_WORKDIR"

# --- Yours to change
export RANKS_PER_NODE=4

# --- Software
module use /soft/modulefiles
# 2026-08-22: no conda module was found after the upgrade (https://github.com/saforem2/ezpz/issues/220).
# If that still holds, the job ends here: activate a venv with its own torch in the place of these two lines.
module load conda
conda activate

# --- Environment
# the way out of a compute node
export http_proxy=http://proxy.alcf.anl.gov:3128
export https_proxy=http://proxy.alcf.anl.gov:3128
export no_proxy='admin,polaris-adminvm-01,localhost,*.cm.polaris.alcf.anl.gov,polaris-*,*.polaris.alcf.anl.gov,*.alcf.anl.gov'

# --- The program: its arguments may use what stands above
PROGRAM=(train.py --lr 1e-3)
# Not above: environment scripts and arguments may read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
NNODES=$(sort -u "$PBS_NODEFILE" | wc -l)
export NNODES
MASTER_ADDR=$(head -n 1 "$PBS_NODEFILE")
MASTER_PORT=29500
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Ray: the head on the first node, a worker on each other one
HEAD_IP=$(getent ahostsv4 "$MASTER_ADDR" | awk 'NR == 1 {print $1}')
# Ray keeps ports 10001 to 19999 for its own workers.
export RAY_ADDRESS="$HEAD_IP:$((20000 + MASTER_PORT % 20000))"
mpiexec -n "$NNODES" --ppn 1 --hostfile "$PBS_NODEFILE" --envall --cpu-bind=none \
    bash -c 'if [ "$PMI_RANK" -eq 0 ]; then
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
    if python3 -c "$JOINED" "$NNODES" >/dev/null 2>&1; then break; fi
    kill -0 "$RAY" || { echo 'Ray ended before all nodes had joined' >&2; exit 1; }
    sleep 5
done
[ "$try" -lt 60 ] || { echo "Ray has fewer than $NNODES nodes" >&2; exit 1; }

# --- Launch: the program, on the first node
STATUS=0
python3 -u "${PROGRAM[@]}" || STATUS=$?
kill "$RAY" 2>/dev/null || true
wait "$RAY" 2>/dev/null || true
[ "$STATUS" -eq 0 ] || exit "$STATUS"
