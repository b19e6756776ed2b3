"""A virtual Slurm made from a machine's facts, discovered: the facts that a scheduler can tell come back equal."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from slurm_from_facts import features, gpus, hardware, places, widest_time
from virtual_slurm import VirtualSlurm

from assistant.cli import main
from graph.discovery.drift import drift_of
from graph.discovery.slurm_machine import slurm_machine
from graph.planning.plan import plan
from graph.verification.checks.run import check
from graph.verification.rehearsal import rehearse
from graph.verification.simulator import isolation
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster, NodeType, Queue
from knowledge.cluster_file import read_cluster
from knowledge.schedulers.asking import CouldNotAsk, ask_command
from knowledge.types import JobRequest, LaunchBundle, LaunchPlan
from templates.render import render

SLURM = sorted(name for name, cluster in catalogue().clusters.items() if cluster.scheduler == "slurm")
# A rehearsal is a whole run of the stand-in cluster: one machine, all with MAPLE_CHAT_ALL_CELLS=1.
REHEARSED = SLURM if os.environ.get("MAPLE_CHAT_ALL_CELLS") else ["delta"]


@pytest.fixture(scope="module")
def discovered(
    whole_slurm: Callable[[str], VirtualSlurm], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Cluster]:
    """The cluster file that `clusters discover` writes on a machine's virtual Slurm."""
    folder, found = tmp_path_factory.mktemp("discovered"), dict[str, Cluster]()

    def of(name: str) -> Cluster:
        if name not in found:
            with pytest.MonkeyPatch.context() as patch:
                for key, value in whole_slurm(name).environment.items():
                    patch.setenv(key, value)
                assert main(["clusters", "discover", "-o", str(folder / f"{name}.yaml")]) == 0
            found[name] = read_cluster(folder / f"{name}.yaml")
        return found[name]

    return of


def partitions(known: Cluster) -> dict[str, list[Queue]]:
    """The queues of each partition with GPUs: a scheduler without accounts tells partitions, not their QOS."""
    found: dict[str, list[Queue]] = {}
    for place in places(known):
        found.setdefault(place.partition, []).append(place.queue)
    return {name: queues for name, queues in found.items() if any(gpus(kind)[1] for kind in kinds(known, queues))}


def kinds(known: Cluster, queues: list[Queue]) -> list[NodeType]:
    return [known.node_type(name) for name in dict.fromkeys(name for queue in queues for name in queue.node_types)]


Facts = tuple[str, int, tuple[str, ...], str]


def facts_of(known: Cluster, kind: NodeType) -> Facts:
    """What Slurm is told of a kind of nodes: GPUs by name and number, features, CPUs and memory."""
    model, count = gpus(kind)
    words = dict(word.split("=", 1) for word in hardware(known, kind).split())
    memory = round(int(words["RealMemory"]) / 1024)
    size = f"{words['CoresPerSocket']} cores, {words['ThreadsPerCore']} threads, {memory} GB"
    return (model.lower(), count, tuple(sorted(features(known, kind))), size)


def told_of(kind: NodeType) -> tuple[Facts, int | None]:
    """The same as the discovered file has it, and the number of such nodes."""
    names = kind.notes[0].removeprefix("features: ").split(", ") if kind.notes else []
    size = f"{kind.cpu.cores} cores, {kind.cpu.threads_per_core} threads, {kind.memory_gb:g} GB"
    return (kind.gpu_type or "", kind.gpus.per_node or 0, tuple(sorted(names)), size), kind.count


def alike(known: Cluster, facts: Facts) -> int:
    """The nodes of a partition that Slurm cannot tell apart, in the partition that has most of them."""
    return max(
        sum(kind.count or 64 for kind in kinds(known, queues) if facts_of(known, kind) == facts)
        for queues in partitions(known).values()
    )


@pytest.mark.parametrize("name", SLURM)
def test_the_facts_come_back_equal(name: str, discovered: Callable[[str], Cluster]) -> None:
    told, known = discovered(name), catalogue().clusters[name]
    wanted = partitions(known)
    assert sorted(queue.id for queue in told.queues) == sorted(wanted)
    for partition, queues in wanted.items():
        here = told.queue(partition)
        assert here is not None
        most = [queue.max_nodes for queue in queues]
        assert here.max_walltime == (None if (widest := widest_time(queues)) == "UNLIMITED" else widest)
        assert here.max_nodes == (None if None in most else max(number for number in most if number))
        assert here.min_nodes == min(queue.min_nodes for queue in queues)
        expected = {facts_of(known, kind) for kind in kinds(known, queues) if gpus(kind)[1]}
        found = [told_of(told.node_type(one)) for one in here.node_types]
        assert {facts for facts, _ in found} == expected
        assert all(many == alike(known, facts) for facts, many in found)
    usual = next(place.partition for place in places(known) if place.queue.default)
    assert usual not in wanted or told.default_queue.id == usual


@pytest.mark.parametrize("name", SLURM)
def test_a_script_from_the_discovered_file_passes_check(name: str, discovered: Callable[[str], Cluster]) -> None:
    told = discovered(name)
    bundle = written(told)
    assert [one for one in check(bundle.script, told) if one.severity == "error"] == []


def written(told: Cluster) -> LaunchBundle:
    """A DDP script of two nodes, or one where no queue takes two."""
    queue = next((q for q in told.queues if q.min_nodes <= 2 and q.max_nodes != 1), told.queues[0])
    nodes = 2 if queue.max_nodes != 1 else 1
    request = JobRequest(
        machine=told.id, framework="pytorch", strategy="ddp", nodes=nodes, queue=queue.id, entry="train.py",
        walltime="00:30:00", account="proj",
    )  # fmt: skip
    decided = plan(request, told)
    assert isinstance(decided, LaunchPlan), decided
    return render(decided)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed (extra: rehearse)")
@pytest.mark.skipif(isolation.available() is None, reason="nothing here could keep a script in its folder")
@pytest.mark.parametrize("name", REHEARSED)
def test_and_its_rehearsal(name: str, discovered: Callable[[str], Cluster]) -> None:
    bundle = written(told := discovered(name))
    outcome = rehearse(bundle.script, bundle.files, told, nodes=2, gpus_per_node=1)
    assert outcome.passed, [one.says for one in outcome.findings if one.severity == "error"]


def test_the_machine_itself_has_not_drifted(
    whole_slurm: Callable[[str], VirtualSlurm], monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in whole_slurm("delta").environment.items():
        monkeypatch.setenv(key, value)
    found = slurm_machine(ask_command)
    assert not isinstance(found, CouldNotAsk)
    assert drift_of(catalogue().clusters["delta"], found.queues) == ()


def test_a_job_on_a_node_tells_what_the_scheduler_cannot(
    small_slurm: Callable[[str], VirtualSlurm], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for key, value in small_slurm("delta").environment.items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "delta.yaml"
    assert main(["clusters", "discover", "-o", str(path), "--node-job", "--yes"]) == 0
    told = read_cluster(path)
    assert told.internet.access in ("yes", "no", "proxy") and "a job on a node" in (told.internet.source or "")
    assert any("NUMA" in note for kind in told.node_types for note in kind.notes)
