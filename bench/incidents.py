"""Replays days of tickets: which incidents are found, by which ticket, and how many messages are false.

    .venv/bin/python bench/incidents.py [--seeds 10] [--tickets 400] [--chance 1e-5] [--database postgresql://...]

Each seed makes four weeks of usual tickets, then a busy day without an incident, then a day with three planted ones.
Each shape of ticket goes through the real diagnosis, every ticket through the table of diagnoses and the watch, one by
one, as from the bot.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from assistant.settings import Settings  # noqa: E402
from assistant.storage.database import open_database  # noqa: E402
from assistant.storage.diagnoses import Diagnoses  # noqa: E402
from assistant.storage.incidents import Incidents  # noqa: E402
from graph.incidents.incident import Incident, Rules  # noqa: E402
from graph.incidents.subjects import titled  # noqa: E402
from tests.assistant.storage.ticket_days import INCIDENTS, Came, World  # noqa: E402


def found_by(day: list[Came], told: dict[str, Incident], name: str) -> int | None:
    """The number of the incident's ticket at which it was first told."""
    planted = [came.ticket.key for came in day if came.planted == name]
    hits = [one for one in told.values() if owner(day, one) == name]
    firsts = [first_told[one.id] for one in hits]
    return min((planted.index(key) + 1 for key in firsts if key in planted), default=None)


first_told: dict[str, str] = {}


def owner(day: list[Came], incident: Incident) -> str:
    """The planted incident of which most of the first tickets are; empty: a false message."""
    planted = {came.ticket.key: came.planted for came in day}
    names = [planted.get(one.key, "") for one in incident.seen]
    told = max(set(planted.values()) - {""}, key=names.count, default="")
    # Later tickets may be usual trouble of the same kind: those at which it was told decide.
    first = names[: names.index(told) + 5] if told in names else []
    return told if first.count(told) * 2 >= min(5, len(first)) else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--tickets", type=int, default=400)
    parser.add_argument("--chance", type=float, default=Rules().chance)
    parser.add_argument("--database", default="")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    bad, false_calm, false_day = 0, 0, 0
    late: list[int | None] = []
    spent: dict[str, float] = defaultdict(float)
    for seed in range(options.first, options.first + options.seeds):
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(data=Path(folder), own_disk=True, database=options.database)
            database = open_database(settings)
            kept, watch = Diagnoses(database), Incidents(database, Rules(chance=options.chance))
            world = World(seed)
            first_told.clear()
            history = list(world.history())
            kept.put(came.ticket for came in history)
            began = time.monotonic()
            while watch.pending():
                watch.look(world.start)
            spent["history"] += time.monotonic() - began
            names = tuple(random.Random(seed).sample(sorted(INCIDENTS), 3))
            calm, day = world.day(0, options.tickets), world.day(1, options.tickets, names)
            began = time.monotonic()
            false = told_in(kept, watch, calm)
            told = told_in(kept, watch, day)
            spent["days"] += time.monotonic() - began
            by = {name: found_by(day, told, name) for name in names}
            wrong = [one for one in told.values() if not owner(day, one)]
            doubled = len(told) - len(wrong) - sum(n is not None for n in by.values())
            print(f"seed {seed}: {len(history)} before; busy day: {len(false)} false; incidents found at ticket {by}; "
                  f"{len(wrong)} false, {doubled} told twice", flush=True)  # fmt: skip
            if options.v:
                for one in [*false.values(), *told.values()]:
                    what = f"{titled(one.subject)}, {one.people} people, {one.usual:.2f} an hour usual"
                    print(f"    {owner(day, one) or 'false'}: {what}; also {', '.join(map(titled, one.also))}")
            false_calm, false_day = false_calm + len(false), false_day + len(wrong) + doubled
            late += by.values()
            bad += any(n is None or n > 5 for n in by.values()) or len(false) > 1 or len(wrong) + doubled > 1
    found = [n for n in late if n is not None]
    print(
        f"{len(found)} of {len(late)} incidents found, {sum(n <= 5 for n in found)} by their fifth ticket "
        f"(mean {sum(found) / max(1, len(found)):.1f}); false messages: {false_calm} on {options.seeds} busy days, "
        f"{false_day} on {options.seeds} days with incidents; "
        f"{spent['days'] / options.seeds / 2 / options.tickets * 1000:.1f} ms a ticket"
    )
    return 1 if bad else 0


def told_in(kept: Diagnoses, watch: Incidents, day: list[Came]) -> dict[str, Incident]:
    told: dict[str, Incident] = {}
    for came in day:
        kept.put([came.ticket])
        watch.look(came.ticket.record.ended or 0.0)
        for one in watch.open():
            first_told.setdefault(one.id, came.ticket.key)
            told[one.id] = one
    return told


if __name__ == "__main__":
    sys.exit(main())
