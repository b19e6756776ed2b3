"""JSON of a scheduler that has not the shape it should: it is read as far as it goes, and nothing is called None."""

from __future__ import annotations

import json

import pytest

from knowledge.schedulers.json_forms import flux_job
from knowledge.schedulers.live import script_in_jobspec


@pytest.mark.parametrize(
    "system",
    [
        {"files": None},
        {"files": {"script": None}, "batch": None},
        {"files": {"script": "text"}},
        {"files": ["script"]},
        {"batch": []},
        {"files": {"script": {"data": ["x"]}}},
        None,
        [],
    ],
)
def test_a_jobspec_of_another_shape_has_no_script(system: object) -> None:
    assert script_in_jobspec(json.dumps({"attributes": {"system": system}})) == ""


@pytest.mark.parametrize("text", ["[" * 200_000, "null", "[]", '{"attributes": 1}', "no json", ""])
def test_a_text_that_is_no_jobspec_has_none(text: str) -> None:
    assert script_in_jobspec(text) == ""


@pytest.mark.parametrize(
    "system", [{"files": {"script": {"data": "#!/bin/sh\n"}}}, {"files": None, "batch": {"script": "#!/bin/sh\n"}}]
)
def test_the_script_is_found_in_either_place(system: object) -> None:
    assert script_in_jobspec(json.dumps({"attributes": {"system": system}})) == "#!/bin/sh\n"


def test_a_flux_job_without_a_value_has_no_such_word() -> None:
    job = flux_job({"t_submit": 1.0, "name": None, "username": None, "queue": None, "bank": None, "nodelist": None})
    assert (job.id, job.name, job.user, job.queue, job.account, job.where) == ("",) * 6
    assert flux_job({"id": 53653536768}).id == "ƒ2QkBQDm"
