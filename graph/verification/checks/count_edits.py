"""The cures of launch counts: one task a node, as many ranks as GPUs, a number of tasks where none is said."""

from __future__ import annotations

import re
from collections.abc import Mapping

from graph.extraction.job_shape import whole
from graph.extraction.launch_chain import Layer
from graph.extraction.launch_shape import NODE_SPAWNERS, LaunchShape
from graph.extraction.shell_words import plain
from graph.verification.checks.option_tables import MARKS
from graph.verification.checks.rule import Edit
from graph.verification.checks.subject import Subject

# The options of sbatch and srun that count tasks, and those that say what each task gets, by their one meaning.
OPTIONS = {
    "ntasks-per-node": r"--n?tasks-per-node[= ]\s*",
    "ntasks": r"(?:--ntasks[= ]|(?<=\s)-n(?=[\s\d]))\s*",
    "cpus-per-task": r"(?:--cpus-per-task[= ]|(?<=\s)-c(?=[\s\d]))\s*",
    "gpus-per-task": r"--gpus-per-task[= ]\s*",
}
PER_NODE = r"--nproc[-_]per[-_]node[= ]\s*"


def one_task_a_node(s: Subject, launch: LaunchShape) -> Edit | None:
    """One task a node, which gets the cores and GPUs that its tasks had together."""
    return tasks_a_node(s, launch, 1, share=True)


# torchrun at the beginning of its line, and what in it the batch script's shell would fix to the first node.
BEGINS_NODE = re.compile(r"\s*(?:torchrun|python3? -m torch\.distributed\.run)\s")
OF_ONE_NODE = re.compile(r"node[-_]rank|hostname|SLURM_(?:NODEID|PROCID|LOCALID)|standalone|&\s*$|\|")


def on_each_node(s: Subject, launch: LaunchShape) -> Edit | None:
    """srun before a torchrun that meets by rendezvous: one task a node, with the cores that the job asks for there."""
    lines = lines_of_launch(s, launch)
    first = s.line(launch.line)
    alike = not any(OF_ONE_NODE.search(line) for line in lines.values())
    meets = any("rdzv" in line for line in lines.values())
    if s.scheduler != "slurm" or not BEGINS_NODE.match(first) or not alike or not meets:
        return None
    if s.job.gpus_per_task:  # one task would get the GPUs of one
        return None
    cores = (s.job.cpus_per_task or 0) * (s.job.tasks_per_node or 1)
    each = f" --cpus-per-task={cores}" if cores else ""
    indent = first[: len(first) - len(first.lstrip())]
    starter = f'srun --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1{each} '
    return Edit(launch.line, launch.line, (f"{indent}{starter}{first.lstrip()}",))


def tasks_a_node(s: Subject, launch: LaunchShape, wanted: int, *, share: bool = False) -> Edit | None:
    """That many tasks a node, in whichever directives and options of srun count them; None where a count is no plain
    number. share: what each task got is put together."""
    starter, now, nodes = launch.parallel, launch.per_node, launch.nodes
    if s.scheduler != "slurm" or starter is None or starter.name != "srun" or not now or not nodes:
        return None
    values = {"ntasks-per-node": lambda _: wanted, "ntasks": lambda _: wanted * nodes}
    each = {"cpus-per-task": lambda one: one * now // wanted, "gpus-per-task": lambda one: one * now // wanted}
    lines = {one.line: s.line(one.line) for name, one in s.job.asked.items() if name in OPTIONS}
    lines |= options_of_launch(s, launch, starter)
    changed = {}
    for at, text in lines.items():
        end = end_of_options(launch, starter, text) if at >= launch.line else len(text)
        head = text[:end]
        for name, new in (values | each if share else values).items():
            found = re.search(rf"({OPTIONS[name]})([\w$\"'{{}}]+)", head)
            count = whole(found[2]) if found else None
            if found and count is None:
                return None
            head = f"{head[: found.start(2)]}{new(count or 0)}{head[found.end(2) :]}" if found else head
        if head != text[:end]:
            changed[at] = head + text[end:]
    return edit_of(s, changed)


def ranks_a_node(s: Subject, launch: LaunchShape, devices: int) -> Edit | None:
    """As many processes of torchrun a node as it has GPUs; of ranks that srun starts, as many tasks."""
    layer = launch.spawner
    if layer is None:
        return tasks_a_node(s, launch, devices)
    if layer.name not in NODE_SPAWNERS or whole(plain(layer.role("per_node") or ())) is None:
        return None
    lines = lines_of_launch(s, launch)
    changed = {
        at: re.sub(rf"({PER_NODE})\d+\b", rf"\g<1>{devices}", text)
        for at, text in lines.items()
        if re.search(PER_NODE, text)
    }
    return edit_of(s, changed)


def missing_tasks(s: Subject, line: int) -> Edit | None:
    """The directive that says how many tasks a node: one where a spawner starts the ranks, else one a GPU."""
    launch = s.launch
    if launch is None or s.scheduler != "slurm":
        return None
    spawned = launch.parallel is None or (launch.spawner is not None and launch.spawner.name in NODE_SPAWNERS)
    count = 1 if spawned else launch.per_node or s.devices or s.node_devices
    return Edit(line + 1, line, (f"{MARKS['slurm']} --ntasks-per-node={count}",)) if count else None


def lines_of_launch(s: Subject, launch: LaunchShape) -> dict[int, str]:
    """The lines of the launch by their numbers."""
    lines, at = {}, launch.line
    while text := s.line(at):
        lines[at] = text
        if not text.endswith("\\"):
            break
        at += 1
    return lines


def options_of_launch(s: Subject, launch: LaunchShape, starter: Layer) -> dict[int, str]:
    """Of these lines those that hold the starter's own options."""
    lines = {}
    for at, text in lines_of_launch(s, launch).items():
        lines[at] = text
        if end_of_options(launch, starter, text) < len(text):
            break
    return lines


def end_of_options(launch: LaunchShape, starter: Layer, text: str) -> int:
    """Where the starter's own options end in a line: at the program that it starts; else at the line's end."""
    inner = launch.layers[launch.layers.index(starter) + 1 :]
    names = [inner[0].written if inner else launch.program.interpreter or plain(launch.program.entry)]
    found = next((at for name in names if name and (at := text.find(name)) >= 0), -1)
    return len(text) if found < 0 else found


def edit_of(s: Subject, changed: Mapping[int, str]) -> Edit | None:
    """Lines here and there as one edit: what lies between them stays as it is."""
    if not changed:
        return None
    first, last = min(changed), max(changed)
    return Edit(first, last, tuple(changed.get(at, s.line(at)) for at in range(first, last + 1)))
