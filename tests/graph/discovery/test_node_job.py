"""What a one-minute job on a node prints, read; nothing is sent without a yes. All content is invented."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import pytest
import yaml

from assistant.cli import main
from graph.discovery.node_job import PROBE, complete, read_node

NVIDIA = """\
module system loaded
== gpus
NVIDIA A100-SXM4-40GB, 40960
NVIDIA A100-SXM4-40GB, 40960
== links
\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV12\tPXB\t0-63\t0
GPU1\tNV12\t X \tSYS\t0-63\t0
== interfaces
eno1 up 1000
ib0 up 200000
eno2 down -1
== fabric
/sys/class/infiniband/mlx5_0/ports/1 InfiniBand 200 Gb/sec (4X HDR)
/sys/class/infiniband/mlx5_1/ports/1 InfiniBand 200 Gb/sec (4X HDR)
/sys/class/infiniband/mlx5_2/ports/1 Ethernet 25 Gb/sec (1X EDR)
== numa
NUMA node(s):                    2
NUMA node0 CPU(s):               0-63
== internet
not reached
https_proxy is set
== modules
/apps/modules:
pytorch/2.4
anaconda3/2024.06
== folders
SCRATCH fs1 lustre 128849018880 1 2 1% /scratch
== end
"""
AMD = """\
== gpus
device,Card series,Card model
card0,AMD Instinct MI250X,0x740c
device,VRAM Total Memory (B),VRAM Total Used Memory (B)
card0,68702699520,10960896
== links
== fabric
/sys/class/cxi/cxi0
/sys/class/cxi/cxi1
== internet
reached
== end
"""


def test_each_fact_of_a_node_is_read() -> None:
    told = read_node(NVIDIA)
    assert (told.gpu, told.gpu_gb, told.links) == ("A100-SXM4-40GB", 40, "NV12")
    assert (told.fabric, told.fabric_ports, told.fabric_gbps) == ("InfiniBand", 2, 200)
    assert told.interfaces == ("eno1", "ib0")
    assert told.numa == ("NUMA node(s): 2", "NUMA node0 CPU(s): 0-63")
    assert (told.internet, told.proxies) == (False, ("https_proxy",))
    assert told.modules == ("pytorch/2.4", "anaconda3/2024.06")
    assert told.folders == ("$SCRATCH is lustre, 120.0 TB",)


def test_what_another_vendor_prints_and_what_is_not_there() -> None:
    told = read_node(AMD)
    assert (told.gpu, told.gpu_gb, told.internet) == ("MI250X", 64, True)
    assert (told.fabric, told.fabric_ports, told.fabric_gbps) == ("Slingshot", 2, None)
    assert (told.links, told.numa, told.modules) == ("", (), ())
    nothing = read_node("== gpus\n== end\n")
    assert (nothing.gpu, nothing.gpu_gb, nothing.internet) == ("", None, None)


def test_the_job_runs_to_its_end_where_none_of_its_tools_is() -> None:
    bare = PROBE.replace("timeout 10", "false").replace("timeout 15", "false")
    done = subprocess.run(["bash", "-c", bare], capture_output=True, text=True, timeout=60, check=False)
    assert complete(done.stdout) and not done.stderr


SHOWN = "PartitionName=gpu\\n   MaxNodes=4 MaxTime=02:00:00 Default=YES State=UP\\n"
COMMANDS = {
    "squeue": "",
    "sinfo": "echo 'gpu*|4|64|512000|gpu:a100:2|(null)|2:32:1'",
    "scontrol": f"[ \"$*\" = '-a show partition' ] && printf '{SHOWN}'",
    "sbatch": "echo sent >> sent; cp told maple-discover-node.out; echo Submitted batch job 5",
}


@pytest.fixture
def login_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, body in COMMANDS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\nexit 0\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "told").write_text(NVIDIA)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_nothing_is_sent_without_a_yes(
    login_node: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    assert main(["clusters", "discover", "--node-job", "--account", "proj"]) == 0
    told = capsys.readouterr()
    assert "#SBATCH --account=proj" in told.err and "no job was sent" in told.err
    assert not (login_node / "sent").exists()
    assert "internet: whether compute nodes reach the internet" in told.out


def test_after_a_yes_its_facts_stand_in_the_file_with_their_source(
    login_node: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("yes\n"))
    assert main(["clusters", "discover", "--node-job"]) == 0
    told = yaml.safe_load(capsys.readouterr().out)
    (kind,) = told["node_types"]
    assert (kind["gpus"]["model"], kind["gpus"]["memory_gb"]) == ("A100-SXM4-40GB", 40)
    assert kind["nics"] == {"kind": "InfiniBand", "count": 2, "gbps_each": 200.0}
    assert any("NV12 (a job on a node, read here" in note for note in kind["notes"])
    assert told["internet"]["access"] == "proxy"
    assert not [line for line in told["unknown"] if line.startswith(("internet", "memory", "modules"))]
    assert "file systems: their purge" in told["unknown"]


def test_the_output_of_a_job_that_ran_later_is_taken(login_node: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clusters", "discover", "--node-output", "told"]) == 0
    assert "A100-SXM4-40GB" in capsys.readouterr().out
    (login_node / "told").write_text("slurmstepd: error")
    assert main(["clusters", "discover", "--node-output", "told"]) == 2
    assert "not the whole output" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["maple-discover-node.sh", "maple-discover-node.out"])
@pytest.mark.parametrize("link", [False, True])
def test_a_file_that_is_there_is_neither_overwritten_nor_removed(
    name: str, link: bool, login_node: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (login_node / "theirs").write_text("theirs")
    (login_node / name).symlink_to("theirs") if link else (login_node / name).write_text("theirs")
    monkeypatch.setattr("sys.stdin", io.StringIO("yes\n"))
    assert main(["clusters", "discover", "--node-job"]) == 2
    assert f"{name} is here already" in capsys.readouterr().err
    assert (login_node / name).read_text() == (login_node / "theirs").read_text() == "theirs"
    assert not (login_node / "sent").exists()


def test_a_job_that_is_refused_leaves_nothing_behind(
    login_node: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (login_node / "sbatch").write_text("#!/bin/sh\necho no such account >&2\nexit 1\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("yes\n"))
    assert main(["clusters", "discover", "--node-job"]) == 2
    assert "was not taken" in capsys.readouterr().err
    assert not (login_node / "maple-discover-node.sh").exists()
