"""How the training program is started, in numbers: the launch chain of its command, worked out for this job."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from graph.extraction.amounts import arithmetic
from graph.extraction.commands import Command
from graph.extraction.job_shape import JobShape
from graph.extraction.launch_chain import LaunchedProgram, Layer
from graph.extraction.launchers import base_name, is_python
from graph.extraction.script import ReadScript
from graph.extraction.shell_values import field_amount
from graph.extraction.shell_words import Field, plain
from graph.extraction.training import layers_of
from knowledge.launcher_options import launcher_table

Facts = Mapping[str, int]
# Spawners that start one process a GPU on their own node, and so are wanted once a node.
NODE_SPAWNERS = frozenset({"torchrun", "accelerate", "tune", "composer", "colossalai"})


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """tasks, per_node and nodes are the parallel launcher's; procs is what a spawner starts on each node.

    line is where the outermost command stands. open: options stand in variables that only the run fills in.
    """

    command: Command
    root: Command
    layers: tuple[Layer, ...]
    parallel: Layer | None
    spawner: Layer | None
    program: LaunchedProgram
    facts: Facts
    nodes: int | None = None
    tasks: int | None = None
    per_node: int | None = None
    procs: int | None = None
    open: bool = False

    @property
    def line(self) -> int:
        return self.root.line

    @property
    def remote(self) -> bool:
        """Whether other nodes are reached by ssh and the like, or the command stands in a loop over hosts."""
        inside = " ".join(self.command.inside)
        return any(layer.kind == "remote" for layer in self.layers) or "loop" in inside or "not called" in inside

    def number(self, layer: Layer, role: str) -> int | None:
        return number(layer.role(role), self.facts)

    def number_of(self, word: Field) -> int | None:
        return number(word, self.facts)


def number(one: Field | None, facts: Facts) -> int | None:
    """The number that a word stands for, with the job's facts and the script's variables known.

    Of a range (`1:4`) the most; of `${N:-2}` what is taken where nothing is given.
    """
    if one is None:
        return None
    text, amount = plain(one), field_amount(one)
    found = arithmetic(amount, facts) if amount else None
    if found is None:
        told = re.fullmatch(r"\d+:(\d+)|\$\{\w+:?-[\"']?(\d+)[\"']?\}", text)
        name = re.fullmatch(r"\$\{?([A-Za-z_]\w*)\}?", text)
        found = int(told[1] or told[2]) if told else facts.get(name[1]) if name else None
    return found


def root_of(command: Command) -> Command:
    while command.outer is not None:
        command = command.outer
    return command


def read_launch(script: ReadScript, job: JobShape, facts: Facts) -> LaunchShape | None:
    command = script.training
    if command is None or command.chain.program is None:
        return None
    layers = layers_of(command)
    parallel = next((one for one in reversed(layers) if one.kind == "parallel"), None)
    spawner = next((one for one in reversed(layers) if one.kind == "spawner"), None)
    bare = LaunchShape(
        command, root_of(command), layers, parallel, spawner, command.chain.program, facts,
        open=any(name == "" for layer in layers for name, _ in layer.options)
        or option_in_variable(command)
        or behind_wrapper(command),
    )  # fmt: skip
    nodes, tasks, per_node = counts(bare, job)
    procs = processes(bare, nodes)
    return LaunchShape(
        command, bare.root, layers, parallel, spawner, bare.program, facts, nodes, tasks, per_node, procs, bare.open
    )


def behind_wrapper(command: Command) -> bool:
    """Whether a program that we do not know calls the spawner (`oumi distributed torchrun`): it may add options."""
    first = command.fields[0]
    known = base_name(first) in launcher_table().by_name or is_python(first) or not command.argv
    return not known and any(layer.kind == "spawner" for layer in command.chain.layers)


def option_in_variable(command: Command) -> bool:
    """Whether a word of the chain is a whole variable that nothing tells: it may hold any option."""
    one: Command | None = command
    while one is not None:
        words = one.fields[: len(one.fields) - len(command.chain.program.args if command.chain.program else ())]
        for number_, word in enumerate(words):
            before = plain(words[number_ - 1]) if number_ else ""
            several = len(word) == 1 and word[0].open and (not word[0].quoted or "@" in word[0].text)
            if several and not before.startswith("-"):
                return True
        one = one.outer
    return False


def counts(launch: LaunchShape, job: JobShape) -> tuple[int | None, int | None, int | None]:
    """(nodes, tasks, tasks a node) of the parallel launcher."""
    layer = launch.parallel
    if layer is None or job.mixed:
        return job.nodes, None, None
    worked_out = LAUNCHERS.get(layer.name, by_mpi)(launch, layer, job)
    nodes, tasks, per_node = worked_out
    if tasks is None and nodes and per_node:
        tasks = nodes * per_node
    if per_node is None and nodes and tasks and tasks % nodes == 0:
        per_node = tasks // nodes
    return nodes, tasks, per_node


def by_srun(launch: LaunchShape, layer: Layer, job: JobShape) -> tuple[int | None, int | None, int | None]:
    """Options of srun win over the job's. With nothing said anywhere there is one task a node."""
    nodes = launch.number(layer, "nodes") if layer.role("nodes") is not None else job.nodes
    tasks, per_node = launch.number(layer, "tasks"), launch.number(layer, "per_node")
    said = [layer.role("tasks"), layer.role("per_node")]
    if said == [None, None]:
        if layer.role("nodes") is not None and job.ntasks is None and job.tasks_per_node is None:
            return nodes, nodes, 1 if nodes else None
        asked = {"ntasks", "ntasks-per-node", "ntasks-per-gpu", "ntasks-per-socket", "ntasks-per-core"} & set(job.asked)
        if asked:
            return nodes, job.ntasks, job.tasks_per_node
        if "cpus-per-task" in job.asked or layer.has("--ntasks-per-gpu"):
            return nodes, None, None
        return nodes, nodes, 1 if nodes else None
    if (
        said[1] is not None
        and said[0] is None
        and job.ntasks is not None
        and job.ntasks != (per_node or 0) * (nodes or 0)
    ):
        return nodes, None, per_node
    return nodes, tasks, per_node


def by_mpi(launch: LaunchShape, layer: Layer, job: JobShape) -> tuple[int | None, int | None, int | None]:
    per_node = launch.number(layer, "per_node")
    mapped = re.search(r"ppr:(\d+):node", plain(layer.role("map") or ()))
    per_node = per_node or (int(mapped[1]) if mapped else None)
    hosts = layer.role("hosts")
    if hosts is not None:
        return None, launch.number(layer, "tasks"), per_node
    return job.nodes, launch.number(layer, "tasks"), per_node


def by_ibrun(launch: LaunchShape, layer: Layer, job: JobShape) -> tuple[int | None, int | None, int | None]:
    if layer.has("-o"):
        return None, None, None
    tasks = launch.number(layer, "tasks") if layer.role("tasks") is not None else job.ntasks
    return job.nodes, tasks, job.tasks_per_node if layer.role("tasks") is None else None


def by_jsrun(launch: LaunchShape, layer: Layer, job: JobShape) -> tuple[int | None, int | None, int | None]:
    sets, here = launch.number(layer, "sets"), launch.number(layer, "sets_per_node")
    each = launch.number(layer, "set_tasks") or (1 if layer.role("set_tasks") is None else None)
    total = launch.number(layer, "total_tasks")
    nodes = -(-sets // here) if sets and here else job.nodes
    return nodes, total or (sets * each if sets and each else None), here * each if here and each else None


def by_flux(launch: LaunchShape, layer: Layer, job: JobShape) -> tuple[int | None, int | None, int | None]:
    nodes = launch.number(layer, "nodes") if layer.role("nodes") is not None else job.nodes
    return nodes, launch.number(layer, "tasks"), launch.number(layer, "per_node")


LAUNCHERS = {"srun": by_srun, "salloc": by_srun, "ibrun": by_ibrun, "jsrun": by_jsrun, "flux": by_flux}


def processes(launch: LaunchShape, nodes: int | None) -> int | None:
    """Processes that the spawner starts on each node."""
    layer = launch.spawner
    if layer is None:
        return None
    if layer.name == "accelerate":
        total, machines = launch.number(layer, "tasks"), launch.number(layer, "nodes")
        machines = machines or (1 if layer.role("nodes") is None and nodes == 1 else None)
        return total // machines if total and machines and total % machines == 0 else None
    if layer.name == "torchrun" and layer.role("per_node") is None:
        return None if launch.open else 1
    return launch.number(layer, "per_node")


def text_of(layer: Layer, *options: str) -> str | None:
    """The last value of the first of these options; None where none is given."""
    for name in options:
        found = next((value for written, value in reversed(layer.options) if written == name), None)
        if found is not None:
            return plain(found)
    return None
