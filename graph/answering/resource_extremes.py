"""The largest there is room for: a model on GPUs that are named, and what of a message no sum used."""

from __future__ import annotations

import re
from dataclasses import replace

from graph.answering.ask import Ask
from graph.answering.resource_languages import spoken
from graph.answering.resource_words import VERDICTS, WAYS, count_words, memory_words, way_words
from graph.answering.situation import cite, write_document
from graph.planning.queues import plural
from graph.planning.resources.communication import GOOD_RATIO, WARN_RATIO, compute_ratio
from graph.planning.resources.device import Device
from graph.planning.resources.layout import Layout
from graph.planning.resources.memory import SOURCES, state_bytes, states_gib
from graph.planning.resources.options import SPREADS, WHOLE_NODE, base_layout, known_devices, wanted_gpus, ways
from graph.planning.resources.parameters import SizedModel, find_model, scale_model, sized
from graph.planning.resources.reading import unread, words_of
from graph.planning.resources.search import Fit, ease
from graph.planning.resources.serving import fewest_gpus_to_serve
from graph.planning.resources.speed import published_share
from knowledge.cluster import Cluster
from knowledge.document import Document
from knowledge.gpu_facts import gpu_table, unknown_gpus
from knowledge.model_shapes import model_shapes
from knowledge.resource_question import ResourceQuestion

# `ZeRO stage 1, 2 or 3`, `zero 2 or 3`.
STAGES = re.compile(
    r"(?i)\b(?:zero[- ]?)?(?:stages?\s*)?[123]"
    r"(?:\s*(?:,|and|or|/|vs\.?|oder|ou|o|还是)\s*(?:zero[- ]?)?[123](?!\w|\.\d))+"
)
# What stands for any model where the answer does not depend on its size.
GENERAL_SIZE = 7.0
# Billions of parameters that models are made in.
SIZES = (0.125, 0.35, 0.5, 1, 1.5, 2, 3, 4, 7, 8, 9, 13, 14, 20, 24, 30, 34, 40, 70, 100, 130, 175, 250, 400, 530, 700,
         1000)  # fmt: skip


def _fields(names: str) -> frozenset[str]:
    return frozenset(names.split())


PLACE = _fields("model machines gpu or_gpus gpu_gb nodes gpus each task queue")
OF_WAY = (
    "lora_rank sequence micro_batch global_batch strategy tensor pipeline precision optimizer recompute offload beside "
    "loss attention"
)
WAY = PLACE | _fields(OF_WAY)
BUDGET = _fields("hours node_hours gpu_hours site_units")
# What each kind of answer works with.
USED: dict[str, frozenset[str]] = {
    "limits": _fields("gpu gpu_gb machines nodes hours node_hours gpus task start_h queue"),
    "hours": WAY | BUDGET | _fields("tokens samples epochs steps speed runs"),
    "fit": WAY | BUDGET | _fields("measured_gb speed tokens samples epochs steps"),
    "choice": WAY | _fields("tokens samples epochs steps"),
    "largest": WAY | BUDGET,
    "serve": PLACE | _fields("sequence precision or_precisions users strategy tensor"),
}
ALONE = {
    "epochs": "epochs count with a number of samples or tokens",
    "host_gb": "main memory counts where the optimizer is offloaded to it",
    "users": "users count where a model is served (*serve*, *inference*)",
    "tokens": "tokens count where a model is trained",
}
# Named in a training and not in its memory.
AS_16_BIT = ("fp8", "int8", "int4")


def unused_line(ask: Ask, question: ResourceQuestion, kind: str) -> str:
    """Values of this message that the answer's sum does not use, named; empty where all are used."""
    words = words_of(ask.utterance)
    used = USED.get(kind, frozenset(words)) | {"denied", "accumulation"}  # an answer of its own takes what it needs
    if kind in ("hours", "fit") and not (question.tokens or question.samples):
        used = used - {"epochs"}
    if question.offload:
        used = used | {"host_gb"}
    named = {name: text for name, text in words.items() if name not in used and text}
    told = [f"*{text}*" + (f" ({ALONE[name]})" if name in ALONE else "") for name, text in named.items()]
    told += [f"*{text}*" for text in unread(ask.utterance)]
    lines = [f"Not used in this: {', '.join(told)}."] if told else []
    if question.precision in AS_16_BIT and question.task not in ("qlora", "serve") and "precision" in words:
        lines.append(f"*{words['precision']}* makes steps faster; weights and states are counted as in bf16.")
    return " ".join(lines)


def unknown_gpu(question: ResourceQuestion) -> Document | None:
    """That a GPU is named of which nothing is known; None where all are known."""
    if question.gpu not in unknown_gpus():
        return None
    like = f"{question.gpu_gb:g} GB" if question.gpu_gb else "as much memory"
    return write_document(
        f"Of the {question.gpu} I have neither memory nor speed in my facts, so I do not guess. Say a card that I know "
        f"({', '.join(dict.fromkeys(g.model for g in gpu_table().gpus))}), or only its memory: *a GPU with {like}*."
    )


def tell_ways(ask: Ask, question: ResourceQuestion) -> Document | None:
    """Each way of spreading that is asked about, on the same GPUs; None where fewer than two are, or GPUs are open."""
    said = [str(m.value) for m in ask.utterance.of_kind("Method") if m.value in SPREADS]
    said += [f"zero{number}" for found in STAGES.finditer(ask.text) for number in re.findall(r"[123]", found[0])]
    asked = [way for way in SPREADS if way in said]
    model = find_model(question.model) if question.model else None
    device, cluster = known_devices(question)[0] if known_devices(question) else (None, None)
    gpus = wanted_gpus(question, device) if device else None
    if len(asked) < 2 or model is None or device is None or not gpus or gpus < 2:
        return None
    named = bool(question.machines or question.gpu or question.gpu_gb)
    card = f"{gpus} x {device.name}" + (f" of {cluster.title}" if cluster else "") if named else f"{gpus} GPUs"
    shown = device if named else None
    ways_told = [_way_line(model, question, way, gpus, shown) for way in dict.fromkeys(("ddp", *asked))]
    each = state_bytes(base_layout(question, model)).total
    verdicts = {way: ease(model, replace(base_layout(question, model), spread=SPREADS[way], gpus=gpus), device).verdict
                for way in dict.fromkeys(("ddp", *asked))} if named else {}  # fmt: skip
    first = next((WAYS[SPREADS[way]] for way, verdict in verdicts.items() if verdict == "fits"), "")
    adapters = question.task in ("lora", "qlora")
    sends = "Sharding the weights (FSDP, ZeRO-3) saves memory and is not faster by itself: it sends half as much again."
    if adapters:
        sends = (
            "With adapters only their gradients are sent, so DDP costs next to nothing; FSDP gathers the whole base."
        )
    of_each = (
        f", {'QLoRA' if question.task == 'qlora' else 'LoRA'}" if adapters else f", {each:g} bytes a parameter in all"
    )
    alike = {"zero3", "fsdp"} <= set(asked) and first == WAYS["zero3"]
    if alike:
        first = WAYS["fsdp"]
        sends = (
            "FSDP and ZeRO-3 hold and send the same: FSDP is PyTorch's own and needs no package; ZeRO-3 where the code "
            "is DeepSpeed's already, or parts must go to CPU memory."
        )
    simplest = "of these it is the simplest that fits, and sends the least"
    return write_document(
        spoken(ask.text, "take", what=first) if first else "",
        f"**Take {first}**: {'both fit' if alike else simplest}. {sends}" if first else "",
        f"**{model.name} on {card}**{of_each}: {'; '.join(ways_told)}.",
        ""
        if adapters
        else "Activations come on top: they are the same whichever way the states are spread. The first "
        "that fits is the simplest and sends the least.",
        cite(SOURCES, gpu_table().as_of),
    )


def tell_hybrid(ask: Ask, question: ResourceQuestion) -> Document | None:
    """Sharding over all GPUs or inside each node; None where no model or no nodes are known."""
    model = find_model(question.model) if question.model else None
    device, _ = known_devices(question)[0] if known_devices(question) else (None, None)
    gpus = wanted_gpus(question, device) if device else None
    if model is None or device is None or not gpus:
        return None
    each = device.per_node or (min(question.gpus, WHOLE_NODE) if question.nodes and question.gpus else WHOLE_NODE)
    base = replace(base_layout(question, model), spread="fsdp", gpus=gpus)
    if gpus <= each or each < 2 or base.method != "full":
        return None
    inside, over = (ease(model, layout, device) for layout in (replace(base, shard=each), base))
    lines = [
        f"{name}: {states_gib(model.parameters, fit.layout) * 2**30 / 1e9:,.1f} GB of states on each, "
        f"{memory_words(fit)}, {VERDICTS[fit.verdict]}"
        for name, fit in ((f"HYBRID_SHARD inside a node of {each}", inside), (f"FULL_SHARD over all {gpus}", over))
    ]
    if inside.verdict == "fits":
        told = (
            "**HYBRID_SHARD**: it fits, the weights are gathered on the links inside a node, and between nodes only "
            f"each GPU's 1/{each} of the gradients goes once a step; FULL_SHARD gathers all weights over the network "
            "twice."
        )
    elif over.verdict == "fits":
        told = "**FULL_SHARD**: one node does not surely hold the states, so they have to be spread over all."
    else:
        told = "**Neither surely fits**: more nodes, or a tensor split inside the node on top."
    split = (
        "A tensor split is not needed: no single layer is too large."
        if "fits" in (inside.verdict, over.verdict)
        else ""
    )
    return write_document(told, f"**{model.name} on {gpus} x {device.name}**: {'; '.join(lines)}.", split,
                          cite(SOURCES, gpu_table().as_of))  # fmt: skip


def _way_line(model: SizedModel, question: ResourceQuestion, way: str, gpus: int, device: Device | None) -> str:
    """`ZeRO-1: 31.4 GB of states on each`, and its verdict on a device that is named."""
    layout = replace(base_layout(question, model), spread=SPREADS[way], gpus=gpus)
    states = f" {states_gib(model.parameters, layout) * 2**30 / 1e9:,.1f} GB of states on each"
    told = WAYS[layout.spread] + (states if layout.method == "full" else "")
    if device is None:
        return told
    fit = ease(model, layout, device)
    return f"{told} ({memory_words(fit)}: {VERDICTS[fit.verdict]})"


def tell_network(ask: Ask, question: ResourceQuestion) -> Document | None:
    """Whether the network between nodes keeps up with so many tokens a GPU and step, whatever the model: arithmetic and
    traffic both grow with its parameters. None where neither tokens nor a machine are named."""
    if question.aim != "network" or not question.machines or not question.sequence:
        return None
    device, cluster = known_devices(question)[0]
    spread = SPREADS.get(question.strategy or "", "ddp")
    layout = Layout(spread=spread, gpus=2 * device.each, sequence=question.sequence, precision="pure", recompute="none")
    model = find_model(question.model) if question.model else None
    ratio = compute_ratio(model or scale_model(GENERAL_SIZE), layout, device)
    if ratio is None or cluster is None:
        return None
    enough, good = (question.sequence * bound / ratio for bound in (WARN_RATIO, GOOD_RATIO))
    verdict = "No, it waits for the network" if ratio < WARN_RATIO else "Yes" if ratio >= GOOD_RATIO else "Just"
    return write_document(
        f"**{verdict}: on {device.name} nodes of {cluster.title} a step of {question.sequence:,} tokens a GPU computes "
        f"{ratio:.1f} times as long as it sends** (10 is good, below 3 it waits), over {device.network:.0f} GB/s "
        "between nodes, gradients in 16 bit.",
        f"From about {enough:,.0f} tokens a GPU and step on it keeps up, from {good:,.0f} on it hardly shows. What "
        "lifts it: a larger micro-batch, accumulation with `no_sync()`, fewer nodes, adapters only.",
        cite([device.source, *SOURCES[:1]], gpu_table().as_of),
    )


def tell_largest(ask: Ask, question: ResourceQuestion) -> Document | None:
    """The largest model that the GPUs which are named surely hold; None where none are."""
    if question.aim != "largest" or not (question.machines or question.gpu or question.gpu_gb):
        return None
    lines = [_by_time(question, device, cluster) for device, cluster in known_devices(question)[:1]]
    lines += [_largest(question, device, cluster) for device, cluster in known_devices(question)]
    closing = "Sizes are tried in the steps that models are made in, in the shape of the nearest usual model."
    return write_document(*dict.fromkeys(lines), closing, cite(SOURCES, gpu_table().as_of))


# Tokens a parameter of a training that spends its arithmetic best, and the page that found it.
TOKENS_EACH, CHINCHILLA = 20, "https://arxiv.org/abs/2203.15556"


def _by_time(question: ResourceQuestion, device: Device, cluster: Cluster | None) -> str:
    """How large a model the time or the budget that was said trains, at twenty tokens a parameter; empty without."""
    gpus = wanted_gpus(question, device) or (device.each if cluster else 1)
    hours = question.gpu_hours or (question.node_hours or 0.0) * device.each or (question.hours or 0.0) * gpus
    if not hours or question.task in ("lora", "qlora", "serve"):
        return ""
    share = published_share(scale_model(GENERAL_SIZE), device)
    sizes = [(hours * 3600 * device.facts.tflops * 1e12 * part / (6 * TOKENS_EACH)) ** 0.5
             for part in (share.low, share.usual, share.best)]  # fmt: skip
    low, usual, best = (f"{one / 1e9:.2g}" for one in sizes)
    return (
        f"**By arithmetic about {usual}B ({low} to {best})**: {hours:,.0f} {device.kind} hours of {device.name} train "
        f"so many parameters on {TOKENS_EACH} tokens each ({count_words(TOKENS_EACH * sizes[1])} tokens, the optimum "
        f"of [Chinchilla]({CHINCHILLA})). By memory alone:"
    )


def _largest(question: ResourceQuestion, device: Device, cluster: Cluster | None) -> str:
    gpus = wanted_gpus(question, device) or (device.each if cluster else 1)
    where = f" ({plural(device.nodes_for(gpus), 'node')} of {cluster.title})" if cluster else ""
    place = f"{gpus} x {device.name}{where}"
    if question.task == "serve":
        length, weights = question.sequence or 8192, question.precision or "bf16"
        if family := family_of(question.model or ""):
            held = [one.name for one in family if (fewest_gpus_to_serve(
                one, device.gb, length, weights, question.users or 1, device.per_node) or 1 << 20) <= gpus]  # fmt: skip
            return largest_of(place, held, family, f"served in {weights}, {length:,} tokens")
        served = [
            size
            for size in SIZES
            if (fewest_gpus_to_serve(scale_model(size), device.gb, length, weights) or 1 << 20) <= gpus
        ]
        return (
            f"**{place}: up to {served[-1]:g}B served in {weights}**." if served else f"{place}: none of 125M or more."
        )
    asked = ResourceQuestion(**{**question.said(), "nodes": None, "gpus": gpus})  # type: ignore[arg-type]
    if family := family_of(question.model or ""):
        held = [one.name for one in family if any(fit.verdict == "fits" for fit in ways(asked, one, device, cluster))]
        return largest_of(place, held, family, "trained")
    found: tuple[float, Fit] | None = None
    for size in SIZES:
        fits = [fit for fit in ways(asked, scale_model(size), device, cluster) if fit.verdict == "fits"]
        if not fits:
            break
        found = size, fits[0]
    if found is None:
        return f"{place}: not even 125M surely fits."
    size, fit = found
    sizes = f"{fit.layout.sequence} tokens, micro-batch {fit.layout.micro_batch:g}"
    return f"**{place}: up to {size:g}B surely fits** with {way_words(fit)} ({memory_words(fit)}; {sizes})."


def family_of(name: str) -> list[SizedModel]:
    """The known models of a family that is named without a size, the smallest first; empty where none is."""
    if not name or find_model(name):
        return []
    plain = re.sub(r"[\s_/-]+", "", name).lower()
    found = []
    for shape in model_shapes().shapes:
        names = (one for one in (shape.name, *shape.names) if re.search(r"(?i)\d[bm]$", one) and not shape.plain)
        if named := next((one for one in names if re.sub(r"[\s_/-]+", "", one).lower().startswith(plain)), ""):
            found.append(sized(shape, named.title() if named.islower() else named))
    return sorted(found, key=lambda one: one.parameters)


def largest_of(place: str, held: list[str], family: list[SizedModel], how: str) -> str:
    """The largest of a family that fits, and the smallest that does not."""
    over = [one.name for one in family if one.name not in held]
    if not held:
        return f"**{place}: none of {', '.join(one.name for one in family)}** {how}."
    beyond = f"; not {over[0]}" if over and over[0] != held[-1] else ""
    return f"**{place}: {held[-1]} is the largest that fits** {how}{beyond}."
