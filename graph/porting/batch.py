"""The global batch when the number of ranks changes: kept by gradient accumulation where it comes out even, else said.

global batch = batch a rank x gradient accumulation x data-parallel ranks. Only options whose names say that they count
a rank are trusted with a change; `--batch-size` is a rank's in some programs and the node's or the job's in others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from graph.extraction.batch_numbers import IN_FILE, STEPS_OPTION, TAKES_STEPS, Counts, counts
from graph.porting.account import PortNote
from knowledge.types import LaunchPlan, Variable

# "auto" in a DeepSpeed file is filled in by transformers from its own options.
FILE_STEPS = "gradient_accumulation_steps"
WHOLE_NUMBER = re.compile(r"[0-9]{1,12}")


@dataclass(frozen=True, slots=True)
class Number:
    """An option with a whole number: its name as written, where its value stands, and through which variable."""

    name: str
    at: int
    value: int
    joined: bool
    variable: str = ""


def keep_batch(decided: LaunchPlan, before: int | None) -> tuple[LaunchPlan, tuple[PortNote, ...]]:
    """The plan with the same global batch as on `before` ranks, and what a person should know about it."""
    after = decided.ranks
    if not before or before == after:
        return decided, ()
    head = f"{before} ranks become {after}"
    in_file = {one["name"]: one["value"] for line in decided.user_setup for one in IN_FILE.finditer(line)}
    if in_file:
        return keep_in_file(decided, head, {name: int(value) for name, value in in_file.items()}, before)
    found = tuple(numbers(decided.args, decided.user_variables))
    whole, a_rank, steps = first(found, "whole"), first(found, "rank"), first(found, "steps")
    if whole:
        return decided, (PortNote(0, whole_batch(head, whole, a_rank, decided)),)
    if a_rank is None:
        return decided, (PortNote(0, unclear(head, first(found, "unclear"), steps, before, after)),)
    old_steps = steps.value if steps else 1
    shared = ranks_of_a_model(decided)
    total = a_rank.value * old_steps * before // shared
    new_steps, rest = divmod(old_steps * before, after)
    if rest == 0 and (steps or TAKES_STEPS.fullmatch(a_rank.name.lstrip("-"))):
        says = f"{head}: gradient accumulation {old_steps} becomes {new_steps}, so the global batch stays {total}."
        return with_steps(decided, steps, new_steps), (PortNote(0, says),)
    size, rest = divmod(a_rank.value * before, after)
    if rest == 0 and after > before:
        says = f"{head}: {a_rank.name} {a_rank.value} becomes {size}, so the global batch stays {total}."
        return changed(decided, a_rank, size), (PortNote(0, says),)
    now = a_rank.value * old_steps * after // shared
    says = f"{head}: the global batch {total} becomes {now}, and the learning rate may have to follow."
    return decided, (PortNote(0, says),)


def keep_in_file(
    decided: LaunchPlan, head: str, told: dict[str, int], before: int
) -> tuple[LaunchPlan, tuple[PortNote, ...]]:
    """The same for a DeepSpeed file that the script writes, where train_batch_size = micro batch x steps x ranks."""
    steps, after = told.get(FILE_STEPS), decided.ranks
    total, micro = told.get("train_batch_size"), told.get("train_micro_batch_size_per_gpu", 1)
    if steps is None and total is not None and total % (micro * after) == 0:
        return decided, (
            PortNote(0, f"{head}: train_batch_size {total} counts the whole job, so the global batch stays."),
        )
    new, rest = divmod((steps or 1) * before, after)
    if steps is None or rest:
        says = f"{head}: the batch sizes in the DeepSpeed file are for {before}; change them, or DeepSpeed may stop."
        return decided, (PortNote(0, says),)
    setup = tuple(
        IN_FILE.sub(lambda m: m[0][: m.start(2) - m.start()] + str(new) if m[1] == FILE_STEPS else m[0], line)
        for line in decided.user_setup
    )
    says = f"{head}: {FILE_STEPS} {steps} becomes {new} in the DeepSpeed file, so the global batch stays."
    return replace(decided, user_setup=setup), (PortNote(0, says),)


def ranks_of_a_model(decided: LaunchPlan) -> int:
    """How many ranks share one model, and its samples."""
    return max(1, decided.tensor_parallel * decided.pipeline_parallel)


def whole_batch(head: str, whole: Number, a_rank: Number | None, decided: LaunchPlan) -> str:
    groups = decided.ranks // ranks_of_a_model(decided) or 1
    share = (a_rank.value if a_rank else 1) * groups
    if whole.value % share == 0:
        return f"{head}: {whole.name} {whole.value} counts the whole job, so the global batch stays."
    each = f"{groups} data-parallel ranks" + (f" x {a_rank.value} samples" if a_rank else "")
    return f"{head}: {whole.name} {whole.value} does not spread over {each}; choose a multiple of {share}."


def unclear(head: str, size: Number | None, steps: Number | None, before: int, after: int) -> str:
    if size is None:
        return (
            f"{head}: no batch size is among the arguments; if your program sets one a rank, the global batch changes."
        )
    more = f" x {steps.name} {steps.value}" if steps else ""
    each = size.value * (steps.value if steps else 1)
    says = (
        f"if {size.name} {size.value}{more} counts one rank, the global batch {each * before} becomes {each * after}."
    )
    return f"{head}: {says}"


def numbers(args: tuple[str, ...], variables: tuple[Variable, ...]) -> Iterator[Number]:
    """Every option whose value is a whole number, also one that a variable at the top holds; then such variables that
    the program reads by itself."""
    values, used = {one.name: default_of(one) for one in variables}, set()
    for at, word in enumerate(args):
        name, joined, value = word.partition("=")
        if not joined:
            value = args[at + 1] if at + 1 < len(args) else ""
        variable = value.strip("${}") if value.startswith("$") else ""
        used.add(variable)
        value = values.get(variable, "") if variable else value
        if (name.startswith("-") or joined) and WHOLE_NUMBER.fullmatch(value):
            yield Number(name, at if joined else at + 1, int(value), bool(joined), variable)
    for name, value in values.items():
        if name not in used and WHOLE_NUMBER.fullmatch(value):
            yield Number(name, 0, int(value), False, name)


def default_of(variable: Variable) -> str:
    """A variable's value; of `${NAME:-8}` the value that it has when nothing is given."""
    given = re.fullmatch(r"\$\{\w+:?[-=](.*)\}", variable.value)
    return given[1] if given else variable.value


def first(found: tuple[Number, ...], what: Counts) -> Number | None:
    return next((one for one in found if counts(one.name) == what), None)


def with_steps(decided: LaunchPlan, steps: Number | None, value: int) -> LaunchPlan:
    if steps is None:
        return replace(decided, args=(*decided.args, STEPS_OPTION, str(value)))
    return changed(decided, steps, value)


def changed(decided: LaunchPlan, number: Number, value: int) -> LaunchPlan:
    """The plan with another number, in the variable that holds it or in the argument itself."""
    if number.variable:
        variables = tuple(
            replace(one, value=re.sub(r"\d+(?=\}?$)", str(value), one.value)) if one.name == number.variable else one
            for one in decided.user_variables
        )
        return replace(decided, user_variables=variables)
    args = list(decided.args)
    args[number.at] = f"{number.name}={value}" if number.joined else str(value)
    return replace(decided, args=tuple(args))
