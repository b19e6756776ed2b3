"""Nodes on which more jobs fail than chance would give.

A failure speaks against a node only where a broken node can cause it, and where the same user's other jobs, on other
nodes, fare better: what fails wherever it runs is the job's fault. So for each failure the chance to meet a node is
the share of its group's jobs that ran there (group: the user; one with few jobs: the account; else the queue). What
one user saw of one cause on one day counts once: a job that is sent again and again, to the node that it has just
freed, is one piece of evidence. Under chance the count is a sum of independent yes-or-nos, whose tail the Poisson tail
bounds from above (Hoeffding 1956). The worst node is taken out with all its jobs before the next is judged, so that
neighbours in its jobs are not blamed, and each chance is corrected for the number of nodes (Bonferroni at each step,
which is Holm's).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graph.reporting.rates import poisson_tail
from knowledge.job_record import JobRecord

# What a broken node can cause: its GPU, driver, network, mounts, disk, memory, or what others left running on it.
OF_A_NODE = frozenset(
    (
        *("sched-node-failure", "sched-host-oom", "sched-step-layout", "gpu-hardware", "gpu-not-visible", "gpu-oom"),
        *("gpu-kernel-fault", "env-driver", "env-shared-library", "env-disk", "env-file-missing", "env-permission"),
        *("env-module", "env-no-internet", "env-container", "comm-rendezvous", "comm-port-in-use", "comm-interface"),
        *("comm-collective-timeout", "comm-remote-exit", "comm-nccl-system", "comm-mpi-init", "comm-oneccl"),
        *("fw-dataloader", "unknown"),
    )
)
# The chance that any innocent node of a report is blamed.
LEVEL = 0.01
# A group with fewer jobs tells too little of its own.
FEW_JOBS = 8
MOST_NODES = 64
DAY = 86_400


@dataclass(frozen=True, slots=True)
class NodeVerdict:
    """One node. chance: of so many failures by luck alone, corrected for the number of nodes."""

    node: str
    jobs: int
    failures: tuple[JobRecord, ...]
    """Of causes that a node can have."""
    episodes: int
    """The failures, each user's of one cause and day counted once."""
    expected: float
    """Episodes that chance would give."""
    chance: float
    users: int
    blamed: bool
    """Whether it is more than chance, and more than one user saw it."""


@dataclass(frozen=True, slots=True)
class Episode:
    """A user's failures of one cause on one day: the nodes that they met, and how often they were drawn."""

    group: str
    nodes: frozenset[str]
    draws: int


def worst_nodes(records: Sequence[JobRecord]) -> list[NodeVerdict]:
    """The nodes with more failures than chance gives, the surest first; empty where nodes are not known."""
    left = [record for record in records if record.nodes]
    every = len({node for record in left for node in record.nodes})
    found: list[NodeVerdict] = []
    while left and len(found) < MOST_NODES:
        worst = _worst(left, every - len(found))
        if worst is None:
            break
        found.append(worst)
        left = [record for record in left if worst.node not in record.nodes]
    return found


def _worst(records: Sequence[JobRecord], tests: int) -> NodeVerdict | None:
    """The node least explained by chance; None where none is below the level."""
    groups = grouping(records)
    total, met = Counter(map(groups, records)), _met(records, groups)
    made = list(episodes(records, groups))
    seen: Counter[str] = Counter(node for one in made for node in one.nodes)
    expected = _expected(made, total, met)
    chances = {node: poisson_tail(count, expected[node]) for node, count in seen.items() if count > expected[node] + 1}
    if not chances:
        return None
    node = min(chances, key=lambda name: (chances[name], name))
    chance = min(1.0, chances[node] * tests)
    if chance > LEVEL:
        return None
    failures = tuple(one for one in records if one.cause in OF_A_NODE and node in where(one))
    known = {one.user or one.account for one in failures} - {""}
    users = len(known) if known else 0
    jobs = sum(1 for one in records if node in one.nodes)
    return NodeVerdict(node, jobs, failures, seen[node], expected[node], chance, users, users != 1)


def grouping(records: Sequence[JobRecord]) -> Callable[[JobRecord], str]:
    """Which group a job is compared with: its user's jobs, else its account's, else its queue's."""
    users, accounts = Counter(one.user for one in records), Counter(one.account for one in records)

    def group(record: JobRecord) -> str:
        if record.user and users[record.user] >= FEW_JOBS:
            return f"user {record.user}"
        if record.account and accounts[record.account] >= FEW_JOBS:
            return f"account {record.account}"
        return f"queue {record.queue}"

    return group


def where(record: JobRecord) -> tuple[str, ...]:
    """The nodes that a failure speaks against: those that its log names, else all that it ran on."""
    return tuple(node for node in record.blamed if node in record.nodes) or record.nodes


def episodes(records: Iterable[JobRecord], groups: Callable[[JobRecord], str]) -> Iterator[Episode]:
    together: dict[tuple[str, str], list[JobRecord]] = defaultdict(list)
    for number, one in enumerate(records):
        if one.cause in OF_A_NODE:
            day = str(int((one.ended or 0) // DAY))
            same = f"{one.user} {one.cause} {day}" if one.user else str(number)
            together[groups(one), same].append(one)
    for (group, _), jobs in together.items():
        yield Episode(group, frozenset(node for one in jobs for node in where(one)), len(jobs))


def _met(records: Iterable[JobRecord], groups: Callable[[JobRecord], str]) -> dict[str, Counter[str]]:
    """How many jobs of each group ran on each node."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for one in records:
        found[groups(one)].update(one.nodes)
    return found


def _expected(
    made: Iterable[Episode], total: Mapping[str, int], met: Mapping[str, Counter[str]]
) -> defaultdict[str, float]:
    """For each node the episodes that would meet it by chance: each draw meets it as often as its group's jobs do."""
    drawn: Counter[tuple[str, int]] = Counter((one.group, one.draws) for one in made)
    found: defaultdict[str, float] = defaultdict(float)
    for (group, draws), count in drawn.items():
        for node, jobs in met[group].items():
            found[node] += count * (1 - (1 - jobs / total[group]) ** draws)
    return found
