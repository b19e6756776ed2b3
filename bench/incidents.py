"""Replays days of tickets: which incidents are found, by which ticket, and how many messages are false.

    .venv/bin/python bench/incidents.py [--seeds 10] [--tickets 400] [--chance 0.01] [--database postgresql://...]
    .venv/bin/python bench/incidents.py --in-memory --seeds 30 --first 100

Each seed makes four weeks of usual tickets, then a busy day without an incident, then a day with three planted ones.
Each shape of ticket goes through the real diagnosis, every ticket through the table of diagnoses and the watch, one by
one, as from the bot. --in-memory judges the same without the tables, three times as fast.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from bisect import bisect_right
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from assistant.settings import Settings  # noqa: E402
from assistant.storage.database import open_database  # noqa: E402
from assistant.storage.diagnoses import Diagnoses  # noqa: E402
from assistant.storage.incidents import DAY_S, HARDLY, Incidents  # noqa: E402
from graph.incidents.incident import Incident, Rules, Sighting, is_over  # noqa: E402
from graph.incidents.judging import EVERYTHING, New, judge  # noqa: E402
from graph.incidents.subjects import SharedSubject, news_of, subjects_of, titled  # noqa: E402
from graph.incidents.usual import HOUR_S, WEEK_H, WEEKS  # noqa: E402
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
    if told not in names:
        return ""
    first = names[: names.index(told) + 5]
    return told if first.count(told) * 2 >= min(5, len(first)) else ""


def tickets_of(days: list[Came], incident: Incident) -> str:
    """What each of its first tickets was made of."""
    made = {came.ticket.key: came for came in days}
    found = [made[one.key] for one in incident.seen[:8] if one.key in made]
    return ", ".join(f"{one.ticket.key.split(':')[0]} {one.planted or one.ticket.record.cause}" for one in found)


class Tables:
    """The watch over the real tables."""

    def __init__(self, settings: Settings, rules: Rules) -> None:
        database = open_database(settings)
        self.kept, self.watch = Diagnoses(database), Incidents(database, rules)

    def learn(self, history: list[Came], now: float) -> None:
        self.kept.put(came.ticket for came in history)
        while self.watch.pending():
            self.watch.look(now)

    def take(self, came: Came) -> list[Incident]:
        """The incidents that are open after this ticket."""
        self.kept.put([came.ticket])
        self.watch.look(came.ticket.record.ended or 0.0)
        return self.watch.open()


class InMemory:
    """The same judgement without tables."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.sightings: dict[SharedSubject, list[Sighting]] = defaultdict(list)
        self.counts: dict[SharedSubject, dict[int, float]] = defaultdict(dict)
        self.counted: set[tuple[SharedSubject, int, str]] = set()
        self.incidents: dict[str, Incident] = {}

    def seen(self, subject: SharedSubject, since: float) -> list[Sighting]:
        found = self.sightings[subject]
        return found[bisect_right(found, since, key=lambda one: one.at) :]

    def hours(self, subject: SharedSubject, at: float) -> dict[int, float]:
        first = int(at // HOUR_S) - WEEKS * WEEK_H
        return {hour: n for hour, n in self.counts[subject].items() if hour >= first}

    def note(self, came: Came) -> New:
        record = came.ticket.record
        at, mark = record.ended or 0.0, SharedSubject("mark", record.mark)
        before = sum(n for hour, n in self.counts[mark].items() if hour < (at - DAY_S) // HOUR_S)
        subjects = (*subjects_of(record), *(news_of(record) if before <= HARDLY else ()))
        one, hour = Sighting(came.ticket.key, at, record.user, record.cause), int(at // HOUR_S)
        for subject in (EVERYTHING, *subjects):
            self.sightings[subject].append(one)
            if (subject, hour, one.who) not in self.counted:
                self.counted.add((subject, hour, one.who))
                self.counts[subject][hour] = self.counts[subject].get(hour, 0) + 1
        return New(one, "ticket", subjects)

    def learn(self, history: list[Came], now: float) -> None:
        for came in sorted(history, key=lambda came: came.ticket.record.ended or 0.0):
            self.note(came)

    def take(self, came: Came) -> list[Incident]:
        """The incidents that are open after this ticket."""
        new = self.note(came)
        now = new.sighting.at
        self.incidents |= {one.id: one for one in judge([new], self, [*self.incidents.values()], self.rules, now)}
        over = [one for one in self.incidents.values() if one.closed is None and is_over(one, now, self.rules)]
        self.incidents |= {one.id: replace(one, closed=now) for one in over}
        return [one for one in self.incidents.values() if one.closed is None]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--tickets", type=int, default=400)
    parser.add_argument("--chance", type=float, default=Rules().chance)
    parser.add_argument("--database", default="")
    parser.add_argument("--in-memory", action="store_true")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    bad, false_calm, false_day, spent = 0, 0, 0, 0.0
    late: list[int | None] = []
    for seed in range(options.first, options.first + options.seeds):
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(data=Path(folder), own_disk=True, database=options.database)
            rules, world = Rules(chance=options.chance), World(seed)
            watch = InMemory(rules) if options.in_memory else Tables(settings, rules)
            first_told.clear()
            history = list(world.history())
            watch.learn(history, world.start)
            names = tuple(random.Random(seed).sample(sorted(INCIDENTS), 3))
            calm, day = world.day(0, options.tickets), world.day(1, options.tickets, names)
            began = time.monotonic()
            false, told = told_in(watch, calm), told_in(watch, day)
            spent += time.monotonic() - began
            by = {name: found_by(day, told, name) for name in names}
            wrong = [one for one in told.values() if not owner(day, one)]
            doubled = len(told) - len(wrong) - sum(n is not None for n in by.values())
            print(f"seed {seed}: {len(history)} before; busy day: {len(false)} false; incidents found at ticket {by}; "
                  f"{len(wrong)} false, {doubled} told twice", flush=True)  # fmt: skip
            if options.v:
                for one in [*false.values(), *told.values()]:
                    what = f"{titled(one.subject)}, {one.people} people, {one.usual:.2f} an hour usual"
                    print(f"    {owner(day, one) or 'false'}: {what}; also {', '.join(map(titled, one.also))}")
                    print(f"      told at {first_told[one.id]}; its tickets are of {tickets_of([*calm, *day], one)}")
            false_calm, false_day = false_calm + len(false), false_day + len(wrong) + doubled
            late += by.values()
            bad += any(n is None or n > 5 for n in by.values()) or len(false) > 1 or len(wrong) + doubled > 1
    found = [n for n in late if n is not None]
    print(
        f"{len(found)} of {len(late)} incidents found, {sum(n <= 5 for n in found)} by their fifth ticket "
        f"(mean {sum(found) / max(1, len(found)):.1f}); false messages: {false_calm} on {options.seeds} busy days, "
        f"{false_day} on {options.seeds} days with incidents; days that are not as wanted: {bad}; "
        f"{spent / options.seeds / 2 / options.tickets * 1000:.1f} ms a ticket"
    )
    return 1 if bad else 0


def told_in(watch: Tables | InMemory, day: list[Came]) -> dict[str, Incident]:
    told: dict[str, Incident] = {}
    for came in day:
        for one in watch.take(came):
            first_told.setdefault(one.id, came.ticket.key)
            told[one.id] = one
    return told


if __name__ == "__main__":
    sys.exit(main())
