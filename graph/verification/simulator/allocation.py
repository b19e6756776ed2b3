"""From a script's directives and a cluster's facts to the allocation that the stand-in cluster gives the job."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from graph.extraction.script import ReadScript
from graph.extraction.script_request import Counts, lsf_asked
from knowledge.cluster import Cluster, NodeType
from knowledge.errors import InputError

# How node names look, by machine. The rest take the first letters of the machine's name.
NODE_NAMES = {
    "perlmutter": "nid{:06d}", "alps-clariden": "nid{:06d}", "isambard-ai": "nid{:06d}", "lumi": "nid{:06d}",
    "aurora": "x4102c2s{}b0n0", "polaris": "x3004c0s{}b0n0", "lonestar6": "c301-{:03d}", "stampede3": "c561-{:03d}",
    "vista": "c610-{:03d}", "frontier": "frontier{:05d}", "juwels-booster": "jwb{:04d}", "leonardo": "lrdn{:04d}",
    "marenostrum5": "as04r1b{:02d}", "abci3": "hnode{:03d}", "delta": "gpua{:03d}", "deltaai": "gh{:03d}",
}  # fmt: skip
SLURM_GPU_OPTIONS = ("gpus-per-node", "gres", "gpus", "gpus-per-task")


@dataclass(frozen=True, slots=True)
class Allocation:
    """What the directives ask for. GPU counts are devices (a tile or GCD is one); None: not said."""

    nodes: int
    ntasks: int | None
    tasks_per_node: int | None
    cpus_per_task: int | None
    gpus_per_node: int
    gpus_per_task: int | None
    gpu_option: str
    gpu_bind: str
    job_name: str
    account: str
    queue: str
    node_type: NodeType


def allocation(script: ReadScript, cluster: Cluster) -> Allocation:
    """Read the active directives of the machine's own scheduler. Raises InputError on a count that is none."""
    asked = {name: one.value for name, one in script.active.items() if one.scheduler == cluster.scheduler}
    queue = queue_name(asked, cluster)
    node_type = cluster.node_type((cluster.queue(queue) or cluster.default_queue).node_types[0])
    tasks_per_node = number(asked, "ntasks-per-node", "tasks-per-node")
    ntasks = number(asked, "ntasks", "nslots")
    nodes = node_count(asked, ntasks, tasks_per_node)
    if cluster.scheduler == "pbs":
        tasks_per_node = select_number(asked, "mpiprocs") or number_in(asked.get("nodes", ""), r"ppn=(\d+)")
    if ntasks is None and tasks_per_node and cluster.scheduler == "slurm":
        ntasks = nodes * tasks_per_node
    return Allocation(
        nodes=nodes, ntasks=ntasks, tasks_per_node=tasks_per_node, cpus_per_task=number(asked, "cpus-per-task"),
        gpus_per_node=devices(asked, nodes, ntasks, tasks_per_node, cluster, node_type),
        gpus_per_task=amount_of_gpus(asked.get("gpus-per-task", "")) if cluster.scheduler == "slurm" else None,
        gpu_option=next((name for name in SLURM_GPU_OPTIONS if name in asked), ""),
        gpu_bind=asked.get("gpu-bind", ""), job_name=asked.get("job-name", "job"),
        account=asked.get("account", asked.get("project", asked.get("group", ""))), queue=queue, node_type=node_type,
    )  # fmt: skip


def queue_name(asked: Mapping[str, str], cluster: Cluster) -> str:
    words = [asked.get(name, "") for name in ("qos", "partition", "queue")]
    return next((word for word in words if word and cluster.queue(word)), cluster.default_queue.id)


def number(asked: Mapping[str, str], *names: str) -> int | None:
    """The first of these options, as a count. A variable or placeholder in it is refused: the scheduler would."""
    for name in names:
        if name in asked:
            text = asked[name].strip()
            if not re.fullmatch(r"\d+", text):
                raise InputError(f"the directive {name} is '{text[:40]}', not a number: fill it in and rehearse again")
            return int(text)
    return None


def number_in(text: str, pattern: str) -> int | None:
    found = re.search(pattern, text)
    return int(found[1]) if found else None


def node_count(asked: Mapping[str, str], ntasks: int | None, tasks_per_node: int | None) -> int:
    text = asked.get("nodes", "")
    if "select" in asked:
        return sum(int(part) for part in re.findall(r"(?:^|\+)(\d+)", asked["select"])) or 1
    if "slots" in asked and not text:
        counts = Counts()
        lsf_asked(asked, counts)
        return counts.nodes or 1
    if text:
        found = re.match(r"(?:\d+-)?(\d+)(?![\w$])", text)
        if not found:
            raise InputError(f"the directive nodes is '{text[:40]}', not a number: fill it in and rehearse again")
        return max(1, int(found[1]))
    return -(-ntasks // tasks_per_node) if ntasks and tasks_per_node else 1


def select_number(asked: Mapping[str, str], name: str) -> int | None:
    return number_in(asked.get("select", ""), rf"{name}=(\d+)")


def amount_of_gpus(text: str) -> int | None:
    """`4`, `a100:4`, `gpu:a100:4`, `gpu:4(S:0)`, `gpu`: how many."""
    numbers = re.findall(r"(?:^|[:=])(\d+)(?=\(|,|$)", text)
    return int(numbers[0]) if numbers else (1 if text.startswith("gpu") else None)


def devices(
    asked: Mapping[str, str],
    nodes: int,
    ntasks: int | None,
    per_node: int | None,
    cluster: Cluster,
    node_type: NodeType,
) -> int:
    """Devices of one node that the job may use, as a framework counts them."""
    gpus = node_type.gpus
    everything = gpus.devices_per_node or 1
    tasks = per_node or -(-(ntasks or nodes) // nodes)
    counts = {
        "gpus-per-node": lambda n: n, "gres": lambda n: n, "gpus": lambda n: max(1, n // nodes),
        "gpus-per-task": lambda n: n * tasks, "ngpus": lambda n: max(1, n // nodes),
    }  # fmt: skip
    found = next((counts[name](n) for name in counts if (n := amount_of_gpus(asked.get(name, "")))), None)
    found = found or select_number(asked, "ngpus") or number_in(asked.get("gpu", ""), r"num=(\d+)")
    if found is None:
        whole = cluster.whole_nodes or "exclusive" in asked or whole_queue(cluster, queue_name(asked, cluster))
        return everything if whole else 0
    tiles = gpus.tiles_per_gpu if gpus.scheduler_counts == "cards" else 1
    return min(found * tiles, everything)


def whole_queue(cluster: Cluster, name: str) -> bool:
    """Whether this queue hands out whole nodes with all their GPUs."""
    queue = cluster.queue(name) or cluster.default_queue
    return bool(getattr(queue, "whole_nodes", False))


def node_names(cluster: Cluster, nodes: int) -> tuple[str, ...]:
    form = NODE_NAMES.get(cluster.id, re.sub(r"\W", "", cluster.id)[:8] + "{:d}")
    return tuple(form.format(number) for number in range(1, nodes + 1))


def host_suffixes(cluster: Cluster) -> tuple[str, ...]:
    """What a site appends to a node's name to reach it over the fast network: read from its rendezvous."""
    text = " ".join([cluster.rendezvous.host, *cluster.rendezvous.lines])
    found = re.findall(r"\)\"?(\.[a-z0-9.-]+[a-z])", text) + re.findall(r"[)}](i|-hsn\d|-ib)\b", text)
    return tuple(dict.fromkeys([*found, ".hsn.stand-in"][:3]))
