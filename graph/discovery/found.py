"""What a scheduler told of its machine, whichever scheduler it is: kinds of nodes, queues with their limits."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.schedulers.records import Scheduler


@dataclass(frozen=True, slots=True)
class NodeKind:
    """Nodes alike: CPUs as the scheduler counts them, memory in MB (0: not told), a node's GPUs and their name."""

    cpus: int
    memory_mb: int
    gpu: str
    gpus: int
    features: tuple[str, ...] = ()
    threads: int = 1


Kinds = tuple[tuple[NodeKind, int], ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Node counts that have a time limit of their own, as those of a queue that passes jobs on to others."""

    fewest_nodes: int
    most_nodes: int | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class QueueFound:
    """A queue or partition: its kinds of nodes with their number, and its limits. None: no limit."""

    name: str
    kinds: Kinds
    seconds: float | None = None
    most_nodes: int | None = None
    fewest_nodes: int = 1
    default: bool = False
    exclusive: bool = False
    up: bool = True
    stretches: tuple[Stretch, ...] = ()

    @property
    def has_gpus(self) -> bool:
        return any(kind.gpus for kind, _ in self.kinds)


@dataclass(frozen=True, slots=True)
class MachineFound:
    """A machine as its scheduler tells of it. needs_account is None where nothing told that."""

    scheduler: Scheduler
    name: str
    queues: tuple[QueueFound, ...]
    told_by: tuple[str, ...]
    """The commands whose output the facts are from: first that of the nodes, then that of the queues."""
    needs_account: bool | None = None


def counted(kinds: list[NodeKind]) -> Kinds:
    """Each kind once with its number of nodes, most numerous first."""
    return tuple(sorted(((kind, kinds.count(kind)) for kind in dict.fromkeys(kinds)), key=lambda pair: -pair[1]))
