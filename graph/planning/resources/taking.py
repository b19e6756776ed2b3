"""A weighed way as what a script is asked for: machine, nodes, strategy, splits, batch, checkpointing, hours, jobs."""

from __future__ import annotations

import math

from graph.planning.resources.communication import WARN_RATIO, compute_ratio
from graph.planning.resources.layout import Layout
from graph.planning.resources.limits import holds
from graph.planning.resources.options import ResourceOption, running_fit
from graph.planning.resources.parameters import SizedModel
from knowledge.resource_question import ResourceQuestion

Change = tuple[tuple[str, str | int | None], ...]
# More small steps than this between two updates change the training; a person decides that.
MOST_STEPS = 64
# Micro-batches a pipeline stage is kept busy with.
STEPS_A_STAGE = 4


def request_change(question: ResourceQuestion, model: SizedModel, option: ResourceOption) -> Change:
    """The fields of a JobRequest that one way settles; none where it does not fit, or on nodes of unknown GPUs."""
    device = option.fit.device
    if option.cluster is None or device.per_node is None or option.fit.verdict == "no":
        return ()
    whole = option.fit.layout.gpus >= device.per_node
    layout = running_fit(question, model, option.fit).layout
    queue = option.cluster.queue(question.queue) if question.queue else None
    named = queue and holds(queue, device.node_type, option.nodes, layout.gpus)
    change: dict[str, str | int | None] = {
        "machine": option.cluster.id,
        "node_type": device.node_type or None,
        "model": question.model,
        "nodes": option.nodes,
        "gpus_per_node": None if whole else layout.gpus,
        "total_gpus": None,
        "queue": queue.id if queue and named else None,
        **split_of(layout),
        "micro_batch": int(layout.micro_batch),
        "global_batch": question.global_batch,
        "offload_optimizer": layout.offload_optimizer or None,
        "gradient_accumulation": None if question.global_batch else accumulation(model, option, layout),
        "activation_checkpointing": layout.recompute == "full" or None,
        "sequence_length": None if model.shape.kind in ("vision", "convolution") else layout.sequence,
        **time_of(question, option),
    }
    return tuple(change.items())


def split_of(layout: Layout) -> dict[str, str | int | None]:
    """strategy, and the degrees where the model itself is split."""
    split = layout.tensor * layout.pipeline > 1
    if split and layout.spread == "fsdp" and layout.pipeline == 1:
        return {
            "framework": "torchtitan",
            "strategy": "fsdp",
            "tensor_parallel": layout.tensor,
            "pipeline_parallel": None,
        }
    kind = "3d" if layout.pipeline > 1 and layout.tensor > 1 else "pp" if layout.pipeline > 1 else "tp"
    return {
        "strategy": kind if split else layout.spread,
        "tensor_parallel": layout.tensor if split else None,
        "pipeline_parallel": layout.pipeline if split else None,
    }


def accumulation(model: SizedModel, option: ResourceOption, layout: Layout) -> int | None:
    """Micro-batches between two updates that keep a pipeline busy, or arithmetic above traffic; None: one is enough.

    FSDP and ZeRO-3 gather the weights for each of them, so there more of them help little.
    """
    if layout.pipeline > 1:
        return STEPS_A_STAGE * layout.pipeline
    device = option.fit.device
    if option.nodes < 2 or not device.network or layout.spread in ("fsdp", "zero3"):
        return None
    ratio = compute_ratio(model, layout, device)
    steps = math.ceil(WARN_RATIO / ratio) if ratio else 1
    return min(steps, MOST_STEPS) if steps > 1 else None


def time_of(question: ResourceQuestion, option: ResourceOption) -> dict[str, str | int | None]:
    """The walltime and the number of jobs: the hours that were said, else what the work takes at the low end."""
    limit = option.chain.limit_h if option.chain else None
    hours = question.hours
    if option.hours and not hours:
        hours = math.ceil(max(option.hours.low, option.hours.usual, option.hours.best))
    if not hours:
        return {}
    jobs = option.chain.jobs if option.chain and option.hours else math.ceil(hours / (limit or hours))
    minutes = round(60 * (limit if limit and jobs > 1 else min(hours, limit or hours)))
    return {"walltime": f"{minutes // 60:02d}:{minutes % 60:02d}:00", "chain": jobs if jobs > 1 else None}
