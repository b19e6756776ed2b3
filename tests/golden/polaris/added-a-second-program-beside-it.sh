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

# --- Launch, side by side: each task is one rank, and tells PyTorch so
program_0() {
    export RANKS_PER_NODE=3
    export PART_DEVICES=1,2,3
    export WORLD_SIZE=6
    PROGRAM=(train.py --lr 1e-3)
    exec mpiexec -n "$WORLD_SIZE" --ppn "$RANKS_PER_NODE" --hostfile "$PBS_NODEFILE" \
        --envall \
        --cpu-bind=list:24-31:16-23:8-15:0-7 \
        bash -c 'export CUDA_VISIBLE_DEVICES="$PART_DEVICES"; export RANK=$PMI_RANK LOCAL_RANK=$PMI_LOCAL_RANK LOCAL_WORLD_SIZE="$RANKS_PER_NODE"; exec "$@"' worker \
        python3 -u "${PROGRAM[@]}"
}
program_0 &
PART_0=$!
program_1() {
    export MASTER_PORT=$((MASTER_PORT + 1))
    export RANKS_PER_NODE=1
    export PART_DEVICES=0
    export WORLD_SIZE=2
    PROGRAM=(sim.py)
    exec mpiexec -n "$WORLD_SIZE" --ppn "$RANKS_PER_NODE" --hostfile "$PBS_NODEFILE" \
        --envall \
        --cpu-bind=list:24-31:16-23:8-15:0-7 \
        bash -c 'export CUDA_VISIBLE_DEVICES="$PART_DEVICES"; export RANK=$PMI_RANK LOCAL_RANK=$PMI_LOCAL_RANK LOCAL_WORLD_SIZE="$RANKS_PER_NODE"; exec "$@"' worker \
        python3 -u "${PROGRAM[@]}"
}
program_1 &
PART_1=$!
STATUS=0
# Each runs to its own end; the job fails where one of them did.
for part in "$PART_0" "$PART_1"; do
    wait "$part" || STATUS=$?
done
[ "$STATUS" -eq 0 ] || exit "$STATUS"
