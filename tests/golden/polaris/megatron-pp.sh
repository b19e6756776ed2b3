#!/bin/bash -l
#PBS -N train
#PBS -A YOUR_ACCOUNT
#PBS -q capacity
#PBS -l select=2:system=polaris
#PBS -l place=scatter
#PBS -l walltime=01:00:00
# required: the file systems the job needs
#PBS -l filesystems=home:eagle
#PBS -k doe
#PBS -j oe

# Polaris: Megatron pipeline parallel, 2 x 4 = 8 ranks (4 of 4 A100 GPUs a node, one rank each).
# Facts of 2026-08. Submit: qsub polaris-megatron-pp.sh

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
PROGRAM=(train.py)
PIPELINE_PARALLEL=2
PROGRAM+=(--pipeline-model-parallel-size "$PIPELINE_PARALLEL")
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
