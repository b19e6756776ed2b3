"""Many conversations at once in one process: how long the first answer takes, turns a second, memory.

    .venv/bin/python bench/sessions.py [THREADS] [postgresql://...]

Each thread pastes a log of 200 lines and asks why; then each asks for a script and for a change. Printed for each kind
of turn: turns a second, median and 95th percentile from the message to its answer, and the process's memory afterwards.
All messages of a kind are sent at the same moment, so the last one waits for all others: that is the figure of a
support channel after an outage. The one-off cost of loading is paid before.
"""

from __future__ import annotations

import asyncio
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from pydantic import SecretStr

from assistant.events import Diagnosed, Error, Script
from assistant.session import Session
from assistant.settings import Settings

LOG = "".join(f"[rank{n % 8}]: step {n} loss {3 / (n + 1):.4f} lr 1.0e-04 tokens/s 18234\n" for n in range(185)) + (
    "[rank3]: Traceback (most recent call last):\n"
    '[rank3]:   File "train.py", line 212, in <module>\n[rank3]:     loss.backward()\n'
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of "
    "39.39 GiB of which 1.12 GiB is free.\n"
    + "".join(f"[rank{n}]: torch.distributed.DistBackendError: NCCL error, remote process exited\n" for n in range(8))
    + "srun: error: nid001234: task 3: Exited with exit code 1\nsrun: Terminating StepId=1234.0\n"
)
# Kind of turn -> message, and the event that answers it.
TURNS = {
    "a log of 200 lines": (LOG, Diagnosed),
    "a script": ("Train with PyTorch FSDP on Perlmutter, 4 nodes, 4 GPUs per node", Script),
    "a change": ("make it 8 nodes", Script),
}


async def turn(session: Session, text: str, wanted: type) -> float:
    """Seconds from the message to its answer."""
    began = time.perf_counter()
    took = 0.0
    async for event in session.send(text):
        if isinstance(event, Error):
            raise SystemExit(f"no answer: {event.text}")
        if isinstance(event, wanted) and not took:
            took = time.perf_counter() - began
    if not took:
        raise SystemExit(f"no {wanted.__name__} for {text[:40]!r}")
    return took


def memory() -> float:
    """Resident memory in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


async def run(settings: Settings, threads: int) -> None:
    settings.pasted.mkdir(parents=True, exist_ok=True)
    first = Session(settings, f"warm-{time.time_ns()}")
    for text, wanted in TURNS.values():
        await turn(first, text, wanted)
    print(f"{threads} threads, {settings.workers} workers, {memory():.0f} MiB before")
    sessions = [Session(settings, f"{time.time_ns()}-{n}") for n in range(threads)]
    for kind, (text, wanted) in TURNS.items():
        began = time.perf_counter()
        times = sorted(await asyncio.gather(*(turn(session, text, wanted) for session in sessions)))
        whole = time.perf_counter() - began
        p95 = times[int(len(times) * 0.95) - 1]
        print(
            f"{kind:<20} {threads / whole:6.0f} turns/s, median {statistics.median(times):5.2f} s, "
            f"95th percentile {p95:5.2f} s, {memory():.0f} MiB"
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        address = SecretStr(sys.argv[2] if len(sys.argv) > 2 else "")
        asyncio.run(run(Settings(data=Path(folder), database=address), int(sys.argv[1]) if len(sys.argv) > 1 else 200))
