"""What a rehearsal gives back."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.types import Finding


@dataclass(frozen=True, slots=True)
class Rank:
    """What one rank said: its place in the group, the devices it saw, whether its sums were right.

    device is the number on the node of the device it took; seconds counts from its first line to its last.
    """

    rank: int
    local_rank: int
    world_size: int
    node: str
    device: str
    devices_seen: tuple[str, ...]
    master: str
    backend: str
    strategy: str
    sums_right: bool
    loss: float | None
    wrapper: str
    seconds: float
    error: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class LauncherCall:
    """A launcher call that was made: its tasks over nodes, and the command that each task ran."""

    launcher: str
    ntasks: int
    nodes: int
    command: str


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The outcome. passed: no finding of severity error. promised is the number of ranks that the job's GPUs call for.

    not_run holds commands that were noted and not run; unseen says what this rung cannot see; isolation names what
    kept the script in its folder; output is the tail of what the script printed.
    """

    passed: bool
    findings: tuple[Finding, ...]
    ranks: tuple[Rank, ...]
    promised: int
    nodes: int
    nodes_of_job: int
    framework: str
    strategy: str
    calls: tuple[LauncherCall, ...]
    modules: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    not_run: tuple[str, ...]
    unseen: tuple[str, ...]
    isolation: str
    output: str
    exit_code: int
    seconds: float
