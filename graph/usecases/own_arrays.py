"""A job array in a person's own script: its directive, and for an array over arguments the lines that take a task's
values, as our own scripts have them."""

from __future__ import annotations

import re
from dataclasses import replace

from graph.extraction.script import read_script
from graph.planning.extras import check_array
from graph.reading.edits import Set
from graph.usecases.edit_script import WRITTEN_VALUE, Edited, end_of_launch, set_directives
from graph.usecases.own_lines import AS_PATCH, beside_launch, scheduler_of
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.job_parts import ArrayAxis, JobArray
from knowledge.types import Scheduler
from templates.parts import task_values

INSTEAD: dict[Scheduler, str] = {
    "lsf": 'give it as extra_directives=-J "NAME[1-10]"',
    "flux": "submit it so many times: flux bulksubmit --cc=1-10 flux batch FILE",
}
NO_ARRAY = "{} has no option for array; {}"
OVER_FILES = (
    "how many files there are is known at submission only: give array=COUNT, and patch the line to take its file"
)


def put_array(now: Edited, array: JobArray, cluster: Cluster | None, file: str) -> Edited:
    """The script as an array. Raises InputError with what speaks against it and what works."""
    scheduler = scheduler_of(now.text, file)
    if scheduler in INSTEAD:
        raise InputError(NO_ARRAY.format(scheduler, INSTEAD[scheduler]))
    if array.files:
        raise InputError(OVER_FILES)
    check_array(array)
    counted = array if not array.axes else JobArray(count=array.tasks, at_once=array.at_once)
    now = set_directives(now, Set("array", counted), scheduler, cluster)
    return over_arguments(now, array, scheduler) if array.axes else now


def over_arguments(now: Edited, array: JobArray, scheduler: Scheduler) -> Edited:
    """The script whose program gets the values of its task, in the place of those that it has."""
    array = replace(array, axes=tuple(as_given(now.text, one) for one in array.axes))
    lines, words = task_values(array, scheduler)
    at = end_of_launch(now.text)
    if not at or read_script(now.text).program is None:
        raise InputError(AS_PATCH)
    text, behind = now.text, list[str]()
    for one, word in zip(array.axes, words, strict=True):
        changed = with_word(text, one.option, word) if one.option else text
        behind += [word] if changed == text else []
        text = changed
    at = end_of_launch(text)
    text = f"{text[:at]} {' '.join(behind)}{text[at:]}" if behind else text
    now = replace(now, text=text, says=(*now.says, f"`{' '.join(words)}`: the task's own"))
    for line in lines:
        now = beside_launch(now, line)
    return now


def with_word(text: str, option: str, word: str) -> str:
    """The text whose launch gives an option as the word says, in the place where it has it."""
    command = read_script(text).training
    begin = sum(map(len, text.splitlines(keepends=True)[: command.line - 1])) if command else 0
    held = re.compile(rf"(?<=\s){re.escape(option)}(?:[= ]{WRITTEN_VALUE})?(?=[\s)\\]|$)").search(text, begin)
    return f"{text[: held.start()]}{word}{text[held.end() :]}" if held else text


def as_given(text: str, axis: ArrayAxis) -> ArrayAxis:
    """The axis with its argument in the form in which the script gives it: `--lr 1` or `lr=1`."""
    bare = axis.option.lstrip("-")
    holds = re.search(rf"\s{re.escape(bare)}=", text) and not re.search(rf"\s{re.escape(axis.option)}[= ]", text)
    return replace(axis, option=bare) if bare and holds else axis
