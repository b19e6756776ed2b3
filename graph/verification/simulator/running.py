"""Starts the jail for a filled stage, hears what it tells, and ends everything in it whatever happens."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from graph.verification.simulator import isolation as isolations
from graph.verification.simulator import records
from graph.verification.simulator.config import JailOrder
from graph.verification.simulator.isolation import Isolation
from graph.verification.simulator.jail import limits
from knowledge.printable import printable

Progress = Callable[[str], None]
KEPT_OUTPUT = 200_000
JAIL = Path(__file__).parent / "jail" / "jail.py"


@dataclass(slots=True)
class Ran:
    """What came back from the jail. output is the end of what the script printed, fit to be shown; left_out counts
    records that were of no known form, or too many."""

    records: list[dict[str, Any]] = field(default_factory=list)
    ranks: list[dict[str, Any]] = field(default_factory=list)
    output: str = ""
    code: int = 0
    timed_out: bool = False
    left_out: int = 0


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A private folder, gone afterwards. Short, because Unix sockets in it take at most 107 characters."""
    place = Path(tempfile.mkdtemp(prefix="maple-"))
    try:
        yield place.resolve()
    finally:
        try:
            shutil.rmtree(place, ignore_errors=True)
        except RecursionError:  # folders in folders without end
            subprocess.run(["rm", "-rf", str(place)], check=False, capture_output=True)


def run(
    place: Path,
    isolation: Isolation,
    timeout: float,
    progress: Progress,
    still_wanted: Callable[[], object] = lambda: None,
    accepted: Collection[str] = (),
    abi: int | None = None,
) -> Ran:
    """Start the jail and tell how it goes. timeout is in seconds.

    accepted: the ways out (isolation.WAYS_OUT) that were agreed to; abi: an older Landlock than the kernel's.
    Raises UnavailableError where that is too old, and what still_wanted raises.
    """
    landlock = isolations.landlock(abi) if isolation == "landlock" else 0
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, isolations.targets(theirs.fileno()) as targets:
        order = JailOrder(str(place), landlock, theirs.fileno(), tuple(accepted), targets, limits.most_memory())
        process = subprocess.Popen(
            [sys.executable, "-I", str(JAIL), str(isolations.PROJECT), json.dumps(asdict(order))],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=jail_environment(place),
            start_new_session=True, pass_fds=[theirs.fileno()],
        )  # fmt: skip
        theirs.close()
        ran, kept, told = Ran(), bytearray(), 0
        readers = [
            threading.Thread(target=drain, args=(process, kept), daemon=True),
            threading.Thread(target=hear, args=(ours, ran), daemon=True),
        ]
        for reader in readers:
            reader.start()
        try:
            deadline = time.monotonic() + timeout
            while process.poll() is None and not ran.timed_out:
                told = tell_news(ran, told, progress)
                still_wanted()
                ran.timed_out = time.monotonic() > deadline
                time.sleep(0.1)
        finally:
            end(process, place)
        for reader in readers:
            reader.join(2)
    tell_news(ran, told, progress)
    ran.ranks = [one for one in ran.records if one["kind"] == "rank"]
    ran.output, ran.code = printable(kept.decode(errors="replace")), process.returncode
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


def hear(channel: socket.socket, ran: Ran) -> None:
    """Take records until nobody in the jail can send any more; the first ones are kept."""
    with contextlib.suppress(OSError):
        while message := channel.recv(records.LONGEST_MESSAGE + 1):
            record = records.received(message) if len(ran.records) < records.MOST_RECORDS else None
            if record:
                ran.records.append(record)
            else:
                ran.left_out += 1


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


def tell_news(ran: Ran, told: int, progress: Progress) -> int:
    """Turn the records from that number on into short news for a person. Gives the number told."""
    ready = sum(one["kind"] == "rank" for one in ran.records[:told])
    for one in ran.records[told:]:
        told += 1
        ready += one["kind"] == "rank"
        if one["kind"] == "rank":
            progress(f"{ready} ranks have reported")
        elif one["kind"] in NEWS:
            progress(NEWS[one["kind"]](one))
    return told


NEWS: dict[str, Callable[[dict[str, Any]], str]] = {
    "jail": lambda r: f"isolated by {r['isolation']}",
    "proved": lambda r: f"{len(r['held'])} of {len(r['held']) + len(r['open'])} ways out tried are closed",
    "start": lambda r: f"{len(r['nodes'])} nodes are up: the script starts",
    "launch": lambda r: f"{r['launcher']}: {r['ntasks']} tasks on {len(r['counts'])} nodes",
    "refused": lambda r: f"{r['launcher']} refused: {r['says'][:200]}",
    "end": lambda r: f"the script ended with code {r['code']}",
}
