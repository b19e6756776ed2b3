"""Single defects in good scripts are found, and the good scripts are not blamed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from graph.verification.checks import check
from tests.golden import make as golden

spec = importlib.util.spec_from_file_location("check_pages", Path(__file__).parent / "make_pages.py")
assert spec and spec.loader
pages = importlib.util.module_from_spec(spec)
sys.modules["check_pages"] = pages
spec.loader.exec_module(pages)

GOLDEN = sorted(golden.scripts())
MUTATIONS = pages.mutations()
SLURM_LIKE = {"slurm", "pbs", "lsf", "flux"}


@pytest.mark.parametrize("machine", sorted({name.split("/")[0] for name in GOLDEN}))
def test_good_scripts_are_not_blamed(machine: str) -> None:
    for name in (one for one in GOLDEN if one.startswith(f"{machine}/")):
        assert check(pages.good(name), pages.machine(name)) == [], name


@pytest.mark.parametrize("machine", sorted({name.split("/")[0] for name in GOLDEN}))
def test_good_scripts_have_no_errors_without_facts(machine: str) -> None:
    for name in (one for one in GOLDEN if one.startswith(f"{machine}/")):
        assert check(pages.good(name), None) == [], name


@pytest.mark.parametrize("one", MUTATIONS, ids=lambda one: one.name)
def test_defect_is_found(one: pages.Mutation) -> None:
    rules = [finding.rule for finding in check(one.text, one.cluster)]
    assert one.rule == pages.REHEARSAL or one.rule in rules
    assert "rule-failed" not in rules


def test_enough_defects_over_all_schedulers() -> None:
    names = [one.name for one in MUTATIONS]
    assert len(names) == len(set(names)) >= 60
    assert {one.cluster.scheduler for one in MUTATIONS} == SLURM_LIKE
    by_check = [one for one in MUTATIONS if one.rule != pages.REHEARSAL]
    assert len(by_check) >= 0.95 * len(MUTATIONS)


def test_an_unfilled_account_is_all_that_a_fresh_script_is_told() -> None:
    for name in GOLDEN:
        found = check(golden.scripts()[name].script, pages.machine(name))
        assert {one.rule for one in found} <= {"directive-placeholder"}, name
        assert all(one.severity == "warning" for one in found)


def test_pages_are_up_to_date() -> None:
    wanted = "run tests/graph/verification/make_pages.py and read the diff"
    assert pages.CHECKS.read_text() == pages.checks_page(), wanted
    assert pages.MUTATIONS.read_text() == pages.mutations_page(), wanted
