"""How many nodes and GPUs a script's job has: from its directives first, then from its launch line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import yaml

from graph.extraction.amounts import JOB_NODES, LOOP, arithmetic
from graph.extraction.directives import is_placeholder
from graph.extraction.expansion import field_amount
from graph.extraction.launchers import Layer
from graph.extraction.script import Script
from graph.extraction.shell_words import Field, plain

GPU_COUNT = re.compile(r"gpus?(?:[:=][\w.-]*[A-Za-z][\w.-]*)?[:=](\d+)", re.I)
NODE_NAMES = (JOB_NODES, "SLURM_NNODES", "SLURM_JOB_NUM_NODES", "PBS_NUM_NODES", "FLUX_JOB_NNODES")
VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
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


def count(script: Script, scheduler: str) -> Counts:
    counts = Counts()
    options = {name: one.value for name, one in script.active.items() if not is_placeholder(one.value)}
    if scheduler == "lsf":
        options["resource"] = " ".join(d.value for d in script.directives if d.active and d.option == "resource")
    asked = ASKED.get(scheduler, nothing_asked)(options, counts)
    learn(counts, options)
    counts.nodes = counts.nodes or launch_nodes(script, counts, scheduler)
    learn(counts, options)
    counts.gpus_per_node = asked or launch_gpus(script, counts, options)
    if counts.total_gpus and not counts.nodes and counts.gpus_per_node:
        counts.nodes = -(-counts.total_gpus // counts.gpus_per_node)
    if counts.total_gpus and counts.nodes and not asked:
        counts.gpus_per_node = counts.total_gpus // counts.nodes
    if not counts.nodes and (counts.total_gpus == 1 or (counts.gpus_per_node == 1 and not script.layers)):
        counts.nodes = 1
    return counts


def learn(counts: Counts, options: Mapping[str, str]) -> None:
    """The scheduler's variables that follow from what is known."""
    if counts.nodes:
        counts.facts |= dict.fromkeys(NODE_NAMES, counts.nodes)
    tasks, per_node = whole(options.get("ntasks")), whole(options.get("ntasks-per-node"))
    tasks = tasks or (per_node * counts.nodes if per_node and counts.nodes else None)
    if tasks:
        counts.facts |= {"SLURM_NTASKS": tasks, "SLURM_NPROCS": tasks}
    if per_node:
        counts.facts |= {"SLURM_NTASKS_PER_NODE": per_node, "SLURM_TASKS_PER_NODE": per_node}
    if counts.total_gpus:
        counts.facts["PBS_NGPUS"] = counts.total_gpus


def whole(text: str | None) -> int | None:
    """The first whole number of a value such as `4`, `2-4` or `16(x2)`."""
    found = re.match(r"\s*(\d+)", text or "")
    return int(found[1]) if found else None


def gpu_number(text: str | None) -> int | None:
    """The GPUs of `gpu:a100:4`, `a100:4`, `gpu=2`, `4`; bare `gpu` is one."""
    if not text:
        return None
    found = GPU_COUNT.search(text) or re.fullmatch(r"(?:[\w.-]+:)?(\d+)", text)
    if found:
        return int(found[1])
    return 1 if re.fullmatch(r"gpu(:[A-Za-z][\w.-]*)?", text) else None


def nothing_asked(options: Mapping[str, str], counts: Counts) -> int | None:
    return None


def slurm_asked(options: Mapping[str, str], counts: Counts) -> int | None:
    """GPUs a node by the directives; the node count too where tasks tell it."""
    tasks, per_node = whole(options.get("ntasks")), whole(options.get("ntasks-per-node"))
    per_gpu_node = gpu_number(options.get("gpus-per-node")) or gpu_number(gres(options.get("gres")))
    counts.total_gpus = gpu_number(options.get("gpus"))
    counts.nodes = whole(options.get("nodes"))
    if not counts.nodes and tasks and per_node:
        counts.nodes = -(-tasks // per_node)
    if not counts.nodes and (tasks == 1 or counts.total_gpus == 1):
        counts.nodes = 1
    if not counts.nodes and counts.total_gpus and per_gpu_node:
        counts.nodes = -(-counts.total_gpus // per_gpu_node)
    if per_gpu_node:
        return per_gpu_node
    if counts.total_gpus and counts.nodes:
        return max(1, counts.total_gpus // counts.nodes)
    per_task = gpu_number(options.get("gpus-per-task")) or gpu_number(gres(options.get("tres-per-task")))
    here = per_node or (-(-tasks // counts.nodes) if tasks and counts.nodes else 1)
    return per_task * here if per_task else None


def gres(text: str | None) -> str | None:
    """The GPU part of a list of generic resources (`nvme:1,gres/gpu:h100:8`)."""
    return next(
        (part.removeprefix("gres/").removeprefix("gres:") for part in (text or "").split(",") if "gpu" in part), None
    )


def pbs_asked(options: Mapping[str, str], counts: Counts) -> int | None:
    """`select=N:ngpus=4`, Torque's `nodes=N:gpus=2`, or `ngpus` for the whole job."""
    request = options.get("select") or options.get("nodes") or ""
    chunks = [chunk for chunk in request.split("+") if chunk]
    sizes = [whole(chunk) or 1 for chunk in chunks]
    counts.nodes = sum(sizes) or None
    per_chunk = max((int(n) for chunk in chunks for n in re.findall(r":n?gpus=(\d+)", chunk)), default=0)
    if per_chunk:
        return per_chunk
    total = whole(options.get("ngpus")) or whole(options.get("gpus"))
    if total and counts.nodes:
        return max(1, total // counts.nodes)
    counts.total_gpus = total
    return None


def lsf_asked(options: Mapping[str, str], counts: Counts) -> int | None:
    slots = whole(options.get("slots"))
    spread = re.search(r"span\[(ptile|hosts)=(\d+)\]", " ".join(options.values()))
    counts.nodes = whole(options.get("nodes"))
    if not counts.nodes and spread:
        counts.nodes = int(spread[2]) if spread[1] == "hosts" else -(-(slots or 1) // int(spread[2]))
    if not counts.nodes and slots == 1:
        counts.nodes = 1
    found = re.search(r"num=(\d+)(/task)?", options.get("gpu", ""))
    return int(found[1]) if found else None


def flux_asked(options: Mapping[str, str], counts: Counts) -> int | None:
    counts.nodes = whole(options.get("nodes"))
    per_node, per_slot = whole(options.get("gpus-per-node")), whole(options.get("gpus-per-slot"))
    slots = whole(options.get("nslots"))
    if per_node or not per_slot:
        return per_node
    return per_slot * max(1, slots // counts.nodes) if slots and counts.nodes else per_slot


def simple_asked(options: Mapping[str, str], counts: Counts) -> int | None:
    counts.nodes = whole(options.get("nodes"))
    return None


ASKED = {"slurm": slurm_asked, "pbs": pbs_asked, "lsf": lsf_asked, "flux": flux_asked, "cobalt": simple_asked}


# -- the launch line -----------------------------------------------------------------------------------------------


def number(one: Field | None, facts: Mapping[str, int]) -> int | None:
    """The number that a word of the launch line stands for, with the scheduler's variables known."""
    if one is None:
        return None
    text = plain(one)
    elastic = re.fullmatch(r"\d+:(\d+)", text)
    if elastic:
        return int(elastic[1])
    return arithmetic(field_amount(one), facts) or None


def told(layer: Layer, role: str, counts: Counts) -> int | None:
    return number(layer.role(role), counts.facts)


def launch_nodes(script: Script, counts: Counts, scheduler: str) -> int | None:
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
    return 1 if spawner and not parallel else None


def layer_nodes(layer: Layer, script: Script, counts: Counts) -> int | None:
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


def launch_gpus(script: Script, counts: Counts, options: Mapping[str, str]) -> int | None:
    """GPUs a node from the launch line, the visible devices or the program's own options, in this order."""
    layers = [layer for layer in script.layers if layer.kind in ("parallel", "spawner")]
    for witness in (step_gpus, spawner_gpus):
        for layer in reversed(layers):
            found = witness(layer, script, counts)
            if found:
                return found
    spawner = any(layer.kind == "spawner" for layer in layers)
    parallel = [layer for layer in layers if layer.kind == "parallel"]
    found = None if spawner else rank_gpus(parallel, counts, options)
    devices = program_devices(script, counts)
    if found == 1 and devices:
        return devices
    return found or visible_devices(script) or devices or ray_gpus(script)


def step_gpus(layer: Layer, script: Script, counts: Counts) -> int | None:
    """GPU options of the parallel launcher itself."""
    for role in ("gpus_per_node", "gres"):
        value = layer.role(role)
        found = value is not None and (gpu_number(resolved(value, counts)) if value else None)
        if found:
            return found
    total = layer.role("gpus")
    if total is not None and counts.nodes and gpu_number(resolved(total, counts)):
        return (gpu_number(resolved(total, counts)) or 0) // counts.nodes or None
    sets, gpus = told(layer, "sets_per_node", counts), told(layer, "set_gpus", counts)
    if gpus:
        return gpus * (sets or 1)
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


def spawner_gpus(layer: Layer, script: Script, counts: Counts) -> int | None:
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


def rank_gpus(parallel: list[Layer], counts: Counts, options: Mapping[str, str]) -> int | None:
    """One rank a GPU: the ranks a node of the innermost launcher, else the tasks a node of the job."""
    for layer in reversed(parallel):
        tasks, nodes = told(layer, "tasks", counts), told(layer, "nodes", counts) or counts.nodes
        per_node = told(layer, "per_node", counts) or mapped(layer)
        hosts = layer.role("hosts")
        slots = re.search(r":(\d+)", plain(hosts)) if hosts is not None else None
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
    found = re.search(r"mpiprocs=(\d+)", options.get("select", ""))
    per_node, tasks = whole(options.get("ntasks-per-node")), whole(options.get("ntasks"))
    if found:
        return int(found[1])
    return per_node or (tasks // counts.nodes if tasks and counts.nodes and tasks % counts.nodes == 0 else None)


def mapped(layer: Layer) -> int | None:
    """Open MPI's `--map-by ppr:4:node`."""
    value = layer.role("map")
    found = re.search(r"ppr:(\d+):node", plain(value)) if value else None
    return int(found[1]) if found else None


def visible_devices(script: Script) -> int | None:
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


def ray_gpus(script: Script) -> int | None:
    """The GPUs that a Ray node is started with."""
    for command in script.commands:
        program = command.chain.program
        if program is not None and plain(program.entry) == "ray":
            found = re.search(r"--num[-_]gpus[= ](\d+)", " ".join(plain(a) for a in program.args))
            if found:
                return int(found[1])
    return None


def program_devices(script: Script, counts: Counts) -> int | None:
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


def configured(script: Script, layer: Layer) -> Iterator[tuple[str, str]]:
    """The entries of an accelerate config that the script itself writes."""
    config = layer.role("config")
    text = document_text(script, plain(config)) if config is not None else None
    if not text:
        return
    try:
        data = yaml.safe_load(re.sub(r"\$[({]+[^\n]*", "unknown", text))
    except yaml.YAMLError:
        return
    if isinstance(data, dict):
        yield from ((str(key), str(value)) for key, value in data.items())


def document_text(script: Script, name: str) -> str | None:
    """The text of a file that the script writes, whether named with its path or by the variables around it."""
    for one in script.documents:
        if name and (one.name == name or one.name.rsplit("/", 1)[-1] == name.rsplit("/", 1)[-1]):
            return one.text
    return None


def host_lines(script: Script, layer: Layer) -> list[str]:
    """The lines of a host file that the script writes; one made in a loop has one line with a variable in it."""
    file = layer.role("hostfile")
    text = document_text(script, plain(file)) if file is not None else None
    return [line for line in (text or "").splitlines() if line.strip()]
