"""What a field of the request may become on a machine, from its facts: the picker shows it, a turn says it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assistant.events import Chip
from graph.planning.strategies import RUNS
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster, Queue
from knowledge.types import FRAMEWORKS

NODE_COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
WALLTIMES = ("00:30:00", "01:00:00", "02:00:00", "04:00:00", "08:00:00", "12:00:00", "24:00:00", "48:00:00")


@dataclass(frozen=True, slots=True)
class OfferedValue:
    """A value, a few words on it, and the sentence that asks for it."""

    value: str
    note: str
    says: str


@dataclass(frozen=True, slots=True)
class Picking:
    """A field to be picked: its name as people say it, what is offered, and the sentence for a value typed in."""

    title: str
    offers: tuple[OfferedValue, ...]
    typed: str


def pick(field: str, chips: Sequence[Chip]) -> Picking:
    """What this machine offers for that field; without a machine, what any may."""
    values = {chip.field: chip.value for chip in chips}
    cluster = catalogue().find(values.get("machine", "")) if values.get("machine") else None
    name, sentence, offered = FIELDS[field]
    return Picking(name, tuple(offered(cluster, values)), sentence)


def machines(cluster: Cluster | None, values: dict[str, str]) -> list[OfferedValue]:
    listed = sorted(catalogue().clusters.values(), key=lambda one: one.title.lower())
    return [OfferedValue(one.id, f"{one.title}, {gpus(one)}, {one.scheduler}", f"machine {one.id}") for one in listed]


def gpus(cluster: Cluster) -> str:
    kinds = dict.fromkeys(node.gpus.model for node in cluster.node_types)
    return "/".join(list(kinds)[:2])


def frameworks(cluster: Cluster | None, values: dict[str, str]) -> list[OfferedValue]:
    return [
        OfferedValue(
            one,
            refused(cluster, one, None) or f"runs {', '.join(s for s in RUNS[one] if s != 'none')}",
            f"framework {one}",
        )
        for one in FRAMEWORKS
    ]


def refused(cluster: Cluster | None, framework: str | None, strategy: str | None) -> str:
    """Why the machine does not take it, in its facts' words; empty where nothing speaks against it."""
    for fact in cluster.refusals if cluster else ():
        if fact.framework in (None, framework) and fact.strategy in (None, strategy) and not fact.node_types:
            return f"not here: {fact.says}"
    return ""


def strategies(cluster: Cluster | None, values: dict[str, str]) -> list[OfferedValue]:
    """Those that the framework runs; without one, all, and who runs them."""
    chosen = values.get("framework", "")
    by = {strategy: [f for f in FRAMEWORKS if strategy in RUNS[f]] for f in FRAMEWORKS for strategy in RUNS[f]}
    wanted = [(one, who) for one, who in by.items() if one != "none" and (not chosen or chosen in who)]
    rest = [(one, who) for one, who in by.items() if one != "none" and chosen and chosen not in who]
    return [
        OfferedValue(one, refused(cluster, chosen or None, one) or ", ".join(who), f"strategy {one}")
        for one, who in (*wanted, *rest)
    ]


def queues(cluster: Cluster | None, values: dict[str, str]) -> list[OfferedValue]:
    if cluster is None:
        return []
    return [OfferedValue(one.id, limits(one), f"queue {one.id}") for one in cluster.queues if one.node_types]


def limits(queue: Queue) -> str:
    """A queue's limits in a few words."""
    nodes = f"{queue.min_nodes}-{queue.max_nodes}" if queue.max_nodes else f"{queue.min_nodes}+"
    words = [queue.purpose, f"{nodes} nodes"]
    if queue.max_walltime:
        words.append(f"at most {queue.max_walltime}")
    if queue.default:
        words.append("the usual one")
    return ", ".join(words)


def the_queue(cluster: Cluster | None, values: dict[str, str]) -> Queue | None:
    if cluster is None:
        return None
    return cluster.queue(values.get("queue") or "") or cluster.default_queue


def nodes(cluster: Cluster | None, values: dict[str, str]) -> list[OfferedValue]:
    """Counts that the queue takes, with the GPUs that they give."""
    queue = the_queue(cluster, values)
    least, most = (queue.min_nodes, queue.max_nodes or NODE_COUNTS[-1]) if queue else (1, NODE_COUNTS[-1])
    counts = sorted({*(n for n in NODE_COUNTS if least <= n <= most), least, *([most] if queue else [])})
    each = devices(cluster, queue)
    return [OfferedValue(str(n), f"{n * each} GPUs in all" if each else "", f"{n} nodes") for n in counts]


def devices(cluster: Cluster | None, queue: Queue | None) -> int | None:
    """GPUs of a node, as a framework counts them."""
    if cluster is None or queue is None or not queue.node_types:
        return None
    return cluster.node_type(queue.node_types[0]).gpus.devices_per_node


def gpus_per_node(cluster: Cluster | None, values: dict[str, str]) -> list[OfferedValue]:
    most = devices(cluster, the_queue(cluster, values))
    if most is None:
        return []
    counts = [n for n in range(1, most + 1) if most % n == 0]
    if cluster and cluster.whole_nodes:
        counts = [most]
    note = {most: "all of a node"}
    return [OfferedValue(str(n), note.get(n, "part of a node"), f"{n} GPUs per node") for n in reversed(counts)]


def node_types(cluster: Cluster | None, values: dict[str, str]) -> list[OfferedValue]:
    """The kinds of GPU node that the memory of their cards tells apart."""
    kinds = [kind for kind in cluster.node_types if kind.gpus.memory_gb] if cluster else []
    return [
        OfferedValue(kind.id, kind.gpus.model, f"use the {kind.gpus.model} cards with {kind.gpus.memory_gb:g} GB")
        for kind in kinds
    ]


def walltimes(cluster: Cluster | None, values: dict[str, str]) -> list[OfferedValue]:
    """Usual ones up to the queue's limit, and the limit."""
    queue = the_queue(cluster, values)
    most = queue.max_walltime if queue else None
    fitting = [one for one in WALLTIMES if most is None or one <= most.rjust(8, "0")]
    if most and most not in fitting:
        fitting.append(most)
    return [OfferedValue(one, "the limit" if one == most else "", f"walltime {one}") for one in fitting]


def accounts(cluster: Cluster | None, values: dict[str, str]) -> list[OfferedValue]:
    return []


Offered = Callable[[Cluster | None, dict[str, str]], list[OfferedValue]]
# field -> its name, the sentence for a typed value, what is offered.
FIELDS: dict[str, tuple[str, str, Offered]] = {
    "machine": ("machine", "machine {}", machines),
    "framework": ("framework", "framework {}", frameworks),
    "strategy": ("strategy", "strategy {}", strategies),
    "nodes": ("number of nodes", "{} nodes", nodes),
    "total_gpus": ("number of GPUs", "{} GPUs in all", lambda cluster, values: []),
    "gpus_per_node": ("GPUs per node", "{} GPUs per node", gpus_per_node),
    "node_type": ("kind of node", "use the cards with {} GB", node_types),
    "queue": ("queue", "queue {}", queues),
    "walltime": ("walltime (HH:MM:SS)", "walltime {}", walltimes),
    "account": ("account", "account {}", accounts),
}
