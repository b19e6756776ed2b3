"""The parts of a job beyond its size: what people ask of a script once it stands.

Each is asked in a request and carried by the plan; how a scheduler writes it is in graph/planning/parts and templates/.
Reached through knowledge/types.py for storing: checkpoints know classes by this module's path, so it never moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

DependencyKind = Literal["afterok", "afterany", "afternotok", "after", "singleton"]
MailEvent = Literal["begin", "end", "fail", "limit"]
# active: it is entered before the job is submitted, and handed on.
EnvironmentKind = Literal["conda", "venv", "uv", "module", "container", "edf", "uenv", "active"]
# What starts the processes, where somebody says it: the machine's launcher with a task each, or torchrun on each node.
Starter = Literal["torchrun", "srun", "mpirun", "mpiexec", "jsrun", "lrun", "flux", "ibrun"]
ContainerRuntime = Literal["apptainer", "singularity", "podman-hpc", "shifter", "pyxis", "enroot", "edf"]
Precision = Literal["bf16", "fp16", "fp32", "fp8"]
EditKind = Literal["add", "set", "remove"]

DEPENDENCY_KINDS: tuple[DependencyKind, ...] = get_args(DependencyKind)
MAIL_EVENTS: tuple[MailEvent, ...] = get_args(MailEvent)


MOST_STARTS = 20
"""How often a job that puts itself back may start, its first start among them."""


@dataclass(frozen=True, slots=True)
class ArrayAxis:
    """One argument that an array varies: `--lr` over its values. An option without a dash is written NAME=VALUE; ""
    gives the value alone.
    """

    option: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobArray:
    """One job many times: a task for every combination of the axes' values, the last axis changing fastest.

    count: so many tasks where no argument varies (the program reads the index); first: the index of the first of them;
    at_once: how many may run together.
    """

    axes: tuple[ArrayAxis, ...] = ()
    count: int | None = None
    at_once: int | None = None
    first: int = 0

    @property
    def files(self) -> str:
        """The pattern of the files that the tasks run over, where their number is known at submission only; else ""."""
        only = self.axes[0].values if len(self.axes) == 1 else ()
        return only[0] if len(only) == 1 and any(sign in only[0] for sign in "*?[") else ""

    @property
    def tasks(self) -> int:
        """How many tasks there are."""
        total = self.count or 1
        for axis in self.axes:
            total *= len(axis.values)
        return total


@dataclass(frozen=True, slots=True)
class Dependency:
    """When the job may start: after these jobs (ids, or a shell variable that holds one). singleton names none."""

    kind: DependencyKind = "afterok"
    jobs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LimitSignal:
    """A signal that the program gets so many seconds before the time limit, so that it can save."""

    name: str = "USR1"
    seconds: int = 300


@dataclass(frozen=True, slots=True)
class Mail:
    """Who is told of what. No address: the scheduler writes to the submitting user's own."""

    address: str | None = None
    events: tuple[MailEvent, ...] = ("end", "fail")


@dataclass(frozen=True, slots=True)
class ArgumentEdit:
    """One change of the program's arguments: add or set NAME (to VALUE, None: a bare flag), or remove NAME.

    name as it stands on the command line (`--lr`, `trainer.max_steps`); "" with add: value is a word of its own.
    """

    kind: EditKind
    name: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """A further program of the job. nodes, gpus_per_node: its part of the job's, None: all of it.

    walltime, queue and account make it a job of its own, after the one before; first: before the main one. wait_port:
    it starts once this port of the job's first node answers. helper: it serves the main program and is ended with it.
    """

    entry: str
    args: str | None = None
    nodes: int | None = None
    gpus_per_node: int | None = None
    walltime: str | None = None
    wait_port: int | None = None
    helper: bool = False
    queue: str | None = None
    account: str | None = None
    first: bool = False


@dataclass(frozen=True, slots=True)
class Patch:
    """Lines of a script that took the place of others, for which no field exists; above, below: their neighbours."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    above: str = ""
    below: str = ""
