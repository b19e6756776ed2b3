"""How fast passages are found among many: 200,000 by default. And how fast MiniLM embeds real passages.

    python bench/passages.py [COUNT]

The passages are made of sentences of the shipped ones, mixed, with names and numbers of their own; their vectors are
the shipped ones' with noise, so that the build costs minutes and not hours. Questions are embedded for real.
"""

from __future__ import annotations

import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knowledge.embedding import WIDTH, Embedder, embedder
from knowledge.finding import Knowledge
from knowledge.minilm import shipped as vectors
from knowledge.shipped import shipped
from knowledge.types import Passage

REPEATS = 100
NEW = 50
MACHINES = ("", "aurora", "frontier", "perlmutter", "lumi", "anvil")
QUESTIONS = (
    "why does torchrun hang at the start",
    "NCCL_CROSS_NIC",
    "how long may a job run in the debug queue",
    "MIOpen cache on a shared file system",
    "out of memory with ZeRO-3 and offload",
    "how do I load the modules for PyTorch",
)


class Noisy:
    """Real vectors for single texts (questions), noise around the shipped ones' for the build; counts what it makes."""

    def __init__(self, real: Embedder, around: NDArray[np.float32]) -> None:
        self.real, self.around, self.rng, self.made = real, around, np.random.default_rng(1), 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if len(texts) == 1:
            return self.real.embed(texts)
        self.made += len(texts)
        chosen = self.around[self.rng.integers(0, len(self.around), len(texts))]
        noisy = chosen + self.rng.normal(0, 0.03, (len(texts), WIDTH)).astype(np.float32)
        return noisy / np.linalg.norm(noisy, axis=1, keepdims=True)


class Many:
    """So many passages, and after `more` a few more."""

    def __init__(self, count: int) -> None:
        self.chance = random.Random(1)
        self.sentences = [s for p in shipped().passages for s in p.text.split(". ") if 20 < len(s) < 300]
        self.texts = [self.one(number) for number in range(count)]

    def one(self, number: int) -> Passage:
        chance = self.chance
        text = ". ".join(chance.choices(self.sentences, k=4))
        return Passage(
            text=f"{text}. Case {number} of group {chance.randint(1, 4000)}.",
            title=f"Page {number % 20_000}: {chance.choice(self.sentences)[:40]}",
            source=f"https://example.org/{number}",
            date=f"202{chance.randint(0, 6)}-0{chance.randint(1, 9)}",
            machine=chance.choice(MACHINES),
        )

    def passages(self) -> Sequence[Passage]:
        return self.texts

    def version(self) -> str:
        return str(len(self.texts))

    def more(self) -> None:
        self.texts = [*self.texts, *(self.one(len(self.texts) + n) for n in range(NEW))]


def report(name: str, ask: Callable[[], object]) -> None:
    """Median and 95th percentile in ms, by the clock and of processor time: the second also tells on a busy machine."""
    for _ in range(5):
        ask()
    clock, work = [], []
    for _ in range(REPEATS):
        start, began = time.perf_counter(), time.process_time()
        ask()
        clock.append((time.perf_counter() - start) * 1000)
        work.append((time.process_time() - began) * 1000)
    told = [f"median {statistics.median(t):6.1f}, 95th percentile {high(t):6.1f} ms" for t in (clock, work)]
    print(f"  {name:<33} {told[0]}; processor {told[1]}", flush=True)


def high(times: Sequence[float]) -> float:
    return statistics.quantiles(times, n=20)[18]


def timed(name: str, do: Callable[[], object]) -> None:
    start, began = time.perf_counter(), time.process_time()
    do()
    taken, work = time.perf_counter() - start, time.process_time() - began
    print(f"  {name:<33} {taken:7.1f} s; processor {work:7.1f} s", flush=True)


def memory() -> str:
    """What this process holds now and held at most."""
    now = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"memory {int(now.split()[1]) / 1024:.0f} MB, at most {peak:.0f} MB"


def ask_all(knowledge: Knowledge) -> None:
    chance = random.Random(2)
    ask = chance.choice
    report("any machine", lambda: knowledge.search(ask(QUESTIONS)))
    report("one machine", lambda: knowledge.search(ask(QUESTIONS), machine=ask(MACHINES[1:])))
    report("documents of one machine", lambda: knowledge.search(ask(QUESTIONS), machine="lumi", kinds=("doc",)))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    model = embedder()
    texts = [passage.text for passage in shipped().passages[:200]]
    start = time.perf_counter()
    model.embed(texts)
    rate = len(texts) / (time.perf_counter() - start)
    letters = np.mean([len(text) for text in texts])
    print(f"MiniLM: {rate:.0f} passages/s of {letters:.0f} letters")
    report("one question", lambda: model.embed([QUESTIONS[0]]))
    print(f"shipped alone: {len(shipped().passages)} passages")
    alone = Knowledge()
    timed("ready", alone.refresh)
    ask_all(alone)
    many, noisy = Many(count), Noisy(model, np.stack([*vectors.read().values()]))
    with tempfile.TemporaryDirectory() as folder:
        print(f"with {count} passages; {memory()}")
        made = Knowledge(many, folder=Path(folder), embedder=lambda: noisy)  # type: ignore[arg-type,return-value]
        timed("build", made.refresh)
        ask_all(made)
        print(f"  {memory()}")
        many.more()
        noisy.made = 0
        timed(f"{NEW} more", made.refresh)
        print(f"  embedded again: {noisy.made}")
        again = Knowledge(many, folder=Path(folder), embedder=lambda: noisy)  # type: ignore[arg-type,return-value]
        del made
        timed("open again, first search", lambda: again.search(QUESTIONS[0]))
        ask_all(again)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        print(f"  on disk {size / 1e6:.0f} MB (two generations); {memory()}")


if __name__ == "__main__":
    main()
