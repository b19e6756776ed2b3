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
#SBATCH --requeue
#SBATCH --signal=B:USR1@300
#SBATCH --open-mode=append

# Perlmutter: PyTorch DDP, 2 x 4 = 8 ranks (4 of 4 A100 GPUs a node, one rank each).
# Facts of 2026-01. Submit: sbatch perlmutter-pytorch-ddp.sh

set -eo pipefail

# --- Yours to change
# A job that gets nowhere is not put back for ever.
MOST_STARTS=20
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

# --- 300 s before the limit the program gets USR1: it saves and ends
WARNED=
LAUNCHED=
LAST=
put_back() { [ "$((${SLURM_RESTART_COUNT:-0} + 1))" -ge "$MOST_STARTS" ] || scontrol requeue "$SLURM_JOB_ID"; }
warn() {
    WARNED=1
    echo "$(date +%T) time is nearly over: USR1 to the program"
    [ -z "$LAUNCHED" ] || kill -USR1 "$LAUNCHED" 2>/dev/null || true
    # A program that does not know the signal runs on: shortly before the limit the job is put back all the same.
    (sleep 270; put_back) &
    LAST=$!
}
trap warn USR1

# --- Launch: one torchrun a node starts the ranks
srun --ntasks="$NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --cpus-per-task=128 \
    bash -c '
    # The signal reaches this shell alone; it goes on to the ranks, which torchrun started.
    tell() { for pid in $(pgrep -P "$1"); do kill -USR1 "$pid"; tell "$pid"; done; }
    (trap "" USR1; exec torchrun "$@") &
    trap "tell $!" USR1
    while wait $!; kill -0 $! 2>/dev/null; do :; done
    wait $!' worker \
    --nnodes="$NNODES" --nproc-per-node="$RANKS_PER_NODE" \
    --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$MASTER_ADDR:$MASTER_PORT" \
    "${PROGRAM[@]}" &
LAUNCHED=$!
STATUS=0
wait "$LAUNCHED" || STATUS=$?
# The signal ends the first wait; the program is still saving.
if [ -n "$WARNED" ]; then
    STATUS=0
    wait "$LAUNCHED" || STATUS=$?
fi
[ -z "$LAST" ] || kill "$LAST" 2>/dev/null || true
# 93 is what restart agents end with when another start cannot help.
if [ -n "$WARNED" ] && [ "$STATUS" -eq 0 ] && [ "$((${SLURM_RESTART_COUNT:-0} + 1))" -lt "$MOST_STARTS" ]; then
    put_back
elif [ -n "$WARNED" ]; then
    echo "not requeued: the program ended with $STATUS after the signal; it has to save and end with 0, within MOST_STARTS starts" >&2
fi
[ "$STATUS" -eq 0 ] || exit "$STATUS"
