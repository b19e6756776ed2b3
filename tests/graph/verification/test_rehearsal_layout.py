"""Where the stand-in launchers put tasks, which variables they set, what they refuse. No process is started."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graph.verification.simulator.cluster.hostlist import compress, expand
from graph.verification.simulator.cluster.layout import LAYOUTS, TaskLayout
from graph.verification.simulator.cluster.options import LAUNCHERS, LayoutRefusedError, Parsed, parse
from graph.verification.simulator.cluster.variables import of_devices, of_task, per_node_text, seats
from graph.verification.simulator.config import StandIn

JOB = StandIn("toy", "slurm", ("n1", "n2"), 2, gpus_per_node=4, cpus_per_node=64, tasks_per_node=4)


def read(launcher: str, words: str) -> Parsed:
    return parse(launcher.split()[0], LAUNCHERS[launcher], words.split())


def lay(launcher: str, words: str, job: StandIn = JOB, **variables: str) -> TaskLayout:
    return LAYOUTS[launcher](read(launcher, words), job, variables)


@pytest.mark.parametrize(
    ("launcher", "words", "counts"),
    [
        ("srun", "-n8 prog", (4, 4)),
        ("srun", "--ntasks=8 --ntasks-per-node=4 prog", (4, 4)),
        ("srun", "-N2 -n2 prog", (1, 1)),
        ("srun", "--nodes 1 --ntasks 4 prog", (4,)),
        ("srun", "prog", (1, 1)),
        ("srun", "-lu -n3 prog", (2, 1)),
        ("srun", "--ntasks-per-n=2 prog", (2, 2)),
        ("mpiexec", "-n 8 --ppn 4 prog", (4, 4)),
        ("mpiexec", "--np=8 -ppn 4 --depth=16 prog", (4, 4)),
        ("mpiexec", "-n 8 prog", (8,)),
        ("mpiexec", "-n 8 --depth 16 prog", (4, 4)),
        ("mpirun", "-np 8 -npernode 4 prog", (4, 4)),
        ("mpirun", "-np 2 --map-by ppr:1:node -mca btl ^openib prog", (1, 1)),
        ("mpirun", "-np 8 -H n1:4,n2:4 prog", (4, 4)),
        ("jsrun", "-n 8 -r 4 -a 1 -c 10 -g 1 prog", (4, 4)),
        ("jsrun", "--nrs 2 --rs_per_host 1 --tasks_per_rs 4 --gpu_per_rs ALL_GPUS --cpu_per_rs ALL_CPUS prog", (4, 4)),
        ("lrun", "-N 2 -T 4 prog", (4, 4)),
        ("flux run", "-N2 -n8 -x prog", (4, 4)),
        ("flux run", "--nodes=2 --tasks-per-node=4 --gpus-per-task=1 prog", (4, 4)),
    ],
)
def test_tasks_are_spread_as_the_launcher_does(launcher: str, words: str, counts: tuple[int, ...]) -> None:
    assert lay(launcher, words).counts == counts


@pytest.mark.parametrize(
    ("launcher", "words", "says"),
    [
        ("srun", "-N4 prog", "Only allocated 2 nodes asked for 4"),
        ("srun", "-n8 -c 32 prog", "More processors requested than permitted"),
        ("srun", "-n8 --gpus-per-task=2 prog", "Invalid generic resource (gres) specification"),
        ("srun", "-w n9 prog", "Requested node configuration is not available"),
        ("mpiexec", "-n 16 --ppn 4 prog", "need 4 nodes of 4, the job has 2"),
        ("mpiexec", "-n 8 --ppn 4 --depth 32 prog", "more than a node's CPUs"),
        ("mpirun", "-np 16 -npernode 4 prog", "more processes than the ppr"),
        ("mpirun", "-np 16 prog", "not enough slots"),
        ("ibrun", "-n 16 prog", "exceeds the total number of slots"),
        ("mpirun", "-np 16 -npernode 8 prog", "not enough slots"),
        ("jsrun", "-n 16 -r 4 -g 1 prog", "do not fit"),
        ("jsrun", "-n 2 -r 1 -g 8 prog", "do not fit"),
        ("flux run", "-N4 -n4 prog", "unsatisfiable"),
        ("lrun", "prog", "needed"),
    ],
)
def test_impossible_layouts_are_refused(launcher: str, words: str, says: str) -> None:
    with pytest.raises(LayoutRefusedError, match=says.replace("(", r"\(").replace(")", r"\)")):
        lay(launcher, words)


@pytest.mark.parametrize(
    ("launcher", "words"),
    [("srun", "--gpu-per-node=4 x"), ("srun", "-y x"), ("mpirun", "--ppn 4 x"), ("jsrun", "--gpus_per_rs 4 x")],
)
def test_unknown_options_are_refused(launcher: str, words: str) -> None:
    with pytest.raises(LayoutRefusedError, match="option"):
        read(launcher, words)


def test_slots_of_pbs_are_the_lines_of_its_node_file(tmp_path: Path) -> None:
    job = replace(JOB, scheduler="pbs")
    assert lay("mpirun", "-np 8 prog", job).counts == (4, 4)
    (tmp_path / "hosts").write_text("n1\nn1\nn2\nn2\n")
    assert lay("mpirun", f"-np 4 --hostfile {tmp_path}/hosts prog", job).counts == (2, 2)


def test_srun_takes_what_the_job_said() -> None:
    assert lay("srun", "prog", SLURM_NTASKS="8", SLURM_NTASKS_PER_NODE="4").counts == (4, 4)


def test_srun_ignores_tasks_a_node_that_contradict_the_jobs_tasks_and_says_so() -> None:
    layout = lay("srun", "--ntasks-per-node=1 prog", SLURM_NTASKS="8")
    assert layout.counts == (4, 4)
    assert "Ignoring --ntasks-per-node" in layout.warnings[0]


def test_srun_shrinks_to_one_node_for_one_task() -> None:
    layout = lay("srun", "--ntasks=1 prog")
    assert layout.counts == (1,)
    assert "can't run 1 processes on 2 nodes" in layout.warnings[0]


def test_options_end_at_the_command() -> None:
    parsed = read("srun", "-n 2 python train.py -n 4 --nodes 3")
    assert parsed.command == ("python", "train.py", "-n", "4", "--nodes", "3")
    assert parsed.last("tasks") == "2"


@pytest.mark.parametrize(
    ("words", "devices"),
    [
        ("-n8 prog", None),
        ("-n8 --gpus-per-task=1 prog", ((0,), (1,), (2,), (3,))),
        ("-n8 --gpus-per-task=1 --gpu-bind=none prog", None),
        ("-n8 --gpu-bind=map_gpu:3,2,1,0 prog", ((3,), (2,), (1,), (0,))),
        ("-n8 --gpu-bind=closest prog", ((0,), (1,), (2,), (3,))),
        ("-n2 --gpus-per-task=4 prog", ((0, 1, 2, 3),)),
    ],
)
def test_srun_binds_devices(words: str, devices: object) -> None:
    assert lay("srun", words).devices == devices


def test_flux_shows_no_device_that_was_not_asked_for() -> None:
    layout = lay("flux run", "-N2 -n8 prog")
    seat = seats(layout, False)[0]
    assert of_devices("flux run", seat, layout, JOB) == {"CUDA_VISIBLE_DEVICES": "-1"}


@pytest.mark.parametrize(
    ("launcher", "rank", "local", "size"),
    [
        ("srun", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"),
        ("mpiexec", "PMI_RANK", "PMI_LOCAL_RANK", "PMI_SIZE"),
        ("mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_SIZE"),
        ("flux run", "FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID", "FLUX_JOB_SIZE"),
    ],
)
def test_every_task_gets_its_place(launcher: str, rank: str, local: str, size: str) -> None:
    layout = TaskLayout(("n1", "n2"), (4, 4))
    last = of_task(launcher, seats(layout, False)[7], layout, JOB, 0)
    assert (last[rank], last[local], last[size]) == ("7", "3", "8")


def test_intel_mpi_is_not_pals() -> None:
    layout = TaskLayout(("n1", "n2"), (1, 1))
    seat = seats(layout, False)[1]
    assert "PALS_RANKID" in of_task("mpiexec", seat, layout, replace(JOB, mpi="pals"), 0)
    assert "PALS_RANKID" not in of_task("mpiexec", seat, layout, replace(JOB, mpi="impi"), 0)


@pytest.mark.parametrize("launcher", list(LAUNCHERS))
def test_no_launcher_sets_what_pytorch_reads(launcher: str) -> None:
    layout = TaskLayout(("n1", "n2"), (1, 1))
    given = of_task(launcher, seats(layout, False)[0], layout, JOB, 0)
    assert not {"RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"} & set(given)


def test_ibrun_sets_the_variables_of_the_mpi_of_the_site() -> None:
    layout = TaskLayout(("n1", "n2"), (1, 1))
    seat = seats(layout, False)[1]
    assert "MPI_LOCALRANKID" in of_task("ibrun", seat, layout, replace(JOB, mpi="impi"), 0)
    assert "OMPI_COMM_WORLD_RANK" in of_task("ibrun", seat, layout, JOB, 0)


def test_cyclic_ranks_go_round_the_nodes() -> None:
    places = seats(TaskLayout(("n1", "n2"), (2, 2)), cyclic=True)
    assert [(s.rank, s.name, s.local) for s in places] == [(0, "n1", 0), (1, "n2", 0), (2, "n1", 1), (3, "n2", 1)]


@pytest.mark.parametrize(
    "names", [("nid000001", "nid000002", "nid000003"), ("a1",), ("x1b0n0", "x2b0n0"), ("c301-001", "c301-002")]
)
def test_node_lists_expand_to_what_was_compressed(names: tuple[str, ...]) -> None:
    assert tuple(expand(compress(names))) == names


def test_brackets_with_several_ranges() -> None:
    assert expand("nid[001-002,007],login1") == ["nid001", "nid002", "nid007", "login1"]


def test_tasks_per_node_text_is_slurms() -> None:
    assert per_node_text((4, 4, 1)) == "4(x2),1"
