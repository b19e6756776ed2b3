#!/bin/bash
#SBATCH -A cis240887-gpu
#SBATCH -p gpu
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=32
#SBATCH --time=18:00:00
#SBATCH --job-name=resnet18
#SBATCH --mail-type=END,FAIL
#SBATCH --mail-user=ada@example.edu

module purge
module load modtree/gpu
module load learning/conda-2021.05-py38-gpu
module load ml-toolkit-gpu/pytorch

IMAGENET=/anvil/datasets/imagenet
CKPT=$SCRATCH/resnet18/$(date +%Y%m%d)
EPOCHS=90
mkdir -p $CKPT

export MASTER_ADDR=$(scontrol show hostname $SLURM_JOB_NODELIST | head -n 1)
export MASTER_PORT=$((10000 + SLURM_JOB_ID % 20000))
export WORLD_SIZE=$SLURM_NTASKS

# The defaults of the public recipe: 32 images a GPU, learning rate 0.1 for 256 images.
srun --cpu-bind=cores bash -c 'RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID python -u references/classification/train.py "$@"' train \
    --model resnet18 \
    --data-path $IMAGENET \
    --batch-size 32 \
    --epochs $EPOCHS \
    --lr 0.1 \
    --momentum 0.9 \
    --wd 1e-4 \
    --lr-step-size 30 \
    --lr-gamma 0.1 \
    --workers 8 \
    --amp \
    --print-freq 100 \
    --output-dir "$CKPT"
