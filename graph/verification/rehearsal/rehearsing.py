"""Runs a launch script on a stand-in cluster and says whether its process group formed."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.extraction.script import read_script
from graph.verification.rehearsal import isolation as isolations
from graph.verification.rehearsal import judge, program, stage
from graph.verification.rehearsal.allocation import Allocation, allocation
from graph.verification.rehearsal.isolation import Isolation
from graph.verification.rehearsal.types import Ran, Rehearsal
from knowledge.cluster import Cluster
from knowledge.errors import InputError, UnavailableError
from knowledge.types import Framework, SideFile, Strategy

Progress = Callable[[str], None]
KEPT_OUTPUT = 200_000
MOST_PROCESSES = 64
LONGEST_RECORDS = 1 << 24


def rehearse(
    script_text: str,
    side_files: tuple[SideFile, ...],
    cluster: Cluster,
    *,
    nodes: int = 2,
    gpus_per_node: int | None = None,
    framework: Framework | None = None,
    strategy: Strategy | None = None,
    timeout: float = 150,
    isolation: Isolation | None = None,
    progress: Progress = lambda _: None,
) -> Rehearsal:
    """Run the script with at most `nodes` nodes (and gpus_per_node ranks a node) having processes.

    The script sees the allocation that its directives ask for; counts that say the whole job are cut to what runs.
    timeout is in seconds. Raises UnavailableError where the extra `rehearse` is missing or nothing could keep the
    script in its folder, InputError where a directive cannot be read.
    """
    start = time.monotonic()
    script = read_script(script_text)
    job = allocation(script, cluster)
    kind = program.kind_of(script, script_text, side_files, framework, strategy)
    require(kind.tools)
    chosen = isolation or isolations.required()
    running = runnable(job, nodes, gpus_per_node)
    facts = stage.stand_in(
        cluster, script, job, kind.framework, kind.strategy, running, gpus_per_node, chosen, side_files, kind.tools
    )
    with folder() as place:
        inside = stage.IN_NAMESPACES if chosen == "namespaces" else str(place)
        stage.fill(place, inside, script_text, "job.sh", side_files, facts)
        ran = run(place, chosen, timeout, progress)
    if not ran.timed_out and not any(one.get("kind") == "start" for one in ran.records):
        reason = (ran.output.strip().splitlines() or ["it said nothing"])[-1][:200]
        raise UnavailableError(
            f"the stand-in cluster did not start ({reason}); `maple-chat doctor` tells what is missing"
        )
    return judge.rehearsal(ran, facts, job, script, script_text, chosen, time.monotonic() - start)


def runnable(job: Allocation, nodes: int, gpus_per_node: int | None) -> int:
    """How many nodes get processes. Raises InputError where that is more ranks than a computer takes."""
    running = min(nodes, job.nodes)
    here = min(gpus_per_node or job.gpus_per_node or 1, job.gpus_per_node or 1)
    if running * here > MOST_PROCESSES:
        raise InputError(f"{running} x {here} ranks are too many for one computer; give --nodes or --gpus-per-node")
    return running


def require(tools: frozenset[str]) -> None:
    """Raises UnavailableError when what the rehearsal runs on is not installed."""
    missing = [name for name in ("torch", *sorted(tools)) if importlib.util.find_spec(name) is None]
    if missing:
        raise UnavailableError(
            f"the rehearsal needs {', '.join(missing)}; in a clone: uv sync --extra rehearse; elsewhere: "
            f"pip install {' '.join(missing)}"
        )


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A private folder, gone afterwards. Short, because Unix sockets in it take at most 107 characters."""
    place = Path(tempfile.mkdtemp(prefix="maple-"))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def run(place: Path, isolation: Isolation, timeout: float, progress: Progress) -> Ran:
    """Start the jail, tell how it goes, and end everything in it whatever happens."""
    words = [sys.executable, "-I", str(stage.STANDIN / "jail.py"), str(stage.PROJECT), str(place), isolation]
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=jail_environment(place),
        start_new_session=True,
    )  # fmt: skip
    kept = bytearray()
    reader = threading.Thread(target=drain, args=(process, kept), daemon=True)
    reader.start()
    ran = Ran()
    told = Told(place, progress)
    try:
        deadline = time.monotonic() + timeout
        while process.poll() is None and not ran.timed_out:
            told.news()
            ran.timed_out = time.monotonic() > deadline
            time.sleep(0.1)
    finally:
        end(process, place)
    reader.join(2)
    told.news()
    ran.records, ran.ranks = read_lines(place / "records.jsonl"), read_lines(place / "ranks.jsonl")
    ran.output, ran.code = kept.decode(errors="replace"), process.returncode
    return ran


def jail_environment(place: Path) -> dict[str, str]:
    """Nothing of the person's environment goes in."""
    return {
        "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
        "DS_ACCELERATOR": "cpu", "TOKENIZERS_PARALLELISM": "false", "HOME": "/tmp",
        "TMPDIR": str(place / "tmp"),
    }  # fmt: skip


def drain(process: subprocess.Popen[bytes], kept: bytearray) -> None:
    """Keep the end of what the script prints, however much it is."""
    assert process.stdout
    while chunk := process.stdout.read1(65536):  # type: ignore[attr-defined]
        kept += chunk
        if len(kept) > 2 * KEPT_OUTPUT:
            del kept[:-KEPT_OUTPUT]


def end(process: subprocess.Popen[bytes], place: Path) -> None:
    """Ask, then kill. The jail's first process takes all others with it; strays are found by their variables."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(2)
    if process.poll() is None:
        process.kill()
    process.wait()
    mark = f"MAPLE_REHEARSAL_BIN={place}/".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes():
                    os.kill(int(entry.name), signal.SIGKILL)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """JSON lines; a torn one (a rank killed while writing) is left out.

    The script could have put a link or a pipe in the file's place: only a plain file is read, and not without end.
    """
    found = []
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return []
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(LONGEST_RECORDS) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    for line in data.decode(errors="replace").splitlines():
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    return [one for one in found if isinstance(one, dict)]


@dataclass(slots=True)
class Told:
    """Turns new lines of the records into short news for a person."""

    place: Path
    progress: Progress
    records: int = 0
    ranks: int = 0

    def news(self) -> None:
        for one in read_lines(self.place / "records.jsonl")[self.records :]:
            self.records += 1
            if one.get("kind") in NEWS:
                self.progress(NEWS[one["kind"]](one))
        ready = len(read_lines(self.place / "ranks.jsonl"))
        if ready > self.ranks:
            self.ranks = ready
            self.progress(f"{ready} ranks have reported")


NEWS: dict[str, Callable[[dict[str, Any]], str]] = {
    "jail": lambda r: f"isolated by {r['isolation']}",
    "start": lambda r: f"{len(r['nodes'])} nodes are up: the script starts",
    "launch": lambda r: f"{r['launcher']}: {r['ntasks']} tasks on {len(r['counts'])} nodes",
    "refused": lambda r: f"{r['launcher']} refused: {r['says'].splitlines()[0]}",
    "end": lambda r: f"the script ended with code {r['code']}",
}
