"""What the framework is told beside its launch: parallel sizes, batch sizes, precision, offloading, counts.

Where the framework has arguments or a configuration of its own for it, they are set; where only the person's program
can, that is said. Names: Megatron-LM's arguments.py, torchtitan's configuration, Transformers' TrainingArguments,
vLLM's engine arguments, LightningCLI's trainer.*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from graph.planning.programs import edited, place
from graph.planning.tools import in_its_configuration, tool_counts
from knowledge.data_file import read_data
from knowledge.job_parts import ArgumentEdit
from knowledge.training_tools import tool_of
from knowledge.types import SERVERS, Alternative, Framework, JobRequest, LaunchPlan, Refusal, Variable
from templates.configs import WITH_JSON

# The framework's own argument of each size; a size that is not here is the program's own matter.
SIZES: Mapping[Framework, Mapping[str, str]] = read_data(Path(__file__).with_suffix(".yaml"))
# Activation checkpointing of everything, as the framework is told.
CHECKPOINTING: Mapping[Framework, Mapping[str, str]] = {
    "megatron": {"--recompute-granularity": "full", "--recompute-method": "uniform", "--recompute-num-layers": "1"},
    "torchtitan": {"--activation_checkpoint.mode": "full"},
    "hf-trainer": {"--gradient_checkpointing": "True"},
}
PRECISIONS: Mapping[Framework, Mapping[str, tuple[str, str | None]]] = {
    "megatron": {"bf16": ("--bf16", None), "fp16": ("--fp16", None), "fp8": ("--fp8-format", "hybrid")},
    "torchtitan": {
        "bf16": ("--training.mixed_precision_param", "bfloat16"),
        "fp32": ("--training.mixed_precision_param", "float32"),
    },
    "hf-trainer": {"bf16": ("--bf16", "True"), "fp16": ("--fp16", "True")},
    "lightning": {
        "bf16": ("--trainer.precision", "bf16-mixed"),
        "fp16": ("--trainer.precision", "16-mixed"),
        "fp32": ("--trainer.precision", "32-true"),
    },
    **{
        server: {"bf16": ("--dtype", "bfloat16"), "fp16": ("--dtype", "half"), "fp8": ("--quantization", "fp8")}
        for server in SERVERS
    },
}
# These read a configuration that is written beside the script.
CONFIGURED: Mapping[Framework, frozenset[str]] = {
    "deepspeed": frozenset(
        {"micro_batch", "gradient_accumulation", "precision", "offload_optimizer", "offload_parameters"}
    ),
    "accelerate": frozenset({"precision"}),
    "megatron": frozenset({"tensor_parallel", "pipeline_parallel"}),
}
# Other spellings of a size that a person may have written: it is not given a second time.
SPELLINGS = {
    "--tensor-parallel-size": ("-tp",),
    "--pipeline-parallel-size": ("-pp",),
    "--tp-size": ("--tp", "--tensor-parallel-size"),
    "--pp-size": ("--pp", "--pipeline-parallel-size"),
}
ZERO_OWN = frozenset({"micro_batch", "gradient_accumulation", "offload_optimizer", "offload_parameters"})
# Numbers that a program can take from the environment where it has no argument for them.
COUNTED = ("micro_batch", "global_batch", "gradient_accumulation", "activation_checkpointing", "sequence_length")
ACCELERATE_STEPS = "ACCELERATE_GRADIENT_ACCUMULATION_STEPS"
HOW_TO_CHECKPOINT = (
    "Activation checkpointing is the program's to switch on: `model.gradient_checkpointing_enable()` (Transformers), "
    "or `torch.distributed.algorithms._checkpoint.checkpoint_wrapper.apply_activation_checkpointing` over the blocks."
)
ASKED = (
    *("tensor_parallel", "pipeline_parallel", "context_parallel", "micro_batch", "global_batch"),
    *("gradient_accumulation", "precision", "offload_optimizer", "offload_parameters"),
    *("activation_checkpointing", "sequence_length"),
)
LIGHTNING_STRATEGY = {
    "ddp": "ddp",
    "fsdp": "fsdp",
    "zero1": "deepspeed_stage_1",
    "zero2": "deepspeed_stage_2",
    "zero3": "deepspeed_stage_3",
}
LIGHTNING_COMMANDS = ("fit", "validate", "test", "predict")

NO_CONFIG = "The launch itself reads no *{0}*: if your program does, say *add --OPTION {0}*."


def with_methods(decided: LaunchPlan, request: JobRequest) -> LaunchPlan | Refusal:
    """The plan with what the framework is told, or a refusal where the sizes do not come out even."""
    refused = uneven_sizes(decided, request)
    if refused is not None:
        return refused
    request = with_accumulation(decided, request)
    edits, open_ones = edits_for(decided, request)
    if tool_of(request):  # it reads no variable of ours
        decided, open_ones = in_its_configuration(decided, request, open_ones), []
    return replace(
        decided,
        user_variables=(*decided.user_variables, *exported(decided, request, open_ones)),
        args=edited(decided.args, (*edits, *counts_for(decided), *tool_counts(decided, request))),
        micro_batch=request.micro_batch or 1,
        gradient_accumulation=request.gradient_accumulation or 1,
        mixed_precision=mixed(decided, request),
        activation_checkpointing=bool(request.activation_checkpointing),
        config_file=config_of(decided, request),
        offload=tuple(name for name in ("optimizer", "parameters") if getattr(request, f"offload_{name}")),
        notes=(
            *decided.notes,
            *told_open(decided, open_ones),
            *told_trainer(decided, request),
            *told_config(decided, request),
        ),
    )


def config_of(decided: LaunchPlan, request: JobRequest) -> str:
    """The person's own configuration file where the framework's launch takes one of its kind, else empty."""
    name = request.config_file or ""
    yaml = decided.framework == "accelerate" and decided.launch.workers == "accelerate"
    json = decided.framework in WITH_JSON and decided.stage is not None
    return name if (name.endswith(".json") and json) or (name.endswith(("yaml", "yml")) and yaml) else ""


def told_config(decided: LaunchPlan, request: JobRequest) -> tuple[str, ...]:
    """That this launch reads no file of that kind, where the person gave one."""
    name = request.config_file
    if not name or config_of(decided, request) or name in decided.args:
        return ()
    return (NO_CONFIG.format(name),)


def told_trainer(decided: LaunchPlan, request: JobRequest) -> tuple[str, ...]:
    """What Lightning's Trainer has to say where the program makes it itself, and so takes no argument of it."""
    tool = tool_of(request)
    if decided.framework != "lightning" or decided.ranks == 1 or is_lightning_cli(decided) or (tool and tool.counts):
        return ()
    precision, why = PRECISIONS["lightning"].get(request.precision or "", ("", None))[1], ""
    if request.precision == "bf16" and decided.mixed_precision == "fp16":
        precision, why = "16-mixed", f" {decided.gpu_model} does not compute in bf16."
    of_precision = f', precision="{precision}"' if precision else ""
    return (
        f'Your program\'s Trainer has to say the same as the script: `Trainer(accelerator="gpu", devices='
        f"{decided.ranks_per_node}, num_nodes={decided.nodes}{of_precision})`; no script changes it.{why}",
    )


def exported(decided: LaunchPlan, request: JobRequest, open_ones: Sequence[str]) -> tuple[Variable, ...]:
    """What only the program can set, as variables for it to read; one that the person exports stays theirs."""
    theirs = {one.name for one in decided.user_variables}
    values = ((variable_name(decided, name), str(int(getattr(request, name)))) for name in open_ones if name in COUNTED)
    return tuple(Variable(name, value) for name, value in values if name not in theirs)


def variable_name(decided: LaunchPlan, field: str) -> str:
    own = ACCELERATE_STEPS if decided.framework == "accelerate" and field == "gradient_accumulation" else ""
    return own or field.upper()


def told_open(decided: LaunchPlan, open_ones: Sequence[str]) -> tuple[str, ...]:
    """What the program must accept: variables that it reads, or arguments of its own."""
    names = [variable_name(decided, name) for name in open_ones if name in COUNTED]
    read = [name for name in names if name != ACCELERATE_STEPS]
    others = ", ".join(name.replace("_", " ") for name in open_ones if name not in COUNTED)
    notes = []
    if ACCELERATE_STEPS in names:
        notes.append(f"`{ACCELERATE_STEPS}` is read by Accelerator(); the steps go inside `accelerator.accumulate()`.")
    if read:
        listed = ", ".join(f"`{name}`" for name in read)
        notes.append(
            f'Your program must act on {listed}: it reads them (`int(os.environ["{read[0]}"])`), or say which '
            f'argument takes one: *add --NAME "${read[0]}"*.'
        )
    if "activation_checkpointing" in open_ones:
        notes.append(HOW_TO_CHECKPOINT)
    if others:
        notes.append(f"{others}: your program's own argument sets it, say which: *add --NAME VALUE*.")
    return tuple(notes)


def mixed(decided: LaunchPlan, request: JobRequest) -> Literal["bf16", "fp16", "fp8", "no"]:
    """The precision of a configuration file: `no` for plain fp32."""
    if request.precision is None:
        return decided.mixed_precision
    return "no" if request.precision == "fp32" else request.precision


def edits_for(decided: LaunchPlan, request: JobRequest) -> tuple[list[ArgumentEdit], list[str]]:
    """The arguments to set, and the names of what only the program can set."""
    framework = decided.framework
    configured = CONFIGURED.get(framework, frozenset()) | (ZERO_OWN if decided.stage is not None else frozenset())
    sizes, edits, open_ones = SIZES.get(framework, {}), [], []
    own_engine = framework in SERVERS and not decided.serves_model
    if (
        own_engine
        or decided.entry == "bash"
        or decided.entry.endswith(".sh")
        or (framework == "lightning" and not is_lightning_cli(decided))
    ):
        sizes = {}
    for name in (*ASKED, "port"):
        value = getattr(request, name)
        if value in (None, False):
            continue
        pair = PRECISIONS.get(framework, {}).get(str(value)) if name == "precision" and not own_engine else None
        if pair and framework == "lightning" and not is_lightning_cli(decided):
            continue  # the Trainer's, of which a note tells
        if pair:
            edits.append(ArgumentEdit("set", *pair))
        elif name == "activation_checkpointing" and framework in CHECKPOINTING:
            edits += [ArgumentEdit("set", *pair) for pair in CHECKPOINTING[framework].items()]
        elif name == "activation_checkpointing" and framework == "accelerate" and decided.strategy == "fsdp":
            continue  # accelerate.yaml, or its variable
        elif name in sizes:
            edits.append(ArgumentEdit("set", sizes[name], str(value)))
        elif name not in configured and name != "port":
            open_ones.append(name)
    if framework == "megatron" and decided.stage == 1:
        edits.append(ArgumentEdit("set", "--use-distributed-optimizer"))
    return edits, [name for name in open_ones if not (name == "global_batch" and request.gradient_accumulation)]


def is_lightning_cli(decided: LaunchPlan) -> bool:
    """Whether the program is a LightningCLI: only that takes trainer.* arguments."""
    return bool(decided.args) and (decided.args[0] in LIGHTNING_COMMANDS or any("trainer." in w for w in decided.args))


def counts_for(decided: LaunchPlan) -> list[ArgumentEdit]:
    """Counts and strategies that the program must be told, lest it trains on one GPU or another number of them."""
    if decided.framework == "lightning" and is_lightning_cli(decided):
        pairs = {"--trainer.num_nodes": str(decided.nodes), "--trainer.devices": str(decided.ranks_per_node)}
        if decided.strategy in LIGHTNING_STRATEGY:
            pairs["--trainer.strategy"] = LIGHTNING_STRATEGY[decided.strategy]
        return [ArgumentEdit("set", name, value) for name, value in pairs.items()]
    if decided.framework in SERVERS:
        options = SIZES[decided.framework]
        pairs = {
            options["tensor_parallel"]: str(decided.tensor_parallel),
            options["pipeline_parallel"]: str(decided.pipeline_parallel),
        }
        if decided.launch.workers == "ray":
            pairs["--distributed-executor-backend"] = "ray"
        told = {
            name for name, others in SPELLINGS.items() if any(place(decided.args, one) is not None for one in others)
        }
        return [
            ArgumentEdit("set", n, v) for n, v in pairs.items() if v != "1" and decided.serves_model and n not in told
        ]
    if decided.framework == "hf-trainer" and decided.strategy == "fsdp" and place(decided.args, "--fsdp") is None:
        return [ArgumentEdit("set", "--fsdp", "'full_shard auto_wrap'")]
    return []


def with_accumulation(decided: LaunchPlan, request: JobRequest) -> JobRequest:
    """Gradient accumulation from a global batch, where the framework has no argument for the batch itself."""
    if request.global_batch is None or "global_batch" in SIZES.get(decided.framework, {}):
        return request
    per_step = (request.micro_batch or 1) * data_ranks(decided, request)
    steps = request.gradient_accumulation or request.global_batch // per_step
    return replace(request, gradient_accumulation=steps, micro_batch=request.micro_batch or 1)


def data_ranks(decided: LaunchPlan, request: JobRequest) -> int:
    """How many copies of the model there are."""
    return max(
        1, decided.ranks // (decided.tensor_parallel * decided.pipeline_parallel * (request.context_parallel or 1))
    )


def uneven_sizes(decided: LaunchPlan, request: JobRequest) -> Refusal | None:
    """Sizes whose product does not divide the ranks, or a global batch that the copies cannot share."""
    tensor, pipeline, context = decided.tensor_parallel, decided.pipeline_parallel, request.context_parallel or 1
    product = tensor * pipeline * context
    if decided.ranks % product:
        ways = [n for n in range(1, decided.ranks_per_node + 1) if decided.ranks % (n * pipeline * context) == 0]
        return Refusal(
            f"tensor {tensor} x pipeline {pipeline} x context {context} does not divide {decided.ranks} ranks.",
            "Each copy of the model takes that many ranks.",
            None,
            tuple(Alternative(f"tensor parallel {n}", (("tensor_parallel", n),)) for n in ways[-2:]),
        )
    step = (request.micro_batch or 1) * data_ranks(decided, request)
    if request.global_batch and request.global_batch % step:
        below = request.global_batch // step * step
        sizes = [n for n in (below, below + step) if n]
        return Refusal(
            f"A global batch of {request.global_batch} is no multiple of {step}: {request.micro_batch or 1} a step on "
            f"{data_ranks(decided, request)} copies of the model.",
            "Every copy takes the same number of samples.",
            None,
            tuple(Alternative(f"global batch {n}", (("global_batch", n),)) for n in sizes),
        )
    return None
