"""docs/security.md tells what the code holds: its made parts are whole, and its limits are those of the code."""

from __future__ import annotations

import pytest

from assistant.slack.settings import SlackSettings
from graph.verification.simulator.isolation import WAYS_OUT
from graph.verification.simulator.jail import attempts, limits
from knowledge.ingest import parser, parser_process
from tests import fuzz, security
from tests import security_page as page
from tests.knowledge import secrets


def test_every_row_of_what_broke_is_named_by_a_test() -> None:
    named = {name for items in security.BROKE.values() for name in items}
    assert set(security.tests_of()) == named


def test_the_table_has_each_row_its_tests_and_no_attempt_that_got_through() -> None:
    told = {cells[1]: cells for cells in page.rows(security.MAKER)}
    where = security.tests_of()
    for row, items in security.BROKE.items():
        for name, how in items.items():
            group, _, tried, held, _, tests = told.pop(how)
            assert (group, held, tests) == (row, tried, security.tests_cell(where[name])), how
            assert int(tried) > 0
    assert told == {}


def test_fuzzing_is_told_of_every_reader() -> None:
    told = {cells[0]: cells for cells in page.rows(fuzz.MAKER)}
    assert set(told) <= set(fuzz.READERS)


def test_the_jail_is_told_as_it_is() -> None:
    part = page.part("bench/jail.py")
    assert all(f"- `{name}`: {says}" in part for name, says in WAYS_OUT.items() if name != "unknown")
    ways = len(attempts.ATTEMPTS)
    assert f"| {ways} of {ways} | none |" in part and "Landlock, ABI 3" in part


def test_masking_is_told_as_it_is() -> None:
    assert page.part(secrets.MAKER) == secrets.told()


@pytest.mark.parametrize(
    "words",
    [
        f"{limits.MOST_DISK >> 20} MiB and {limits.MOST_FILES:,} files",
        f"{parser_process.MOST_MEMORY >> 30} GiB of memory, a time by size ({parser.PATIENCE_S:.0f} s and "
        f"{parser.PATIENCE_S_A_MB:.0f} s a megabyte",
        "`TURN_S`",
        "`DRAIN_S`",
    ],
)
def test_limits_are_those_of_the_code(words: str) -> None:
    assert words in " ".join(page.PAGE.read_text().split())
    assert {"turn_s", "drain_s"} <= set(SlackSettings.model_fields)
