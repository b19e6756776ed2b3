"""Machines side by side: compute, memory, fabric, limits, the way out; as rows, and as an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from graph.answering.situation import cite, write_document
from graph.planning.charging import is_whole
from graph.planning.resources.communication import tokens_for_ratio
from graph.planning.resources.device import Device, devices
from graph.planning.resources.limits import longest_hours
from knowledge.cluster import VENDORS, Cluster, NodeType
from knowledge.document import Code, Document
from knowledge.general_facts import FrameworkBuilds, framework_builds

STACKS = {"nvidia": "CUDA", "amd": "ROCm", "intel": "XPU"}
POWER = re.compile(r"(?i)ppc64le|power ?9")
# What is there already and runs on no Arm processor.
X86 = re.compile(r"(?i)\bx86(?:[_-]64)?\b|\bamd64\b")
MachineNodes = tuple[Cluster, NodeType]
INTERNET = {"yes": "yes", "no": "no", "proxy": "by proxy", "unknown": "?"}


@dataclass(frozen=True, slots=True)
class MachineRow:
    """One kind of GPU node of a machine. gb: of a device; tflops: dense peak of a device in 16 bit; network: GB/s that
    a node reaches to others (0: not known); longest_h: of a production job of one node (None: not known)."""

    machine: str
    node_type: str
    gpu: str
    devices: int | None
    gb: float
    tflops: float
    node_tflops: float
    host_gb: float | None
    network: float
    batch_tokens: int | None
    nodes: int | None
    longest_h: float | None
    scheduler: str
    internet: str
    as_of: str


def machine_rows(clusters: Iterable[Cluster]) -> list[MachineRow]:
    """A row for each kind of GPU node whose memory and peak are known."""
    return [_row(cluster, device) for cluster in clusters for device in devices(cluster)]


def _row(cluster: Cluster, device: Device) -> MachineRow:
    limits = [
        limit
        for queue in cluster.queues
        if device.node_type in queue.node_types and queue.purpose == "production"
        if (limit := longest_hours(queue, max(1, queue.min_nodes)))
    ]
    return MachineRow(
        machine=cluster.id,
        node_type=device.node_type,
        gpu=device.facts.model,
        devices=device.per_node,
        gb=device.gb,
        tflops=device.facts.tflops,
        node_tflops=device.facts.tflops * device.each,
        host_gb=device.host_gb,
        network=device.network,
        batch_tokens=tokens_for_ratio(3, device) if device.network else None,
        nodes=device.node_count,
        longest_h=max(limits) if limits else None,
        scheduler=cluster.scheduler,
        internet=INTERNET[cluster.internet.access],
        as_of=cluster.as_of,
    )


def _number(value: float | int | None) -> str:
    return "?" if not value else f"{value:,.4g}" if value < 10_000 else f"{value:,.0f}"


Cell = Callable[[MachineRow], str]
COLUMNS: tuple[tuple[str, Cell], ...] = (
    ("machine", lambda r: r.machine),
    ("nodes of", lambda r: r.node_type),
    ("GPUs", lambda r: f"{r.devices or '?'} x {r.gpu}"),
    ("GB each", lambda r: _number(r.gb)),
    ("TFLOP/s each", lambda r: _number(r.tflops)),
    ("a node", lambda r: _number(r.node_tflops)),
    ("host GB", lambda r: _number(r.host_gb)),
    ("network GB/s", lambda r: _number(r.network)),
    ("nodes", lambda r: _number(r.nodes)),
    ("longest h", lambda r: _number(r.longest_h)),
    ("scheduler", lambda r: r.scheduler),
    ("internet", lambda r: r.internet),
    ("facts of", lambda r: r.as_of),
)


def table_text(rows: Sequence[MachineRow]) -> str:
    """The rows as aligned text; `?` is what the facts do not say."""
    cells = [[name for name, _ in COLUMNS], *([cell(row) for _, cell in COLUMNS] for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(COLUMNS))]
    return "\n".join("  ".join(f"{text:<{w}}" for text, w in zip(line, widths, strict=True)).rstrip() for line in cells)


def is_arm(kind: NodeType) -> bool:
    return "grace" in (kind.cpu.model or "").lower()


def named_builds(text: str) -> list[FrameworkBuilds]:
    """The packages that a text names, with their builds for each vendor's GPUs; of two names in one place the first of
    the table (`flash attention 3` is not flash-attn)."""
    found = []
    for one in framework_builds():
        text, times = re.subn(rf"(?i)\b(?:{one.names})\b", " ", text)
        found += [one] if times else []
    return found


def build_verdict(one: FrameworkBuilds, kind: NodeType) -> str:
    """Whether and as what build a package runs on nodes of a kind: processors first, then the GPU's maker and age."""
    gpus = kind.gpus
    if gpus.vendor != "nvidia":
        return str(getattr(one, gpus.vendor))
    power = POWER.search(kind.cpu.model or "")
    no_wheel = (
        f"No ready build: the processors are POWER ({power[0]}), and the usual GPU wheels and images are for x86 and "
        f"Arm; it comes from the site's modules or is built from source." if power else ""
    )  # fmt: skip
    too_old = ""
    if gpus.arch and (one.least or one.most):
        at, least, most = (
            int(re.sub(r"\D", "", arch)) for arch in (gpus.arch, one.least or "sm_0", one.most or "sm_999")
        )
        needs = f"{one.least} or later" if one.most != one.least else str(one.least)
        other = f" {one.instead} there." if one.instead else ""
        no = "And present" if no_wheel else "No: present"
        if not least <= at <= most:
            too_old = f"{no} releases of {one.title} want GPUs of {needs}, the {gpus.model} is {gpus.arch}.{other}"
    return " ".join(filter(None, (no_wheel, too_old))) or one.nvidia


def verdicts(one: FrameworkBuilds, kinds: Mapping[str, NodeType]) -> dict[str, list[str]]:
    """What is to be said of a package, and on which of the machines."""
    told: dict[str, list[str]] = {}
    for title, kind in kinds.items():
        told.setdefault(build_verdict(one, kind), []).append(title)
    return told


def runs_as_is(kinds: Mapping[str, NodeType], text: str) -> list[str]:
    """Those of the machines on which every package that the text names has a ready build; all, where none is named."""
    builds, x86 = named_builds(text), X86.search(text) is not None
    return [name for name, kind in kinds.items() if not (x86 and is_arm(kind))
            and all(build_verdict(one, kind).startswith("Yes") for one in builds)]  # fmt: skip


def stack_lines(kinds: Mapping[str, NodeType], text: str) -> list[str]:
    """Whose GPUs and processors the machines' nodes have, where that differs, and what it means for the packages that
    are named."""
    makers = {title: kind.gpus.vendor for title, kind in kinds.items()}
    arm = [title for title, kind in kinds.items() if is_arm(kind)]
    told = []
    if len(set(makers.values())) > 1:
        stacks = ", ".join(f"{title} {VENDORS[maker]} ({STACKS[maker]})" for title, maker in makers.items())
        told.append(
            f"**The software differs**: {stacks}. "
            "PyTorch has builds for all; what was only tried with CUDA, or builds its own kernels, needs another "
            "build elsewhere: try it before you choose by hours."
        )
    for one in named_builds(text):
        told += [f"{one.title} on {' and '.join(titles)}: {says}" for says, titles in verdicts(one, kinds).items()
                 if makers[titles[0]] != "nvidia" or not says.startswith("Yes")]  # fmt: skip
    if arm and len(arm) < len(kinds):
        told.append(
            f"**{' and '.join(arm)}: Arm processors**, so packages and containers must be built for aarch64; the "
            "others are x86, where the usual wheels run."
        )
    return told


def profile_line(cluster: Cluster, kind: NodeType) -> str:
    """One machine in a line: its nodes of a kind, the software stack, the longest job, what is charged, the way out."""
    gpus, each = kind.gpus, kind.gpus.devices_per_node
    size = f" {gpus.memory_gb / gpus.tiles_per_gpu:g} GB" if gpus.memory_gb else ""
    nodes = f"{kind.count:,} nodes" if kind.count else "nodes"
    queues = [one for one in cluster.queues if kind.id in one.node_types and one.purpose == "production"]
    limits = [limit for one in queues if (limit := longest_hours(one, max(1, one.min_nodes)))]
    told = [
        f"{nodes} of {each or '?'} x {gpus.model}{size}",
        f"{STACKS[gpus.vendor]} on {'Arm (aarch64)' if is_arm(kind) else 'x86'}",
        f"jobs up to {max(limits):g} h" if limits else "the longest job is not in my facts",
        charged_words(cluster, kind),
        {"yes": "internet on compute nodes", "no": "no internet on compute nodes", "proxy": "internet by proxy"}.get(
            cluster.internet.access, ""
        ),
    ]
    return f"**{cluster.title}**: {', '.join(filter(None, told))}."


def charged_words(cluster: Cluster, kind: NodeType) -> str:
    """What an hour there takes from the account, in the site's unit; empty where that is not known."""
    charge = cluster.charge
    queue = next((one for one in cluster.queues if kind.id in one.node_types and one.purpose == "production"), None)
    price = charge.amount(1.0, 1, 1, queue.id, kind.id) if charge and queue else None
    if charge is None or queue is None or not price:
        return ""
    of = "node" if charge.per == "node" else "device" if kind.gpus.tiles_per_gpu > 1 else "GPU"
    whole = ", of whole nodes" if charge.per == "gpu" and is_whole(queue, cluster) else ""
    return f"charged {price:.3g} {charge.unit} an hour of a {of}{whole} (`{queue.id}`)"


def more_there(row: MachineRow, mine: MachineRow) -> list[str]:
    """What a machine has more of than the one that is taken."""
    more = (
        f"jobs longer than {mine.longest_h:g} h (up to {row.longest_h:g} h there)"
        if (row.longest_h or 0) > (mine.longest_h or 1e9) else "",
        f"{row.gb:g} GB on each GPU" if row.gb > 1.05 * mine.gb else "",
        f"many nodes at once ({row.nodes:,} against {mine.nodes:,})"
        if row.nodes and mine.nodes and row.nodes > 2 * mine.nodes else "",
    )  # fmt: skip
    return [one for one in more if one]


def change_line(kinds: Sequence[MachineNodes], taken: Cluster) -> str:
    """What would speak for another machine than the one that is taken: longer jobs, more nodes, more memory."""
    rows = {one.machine: one for cluster, kind in kinds for one in machine_rows((cluster,))
            if one.node_type == kind.id}  # fmt: skip
    mine = rows.get(taken.id)
    arm = any(cluster.id == taken.id and is_arm(kind) for cluster, kind in kinds)
    told = []
    for cluster, kind in kinds:
        row = rows.get(cluster.id)
        if row is None or mine is None or row is mine:
            continue
        more = more_there(row, mine) + (["the usual x86 wheels and containers"] if arm and not is_arm(kind) else [])
        if more:
            told.append(f"{cluster.title} for {', '.join(more)}")
    waits = (
        "How long each queue is now I cannot see: the one where you have hours and start sooner wins a close choice."
    )
    return f"What would change that: {'; '.join(told)}. {waits}" if told else waits


def choose_between(kinds: Sequence[MachineNodes], text: str) -> list[str]:
    """Which to take where no model decides: where the named packages run as they are, then the fastest GPU; and what
    would change it."""
    ready = runs_as_is({one.id: kind for one, kind in kinds}, text)
    rows = [one for cluster, kind in kinds for one in machine_rows((cluster,)) if one.node_type == kind.id]
    open_to_it = [one for one in rows if one.machine in ready] or rows
    if not open_to_it:
        return []
    best = max(open_to_it, key=lambda one: (one.tflops, one.gb, one.longest_h or 0.0, one.nodes or 0))
    taken = next(one for one, _ in kinds if one.id == best.machine)
    named = named_names(text) if 0 < len(ready) < len(kinds) else ""
    why = [f"what you name ({named}) runs there as it is"] if named else []
    why += [card_words(best, [one for one in open_to_it if one is not best])]
    return [f"**Take {taken.title}**: {', and '.join(why)}.", change_line(kinds, taken)]


def named_names(text: str) -> str:
    """What a text names that has to run: packages, and x86 where that is what there is."""
    found = X86.search(text)
    return ", ".join([*(one.title for one in named_builds(text)), *([found[0]] if found else ())])


def card_words(best: MachineRow, others: Sequence[MachineRow]) -> str:
    """The GPU that is taken, against those of the other machines that are open."""
    card = f"{best.gpu} ({best.tflops:g} TFLOP/s dense in 16 bit, {best.gb:g} GB)"
    if any((one.tflops, one.gb) == (best.tflops, best.gb) for one in others):
        longer = any((one.longest_h or 0.0) < (best.longest_h or 0.0) for one in others)
        return f"the GPU is the same ({card})" + (f", its jobs may be longer ({best.longest_h:g} h)" if longer else "")
    if not others:
        return card
    return f"its GPU is the {'fastest' if best.tflops > max(o.tflops for o in others) else 'larger'}, {card}"


def tell_side_by_side(clusters: Sequence[Cluster], text: str, gpu: str | None = None) -> Document:
    """Which to take, by what, and what would change it; what sets their software apart, each in a line, and the table.

    gpu: the one that is asked about, where one of them has it.
    """
    kinds = [(one, kind_of_gpu(one, gpu)) for one in clusters]
    lines = [profile_line(cluster, kind) for cluster, kind in kinds]
    stacks = stack_lines({one.title: kind for one, kind in kinds}, text)
    chosen = choose_between(kinds, text) if len(clusters) > 1 else []
    shown = {kind.id for _, kind in kinds} if gpu else None
    return write_document(*chosen[:1], *stacks, *lines, *chosen[1:]) + compare_machines(clusters, shown)


# What of a machine a question asks for, by its words: the row's value that decides, and how it is told.
ASPECTS: tuple[tuple[str, Callable[[MachineRow], float], str], ...] = (
    (r"\b(?:longe[rs]t?|how long|time ?limits?|wall ?times?|hours|l[äa]nger|plus long\w*|m[áa]s larg\w*)\b",
     lambda row: row.longest_h or 0.0, "the longest jobs ({value:g} h)"),
    (r"\b(?:memory|vram|speicher|m[ée]moire|memoria)\b", lambda row: row.gb, "the most memory on a GPU ({value:g} GB)"),
    (r"\b(?:network|fabric|interconnect|infiniband|slingshot|netzwerk|r[ée]seau)\b",
     lambda row: row.network, "the widest network a node ({value:.0f} GB/s reached)"),
    (r"\b(?:more|most) (?:gpu )?nodes|\b(?:bigger|larger|largest)\b(?! model)", lambda row: float(row.nodes or 0),
     "the most nodes ({value:,.0f})"),
    (r"\bfast\w*\b|\bschnell\w*\b|\btflops?\b", lambda row: row.tflops, "the fastest GPU ({value:g} TFLOP/s)"),
)  # fmt: skip


def tell_aspect(clusters: Sequence[Cluster], text: str) -> Document | None:
    """The one thing that a question asks of machines which were compared: which has more of it, and each in a line."""
    told = []
    for words, value, says in ASPECTS:
        if not re.search(f"(?i){words}", text):
            continue
        rows = machine_rows(clusters)
        most = max(map(value, rows), default=0.0)
        best = dict.fromkeys(row.machine for row in rows if most and value(row) == most)
        titles = [one.title for one in clusters if one.id in best]
        if titles:
            verb = "has" if len(titles) == 1 else "have"
            told.append(f"**{' and '.join(titles)}** {verb} {says.format(value=most)}.")
    lines = (profile_line(one, kind_of_gpu(one)) for one in clusters)
    return write_document(" ".join(told), *lines) if told else None


def kind_of_gpu(cluster: Cluster, gpu: str | None = None) -> NodeType:
    """The machine's nodes with that GPU, else its usual ones."""
    named = [kind for kind in cluster.node_types if gpu and kind.gpus.model.lower() == gpu.lower()]
    return next(iter(named), cluster.node_type(cluster.default_queue.node_types[0]))


def compare_machines(clusters: Sequence[Cluster], shown: Iterable[str] | None = None) -> Document:
    """The table, and what stands out in it. shown: the kinds of node that it is of; None: all."""
    only = None if shown is None else set(shown)
    rows = [row for row in machine_rows(clusters) if only is None or row.node_type in only]
    if not rows:
        return write_document("The facts that I have name neither memory nor GPUs of these machines.")
    largest, fastest = max(rows, key=lambda r: r.gb), max(rows, key=lambda r: r.node_tflops)
    widest = max(rows, key=lambda r: r.network)
    most = dict.fromkeys(row.machine for row in rows if row.gb == largest.gb)
    told = (
        f"Largest GPU memory: {' and '.join(most)} ({largest.gb:g} GB, {largest.gpu}). Most compute a node: "
        f"{fastest.machine} ({fastest.node_tflops:,.0f} TFLOP/s dense in 16 bit)."
    )
    if widest.network:
        told += f" Widest network a node: {widest.machine} ({widest.network:.0f} GB/s reached)."
    pages = [node.source for cluster in clusters for node in cluster.node_types if node.source]
    return write_document(told, Code(table_text(rows), "text"), cite(pages[:6], min(c.as_of for c in clusters)))
