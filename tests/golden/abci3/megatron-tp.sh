#!/bin/bash
#PBS -N train
#PBS -P YOUR_ACCOUNT
# the resource type: rt_HF is a whole node with 8 GPUs
#PBS -q rt_HF
# the host file names each node this many times
#PBS -l select=2:mpiprocs=8
#PBS -l walltime=01:00:00
#PBS -j oe
# the log can be read while the job runs
#PBS -k oe

# ABCI 3.0: Megatron tensor parallel, 2 x 8 = 16 ranks (8 of 8 H200 GPUs a node, one rank each).
# Facts of 2026-02. Submit: qsub abci3-megatron-tp.sh

set -eo pipefail
cd "$PBS_O_WORKDIR"
source /etc/profile.d/modules.sh

# --- Yours to change
export RANKS_PER_NODE=8
# your Python environment
export VENV="$HOME/venvs/train"

# --- Software
module load cuda/12.6/12.6.1 cudnn/9.5/9.5.1 hpcx/2.20
source "$VENV/bin/activate"

# --- Environment
# Megatron asks for it with tensor or context parallelism: it queues communication before compute
export CUDA_DEVICE_MAX_CONNECTIONS=1

# --- The program: its arguments may use what stands above
PROGRAM=(train.py)
TENSOR_PARALLEL=8
PROGRAM+=(--tensor-model-parallel-size "$TENSOR_PARALLEL")
# Not above: environment scripts and arguments may read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
NNODES=$(sort -u "$PBS_NODEFILE" | wc -l)
export NNODES
MASTER_ADDR=$(head -n 1 "$PBS_NODEFILE")
MASTER_PORT=$((10000 + ${PBS_JOBID%%.*} % 50000))
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: each task is one rank, and tells PyTorch so
mpirun -np "$WORLD_SIZE" --map-by ppr:8:node --bind-to none --hostfile "$PBS_NODEFILE" \
    -x PATH -x LD_LIBRARY_PATH -x MASTER_ADDR -x MASTER_PORT -x WORLD_SIZE -x NNODES \
    -x RANKS_PER_NODE -x VENV -x CUDA_DEVICE_MAX_CONNECTIONS \
    bash -c 'export RANK=$OMPI_COMM_WORLD_RANK LOCAL_RANK=$OMPI_COMM_WORLD_LOCAL_RANK LOCAL_WORLD_SIZE="$RANKS_PER_NODE"; exec "$@"' worker \
    python -u "${PROGRAM[@]}"
