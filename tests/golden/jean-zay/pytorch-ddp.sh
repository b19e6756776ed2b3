#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH --account=YOUR_ACCOUNT@h100
# without it: 'Invalid job type for the account of the user'
#SBATCH --constraint=h100
#SBATCH --qos=qos_gpu_h100-t3
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gres=gpu:4
# the GPU's share of the node's cores: 24 on H100, 8 on A100, 10 on V100
#SBATCH --cpus-per-task=24
#SBATCH --hint=nomultithread
#SBATCH --time=01:00:00

# Jean Zay: PyTorch DDP, 2 x 4 = 8 ranks (4 of 4 H100 GPUs a node, one rank each).
# Facts of 2026-09. Submit: sbatch jean-zay-pytorch-ddp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=4

# --- Software
module purge
module load arch/h100
module load pytorch-gpu/py3/2.5.0

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
srun --ntasks="$WORLD_SIZE" --ntasks-per-node="$RANKS_PER_NODE" --kill-on-bad-exit=1 --cpus-per-task=24 \
    bash -c 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID LOCAL_WORLD_SIZE="$RANKS_PER_NODE"; exec "$@"' worker \
    python -u "${PROGRAM[@]}"
