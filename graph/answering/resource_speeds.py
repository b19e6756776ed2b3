"""How fast a model trains or answers, what recomputing costs and spares, and the smallest card that does."""

from __future__ import annotations

from dataclasses import replace

from graph.answering.ask import Ask
from graph.answering.resource_words import (
    count_words,
    memory_words,
    option_line,
    place_words,
    range_words,
    round_words,
)  # fmt: skip
from graph.answering.situation import cite, write_document
from graph.planning.resources.device import Device, devices
from graph.planning.resources.memory import SOURCES, kept_gib, logits_gib, working_gib
from graph.planning.resources.options import base_layout, known_devices, wanted_gpus, ways
from graph.planning.resources.parameters import SizedModel, find_model
from graph.planning.resources.search import Fit, longest_sequence
from graph.planning.resources.serving import SOURCE as SERVING_SOURCE
from graph.planning.resources.serving import WEIGHT_BYTES, estimate_serving, fewest_gpus_to_serve
from graph.planning.resources.speed import SOURCE as FLOPS_SOURCE
from graph.planning.resources.speed import flops_per_token, published_share
from graph.usecases.plan_resources import asking_line, headline, plan_resources
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.document import Document
from knowledge.gpu_facts import gpu_table
from knowledge.resource_question import ResourceQuestion

# Shares of the memory's bandwidth that decoding for one user reaches.
DECODED = (0.5, 0.75)
# What reckons in 8 bit peaks at least so high in 16.
H100_TFLOPS = 700


def tell_speed(ask: Ask, question: ResourceQuestion) -> Document | None:
    """Tokens a second: of a training by published utilisation, of an answer to one user by the memory's bandwidth."""
    model = find_model(question.model) if question.model else None
    if model is None:
        return None
    if question.task == "serve":
        lines = [_decoding(question, model, device, cluster) for device, cluster in known_devices(question)[:3]]
        return write_document(*lines, cite([SERVING_SOURCE], gpu_table().as_of))
    plan = plan_resources(question)
    best = next(iter(plan.options), None)
    if best is None or best.rate is None:
        return None
    device, gpus = best.fit.device, best.fit.layout.gpus
    unit = "images" if model.shape.kind == "convolution" else "tokens"
    if best.fit.verdict == "no" or not best.accepted:
        return write_document(headline(model, best)) + plan.document
    per_token = flops_per_token(model, best.fit.layout.sequence, best.fit.layout.method)
    share = published_share(model, device).scaled(100)
    each = f", {round_words(best.rate.usual / gpus)} on each {device.kind}" if gpus > 1 else ""
    told = range_words(best.rate, f"{unit} a second")
    return write_document(
        f"**{told[0].upper()}{told[1:]}** on {place_words(best)}{each}: an estimate, ten minutes of a test say more.",
        f"The sum: {per_token:.2g} FLOP a {unit[:-1]} (6 x {count_words(model.active)} parameters at work, and "
        f"attention); {device.facts.model} peaks at {device.facts.tflops:g} TFLOP/s a {device.kind} in 16 bit, of "
        f"which trainings reach {share.low:.0f} to {share.best:.0f} %, less what the network and recomputing take.",
        f"In memory: {option_line(replace(best, hours=None))}.",
        asking_line(best),
        cite([FLOPS_SOURCE, device.facts.source], gpu_table().as_of),
    )


def _decoding(question: ResourceQuestion, model: SizedModel, device: Device, cluster: Cluster | None) -> str:
    """One stream reads every weight at work once a token."""
    weights = question.precision or "bf16"
    least = fewest_gpus_to_serve(model, device.gb, question.sequence or 8192, weights)
    gpus = wanted_gpus(question, device) or least
    where = f" of {cluster.title}" if cluster else ""
    if not gpus or not estimate_serving(model, device.gb, gpus, question.sequence or 8192, weights).sequences:
        more = f"; it takes {least}" if least else ""
        no = f"**{gpus or 64} x {device.name}{where} do not serve {model.name} in {weights}**"
        return f"{no}: no room beside the weights{more}."
    size = model.active * WEIGHT_BYTES.get(weights, 2.0)
    most = gpus * device.facts.hbm * 1e12 / size
    low, high = (round_words(share * most) for share in DECODED)
    old = weights == "fp8" and device.facts.tflops < H100_TFLOPS
    unpacked = " It has no fp8 arithmetic: such weights are unpacked there." if old else ""
    return (
        f"**About {low} to {high} tokens a second for one user** of {model.name} in {weights} on {gpus} x {device.name}"
        f"{where}: each token reads {size / 1e9:,.0f} GB of weights, {gpus} x {device.facts.hbm:g} TB/s read them "
        f"{most:,.0f} times a second at most, and half to three quarters of that is usual. Many users at once are "
        f"served together: far more in all, a little less for each.{unpacked}"
    )


def tell_recompute(ask: Ask, question: ResourceQuestion) -> Document | None:
    """What activation checkpointing spares and costs; None without a model."""
    model = find_model(question.model) if question.model else None
    if model is None or model.shape.kind == "convolution":
        return None
    base = base_layout(question, model)
    plain, full = (replace(base, recompute=one) for one in ("none", "full"))
    kept = f"{base.micro_batch:g} x {base.sequence:,} tokens on each GPU, {model.name}"
    return write_document(
        f"**Gained: activations fall from {kept_gib(model, plain):.0f} to {kept_gib(model, full):.1f} GiB, and "
        f"{working_gib(model, full):.1f} GiB for the one layer that is worked out again** ({kept}). Only the inputs of "
        f"the {model.shape.layers} layers are kept: 2 bytes x tokens x {model.shape.hidden}.",
        "**Lost: the forward pass runs once more: a third more arithmetic, 30 to 40 % more time.** Recomputing "
        "attention alone (selective) costs 2 to 5 % and spares less.",
        f"What stays: weights, gradients and Adam ({model.parameters * 16 / 1e9:,.0f} GB before sharding) and the "
        f"logits ({logits_gib(model, full):.1f} GiB). The results are the same.",
        cite(SOURCES[1:], gpu_table().as_of),
    )


def tell_card(ask: Ask, question: ResourceQuestion) -> Document | None:
    """The smallest cards of known machines that hold it, as many as were said; and those that do not."""
    model = find_model(question.model) if question.model else None
    if model is None or question.task == "serve":
        return None
    named = [c for name in question.machines if (c := catalogue().find(name))] or list(catalogue().clusters.values())
    found: dict[str, tuple[Fit, list[str]]] = {}
    for cluster in named:
        for device in devices(cluster):
            fit = next(iter(ways(replace(question, gpus=question.gpus or 1, nodes=None), model, device, cluster)), None)
            if fit:
                found.setdefault(device.name, (fit, []))[1].append(cluster.title)
    by_size = sorted(found.values(), key=lambda one: one[0].device.gb)
    holding = [one for one in by_size if one[0].verdict == "fits"]
    if not holding:
        return None
    least = holding[0][0].device.gb
    shorter = {fit.device.name: longest_sequence(model, fit.layout, fit.device) or 0 for fit, _ in by_size}
    smaller = [(fit.device, f"{fit.device.name} ({', '.join(dict.fromkeys(where))})") for fit, where in by_size]
    first = [f"{name}" for device, name in smaller if device.gb <= least + 1 and device.name in {
        fit.device.name for fit, _ in holding}]  # fmt: skip
    tight = [
        f"{name}, up to {shorter[device.name]:,} tokens"
        for device, name in smaller
        if device.gb < least and shorter[device.name] >= 512
    ]
    no = max((device.gb for device, _ in smaller if device.gb < least and shorter[device.name] < 512), default=0)
    fit = holding[0][0]
    sizes = f"{fit.layout.sequence:,} tokens, micro-batch {fit.layout.micro_batch:g}, activation checkpointing"
    return write_document(
        f"**The smallest that surely hold {model.name}: {'; '.join(first)}** ({memory_words(fit)}; {sizes}).",
        f"Smaller, with short sequences: {'; '.join(tight)}." if tight else "",
        f"{no:g} GB and less do not." if no else "",
        "4-bit libraries are made for NVIDIA first: see for AMD and Intel." if question.task == "qlora" else "",
        cite(SOURCES, gpu_table().as_of),
    )
