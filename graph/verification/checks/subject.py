"""What the rules look at: the script read, its job and launch in numbers, the machine, and what else the text tells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from tree_sitter import Node

from graph.extraction.amounts import amount_of_command, arithmetic
from graph.extraction.commands import Assignment
from graph.extraction.dialects import checked
from graph.extraction.job_shape import JobShape, job_shape
from graph.extraction.launch_shape import LaunchShape, read_launch
from graph.extraction.script import ReadScript, read_script
from graph.extraction.script_record import scheduler_of
from graph.extraction.shell_tree import parse
from graph.verification.checks.rule import Edit
from knowledge.cluster import Cluster, NodeType, Queue
from knowledge.processors import part_of_queue

# NEC's NQSV has PBS's mark and options of its own (`--group`, `-b` for nodes, `elapstim_req`).
NQSV = re.compile(
    r"(?m)^#PBS\s+(--group|-T\s|-b\s*\d|-l\s*\S*(elapstim_req|gpunum_lhost|cpunum_job|memsz_job)|-y\s|-venode)"
)
GPU_OPTIONS = frozenset({"gpus", "gpus-per-task", "gpus-per-node", "gres", "gpu", "ngpus"})
EXPORT = re.compile(r"(?:^|[;&|({]|\bthen\b|\bdo\b)\s*(?:export|declare\s+-\w*x\w*|typeset\s+-\w*x\w*)\s+([^;&|#]*)")
# What stands on the right of an assignment: no name in it is exported.
VALUES = re.compile(r"\$\((?:[^()]|\([^()]{0,400}\)){0,400}\)|\$\{[^}]{0,400}\}|\$\w+|\"[^\"]*\"|'[^']*'|`[^`]*`")
# A worker script that a group writes: `{ ...; cat <<'EOF' ... EOF } > FILE`, as ibrun's are.
GROUP = re.compile(r"(?m)^\{\n((?:(?!\}).*\n){0,9}?)^( *)cat <<(['\"]?)(\w+)\3\n((?:.*\n)*?)\4\n\} > (\S+)$")


@dataclass(frozen=True)
class Subject:
    """original is the text as given (line ends and all); lines are those of the text as read."""

    original: str
    script: ReadScript
    cluster: Cluster | None

    @cached_property
    def lines(self) -> list[str]:
        return self.script.text.split("\n")

    def line(self, number: int) -> str:
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def swapped(self, line: int, old: str, new: str) -> Edit:
        """The cure of a line in which one text takes the place of another."""
        return Edit(line, line, (self.line(line).replace(old, new, 1),))

    @cached_property
    def scheduler(self) -> str:
        """The one whose directives stand in the script; the machine's where it has none."""
        found = {one.scheduler for one in self.script.directives}
        if "pbs" in found and NQSV.search(self.script.text):
            return "nqsv"
        if self.cluster and (not found or self.cluster.scheduler in found):
            return self.cluster.scheduler
        told = scheduler_of(self.script)
        late = [one.scheduler for one in self.script.directives if one.why_not.startswith("it stands after")]
        return late[0] if told == "none" and late else told

    @cached_property
    def job(self) -> JobShape:
        return job_shape(self.script, self.scheduler)

    @cached_property
    def launch(self) -> LaunchShape | None:
        return read_launch(self.script, self.job, self.facts)

    @cached_property
    def facts(self) -> dict[str, int]:
        """Numbers by name: the scheduler's variables, and those that the script sets at its top level."""
        job, devices = self.job, self.devices
        gpus = {
            "SLURM_GPUS_ON_NODE": devices, "NODE_GPUS": devices, "SLURM_GPUS_PER_NODE": job.gpus_per_node,
            "SLURM_GPUS": job.total_gpus,
        }  # fmt: skip
        found = job.facts | {name: value for name, value in gpus.items() if value is not None}
        for one in self.script.assignments:
            value = number_of(one.value, found) if not one.inside else None
            if value is not None:
                found[one.name] = value
            elif not one.inside or "branch" in " ".join(one.inside):
                found.pop(one.name, None)
        return found

    # -- the machine --------------------------------------------------------------------------------------------

    @cached_property
    def queue(self) -> Queue | None:
        """The queue that the job names, where the machine's facts hold it; the machine's own where none is written."""
        if self.cluster is None:
            return None
        names = [self.job.value(option) for option in ("qos", "partition", "queue")]
        found = [queue for name in names if name and (queue := self.cluster.queue(name))]
        own = self.cluster.default_queue if not self.cluster.writes_queue and self.scheduler == "slurm" else None
        return found[0] if found else own

    @cached_property
    def node_types(self) -> tuple[NodeType, ...]:
        """The node types that the job may land on; all of the machine's where no known queue is named."""
        if self.cluster is None:
            return ()
        names = self.queue.node_types if self.queue else ()
        kinds = tuple(self.cluster.node_type(name) for name in names) or self.cluster.node_types
        named = self.job.value("gpus", "gpus-per-node", "gres")
        typed = tuple(kind for kind in kinds if kind.gpu_type and kind.gpu_type in named)
        return typed or kinds

    @property
    def on_processors(self) -> bool:
        """Whether the job lands on nodes without GPUs."""
        return bool(self.node_types) and not any(kind.gpus.model for kind in self.node_types)

    @cached_property
    def node_devices(self) -> int | None:
        """Devices of one whole node as a framework counts them, where all nodes in question agree."""
        counts = {kind.gpus.devices_per_node for kind in self.node_types}
        return counts.pop() if len(counts) == 1 else None

    @cached_property
    def devices(self) -> int | None:
        """Devices of one node that the job may use; None where the text does not tell."""
        job, cluster = self.job, self.cluster
        if job.mixed:
            return None
        if job.gpus_per_node is not None:
            return job.gpus_per_node * self.tiles
        if job.gpus_per_task and job.tasks_per_node:
            return (job.gpus_of_tasks or 1) * self.tiles
        gpu_asked = GPU_OPTIONS & set(job.asked)
        if cluster is not None and cluster.whole_nodes and not gpu_asked and self.scheduler == cluster.scheduler:
            return self.node_devices
        return None

    @cached_property
    def tiles(self) -> int:
        """Devices behind one of the scheduler's GPUs."""
        factors = {k.gpus.tiles_per_gpu if k.gpus.scheduler_counts == "cards" else 1 for k in self.node_types}
        return factors.pop() if len(factors) == 1 else 1

    # -- the text -----------------------------------------------------------------------------------------------

    @cached_property
    def comment_lines(self) -> frozenset[int]:
        """Lines that the shell takes for comments: not those inside strings and heredocs."""
        root = parse(self.script.text).root_node
        return frozenset(node.start_point[0] + 1 for node in walk(root) if node.type == "comment")

    @cached_property
    def code_lines(self) -> list[tuple[int, str]]:
        return [
            (number, line)
            for number, line in enumerate(self.lines, 1)
            if line.strip() and not line.lstrip().startswith("#")
        ]

    @cached_property
    def exported(self) -> frozenset[str]:
        """Names that some line exports."""
        found = {one.name for one in self.script.assignments if one.exported}
        for _, line in self.code_lines:
            for match in EXPORT.finditer(VALUES.sub("0", line)):
                found |= set(re.findall(r"(?:^|\s)([A-Za-z_]\w*)(?==|\s|$)", match[1]))
        return frozenset(found)

    @cached_property
    def names(self) -> frozenset[str]:
        """Names that the script sets or exports."""
        return self.exported | {one.name for one in self.script.assignments}

    def set_to(self, name: str) -> list[Assignment]:
        """Where a variable is set, in order."""
        return [one for one in self.script.assignments if one.name == name]

    @property
    def several_nodes(self) -> bool:
        return (self.job.nodes or 0) > 1

    @property
    def is_shell(self) -> bool:
        return self.script.language == "bash"


def walk(root: Node) -> Iterator[Node]:
    """Every node, without recursion: honest trees are shallow, hostile ones are not."""
    left = [root]
    while left:
        node = left.pop()
        yield node
        left.extend(node.children)


def number_of(text: str, facts: dict[str, int]) -> int | None:
    """The number that an assignment's right side stands for."""
    text = text.strip().strip("\"'")
    if re.fullmatch(r"\d{1,9}", text):
        return int(text)
    inner = re.fullmatch(r"\$\(\((.*)\)\)", text, re.S) or re.fullmatch(r"(\$\{?[A-Za-z_]\w*\}?)", text)
    if inner:
        return arithmetic(re.sub(r"\$\{?([A-Za-z_]\w*)\}?", r"\1", inner[1]), facts)
    command = re.fullmatch(r"\$\((.*)\)|`(.*)`", text, re.S)
    amount = amount_of_command(command[1] or command[2] or "") if command else ""
    return facts.get(amount) if amount else None


def read_subject(text: str, cluster: Cluster | None) -> Subject:
    """Raises InputError on what is no script."""
    # The text that people see is, line for line, the one that was read.
    subject = Subject(text, replace(read_script(unfolded(checked(text))), text=checked(text)), cluster)
    return replace(subject, cluster=part_of(subject, cluster)) if cluster and cluster.cpu_nodes else subject


def part_of(subject: Subject, cluster: Cluster) -> Cluster:
    """The machine as the job finds it: without its GPUs where its queue has no others, or a line of its own says so."""
    queues = tuple(filter(None, (subject.job.value(name) for name in ("qos", "partition", "queue"))))
    alone = any((queue := cluster.queue(name)) and not queue.node_types for name in queues)
    kinds = {node.id for node in cluster.cpu_nodes}
    lines = (fact.text for fact in cluster.directives if fact.node_types and set(fact.node_types) <= kinds)
    told = alone or any(f" {text}" in line for text in lines for line in subject.lines)
    return part_of_queue(cluster, queues, not told or bool(GPU_OPTIONS & set(subject.job.asked)))


def unfolded(text: str) -> str:
    """Worker scripts written by a group as plain `cat > FILE <<EOF`, with the same lines."""
    return GROUP.sub(
        lambda m: ":\n" + ":\n" * m[1].count("\n") + f"{m[2]}cat > {m[6]} <<{m[3]}{m[4]}{m[3]}\n{m[5]}{m[4]}\n:", text
    )
