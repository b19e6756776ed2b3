"""Starts and ends a virtual Slurm: munged, slurmctld and one slurmd a node, as this user, in a folder of its own.

No init system, ports and job numbers that no other has, nothing outside the folder; another Slurm here is not touched.
The daemons stay in the foreground as our children and end with us, also when we are killed (a job that runs then ends
in its own time).
"""

from __future__ import annotations

import itertools
import os
import platform
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from slurm_from_facts import HEAD, write_small, write_whole

from knowledge.cluster import Cluster

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "setpriv")
SEARCHED = os.pathsep.join((os.environ.get("PATH", "/usr/bin:/bin"), "/usr/sbin", "/sbin"))
# Seconds. Up takes 0.1 to 1 s on an idle computer, an answer some milliseconds.
PATIENCE, ANSWERS, GRACE = 90, 10, 3
# Tests run beside each other in processes of their own. A job's own port follows from its number (10000 and more), so
# each Slurm counts its jobs from another number; daemons listen above that, below the ports that the kernel gives out.
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 8
JOBS_EACH, SLURMS_EACH, PORTS_FROM, PORTS_EACH = 100, 20, 26_500, 500
_first, _port = 100 + WORKER * SLURMS_EACH * JOBS_EACH, PORTS_FROM + WORKER * PORTS_EACH
FIRST_JOBS = itertools.cycle(range(_first, _first + SLURMS_EACH * JOBS_EACH, JOBS_EACH))
# From somewhere in the middle: another run of the tests on this computer would take the same ports.
PORTS = itertools.islice(itertools.cycle(range(_port, _port + PORTS_EACH)), os.getpid() % PORTS_EACH, None)


def missing() -> str:
    """Why no virtual Slurm can be started here; empty when one can."""
    absent = [name for name in NEEDED if shutil.which(name, path=SEARCHED) is None]
    return f"{', '.join(absent)} not found: install slurm-wlm and munge" if absent else ""


@dataclass
class VirtualSlurm:
    """A running one. `environment` is what its client commands need."""

    cluster: Cluster
    folder: Path
    nodes: list[str]
    children: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "SBATCH_"))}
        return kept | {"SLURM_CONF": str(self.folder / "etc" / "slurm.conf"), "PATH": SEARCHED}

    def run(self, *words: str, folder: Path | None = None, seconds: float = 60) -> subprocess.CompletedProcess[str]:
        """One client command. Raises subprocess.TimeoutExpired after that many seconds."""
        return subprocess.run(
            words, cwd=folder or self.folder, env=self.environment, capture_output=True, text=True, timeout=seconds
        )

    def start(self, *words: str) -> None:
        """A daemon as our child, which gets SIGTERM when we die."""
        log = (self.folder / "log" / f"{len(self.children)}-{words[0]}.log").open("wb")
        with log:
            self.children.append(
                subprocess.Popen(
                    ["setpriv", "--pdeathsig", "TERM", *words], env=self.environment, cwd=self.folder,
                    stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                )
            )  # fmt: skip

    def up(self) -> None:
        """Start all and wait until the nodes are idle. Raises RuntimeError with the daemons' last words."""
        self.up_munge()
        self.up_control()

    def up_munge(self) -> None:
        at = self.folder
        (at / "etc" / "munge.key").write_bytes(os.urandom(128))
        (at / "etc" / "munge.key").chmod(0o400)
        files = {"key-file": "etc/munge.key", "socket": "run/munge.socket", "pid-file": "run/munged.pid"}
        files |= {"log-file": "log/munged.log", "seed-file": "run/munge.seed"}
        self.start("munged", "-F", "-f", *(f"--{name}={at / path}" for name, path in files.items()))
        self.wait(lambda: (at / "run" / "munge.socket").exists())

    def up_control(self) -> None:
        at = self.folder
        conf = self.environment["SLURM_CONF"]
        self.start("slurmctld", "-D", "-c", "-f", conf)
        for name in self.nodes:
            (at / f"spool.{name}").mkdir()
            self.start("slurmd", "-D", "-f", conf, "-N", name)
        self.wait(self.ready)

    def ready(self) -> bool:
        """Whether all nodes are idle; of a Slurm that runs nothing, whether it answers.

        A line a node of a machine with thousands takes sinfo 9 s: it is asked for by name only.
        """
        named = ("--Node", f"--nodes={','.join(self.nodes)}", "--format=%N %T") if self.nodes else ()
        try:
            listed = self.run("sinfo", "--noheader", *named, seconds=ANSWERS)
        except subprocess.TimeoutExpired:
            return False
        if listed.returncode:
            return False
        idle = {line.split()[0] for line in listed.stdout.splitlines() if line.endswith(" idle")}
        return idle >= set(self.nodes)

    def wait(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not done():
            if time.monotonic() > deadline or any(child.poll() is not None for child in self.children):
                raise RuntimeError(f"the virtual Slurm does not come up:\n{self.last_words()}")
            time.sleep(0.05)

    def last_words(self) -> str:
        logs = sorted((self.folder / "log").iterdir())
        return "\n".join(f"{log.name}: {log.read_text(errors='replace')[-1500:]}" for log in logs)

    def down(self) -> None:
        """End the jobs, then the daemons, then whatever still carries this cluster's environment."""
        with suppress(subprocess.TimeoutExpired):
            self.end_jobs()
        for child in self.children:
            child.terminate()
        deadline = time.monotonic() + GRACE
        for child in self.children:
            with suppress(subprocess.TimeoutExpired):
                child.wait(max(0.05, deadline - time.monotonic()))
            child.kill()
            child.wait()
        for process in self.strays():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def end_jobs(self) -> None:
        jobs = self.run("squeue", "--noheader", "--format=%A").stdout.split() if self.nodes else []
        if jobs:
            self.run("scancel", *jobs)
            deadline = time.monotonic() + GRACE
            while self.run("squeue", "--noheader").stdout and time.monotonic() < deadline:
                time.sleep(0.1)

    def strays(self) -> list[int]:
        """Processes of this cluster's jobs: they carry the path of its configuration."""
        mark = f"SLURM_CONF={self.environment['SLURM_CONF']}".encode()
        found = []
        for process in Path("/proc").iterdir():
            if process.name.isdigit() and int(process.name) != os.getpid():
                with suppress(OSError):
                    if mark in (process / "environ").read_bytes().split(b"\0"):
                        found.append(int(process.name))
        return found


@contextmanager
def whole(cluster: Cluster) -> Iterator[VirtualSlurm]:
    """A machine of its real size that judges jobs (`sbatch --test-only`) and runs none."""
    with place(cluster) as folder:
        port, other = free_ports(2)
        write_whole(cluster, folder, head(cluster, folder, port, patience=0), other)
        with running(VirtualSlurm(cluster, folder, [])) as slurm:
            yield slurm


@contextmanager
def small(cluster: Cluster, nodes: int = 2) -> Iterator[VirtualSlurm]:
    """A few nodes that run jobs. A node's name is a loopback address, so that rank 0 is found by it."""
    with place(cluster) as folder:
        port, *others = free_ports(nodes + 1)
        names = [f"127.0.1.{number + 1}" for number in range(nodes)]
        write_small(cluster, folder, head(cluster, folder, port, patience=10), others, names, host())
        with running(VirtualSlurm(cluster, folder, names)) as slurm:
            yield slurm


@contextmanager
def running(slurm: VirtualSlurm) -> Iterator[VirtualSlurm]:
    try:
        slurm.up()
        yield slurm
    finally:
        slurm.down()


@contextmanager
def place(cluster: Cluster) -> Iterator[Path]:
    """A folder in /tmp, gone afterwards; its path is short, because sockets in it take at most 107 characters."""
    folder = Path(tempfile.mkdtemp(prefix=f"vs-{cluster.id[:12]}-", dir="/tmp"))
    folder.chmod(0o755)
    for name in ("etc", "state", "log", "run", "dev"):
        (folder / name).mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def head(cluster: Cluster, folder: Path, port: int, patience: int) -> str:
    user = pwd.getpwuid(os.getuid()).pw_name
    return HEAD.format(
        name=cluster.id, host=host(), user=user, folder=folder, port=port, first_job=next(FIRST_JOBS), patience=patience
    )


def host() -> str:
    """This computer's name as Slurm has it: without a domain."""
    return platform.node().split(".")[0]


def free_ports(count: int) -> list[int]:
    """Distinct ports that nobody listens on, of those that are this process's."""
    return list(itertools.islice(filter(is_free, PORTS), count))


def is_free(port: int) -> bool:
    with socket.socket() as one:
        try:
            one.bind(("", port))
        except OSError:
            return False
    return True
