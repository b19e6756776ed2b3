#!/bin/bash
#SBATCH --job-name=llama31-sft
#SBATCH --account=bdqk-dtai-gh
#SBATCH --partition=ghx4
#SBATCH --nodes=2
#SBATCH --gpus-per-node=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=288
#SBATCH --mem=0
#SBATCH --exclusive
#SBATCH --time=12:00:00
#SBATCH --output=%x.%j.log

set -e
module load python/miniforge3_pytorch/2.10.0
module load nccl-ofi-plugin
conda activate /work/nvme/bdqk/envs/llama

MODEL=meta-llama/Llama-3.1-8B
BASE=/work/nvme/bdqk/llama-sft
OUT=$BASE/out/$SLURM_JOB_ID

export HF_HOME=$BASE/hf
export HF_HUB_OFFLINE=1
export WANDB_MODE=offline
export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True

cat > ds_z3_bf16.json <<EOF
{
  "bf16": {"enabled": true},
  "zero_optimization": {
    "stage": 3,
    "overlap_comm": true,
    "contiguous_gradients": true,
    "stage3_gather_16bit_weights_on_model_save": true
  },
  "gradient_accumulation_steps": "auto",
  "gradient_clipping": "auto",
  "train_batch_size": "auto",
  "train_micro_batch_size_per_gpu": "auto"
}
EOF

mkdir -p $OUT

nodes=($(scontrol show hostnames $SLURM_JOB_NODELIST))
for node in "${nodes[@]}"; do
    echo "$node slots=4"
done > hostfile.$SLURM_JOB_ID

ARGS=(
    --model_name_or_path $MODEL
    --train_file $BASE/data/train.jsonl
    --validation_file $BASE/data/dev.jsonl
    --block_size 4096
    --do_train
    --per_device_train_batch_size 2
    --gradient_accumulation_steps 4
    --learning_rate 1e-5
    --weight_decay 0.1
    --warmup_steps 100
    --num_train_epochs 2
    --bf16
    --gradient_checkpointing
    --attn_implementation sdpa
    --save_strategy epoch
    --logging_steps 5
    --report_to wandb
    --output_dir $OUT
)

deepspeed --hostfile hostfile.$SLURM_JOB_ID --launcher slurm \
    --master_addr ${nodes[0]} --master_port 29500 \
    run_clm.py --deepspeed ds_z3_bf16.json "${ARGS[@]}"
