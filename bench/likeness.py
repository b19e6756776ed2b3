"""How long it takes to find who had a failure before, among so many kept diagnoses.

    .venv/bin/python bench/likeness.py [--kept 1000000] [--asked 300] [--database postgresql://...] [--folder DIR]

Fills a database (once; --folder keeps it) with made-up tickets: 40,000 different telling lines, the common ones far
more often than the rare, and a question of its own with every fourth. Then asks for tickets that are like kept ones,
like none, and as common as can be, and prints the median, the 95th percentile and the slowest look-up in milliseconds.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from assistant.settings import Settings  # noqa: E402
from assistant.storage.database import open_database  # noqa: E402
from assistant.storage.diagnoses import Diagnoses, KeptFailure  # noqa: E402
from graph.reporting.record import mark_of  # noqa: E402
from knowledge.job_record import JobRecord  # noqa: E402
from knowledge.signatures.loader import library  # noqa: E402

LINES, BATCH = 40_000, 5_000
# Words without numbers: those are masked, and 12,000 names with numbers are eight.
SOUNDS = ("tok", "ten", "lay", "opt", "dat", "grad", "shard", "mod", "ra", "lo", "ki", "bu", "ne", "sol", "vex", "quo",
          "pli", "zan", "mir", "hud", "fen", "jo", "wi")  # fmt: skip
START = 1_700_000_000.0


class Made:
    """Tickets from the words of the signatures, with others of their own, as libraries and programs add them."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        signatures = [one for one in library().signatures if one.cause and one.kind in ("cause", "error")]
        # The library from its cache has no examples: the pattern's words do.
        self.signatures = [(one.id, one.cause, " ".join(one.literals)) for one in signatures]
        self.words = [f"{a}{b}{c}" for a in SOUNDS for b in SOUNDS for c in SOUNDS]
        self.lines = [self.line() for _ in range(LINES)]

    def line(self) -> tuple[str, str, str]:
        name, cause, literals = self.dice.choice(self.signatures)
        own = " ".join(self.dice.choices(self.words, k=self.dice.randint(2, 7)))
        return name, cause, mark_of(f"{literals} in {own}")

    def ticket(self, number: int) -> KeptFailure:
        # A power law: the tenth line is ten times as rare as the first.
        name, cause, mark = self.lines[min(LINES - 1, int(LINES ** self.dice.random()) - 1)]
        question = " ".join(self.dice.choices(self.words, k=8)) if number % 4 == 0 else "why did my job fail?"
        link, at = f"https://site.slack.com/archives/C1/p{number}", START + number * 30
        user = f"u{number % 3_000}"
        record = JobRecord(f"t{number}", cause, 0.95, mark, mark, name, user=user, source=link, ended=at)
        place = f"T:C{number % 40}"
        return KeptFailure(
            f"t{number}:1:0", f"t{number}", "ticket", record, f"It is {cause}.", ("Do this.",), question, place
        )


def fill(kept: Diagnoses, made: Made, count: int) -> None:
    began = time.monotonic()
    for start in range(0, count, BATCH):
        kept.put([made.ticket(number) for number in range(start, min(count, start + BATCH))])
        if start % 100_000 == 0:
            print(f"  {start:,} kept, {time.monotonic() - began:.0f} s", flush=True)
    rated = random.Random(1).sample(range(count), min(count, 20_000))
    for number in rated[:2_000]:
        kept.rate(f"t{number}", 1, "helpful", "asked for two nodes more" if number % 2 else "")
    print(f"{count:,} diagnoses kept in {time.monotonic() - began:.0f} s")


def asked(made: Made, count: int) -> Iterator[tuple[str, KeptFailure]]:
    """New tickets: some as kept, some with other words in them, some with unknown words, some as common as can be."""
    for number in range(count):
        ticket = made.ticket(-number - 1)
        kind = ("as kept", "alike", "unknown", "common")[number % 4]
        mark = ticket.record.mark
        if kind == "alike":
            mark = " ".join(word for place, word in enumerate(mark.split()) if place % 6 != 5)
        elif kind == "unknown":
            mark = " ".join(f"never{made.dice.choice('abcdefgh')}{made.dice.choice('klmnop')}" for _ in range(8))
        elif kind == "common":
            mark = made.lines[0][2]
        yield kind, KeptFailure(ticket.key, ticket.thread, "ticket",
                           JobRecord("new", ticket.record.cause, 0.9, mark, mark, signature=ticket.record.signature,
                                     user="somebody", ended=time.time()), question=ticket.question)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=int, default=1_000_000)
    parser.add_argument("--asked", type=int, default=300)
    parser.add_argument("--database", default="")
    parser.add_argument("--folder", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        kept = Diagnoses(open_database(Settings(data=folder, own_disk=True, database=options.database)))
        made = Made(7)
        if not kept.counts():
            fill(kept, made, options.kept)
        print(f"{sum(kept.counts().values()):,} kept")
        times: dict[str, list[float]] = {}
        found: dict[str, int] = {}
        for kind, ticket in asked(made, options.asked):
            began = time.perf_counter()
            seen = kept.like(ticket, "all")
            times.setdefault(kind, []).append((time.perf_counter() - began) * 1000)
            found[kind] = found.get(kind, 0) + bool(seen.cases)
        every = sorted(one for some in times.values() for one in some)
        for kind, some in times.items():
            print(f"  {kind}: median {statistics.median(some):.1f} ms, slowest {max(some):.1f} ms; "
                  f"{found[kind]} of {len(some)} had cases")  # fmt: skip
        p95 = every[int(len(every) * 0.95)]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"median {statistics.median(every):.1f} ms, p95 {p95:.1f} ms, slowest {every[-1]:.1f} ms; {memory} MB")
        return int(p95 > 100)


if __name__ == "__main__":
    sys.exit(main())
