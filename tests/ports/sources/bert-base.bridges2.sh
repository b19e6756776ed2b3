#!/bin/bash
#SBATCH -J bert-mnli
#SBATCH -A cis250119p
#SBATCH -p GPU
#SBATCH -N 2
#SBATCH --gpus=h100-80:16
#SBATCH --ntasks-per-node=1
#SBATCH -t 4:00:00
#SBATCH -o bert-mnli.%j.out

module load anaconda3
conda activate $PROJECT/envs/bert

TASK_NAME=${TASK_NAME:-mnli}
SEED=${SEED:-42}
export HF_HOME=$PROJECT/huggingface
export HF_DATASETS_OFFLINE=1
export OMP_NUM_THREADS=5

GPUS_PER_NODE=8
HEAD_NODE=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n1)

cd $SLURM_SUBMIT_DIR
mkdir -p results/$TASK_NAME

srun --ntasks-per-node=1 bash -c "accelerate launch \
    --multi_gpu \
    --mixed_precision fp16 \
    --num_machines $SLURM_NNODES \
    --num_processes $((SLURM_NNODES * GPUS_PER_NODE)) \
    --machine_rank \$SLURM_PROCID \
    --main_process_ip $HEAD_NODE \
    --main_process_port 29501 \
    run_glue_no_trainer.py \
    --model_name_or_path google-bert/bert-base-cased \
    --task_name $TASK_NAME \
    --max_length 128 \
    --pad_to_max_length \
    --per_device_train_batch_size 32 \
    --per_device_eval_batch_size 64 \
    --gradient_accumulation_steps 1 \
    --learning_rate 2e-5 \
    --num_train_epochs 3 \
    --num_warmup_steps 500 \
    --seed $SEED \
    --output_dir results/$TASK_NAME"
