"""The number of an array's tasks, as each scheduler writes it."""

from __future__ import annotations

import pytest

from graph.extraction.job_shape import array_of


@pytest.mark.parametrize(
    "value, tasks",
    [("0-9%2", 10), ("1,3,5", 3), ("name[1-10]%3", 10), ("0-15:4", 4), ("7", 1), ("", None), ("0-x", None)],
)
def test_tasks_are_counted(value: str, tasks: int | None) -> None:
    found = array_of(value)
    assert (found.tasks if found else None) == tasks
