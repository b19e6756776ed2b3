"""What a script in a rehearsal cannot do: touch files outside, reach out, outlive it, run for ever.

These run the jail without torch: only shell commands are started in it.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from graph.extraction.script import read_script
from graph.verification.simulator import isolation as isolations
from graph.verification.simulator import stage
from graph.verification.simulator.allocation import allocation
from graph.verification.simulator.config import TOO_MANY
from graph.verification.simulator.isolation import Isolation
from graph.verification.simulator.jail.kernel import landlock_version
from graph.verification.simulator.running import Ran, folder, run
from knowledge.catalogue import catalogue

BOTH: tuple[Isolation, ...] = ("namespaces", "landlock")
HEAD = "#!/bin/bash\n#SBATCH -N 2\n#SBATCH -C gpu\n#SBATCH --gpus-per-node=4\n"


def usable(name: Isolation) -> bool:
    if sys.platform != "linux":
        return False
    return isolations.available() == "namespaces" if name == "namespaces" else landlock_version() >= 3


def jailed(
    body: str,
    isolation: Isolation,
    timeout: float = 20,
    still_wanted: Callable[[], object] = lambda: None,
    accepted: tuple[str, ...] = (),
    abi: int | None = None,
) -> Ran:
    """Run a Perlmutter script of two nodes, with nothing to train."""
    if not usable(isolation):
        pytest.skip(f"no {isolation} on this computer")
    cluster = catalogue().find("perlmutter")
    assert cluster
    text = HEAD + body
    script = read_script(text)
    job = allocation(script, cluster)
    facts = stage.stand_in(cluster, script, job, "pytorch", "ddp", 2, None, isolation, (), frozenset())
    with folder() as place:
        inside = stage.IN_NAMESPACES if isolation == "namespaces" else str(place)
        stage.fill(place, inside, text, "job.sh", (), replace(facts, preload=(), max_processes=150))
        return run(place, isolation, timeout, lambda _: None, still_wanted, accepted, abi)


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A file of the person's, outside of every rehearsal folder."""
    path = tmp_path / "precious" / "thesis.tex"
    path.parent.mkdir()
    path.write_text("seven years")
    return path


@pytest.mark.parametrize("isolation", BOTH)
@pytest.mark.parametrize(
    "attack",
    [
        "rm -rf {folder}",
        "echo gone > {file}",
        "mv {file} $HOME/",
        ": > {folder}/new",
        '/usr/bin/python3 -c \'open("{file}", "w")\'',
        "dd if=/dev/zero of={file} bs=1 count=1",
        "srun bash -c 'rm -rf {folder}'",
        "ln -s {folder} link; rm -rf link/*",
        "perl -e 'unlink(\"{file}\")'",
        "/bin/chmod 000 {file}",
    ],
)
def test_nothing_outside_is_touched(isolation: Isolation, attack: str, precious: Path) -> None:
    jailed(attack.format(file=precious, folder=precious.parent) + "\n", isolation)
    assert precious.read_text() == "seven years"
    assert list(precious.parent.iterdir()) == [precious]
    assert precious.stat().st_mode & 0o400


@pytest.mark.parametrize("isolation", BOTH)
def test_devices_keep_their_modes(isolation: Isolation) -> None:
    before = Path("/dev/null").stat().st_mode
    ran = jailed("/bin/chmod 600 /dev/null; chmod 600 /dev/zero; echo x > /dev/null && echo WRITTEN\n", isolation)
    assert Path("/dev/null").stat().st_mode == before
    assert "WRITTEN" in ran.output


@pytest.mark.parametrize("isolation", BOTH)
def test_home_and_scratch_are_private(isolation: Isolation) -> None:
    ran = jailed('rm -rf "$HOME" "$SCRATCH"; ls "$HOME" "$SCRATCH"; echo "home=$HOME"\n', isolation)
    assert f"home={Path.home()}\n" not in ran.output
    assert Path.home().is_dir()


def test_files_of_the_person_are_not_even_seen(precious: Path) -> None:
    assert "seven years" not in jailed(f"cat {precious} ~/.ssh/* 2>&1\n", "namespaces").output


@pytest.mark.parametrize("isolation", BOTH)
def test_downloads_and_submissions_are_recorded_and_not_run(isolation: Isolation) -> None:
    ran = jailed("curl -O https://example.org/x\nsbatch next.sh\ngit clone https://example.org/r\n", isolation)
    assert [one["name"] for one in ran.records if one["kind"] == "not_run"] == ["curl", "sbatch", "git"]
    assert ran.code == 0


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        yield server


def test_the_network_is_cut(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    ran = jailed(f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo REACHED\n", "namespaces")
    assert "REACHED" not in ran.output
    with pytest.raises(TimeoutError):
        listener.accept()


def commands_running(mark: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            found += [words] if mark in words.split("\0") else []
    return found


@pytest.mark.parametrize("isolation", BOTH)
@pytest.mark.parametrize(
    "body",
    [
        "setsid nohup sleep {n} >/dev/null 2>&1 &\n",
        "srun bash -c 'setsid sleep {n} & disown'\n",
        "env -i setsid /bin/sleep {n} & disown\n",
        "(trap '' TERM HUP; sleep {n}) & \n",
    ],
)
def test_no_process_outlives_the_rehearsal(isolation: Isolation, body: str) -> None:
    number = str(86400 + os.getpid())
    jailed(body.format(n=number), isolation)
    time.sleep(0.1)
    assert commands_running(number) == []


@pytest.mark.parametrize("isolation", BOTH)
def test_a_script_without_end_is_ended(isolation: Isolation) -> None:
    number = str(86400 + os.getpid())
    ran = jailed(f"sleep {number} &\nwhile true; do :; done\n", isolation, timeout=2)
    assert ran.timed_out
    assert commands_running(number) == []


@pytest.mark.parametrize("isolation", BOTH)
def test_what_nobody_waits_for_is_ended(isolation: Isolation) -> None:
    number = str(86400 + os.getpid())

    def still_wanted() -> None:
        if commands_running(number):
            raise InterruptedError

    with pytest.raises(InterruptedError):
        jailed(f"sleep {number}\n", isolation, still_wanted=still_wanted)
    assert commands_running(number) == []


@pytest.mark.parametrize("isolation", BOTH)
def test_a_thousand_processes_end_the_rehearsal(isolation: Isolation) -> None:
    ran = jailed("for i in $(seq 1000); do sleep 60 & done; wait\n", isolation)
    assert ran.code == TOO_MANY
    assert not ran.timed_out


@pytest.mark.parametrize("isolation", BOTH)
def test_what_others_start_beside_it_ends_no_rehearsal(isolation: Isolation) -> None:
    beside = subprocess.Popen(
        ["sh", "-c", "sleep 1; for i in $(seq 300); do sleep 20 & done; wait"], start_new_session=True
    )
    try:
        assert jailed("sleep 5\n", isolation).code == 0
    finally:
        os.killpg(beside.pid, signal.SIGKILL)
        beside.wait()


@pytest.mark.parametrize("isolation", BOTH)
def test_processes_outside_cannot_be_signalled(isolation: Isolation) -> None:
    with subprocess.Popen(["sleep", "60"]) as bystander:
        jailed(f"/bin/kill -9 {bystander.pid}; kill -9 {bystander.pid}\n", isolation, abi=5)
        alive = bystander.poll() is None
        bystander.kill()
    assert alive


def test_processes_without_end_are_ended() -> None:
    """By their count. They sleep, so that tests beside this one are not held up; a fork bomb meets the same count."""
    ran = jailed("while :; do sleep 60 & done\n", "namespaces", timeout=60)
    assert (ran.code != 0, ran.timed_out) == (True, False)


def test_much_output_is_cut() -> None:
    ran = jailed("yes rehearsal | head -c 5000000; echo THE END\n", "namespaces")
    assert len(ran.output) < 1_000_000
    assert ran.output.endswith("THE END\n")


@pytest.mark.parametrize("isolation", BOTH)
def test_the_folder_is_gone_afterwards(isolation: Isolation, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    real = tempfile.mkdtemp

    def noted(*given: str, **options: str) -> str:
        made.append(real(*given, **options))
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", noted)
    jailed("touch work; mkdir -p deep/er\n", isolation)
    assert len(made) == 2  # the rehearsal's, and that of the files that the jail tries to reach
    assert not any(Path(one).exists() for one in made)


def test_a_path_of_the_cluster_leads_to_the_stand_in() -> None:
    ran = jailed('VENV=/proj/me/env\n"$VENV/bin/python" -m venv x\n$SCRATCH/t/bin/python -m pip list\n', "namespaces")
    assert [one["name"] for one in ran.records if one["kind"] == "not_run"] == ["python -m venv", "python -m pip"]


def test_nodes_have_names_networks_and_tmp_of_their_own() -> None:
    body = (
        "touch /tmp/only-here\n"
        "srun bash -c 'echo \"$SLURM_NODEID $(uname -n) $(hostname) $(ls /tmp | grep -c only-here)\"'\n"
    )
    ran = jailed(body, "namespaces")
    assert "0 nid000001 nid000001 1" in ran.output
    # Where this checkout or its Python lies under /tmp, the jail shows that folder there, and the nodes share it.
    shared = any(path.startswith("/tmp/") for path in (str(Path(__file__)), sys.prefix, sys.base_prefix))
    assert f"1 nid000002 nid000002 {int(shared)}" in ran.output
