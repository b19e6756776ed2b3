"""From directives to the allocation of the stand-in cluster."""

from __future__ import annotations

import pytest

from graph.extraction.job_shape import gpus_of
from graph.extraction.script import read_script
from graph.verification.simulator.allocation import Allocation, allocation, host_suffixes, node_names
from graph.verification.simulator.stage import modules_of, mpi_of
from knowledge.catalogue import catalogue
from knowledge.errors import InputError


def of(machine: str, *directives: str) -> Allocation:
    mark = {"slurm": "#SBATCH", "pbs": "#PBS", "lsf": "#BSUB", "flux": "# flux:"}
    cluster = catalogue().find(machine)
    assert cluster
    lines = "\n".join(f"{mark[cluster.scheduler]} {text}" for text in directives)
    return allocation(read_script(f"#!/bin/bash\n{lines}\ntrue\n"), cluster)


def test_a_job_that_is_asked_for_elsewhere_has_the_tasks_that_it_starts() -> None:
    machine = catalogue().clusters["perlmutter"]
    assert allocation(read_script("#!/bin/bash\nmpirun -np 4 ./a.out\n"), machine).ntasks == 4
    assert allocation(read_script("#!/bin/bash\n#SBATCH -N 1\nmpirun -np 4 ./a.out\n"), machine).ntasks is None


@pytest.mark.parametrize(
    ("machine", "directives", "nodes", "gpus"),
    [
        ("perlmutter", ("-N 3", "-C gpu", "--gpus-per-node=4"), 3, 4),
        ("perlmutter", ("-N 2", "--gres=gpu:a100:2"), 2, 2),
        ("perlmutter", ("-N 2", "--gpus=8"), 2, 4),
        ("perlmutter", ("-N 2", "--ntasks-per-node=4", "--gpus-per-task=1"), 2, 4),
        ("perlmutter", ("-N 2",), 2, 0),
        ("perlmutter", ("--ntasks=8", "--ntasks-per-node=4", "--gpus-per-node=4"), 2, 4),
        ("frontier", ("-N 2",), 2, 8),
        ("aurora", ("-l select=2", "-l walltime=1:00:00"), 2, 12),
        ("polaris", ("-l select=2:system=polaris:ngpus=4",), 2, 4),
        ("lassen", ("-nnodes 2", "-W 1:00"), 2, 4),
        ("tuolumne", ("--nodes=2", "--exclusive"), 2, 4),
    ],
)
def test_nodes_and_devices(machine: str, directives: tuple[str, ...], nodes: int, gpus: int) -> None:
    found = of(machine, *directives)
    assert (found.nodes, found.gpus_per_node) == (nodes, gpus)


def test_slurm_counts_tasks_from_tasks_a_node() -> None:
    assert of("perlmutter", "-N 2", "--ntasks-per-node=4").ntasks == 8


def test_pbs_repeats_nodes_for_mpi_processes() -> None:
    assert of("abci3", "-l select=2:mpiprocs=8").tasks_per_node == 8


def test_a_directive_after_the_first_command_does_not_count() -> None:
    cluster = catalogue().find("perlmutter")
    assert cluster
    found = allocation(read_script("#!/bin/bash\n#SBATCH -N 2\necho\n#SBATCH -N 4\n"), cluster)
    assert found.nodes == 2


@pytest.mark.parametrize("text", ["-N $NODES", "--ntasks-per-node=four"])
def test_counts_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a number"):
        of("perlmutter", text)


@pytest.mark.parametrize(
    ("text", "count"), [("4", 4), ("a100:4", 4), ("gpu:a100:2", 2), ("gpu:4", 4), ("gpu", 1), ("", None)]
)
def test_gpu_amounts(text: str, count: int | None) -> None:
    assert gpus_of(text) == count


def test_names_are_of_the_machines_kind() -> None:
    perlmutter, aurora = catalogue().find("perlmutter"), catalogue().find("aurora")
    assert perlmutter
    assert aurora
    assert node_names(perlmutter, 2) == ("nid000001", "nid000002")
    assert ".hsn.cm.aurora.alcf.anl.gov" in host_suffixes(aurora)


@pytest.mark.parametrize(
    ("machine", "mpi"),
    [("aurora", "pals"), ("polaris", "pals"), ("lonestar6", "impi"), ("abci3", "openmpi"), ("vista", "openmpi")],
)
def test_which_mpi_a_machine_has(machine: str, mpi: str) -> None:
    cluster = catalogue().find(machine)
    assert cluster
    assert mpi_of(cluster) == mpi


def test_modules_that_the_facts_name_lose_their_versions() -> None:
    cluster = catalogue().find("frontier")
    assert cluster
    assert {"rocm", "PrgEnv-gnu"} <= set(modules_of(cluster))
