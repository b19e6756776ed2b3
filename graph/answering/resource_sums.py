"""Sums over what the person measured or fixed: paces on several sizes, memory at several batches, what data loading
delivers, and the micro-batches of a step."""

from __future__ import annotations

import math
from dataclasses import replace

from graph.answering.resource_words import count_words
from graph.answering.situation import cite, write_document
from graph.planning.queues import plural
from graph.planning.resources.communication import step_seconds
from graph.planning.resources.options import base_layout, known_devices, wanted_gpus
from graph.planning.resources.parameters import find_model
from knowledge.catalogue import catalogue
from knowledge.document import Document
from knowledge.resource_question import ResourceQuestion

# Of a card's memory, what a run seen there should stay below: the longest batch and fragments take the rest.
SAFE = 0.93


def tell_sums(question: ResourceQuestion) -> Document | None:
    """The first sum that the question's values make; None where they make none."""
    sums = (tell_points, tell_paces, tell_loading, tell_waiting, tell_accumulation, tell_runs)
    return next((told for one in sums if (told := one(question))), None)


def tell_runs(question: ResourceQuestion) -> Document | None:
    """What several runs cost whose hours and GPUs are told."""
    device = next((device for device, _ in known_devices(question)), None)
    gpus, runs, hours = (
        (wanted_gpus(question, device) if device else None) or 0,
        question.runs or 1,
        question.hours or 0,
    )
    work = question.tokens or question.samples or question.steps or question.flops or question.pace_s
    if question.aim not in ("cost", "hours") or work or question.measured_gb or runs < 2 or not hours * gpus:
        return None
    return write_document(
        f"**{runs} runs x {hours:g} h x {plural(gpus, 'GPU')} = {runs * hours * gpus:,.6g} GPU hours.** On another "
        "card the hours change with its speed. Tests, restarts and failed runs come on top, so ask for more."
    )


def tell_points(question: ResourceQuestion) -> Document | None:
    """Memory at a further micro-batch, on the line through two that were seen."""
    if len(question.points) < 2:
        return None
    (low, low_gb), (high, high_gb) = min(question.points), max(question.points)
    each = (high_gb - low_gb) / (high - low) if high > low else 0.0
    base = low_gb - low * each
    if each <= 0:
        return write_document("More in a batch took no more memory there, so these two say nothing of a third.")
    line = f"({high_gb:g} - {low_gb:g}) / {high - low:g} = {each:.2g} GB a sample, {base:.1f} GB without any"
    card = question.gpu_gb or next((device.gb for device, cluster in known_devices(question) if cluster), None)
    wanted = question.micro_batch
    need = f"{wanted} take {base:.1f} + {wanted} x {each:.2g} = {base + wanted * each:.1f} GB" if wanted else ""
    if not card:
        return write_document(f"**{need or line}.** {line if need else ''} Say the card's memory for the largest.")
    most = max(0, math.floor((SAFE * card - base) / each))
    gb = base + (wanted or most) * each
    verdict = "No" if gb > card else "Yes" if gb <= SAFE * card else "Only just, so do not rely on it"
    opening = f"**{verdict}: {need} of {card:g}.** " if wanted else ""
    spare = f"For a batch of {wanted}: micro-batches of {most} or fewer with accumulation, or activation checkpointing."
    room = f"({base + most * each:.1f} GB). By what you saw: {line}."
    return write_document(
        f"{opening}**The largest that leaves some room is {most}** {room}",
        spare if wanted and gb > SAFE * card and most else "",
    )


def tell_paces(question: ResourceQuestion) -> Document | None:
    """Two paces on two sizes: what of the ideal is kept; where the step is as long with more GPUs, by the batch."""
    if len(question.paces) < 2:
        return None
    device, cluster = next(iter(known_devices(question)), (None, None))
    each = device.each if device and cluster else 1
    sizes = [(pace, gpus or nodes * each, nodes) for pace, gpus, nodes in question.paces]
    (slow, few, few_nodes), (quick, many, many_nodes) = sizes[0], sizes[-1]
    if few > many:
        slow, few, few_nodes, quick, many, many_nodes = quick, many, many_nodes, slow, few, few_nodes
    now = question.gpus or (question.nodes or 0) * each
    if question.pace_of == "step" and slow > quick and now > few and now != many:  # another size is asked about
        quick, many, many_nodes = slow * few / now, now, 0
    if not few or few >= many:
        return None
    unit = "node" if few_nodes and many_nodes else "GPU"
    sized = [plural(n, unit) for n in ((few_nodes, many_nodes) if unit == "node" else (few, many))]
    times, speed_up = many / few, slow / quick
    if question.pace_of != "step":
        kept = speed_up / times
        seen = f"{slow / 60:.3g} and {quick / 60:.3g} min"
        seen = f"{1 / slow:.4g} and {1 / quick:.4g} a second" if question.pace_of == "sample" else seen
        told = f"**{speed_up:.2g} times as fast on {times:.3g} times the {unit}s: {kept:.0%} of the ideal is kept**"
        return write_document(f"{told} ({seen}).", _reasons(kept))
    if speed_up > 1:
        ideal = slow / times
        below = " It cannot be quicker than that." if quick < 0.97 * ideal else ""
        return write_document(
            f"**A step of {quick:g} s on {sized[1]} only if the global batch stays what it is on {sized[0]}**, so that "
            f"each GPU has 1/{times:.3g} of it: then {slow:g} s / {times:.3g} = {ideal:.3g} s is the ideal, and "
            f"{ideal / 0.9:.3g} to {ideal / 0.7:.3g} s usual.{below}",
            f"**With the same batch on each GPU, as is usual, a step stays at about {slow:g} s or a little more** "
            f"({slow:g} to {1.25 * slow:.3g}): it does {times:.3g} times as much, in as many times fewer steps. "
            "Either way the whole is at best so many times quicker, usually 80 to 95 % of that; the larger global "
            "batch wants another learning rate.",
        )
    kept = speed_up
    return write_document(
        f"**With the same batch on each GPU {sized[1]} do {times * kept:.2g} times the work of {sized[0]}: "
        f"{kept:.0%} of the ideal is kept** ({times:.3g} x {slow:g} / {quick:g}; all of it were a step of {slow:g} s).",
        _sent(question, quick - slow, many) or _reasons(kept),
    )


def tell_waiting(question: ResourceQuestion) -> Document | None:
    """Why a step is longer than its arithmetic, and what accumulation makes of it."""
    compute, step = question.compute_s, question.pace_s
    if not compute or not step or question.pace_of != "step" or step <= compute:
        return None
    wait, several = step - compute, question.accumulation or 0
    if question.aim == "accumulation" and several > 1:
        longer = several * compute + wait
        return write_document(
            f"**Yes, with `no_sync()`: {several} micro-batches take {several} x {compute:g} + {wait:.2g} = "
            f"{longer:.2g} s instead of {several * step:.3g} s**, so {wait / longer:.0%} is waiting instead of "
            f"{wait / step:.0%}. Without `no_sync()` DDP sends after each of them and nothing is won.",
            f"The global batch is {several} times as large unless the micro-batch shrinks: look at the learning rate.",
        )
    device, _ = next(iter(known_devices(question)), (None, None))
    gpus = (wanted_gpus(question, device) if device else None) or 0
    sent = _sent(question, wait, gpus)
    unknown = "" if sent else "Say the model, the machine and the nodes, and I hold the network's share against it."
    return write_document(
        f"**{wait:.2g} s of each step of {step:g} s ({wait / step:.0%}) are not arithmetic**: {step:g} - {compute:g}.",
        sent or unknown,
        f"With accumulation of 8 and `no_sync()` a step of 8 micro-batches takes 8 x {compute:g} + {wait:.2g} = "
        f"{8 * compute + wait:.2g} s: {wait / (8 * compute + wait):.0%} waiting.",
    )


def _sent(question: ResourceQuestion, more: float, gpus: int) -> str:
    """Whether what the gradients take over the network is the time that the step grew by."""
    model = find_model(question.model) if question.model else None
    device, cluster = next(iter(known_devices(question)), (None, None))
    if model is None or device is None or cluster is None or gpus <= device.each or more <= 0:
        return ""
    base = base_layout(question, model)
    layout = replace(base, gpus=gpus, precision="mixed", spread=base.spread if question.strategy else "ddp")
    takes = step_seconds(model, layout, device)
    why = "so nothing is broken: the network shows" if takes > 0.5 * more else "so the network alone is not the reason"
    return (
        f"The gradients of {model.name} take about {takes:.2g} s between nodes ({device.network:.0f} GB/s reached), "
        f"and a step grew by {more:.2g} s, {why}. What helps, least work first: accumulation with `no_sync()` (the "
        "same traffic for several micro-batches), gradients compressed to bf16 (`bf16_compress_hook`: half of it), a "
        "larger micro-batch. See in `NCCL_DEBUG=INFO` that it says NET/IB or NET/OFI and not NET/Socket."
    )


def _reasons(kept: float) -> str:
    return (
        "That is usual." if kept >= 0.85
        else "That is less than the usual 85 to 95 %: look at the network (`NCCL_DEBUG=INFO`: not NET/Socket), at data "
        "loading, and at a larger batch on each GPU or accumulation with `no_sync()`."
    )  # fmt: skip


def tell_loading(question: ResourceQuestion) -> Document | None:
    """Whether data loading feeds the GPUs: what its processes deliver against what one GPU takes."""
    if not (question.worker_rate and question.pace_s and question.pace_of == "sample"):
        return None
    takes = 1 / question.pace_s / (question.pace_gpus or 1)
    need = math.ceil(takes / question.worker_rate)
    told = f"one GPU takes {takes:,.0f} a second: {need} workers a GPU ({takes:,.0f} / {question.worker_rate:g})"
    cluster = next((c for name in question.machines if (c := catalogue().find(name))), None)
    room = ""
    if cluster:
        node = cluster.node_type(cluster.default_queue.node_types[0])
        cores = node.cpu.cores or 0
        share = cores // (node.gpus.devices_per_node or 1)
        enough = "so they have a core each" if share >= need else "so there are more workers than cores"
        room = f"A node of {cluster.title} has {cores} cores, {share} for each of its GPUs, {enough}."
    if question.workers is None:
        return write_document(f"**{told[0].upper()}{told[1:]}.**", room)
    gives = question.workers * question.worker_rate
    idle = gives < 0.95 * takes
    return write_document(
        f"**{'Yes' if idle else 'No'}: {question.workers} workers deliver {question.workers} x "
        f"{question.worker_rate:g} = {gives:,.0f} a second, {gives / takes:.0%} of what one GPU takes** (where each "
        f"GPU's process has its own {question.workers}); {told}.",
        room,
        "With fewer cores than that: decoding on the GPU (DALI), images made smaller beforehand, large shards. A "
        "larger batch or more GPUs do not help: they want as much from each worker."
        if idle
        else "",
    )


def tell_accumulation(question: ResourceQuestion) -> Document | None:
    """Global batch / (micro-batch x replicas), and the nearest where it does not divide."""
    batch, micro = question.global_batch, question.micro_batch
    device = next((device for device, _ in known_devices(question)), None)
    gpus = (wanted_gpus(question, device) if device and question.machines else question.gpus) or 0
    if question.aim != "accumulation" or not (batch and micro and gpus):
        return None
    replicas = max(1, gpus // ((question.tensor or 1) * (question.pipeline or 1)))
    once = micro * replicas
    sum_words = f"{batch} / ({micro} x {replicas} {'GPUs' if replicas == gpus else 'replicas'})"
    steps = ""
    if question.tokens and question.sequence:
        many = question.tokens / (batch * question.sequence)
        steps = (
            f"**{count_words(question.tokens)} tokens are about {many:,.0f} steps** of {batch:,} x "
            f"{question.sequence:,} = {batch * question.sequence:,} tokens."
        )
    if batch % once == 0:
        return write_document(f"**{batch // once}**: {sum_words} = {batch // once} micro-batches a step.", steps)
    smaller = [m for m in range(micro - 1, 0, -1) if batch % (m * replicas) == 0]
    down, up = batch // once, batch // once + 1
    near = " or ".join(f"{steps} ({steps * once})" for steps in (down, up) if steps)
    size = smaller[0] if smaller else 1
    exact = f"**a micro-batch of {size} with {batch // (size * replicas)} steps is {batch} exactly**; else "
    whole = exact if smaller else ""
    fits = next((n for n in range(replicas, 0, -1) if batch % (micro * n) == 0), 1)
    never = "" if smaller else f" No micro-batch makes {batch} with {replicas}: it does not divide by them."
    return write_document(
        f"**{sum_words} = {batch / once:.2f} is not whole.**{never} {whole}Nearest: {near}, so the global batch is no "
        f"longer {batch}; or {fits} of the GPUs with {batch // (micro * fits)} keep it. A few per cent of the batch do "
        "not change the learning rate.",
        steps,
    )


def tell_rate(question: ResourceQuestion) -> Document | None:
    """The learning rate of a larger batch, out of one that is known for another; None where none is told."""
    device = next((device for device, _ in known_devices(question)), None)
    gpus = (wanted_gpus(question, device) if device else question.gpus) or 1
    batch = question.global_batch or (question.micro_batch or 0) * gpus * (question.accumulation or 1)
    if question.learning_rate is None or not batch or question.aim not in (None, "hours"):
        return None
    rate, of = question.learning_rate
    model = find_model(question.model) if question.model else None
    sgd = question.optimizer == "sgd" or (question.optimizer is None and model and model.shape.kind == "convolution")
    linear, root = rate * batch / of, rate * math.sqrt(batch / of)
    plain = f"{question.micro_batch} x {gpus} GPUs = " if question.micro_batch and not question.global_batch else ""
    told = f"{linear:.3g} with SGD ({rate:g} x {batch:,} / {of:,}), {root:.3g} with Adam (by the square root)"
    if sgd:
        told = f"{linear:.3g}: {rate:g} x {batch:,} / {of:,}, in proportion to the batch"
    each = f" An epoch is {question.samples / batch:,.0f} steps then." if question.samples else ""
    return write_document(
        f"**Global batch {plain}{batch:,}; learning rate {told}**, with a warm-up over the first 5 epochs or some per "
        f"cent of the steps.{each} In proportion held up to about 8,192 images for ResNet-50 with SGD; larger batches "
        "want another optimizer (LARS, LAMB) or lose accuracy.",
        cite(["https://arxiv.org/abs/1706.02677"], ""),
    )
