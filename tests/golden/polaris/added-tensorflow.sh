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

# Polaris: TensorFlow, 2 x 4 = 8 ranks (4 of 4 A100 GPUs a node, one rank each).
# Facts of 2026-08. Submit: qsub polaris-tensorflow-ddp.sh

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
export WORLD_SIZE=$NNODES
# TensorFlow's list of workers, in the order of the tasks.
TF_WORKERS=$(awk '!seen[$0]++' "$PBS_NODEFILE" | sed "s/.*/\"&:$MASTER_PORT\"/" | paste -s -d, -)
export TF_WORKERS

# --- Launch: one process a node, each told of the others by TF_CONFIG
mpiexec -n "$NNODES" --ppn 1 --hostfile "$PBS_NODEFILE" --envall --cpu-bind=none \
    bash -c 'export TF_CONFIG="{\"cluster\": {\"worker\": [$TF_WORKERS]}, \"task\": {\"type\": \"worker\", \"index\": $PMI_RANK}}"; exec "$@"' worker \
    python3 -u "${PROGRAM[@]}"
