#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH --account=YOUR_ACCOUNT
#SBATCH --partition=gpu
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=10
# must be given: the default is 1 GB a GPU
#SBATCH --mem=368G
# counts the whole job
#SBATCH --gpus=8
# else a node without Lustre may be given
#SBATCH --constraint=lustre
#SBATCH --no-requeue
#SBATCH --export=ALL
#SBATCH --time=01:00:00

# Expanse: PyTorch DDP, 2 x 4 = 8 ranks (4 of 4 V100 GPUs a node, one rank each).
# Facts of 2026-06. Submit: sbatch expanse-pytorch-ddp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=4
# the container image
export SIF="/cm/shared/apps/containers/singularity/pytorch/pytorch-latest.sif"

# --- Software
module reset
module load slurm gcc/10.2.0 openmpi/4.1.3
module load singularitypro

# --- Environment
# SDSC's settings for this fabric
export OMPI_MCA_btl=self,vader
export UCX_TLS=shm,rc,ud,dc
export UCX_NET_DEVICES=mlx5_0:1
export UCX_MAX_RNDV_RAILS=1

# --- The program: its arguments may use what stands above
PROGRAM=(train.py)
# Not above: environment scripts and arguments may read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
export NNODES=$SLURM_JOB_NUM_NODES
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
MASTER_PORT=$((10000 + SLURM_JOB_ID % 50000))
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: each task is one rank, and tells PyTorch so
mpirun -np "$WORLD_SIZE" --map-by ppr:4:node --bind-to none \
    -x PATH -x LD_LIBRARY_PATH -x MASTER_ADDR -x MASTER_PORT -x WORLD_SIZE -x NNODES \
    -x RANKS_PER_NODE -x SIF -x OMPI_MCA_btl -x UCX_TLS -x UCX_NET_DEVICES -x UCX_MAX_RNDV_RAILS \
    bash -c 'export RANK=$OMPI_COMM_WORLD_RANK LOCAL_RANK=$OMPI_COMM_WORLD_LOCAL_RANK LOCAL_WORLD_SIZE="$RANKS_PER_NODE"; exec "$@"' worker \
    singularity exec --nv --bind /expanse,/scratch "$SIF" python3 -u "${PROGRAM[@]}"
