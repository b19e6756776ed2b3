"""Incidents found in a day of tickets, on both databases; bench/incidents.py does it at length."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assistant.past import keep_jobs
from assistant.settings import Settings
from assistant.storage.database import Database, open_database
from assistant.storage.diagnoses import Diagnoses
from assistant.storage.incidents import Incidents
from graph.incidents.incident import Rules
from graph.incidents.subjects import titled
from tests.assistant.storage.ticket_days import DAY_S, HOUR_S, Came, World

pytestmark = pytest.mark.xdist_group("postgres")


def told_at(database: Database, days: list[list[Came]]) -> tuple[dict[str, int], list[str]]:
    """Incident -> the number of its ticket at which it was told; and what was told that is none."""
    kept, watch = Diagnoses(database), Incidents(database, Rules())
    by, false, known = dict[str, int](), list[str](), set[str]()
    for day in days:
        came_of: dict[str, int] = {}
        planted = {came.ticket.key: came.planted for came in day}
        for came in day:
            came_of[came.planted] = came_of.get(came.planted, 0) + 1
            kept.put([came.ticket])
            watch.look(came.ticket.record.ended or 0.0)
            for one in watch.open():
                if one.id not in known:
                    known.add(one.id)
                    names = [planted.get(seen.key, "") for seen in one.seen]
                    name = max(set(names), key=names.count)
                    if not name or name in by:
                        false.append(titled(one.subject))
                    else:
                        by[name] = came_of[name]
    return by, false


def learnt(database: Database, world: World) -> None:
    """The weeks before."""
    Diagnoses(database).put(came.ticket for came in world.history(days=14))
    watch = Incidents(database, Rules())
    while watch.pending():
        watch.look(world.start)


def test_three_incidents_of_a_day_are_told_by_their_fifth_ticket(settings: Settings) -> None:
    database = open_database(settings)
    world = World(11)
    learnt(database, world)
    planted = ("filesystem", "node", "message")
    by, false = told_at(database, [world.day(0, 400, planted)])
    assert set(by) == set(planted) and max(by.values()) <= 5, by
    assert len(false) <= 1, false


def test_an_incident_on_a_database_that_knows_nothing_yet(database: Database) -> None:
    """The first week: only what five people say in the same rare words, or on one node, stands out."""
    world = World(5)
    by, false = told_at(database, [world.day(0, 60, ("message",))])
    assert by.get("message", 99) <= 5 and len(false) <= 1


def test_each_change_is_told_once_and_what_was_told_is_not_told_again(database: Database) -> None:
    world, kept, watch = World(3), Diagnoses(database), Incidents(database, Rules())
    tickets = [came.ticket for came in world.incident("message", world.start)][:6]
    now = world.start + DAY_S
    for n, ticket in enumerate(tickets[:5]):
        kept.put([replace(ticket, record=replace(ticket.record, ended=now + n * 60))])
    watch.look(now + 300)
    watch.look(now + 300)
    (told,) = watch.untold()
    assert told.version == 1 and told.incident.people == 5
    watch.shown(told.incident.id, told.version, "1.1")
    assert watch.untold() == []
    kept.put([replace(tickets[5], record=replace(tickets[5].record, ended=now + 600))])
    watch.look(now + 600)
    (told,) = watch.untold()
    assert told.version == 2 and told.ts == "1.1" and told.incident.people == 6
    watch.look(now + 600 + 3 * HOUR_S)
    (told,) = watch.untold()
    assert told.incident.closed and watch.open() == []
    watch.look(now + 600 + 4 * HOUR_S)
    assert [one.incident.id for one in watch.untold()] == [told.incident.id], "its tickets are not told a second time"


def test_after_a_false_message_the_same_needs_twice_as_many_people(database: Database) -> None:
    world, kept, watch = World(4), Diagnoses(database), Incidents(database, Rules())
    tickets = [came.ticket for came in world.incident("message", world.start)]
    assert len(tickets) >= 11
    now = world.start + DAY_S
    for n, ticket in enumerate(tickets):
        kept.put([replace(ticket, record=replace(ticket.record, ended=now + n * 60))])
        watch.look(now + n * 60)
        if n == 3:
            (false,) = watch.open()
            people = false.people
            assert watch.dismiss(false.id, "U0BOB0001", now + n * 60) and not watch.dismiss(false.id, "U0BOB0001", now)
        elif n > 3:
            others = n - 3
            assert bool(watch.open()) is (others >= 2 * people), f"{others} others after {people}"
    (again,) = watch.open()
    assert again.id != false.id and not {one.key for one in again.seen} & {one.key for one in false.seen}
    (closed,) = [told.incident for told in watch.untold() if told.incident.id == false.id]
    assert closed.dismissed == "U0BOB0001" and closed.closed == now + 180


def test_what_a_report_over_last_month_brings_opens_nothing(database: Database) -> None:
    world, kept, watch = World(3), Diagnoses(database), Incidents(database, Rules())
    kept.put(came.ticket for came in world.incident("node", world.start))
    watch.look(world.start + 30 * DAY_S)
    assert watch.untold() == [] and not watch.pending()


def test_failed_jobs_of_a_report_make_an_incident_of_their_own(settings: Settings) -> None:
    world = World(3)
    jobs = [came.ticket.record for came in world.incident("filesystem", world.start)]
    whole = [replace(record, ended=world.start + n * 60, user=f"user{n}") for n, record in enumerate(jobs)]
    without = [replace(whole[0], job="x", ended=None), replace(whole[0], job="y", cause="no-failure")]
    assert keep_jobs(settings, [*whole, *without]) == len(whole)
    assert keep_jobs(settings, whole) == len(whole), "a second report over the same week"
    database = open_database(settings)
    assert Diagnoses(database).counts() == {"job": len(whole)}
    watch = Incidents(database, Rules())
    watch.look(world.start + HOUR_S)
    (told,) = watch.untold()
    assert told.incident.source == "job" and told.incident.subject.name == "/lustre/eagle"
    assert not {one.who for one in told.incident.seen} & {record.user for record in whole}, "pseudonyms"
