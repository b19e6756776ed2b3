"""How long a warm turn of the conversation takes, from the message to the stored answer.

    .venv/bin/python bench/turn.py [ROUNDS]

Prints the median and the slowest turn of each kind, over all that a door waits for: the lock of the thread, the graph,
its checkpoint, and the answer on disk. The one-off cost of loading LangGraph is printed apart.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from assistant.session import Session
from assistant.settings import Settings

# Kind of turn -> message; one round is one conversation.
ROUND = {
    "first question": "help me run my training on Perlmutter",
    "answer": "pytorch",
    "answer, next question": "fsdp",
    "script": "4 nodes, 4 GPUs per node",
    "correction": "make it 8 nodes",
    "question": "what is the longest walltime there?",
    "diagnosis": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
}


async def measure(session: Session, text: str) -> float:
    """One turn in milliseconds."""
    began = time.perf_counter()
    async for _ in session.send(text):
        pass
    return (time.perf_counter() - began) * 1000


async def run(rounds: int, folder: Path) -> None:
    settings = Settings(data=folder)
    settings.pasted.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    await Session(settings, "warm").warm()
    print(f"loading LangGraph, once a process: {(time.perf_counter() - began) * 1000:.0f} ms")
    first = Session(settings, "warm")
    for text in ROUND.values():
        await measure(first, text)
    times: dict[str, list[float]] = {kind: [] for kind in ROUND}
    for number in range(rounds):
        session = Session(settings, f"round-{number}")
        for kind, text in ROUND.items():
            times[kind].append(await measure(session, text))
    for kind, each in times.items():
        print(f"{kind:<22} median {statistics.median(each):6.1f} ms, slowest {max(each):6.1f} ms")
    everything = [value for each in times.values() for value in each]
    print(f"warm turn, median of {len(everything)}: {statistics.median(everything):.1f} ms")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(int(sys.argv[1]) if len(sys.argv) > 1 else 20, Path(folder)))
