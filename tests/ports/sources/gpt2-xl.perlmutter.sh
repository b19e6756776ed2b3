#!/bin/bash
#SBATCH --job-name=gpt2xl-wiki
#SBATCH --account=m4512_g
#SBATCH --constraint=gpu
#SBATCH --qos=regular
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=128
#SBATCH --time=06:00:00
#SBATCH --output=logs/%x-%j.out

# GPT-2 XL on WikiText-103 with FSDP, two A100 nodes.
module load pytorch/2.6.0
source $CFS/m4512/venvs/gpt2/bin/activate

RUN_NAME=gpt2xl-wikitext103
DATA_CACHE=$PSCRATCH/hf-cache
OUT_DIR=$PSCRATCH/runs/$RUN_NAME

export HF_HOME=$DATA_CACHE
export TOKENIZERS_PARALLELISM=false
export WANDB_MODE=offline
export WANDB_PROJECT=gpt2-xl
export NCCL_DEBUG=WARN
export NCCL_SOCKET_IFNAME=hsn
export FI_CXI_RDZV_THRESHOLD=0

mkdir -p $OUT_DIR

export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
export MASTER_PORT=29513

srun torchrun \
    --nnodes=$SLURM_NNODES \
    --nproc_per_node=4 \
    --rdzv_id=$SLURM_JOB_ID \
    --rdzv_backend=c10d \
    --rdzv_endpoint=$MASTER_ADDR:$MASTER_PORT \
    run_clm.py \
    --model_name_or_path openai-community/gpt2-xl \
    --dataset_name Salesforce/wikitext \
    --dataset_config_name wikitext-103-raw-v1 \
    --block_size 1024 \
    --do_train \
    --do_eval \
    --per_device_train_batch_size 4 \
    --gradient_accumulation_steps 8 \
    --learning_rate 5e-5 \
    --lr_scheduler_type cosine \
    --warmup_ratio 0.03 \
    --num_train_epochs 3 \
    --bf16 \
    --gradient_checkpointing \
    --fsdp "full_shard auto_wrap" \
    --fsdp_config '{"transformer_layer_cls_to_wrap": ["GPT2Block"]}' \
    --logging_steps 10 \
    --save_steps 500 \
    --save_total_limit 2 \
    --report_to wandb \
    --run_name $RUN_NAME \
    --output_dir $OUT_DIR
