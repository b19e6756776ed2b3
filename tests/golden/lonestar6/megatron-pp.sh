#!/bin/bash
#SBATCH --job-name=train
#SBATCH --output=%x-%j.out
#SBATCH -p gpu-a100
#SBATCH -N 2
# ibrun starts this many tasks
#SBATCH -n 2
#SBATCH -t 01:00:00
#SBATCH -A YOUR_ACCOUNT

# Lonestar6: Megatron pipeline parallel, 2 x 3 = 6 ranks (3 of 3 A100 GPUs a node, one rank each).
# Facts of 2026-08. Submit: sbatch lonestar6-megatron-pp.sh

set -eo pipefail

# --- Yours to change
export RANKS_PER_NODE=3
# your Python environment
export VENV="$SCRATCH/python-envs/train"

# --- Software
module load python3/3.9.7
source "$VENV/bin/activate"

# --- The program: its arguments may use what stands above
PROGRAM=(train.py)
PIPELINE_PARALLEL=2
PROGRAM+=(--pipeline-model-parallel-size "$PIPELINE_PARALLEL")
# Not above: environment scripts and arguments may read unset variables.
set -u

# --- Rendezvous: rank 0 is on the first node
export NNODES=$SLURM_JOB_NUM_NODES
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
MASTER_PORT=29500
export MASTER_ADDR MASTER_PORT
export WORLD_SIZE=$((NNODES * RANKS_PER_NODE))

# --- Launch: one torchrun a node starts the ranks
WORKER=$PWD/worker-$SLURM_JOB_ID.sh
{
    echo '#!/bin/bash'
    declare -p PROGRAM
    cat <<'EOF'
exec torchrun \
    --nnodes="$NNODES" --nproc-per-node="$RANKS_PER_NODE" \
    --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$MASTER_ADDR:$MASTER_PORT" \
    "${PROGRAM[@]}"
EOF
} > "$WORKER"
chmod +x "$WORKER"
ibrun "$WORKER"
