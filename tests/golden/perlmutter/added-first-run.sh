#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH --account=YOUR_ACCOUNT_g
# without it: no GPU node
#SBATCH --constraint=gpu
#SBATCH --qos=debug
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
# hardware threads
#SBATCH --cpus-per-task=128
# not --gpus-per-task: it hides the GPUs of a node from each other
#SBATCH --gpus-per-node=4
#SBATCH --time=00:15:00

# Perlmutter: PyTorch DDP, 2 x 4 = 8 ranks (4 of 4 A100 GPUs a node, one rank each).
# Facts of 2026-01. Submit: sbatch perlmutter-pytorch-ddp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=4

# --- Software
module load pytorch

# --- Environment
# avoids hangs of large multi-node jobs; set in NERSC's data-parallel tutorial scripts 2022 to 2025
# and by podman-hpc --nccl
export FI_MR_CACHE_MONITOR=userfaultfd
# this first run shows the network that NCCL finds
export NCCL_DEBUG=INFO
export NCCL_DEBUG_SUBSYS=INIT,NET
export NCCL_DEBUG_FILE="$PWD/first-run-%h-%p.log"
# a hang leaves a file a rank; `maple-chat why first-run-fr-rank-*` names the one that stands behind
export TORCH_FR_BUFFER_SIZE=2000
export TORCH_NCCL_TRACE_BUFFER_SIZE=2000
export TORCH_NCCL_DUMP_ON_TIMEOUT=1
export TORCH_FR_DUMP_TEMP_FILE="$PWD/first-run-fr-rank-"
export TORCH_NCCL_DEBUG_INFO_TEMP_FILE="$PWD/first-run-fr-rank-"

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

# --- Launch: one torchrun a node starts the ranks
srun --ntasks="$NNODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --cpus-per-task=128 \
    torchrun \
    --nnodes="$NNODES" --nproc-per-node="$RANKS_PER_NODE" \
    --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$MASTER_ADDR:$MASTER_PORT" \
    "${PROGRAM[@]}"

# --- The fast network was used, or this run says that it was not
if grep -qs 'Using network Socket' "$PWD"/first-run-*.log; then
    echo 'NCCL fell back to TCP sockets: the fast network is not used. See first-run-*.log' >&2
    exit 1
fi
# A node has 4 network cards: nodes on which a process found fewer are named
awk -v all=4 '
    /NET\/IB : Using/ { n = 0; rest = $0; while (match(rest, /\[[0-9]+\][A-Za-z]/)) { n++; rest = substr(rest, RSTART + 1) } }
    /found [0-9]+ nics/ { match($0, /found [0-9]+/); n = substr($0, RSTART + 6, RLENGTH - 6) + 0 }
    /NET\/IB : Using|found [0-9]+ nics/ {
        node = FILENAME; sub(/.*first-run-/, "", node); sub(/-[0-9]+\.log$/, "", node)
        if (n < all && !(node in told)) { told[node] = 1; print node ": NCCL uses " n " of " all " network cards; " \
            "NCCL_IB_HCA, if set, must name them all" }
    }' "$PWD"/first-run-*.log >&2 || true
