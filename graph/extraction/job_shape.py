"""The shape of a job, in numbers: what its directives ask the scheduler for, in each batch system's own words.

The one reader of directives' counts: checks, planning, porting and rehearsal all take them from here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from graph.extraction.amounts import JOB_NODES, LOOP, NODE_LINES
from graph.extraction.directives import DirectiveLine
from graph.extraction.script import ReadScript
from graph.extraction.walltime import seconds_of
from knowledge.job_parts import JobArray

Asked = Mapping[str, DirectiveLine]
NODE_NAMES = (JOB_NODES, "SLURM_NNODES", "SLURM_JOB_NUM_NODES", "PBS_NUM_NODES", "FLUX_JOB_NNODES")
GPU_OPTIONS = ("gpus-per-node", "gres", "gpus", "gpus-per-task")
# Counts that a scheduler refuses where they are no numbers.
COUNTS = ("nodes", "ntasks", "ntasks-per-node", "tasks-per-node", "cpus-per-task", "nslots")
# GPUs of the node types that two Grid Engine sites hand out: https://docs.abci.ai/2.0/en/job-execution/ and
# https://www.t4.cii.isct.ac.jp/docs/handbook.en/jobs/ (TSUBAME 3: f_node, h_node, q_node).
NODE_TYPES = {
    "rt_F": 4, "rt_AF": 8, "rt_G.large": 4, "rt_G.small": 1, "rt_AG.small": 1, "node_f": 4, "node_h": 2, "node_q": 1,
    "gpu_1": 1, "f_node": 4, "h_node": 2, "q_node": 1, "s_gpu": 1,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class JobShape:
    """asked holds option -> directive in force. None: not said, or not to be known from the text.

    A range of nodes (`--nodes=2-4`) is least_nodes to most_nodes. GPU counts are the scheduler's (a card may be several
    devices); gpus_per_node is said or follows from a total, memory_gb is a node's, walltime is in seconds. mixed:
    several components or node lists of different kinds, whose counts hold for none of them alone.
    """

    asked: Asked
    least_nodes: int | None = None
    most_nodes: int | None = None
    ntasks: int | None = None
    tasks_per_node: int | None = None
    cpus_per_task: int | None = None
    gpus_per_node: int | None = None
    total_gpus: int | None = None
    gpus_per_task: int | None = None
    memory_gb: float | None = None
    walltime: float | None = None
    exclusive: bool = False
    mixed: bool = False

    @property
    def nodes(self) -> int | None:
        """The number of nodes where it is certain."""
        return self.least_nodes if self.least_nodes == self.most_nodes else None

    @property
    def tasks(self) -> int | None:
        """All tasks, said or by their number on a node."""
        return self.ntasks or (self.nodes * self.tasks_per_node if self.nodes and self.tasks_per_node else None)

    @property
    def gpus_of_tasks(self) -> int | None:
        """GPUs of a node by those of its tasks; one task a node where none are told."""
        spread = -(-self.ntasks // self.least_nodes) if self.ntasks and self.least_nodes else 1
        return self.gpus_per_task * (self.tasks_per_node or spread) if self.gpus_per_task else None

    @property
    def account(self) -> str:
        return self.value("account", "project", "bank", "group")

    @property
    def queues(self) -> tuple[str, ...]:
        """Words that may name a queue of the facts, the narrowest first."""
        return tuple(self.asked[name].value for name in ("qos", "partition", "queue") if name in self.asked)

    @property
    def gpu_option(self) -> str:
        """The option that asks for GPUs; empty where none does."""
        return next((name for name in GPU_OPTIONS if name in self.asked), "")

    @property
    def unread(self) -> DirectiveLine | None:
        """The first count that is no number."""
        numbers = (self.asked[name] for name in COUNTS if name in self.asked)
        return next((one for one in numbers if not re.match(r"\d+(?![\w$])", one.value.strip())), None)

    @property
    def facts(self) -> dict[str, int]:
        """Numbers by name: the scheduler's variables that follow from what is asked."""
        nodes = self.least_nodes
        tasks = self.ntasks or (self.tasks_per_node * nodes if self.tasks_per_node and nodes else None)
        known = {
            **dict.fromkeys(NODE_NAMES, nodes), "SLURM_NTASKS": tasks, "SLURM_NPROCS": tasks,
            "SLURM_NTASKS_PER_NODE": self.tasks_per_node, "SLURM_TASKS_PER_NODE": self.tasks_per_node,
            "SLURM_CPUS_PER_TASK": self.cpus_per_task, "PBS_NGPUS": self.total_gpus, LOOP: 0,
            NODE_LINES: tasks or nodes,
        }  # fmt: skip
        return {name: value for name, value in known.items() if value is not None}

    def line(self, *options: str) -> int:
        """The line of the first of these options that is asked; 0 where none is."""
        return next((self.asked[name].line for name in options if name in self.asked), 0)

    def value(self, *options: str) -> str:
        return next((self.asked[name].value for name in options if name in self.asked), "")

    def number(self, *options: str) -> int | None:
        return whole(self.value(*options))


def job_shape(script: ReadScript, scheduler: str) -> JobShape:
    """The shape of the job by the directives of its scheduler (slurm, pbs, lsf, flux, cobalt, sge; else nothing)."""
    asked = {name: one for name, one in script.active.items() if one.scheduler == scheduler}
    if "resource" in asked:
        every = " ".join(one.value for one in script.directives if one.active and one.option == "resource")
        asked["resource"] = replace(asked["resource"], value=every)
    reader = READERS.get(scheduler)
    shape = reader(JobShape(asked)) if reader else JobShape(asked)
    return replace(shape, mixed=shape.mixed or bool(re.search(r"(?m)^#SBATCH\s+(hetjob|packjob)", script.text)))


# `1-10`, `0-15:4`, `7`; LSF's stand in brackets behind the job's name.
INDICES = re.compile(r"(\d+)(?:-(\d+)(?::(\d+))?)?")


def array_of(value: str) -> JobArray | None:
    """The tasks that an array's directive asks for (`0-9%2`, `1,3,5`, `name[1-10]`), by their number alone; None where
    that is not known."""
    body, _, most = value.rpartition("[")[2].replace("]", "").partition("%")
    found = [INDICES.fullmatch(one) for one in body.split(",")]
    spans = [(int(one[1]), int(one[2] or one[1]), int(one[3] or 1) or 1) for one in found if one]
    if not value or len(spans) < len(found):
        return None
    count = sum(max(0, last - first) // step + 1 for first, last, step in spans)
    return JobArray(count=count, first=spans[0][0], at_once=whole(most))


def whole(text: str) -> int | None:
    """A plain number; nothing else, so that a range or a variable stays unknown."""
    return int(text) if re.fullmatch(r"\d{1,9}", text.strip()) else None


def gpus_of(text: str) -> int | None:
    """`4`, `a100:4`, `gpu:a100:4`, `gpu=4`, `gpu:4(S:0-1)`; bare `gpu` is one. Lists of several GPU kinds: None."""
    parts = [part for part in text.split(",") if part and not re.match(r"(?!gres|gpu)[a-z_]+[:/=]", part)]
    if len(parts) != 1:
        return None
    found = re.fullmatch(r"(?:gres[/:])?(?:gpus?[:=/]?)?(?:[\w.-]*[A-Za-z][\w.-]*[:=])?(\d{1,6})(?:\(.*\))?", parts[0])
    if found:
        return int(found[1])
    return 1 if re.fullmatch(r"(?:gres[/:])?gpu(:[A-Za-z][\w.-]*)?", parts[0]) else None


def memory_of(text: str) -> float | None:
    """Slurm's --mem in GB (a bare number is MB); 0 and odd forms are None."""
    found = re.fullmatch(r"(\d{1,9})([KMGT]?)B?", text.strip(), re.I)
    if not found or not int(found[1]):
        return None
    return int(found[1]) * {"K": 1e-6, "M": 1e-3, "": 1e-3, "G": 1.0, "T": 1000.0}[found[2].upper()]


def slurm(told: JobShape) -> JobShape:
    asked = told.asked
    said = re.match(r"\s*(\d{1,9})(?:-(\d{1,9}))?(?![\w$])", told.value("nodes"))
    least, most = (int(said[1]), int(said[2] or said[1])) if said else (None, None)
    ntasks, per_node = told.number("ntasks"), told.number("ntasks-per-node", "tasks-per-node")
    generic = [name for name in ("gres", "tres-per-task") if name in asked and "gpu" not in asked[name].value]
    gpus = {name: gpus_of(asked[name].value) for name in (*GPU_OPTIONS, "tres-per-task")
            if name in asked and name not in generic}  # fmt: skip
    here = next((gpus[name] for name in ("gpus-per-node", "gres") if name in gpus), None)
    total = gpus.get("gpus")
    if "nodes" not in asked and ntasks and per_node:
        least = most = -(-ntasks // per_node)
    elif "nodes" not in asked and (ntasks == 1 or total == 1):
        least = most = 1
    elif "nodes" not in asked and total and here:
        least = most = -(-total // here)
    if here is None and total and least and least == most and total % least == 0:
        here = total // least
    return replace(
        told, least_nodes=least, most_nodes=most, ntasks=ntasks, tasks_per_node=per_node,
        cpus_per_task=told.number("cpus-per-task"), gpus_per_node=here, total_gpus=total,
        gpus_per_task=gpus.get("gpus-per-task") or gpus.get("tres-per-task"), memory_gb=memory_of(told.value("mem")),
        walltime=seconds_of("slurm", told.value("time")),
        exclusive="exclusive" in asked and asked["exclusive"].value in ("", "exclusive"),
    )  # fmt: skip


def pbs(told: JobShape) -> JobShape:
    """`select=N:ngpus=4`, Torque's `nodes=N:gpus=2`, or `ngpus` for the whole job."""
    request = told.value("select") or told.value("nodes")
    chunks = [chunk for chunk in request.split("+") if chunk]
    sizes = [1 if re.match(r"[A-Za-z]", chunk) else whole(chunk.split(":")[0]) for chunk in chunks]
    known = [size for size in sizes if size is not None]
    nodes = sum(known) if chunks and len(known) == len(chunks) else None
    per_node = amount(request, "mpiprocs") or amount(request, "ppn")
    gpus = max((int(one) for one in re.findall(r":n?gpus=(\d+)", request)), default=None)
    total = told.number("ngpus", "gpus") if gpus is None else None
    if total and nodes:
        gpus, total = max(1, total // nodes), None
    return replace(
        told, least_nodes=nodes, most_nodes=nodes, ntasks=per_node * nodes if per_node and nodes else None,
        tasks_per_node=per_node, gpus_per_node=gpus, total_gpus=total, mixed=len(chunks) > 1,
        walltime=seconds_of("pbs", told.value("walltime")),
    )  # fmt: skip


def amount(text: str, name: str) -> int | None:
    found = re.findall(rf":{name}=(\d+)", text)
    return int(found[0]) if len(set(found)) == 1 else None


def lsf(told: JobShape) -> JobShape:
    """Hosts by `-nnodes`, or slots spread by `span[ptile=N]` or `span[hosts=N]`."""
    slots, spread = told.number("slots"), re.search(r"span\[\s*(ptile|hosts)\s*=\s*(\d+)", told.value("resource"))
    nodes = told.number("nodes")
    if nodes is None and spread:
        nodes = int(spread[2]) if spread[1] == "hosts" else -(-(slots or 1) // max(1, int(spread[2])))
    nodes = 1 if nodes is None and slots == 1 else nodes
    gpus = re.search(r"\bnum=(\d+)(/task)?", told.value("gpu"))
    return replace(
        told, least_nodes=nodes, most_nodes=nodes, gpus_per_node=int(gpus[1]) if gpus and not gpus[2] else None,
        gpus_per_task=int(gpus[1]) if gpus and gpus[2] else None, walltime=seconds_of("lsf", told.value("time")),
    )  # fmt: skip


def flux(told: JobShape) -> JobShape:
    nodes, slots, per_slot = told.number("nodes"), told.number("nslots"), told.number("gpus-per-slot")
    return replace(
        told, least_nodes=nodes, most_nodes=nodes, ntasks=slots, cpus_per_task=told.number("cores-per-slot"),
        gpus_per_node=told.number("gpus-per-node"), gpus_per_task=per_slot,
        walltime=seconds_of("flux", told.value("time-limit")), exclusive="exclusive" in told.asked,
    )  # fmt: skip


def sge(told: JobShape) -> JobShape:
    """GPUs by `-l gpu=2` or `-pe gpu-a100 4`, or whole nodes by their type (`-l rt_F=4`)."""
    kind = next((name for name in NODE_TYPES if name in told.asked), "")
    slots = re.fullmatch(r"\S*gpu\S* (\d+)", told.value("parallel"))
    nodes = told.number(kind) if kind else None
    gpus = NODE_TYPES[kind] if kind else int(slots[1]) if slots else told.number("gpu", "gpus")
    return replace(told, least_nodes=nodes, most_nodes=nodes, gpus_per_node=gpus,
                   walltime=seconds_of("sge", told.value("h_rt")))  # fmt: skip


def cobalt(told: JobShape) -> JobShape:
    nodes = told.number("nodes")
    return replace(told, least_nodes=nodes, most_nodes=nodes, walltime=seconds_of("cobalt", told.value("time")))


READERS: Mapping[str, Callable[[JobShape], JobShape]] = {
    "slurm": slurm, "pbs": pbs, "lsf": lsf, "flux": flux, "cobalt": cobalt, "sge": sge,
}  # fmt: skip
