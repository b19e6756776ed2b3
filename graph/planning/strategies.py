"""Framework and strategy: which go together, and what each needs.

One table: (framework, strategy) that is asked -> (framework, strategy) that is planned, with the reason where they
differ. What is not in it is refused with what comes nearest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from graph.planning.serving import even_sizes
from graph.planning.tools import tool_style
from knowledge.served_models import served_models
from knowledge.training_tools import tool_of
from knowledge.types import FRAMEWORKS, SERVERS, Alternative, Assumption, Framework, JobRequest, Refusal, Strategy
from templates.records import FRAMEWORK_OF

ZERO: dict[Strategy, int] = {"zero1": 1, "zero2": 2, "zero3": 3}
# What each framework runs as it is.
RUNS: dict[Framework, tuple[Strategy, ...]] = {
    "pytorch": ("none", "ddp", "fsdp", "tp", "pp", "3d"),
    "deepspeed": ("zero1", "zero2", "zero3"),
    "accelerate": ("none", "ddp", "fsdp", "zero1", "zero2", "zero3"),
    "lightning": ("none", "ddp", "fsdp", "zero1", "zero2", "zero3"),
    "megatron": ("ddp", "zero1", "tp", "pp", "3d"),
    "hf-trainer": ("none", "ddp", "fsdp", "zero1", "zero2", "zero3"),
    "torchtitan": ("fsdp", "ddp", "tp", "pp", "3d"),
    "jax": ("none", "ddp", "fsdp", "tp"),
    "tensorflow": ("none", "ddp"),
    "horovod": ("none", "ddp"),
    "ray": ("none", "ddp", "fsdp"),
    "vllm": ("none", "tp", "pp", "3d"),
    "sglang": ("none", "tp", "pp", "3d"),
}
# What is planned where no strategy was said, because the framework or the program decides it by itself.
OWN: dict[Framework, Strategy] = {
    "hf-trainer": "ddp",
    "torchtitan": "fsdp",
    "jax": "ddp",
    "tensorflow": "ddp",
    "horovod": "ddp",
    "ray": "ddp",
    "vllm": "tp",
    "sglang": "tp",
}
# A strategy said with a framework that does not have it, where what is meant is plain.
MEANT: dict[tuple[Framework, Strategy], tuple[Framework, str]] = {
    **{("pytorch", zero): ("deepspeed", "ZeRO stages are DeepSpeed's") for zero in ZERO},
    **{
        ("deepspeed", model): ("megatron", "tensor and pipeline parallel runs are Megatron's") for model in ("tp", "3d")
    },
}


# Only Hugging Face's Trainer calls it so: its DeepSpeed is configured in its own way.
TRAINER = "--per_device_train_batch_size"


@dataclass(frozen=True, slots=True)
class Style:
    """The framework and strategy that are planned, the ZeRO stage, and what was assumed. starts: what the launch is to
    start where the strategy does not tell: `ranks`, one a GPU, or `one` process that starts the others itself."""

    framework: Framework
    strategy: Strategy
    stage: int | None
    assumptions: tuple[Assumption, ...] = ()
    starts: Literal["", "ranks", "one"] = ""


def choose_style(request: JobRequest) -> Style | Refusal | None:
    """What to plan for; None while the strategy is open."""
    if tool := tool_of(request):
        own, strategy = tool_style(request, tool)
        return Style(own, strategy, ZERO.get(strategy), starts=tool.starts)
    request = with_own_strategy(request)
    if request.strategy is None:
        return None
    framework = served(request.framework) or FRAMEWORK_OF[request.strategy]
    if request.framework is not None and served(request.framework) is None:
        return not_served(request.framework, framework)
    taken: tuple[Assumption, ...] = ()
    if framework == "deepspeed" and TRAINER in (request.args or ""):
        framework = "hf-trainer"
        taken = (Assumption("framework", framework, f"{TRAINER} is an argument of Hugging Face's Trainer"),)
    elif request.framework is None:
        taken = (Assumption("framework", framework, f"the usual one for {request.strategy.upper()}"),)
    if (framework, request.strategy) in MEANT:
        framework, why = MEANT[framework, request.strategy]
        taken = (Assumption("framework", framework, why),)
    if request.strategy not in RUNS[framework]:
        return not_together(framework, request.strategy)
    return Style(framework, request.strategy, ZERO.get(request.strategy), taken)


# It is a server in Rust, given out as an image; there is no package to install beside a site's Python.
TGI_IMAGE = "It is given out as a container image, and no facts here tell how one is started on a cluster."
TGI_PAGE = "https://huggingface.co/docs/text-generation-inference/installation"


def with_own_strategy(request: JobRequest) -> JobRequest:
    """The request with the strategy that its tool or framework has by itself, where none was said."""
    if tool := tool_of(request):
        own, strategy = tool_style(request, tool)
        return replace(request, framework=own, strategy=strategy)
    framework = served(request.framework)
    if request.strategy is not None:
        return request
    if request.framework == "tgi":  # a server, like those that are written
        return replace(request, strategy="tp")
    if framework == "megatron" and (request.tensor_parallel or request.pipeline_parallel):
        both = (request.tensor_parallel or 1) > 1 and (request.pipeline_parallel or 1) > 1
        return replace(request, strategy="3d" if both else "pp" if (request.pipeline_parallel or 1) > 1 else "tp")
    if framework not in OWN:
        return request
    one = request.nodes in (None, 1) and 1 in (request.gpus_per_node, request.total_gpus)
    return replace(request, strategy="none" if one else OWN[framework])


def served(framework: str | None) -> Framework | None:
    """The framework where scripts for it are written here, else None."""
    return next((known for known in FRAMEWORKS if known == framework), None)


def not_served(name: str, usual: Framework) -> Refusal:
    if name == "tgi":
        engines = served_models().engines.items()
        ways = tuple(
            Alternative(f"the same with {engine.title}", (("framework", one), ("strategy", None)))
            for one, engine in engines
        )
        return Refusal("Scripts for Text Generation Inference (TGI) are not written here.", TGI_IMAGE, TGI_PAGE, ways)
    said = "That framework is" if name == "other" else f"{name} is"
    says = f"{said} not served: scripts are written for {', '.join(FRAMEWORKS)}."
    why = "There is no launch form for it in the facts."
    return Refusal(says, why, None, (Alternative(f"the same with {usual}", (("framework", usual),)),))


def not_together(framework: Framework, strategy: Strategy) -> Refusal:
    """Nearest: the same strategy in its usual framework, or the framework's first strategy."""
    usual, own = FRAMEWORK_OF[strategy], RUNS[framework][-1]
    return Refusal(
        f"{framework} does not run {strategy.upper()}.",
        f"{framework} runs {', '.join(s.upper() for s in RUNS[framework])}.",
        None,
        (
            Alternative(f"{strategy.upper()} with {usual}", (("framework", usual),)),
            Alternative(f"{framework} with {own.upper()}", (("strategy", own),)),
        ),
    )


def parallel_sizes(
    style: Style, nodes: int, ranks_per_node: int, request: JobRequest
) -> tuple[int, int, tuple[Assumption, ...]]:
    """Tensor and pipeline sizes: those that were said; else tensor parallel inside a node, stages across nodes."""
    if request.tensor_parallel or request.pipeline_parallel:
        return request.tensor_parallel or 1, request.pipeline_parallel or 1, ()
    if style.framework in SERVERS:
        tensor, stages = even_sizes(ranks_per_node, request.model)
        why = "tensor parallel inside a node, pipeline stages across nodes; heads must divide by the tensor size"
        told = Assumption("parallel sizes", f"tensor {tensor}, pipeline {stages * nodes}", why)
        return tensor, stages * nodes, (told,)
    if style.strategy not in ("tp", "pp", "3d"):
        return 1, 1, ()
    tensor = ranks_per_node if style.strategy in ("tp", "3d") else 1
    if style.strategy == "tp" and ranks_per_node == 1:
        tensor = nodes
    pipeline = 1
    if style.strategy == "pp":
        pipeline = nodes if nodes > 1 else ranks_per_node
    elif style.strategy == "3d" and nodes > 1:
        pipeline = next((n for n in (2, 3, 5, 7) if nodes % n == 0), nodes)
    elif style.strategy == "3d":
        tensor, pipeline = halves(ranks_per_node)
    why = "tensor parallel stays inside a node where it can, pipeline stages go across; "
    if style.framework == "megatron":
        why += "change them at the top of the script; heads and hidden size must divide by the tensor size"
    else:
        why += "your program sets them: the launch is the same"
    return tensor, pipeline, (Assumption("parallel sizes", f"tensor {tensor}, pipeline {pipeline}", why),)


def halves(ranks: int) -> tuple[int, int]:
    return (ranks // 2, 2) if ranks % 2 == 0 else (ranks, 1)


def with_usual_framework(request: JobRequest) -> JobRequest:
    """The request with its framework, where the strategy alone tells it."""
    if request.framework or request.strategy is None:
        return request
    return replace(request, framework=FRAMEWORK_OF[request.strategy])
