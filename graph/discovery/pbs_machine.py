"""PBS: queues and nodes, from `qstat -Qf` and `pbsnodes -a`, as JSON or, where an older PBS has none, as text.

Attributes: https://github.com/openpbs/openpbs, doc/man1/pbs_node_attributes.7B and pbs_queue_attributes.7B (read
2026-11-22).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from graph.discovery.found import MachineFound, NodeKind, QueueFound, Stretch, counted
from knowledge.data_file import parse_json
from knowledge.schedulers.asking import CouldNotAsk
from knowledge.schedulers.blocks import GOES_ON, read_settings
from knowledge.schedulers.live import Ask
from knowledge.schedulers.pbs import flat
from knowledge.schedulers.times import printed_seconds

NODES = ["pbsnodes", "-a", "-F", "json"]
QUEUES = ["qstat", "-Qf", "-F", "json"]
SERVER = ["qstat", "-Bf"]
Attributes = Mapping[str, str]
# Further resources of a node that name its GPU; sites choose the name.
GPU_NAME = re.compile(r"resources_available\.\w*(?:gpu\w*(?:model|type|name)|(?:model|type)\w*gpu|accel\w*)", re.I)
SIZE = {"": 1 / 2**20, "b": 1 / 2**20, "kb": 1 / 2**10, "mb": 1, "gb": 2**10, "tb": 2**20}


def pbs_machine(ask: Ask) -> MachineFound | CouldNotAsk:
    """This machine's queues that take jobs; why not, where the nodes or the queues could not be asked."""
    nodes, queues = told(ask, NODES, "nodes"), told(ask, QUEUES, "Queue")
    if isinstance(nodes, CouldNotAsk):
        return nodes
    if isinstance(queues, CouldNotAsk):
        return queues
    servers = told(ask, SERVER, "Server")
    named = {} if isinstance(servers, CouldNotAsk) else servers
    server = next(iter(named), "")
    default = named[server].get("default_queue", "") if server else ""
    own = {name: queue_of(name, given, nodes, name == default) for name, given in queues.items()}
    found = [passed_on(own[name], given, own) for name, given in queues.items() if takes_jobs(name, given)]
    return MachineFound("pbs", server.split(".")[0], tuple(found), ("pbsnodes -a", "qstat -Qf"))


def told(ask: Ask, command: Sequence[str], key: str) -> dict[str, Attributes] | CouldNotAsk:
    """What a command tells of each node or queue, its values under the names of the text form."""
    first = ask(command)
    if not isinstance(first, CouldNotAsk):
        try:
            value = parse_json(first.text)[key]
            return {name: dict(flat(given)) for name, given in value.items()}
        except (ValueError, KeyError, AttributeError, TypeError):
            if read := text_blocks(first.text):
                return read
    # An older PBS knows no `-F json`, or prints JSON that is none (a value with a quotation mark).
    second = ask(command[:-2]) if command[-1] == "json" else first
    return second if isinstance(second, CouldNotAsk) else text_blocks(second.text)


HEAD = re.compile(r"(?:(?:Queue|Server): *)?(\S+)\s*")


def text_blocks(text: str) -> dict[str, Attributes]:
    """`Queue: name` or the node's name alone at the line's beginning, and below it `attribute = value`."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if (head := HEAD.fullmatch(line)) and not line[:1].isspace():
            name = head[1]
            found[name] = []
        elif name and (" = " in line or GOES_ON.match(line)):
            found[name].append(line)
    return {name: dict(read_settings(lines)) for name, lines in found.items() if lines}


def takes_jobs(name: str, given: Attributes) -> bool:
    """Whether a person may name it: no queue of a reservation, none that takes jobs from other queues only."""
    return given.get("from_route_only", "False") != "True" and not re.fullmatch(r"[RMS]\d+", name)


def queue_of(name: str, given: Attributes, nodes: Mapping[str, Attributes], default: bool) -> QueueFound:
    mine = nodes_of(name, given, nodes)
    most = given.get("resources_max.nodect") or given.get("resources_max.nodes", "")
    fewest = given.get("resources_min.nodect") or given.get("resources_min.nodes", "")
    return QueueFound(
        name,
        counted([kind_of(node) for node in mine]),
        printed_seconds(given.get("resources_max.walltime", ""), "h:m"),
        int(most) if most.isdigit() else None,
        int(fewest) if fewest.isdigit() and int(fewest) else 1,
        default,
        bool(mine) and all("excl" in node.get("sharing", "") for node in mine),
        given.get("enabled") == "True" and given.get("started") == "True",
    )


def nodes_of(name: str, given: Attributes, nodes: Mapping[str, Attributes]) -> list[Attributes]:
    """The queue's nodes: those that are tied to it, those that have what its chunks ask for, else all that are free."""
    tied = [node for node in nodes.values() if name in re.split(r"[, ]+", node.get("queue", ""))]
    if tied:
        return tied
    free = [node for node in nodes.values() if not node.get("queue")]
    wanted = {
        key.removeprefix("default_chunk."): value for key, value in given.items() if key.startswith("default_chunk.")
    }
    for key, value in wanted.items():
        have = [node for node in free if value in node.get(f"resources_available.{key}", "").split(",")]
        if have and not value.isdigit():
            free = have
    return free


def kind_of(node: Attributes) -> NodeKind:
    cpus = node.get("resources_available.ncpus") or node.get("np") or node.get("pcpus", "")
    gpus = node.get("resources_available.ngpus") or node.get("gpus", "")
    named = next((value for key, value in node.items() if GPU_NAME.fullmatch(key)), "")
    size = re.fullmatch(r"(\d+)([kmgt]?b?)", node.get("resources_available.mem", "").lower())
    memory = int(size[1]) * SIZE.get(size[2], 0) if size else 0
    # Nodes of one kind differ by some MB: in whole GB they are alike.
    return NodeKind(
        int(cpus) if cpus.isdigit() else 0,
        round(memory / 1024) * 1024,
        named.split(",")[0].strip().lower(),
        int(gpus) if gpus.isdigit() else 0,
    )


def passed_on(queue: QueueFound, given: Attributes, own: Mapping[str, QueueFound]) -> QueueFound:
    """A queue that passes jobs on has the limits and the nodes of those that it passes them to."""
    behind = [own[name] for name in re.split(r"[, ]+", given.get("route_destinations", "")) if name in own]
    if not behind:
        return queue
    kinds = tuple({kind: (kind, many) for one in behind for kind, many in one.kinds}.values())
    times = [one.seconds for one in behind]
    sizes = [one.most_nodes for one in behind]
    stretches = sorted(
        (Stretch(one.fewest_nodes, one.most_nodes, one.seconds) for one in behind), key=lambda one: one.fewest_nodes
    )
    apart = len(stretches) > 1 and all(
        left.most_nodes is not None and left.most_nodes < right.fewest_nodes for left, right in pairwise(stretches)
    )
    return replace(
        queue,
        kinds=kinds,
        seconds=None if None in times else max(t for t in times if t is not None),
        most_nodes=None if None in sizes else max(n for n in sizes if n is not None),
        fewest_nodes=min(one.fewest_nodes for one in behind),
        exclusive=all(one.exclusive for one in behind),
        stretches=tuple(stretches) if apart else (),
    )
