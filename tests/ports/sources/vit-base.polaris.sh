#!/bin/bash -l
#PBS -N vit-food
#PBS -A VisionLab
#PBS -q capacity
#PBS -l select=3:system=polaris
#PBS -l place=scatter
#PBS -l walltime=08:00:00
#PBS -l filesystems=home:eagle
#PBS -j oe

cd ${PBS_O_WORKDIR}
module use /soft/modulefiles
module load conda
conda activate
source /eagle/VisionLab/venvs/vit/bin/activate

export http_proxy="http://proxy.alcf.anl.gov:3128"
export https_proxy="http://proxy.alcf.anl.gov:3128"
export HF_HOME=/eagle/VisionLab/hf
export HF_HUB_DISABLE_TELEMETRY=1
export NCCL_NET_GDR_LEVEL=PHB
export NCCL_CROSS_NIC=1

NNODES=$(wc -l < $PBS_NODEFILE)
NRANKS_PER_NODE=4
NDEPTH=8
NTOTRANKS=$(( NNODES * NRANKS_PER_NODE ))
export MASTER_ADDR=$(head -n 1 $PBS_NODEFILE)
export MASTER_PORT=29400
export WORLD_SIZE=$NTOTRANKS
echo "NODES=$NNODES RANKS=$NTOTRANKS"

DATA=/eagle/VisionLab/food101
LR=3e-4

mpiexec -n $NTOTRANKS --ppn $NRANKS_PER_NODE --depth=$NDEPTH --cpu-bind depth --envall \
    bash -c 'export RANK=$PMI_RANK LOCAL_RANK=$PMI_LOCAL_RANK; exec "$@"' _ \
    python run_image_classification.py \
    --model_name_or_path google/vit-base-patch16-224-in21k \
    --train_dir $DATA/train \
    --validation_dir $DATA/test \
    --output_dir /eagle/VisionLab/runs/vit-food-$PBS_JOBID \
    --remove_unused_columns False \
    --do_train \
    --do_eval \
    --learning_rate $LR \
    --num_train_epochs 10 \
    --per_device_train_batch_size 32 \
    --per_device_eval_batch_size 64 \
    --ddp_find_unused_parameters False \
    --dataloader_num_workers 8 \
    --bf16 True \
    --logging_strategy steps \
    --logging_steps 50 \
    --eval_strategy epoch \
    --save_strategy epoch \
    --load_best_model_at_end True \
    --save_total_limit 3 \
    --seed 1337
