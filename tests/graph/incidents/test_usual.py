"""What is usual, and how unlikely more is: against sums that can be checked by hand."""

from __future__ import annotations

import math

import pytest

from graph.incidents.incident import (
    Crowd,
    Incident,
    Rules,
    Sighting,
    Unusual,
    grown,
    is_over,
    is_same,
    preferred,
    unusual,
)
from graph.incidents.subjects import SharedSubject, subjects_of
from graph.incidents.usual import HOUR_S, WEEK_H, Usual, Weeks, usual
from knowledge.job_record import JobRecord

NODE, CAUSE = SharedSubject("node", "nid000077"), SharedSubject("cause", "gpu-oom")
NOW_H = 1_000 * WEEK_H
NOW = NOW_H * HOUR_S
# Five weeks in which every hour brings 10 people.
HOURS = dict.fromkeys(range(NOW_H - 5 * WEEK_H, NOW_H), 10)
TOTALS, NOTHING = Weeks(HOURS, NOW), Weeks({}, NOW)


def sightings(count: int, name: str = "a", every_s: float = 300.0) -> list[Sighting]:
    return [Sighting(f"{name}{n}", NOW - (count - n) * every_s, f"{name}{n}") for n in range(count)]


def test_with_much_known_the_tail_is_nearly_poisson_and_with_little_it_is_longer() -> None:
    poisson = 1 - sum(math.exp(-0.5) * 0.5**n / math.factorial(n) for n in range(4))
    known, guessed = Usual(5_000, 50_000).chance(4, 5), Usual(0.5, 5).chance(4, 5)
    assert poisson < known < 3 * poisson < guessed
    assert Usual(1, 10).chance(0, 10) == 1.0


def test_the_chance_adds_up_to_one() -> None:
    one = Usual(3, 40)
    masses = [one.chance(n, 25) - one.chance(n + 1, 25) for n in range(200)]
    assert sum(masses) == pytest.approx(1, abs=1e-6)
    assert sum(n * mass for n, mass in enumerate(masses)) == pytest.approx(one.share * 25, rel=1e-3)


def test_what_always_comes_at_this_hour_of_the_week_is_no_news() -> None:
    every_monday = {NOW_H - n * WEEK_H: 6 for n in range(1, 6)}
    here = usual("cause", Weeks(every_monday, NOW), TOTALS, NOW)
    later = NOW + 50 * HOUR_S
    elsewhere = usual("cause", Weeks(every_monday, later), Weeks(HOURS, later), NOW)
    assert here.share > 3 * elsewhere.share
    assert here.chance(5, 10) > 1e-3 > elsewhere.chance(5, 10)


def test_last_week_counts_more_than_a_month_ago() -> None:
    lately = dict.fromkeys(range(NOW_H - 100, NOW_H), 2)
    long_ago = {hour - 4 * WEEK_H: n for hour, n in lately.items()}
    assert (
        usual("cause", Weeks(lately, NOW), TOTALS, NOW).share
        > 2 * usual("cause", Weeks(long_ago, NOW), TOTALS, NOW).share
    )


def test_a_week_alone_does_not_tell_what_an_hour_of_the_week_brings() -> None:
    assert TOTALS.expected(NOW - 2 * HOUR_S, NOW) == pytest.approx(20)
    young = Weeks({hour: n for hour, n in HOURS.items() if hour > NOW_H - WEEK_H}, NOW)
    assert young.expected(NOW - 2 * HOUR_S, NOW) == 0


def test_four_people_on_one_node_are_unusual_and_one_person_four_times_is_not() -> None:
    four = sightings(4)
    found = unusual(NODE, four, Crowd(four, NOW), NOTHING, TOTALS, Rules())
    assert found and found.people == 4 and found.usual < 0.1
    same = [Sighting(one.key, one.at, "a") for one in four]
    assert unusual(NODE, same, Crowd(same, NOW), NOTHING, TOTALS, Rules()) is None


@pytest.mark.parametrize("count", range(3, 40))
def test_of_many_who_come_at_once_nobody_is_left_out(count: int) -> None:
    many = sightings(count, every_s=10)
    found = unusual(NODE, many, Crowd(many, NOW), NOTHING, TOTALS, Rules())
    assert found is not None and found.people == count


def test_a_busy_day_raises_the_bar_for_what_always_happens() -> None:
    """Ten of 100 who ask have no memory left, as always, however many ask today."""
    usually = Weeks(dict.fromkeys(HOURS, 1), NOW)
    mine = sightings(12, every_s=500)
    busy = [*mine, *sightings(110, "b", 60)]
    assert unusual(CAUSE, mine, Crowd(busy, NOW), usually, TOTALS, Rules()) is None
    assert unusual(CAUSE, mine, Crowd(mine, NOW), NOTHING, Weeks(dict.fromkeys(HOURS, 1), NOW), Rules())


def test_of_two_views_the_place_is_told_and_one_that_is_always_full_is_not() -> None:
    seen = tuple(sightings(6))
    node, cause = Unusual(NODE, seen[:5], 0.1, 0.1, 1e-6), Unusual(CAUSE, seen, 0.2, 0.2, 1e-9)
    assert preferred([cause, node])[0] == node
    home = Unusual(SharedSubject("filesystem", "/home"), seen, 4.0, 4.0, 1e-5)
    assert preferred([home, cause])[0] == cause


def test_the_same_tickets_are_one_incident_and_others_are_not() -> None:
    seen = tuple(sightings(4))
    incident = Incident("i", "ticket", NODE, seen, 0.1)
    assert is_same(Unusual(CAUSE, seen[1:], 0.1, 0.1, 1e-6), incident)
    assert not is_same(Unusual(CAUSE, (*seen[:1], *sightings(4, "b")), 0.1, 0.1, 1e-6), incident)


def test_what_is_told_is_the_place_and_of_two_of_a_sort_the_wider() -> None:
    seen = tuple(sightings(8))
    words = Incident("i", "ticket", CAUSE, seen[:4], 0.1)
    place = grown(words, Unusual(NODE, seen[:5], 0.1, 0.1, 1e-6), wider=False)
    assert (place.subject, place.also, place.people) == (NODE, (CAUSE,), 5)
    assert grown(place, Unusual(CAUSE, seen, 0.1, 0.1, 1e-9), wider=True).subject == NODE, (
        "words do not take a place's place"
    )
    wider = SharedSubject("filesystem", "/scratch")
    assert grown(place, Unusual(wider, seen, 0.1, 0.1, 1e-9), wider=True).subject == wider
    assert grown(place, Unusual(wider, seen, 0.1, 0.1, 1e-9), wider=False).subject == NODE, "more of the usual"
    assert grown(place, Unusual(wider, seen, 9.0, 3.0, 1e-5), wider=True).subject == NODE


def test_it_is_over_when_no_more_see_it_than_on_any_day() -> None:
    rare = Incident("i", "ticket", NODE, tuple(sightings(4)), 0.01)
    assert not is_over(rare, NOW + HOUR_S, Rules()) and is_over(rare, NOW + 3 * HOUR_S, Rules())
    goes_on = Incident("i", "ticket", NODE, (*sightings(4), Sighting("late", NOW + 2 * HOUR_S, "late")), 0.01)
    assert not is_over(goes_on, NOW + 3 * HOUR_S, Rules())
    common = Incident("i", "ticket", CAUSE, goes_on.seen, 0.5)
    assert is_over(common, NOW + 3 * HOUR_S, Rules())


def test_a_record_shares_its_places_words_and_cause() -> None:
    record = JobRecord("1", "env-disk", mark="OSError: Input/output error", filesystem="/scratch", queue="gpu",
                       machine="frontier", ended_on=("nid1",), signature="stale")  # fmt: skip
    assert [(one.kind, one.name) for one in subjects_of(record)] == [
        ("node", "nid1"), ("filesystem", "/scratch"), ("on_filesystem", "env-disk on /scratch"),
        ("in_queue", "env-disk in frontier:gpu"), ("queue", "frontier:gpu"), ("mark", "OSError: Input/output error"),
        ("signature", "stale"), ("cause", "env-disk"),
    ]  # fmt: skip
    assert subjects_of(JobRecord("2", "no-failure", queue="gpu")) == ()
    assert all(one.kind != "cause" for one in subjects_of(JobRecord("3", "unknown", mark="words that nobody knows")))
