"""What is true of a machine: the strict model of knowledge/clusters/*.yaml.

What a program acts on is a typed field; what only a person reads (notes, gotchas, unknown) is text. A fact that decides
a flag names the page it was read from in `source`; its date is the cluster's `as_of` unless the fact has its own.
Unknown keys are refused (strict.py). Shell text in a file (rendezvous, setup lines, options) is trusted like the file.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import Annotated, Literal

from knowledge.charging import Charge
from knowledge.job_parts import ContainerRuntime
from knowledge.strict import Checked, Facts, Positive, check_filled, matching
from knowledge.types import Backend, Framework, Scheduler, Strategy

Launcher = Literal["srun", "mpiexec", "mpirun", "ibrun", "jsrun", "flux", "none"]
Workers = Literal["ranks", "torchrun", "accelerate", "single", "ray", "tensorflow", "nodes"]
Condition = Literal["always", "multi_node", "one_node", "whole_node", "part_node", "ranks", "one_task"]

# What a directive or a launch option may name in braces; planning fills them in.
PLACEHOLDERS = frozenset(
    {
        *("account", "queue", "nodes", "walltime", "walltime_hm", "minutes", "job_name", "tasks", "tasks_per_node"),
        *("cpus_per_task", "total_cpus", "gpus_per_node", "total_gpus", "gpu_type", "ranks_per_node", "memory_gb"),
    }
)
REQUIRED_KEYS = Literal[
    "account", "queue", "walltime", "nodes", "gpus", "memory", "filesystems", "place", "constraint", "tasks", "cpus"
]


FETCHES = re.compile(r"(?i)\b(?:download|fetch|install|pip|pull|hub|internet)\w*")
LOGIN_NODE = re.compile(r"(?i)\b(?:on|from) (?:a|the) login node\b")
# How the makers of GPUs write themselves.
VENDORS = {"nvidia": "NVIDIA", "amd": "AMD", "intel": "Intel"}
NEVER = "0000"
"""The date of facts that nobody looked up: those of a stand-in for a machine that nobody described."""


def walltime_seconds(text: str) -> int:
    """HH:MM:SS (hours may pass 99) in seconds. Raises ValueError on anything else."""
    hours, minutes, seconds = (int(part) for part in text.split(":"))
    if not (0 <= minutes < 60 and 0 <= seconds < 60 and hours >= 0):
        raise ValueError(f"'{text}' is no walltime: write HH:MM:SS")
    return hours * 3600 + minutes * 60 + seconds


def check_walltime(text: str) -> str:
    walltime_seconds(text)
    return text


def check_placeholders(text: str) -> str:
    names = {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    if not names <= PLACEHOLDERS:
        raise ValueError(f"unknown placeholder {sorted(names - PLACEHOLDERS)} in '{text}'; write {{{{ for a brace")
    return text


Walltime = Annotated[str, Checked(check_walltime)]
Fillable = Annotated[str, Checked(check_placeholders)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpus(Facts):
    """The GPUs of one node. per_node counts cards; a card may be several devices (tiles, GCDs) to the framework."""

    vendor: Literal["nvidia", "amd", "intel"]
    model: str
    memory_gb: float | None = None
    per_node: Positive | None
    tiles_per_gpu: Positive = 1
    tile_name: str | None = None
    form: str | None = None
    backend: Backend
    arch: str | None = None
    scheduler_counts: Literal["cards", "tiles"] = "tiles"
    """What the scheduler's GPU options count, where the machine has any."""

    @property
    def devices_per_node(self) -> int | None:
        """How many devices a framework sees on a node: one rank each."""
        return self.per_node * self.tiles_per_gpu if self.per_node else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cpu(Facts):
    model: str | None = None
    cores: Positive | None = None
    threads_per_core: Positive | None = None
    schedulable: Positive | None = None
    """CPUs that the scheduler's per-task option can divide among the tasks of a node (hardware threads or cores)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nics(Facts):
    kind: str | None = None
    count: Positive | None = None
    gbps_each: float | None = None
    interface: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeType(Facts):
    id: str
    count: Positive | None = None
    gpus: Gpus
    cpu: Cpu = field(default_factory=lambda: Cpu())
    memory_gb: float | None = None
    job_memory_gb: float | None = None
    """What a job may ask for on a whole node, where that is less; {memory_gb} is the share of the job's GPUs in it."""
    nics: Nics = field(default_factory=lambda: Nics())
    gpu_type: str | None = None
    """The scheduler's name of this GPU, where a request must name one."""
    local_disk: str | None = None
    software: Software | None = None
    """Takes the place of the cluster's default software on these nodes, such as AMD nodes beside NVIDIA ones."""
    notes: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    """Told with every script for these nodes."""
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuNodeType(Facts):
    """Nodes without GPUs, for jobs that prepare, convert or copy data."""

    id: str
    count: Positive | None = None
    cpu: Cpu
    memory_gb: float | None = None
    job_memory_gb: float | None = None
    advice: tuple[str, ...] = ()
    source: str | None = None

    def __post_init__(self) -> None:
        if (self.cpu.schedulable or self.cpu.cores) is None:
            raise ValueError(f"CPU nodes {self.id} need 'cores': what a job may take of a node")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit(Facts):
    """A stretch of node counts and the longest walltime there."""

    min_nodes: Positive
    max_nodes: Positive | None
    max_walltime: Walltime
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue(Facts):
    """A partition, queue or QOS: what a job names to get there, and how much it takes."""

    id: str
    node_types: tuple[str, ...]
    cpu_nodes: tuple[str, ...] = ()
    """Its kinds of nodes without GPUs; node_types is empty where it has no others."""
    max_walltime: Walltime | None
    min_nodes: Positive = 1
    max_nodes: Positive | None = None
    limits: tuple[Limit, ...] = ()
    """Where the walltime limit depends on the node count."""
    max_gpus: Positive | None = None
    max_cores: Positive | None = None
    """Of a job without GPUs, as the scheduler counts."""
    whole_nodes: bool = False
    """Whether this queue hands out whole nodes on a machine that else shares them: all GPUs of a node are asked for."""
    min_walltime: Walltime | None = None
    max_submitted: Positive | None = None
    """Jobs of one user there at a time, waiting and running; each task of an array is one."""
    purpose: Literal["production", "debug", "interactive", "preempt", "shared", "special"] = "production"
    default: bool = False
    names: tuple[str, ...] = ()
    """Other words for it, such as the long name of a QOS."""
    others: str | None = None
    """A pattern such as `acc_bsc*`: queues that each group has of its own, with the same limits."""
    directives: tuple[Fillable, ...] = ()
    """Further directives that this queue needs, beside the cluster's."""
    note: str | None = None
    source: str | None = None
    as_of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectiveFact(Facts):
    """One directive of every deep-learning job there: its words with placeholders, and when it is written."""

    text: Fillable
    when: Condition = "always"
    node_types: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    comment: str = ""
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forbidden(Facts):
    option: str
    effect: Literal["rejected", "deleted", "ignored", "harmful"]
    why: str
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Required(Facts):
    key: REQUIRED_KEYS
    why: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account(Facts):
    """How a job is charged. suffix is what the GPU project's name ends on, by node type where it differs; prefix what
    Slurm's account has before the project's name."""

    needed: bool = True
    prefix: str = ""
    suffix: str | None = None
    suffix_by_node_type: Mapping[str, str] = field(default_factory=dict)
    suffix_required: bool = False
    cpu_suffix: str | None = None
    """What the account of jobs without GPUs ends on."""
    shape: str | None = None
    """What every account there looks like, as a regular expression (lower case), where that tells it from a word."""
    note: str | None = None
    source: str | None = None

    @property
    def endings(self) -> tuple[str, ...]:
        """All that an account there may have to end on."""
        return tuple(filter(None, (self.suffix, self.cpu_suffix, *self.suffix_by_node_type.values())))

    def suffix_for(self, node_type: str) -> str | None:
        return self.suffix_by_node_type.get(node_type, self.suffix)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentFact(Facts):
    """A variable. `apply: advice` is shown to people and never written by itself."""

    name: Annotated[str, Checked(matching(r"^[A-Za-z_][A-Za-z0-9_]*$"))]
    value: str
    apply: Literal["always", "multi_node", "one_node", "advice"] = "advice"
    workers: tuple[Workers, ...] = ()
    node_types: tuple[str, ...] = ()
    frameworks: tuple[Framework, ...] = ()
    expand: bool = False
    """Whether the value holds shell variables that the job must expand."""
    when: str = ""
    why: str = ""
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(Facts):
    """A line at the top of the script that a person will want to change, such as the path of their environment."""

    name: Annotated[str, Checked(matching(r"^[A-Z_][A-Z0-9_]*$"))]
    value: str
    why: str = ""
    environment: bool = False
    """Whether the user's own environment (a path or a name) goes here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Software(Facts):
    """How a job gets its Python and framework: settings, lines of shell, and a wrapper such as a container's run."""

    settings: tuple[Setting, ...] = ()
    lines: tuple[str, ...] = ()
    wrapper: str | None = None
    python: str = "python"
    create: str | None = None
    """How a person makes the environment, once, on a login node."""
    note: str | None = None
    source: str | None = None
    as_of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerFact(Facts):
    """A way to run a container there: the runtime, lines that make it ready, folders always bound, further options."""

    runtime: ContainerRuntime
    lines: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDisk(Facts):
    """A disk of the node's own for staged data: its folder (shell text) and what a job must ask for to have it."""

    path: str
    directives: tuple[str, ...] = ()
    broadcast: bool = False
    """Whether the site recommends sbcast to copy files there."""
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankVariables(Facts):
    """Where a task started by the launcher finds its rank; shell text, expanded inside the task."""

    rank: str
    local_rank: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchForm(Facts):
    """One way to start the workers: an outer launcher, and what each of its tasks is.

    workers: `ranks` (each task is one rank), `torchrun` or `accelerate` (one task a node, which starts the ranks).
    """

    launcher: Launcher
    workers: Workers
    options: tuple[Fillable, ...] = ()
    whole_node_options: tuple[Fillable, ...] = ()
    part_node_options: tuple[Fillable, ...] = ()
    torchrun: str = "torchrun"
    torchrun_options: tuple[str, ...] = ()
    rank_variables: RankVariables | None = None
    visible_devices: Literal["all", "one"] = "all"
    """`one`: a task sees only its own device, number 0, so LOCAL_RANK is 0."""
    node_types: tuple[str, ...] = ()
    note: str | None = None
    source: str | None = None
    documented: bool = True
    """False: our reading of the facts; no page of the site shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalFact(Facts):
    """What does not work there: framework and strategy (None: any), why, and the nearest thing that does."""

    framework: Framework | None = None
    strategy: Strategy | None = None
    node_types: tuple[str, ...] = ()
    says: str
    why: str
    instead: str
    change: Mapping[str, str] = field(default_factory=dict)
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendezvous(Facts):
    """How rank 0's address and port are found: shell text that runs once, in the batch script, on the first node."""

    host: str
    port: str = "29500"
    lines: tuple[str, ...] = ()
    note: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Internet(Facts):
    access: Literal["yes", "no", "proxy", "unknown"]
    proxy: Mapping[str, str] = field(default_factory=dict)
    """Variables to export, name -> value."""
    login_nodes: bool = True
    """Whether the login nodes reach it."""
    note: str | None = None
    source: str | None = None

    @property
    def beforehand(self) -> str:
        """How what a job needs comes to the machine, where its nodes do not reach the internet."""
        if self.login_nodes:
            return "download models and data on a login node first"
        return "the login nodes have none either, so download models and data elsewhere and copy them in"

    def as_there(self, step: str) -> str:
        """A step that fetches something on a login node, by where the machine has internet."""
        if self.login_nodes or not FETCHES.search(step):
            return step
        return LOGIN_NODE.sub("on a computer with internet (no login node there has it; copy it in afterwards)", step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster(Facts):
    """One machine."""

    id: Annotated[str, Checked(matching(r"^[a-z0-9][a-z0-9-]*$"))]
    title: str
    """The name as its site writes it."""
    names: tuple[str, ...]
    site: str
    programmes: tuple[str, ...] = ()
    docs: str | None = None
    as_of: Annotated[str, Checked(matching(r"^\d{4}(-\d{2}(-\d{2})?)?$"))]
    status: str | None = None
    """Set where the machine is retired or its facts are thin."""
    scheduler: Scheduler
    submit: str
    shebang: str = "#!/bin/bash"
    node_types: Annotated[tuple[NodeType, ...], Checked(check_filled)]
    cpu_nodes: tuple[CpuNodeType, ...] = ()
    queues: Annotated[tuple[Queue, ...], Checked(check_filled)]
    whole_nodes: bool
    """Whether a job always gets whole nodes with all their GPUs, and no GPU option is written."""
    directives: Annotated[tuple[DirectiveFact, ...], Checked(check_filled)]
    forbidden: tuple[Forbidden, ...] = ()
    required: tuple[Required, ...] = ()
    account: Account = field(default_factory=lambda: Account())
    charge: Charge | None = None
    software: Mapping[Framework | Literal["default", "cpu"], Software]
    """`default` and what differs from it; `cpu`: what a job without GPUs loads."""
    environment: tuple[EnvironmentFact, ...] = ()
    internet: Internet
    rendezvous: Rendezvous
    preamble: tuple[str, ...] = ()
    """Shell lines before everything else, such as going to the folder the job was submitted from."""
    launch: Mapping[Framework, tuple[LaunchForm, ...]]
    """For each framework its forms, best first; the first that fits the node type is taken."""
    refusals: tuple[RefusalFact, ...] = ()
    containers: tuple[str, ...] = ()
    container_runtimes: tuple[ContainerFact, ...] = ()
    """Best first."""
    conda: tuple[str, ...] = ()
    """Lines after which `conda activate` works in a job."""
    node_disk: NodeDisk | None = None
    filesystems: Mapping[str, str] = field(default_factory=dict)
    gotchas: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    sources: tuple[str, ...]

    def __post_init__(self) -> None:
        types = {node.id for node in self.node_types}
        for queue in self.queues:
            if not set(queue.node_types) <= types:
                raise ValueError(f"queue {queue.id} names node types that are not listed: {queue.node_types}")
            if not set(queue.cpu_nodes) <= {node.id for node in self.cpu_nodes}:
                raise ValueError(f"queue {queue.id} names CPU nodes that are not listed: {queue.cpu_nodes}")
        if "default" not in self.software:
            raise ValueError("software needs a 'default'")
        if "pytorch" not in self.launch:
            raise ValueError("launch needs 'pytorch'")
        if sum(queue.default for queue in self.queues) != 1:
            raise ValueError("exactly one queue has 'default: true'")

    def queue(self, name: str) -> Queue | None:
        """The queue of that id or other name, without regard to case; a group's own is called as it was named."""
        wanted = name.lower()
        named = (q for q in self.queues if wanted in (q.id.lower(), *(n.lower() for n in q.names)))
        plain = re.fullmatch(r"\w+", wanted) is not None
        own = (replace(q, id=name) for q in self.queues if plain and q.others and fnmatchcase(wanted, q.others.lower()))
        return next(chain(named, own), None)

    def tells_of(self, word: str) -> bool:
        """Whether the facts hold this word anywhere: a slice of a GPU in a remark, say."""
        told = str(self).replace("\\n", " ")
        return re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", told) is not None

    def node_type(self, name: str) -> NodeType:
        """The node type of that id. Raises KeyError."""
        for node in self.node_types:
            if node.id == name:
                return node
        raise KeyError(name)

    @property
    def gpu_queues(self) -> tuple[Queue, ...]:
        """The queues that have nodes with GPUs."""
        return tuple(queue for queue in self.queues if queue.node_types)

    @property
    def writes_queue(self) -> bool:
        """Whether a job names a queue; where none is written the scheduler chooses it."""
        return any("{queue}" in fact.text for fact in self.directives)

    @property
    def default_queue(self) -> Queue:
        return next(queue for queue in self.queues if queue.default)
