"""How fast the template library answers, with the shipped templates and with 100,000. And MiniLM's speed.

    python bench/library.py [COUNT]

The large library repeats the shipped templates as saved ones. Their vectors are the shipped ones' with noise, so that
the build costs minutes and not an hour; queries are embedded for real.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from passages import Noisy, report, timed

from knowledge.catalogue import catalogue
from knowledge.embedding import embedder
from knowledge.retrieval import Index
from templates.library import Library
from templates.records import Saved, Template

WORDS = (
    "train a vision transformer with sharded parameters",
    "fine-tune a language model on two nodes of A100s",
    "pipeline parallel on AMD",
    "NCCL over Slingshot with torchrun",
    "ZeRO stage three, Intel GPUs, PBS",
)


class Large(Library):
    """The shipped templates and so many saved ones, from memory."""

    count = 0

    def _saved(self) -> list[Template]:
        chance = random.Random(1)
        made = []
        for number in range(self.count):
            one = chance.choice(self._shipped)
            day = f"20{chance.randint(20, 26)}-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d}"
            words = f"{one.words} Run {number} of project {chance.randint(1, 5000)}."
            origin = Saved("someone", day, chance.choice(("", "ran on 4 nodes")), Path("none"))
            made.append(replace(one, id=f"{one.id}-{number}", words=words, provenance=origin))
        return made


def queries(library: Library) -> None:
    chance = random.Random(2)
    names = sorted(catalogue().clusters)
    report(
        "exact cell, no words",
        lambda: library.find(cluster=chance.choice(names), framework="pytorch", strategy="fsdp"),
    )
    report(
        "exact cell and words",
        lambda: library.find(
            cluster=chance.choice(names), framework="pytorch", strategy="fsdp", words=chance.choice(WORDS)
        ),
    )
    report("machine and words", lambda: library.find(cluster=chance.choice(names), words=chance.choice(WORDS)))
    report("scheduler, GPU and words", lambda: library.find(scheduler="slurm", gpu="A100", words=chance.choice(WORDS)))
    report("words alone", lambda: library.find(words=chance.choice(WORDS)))
    report(
        "a machine nobody described",
        lambda: library.find(cluster="hal", framework="pytorch", strategy="ddp", scheduler="slurm", gpu="H100"),
    )
    report("nothing known of the machine", lambda: library.find(cluster="hal"))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    model = embedder()
    print("MiniLM")
    report("one query", lambda: model.embed([WORDS[0]]))
    with tempfile.TemporaryDirectory() as folder:
        shipped = Library(folder=Path(folder) / "none", index=Index("shipped", folder=Path(folder)))
        texts = [entry.text for entry in shipped.shelf().entries]
        print(f"shipped: {len(texts)} templates")
        timed("first search (builds the index)", lambda: shipped.find(words=WORDS[0]))
        queries(shipped)
        noisy = Noisy(model, model.embed(texts))
        index = Index("large", folder=Path(folder), embedder=lambda: noisy)  # type: ignore[arg-type,return-value]
        large = Large(folder=Path(folder) / "none", index=index)
        large.count = count - len(texts)
        print(f"large: {count} templates")
        timed("lay out", large.shelf)
        timed("first search (builds the index)", lambda: large.find(words=WORDS[0]))
        queries(large)
        again = Index("large", folder=Path(folder), embedder=lambda: noisy)  # type: ignore[arg-type,return-value]
        timed("open again and search", lambda: (again.refresh(large.shelf().entries), again.search(WORDS[0])))
        size = sum(path.stat().st_size for path in (Path(folder) / "large").rglob("*") if path.is_file())
        print(f"  index on disk {size / 1e6:.0f} MB")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
