"""The stand-in cluster's commands, run as programs with the standard library alone."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from graph.verification.simulator import config, stage
from graph.verification.simulator.cluster import commands
from graph.verification.simulator.cluster.inner import cut_to_sample
from graph.verification.simulator.cluster.launch import exported
from graph.verification.simulator.config import StandIn
from graph.verification.simulator.records import received
from graph.verification.simulator.running import folder

JOB = StandIn("toy", "slurm", ("nid000001", "nid000002"), 2, gpus_per_node=4)


NODE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from graph.verification.simulator import config
from graph.verification.simulator.cluster import node
from graph.verification.simulator.site import SimulatedSite
stage = Path(sys.argv[2])
node.serve(SimulatedSite(stage, config.read(stage), "nid000002", False, int(sys.argv[3])))
"""
RECORDS: list[dict[str, object]] = []


@pytest.fixture
def place() -> Iterator[Path]:
    RECORDS.clear()
    with folder() as made:
        config.write(made, JOB)
        (made / "run").mkdir()
        yield made


def call(place: Path, *words: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """One command of the cluster, as the files in its folder start it, done by a node; its records go to RECORDS."""
    environment = {"PATH": os.environ["PATH"], "MAPLE_REHEARSAL_NODE": "nid000002", **variables}
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    number = theirs.fileno()
    node = subprocess.Popen(
        [sys.executable, "-IS", "-c", NODE, str(stage.PROJECT), str(place), str(number)], pass_fds=[number]
    )
    theirs.close()
    try:
        while not (place / "run" / "nid000002").exists() and node.poll() is None:
            time.sleep(0.01)
        program = [sys.executable, "-IS", str(stage.CLUSTER / "client.py"), str(place), *words]
        return subprocess.run(
            program, capture_output=True, text=True, env=environment, check=False, stdin=subprocess.DEVNULL, cwd=cwd
        )
    finally:
        node.kill()
        node.wait()
        (place / "run" / "nid000002").unlink()
        with ours:
            while message := ours.recv(1 << 17):
                found = received(message)
                assert found, message
                RECORDS.append(found)


@pytest.mark.parametrize(
    ("words", "variables", "answer"),
    [
        (("hostname",), {}, "nid000002"),
        (("hostname", "-s"), {}, "nid000002"),
        (("scontrol", "show", "hostnames", "nid[000001-000002]"), {}, "nid000001\nnid000002"),
        (("scontrol", "show", "hostnames"), {"SLURM_JOB_NODELIST": "a1,b2"}, "a1\nb2"),
        (("scontrol", "show", "hostname", "c301-[001-002]"), {}, "c301-001\nc301-002"),
        (("flux", "hostlist", "local"), {}, "nid[000001-000002]"),
        (("flux", "hostlist", "-e", "local"), {}, "nid000001 nid000002"),
        (("flux", "hostlist", "-n", "0", "local"), {}, "nid000001"),
        (("flux", "hostlist", "-c", "local"), {}, "2"),
        (("flux", "resource", "list", "-no", "{nnodes}"), {}, "2"),
        (("flux", "getattr", "size"), {}, "2"),
        (("nvidia-smi", "--query-gpu=index", "--format=csv,noheader"), {}, "0\n1\n2\n3"),
        (("numactl", "-N", "0", "-m", "0", "echo", "hi"), {}, "hi"),
        (("taskset", "0xff", "echo", "hi"), {}, "hi"),
        (("singularity", "exec", "--nv", "-B", "/a:/b", "x.sif", "echo", "hi"), {}, "hi"),
        (("apptainer", "exec", "--env", "A=1,B=2", "x.sif", "sh", "-c", "echo $A$B"), {}, "12"),
        (("singularity", "run", "x.sif", "sh", "-c", "echo $X"), {"SINGULARITYENV_X": "7"}, "7"),
        (("shifter", "--image=a:b", "--module=gpu", "echo", "hi"), {}, "hi"),
        (("python", "-c", "print(1)"), {}, None),
    ],
)
def test_commands_answer_as_their_models_do(
    place: Path, words: tuple[str, ...], variables: dict[str, str], answer: str | None
) -> None:
    done = call(place, *words, **variables)
    if answer is not None:
        assert (done.stdout.rstrip("\n"), done.returncode) == (answer, 0)


@pytest.mark.parametrize("name", ["sbatch", "qsub", "wget", "git", "pip", "sudo", "docker"])
def test_what_acts_outside_is_only_recorded(place: Path, name: str) -> None:
    done = call(place, name, "--force", "thing")
    assert (done.returncode, done.stdout) == (0, "")
    assert [(r["kind"], r["name"], r["words"]) for r in RECORDS] == [("not_run", name, ["--force", "thing"])]


@pytest.mark.parametrize(
    ("mpi", "refusal"), [("pals", "mpiexec: unrecognized option"), ("openmpi", "mpirun: Error: unknown")]
)
def test_mpiexec_and_mpirun_are_the_sites_one_mpi(place: Path, mpi: str, refusal: str) -> None:
    config.write(place, replace(JOB, mpi=mpi))
    for name in ("mpiexec", "mpirun"):
        assert refusal in call(place, name, "--hostfle", "true").stderr


def test_a_pbs_job_that_stays_at_home_does_not_find_its_program(place: Path) -> None:
    home = place / "home"
    home.mkdir()
    config.write(place, replace(JOB, scheduler="pbs", places={"home": str(home)}))
    done = call(place, "python", "train.py", cwd=home)
    assert "can't open file" in done.stderr
    assert (done.returncode, RECORDS[0]["kind"]) == (2, "lost")


def test_python_makes_no_environments(place: Path) -> None:
    assert call(place, "python", "-m", "venv", "env").returncode == 0
    assert RECORDS[0]["name"] == "python -m venv"


def test_a_launcher_refuses_in_the_words_of_the_real_one(place: Path) -> None:
    done = call(place, "srun", "-N", "4", "true")
    assert done.stderr == "srun: error: Only allocated 2 nodes asked for 4\n"
    assert done.returncode == 1
    assert RECORDS[0]["kind"] == "refused"


def test_every_command_is_in_the_folder(tmp_path: Path) -> None:
    stage.make_commands(tmp_path, "/stand-in")
    for name in (
        "srun",
        "mpiexec",
        "mpirun",
        "ibrun",
        "jsrun",
        "lrun",
        "flux",
        "scontrol",
        "python",
        "torchrun",
        "ssh",
    ):
        assert (tmp_path / name).is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {*commands.names(), ".stand-in", ".missing"}


@pytest.mark.parametrize(
    ("words", "cut"),
    [
        (["--nnodes=4", "--nproc-per-node=4"], ["--nnodes=2", "--nproc-per-node=2"]),
        (["--nnodes", "4", "--nproc_per_node", "4"], ["--nnodes", "2", "--nproc_per_node", "2"]),
        (["--num_processes", "16", "--num_machines", "4"], ["--num_processes", "4", "--num_machines", "2"]),
        (["--nnodes=3", "--num_processes=15"], ["--nnodes=3", "--num_processes=15"]),
    ],
)
def test_only_counts_of_the_whole_job_are_cut(words: list[str], cut: list[str]) -> None:
    large = replace(JOB, nodes=("a1", "a2", "a3", "a4"), sampled=2)
    assert cut_to_sample("torch.distributed.run", words, large) == cut


def test_counts_of_accelerates_file_are_cut(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("num_machines: 4\nnum_processes: 16\n")
    large = replace(JOB, nodes=("a1", "a2", "a3", "a4"))
    words = ["launch", "--config_file", str(file), "train.py"]
    cut = ["launch", "--num_machines", "2", "--num_processes", "8", "--config_file", str(file), "train.py"]
    assert cut_to_sample("accelerate.commands.accelerate_cli", words, large) == cut
    assert cut_to_sample("accelerate.commands.accelerate_cli", words, JOB) == words


def test_srun_export_hands_on_what_is_named() -> None:
    assert exported("A,B=2,C", {"A": "1", "D": "4"}) == {"A": "1", "B": "2"}
