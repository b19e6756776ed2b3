"""Does it fit, on which machine, how long: a question's values in, the options with their sums out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graph.answering.resource_words import (
    VERDICTS,
    chain_words,
    count_words,
    gib_words,
    hours_words,
    memory_words,
    option_line,
    parts_words,
    place_words,
    range_words,
    request_words,
    states_words,
    way_words,
)
from graph.answering.situation import cite, write_document
from graph.planning.queues import plural
from graph.planning.resources.alternatives import (
    ANOTHER_WAY,
    OFFLOADED,
    SingleChange,
    fewest_there,
    rank,
    single_changes,
    that_fit,
)
from graph.planning.resources.communication import GOOD_RATIO, WARN_RATIO, compute_ratio
from graph.planning.resources.device import Device
from graph.planning.resources.layout import Layout
from graph.planning.resources.limits import holds, job_nodes, longest_hours, takes
from graph.planning.resources.memory import QLORA_BYTES, SOURCES, adapter_parameters, state_bytes, usable_gib
from graph.planning.resources.options import (
    COMMON,
    ResourceOption,
    all_options,
    amount,
    host_gb,
    host_nodes,
    known_devices,
    running_fit,
    wanted_gpus,
)
from graph.planning.resources.parameters import SizedModel, find_model, scale_model
from graph.planning.resources.saving import plan_saving
from graph.planning.resources.search import Fit, counts, ease, largest_micro_batch, longest_sequence, try_layout
from graph.planning.resources.serving import (
    FEW_SEQUENCES,
    RUNTIME_GIB,
    SERVED_SHARE,
    WEIGHT_BYTES,
    cache_bytes,
    estimate_serving,
    fewest_gpus_to_serve,
)
from graph.planning.resources.serving import SOURCE as SERVING_SOURCE
from graph.planning.resources.speed import SOURCE as FLOPS_SOURCE
from graph.planning.resources.speed import flops_per_token, published_share
from graph.planning.resources.taking import Change, request_change
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.document import Choice, Choices, Document
from knowledge.gpu_facts import gpu_table
from knowledge.resource_question import ResourceQuestion

MOST_OPTIONS = 6
FROM_THERE = "It surely fits from there on"
TAKING = "*take 1* (or another number) writes its script, with these sizes in it."
# Bytes a parameter of states that take less than Adam's in mixed precision.
EASED = (("8-bit Adam", 10.0), ("everything in bf16", 8.0), ("everything in bf16 and 8-bit Adam", 6.0))
FACTOR = re.compile(r"charge factor (\d+(?:\.\d+)?)")
# Models whose makers tell no size.
UNPUBLISHED = re.compile(r"(?i)^(?:gpt-?(?:4|5)\w*|chatgpt|claude\b|gemini\b|o[134]\b)")
GONE = re.compile(r"(?i)shut down|retired|out of service")
RESERVE = "Ask for two to three times that: tests, restarts and failed runs count too."


@dataclass(frozen=True, slots=True)
class ResourcePlan:
    """The options that were weighed, best first; model None: its size is not known; fits: whether any surely does."""

    question: ResourceQuestion
    model: SizedModel | None
    options: tuple[ResourceOption, ...]
    document: Document

    @property
    def fits(self) -> bool:
        return any(option.fit.verdict == "fits" and option.accepted for option in self.options)

    def running(self, option: ResourceOption) -> ResourceOption:
        """The option with the micro-batch that its script is asked for, and the memory that this takes."""
        return replace(option, fit=running_fit(self.question, self.model, option.fit)) if self.model else option

    def change(self, option: ResourceOption) -> Change:
        """What the script of an option is asked for; nothing where it is on no machine, or does not fit."""
        return request_change(self.question, self.model, option) if self.model else ()


def plan_resources(question: ResourceQuestion, before: ResourceQuestion | None = None) -> ResourcePlan:
    """What would do. before: the question of the turn before, whose values hold where this one says nothing.

    Without a model's size there are no options, and the document asks for it.
    """
    question = question.after(before)
    model = find_model(question.model) if question.model else None
    if model is None:
        return ResourcePlan(question, None, (), _ask_size(question))
    return plan_model(question, model)


def plan_model(question: ResourceQuestion, model: SizedModel) -> ResourcePlan:
    """What would do for a model whose shape is known (of a config.json, for one)."""
    if question.task == "serve":
        told = describe_serving if model.shape.kind != "other" else describe_weights
        return ResourcePlan(question, model, (), told(question, model))
    options = tuple(sorted(all_options(inside_nodes(question), model), key=rank))
    if not options and not (question.nodes or question.gpus) and (question.micro_batch or 1) > 1:
        alone = fewest_there(replace(question, micro_batch=1), model)
        if alone:  # the batch is what no number of GPUs holds: on as many as hold the model
            return plan_model(replace(question, gpus=alone[0].fit.layout.gpus), model)
    if model.shape.kind == "other":
        return ResourcePlan(question, model, options, describe_states(question, model, options))
    return ResourcePlan(question, model, options, describe(question, model, options))


def inside_nodes(question: ResourceQuestion) -> ResourceQuestion:
    """The question without a split of the layers that would leave every node of its machines."""
    each = [device.each for device, cluster in known_devices(question) if cluster]
    if not each or not question.tensor or question.tensor <= max(each):
        return question
    return replace(question, tensor=None, strategy=None if question.strategy == "tp" else question.strategy)


def _ask_size(question: ResourceQuestion) -> Document:
    if question.model and UNPUBLISHED.search(question.model):
        return _out_of_reach(question)
    named = f"How large is {question.model}? " if question.model else "How large is the model? "
    return write_document(
        f"{named}Say its parameters (*7B*, *300M*) or its name (*Llama-3-8B*, *ViT-L*), and I work out memory, GPUs "
        "and hours from it; `maple-chat plan --config config.json` reads a Hugging Face file."
    )


def _out_of_reach(question: ResourceQuestion) -> Document:
    """That a model whose size is not published is trained by nobody on a few nodes, and what is possible there."""
    told = []
    for device, cluster in known_devices(question)[:1]:
        gpus = wanted_gpus(question, device) or device.each
        one = scale_model(1.0)
        share = published_share(one, device)
        work = gpus * device.facts.tflops * 1e12 * 30 * 86400 / flops_per_token(one, 2048)
        tokens = f"{count_words(work * share.low)} to {count_words(work * share.best)}"
        where = f"{gpus} x {device.name}" + (f" of {cluster.title}" if cluster else "")
        seventy = 6 * 70e9 * 1.4e12 / (gpus * device.facts.tflops * 1e12 * share.usual) / 3.156e7
        told.append(
            f"**On {where} that cannot be done, with any batch size**: even 70 B parameters on 1.4 T tokens would "
            f"take about {seventy:,.0f} years there, and 70 B x 16 bytes = 1,120 GB of states have to fit first."
        )
        told.append(
            f"What can: a model of 1 B parameters on {tokens} tokens in 30 days without a break; or an open model "
            "trained further on your data: *does full fine-tuning of Llama-3.1-8B fit there?*, or *QLoRA*."
        )
    return write_document(
        f"How large {question.model} is has not been published; it is counted among the largest, trained on thousands "
        "of GPUs for months.",
        *told,
        cite([FLOPS_SOURCE], gpu_table().as_of),
    )


def describe(question: ResourceQuestion, model: SizedModel, options: Sequence[ResourceOption]) -> Document:
    """The answer first, its sum, what else would do, hours and how often to save."""
    if not options:
        return _nothing_fits(question, model)
    best = options[0]
    if not best.accepted and 0 < (most := most_nodes(best)) < best.nodes:
        fewer = replace(question, nodes=most, gpus=None, gpu=best.fit.device.facts.model, gpu_gb=None)
        told = write_document(
            mine_line(question),
            *premise_lines(question, best.fit.device, best.cluster),
            headline(model, best),
            refused_line(best),
        )
        return told + describe(fewer, model, tuple(sorted(all_options(fewer, model), key=rank)))
    others = [option for option in options[1:] if option.fit.verdict != "no"][: MOST_OPTIONS - 1]
    pages = [*SOURCES, FLOPS_SOURCE, best.fit.device.source, best.chain.queue.source if best.chain else ""]
    return write_document(
        mine_line(question),
        *premise_lines(question, best.fit.device, best.cluster),
        queue_line(question, best),
        usual_line(question, model, best),
        headline(model, best),
        open_line(question, best),
        f"The sum for one GPU: {parts_words(best.fit)}.",
        fewest_line(options),
        largest_part_line(model, best),
        enough_line(question, model, best),
        spare_line(question, model, best),
        tight_line(question, model, best),
        host_line(model, best),
        *notes(question, model, best),
        from_here(question, model)
        if best.fit.verdict != "fits" or not best.accepted
        else batch_line(question, model, best),
        f"{_sentence(chain_words(best.chain, best.nodes, best.hours))}",
        asking_line(best),
        time_line(question, model, best) if best.fit.verdict != "no" else "",
        network_line(question, model, best),
        *((rows, TAKING) if (rows := offered(question, model, (best, *others))) else ()),
        cite(dict.fromkeys(page for page in pages if page), gpu_table().as_of),
    )


def describe_states(question: ResourceQuestion, model: SizedModel, options: Sequence[ResourceOption]) -> Document:
    """What is certain of a model of whose activations there is no sum: its states against the card."""
    told = [
        f"**I have no sum for the activations of {model.name}**: only transformers and ResNets are in my sums. Its "
        f"{count_words(model.parameters)} parameters are certain."
    ]
    if options:
        fit, each = options[0].fit, state_bytes(options[0].fit.layout).total
        free = usable_gib(fit.device.gb) - fit.memory.gib
        left = f"{free:.0f} GiB are left for activations" if free > 0 else "it does not fit, whatever the batch"
        eased = "; ".join(
            f"{count_words(model.parameters)} x {size:g} bytes with {words} = {model.parameters * size / 1e9:.3g} GB"
            for words, size in EASED
            if size < each and question.task not in ("lora", "qlora", "serve")
        )
        told += [
            f"**{place_words(options[0])}, {way_words(fit)}: without activations {parts_words(fit, worst=False)} of "
            f"{usable_gib(fit.device.gb):.0f} usable: {left}.**",
            f"Smaller states: {eased}; FSDP divides them by the number of GPUs; frozen parts take 2 bytes."
            if eased
            else "",
        ]
    told.append(
        "What decides is measured in a minute: one step of batch 1 and one of 2, "
        "`torch.cuda.max_memory_allocated()` after each; tell me both (*batch 1 takes 21 GB, batch 2 takes 26 GB*) and "
        "I say which batch fits. Activation checkpointing and latents or features made beforehand are what saves most."
    )
    return write_document(mine_line(question), *told, cite(SOURCES[:1], gpu_table().as_of))


def describe_weights(question: ResourceQuestion, model: SizedModel) -> Document:
    """What is certain of serving a model of whose state for each request there is no sum: its weights."""
    size = model.parameters * WEIGHT_BYTES.get(question.precision or "bf16", 2.0)
    room = []
    for device, _ in known_devices(question):
        gpus = wanted_gpus(question, device) or 1
        free = SERVED_SHARE * device.gb - RUNTIME_GIB - size / gpus / 2**30
        left = f"leaves {free:.0f} GiB for it on each" if free > 0 else "does not hold them"
        room.append(f"{gpus} x {device.name} {left}")
    return write_document(
        mine_line(question),
        f"**I have no sum for what {model.name} keeps for each request**; its weights are certain: "
        f"{size / 1e9:.3g} GB in {question.precision or 'bf16'}. {'; '.join(dict.fromkeys(room))}.",
        cite([SERVING_SOURCE], gpu_table().as_of),
    )


def describe_memory(question: ResourceQuestion, model: SizedModel, options: Sequence[ResourceOption]) -> Document:
    """Whether it fits, with the sum and nothing else."""
    best = options[0]
    if not best.accepted and 0 < most_nodes(best) < best.nodes:
        return write_document(refused_line(best))
    return write_document(
        mine_line(question),
        *premise_lines(question, best.fit.device, best.cluster),
        queue_line(question, best),
        usual_line(question, model, best),
        headline(model, best),
        f"The sum for one GPU: {parts_words(best.fit)}.",
        enough_line(question, model, best),
        host_line(model, best),
        asking_line(best),
        *notes(question, model, best),
        from_here(question, model) if best.fit.verdict != "fits" or not best.accepted else "",
        cite(SOURCES, gpu_table().as_of),
    )


def notes(question: ResourceQuestion, model: SizedModel, best: ResourceOption) -> list[str]:
    """What the sum rests on beyond the question's own words: a GPU of no machine, V100's 16 bit, models beside it."""
    told = []
    if not best.accepted and best.cluster:
        told.append(refused_line(best))
    if question.speed:
        told.append(speed_line(question, model, best))
    titles = ", ".join(c.title for name in question.machines if (c := catalogue().find(name)))
    if titles and best.cluster is None:
        card = (
            " ".join(filter(None, (question.gpu, f"{question.gpu_gb:g} GB" if question.gpu_gb else None)))
            or "such a GPU"
        )
        told.append(f"**{titles} has no {card} in my facts**: this is for a {best.fit.device.name} of no machine.")
    if whole := whole_line(question, model, best):
        told.append(whole)
    if eager := eager_line(model, best):
        told.append(eager)
    if plain := needless_line(question, model, best):
        told.append(plain)
    if question.nodes and best.cluster is None and not (question.each or question.gpus):
        told.append("A node is taken for one of 8 GPUs.")
    if best.fit.layout.beside == "several":
        told.append(
            "Of the models beside it only a frozen reference is counted: value, reward and generation come on top."
        )
    return told


def usual_line(question: ResourceQuestion, model: SizedModel, best: ResourceOption) -> str:
    """That the machine's usual nodes do not surely hold it, where another kind of node of it is what does and no card
    was named; empty else."""
    cluster = best.cluster
    if cluster is None or question.gpu_gb or best.fit.device.node_type in cluster.default_queue.node_types[:1]:
        return ""
    usual = cluster.default_queue.node_types[:1]
    named = replace(question, machines=(cluster.id,), queue=None)
    found = sorted((one for one in all_options(named, model) if one.fit.device.node_type in usual), key=rank)
    if not found or found[0].fit.verdict == "fits":
        return ""
    return (
        f"**Not surely on a usual node of {cluster.title}**: {option_line(replace(found[0], hours=None))}. What holds "
        "it is another kind of node:"
    )


def open_line(question: ResourceQuestion, best: ResourceOption) -> str:
    """That one card alone does not hold it, where a card was named and no number of them; of which card it is, where
    none was; empty else."""
    named = question.gpu or question.gpu_gb
    if not named and not question.machines:
        return f"Which card was not said: {', '.join(f'{gpu} {gb:g} GB' for gpu, gb in COMMON)} were tried."
    if not named or question.nodes or question.gpus or question.each or best.cluster or best.fit.layout.gpus == 1:
        return ""
    return (
        f"**One {best.fit.device.name} alone does not hold it.** How many you have was not said: this is the fewest "
        "that surely do; *and on 2?* tries another number."
    )


def eager_line(model: SizedModel, best: ResourceOption) -> str:
    """What attention that is written out would take, where that decides and is likely: in older code of encoders and
    of images, and on cards without FlashAttention. Empty else."""
    fit = best.fit
    if (model.shape.kind not in ("encoder", "vision") and fit.device.facts.bf16) or fit.verdict == "no":
        return ""
    eager = try_layout(model, replace(fit.layout, flash=False), fit.device)
    if eager.verdict == fit.verdict:
        return ""
    return (
        "This counts on fused attention (PyTorch's SDPA, FlashAttention); written out (`eager`) it takes "
        f"{eager.memory.gib:.0f} to {eager.memory.most:.0f} GiB, which {VERDICTS[eager.verdict]}."
    )


def whole_line(question: ResourceQuestion, model: SizedModel, best: ResourceOption) -> str:
    """That a machine gives whole nodes where a part of one is spoken of, and what all of it does."""
    cluster, device = best.cluster, best.fit.device
    queue = best.chain.queue if best.chain else None
    if (
        cluster is None
        or best.fit.layout.gpus >= device.each
        or not (cluster.whole_nodes or (queue and queue.whole_nodes))
    ):
        return ""
    every = that_fit(replace(question, machines=(cluster.id,), nodes=None, gpus=device.each), model)
    told = f"**{cluster.title} gives whole nodes**: all {device.each} {device.kind}s of it are yours and charged"
    return f"{told}; on all of them {option_line(every[0])}." if every else f"{told}."


def asking_line(best: ResourceOption) -> str:
    """What asks for that kind of node where a machine has several, and what it charges an hour where that is known."""
    cluster, kind = best.cluster, best.fit.device.node_type
    if cluster is None:
        return ""
    own = [d.text for d in cluster.directives if tuple(d.node_types) == (kind,) and "constraint" in d.text]
    usual = kind in cluster.default_queue.node_types[:1]
    told = f"These nodes are asked for by `{own[0]}`." if own and not usual else ""
    if best.chain and (found := FACTOR.search(best.chain.queue.note or "")):
        price, gpus = float(found[1]), best.fit.layout.gpus
        told += f" `{best.chain.queue.id}` charges {gpus} x {price:g} = {gpus * price:g} units an hour."
    return told.strip()


def premise_lines(question: ResourceQuestion, device: Device, cluster: Cluster | None) -> list[str]:
    """What a question takes for granted and the facts deny: a machine that is gone, a split inside of a node that has
    fewer GPUs, devices that are half a card."""
    told = []
    if cluster and GONE.match(cluster.status or ""):
        told.append(f"**{cluster.title} is gone.** {cluster.status} Which other machine do you have?")
    gpus, split = wanted_gpus(question, device), (question.tensor or 1) * (question.pipeline or 1)
    if gpus and gpus % split:
        told.append(f"**{gpus} GPUs do not divide by {split}** (TP x PP), so that split cannot run on them.")
    if cluster and question.tensor and question.tensor > device.each:
        told.append(
            f"**A node of {cluster.title} has {plural(device.each, device.kind)}: TP {question.tensor} would go over "
            f"the network** ({device.network:.0f} GB/s), which is too slow for it; the sum is without that split."
        )
    if cluster and device.kind != "GPU" and question.gpu_gb and question.gpu_gb > device.gb + 2:
        told.append(
            f"A card of {question.gpu_gb:g} GB is two {device.kind}s of {device.gb:g} GB, each a device of its own."
        )
    if device.facts.host_gb:
        told.append(
            f"{device.facts.model}'s {device.gb + device.facts.host_gb:g} GB are shared with its CPU cores: "
            f"{device.gb:g} GB of them count here."
        )
        if question.offload:
            told.append("**Offload wins nothing there**: main memory is the same memory. The sum is without it.")
    if not device.facts.bf16 and question.precision != "fp32":
        told.append(f"{device.facts.model} has no bf16: it is fp16 with loss scaling there, in as much memory.")
    return told


def needless_line(question: ResourceQuestion, model: SizedModel, best: ResourceOption) -> str:
    """That plain DDP would do where sharding was asked for; empty where it does not hold it."""
    layout = best.fit.layout
    if question.strategy not in ("fsdp", "zero1", "zero2", "zero3") or layout.gpus < 2:
        split = question.aim == "split" and best.fit.verdict == "fits" and layout.tensor * layout.pipeline == 1
        return f"**It needs no split of the layers**: {way_words(best.fit)} holds it." if split else ""
    fit = ease(model, replace(layout, spread="ddp", recompute="none", settled=False), best.fit.device)
    if fit.verdict != "fits" or fit.layout.recompute not in ("none", layout.recompute):
        return ""
    return f"**DDP is enough, simpler and sends less**: every GPU holds all of it ({memory_words(fit)})."


def queue_line(question: ResourceQuestion, best: ResourceOption) -> str:
    """That the queue which was named takes no such job, and what it takes at most; empty where it takes it."""
    queue = best.cluster.queue(question.queue) if best.cluster and question.queue else None
    if queue is None or holds(queue, best.fit.device.node_type, best.nodes, best.fit.layout.gpus):
        return ""
    if takes(queue, best.nodes, best.fit.layout.gpus):
        return f"**`{queue.id}` has no node with {best.fit.device.name}.**"
    most = plural(queue.max_nodes, "node") if queue.max_nodes else ""
    gpus = plural(queue.max_gpus, best.fit.device.kind) if queue.max_gpus else ""
    least = f"{plural(queue.min_nodes, 'node')} at least" if best.nodes < queue.min_nodes else ""
    limit = least or f"{' and '.join(filter(None, (most, gpus)))} at most"
    return f"**`{queue.id}` takes {limit}**, so not {plural(best.nodes, 'node')}:"


def most_nodes(best: ResourceOption) -> int:
    """The most nodes of that kind, fewer than were said, that a usual queue takes; 0 where none is known."""
    kind, each = best.fit.device.node_type, best.fit.device.each
    queues = best.cluster.queues if best.cluster else ()
    sizes = (job_nodes(q, each) for q in queues if kind in q.node_types and q.purpose in ("production", "preempt"))
    return max((size for size in sizes if size < best.nodes), default=0)


def refused_line(best: ResourceOption) -> str:
    """That no queue takes so many nodes, and how many the largest takes."""
    cluster, device, most = best.cluster, best.fit.device, most_nodes(best)
    limit = f"; at most {most} go there" if most and most < best.nodes else ""
    title = cluster.title if cluster else ""
    queues = [q for q in (cluster.queues if cluster else ()) if device.node_type in q.node_types]
    larger = min((q.min_nodes for q in queues if q.min_nodes > best.nodes), default=0)
    limit += f", or {larger} and more" if limit and larger else ""
    short = [f"`{q.id}` for {longest_hours(q, best.nodes):g} h" for q in queues
             if q.purpose == "debug" and takes(q, best.nodes, None) and longest_hours(q, best.nodes)]  # fmt: skip
    but = f" (but {', '.join(short)}, which is for tests)" if short else ""
    return f"**No {'usual ' * bool(short)}queue of {title} takes {best.nodes} nodes of {device.name}{limit}**{but}."


def speed_line(question: ResourceQuestion, model: SizedModel, best: ResourceOption) -> str:
    """A speed that the person saw, as a share of the peak (MFU) against published ones."""
    layout, device = best.fit.layout, best.fit.device
    each = (question.speed or 0.0) / (1 if question.speed_each else layout.gpus)
    share = 100 * each * flops_per_token(model, layout.sequence, layout.method) / (device.facts.tflops * 1e12)
    low, usual, top = (100 * value for value in device.facts.mfu)
    verdict = "below" if share < low else "above" if share > top else "within"
    more = " `torch.compile` and a larger micro-batch are the usual gains." if share < usual else ""
    return (
        f"**{each:,.0f} tokens a second on each {device.kind} are {share:.0f} % of {device.facts.model}'s peak "
        f"(MFU)**: {verdict} what trainings reach there, {low:.0f} to {top:.0f} %, usually {usual:.0f} %.{more}"
    )


def mine_line(question: ResourceQuestion) -> str:
    """That a machine which was named is not known, or that the person's own are weighed and no others; else empty."""
    known = [name for name in question.machines if catalogue().find(name)]
    if question.machines and not known:
        card = "the GPU that was named" if question.gpu or question.gpu_gb else "usual GPUs"
        name = question.machines[0].title()
        return f"**Of {name} I have no facts**, so this is for {card}: say its GPU and memory, and how many a node has."
    if left := unknown_machines(question):
        return (
            f"**Of {left} I have no facts**, so it is not weighed here: say its GPUs, their memory and how many a node "
            "has, and I reckon it beside the others."
        )
    if not question.mine:
        return ""
    titles = ", ".join(c.title for name in question.machines if (c := catalogue().find(name)))
    return f"Over your machines: {titles} (*of all machines* weighs every one that I know)."


def unknown_machines(question: ResourceQuestion) -> str:
    """The machines that were named and that nothing is known of, in words; empty where all are known."""
    return " and ".join(name.title() for name in question.machines if not catalogue().find(name))


def headline(model: SizedModel, best: ResourceOption) -> str:
    """The verdict in one sentence."""
    name = model.name if model.name else f"{count_words(model.parameters)} parameters"
    verdict = {"fits": "fits", "tight": "is tight and may run out of memory", "no": "does not fit"}[best.fit.verdict]
    if not best.accepted:
        verdict = "cannot run"
    layout = best.fit.layout
    if verdict == "fits" and layout.micro_batch > 1 and layout.recompute == "full" and not layout.settled:
        verdict = "fits only with activation checkpointing"
    told = f"**{name} {verdict} on {place_words(best)} with {way_words(best.fit)}**"
    details = f"{best.fit.layout.sequence} tokens, micro-batch {best.fit.layout.micro_batch:g}"
    if model.shape.kind in ("vision", "convolution"):
        patches = f", {best.fit.layout.sequence} patches each" if model.shape.kind == "vision" else ""
        details = f"{best.fit.layout.micro_batch:g} image(s) a GPU at once{patches}"
    checkpointed = ", activation checkpointing" if best.fit.layout.recompute == "full" else ""
    guess = "" if model.exact else " The shape is that of the nearest usual model of this size."
    if model.guessed_experts:
        guess = (
            " How many experts it has, and how wide, I do not know, so this is never better than tight: "
            "`maple-chat plan --config config.json` reads them."
        )
    states = f" {states_words(model, best.fit)}." if best.fit.layout.method == "full" else ""
    if model.active < model.parameters and model.exact:
        every, working = count_words(model.parameters), count_words(model.active)
        states += f" Memory goes with all {every} of them, arithmetic with the {working} at work."
    needed = best.fit.layout.recompute == "full" and not best.fit.layout.settled and best.fit.verdict != "no"
    only = f" It takes activation checkpointing there{without_words(model, best)}." if needed else ""
    return f"{told} ({details}{checkpointed}).{states}{only}{guess}"


def without_words(model: SizedModel, best: ResourceOption) -> str:
    """What a micro-batch of several takes without recomputing, and the largest that does without; else empty."""
    layout = best.fit.layout
    if layout.micro_batch < 2:
        return ""
    bare = try_layout(model, replace(layout, recompute="none"), best.fit.device)
    smaller = largest_micro_batch(model, bare.layout, best.fit.device)
    told = f": without it {bare.memory.gib:.0f} to {bare.memory.most:.0f} GiB, which {VERDICTS[bare.verdict]}"
    if smaller:
        size = smaller.layout.micro_batch
        steps = math.ceil(layout.micro_batch / size)
        told += f"; micro-batch {size:g} with {steps} steps of accumulation fits without it ({gib_words(smaller)})"
    return told


def largest_part_line(model: SizedModel, best: ResourceOption) -> str:
    """That the logits are what fills the GPU, where they are the largest part of what does not fit."""
    logits, layout = best.fit.memory.part("logits"), best.fit.layout
    if best.fit.verdict == "fits" or logits < max(part.gib for part in best.fit.memory.parts):
        return ""
    fused = try_layout(model, replace(layout, loss="chunked"), best.fit.device)
    return (
        f"**It is the logits**: {layout.tokens:,.0f} tokens x {model.shape.vocab:,} words with their fp32 copy and "
        f"both gradients are {logits:.0f} GiB, and more GPUs do not shrink them. A chunked or fused cross-entropy "
        f"(Liger, cut cross-entropy) never holds them all: {memory_words(fused)}, {VERDICTS[fused.verdict]}; a context "
        "or tensor split divides them."
    )


def from_here(question: ResourceQuestion, model: SizedModel) -> str:
    """From how many GPUs on it surely fits, where the number that was said is too small, and which single changes make
    it fit on the same ones."""
    other = replace(question, strategy=None, tensor=None, pipeline=None)
    found = that_fit(other, model) if question.strategy and (question.nodes or question.gpus) else []
    enough = f"On the same GPUs another way fits: {option_line(found[0])}. " if found else ""
    if not found and (found := fewest_there(other, model)):
        opened = "Another way fits" if question.strategy and not (question.nodes or question.gpus) else FROM_THERE
        enough = f"{opened}: {option_line(found[0])}. "
    if not found and question.machines:  # another kind of node of the same machine
        found = that_fit(replace(other, nodes=None, gpus=None, gpu=None, gpu_gb=None, queue=None, each=None), model)
        enough = (
            f"None of those GPUs do, as many as one job there takes; what does: {option_line(found[0])}. "
            if found
            else ""
        )
    if question.offload and (plain := fewest_there(replace(other, offload=None), model)):
        enough += f"Without offload: {option_line(plain[0])}. "
    return f"{enough}{changes_line(question, model)}"


def changes_line(question: ResourceQuestion, model: SizedModel) -> str:
    """`One change is enough: LoRA instead (19 to 22 GiB); ...`, and those that are not."""
    tried = [one for one in single_changes(question, model) if one.words != ANOTHER_WAY]
    each = [(one, f"{one.words} ({_change_words(one, model)})") for one in tried]
    do = "; ".join(words for one, words in each if one.is_enough)
    no = "; ".join(words for one, words in each if not one.is_enough)
    told = f"**Each of these changes alone is enough**, GiB on each GPU: {do}." if do else ""
    return f"{told} Not enough alone: {no}." if no else told


def _change_words(change: SingleChange, model: SizedModel) -> str:
    host = (
        f"; {host_gb(model, host_nodes(change.option.fit)):,.0f} GB of it on each node"
        if change.words == OFFLOADED
        else ""
    )
    return gib_words(change.option.fit) + host


def spare_line(question: ResourceQuestion, model: SizedModel, best: ResourceOption) -> str:
    """That all parameters could be trained there, where adapters were asked for; empty where they could not."""
    if question.task not in ("lora", "qlora") or best.fit.verdict != "fits" or question.denies("task", "train"):
        return ""
    found = that_fit(replace(question, task="train", gpus=best.fit.layout.gpus, nodes=None), model)
    return f"Training all parameters fits there, too: {option_line(found[0])}." if found else ""


def batch_line(question: ResourceQuestion, model: SizedModel, best: ResourceOption) -> str:
    """The largest micro-batch that surely fits, with and without recomputing."""
    layout, device = best.fit.layout, best.fit.device
    told = [_batch_sizes(model, layout, device)] if not question.micro_batch else []
    if model.shape.kind == "decoder" and not question.sequence and (most := longest_sequence(model, layout, device)):
        told.append(f"Longest sequence that surely fits at micro-batch {layout.micro_batch:g}: {most:,} tokens.")
    if question.global_batch:
        told.append(_global_batch(question.global_batch, layout))
    return " ".join(filter(None, told))


def _global_batch(batch: int, layout: Layout) -> str:
    """A global batch as micro-batches, replicas and steps."""
    once = layout.micro_batch * layout.data
    steps = batch / once
    if steps < 1:
        micro = f"one micro-batch of {layout.micro_batch:g}"
        return f"A global batch of {batch} is less than {micro} for each of {layout.data} replicas."
    whole = "" if steps == int(steps) else f" (no multiple of {once:g}: take {once * max(1, round(steps)):g})"
    times = f"{steps:.4g} {'step' if steps == 1 else 'steps'}"
    return f"Global batch {batch} = {layout.micro_batch:g} x {layout.data} replicas x {times}{whole}."


def _batch_sizes(model: SizedModel, layout: Layout, device: Device) -> str:
    if layout.settled:
        only = largest_micro_batch(model, layout, device)
        return f"Largest micro-batch that surely fits: {only.layout.micro_batch:g}." if only else ""
    plain = largest_micro_batch(model, replace(layout, recompute="none"), device)
    eased = largest_micro_batch(model, replace(layout, recompute="full"), device)
    pairs = ((plain, ""), (eased, " with activation checkpointing"))
    sizes = [f"{fit.layout.micro_batch:g}{words}" for fit, words in pairs if fit]
    return f"Largest micro-batch that surely fits: {', '.join(sizes)}." if sizes else ""


def network_line(question: ResourceQuestion, model: SizedModel, best: ResourceOption) -> str:
    """A warning where a step's traffic is not small against its arithmetic, with what lifts it, cheapest first."""
    if best.nodes < 2 or not best.fit.device.network or best.fit.layout.pipeline > 1:
        return ""
    running = running_fit(question, model, best.fit)
    ratio = compute_ratio(model, running.layout, best.fit.device)
    if ratio is None or ratio >= GOOD_RATIO:
        return ""
    told = f"Between nodes a step computes {ratio:.1f} times as long as it sends (10 is good, below 3 it waits)"
    if ratio >= WARN_RATIO:
        return f"{told}."
    lifts = list(lifted_by(model, running))
    cure = f" What lifts it: {', '.join(lifts)}." if lifts else ""
    return f"**The network will hold it up.** {told}.{cure}"


def lifted_by(model: SizedModel, fit: Fit) -> Iterator[str]:
    """What makes a step's traffic small against its arithmetic and is possible with that layout on those nodes."""
    layout, device = fit.layout, fit.device
    sharded = layout.spread in ("fsdp", "zero3")
    eased = largest_micro_batch(model, replace(layout, recompute="full"), device)
    if eased and eased.layout.micro_batch > layout.micro_batch:
        ratio = compute_ratio(model, eased.layout, device)
        yield f"micro-batch {eased.layout.micro_batch:g} with activation checkpointing ({ratio or 0:.1f} times then)"
    if not sharded:
        yield "accumulation with `no_sync()`"
    inside = replace(layout, shard=device.each // layout.tensor)
    if sharded and device.each > layout.tensor and ease(model, inside, device).verdict == "fits":
        yield "sharding inside a node only (HYBRID_SHARD)"
    fewer = replace(layout, gpus=device.each * (fit.nodes // 2))
    if (
        fit.nodes > 1
        and fewer.gpus % (layout.tensor * layout.pipeline) == 0
        and ease(model, fewer, device).verdict == "fits"
    ):
        yield "fewer nodes"
    if layout.method == "full":
        yield "adapters instead of all parameters"


def time_line(question: ResourceQuestion, model: SizedModel, best: ResourceOption) -> str:
    """Hours for the amount that was said, with the formula; else what speed to expect."""
    total = amount(question, model)
    rate = best.rate
    unit = "images" if model.shape.kind == "convolution" else "tokens"
    where = " on all of them" if best.fit.layout.gpus > 1 else ""
    speed = f"Speed: {range_words(rate, f'{unit} a second')}{where}" if rate else ""
    if not total or not best.hours:
        return _sentence(speed)
    flops = flops_per_token(model, best.fit.layout.sequence, best.fit.layout.method) * total
    limit = best.chain.limit_h if best.chain else None
    layout = best.fit.layout
    trained = adapter_parameters(model, layout.rank) if layout.method in ("lora", "qlora") else None
    saving = plan_saving(model, layout.gpus, best.nodes, limit * 3600 if limit else None, trained=trained)
    every = f"{saving.interval_s / 3600:.0f} h" if saving.interval_s >= 7200 else f"{saving.interval_s / 60:.0f} min"
    size = f"{saving.size_gb:,.0f}" if saving.size_gb >= 10 else f"{saving.size_gb:.2g}"
    save = f"Save at least every {every} and before the limit (a checkpoint is {size} GB)"
    return (
        f"{count_words(total)} {unit} are {flops:.2g} FLOP: {hours_words(best.hours)}, an estimate from published "
        f"utilisation of {best.fit.device.facts.model}. {RESERVE} {save}."
    )


def offered(question: ResourceQuestion, model: SizedModel, options: Sequence[ResourceOption]) -> Choices | None:
    """The ways that hold the model on a machine, the first of them usual; each with what its script is asked for."""
    rows: dict[str, Choice] = {}
    for option in options:
        told = running_line(question, model, option)
        if option.accepted and told not in rows and (change := request_change(question, model, option)):
            rows[told] = Choice(request_words(option), told, option is options[0], change)
    return Choices(tuple(rows.values())) if rows else None


def running_line(question: ResourceQuestion, model: SizedModel, option: ResourceOption) -> str:
    """An option with the micro-batch of its script."""
    fit = running_fit(question, model, option.fit)
    return f"{option_line(replace(option, fit=fit))}, micro-batch {fit.layout.micro_batch:g}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def describe_serving(question: ResourceQuestion, model: SizedModel) -> Document:
    """The fewest GPUs of each kind that serve the model, with the cache of keys and values."""
    lines = [mine_line(question)]
    for device, cluster in known_devices(question):
        for one in precisions(question):
            lines.append(serving_line(replace(question, precision=one), model, device, cluster))
    pages = [SERVING_SOURCE, *(device.source for device, _ in known_devices(question))]
    return write_document(*dict.fromkeys(lines), cite([page for page in pages if page], gpu_table().as_of))


def precisions(question: ResourceQuestion) -> tuple[str | None, ...]:
    """Each precision of the weights that was asked about."""
    return (question.precision, *question.or_precisions)


def serving_line(question: ResourceQuestion, model: SizedModel, device: Device, cluster: Cluster | None = None) -> str:
    """`4 x A100 40 GB: weights 33 GiB on each, ...`; a number of GPUs that was said is judged."""
    length, weights = question.sequence or 8192, question.precision or "bf16"
    node = device.per_node
    least = fewest_gpus_to_serve(model, device.gb, length, weights, question.users or FEW_SEQUENCES, node)
    gpus = wanted_gpus(question, device) or question.tensor or least
    if gpus is None:
        return f"{device.name}: not even 64 serve it in {weights}; take 8- or 4-bit weights, or a larger card."
    found, each = estimate_serving(model, device.gb, gpus, length, weights, node), cache_bytes(model) / 1024
    wanted = each * length * (question.users or 0) / 2**20
    if found.sequences and question.users and found.sequences < question.users:
        return (
            f"**No: {gpus} x {device.name}** hold {plural(found.sequences, 'sequence')} of {length} at once beside the "
            f"{found.weights:.0f} GiB of weights of {model.name} on each, not {question.users} ({wanted:.1f} GiB of "
            f"keys and values); {f'it takes {least}' if least else 'more than 64 would be needed'}. Others wait in the "
            "queue."
        )
    if not found.sequences:
        left = (
            f"leave {found.free:.1f} GiB for keys and values, and one sequence of {length} takes {found.cache_each:.1f}"
            if found.free > 0
            else "leave nothing for keys and values"
        )
        return (
            f"**No: {gpus} x {device.name}** do not serve {model.name} in {weights}: weights {found.weights:.0f} GiB "
            f"on each and {RUNTIME_GIB:g} for the runtime of {SERVED_SHARE * device.gb:.0f} that vLLM takes {left}; "
            f"{f'it takes {least}' if least else 'more than 64 would be needed'}."
            f"{_lighter(model, device, gpus, length)}"
        )
    where = f" ({plural(device.nodes_for(gpus), 'node')} of {cluster.title})" if cluster else ""
    return (
        f"**{gpus} x {device.name}** serve {model.name} in {weights}{where}: weights {found.weights:.0f} GiB on each, "
        f"keys and values {each:.4g} KiB a token, {each * length / 2**20:.2f} GiB for a sequence of {length} "
        f"({found.cache_each:.2f} on each GPU), {plural(found.sequences, 'such sequence')} at once, "
        f"{found.sequences * length:,} tokens in {found.free:.0f} GiB that are left on each (vLLM takes 0.9 of the "
        f"card; {spread_words(model, gpus, node)})."
        f"{_scarce(question, model, device, gpus, least)}"
    )


def spread_words(model: SizedModel, gpus: int, each: int | None) -> str:
    """How a served model is spread over GPUs, and what of that a cache of latent attention gains nothing by."""
    told = f"tensor parallel {each} in each node, pipeline parallel {gpus // each}" if each and gpus > each else ""
    told = told or ("tensor parallel over them" if gpus > 1 else "one GPU")
    return told + (", and each holds the whole latent cache" if model.shape.latent and gpus > 1 else "")


def _scarce(question: ResourceQuestion, model: SizedModel, device: Device, gpus: int, least: int | None) -> str:
    """That there is hardly room for keys and values, and what gives more; empty where there is enough."""
    length = question.sequence or 8192
    found = estimate_serving(model, device.gb, gpus, length, question.precision or "bf16", device.per_node)
    if question.users or found.sequences >= FEW_SEQUENCES:
        return ""
    more = f" {least} x {device.name} hold {FEW_SEQUENCES} and more." if least else ""
    return (
        f" **That is tight**: set `--max-model-len {length}` or less, else vLLM does not start with the model's own "
        f"longer limit.{more}{_lighter(model, device, gpus, length)}"
    )


def _lighter(model: SizedModel, device: Device, gpus: int, length: int) -> str:
    """How many sequences the same GPUs serve with smaller weights."""
    told = [
        f"{found.sequences} in {weights}"
        for weights in ("fp8", "int4")
        if (found := estimate_serving(model, device.gb, gpus, length, weights, device.per_node)).sequences
    ]
    return f" With smaller weights the same GPUs hold sequences of {length}: {', '.join(told)}." if told else ""


def least_line(question: ResourceQuestion, model: SizedModel) -> str:
    """How many GPUs the states alone take, were they spread over all: never fewer than that."""
    told = {
        device.name: math.ceil(model.parameters * 16 / 2**30 / usable_gib(device.gb))
        for device, _ in known_devices(question)
    }
    least = ", ".join(f"{gpus:,} x {name}" for name, gpus in list(told.items())[:3])
    return (
        f" Never on fewer than {least}: those the states alone fill."
        if least and question.task in (None, "train")
        else ""
    )


def fewest_line(options: Sequence[ResourceOption]) -> str:
    """A way that holds it on fewer GPUs of the same machine than the one that costs the fewest node hours."""
    best = options[0]
    same = [one for one in options if one.cluster == best.cluster and one.fit.verdict == "fits"]
    least = min(same, key=lambda one: one.fit.layout.gpus, default=best)
    if best.fit.verdict != "fits" or 2 * least.fit.layout.gpus > best.fit.layout.gpus:
        return ""
    return f"The fewest that hold it: {option_line(least)}; it costs more node hours."


def enough_line(question: ResourceQuestion, model: SizedModel, best: ResourceOption) -> str:
    """Where more than enough was said: the fewest that surely hold it there."""
    if not (question.nodes or question.gpus) or best.fit.verdict != "fits" or best.fit.layout.gpus == 1:
        return ""
    there = (best.cluster.id,) if best.cluster else ()
    found = fewest_there(replace(question, machines=there, gpu=best.fit.device.facts.model), model)
    if not found or found[0].fit.layout.gpus >= best.fit.layout.gpus:
        return ""
    return f"The fewest that surely hold it: {option_line(found[0])}, of the numbers that people ask for."


def tight_line(question: ResourceQuestion, model: SizedModel, best: ResourceOption) -> str:
    """From how many GPUs on the same way may fit, though not surely. Empty where a number was said."""
    device = best.fit.device
    if question.nodes or question.gpus or best.fit.verdict != "fits" or best.cluster is None:
        return ""
    for gpus in counts(device, best.nodes):
        layout = replace(best.fit.layout, gpus=gpus)
        if gpus >= best.fit.layout.gpus or gpus % (layout.tensor * layout.pipeline):
            continue
        if (fit := ease(model, layout, device)).verdict == "tight":
            return f"It may fit, tight, from {place_words(replace(best, fit=fit))} on ({memory_words(fit)})."
    return ""


def host_line(model: SizedModel, best: ResourceOption) -> str:
    """Main memory that an offloaded optimizer takes on each node."""
    if not best.fit.layout.offload_optimizer:
        return ""
    need = host_gb(model, host_nodes(best.fit))
    room = best.fit.device.host_gb
    short = room is not None and need > room
    bare = f", {need / 1.5:,.0f} of them states and half as much again buffers, as DeepSpeed's estimator counts"
    of = f" of {room:,.0f} GB" if room else "; what a node has is not known here"
    why = "**It is main memory that does not hold it**, not the GPU. " if short else ""
    told = f"{why}Offloaded: about {need:,.0f} GB of main memory on each node{of}{bare}."
    return f"{told} Steps wait for the CPU: far slower."


def _nothing_fits(question: ResourceQuestion, model: SizedModel) -> Document:
    kinds = ", ".join(dict.fromkeys(device.name for device, _ in known_devices(question)))
    each = QLORA_BYTES if question.task == "qlora" else 2.0 if question.task == "lora" else 16.0
    adapters = question.task in ("lora", "qlora")
    return write_document(
        mine_line(question),
        *[line for pair in known_devices(question)[:1] for line in premise_lines(question, *pair)],
        f"**Nothing that I can vouch for holds {model.name} there** ({kinds or 'no GPU of known memory'}): "
        f"{count_words(model.parameters)} parameters x {each:g} bytes = {model.parameters * each / 1e9:,.0f} GB of "
        f"{'frozen weights' if adapters else 'states'}, and what is tried of its GPUs does not hold them."
        f"{least_line(question, model)}",
        from_here(question, model),
        cite(SOURCES, gpu_table().as_of),
    )
