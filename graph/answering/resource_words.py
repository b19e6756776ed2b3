"""Plans of resources in words: an option in a line, the parts of a sum, hours and prices as ranges."""

from __future__ import annotations

from graph.planning.queues import plural
from graph.planning.resources.limits import JobChain
from graph.planning.resources.memory import QLORA_BYTES, state_bytes, usable_gib
from graph.planning.resources.options import ResourceOption
from graph.planning.resources.parameters import SizedModel
from graph.planning.resources.search import Fit
from graph.planning.resources.speed import Range

WAYS = {"none": "one GPU", "ddp": "DDP", "zero1": "ZeRO-1", "zero2": "ZeRO-2", "zero3": "ZeRO-3", "fsdp": "FSDP"}
VERDICTS = {"fits": "fits", "tight": "is tight", "no": "does not fit"}


def count_words(number: float) -> str:
    """`8.03 B`, `86.6 M`, `2.6e+10` as a person writes it."""
    for scale, unit in ((1e12, " T"), (1e9, " B"), (1e6, " M"), (1e3, " k")):
        if number >= scale:
            return f"{number / scale:.3g}{unit}"
    return f"{number:.3g}"


def round_words(number: float) -> str:
    """Two digits that count, without an exponent: 417 -> 420."""
    if number <= 0:
        return "0"
    return f"{float(f'{number:.2g}'):,.10g}"


def range_words(found: Range, unit: str) -> str:
    """`about 420 GPU hours (330 to 600)`."""
    told, low, best = (round_words(value) for value in (found.usual, found.low, found.best))
    return f"about {told} {unit}" if low == best else f"about {told} {unit} ({low} to {best})"


def hours_words(found: Range) -> str:
    """Hours, or days from four days on."""
    if found.usual >= 96:
        return range_words(found.scaled(1 / 24), "days")
    if found.usual < 1 / 60:
        return "less than a minute"
    if found.usual < 1:
        return range_words(found.scaled(60), "minutes")
    return range_words(found, "h")


def way_words(fit: Fit) -> str:
    """`FSDP`, `ZeRO-1 with TP 4 and PP 2`, `LoRA with DDP`."""
    layout = fit.layout
    split = [f"{name} {degree}" for name, degree in (("TP", layout.tensor), ("PP", layout.pipeline)) if degree > 1]
    way = WAYS[layout.spread] if layout.gpus > 1 else "one GPU"
    method = {"lora": "LoRA, ", "qlora": "QLoRA, "}.get(layout.method, "")
    off = ", the optimizer in main memory" if layout.offload_optimizer else ""
    return method + way + (f" with {' and '.join(split)}" if split else "") + off


def is_whole(fit: Fit) -> bool:
    """Whether it takes whole nodes of a machine."""
    return fit.device.per_node is not None and fit.layout.gpus >= fit.device.per_node


def place_words(option: ResourceOption) -> str:
    """`1 node of Perlmutter (4 x A100 80 GB)`, `8 x H100 80 GB`."""
    fit, gpus = option.fit, option.fit.layout.gpus
    cards = f"{gpus} x {fit.device.name}" + ("" if fit.device.kind == "GPU" else f" {fit.device.kind}")
    if option.cluster is None:
        return cards
    where = (
        plural(fit.nodes, "node") if is_whole(fit) else f"{gpus} of {fit.device.per_node} {fit.device.kind}s of a node"
    )
    return f"{where} of {option.cluster.title} ({cards})"


def gib_words(fit: Fit) -> str:
    """`28 to 32`, of GiB on one GPU, with `tight` where it is."""
    tight = ", tight" if fit.verdict == "tight" else ""
    return f"{fit.memory.gib:.0f} to {fit.memory.most:.0f}{tight}"


def memory_words(fit: Fit) -> str:
    """`28 to 32 of 35 GiB on each`."""
    room = usable_gib(fit.device.gb)
    return f"{fit.memory.gib:.0f} to {fit.memory.most:.0f} GiB on each of {room:.0f} usable"


def parts_words(fit: Fit, *, worst: bool = True) -> str:
    """The sum: `states 15.0 (8.03 B parameters x 16 bytes over 8 GPUs) + activations 1.0 + ... GiB`."""
    parts = [
        f"{part.name} {part.gib:.1f}" + (f" ({part.how})" if part.how and part.gib >= 0.5 else "")
        for part in fit.memory.parts
        if part.gib >= 0.05
    ]
    at_worst = f", at worst {fit.memory.most:.0f}" if worst else ""
    return f"{' + '.join(parts)} = {fit.memory.gib:.0f} GiB{at_worst}"


def states_words(model: SizedModel, fit: Fit) -> str:
    """`8.03 B parameters x 16 bytes = 128 GB of states`; of adapters `x 2 bytes = 16 GB of frozen weights`."""
    frozen = {"lora": 2.0, "qlora": QLORA_BYTES}.get(fit.layout.method)
    each = frozen or state_bytes(fit.layout).total
    total = model.parameters * each / 1e9
    size = f"{total:,.0f}" if total >= 100 else f"{total:.3g}"
    what = "frozen weights" if frozen else "states"
    return f"{count_words(model.parameters)} parameters x {each:g} bytes = {size} GB of {what}"


def chain_words(chain: JobChain | None, nodes: int, hours: Range | None) -> str:
    """The queue and its limit, and the chain that the hours need."""
    if chain is None:
        return ""
    limit = f"up to {chain.limit_h:g} h at once" if chain.limit_h else "no time limit known"
    told = f"queue `{chain.queue.id}` takes {plural(nodes, 'node')}, {limit}"
    if hours and chain.jobs > 1:
        told += f": {chain.jobs} jobs in a chain, each going on from the last checkpoint"
    return told


def option_line(option: ResourceOption) -> str:
    """One option in a line."""
    told = f"{way_words(option.fit)} on {place_words(option)}: {memory_words(option.fit)}"
    if option.fit.verdict != "fits":
        told += f", {VERDICTS[option.fit.verdict]}"
    if option.fit.layout.recompute == "full":
        told += ", with activation checkpointing"
    if option.hours:
        told += f"; {hours_words(option.hours)}"
        nodes = option.node_hours
        if option.cluster and nodes:
            told += f", {round_words(nodes.usual)} node hours"
    return told


def request_words(option: ResourceOption) -> str:
    """What to say to get its script: `fsdp on perlmutter, 2 nodes`."""
    layout = option.fit.layout
    way: str = layout.spread if layout.gpus > 1 else "one GPU"
    if layout.spread == "fsdp" and layout.tensor > 1 and layout.pipeline == 1:
        way = f"torchtitan fsdp with tp {layout.tensor}"
    elif layout.tensor * layout.pipeline > 1:
        way = f"megatron with tp {layout.tensor} and pp {layout.pipeline}"
    where = f" on {option.cluster.id}" if option.cluster else ""
    size = plural(option.fit.nodes, "node") if is_whole(option.fit) else plural(layout.gpus, "GPU")
    return f"{way}{where}, {size}"
