#!/bin/bash -l
#PBS -N train
#PBS -A YOUR_ACCOUNT
#PBS -q debug
#PBS -l select=2:system=polaris
#PBS -l place=scatter
#PBS -l walltime=00:15:00
# required: the file systems the job needs
#PBS -l filesystems=home:eagle
#PBS -k doe
#PBS -j oe

# Polaris: PyTorch DDP, 2 x 4 = 8 ranks (4 of 4 A100 GPUs a node, one rank each).
# Facts of 2026-08. Submit: qsub polaris-pytorch-ddp.sh

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
# ALCF's measured NCCL set; with the OFI plugin 2 to 3 times faster for some loads
export NCCL_NET_GDR_LEVEL=PHB
# ALCF's measured NCCL set
export NCCL_CROSS_NIC=1
export NCCL_COLLNET_ENABLE=1
# chooses the OFI plugin for Slingshot
export NCCL_NET='AWS Libfabric'
# where the plugin and hwloc lie
export LD_LIBRARY_PATH="/soft/libraries/aws-ofi-nccl/v1.9.1-aws/lib:/soft/libraries/hwloc/lib:$LD_LIBRARY_PATH"
# ALCF's measured NCCL set
export FI_CXI_DISABLE_HOST_REGISTER=1
export FI_MR_CACHE_MONITOR=userfaultfd
export FI_CXI_DEFAULT_CQ_SIZE=131072
# the way out of a compute node
export http_proxy=http://proxy.alcf.anl.gov:3128
export https_proxy=http://proxy.alcf.anl.gov:3128
export no_proxy='admin,polaris-adminvm-01,localhost,*.cm.polaris.alcf.anl.gov,polaris-*,*.polaris.alcf.anl.gov,*.alcf.anl.gov'
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
NNODES=$(sort -u "$PBS_NODEFILE" | wc -l)
export NNODES
MASTER_ADDR=$(head -n 1 "$PBS_NODEFILE")
MASTER_PORT=29500
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: each task is one rank, and tells PyTorch so
mpiexec -n "$WORLD_SIZE" --ppn "$RANKS_PER_NODE" --hostfile "$PBS_NODEFILE" \
    --envall \
    --cpu-bind=list:24-31:16-23:8-15:0-7 \
    bash -c 'export RANK=$PMI_RANK LOCAL_RANK=$PMI_LOCAL_RANK LOCAL_WORLD_SIZE="$RANKS_PER_NODE"; exec "$@"' worker \
    python3 -u "${PROGRAM[@]}"

# --- The fast network was used, or this run says that it was not
if grep -qs 'Using network Socket' "$PWD"/first-run-*.log; then
    echo 'NCCL fell back to TCP sockets: the fast network is not used. See first-run-*.log' >&2
    exit 1
fi
# A node has 2 network cards: nodes on which a process found fewer are named
awk -v all=2 '
    /NET\/IB : Using/ { n = 0; rest = $0; while (match(rest, /\[[0-9]+\][A-Za-z]/)) { n++; rest = substr(rest, RSTART + 1) } }
    /found [0-9]+ nics/ { match($0, /found [0-9]+/); n = substr($0, RSTART + 6, RLENGTH - 6) + 0 }
    /NET\/IB : Using|found [0-9]+ nics/ {
        node = FILENAME; sub(/.*first-run-/, "", node); sub(/-[0-9]+\.log$/, "", node)
        if (n < all && !(node in told)) { told[node] = 1; print node ": NCCL uses " n " of " all " network cards; " \
            "NCCL_IB_HCA, if set, must name them all" }
    }' "$PWD"/first-run-*.log >&2 || true
