"""How many nodes and GPUs a script's job has: from its directives first, then from its launch line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from graph.extraction.amounts import LOOP, arithmetic
from graph.extraction.job_shape import NODE_NAMES, JobShape, gpus_of, job_shape
from graph.extraction.launch_chain import Layer
from graph.extraction.launch_shape import number
from graph.extraction.machine import machine_of
from graph.extraction.script import ReadScript
from graph.extraction.script_files import configured, host_lines
from graph.extraction.shell_values import field_amount
from graph.extraction.shell_words import Field, plain
from graph.extraction.training import TRAINS

VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
GPU_OPTIONS = ("gres", "gpus", "gpus-per-node", "gpus-per-task", "gpu", "gpus-per-slot")
# Ranks stand for GPUs only where something speaks of GPUs, and where a node could have as many.
GPU_SIGNS = re.compile(
    r"gpu(?!s?=0|_support_enabled=0)|cuda|nccl|rccl|rocm|nvidia|xpu|torch|deepspeed|tensorflow|horovod|hvd|jax|\b[avh][12]00|gh200|mi[23]\d\d",
    re.I,
)
MOST_RANKS = 16
DEVICE_OPTIONS = re.compile(
    r"(?:--?)?(?:trainer\.)?(devices|gpus|num[_-]gpus|ngpus|n[_-]gpus?|gpus[_-]per[_-]node|n_gpus_per_node|num_devices)"
)


@dataclass(slots=True)
class Counts:
    """nodes and gpus_per_node of the job, None where the text does not tell; total_gpus where only a total is said."""

    nodes: int | None = None
    gpus_per_node: int | None = None
    total_gpus: int | None = None
    facts: dict[str, int] = field(default_factory=lambda: {LOOP: 0})


def count(script: ReadScript, scheduler: str) -> Counts:
    """The counts of the job: what the directives ask for, then what the launch line shows."""
    shape = job_shape(script, scheduler)
    counts = Counts(shape.least_nodes, None, shape.total_gpus, shape.facts)
    asked = shape.gpus_per_node or shape.gpus_of_tasks
    counts.nodes = counts.nodes or launch_nodes(script, counts, scheduler)
    shape = replace(shape, least_nodes=counts.nodes)
    counts.facts = shape.facts
    counts.gpus_per_node = asked or launch_gpus(script, counts, shape, scheduler)
    if not counts.nodes and not script.layers and 0 < (counts.total_gpus or 0) <= MOST_RANKS:
        counts.nodes = 1
    if counts.total_gpus and not counts.nodes and counts.gpus_per_node:
        counts.nodes = -(-counts.total_gpus // counts.gpus_per_node)
    if counts.total_gpus and counts.nodes and not asked:
        counts.gpus_per_node = max(1, counts.total_gpus // counts.nodes)
    if not counts.nodes and (counts.total_gpus == 1 or (counts.gpus_per_node == 1 and (asked or not script.layers))):
        counts.nodes = 1
    return counts


# -- the launch line -----------------------------------------------------------------------------------------------


def told(layer: Layer, role: str, counts: Counts) -> int | None:
    return number(layer.role(role), counts.facts)


def launch_nodes(script: ReadScript, counts: Counts, scheduler: str) -> int | None:
    """Nodes by the launch line; one where nothing in it starts a second, None where a count in it is open."""
    layers = [layer for layer in script.layers if layer.kind in ("parallel", "spawner")]
    open_count = False
    for layer in reversed(layers):
        found = layer_nodes(layer, script, counts)
        if found:
            return found
        roles = [layer.role(name) for name in ("nodes", "hostfile", "sets")]
        shared = layer.role("tasks") if layer.name != "accelerate" else None
        open_count |= any(role is not None for role in roles) or (shared is not None and "$" in plain(shared))
    if open_count or any(layer.kind == "remote" for layer in script.layers):
        return None
    spawner = any(layer.kind == "spawner" for layer in layers)
    parallel = any(layer.kind == "parallel" for layer in layers)
    if scheduler == "none":
        return 1 if script.training else None
    asked = any(one.active and one.option in GPU_OPTIONS for one in script.directives)
    return 1 if not parallel and script.training and (spawner or asked) else None


def layer_nodes(layer: Layer, script: ReadScript, counts: Counts) -> int | None:
    """Nodes that one launcher is told of, by number, hosts, host file or configuration."""
    nodes, tasks, per_node = (told(layer, name, counts) for name in ("nodes", "tasks", "per_node"))
    if nodes:
        return nodes
    if layer.has("--standalone"):
        return 1
    hosts = layer.role("hosts") if layer.name != "torchrun" else None
    if hosts is not None and ":" in plain(hosts) and "$" not in plain(hosts) and layer.name != "deepspeed":
        return len(plain(hosts).split(","))
    for key, value in configured(script, layer):
        if key == "num_machines" and value.isdigit():
            return int(value)
    listed = host_lines(script, layer)
    if listed and not any("$" in line for line in listed):
        return len(listed)
    if tasks and per_node and layer.kind == "parallel" and layer.name != "jsrun":
        return -(-tasks // per_node)
    return None


def launch_gpus(script: ReadScript, counts: Counts, shape: JobShape, scheduler: str) -> int | None:
    """GPUs a node from the launch line, the visible devices or the program's own options, in this order."""
    layers = [layer for layer in script.layers if layer.kind in ("parallel", "spawner")]
    for witness in (step_gpus, spawner_gpus):
        for layer in reversed(layers):
            found = witness(layer, script, counts)
            if found:
                return found
    spawner = any(layer.kind == "spawner" for layer in layers)
    parallel = [layer for layer in layers if layer.kind == "parallel"]
    found = None if spawner else rank_gpus(parallel, counts, shape)
    if found == 1 and script.program is not None and script.program.kind == "shell":
        found = None
    if found and (found > MOST_RANKS or not may_have_gpus(script, scheduler)):
        found = None
    devices, visible = program_devices(script, counts), visible_devices(script)
    if found == 1 and (devices or visible):
        return devices or visible
    return found or visible or devices or ray_gpus(script)


def may_have_gpus(script: ReadScript, scheduler: str) -> bool:
    program = script.program
    parts = (script.active[name].value for name in ("constraint", "partition", "queue") if name in script.active)
    if any(re.search(r"cpu|knl|haswell", part, re.I) for part in parts):
        return False
    unknown = program is not None and (program.kind == "shell" or TRAINS.search(plain(program.entry)))
    return bool(unknown or GPU_SIGNS.search(script.text) or machine_of(script, scheduler))


def step_gpus(layer: Layer, script: ReadScript, counts: Counts) -> int | None:
    """GPU options of the parallel launcher itself."""
    for role in ("gpus_per_node", "gres"):
        value = layer.role(role)
        found = value is not None and (gpus_of(resolved(value, counts)) if value else None)
        if found:
            return found
    total = layer.role("gpus")
    if total is not None and counts.nodes and gpus_of(resolved(total, counts)):
        return (gpus_of(resolved(total, counts)) or 0) // counts.nodes or None
    sets, gpus = told(layer, "sets_per_node", counts), told(layer, "set_gpus", counts)
    if gpus:
        all_sets, nodes = told(layer, "sets", counts), counts.nodes
        return gpus * (sets or (max(1, all_sets // nodes) if all_sets and nodes else 1))
    per_task = told(layer, "gpus_per_task", counts)
    if not per_task or layer.kind != "parallel":
        return None
    tasks, nodes = told(layer, "tasks", counts), told(layer, "nodes", counts) or counts.nodes
    per_node = told(layer, "per_node", counts) or (max(1, tasks // nodes) if tasks and nodes else None)
    return per_task * (per_node or counts.facts.get("SLURM_NTASKS_PER_NODE", 1))


def proportional(one: Field | None, counts: Counts) -> int | None:
    """The factor of a total that is written as nodes times a number, where the node count is not known."""
    if one is None or counts.nodes:
        return None
    single, double = (arithmetic(field_amount(one), {LOOP: 0} | dict.fromkeys(NODE_NAMES, n)) for n in (1, 2))
    return single if single and double == 2 * single else None


def resolved(one: Field, counts: Counts) -> str:
    return "".join(str(arithmetic(p.amount, counts.facts) or p.text) if p.open else p.text for p in one)


def spawner_gpus(layer: Layer, script: ReadScript, counts: Counts) -> int | None:
    """Processes a node of torchrun, accelerate, deepspeed and the like."""
    if layer.kind != "spawner":
        return None
    per_node, tasks = told(layer, "per_node", counts), told(layer, "tasks", counts)
    if per_node:
        return per_node
    machines = told(layer, "nodes", counts) or counts.nodes or 1
    for key, value in configured(script, layer):
        if key == "num_processes" and value.isdigit() and not tasks:
            tasks = int(value)
    if tasks:
        return max(1, tasks // machines)
    if proportional(layer.role("tasks"), counts):
        return proportional(layer.role("tasks"), counts)
    slots = [found[1] for line in host_lines(script, layer) if (found := re.search(r"slots=(\d+)", line))]
    return int(slots[0]) if slots else None


def rank_gpus(parallel: list[Layer], counts: Counts, shape: JobShape) -> int | None:
    """One rank a GPU: the ranks a node of the innermost launcher, else the tasks a node of the job."""
    for layer in reversed(parallel):
        tasks, nodes = told(layer, "tasks", counts), told(layer, "nodes", counts) or counts.nodes
        per_node = told(layer, "per_node", counts) or mapped(layer)
        hosts = layer.role("hosts")
        slots = re.search(r":(\d+)", plain(hosts)) if hosts is not None else None
        if layer.name == "jsrun" and told(layer, "sets_per_node", counts):
            return (told(layer, "sets_per_node", counts) or 1) * (told(layer, "set_tasks", counts) or 1)
        if per_node or slots:
            return per_node or int(slots[1]) if slots else per_node
        if tasks == 1 and (layer.has("-o") or (nodes or 1) == 1):
            return 1
        if tasks and nodes and tasks % nodes == 0:
            return tasks // nodes
        if not tasks and proportional(layer.role("tasks"), counts):
            return proportional(layer.role("tasks"), counts)
    if not parallel:
        return None
    per_node, tasks = shape.tasks_per_node, shape.ntasks
    return per_node or (tasks // counts.nodes if tasks and counts.nodes and tasks % counts.nodes == 0 else None)


def mapped(layer: Layer) -> int | None:
    """Open MPI's `--map-by ppr:4:node`."""
    value = layer.role("map")
    found = re.search(r"ppr:(\d+):node", plain(value)) if value else None
    return int(found[1]) if found else None


def visible_devices(script: ReadScript) -> int | None:
    """The devices that the script itself makes visible."""
    training = script.training
    before = training.assignments if training else ()
    values = [value for name, value in before if name in VISIBLE]
    values += [value for name in VISIBLE if (value := script.value_of(name))]
    for value in values:
        if re.fullmatch(r"\d+(,\d+)*", value):
            return len(value.split(","))
        if value.startswith("$((") and "," not in value:
            return 1
    return None


def ray_gpus(script: ReadScript) -> int | None:
    """The GPUs that a Ray node is started with."""
    for command in script.commands:
        program = command.chain.program
        if program is not None and plain(program.entry) == "ray":
            found = re.search(r"--num[-_]gpus[= ](\d+)", " ".join(plain(a) for a in program.args))
            if found:
                return int(found[1])
    return None


def program_devices(script: ReadScript, counts: Counts) -> int | None:
    """What the program is told of devices (`--devices 4`, `trainer.devices=4`, `--device cuda:0`)."""
    program = script.program
    args = list(program.args) if program else []
    for i, one in enumerate(args):
        name, equals, value = plain(one).partition("=")
        following = plain(args[i + 1]) if i + 1 < len(args) else ""
        if DEVICE_OPTIONS.fullmatch(name) and (value if equals else following).isdigit():
            return int(value if equals else following) or None
        if name == "--device" and re.fullmatch(r"cuda:\d", value or following):
            return 1
    return None
