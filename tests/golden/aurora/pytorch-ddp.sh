#!/bin/bash -l
#PBS -N train
#PBS -A YOUR_ACCOUNT
#PBS -q capacity
#PBS -l select=2
#PBS -l place=scatter
#PBS -l walltime=01:00:00
# required; add daos_user for DAOS
#PBS -l filesystems=home:flare
#PBS -k doe
#PBS -j oe

# Aurora: PyTorch DDP, 2 x 12 = 24 ranks (12 ranks a node, one a tile (6 cards x 2 tiles)).
# The program's process group is xccl, its device xpu:LOCAL_RANK.
# Facts of 2026-08. Submit: qsub aurora-pytorch-ddp.sh

set -eo pipefail
cd "$PBS_O_WORKDIR"

# --- Yours to change
export RANKS_PER_NODE=12

# --- Software
module load frameworks

# --- Environment
# first of the four settings ALCF calls essential for training; tested to 1024 nodes
export CCL_PROCESS_LAUNCHER=pmix
# essential set
export CCL_ATL_TRANSPORT=mpi
# essential set (a further list on the same page tries 'disabled' instead)
export FI_MR_CACHE_MONITOR=userfaultfd
# essential set
export CCL_KVS_MODE=mpi
# the way out of a compute node
export http_proxy=http://proxy.alcf.anl.gov:3128
export https_proxy=http://proxy.alcf.anl.gov:3128
export no_proxy='admin,localhost,*.hostmgmt.cm.aurora.alcf.anl.gov,*.alcf.anl.gov'

# --- The program: its arguments may use what stands above
PROGRAM=(train.py)
# Not above: environment scripts and arguments may read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
NNODES=$(sort -u "$PBS_NODEFILE" | wc -l)
export NNODES
MASTER_ADDR=$(hostname).hsn.cm.aurora.alcf.anl.gov
MASTER_PORT=2345
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: each task is one rank, and tells PyTorch so
mpiexec -n "$WORLD_SIZE" --ppn "$RANKS_PER_NODE" --hostfile "$PBS_NODEFILE" \
    --pmi=pmix \
    --envall \
    --cpu-bind=list:4-7:8-11:12-15:16-19:20-23:24-27:56-59:60-63:64-67:68-71:72-75:76-79 \
    bash -c 'export RANK=$PALS_RANKID LOCAL_RANK=$PALS_LOCAL_RANKID LOCAL_WORLD_SIZE="$RANKS_PER_NODE"; exec "$@"' worker \
    python3 -u "${PROGRAM[@]}"
