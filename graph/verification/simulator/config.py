"""What the stand-in cluster is made of: written once by the rehearsal, read by every program in the jail."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

TOO_MANY, TOO_MUCH, UNPROVED = 121, 122, 123
"""The jail's exit codes when processes multiply without end, when memory or disk run out, and when it could be broken
in a way that nobody agreed to: then the script was not started."""


@dataclass(frozen=True, slots=True)
class StandIn:
    """One job's allocation on a stand-in cluster. Counts are the real ones; only `running` nodes have processes.

    gpus_per_node counts devices as the framework sees them (a tile or GCD is one); cpus_per_node counts what the
    scheduler hands out.
    """

    cluster: str
    scheduler: str
    nodes: tuple[str, ...]
    running: int
    sampled: int | None = None
    launch_node: str | None = None
    job_id: str = "4210"
    job_name: str = "rehearsal"
    account: str = ""
    queue: str = ""
    ntasks: int | None = None
    tasks_per_node: int | None = None
    cpus_per_task: int | None = None
    cpus_per_node: int = 64
    gpus_per_node: int = 0
    gpus_per_task: int | None = None
    gpu_option: str = ""
    gpu_bind: str = ""
    vendor: str = "nvidia"
    one_device: bool = False
    mpi: str = "openmpi"
    interface: str = "eth0"
    suffixes: tuple[str, ...] = ()
    python: str = "python"
    project: str = ""
    miniapp: str = ""
    framework: str = "pytorch"
    strategy: str = "ddp"
    preload: tuple[str, ...] = ("torch",)
    side_files: tuple[str, ...] = ()
    known_modules: tuple[str, ...] = ()
    places: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    bound: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    real_options: tuple[str, ...] = ()
    """Long options that the real srun takes, modelled here or not."""
    max_processes: int = 600

    @property
    def running_nodes(self) -> tuple[str, ...]:
        return self.nodes[: self.running]

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every node that has processes: the launch node (LSF) comes first."""
        return (*((self.launch_node,) if self.launch_node else ()), *self.running_nodes)


def address(number: int, networked: bool) -> str:
    """The address of a node: on the stand-in network, or in the loopback range where all nodes share one."""
    return f"{'10.77' if networked else '127.0'}.{1 + number // 250}.{1 + number % 250}"


@dataclass(frozen=True, slots=True)
class JailOrder:
    """What the jail is told at its start. stage is real, without links; targets are what attempts.py tries to reach.

    landlock is the ABI to use (0: namespaces); channel the socket for records; accepted the ways out agreed to.
    """

    stage: str
    landlock: int
    channel: int
    accepted: tuple[str, ...]
    targets: dict[str, Any]
    most_memory: int


def write(stage: Path, stand_in: StandIn) -> None:
    (stage / "cluster.json").write_text(json.dumps(asdict(stand_in)), encoding="utf-8")


def read(stage: Path) -> StandIn:
    data = json.loads((stage / "cluster.json").read_text(encoding="utf-8"))
    tuples = {f.name for f in fields(StandIn) if str(f.type).startswith("tuple")}
    values: dict[str, Any] = {name: tuple(value) if name in tuples else value for name, value in data.items()}
    return StandIn(**values)
