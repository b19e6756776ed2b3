# ruff: noqa: E501
"""Launch arithmetic: nodes x tasks x processes, against the job and its GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from math import prod

from graph.extraction.launch_chain import Layer
from graph.extraction.launch_shape import NODE_SPAWNERS, LaunchShape
from graph.extraction.launchers import is_python
from graph.extraction.shell_words import plain
from graph.verification.checks import sources
from graph.verification.checks.count_edits import on_each_node, one_task_a_node, ranks_a_node
from graph.verification.checks.rule import Hit, Rule, launch_rule
from graph.verification.checks.subject import Subject
from knowledge.program_settings import settings_of
from knowledge.word_lists import in_order

DEVICES = re.compile(r"(CUDA|HIP|ROCR)_VISIBLE_DEVICES|ZE_AFFINITY_MASK")
# A size of a parallel group by the first letter of its kind.
# Servers of models start a process for each GPU themselves.
STARTS_ITS_OWN = re.compile(r"(?:^|/)vllm$|^(?:vllm|sglang)\.")
PARALLEL = re.compile(r"--([tpdc]p|tensor|pipeline|data|context)(-model)?(-parallel)?(-size|-degree)?")
# Programs that start all nodes themselves: GPT-NeoX's deepy.py calls DeepSpeed's runner.
SELF_STARTING = re.compile(r"(^|/)deepy\.py$")


def node_spawner(launch: LaunchShape | None) -> Layer | None:
    found = launch.spawner if launch else None
    return found if found is not None and found.name in NODE_SPAWNERS else None


def once_per_rank(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """`srun torchrun` with four tasks a node: four torchruns on each node, each with four processes."""
    layer = node_spawner(launch)
    if layer is None or launch.parallel is None or (launch.per_node or 1) < 2:
        return
    machines = launch.number(layer, "nodes")
    if launch.procs == 1 and machines is not None and machines == launch.tasks:
        return
    each = f"each with {launch.procs} processes" if launch.procs else "each with its own processes"
    says = (
        f"{launch.parallel.name} starts {launch.per_node} {layer.name}s on every node, {each}: it is wanted once a node"
    )
    yield Hit(launch.line, says, edit=one_task_a_node(s, launch))


def one_node_meant(launch: LaunchShape) -> bool:
    """Whether a spawner by itself is told one node: then the others are left out on purpose."""
    layer = node_spawner(launch)
    one = layer is not None and (launch.number(layer, "nodes") == 1 or layer.has("--standalone"))
    return one and launch.parallel is None


def first_node_only(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A batch script runs on the first node; nothing reaches the others by itself."""
    if not s.several_nodes or launch.parallel or launch.remote or reaches_others(s):
        return
    layer = launch.spawner
    if one_node_meant(launch):
        why = "the others are charged and idle"
        yield Hit(launch.line, f"the launch is told one node; the job has {s.job.nodes}", why, severity="warning")
    elif layer is not None and layer.name in NODE_SPAWNERS and not launch.open:
        says = f"{layer.name} starts on the first node only; the job has {s.job.nodes}"
        why = "a batch script runs on the first node: the outer launcher starts one a node"
        yield Hit(launch.line, says, why, sources.TORCHRUN, edit=on_each_node(s, launch))
    elif (
        layer is None
        and launch.program.interpreter
        and launch.program.kind in ("script", "module")
        and is_python(launch.root.fields[0])
    ):
        says = f"the program starts on the first node only; the job has {s.job.nodes}"
        why = "a batch script runs on the first node, and nothing here starts it on the others"
        yield Hit(launch.line, says, why, severity="warning")


def reaches_others(s: Subject) -> bool:
    """Whether anything else in the script starts work on other nodes, or hands the launch to something unseen."""
    words = in_order("srun mpirun mpiexec ibrun jsrun flux ssh pdsh pbsdsh blaunch ray clush sbatch parallel")
    text = " ".join(line for _, line in s.code_lines)
    launch = s.launch
    if launch is not None and SELF_STARTING.search(plain(launch.program.entry)):
        return True
    own = launch is not None and any(
        "--deepspeed-hostfile" in name or "hostfile" in name for layer in launch.layers for name, _ in layer.options
    )
    return own or any(f" {word} " in f" {text} " for word in words) or bool(s.script.jobs)


def deepspeed_alone(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    layer = launch.spawner
    if layer is None or layer.name != "deepspeed" or not s.several_nodes:
        return
    if launch.parallel is not None and (launch.tasks or 0) > 1 and not layer.has("--no-ssh"):
        says = (
            f"{launch.parallel.name} starts the deepspeed launcher {launch.tasks} times; it starts all nodes by itself"
        )
        why = "start it once with --hostfile, or start the program itself by the parallel launcher"
        yield Hit(launch.line, says, why)
    elif launch.parallel is None and layer.role("hostfile") is None and not launch.open and not launch.remote:
        says = f"deepspeed has no --hostfile and uses the first node only; the job has {s.job.nodes}"
        why = "it knows other nodes only from a host file (lines `NAME slots=GPUS`)"
        yield Hit(launch.line, says, why, severity="warning")


def processes_per_node(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """torchrun's processes against the GPUs of a node."""
    layer = node_spawner(launch)
    if layer is None or launch.procs is None or (launch.per_node or 1) > 1:
        return
    if layer.role("per_node") is None and (launch.open or "PET_NPROC_PER_NODE" in s.exported):
        return
    words = f"{layer.name} starts {launch.procs} processes a node"
    starter = launch.parallel
    told = launch.number(starter, "gpus_per_task") if starter is not None else None
    each = told or (s.job.gpus_per_task if starter is not None and starter.name == "srun" else None)
    if each and starter is not None and launch.per_node == 1 and launch.procs > each * s.tiles:
        yield Hit(launch.line, f"{words}; {starter.name} gives its one task there {each} GPU{'s' * (each > 1)}")
        return
    yield from against_devices(s, launch, launch.procs, words)


def tasks_per_node(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """One rank a GPU where the parallel launcher starts the ranks itself."""
    if launch.parallel is None or launch.spawner is not None or launch.per_node is None:
        return
    if launch.program.kind not in ("script", "module") or launch.tasks == 1 or launch.per_node == 1:
        return  # Lightning, Ray and their like start their own processes
    for hit in against_devices(
        s, launch, launch.per_node, f"{launch.parallel.name} starts {launch.per_node} ranks a node"
    ):
        # Ranks of MPI may share a GPU, or need none: only a rendezvous says that each takes one.
        yield (
            hit
            if "MASTER_ADDR" in {one.name for one in s.script.assignments}
            else replace(hit, severity="warning", edit=None)
        )


def against_devices(s: Subject, launch: LaunchShape, procs: int, words: str) -> Iterator[Hit]:
    # An exclusive job of Slurm is given all GPUs of its nodes (sbatch(1), --exclusive); srun's steps take what was asked.
    whole = s.job.exclusive and s.scheduler == "slurm" and launch.parallel is None and procs > (s.devices or procs)
    devices = s.node_devices if whole else s.devices or s.node_devices
    if devices and any(one.written.strip("\"'") == "COMPOSITE" for one in s.set_to("ZE_FLAT_DEVICE_HIERARCHY")):
        devices //= max((kind.gpus.tiles_per_gpu for kind in s.node_types), default=1)  # a card is one device then
    asked = s.devices is not None and not whole
    # Programs side by side have each a part of the GPUs.
    part = launch.root.background and (
        any(DEVICES.fullmatch(name) for name, _ in launch.root.assignments)
        or any(layer.has("--gpu-ids") or layer.has("--include") for layer in launch.layers)
        or (launch.parallel is not None and any(launch.parallel.has(one) for one in ("-G", "--gpus", "--gres")))
    )
    if not devices or procs == devices or s.set_to("PART_DEVICES") or part:
        return
    counted = f"{devices} GPU{'s' * (devices != 1)}"
    unit = f"the job has {counted} there" if asked else f"a node has {counted}"
    kinds = {kind.gpus.tile_name for kind in s.node_types if kind.gpus.tiles_per_gpu > 1}
    unit = re.sub(r"\bGPUs?\b", f"devices ({next(iter(kinds)) or 'tile'}s)", unit) if kinds else unit
    if procs > devices:
        why = "ranks without a GPU of their own fail: 'invalid device ordinal', 'Duplicate GPU detected'"
        yield Hit(launch.line, f"{words}; {unit}", why, sources.TORCH_DISTRIBUTED, change=(("gpus_per_node", devices),),
                  edit=ranks_a_node(s, launch, devices))  # fmt: skip
    elif asked:
        yield Hit(launch.line, f"{words}; {unit}: {devices - procs} stay idle", "one rank drives one device", sources.TORCH_DISTRIBUTED,
                  "warning", change=(("gpus_per_node", devices),))  # fmt: skip


def machine_count(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """torchrun --nnodes, accelerate --num_machines against the nodes that it is started on."""
    layer = node_spawner(launch)
    if layer is None or launch.remote:
        return
    role = layer.role("nodes")
    said = launch.number(layer, "nodes")
    on = launch.tasks if launch.parallel is not None and (launch.per_node == 1 or launch.tasks == 1) else None
    if role is None or said is None or on is None or ":" in plain(role) or said == on:
        return
    word = "--num_machines" if layer.name == "accelerate" else "--nnodes"
    end = (
        "it waits for the missing ones until it times out"
        if said > on
        else "the extra ones are turned away or form groups of their own"
    )
    yield Hit(launch.line, f"{word} is {said}, and {launch.parallel.name if launch.parallel else 'the launcher'} starts it on {on} nodes",
              end, sources.TORCHRUN if layer.name != "accelerate" else sources.ACCELERATE)  # fmt: skip


def machine_count_missing(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A spawner on several nodes that is told of one: each node trains alone."""
    layer = node_spawner(launch)
    if layer is None or launch.parallel is None or launch.open or launch.remote:
        return
    several = launch.per_node == 1 and (launch.tasks or 1) > 1
    alone = layer.has("--standalone")
    if not several or layer.role("config") is not None or not (alone or layer.role("nodes") is None):
        return
    if layer.name == "torchrun" and any(name.startswith("PET_") for name in s.exported):
        return
    if layer.name == "composer" and (layer.role("tasks") is not None or "WORLD_SIZE" in s.exported):
        return  # its number of machines is the world size over its own processes
    options = {"accelerate": "no --num_machines", "composer": "no --world_size"}
    word = "--standalone" if alone else options.get(layer.name, "no --nnodes")
    says = f"{layer.name} runs on {launch.tasks} nodes with {word}: every node trains alone"
    yield Hit(launch.line, says, source=sources.TORCHRUN if layer.name != "accelerate" else sources.ACCELERATE)


def total_processes(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """accelerate's --num_processes counts all nodes."""
    layer = node_spawner(launch)
    if layer is None or layer.name != "accelerate":
        return
    total, machines = launch.number(layer, "tasks"), launch.number(layer, "nodes")
    if total is None or machines is None or machines < 2:
        return
    devices = s.devices or s.node_devices
    if total % machines or (devices and total == devices and total // machines < devices):
        says = f"--num_processes is {total} for {machines} machines: it counts the processes of all of them"
        says += f" ({machines} x {devices} = {machines * devices})" if devices else ""
        yield Hit(launch.line, says)


def own_gpus(s: Subject) -> Iterator[Hit]:
    """A program that takes one GPU where none of its own options says more, and starts its processes by itself."""
    text = s.script.text
    known, devices = settings_of(text), s.devices
    call = known.called(text) if known else None
    if known is None or call is None or known.unsaid is None or not devices or devices <= known.unsaid:
        return
    name, option, line = known.names[0], known.gpus[0], text.count("\n", 0, call.start("name")) + 1
    if node_spawner(s.launch):
        says = f"{name} is started once a rank by {node_spawner(s.launch).name}; it starts its own processes"  # type: ignore[union-attr]
        yield Hit(line, says, f"each rank is a run of its own: call it alone, with {option}", known.source, "error")
    elif not known.has(text, known.gpus):
        says = f"{name} runs on {known.unsaid} GPU unless {option} says more; the job has {devices} there"
        why = f"the rest of them idles: ask for {known.unsaid}, or give it {option} {devices}"
        yield Hit(line, says, why, known.source)


def parallel_sizes(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """Tensor, pipeline and data parallelism as the program is told them, against the ranks that are started."""
    if STARTS_ITS_OWN.search(plain(launch.program.entry)):
        return
    ranks = launch.tasks if launch.spawner is None else launch.procs and launch.procs * (launch.nodes or 1)
    words = [part for word in launch.program.args for part in plain(word).split("=", 1)]
    sizes = {
        found[1][0]: int(after)
        for name, after in pairwise(words)
        if (found := PARALLEL.fullmatch(name.replace("_", "-"))) and after.isdigit()
    }
    whole, product = "d" in sizes, prod(sizes.values())
    if not ranks or not product or len(sizes) < 2 or ranks == product or (not whole and ranks % product == 0):
        return
    told = " x ".join(str(one) for one in sizes.values())
    says = f"the parallel sizes are {told} = {product}; {ranks} ranks are started"
    yield Hit(launch.line, says)


RULES = (
    launch_rule("launch-sizes", "launch", "warning", "tensor, pipeline and data parallel sizes that do not give the number of ranks", parallel_sizes,
                why="programs multiply them and compare with the world size: they stop where the two differ"),
    Rule("launch-own-gpus", "launch", "warning", "more GPUs than a program takes by itself (nnU-Net, vLLM)", own_gpus),
    launch_rule("launch-once-per-rank", "launch", "error", "torchrun or accelerate started by every task instead of once a node", once_per_rank, sources.TORCHRUN,
                why="they fight for the same ports and GPUs: 'address already in use', or a wait that never ends"),
    launch_rule("launch-first-node-only", "launch", "error", "several nodes, and nothing starts the program on the others", first_node_only),
    launch_rule("launch-deepspeed", "launch", "error", "the deepspeed launcher started many times, or without a host file", deepspeed_alone, sources.DEEPSPEED),
    launch_rule("launch-processes", "launch", "error", "processes a node and GPUs a node differ", processes_per_node, sources.TORCHRUN,
                why="GPUs are counted for a task, and the task is the spawner: 'invalid device ordinal'"),
    launch_rule("launch-ranks", "launch", "error", "ranks a node and GPUs a node differ (on tiles too)", tasks_per_node),
    launch_rule("launch-machines", "launch", "error", "--nnodes or --num_machines is not the number of nodes it is started on", machine_count),
    launch_rule("launch-machines-missing", "launch", "error", "a spawner on several nodes that is told of one", machine_count_missing,
                why="by default it starts a group of one node"),
    launch_rule("launch-num-processes", "launch", "error", "accelerate's --num_processes counts all machines", total_processes, sources.ACCELERATE,
                why="accelerate divides it by the number of machines"),
)  # fmt: skip
