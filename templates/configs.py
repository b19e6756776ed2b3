"""What a strategy needs beside the launch line: DeepSpeed's JSON, Accelerate's YAML, program options, variables.

Key names: DeepSpeed's configuration reference and `accelerate config`. Values are a start that runs, not a tuning.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

from knowledge.training_tools import tool_starting
from knowledge.types import LaunchPlan, SideFile, Variable

NODE_TEST = Path(__file__).parent / "miniapp" / "node_test.py"
ACCELERATE_FILE = "accelerate.yaml"
DEEPSPEED_OPTIONS = ("--deepspeed", "--deepspeed_config", "--zero", "--zero-stage", "--zero_stage")
PARALLEL_OPTIONS = ("--tensor-model-parallel-size", "--pipeline-model-parallel-size")
# How programs beside Megatron's own call these sizes.
OWN_SIZES = re.compile(r"--(?:(?:tensor|pipeline)[-_](?:model[-_])?parallel(?:[-_]size)?|[tp]p(?:[-_]size)?)")
# Where a program's arguments name the file of its own configuration: these alone, or a YAML file that no option takes.
NAMES_CONFIG = re.compile(r"--(?:yaml[-_]cfg|config(?:[-_](?:file|name|path))?)(?:=|$)")
WITH_JSON = ("deepspeed", "accelerate", "hf-trainer")
# Accelerate's name for one process a device, by what the node's devices are.
MULTI = {"cuda": "MULTI_GPU", "rocm": "MULTI_GPU", "xpu": "MULTI_XPU"}


def deepspeed_file(plan: LaunchPlan) -> str:
    return plan.config_file if plan.config_file.endswith(".json") else f"ds_zero{plan.stage}.json"


def brings_own_config(plan: LaunchPlan) -> bool:
    """Whether the person's own arguments already name a DeepSpeed configuration, or the stage."""
    return any(word.split("=")[0] in DEEPSPEED_OPTIONS for word in plan.args)


def brings_own_sizes(plan: LaunchPlan) -> bool:
    """Whether the person's own arguments already name the tensor or pipeline parallel size, or a shell file that is
    theirs starts the program."""
    return (
        plan.entry == "bash"
        or plan.entry.endswith(".sh")
        or any(OWN_SIZES.fullmatch(word.split("=")[0]) for word in plan.args)
    )


def names_config(before: str, word: str) -> bool:
    """Whether an argument names the program's configuration, and is no value of the option before it."""
    bare = word.endswith((".yaml", ".yml")) and not re.match(r"[-\w.]+=|-", word)
    return NAMES_CONFIG.match(word) is not None or (bare and ("=" in before or not before.startswith("-")))


def parallel_sizes(plan: LaunchPlan) -> tuple[tuple[str, str, int], ...]:
    """The sizes that Megatron is told (variable, option, size): those above 1, which is its own default.

    Sizes that nobody gave (they are told as taken) stay with a configuration that the program names.
    """
    taken = any(one.field == "parallel sizes" for one in plan.assumptions)
    in_config = taken and any(names_config(*two) for two in pairwise(("", *plan.args)))
    if plan.framework != "megatron" or plan.launch.workers == "accelerate" or brings_own_sizes(plan) or in_config:
        return ()
    names = ("TENSOR_PARALLEL", "PIPELINE_PARALLEL")
    sizes = zip(names, PARALLEL_OPTIONS, (plan.tensor_parallel, plan.pipeline_parallel), strict=True)
    return tuple(one for one in sizes if one[2] > 1)


def program_words(plan: LaunchPlan) -> tuple[str, ...]:
    """The program and its arguments, with what the strategy adds."""
    head = ("-m", plan.entry) if plan.entry_kind == "module" else (plan.entry,)
    words = (*head, *plan.args)
    if plan.framework == "deepspeed" and not brings_own_config(plan):
        words = (*words, "--deepspeed", "--deepspeed_config", deepspeed_file(plan))
    if plan.framework == "hf-trainer" and plan.stage is not None and not brings_own_config(plan):
        words = (*words, "--deepspeed", deepspeed_file(plan))
    return words


def side_files(plan: LaunchPlan) -> tuple[SideFile, ...]:
    files = []
    launcher_file = plan.framework == "accelerate" and plan.launch.workers == "accelerate"
    own_json = plan.config_file.endswith(".json") or brings_own_config(plan)
    if plan.stage is not None and plan.framework in WITH_JSON and not own_json:
        files.append(SideFile(deepspeed_file(plan), json.dumps(deepspeed_config(plan), indent=2) + "\n"))
    if launcher_file and not plan.config_file.endswith(("yaml", "yml")):
        import yaml  # 30 ms that most scripts need not pay

        files.append(SideFile(ACCELERATE_FILE, yaml.safe_dump(accelerate_config(plan), sort_keys=False)))
    if plan.spare_nodes is not None:
        files.append(SideFile(NODE_TEST.name, NODE_TEST.read_text(encoding="utf-8")))
    return tuple(files)


def deepspeed_config(plan: LaunchPlan) -> dict[str, object]:
    """One sample a device and step; the person's program sets the real batch. torch's Adam needs no compiler."""
    zero: dict[str, object] = {"stage": plan.stage, "overlap_comm": True, "contiguous_gradients": True}
    if plan.stage == 3:
        zero |= {"stage3_gather_16bit_weights_on_model_save": True}
    for name in plan.offload:
        zero[f"offload_{'param' if name == 'parameters' else name}"] = {"device": "cpu", "pin_memory": True}
    if plan.framework == "hf-trainer" or tool_starting(plan.entry):
        return trainer_config(zero)
    precision: dict[str, object] = (
        {} if plan.mixed_precision in ("no", "fp8") else {plan.mixed_precision: {"enabled": True}}
    )
    return {
        "train_micro_batch_size_per_gpu": plan.micro_batch,
        "gradient_accumulation_steps": plan.gradient_accumulation,
        "gradient_clipping": 1.0,
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": not plan.offload}},
        **precision,
        "zero_optimization": zero,
    }


def trainer_config(zero: dict[str, object]) -> dict[str, object]:
    """Hugging Face's Trainer fills in `auto` from its own arguments and refuses values that differ from them; training
    tools bring their own optimizer, which Accelerate refuses beside one in the file.

    Source: https://huggingface.co/docs/transformers/deepspeed.
    """
    return {
        "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": "auto",
        "gradient_clipping": "auto",
        "bf16": {"enabled": "auto"},
        "fp16": {"enabled": "auto"},
        "zero_optimization": zero,
    }


def accelerate_config(plan: LaunchPlan) -> dict[str, object]:
    """What `accelerate config` would write; ranks and addresses are on the command line, once."""
    config: dict[str, object] = {
        "compute_environment": "LOCAL_MACHINE",
        "distributed_type": MULTI[plan.backend],
        "mixed_precision": plan.mixed_precision,
        "rdzv_backend": "static",
        "same_network": True,
        "use_cpu": False,
    }
    if plan.strategy == "fsdp":
        config["distributed_type"] = "FSDP"
        fsdp: dict[str, object] = {
            "fsdp_version": 2,
            "fsdp_reshard_after_forward": True,
            "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
            "fsdp_state_dict_type": "SHARDED_STATE_DICT",
            "fsdp_cpu_ram_efficient_loading": True,
        }
        if plan.activation_checkpointing:
            fsdp["fsdp_activation_checkpointing"] = True
        config["fsdp_config"] = fsdp
    if plan.stage is not None:
        config["distributed_type"] = "DEEPSPEED"
        config["deepspeed_config"] = {
            "deepspeed_config_file": deepspeed_file(plan),
            "deepspeed_multinode_launcher": "standard",
            "zero3_init_flag": plan.stage == 3,
        }
        # The JSON says it; Accelerate refuses to hear it twice.
        del config["mixed_precision"]
    return config


def strategy_variables(plan: LaunchPlan) -> tuple[Variable, ...]:
    """Those of the strategy that the person does not set."""
    theirs = {one.name for one in plan.user_variables}
    return tuple(one for one in usual_variables(plan) if one.name not in theirs)


def usual_variables(plan: LaunchPlan) -> tuple[Variable, ...]:
    """Accelerate without its launcher reads its configuration from these (accelerate/utils/launch.py sets the same)."""
    if plan.framework != "accelerate" or plan.launch.workers == "accelerate":
        return ()
    if plan.stage is not None:
        return (
            Variable("ACCELERATE_USE_DEEPSPEED", "true"),
            Variable("ACCELERATE_DEEPSPEED_CONFIG_FILE", deepspeed_file(plan)),
            Variable("ACCELERATE_DEEPSPEED_ZERO3_INIT", "true" if plan.stage == 3 else "false"),
        )
    common = (Variable("ACCELERATE_MIXED_PRECISION", plan.mixed_precision),)
    if plan.strategy != "fsdp":
        return common
    return (
        *common,
        Variable("ACCELERATE_USE_FSDP", "true"),
        Variable("FSDP_VERSION", "2"),
        Variable("FSDP_RESHARD_AFTER_FORWARD", "true"),
        Variable("FSDP_AUTO_WRAP_POLICY", "TRANSFORMER_BASED_WRAP"),
        Variable("FSDP_STATE_DICT_TYPE", "SHARDED_STATE_DICT"),
        *((Variable("FSDP_ACTIVATION_CHECKPOINTING", "true"),) if plan.activation_checkpointing else ()),
    )
