"""What would do: for each machine and kind of node the ways that hold the model, with their time and their price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from graph.planning.resources.device import Device, bare_device, devices
from graph.planning.resources.layout import Beside, Layout, Loss, Optimizer, Spread
from graph.planning.resources.limits import JobChain, chains
from graph.planning.resources.parameters import SizedModel
from graph.planning.resources.search import LADDER, Fit, best_split, ease, fewest, largest_micro_batch, try_layout
from graph.planning.resources.speed import Range, tokens_per_second, training_hours
from graph.reading.gpu_words import gpu_of
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.gpu_facts import gpu_table, unknown_gpus
from knowledge.resource_question import ResourceQuestion

SPREADS: dict[str, Spread] = {"ddp": "ddp", "zero1": "zero1", "zero2": "zero2", "zero3": "zero3", "fsdp": "fsdp"}
OPTIMIZERS: dict[str, Optimizer] = {"adam": "adam", "adam8bit": "adam8bit", "sgd": "sgd", "adafactor": "adafactor"}
BESIDE: dict[str, Beside] = {"reference": "reference", "several": "several", "ema": "ema"}
SEQUENCE, IMAGE_SEQUENCE, LORA_RANK = 4096, 197, 16
# Where FSDP alone takes more nodes, a split inside the node is weighed too.
MANY_NODES, WHOLE_NODE = 16, 8
# What stands for a GPU where none is named; of one that is told by its memory alone, speed is an A100's.
ANY = ""
COMMON = (("A100", 40.0), ("A100", 80.0), ("H100", 80.0))


@dataclass(frozen=True, slots=True)
class ResourceOption:
    """One way on one machine. rate: tokens (or images) a second of all GPUs; hours: for what was asked, None where no
    amount was said; chain: the queue and how many jobs; cluster None: a GPU of no machine."""

    fit: Fit
    cluster: Cluster | None = None
    rate: Range | None = None
    hours: Range | None = None
    chain: JobChain | None = None

    @property
    def accepted(self) -> bool:
        """Whether a queue takes it; of no machine nobody has to."""
        return self.cluster is None or self.chain is not None

    @property
    def nodes(self) -> int:
        return self.fit.nodes

    @property
    def node_hours(self) -> Range | None:
        """Hours of nodes; some GPUs of a node that others share count as their part of it."""
        if self.hours is None:
            return None
        queue, gpus, each = self.chain.queue if self.chain else None, self.fit.layout.gpus, self.fit.device.each
        whole = queue is None or queue.whole_nodes or bool(self.cluster and self.cluster.whole_nodes)
        return self.hours.scaled(self.nodes if whole or gpus >= each else gpus / each)


def base_layout(question: ResourceQuestion, model: SizedModel) -> Layout:
    """What the question fixes of the layout; else one sequence of the model's length a device."""
    usual = model.shape.sequence or (IMAGE_SEQUENCE if model.shape.kind == "convolution" else SEQUENCE)
    usual = min(usual, model.shape.positions or usual)
    method = question.task if question.task in ("lora", "qlora") else "full"
    return Layout(
        spread=SPREADS.get(question.strategy or "", sharding(question)),
        tensor=question.tensor or 1,
        pipeline=question.pipeline or 1,
        micro_batch=question.micro_batch or 1,
        sequence=question.sequence or usual,
        precision="fp32" if question.precision == "fp32" else "pure" if question.precision == "pure" else "mixed",
        optimizer=OPTIMIZERS.get(question.optimizer or "", "adam"),
        recompute="none" if question.recompute == "none" else "full",
        settled=question.recompute is not None,
        loss=loss_of(question, model),
        rank=question.lora_rank or LORA_RANK,
        flash=question.attention != "eager",
        beside=BESIDE.get(question.beside or "", "none"),
        offload_optimizer=question.offload is not None,
        offload_parameters=question.offload == "parameters",
        method="qlora" if method == "qlora" else "lora" if method == "lora" else "full",
    )


def loss_of(question: ResourceQuestion, model: SizedModel) -> Loss:
    """How the loss is taken; only an encoder's head of a few classes has no logits over the words."""
    if question.loss == "none":
        return "none" if model.shape.kind == "encoder" else "plain"
    return "fused" if question.loss else "plain"


def sharding(question: ResourceQuestion) -> Spread:
    """How everything is sharded where nothing was said of it."""
    return "zero3" if question.denies("strategy", "fsdp") else "fsdp"


def known_devices(question: ResourceQuestion) -> list[tuple[Device, Cluster | None]]:
    """The devices that the question is about: of its machines, or of the GPU named, or usual ones."""
    clusters = [c for name in question.machines if (c := catalogue().find(name))]
    found: list[tuple[Device, Cluster | None]] = []
    for cluster in clusters:
        there = devices(cluster)
        queue = cluster.queue(question.queue) if question.queue else None
        against = [name for name in question.or_gpus if name != question.gpu]  # what the queue's own are set against
        there = tuple(d for d in there if queue is None or d.node_type in queue.node_types or d.facts.model in against)
        there = there or devices(cluster)
        meant = [device for device in there if _is_meant(device, question)]
        # A GPU that is named belongs to one of several machines.
        found += [(device, cluster) for device in meant or (there if len(clusters) > 1 else ())]
    found = found or [(device, None) for device in _bare(question)]
    said = question.host_gb  # what the person says of a node's main memory counts before our facts
    return [(replace(device, host_gb=said), cluster) for device, cluster in found] if said else found


def named_devices(text: str, clusters: Sequence[Cluster]) -> dict[str, object]:
    """The fields of a question that a card's name (`A100-80`), a kind of node or a queue of a machine, with all kinds
    of node of it, stands for; empty where it is none of these."""
    for cluster in clusters:
        kinds = {one.node_type: one for one in devices(cluster)}
        if (queue := cluster.queue(text)) and kinds.keys() & set(queue.node_types):
            return {"queue": queue.id}
        if one := kinds.get(text):
            return {"gpu": one.facts.model, "gpu_gb": one.gb + one.facts.host_gb, "each": one.per_node}
    card = gpu_of(text)
    return {"gpu": card.model, "gpu_gb": card.gb} if card and card.model and not card.count else {}


def _is_meant(device: Device, question: ResourceQuestion) -> bool:
    named = [name.lower() for name in (question.gpu, *question.or_gpus) if name]
    same = not named or device.facts.model.lower() in named
    label = device.gb + device.facts.host_gb
    sizes = (label, 2 * label) if device.kind != "GPU" else (label,)
    sized = not question.gpu_gb or any(abs(size - question.gpu_gb) < 2 for size in sizes)
    return same and sized and (not question.each or question.each in (device.per_node, device.cards))


def _bare(question: ResourceQuestion) -> Iterator[Device]:
    named = question.gpu
    if named in unknown_gpus():
        return
    sizes = [gb for gpu in gpu_table().gpus if gpu.model == named for gb in gpu.gb]
    pairs: Iterable[tuple[str, float]] = [(named, gb) for gb in sizes] if named else COMMON
    if question.gpu_gb:
        pairs = ((named or ANY, question.gpu_gb),)
    for model, gb in pairs:
        device = bare_device("A100" if model == ANY else model, gb)
        if device:
            yield replace(device, name=f"GPU with {gb:g} GB") if model == ANY else device
    for other in question.or_gpus:
        yield from _bare(replace(question, gpu=other, gpu_gb=None, or_gpus=()))


def wanted_gpus(question: ResourceQuestion, device: Device) -> int | None:
    """The number of GPUs asked about; None where none was said. Beside nodes, no more GPUs than one has are those of
    each node."""
    if question.nodes and device.per_node is None:
        each = question.each or (question.gpus if (question.gpus or 0) <= WHOLE_NODE else None)
        return question.gpus if question.gpus and not each else question.nodes * (each or WHOLE_NODE)
    if question.nodes and question.gpus:
        return question.gpus if question.gpus > device.each else question.nodes * question.gpus
    return question.nodes * device.each if question.nodes else question.gpus


def amount(question: ResourceQuestion, model: SizedModel) -> float | None:
    """Tokens (of images: their patches) to be worked through; None where none was said."""
    each = question.sequence or model.shape.sequence or (SEQUENCE if model.shape.kind == "decoder" else 1)
    if question.tokens:
        return question.tokens * (question.epochs or 1)
    if question.steps and (question.global_batch or question.micro_batch):
        return question.steps * (question.global_batch or _of_all(question)) * each
    if question.samples:
        return question.samples * (question.epochs or 1) * (each if model.shape.kind != "convolution" else 1)
    return None


def _of_all(question: ResourceQuestion) -> int:
    """The batch of one step: micro-batch x accumulation x the GPUs that each have their own, as far as said."""
    device = next((device for device, _ in known_devices(question)), None)
    gpus = (wanted_gpus(question, device) if device else question.gpus) or 1
    shared = (question.tensor or 1) * (question.pipeline or 1)
    return (question.micro_batch or 1) * (question.accumulation or 1) * max(1, gpus // shared)


def host_gb(model: SizedModel, nodes: int) -> float:
    """GB of main memory that an offloaded optimizer takes on each node: 16 bytes a parameter and half as much again for
    buffers, as DeepSpeed's estimator counts."""
    return 1.5 * 16.0 * model.parameters / 1e9 / max(1, nodes)


def host_nodes(fit: Fit) -> int:
    """Nodes that share an offloaded optimizer; GPUs of no machine are taken for eight in a node."""
    return -(-fit.layout.gpus // (fit.device.per_node or WHOLE_NODE))


def make_option(question: ResourceQuestion, model: SizedModel, fit: Fit, cluster: Cluster | None) -> ResourceOption:
    """A fit with its speed, hours and queue. A pipeline is run with four micro-batches a stage."""
    host = fit.device.host_gb
    if fit.layout.offload_optimizer and host and host_gb(model, host_nodes(fit)) > host:
        fit = replace(fit, verdict="no")
    accumulate = 4 * fit.layout.pipeline if fit.layout.pipeline > 1 else 1
    if fit.layout.beside == "several" and fit.verdict == "fits":
        fit = replace(fit, verdict="tight")
    total = amount(question, model)
    running = running_fit(question, model, fit).layout
    rate = tokens_per_second(model, running, fit.device, accumulate).scaled(fit.layout.gpus)
    hours = training_hours(model, total, running, fit.device, accumulate) if total else None
    chain = None
    if cluster:
        wanted = hours.usual if hours else question.hours or 1.0
        part, named = fit.layout.gpus < fit.device.each, question.queue
        found = chains(cluster, fit.device.node_type, fit.nodes, wanted, fit.layout.gpus, part=part, named=named)
        chain = next((one for one in found if one.queue.id == question.queue), found[0] if found else None)
    return ResourceOption(fit, cluster, rate, hours, chain)


def running_fit(question: ResourceQuestion, model: SizedModel, fit: Fit) -> Fit:
    """With the micro-batch that one would run: what was said, or follows from a global batch, else the largest."""
    if question.micro_batch or fit.layout.micro_batch > 1 or model.unsure:
        return fit
    return largest_micro_batch(model, fit.layout, fit.device) or fit


def ways(question: ResourceQuestion, model: SizedModel, device: Device, cluster: Cluster | None) -> list[Fit]:
    """The layouts worth telling on one device, simplest first: as asked where a number of GPUs was said, else the
    fewest GPUs of each kind."""
    base = base_layout(question, model)
    if device.facts.host_gb:  # main memory is the same memory
        base = replace(base, offload_optimizer=False, offload_parameters=False)
    count = wanted_gpus(question, device)
    if question.strategy in SPREADS:
        spreads: Sequence[Spread] = (base.spread,)
    elif base.tensor * base.pipeline > 1:  # as Megatron does: the optimizer over the copies, unless that is denied
        whole: Spread = "ddp" if question.denies("strategy", "zero1") else "zero1"
        spreads = (whole,) if base.pipeline > 1 else (whole, base.spread)
    else:
        wanted: tuple[Spread, ...] = ("ddp", sharding(question))
        spreads = [one for one in wanted if not question.denies("strategy", one)] or ("zero1",)
    if count:
        share = partial(shared_batch, question, model, device)
        fits = [share(replace(base, spread=s if count > 1 else "none", gpus=count)) for s in spreads]
        free = count > 1 and not question.strategy and not splits_denied(question)
        free = free and base.method != "qlora"  # Megatron trains no adapters on a base of 4 bit
        split = best_split(model, replace(base, spread="zero1", gpus=count), device) if free else None
        large = device.nodes_for(count) >= MANY_NODES
        if free and split is None and base.method == "full" and not large:  # where an open question weighs it, too
            alone = fewest(model, replace(base, spread=sharding(question)), device, _most_nodes(cluster, device))
            large = alone is None or alone.nodes > MANY_NODES
        if free and split is None and large and (tensor := _inside(model, device)) > 1 and count % tensor == 0:
            inside = ease(model, replace(base, spread=sharding(question), gpus=count, tensor=tensor), device)
            split = inside if inside.verdict != "no" else None
        return [*fits[: 1 if count == 1 else 3], *([split] if split and fits[-1].verdict != "fits" else [])]
    most = _most_nodes(cluster, device)
    found = [f for s in spreads if (f := fewest(model, replace(base, spread=s), device, most))]
    if found and found[0].layout.gpus == 1:
        return found[:1]
    if (found and found[-1].nodes <= MANY_NODES) or splits_denied(question):
        return found
    single = replace(base, spread=sharding(question), micro_batch=1)
    if not found and base.micro_batch > 1 and fewest(model, single, device, most):
        return []  # it is the batch that does not fit: a smaller one does, and no layer has to be split
    return [*found, *_split_inside(model, base, device, most)]


def shared_batch(question: ResourceQuestion, model: SizedModel, device: Device, layout: Layout) -> Fit:
    """That layout, with its part of a global batch that was said as its micro-batch: all of it where that fits, else
    the largest half, quarter ... that does, the rest in accumulation."""
    fit = ease(model, layout, device)
    if question.micro_batch or not question.global_batch or fit.verdict != "fits":
        return fit
    part = question.global_batch // layout.data
    while part > 1:
        for recompute in (fit.layout.recompute,) if layout.settled else LADDER:
            tried = try_layout(model, replace(layout, micro_batch=part, recompute=recompute), device)
            if tried.verdict == "fits":
                return tried
        part = part // 2 if part % 2 == 0 else 1
    return fit


def splits_denied(question: ResourceQuestion) -> bool:
    """Whether the layers themselves are not to be split."""
    return question.denies("strategy", "tp") or question.denies("strategy", "pp")


def _split_inside(model: SizedModel, base: Layout, device: Device, most: int | None) -> list[Fit]:
    """FSDP with each layer also split over the GPUs of a node, as torchtitan does: for models whose single layers are
    large. A GPU of no machine is taken for one of eight."""
    tensor = _inside(model, device)
    if tensor == 1 or base.method != "full" or base.tensor * base.pipeline > 1 or base.spread not in ("fsdp", "zero3"):
        return []
    fit = fewest(model, replace(base, tensor=tensor), device, most)
    return [fit] if fit else []


def _inside(model: SizedModel, device: Device) -> int:
    """The widest split of a layer over the GPUs of one node."""
    shape, each = model.shape, device.per_node or WHOLE_NODE
    return next((t for t in (8, 4, 2) if each % t == 0 and shape.heads % t == 0 and shape.ffn % t == 0), 1)


def _most_nodes(cluster: Cluster | None, device: Device) -> int | None:
    """The largest job that some queue of the machine takes; None: no limit is known."""
    if cluster is None:
        return None
    limits = [q.max_nodes for q in cluster.queues if device.node_type in q.node_types and q.purpose == "production"]
    return None if not limits or None in limits else max(limit for limit in limits if limit)


def all_options(question: ResourceQuestion, model: SizedModel) -> list[ResourceOption]:
    """Every way on every device that is meant; those that no queue takes are left out where others are there."""
    found = [
        make_option(question, model, fit, cluster)
        for device, cluster in known_devices(question)
        for fit in ways(question, model, device, cluster)
    ]
    reachable = [option for option in found if option.cluster is None or option.chain]
    return reachable or found
