"""One field taken out of a person's own script: the line or the part of a line that putting it there makes.

Every other line stays. What stands in no line of its own is refused with what works instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from graph.extraction.script import read_script
from graph.planning.directives import FORMS, PREFIX, Word, dependency, mail_options, signal_options
from graph.planning.fields import shown
from graph.usecases.edit_script import DIRECTIVES, MODULE, OFFLINE, OWN_FORMS, Edited, mark_of, swap_module, take_out
from graph.usecases.own_fields import (
    ACTIVATES,
    BESIDE,
    INSTEAD,
    NO_ARGUMENT,
    NOT_HERE,
    PER_NODE,
    RANKS,
    SOURCES_VENV,
    WISHES,
    edits_of,
)
from graph.usecases.own_lines import AS_PATCH, scheduler_of
from graph.usecases.own_signals import held_signal, with_handler, without_handler
from knowledge.errors import InputError
from knowledge.job_parts import DEPENDENCY_KINDS, Dependency, LimitSignal, Mail
from knowledge.types import Scheduler

NEEDED = "a job needs it: give another value"
ONE_BY_ONE = "name what is to go: {}=!VALUE"
NOT_THERE = "no line of the script has {}"
# Stands for a value while the form of a directive is made into a pattern.
ANY = "VALUE"
ARGUMENTS = frozenset(("args", "argument_edits"))
STEPS = frozenset(("before", "after", "source_files"))


def take_field_out(now: Edited, name: str, value: str, file: str) -> Edited:
    """The script without the field, or without that one value of it. Raises InputError with what works instead.

    value: "" for all of it; file: the script's name, for what is said.
    """
    if name in ("nodes", "walltime", "gpus_per_node", "entry"):
        raise InputError(NEEDED)
    if name == "processes_per_node" and PER_NODE.search(re.sub(r"(?m)^#.*", "", now.text)):
        raise InputError("the launch counts them: give another number")
    if name in ("signal", "requeue"):
        signal, bare = held_signal(now.text), without_handler(now)
        if bare is not now and signal:
            left = without_directives(bare, name, "", "slurm")
            return left if name == "signal" else with_handler(left, signal)
    if name in DIRECTIVES or name in WISHES or name == "processes_per_node":
        shares = name in ("account", "queue", "constraint", "nodelist", "exclude_nodes")
        return without_directives(now, name, value if shares else "", scheduler_of(now.text, file))
    if name in ARGUMENTS and value:
        names = [one.name for one in edits_of(value)] if value.startswith("-") else [value.partition("=")[0]]
        for option in names:
            now = or_not_there(now, take_out(now, option), option, NO_ARGUMENT)
        return now
    if name in STEPS and value:
        return or_not_there(now, without_row(now, f"source {value}" if name == "source_files" else value), value)
    if name in HANDLERS:
        return HANDLERS[name](now, value)
    raise InputError(ONE_BY_ONE.format(name) if name in (*ARGUMENTS, *STEPS) else INSTEAD.get(name, NOT_HERE))


def or_not_there(now: Edited, changed: Edited, value: str, why: str = NOT_THERE) -> Edited:
    """The changed script. Raises InputError where nothing was changed."""
    if changed.text == now.text:
        raise InputError(why.format(shown(value)))
    return changed


def without_row(now: Edited, row: str) -> Edited:
    """The script without the line of that text."""
    return without_rows(now, lambda one: one.strip() == row.strip())


def without_rows(now: Edited, goes: Callable[[str], bool]) -> Edited:
    rows = now.text.splitlines(keepends=True)
    gone = [one for one in rows if goes(one.rstrip("\n"))]
    told = tuple(f"taken out: `{one.strip()}`" for one in gone)
    kept = "".join(one for one in rows if one not in gone)
    return replace(now, text=kept, says=(*now.says, *told)) if gone else now


def words_of(name: str, scheduler: Scheduler) -> Iterator[Word]:
    """The directives that a field becomes, with a value that stands for any."""
    if name == "mail":
        yield from mail_options(Mail(ANY, ("begin", "end")), scheduler) or []
    elif name == "signal" and scheduler != "slurm":
        yield from signal_options(LimitSignal(ANY), scheduler)
    elif name == "dependency":
        for kind in DEPENDENCY_KINDS[:4]:
            made = dependency(Dependency(kind, (ANY,)), scheduler, "")
            yield from made if isinstance(made, list) else []
    elif name == "begin":
        yield from [FORMS[name][scheduler]("2000-01-01T00:00")] if scheduler in FORMS[name] else []
    elif form := {**FORMS, **OWN_FORMS, "processes_per_node": RANKS}.get(name, {}).get(scheduler):
        yield form(ANY)


def without_directives(now: Edited, name: str, value: str, scheduler: Scheduler) -> Edited:
    """The script without the directives of a field; of one that shares its line with others, without its part."""
    script, before = read_script(now.text), now
    sign = mark_of(script, scheduler)
    options = DIRECTIVES[name] if name in ("account", "queue") else ()
    words = list(words_of(name, scheduler))
    if scheduler == "slurm":
        options += tuple(one.key.strip("-= ").partition("=")[0] for one in words)
    held = {one.line: one.value for option in options if (one := script.active.get(option)) is not None}
    for word in (one for one in words if one.join not in (None, "+")):
        part = re.escape(word.join or "") + re.escape(word.value).replace(ANY, re.escape(value) or r"[^\s:&]+")
        joint = re.compile(rf"^(?P<head>{sign}\s+\S.*?){part}(?=[:&]|\s*$)", re.M)
        text = joint.sub(lambda one: one["head"], now.text) if value or word.join == ":" else now.text
        now = replace(now, text=text, says=(*now.says, f"taken out: {name} {value}")) if text != now.text else now
    if now is not before:
        return now
    rows = {row for at, row in enumerate(now.text.splitlines(), 1) if at in held and value in ("", held[at])}
    for word in (one for one in words if scheduler != "slurm" or one.join == "+"):
        own = re.escape(word.value).replace(ANY, re.escape(value) if value else r"\S.*?") if word.join else ".*"
        line = re.compile(rf"{sign}\s+{re.escape(word.key)}{own if word.key[-1] in ' =' else ''}\s*")
        rows |= {row for row in now.text.splitlines() if line.fullmatch(row)}
    for option in options if scheduler != "slurm" else ():
        line = re.compile(rf"{sign}\s+--?{option}[= ]{re.escape(value) or '.*'}\s*")
        rows |= {row for row in now.text.splitlines() if line.fullmatch(row)}
    return or_not_there(before, without_rows(now, lambda row: row in rows), value or name.replace("_", " "))


def without_variables(now: Edited, value: str) -> Edited:
    """The script without the line that sets a variable."""
    name = value.partition("=")[0]
    if not name:
        raise InputError(ONE_BY_ONE.format("variables"))
    row = re.compile(rf"\s*(?:export\s+)?{re.escape(name)}=(?:\"[^\"]*\"|'[^']*'|[^\s;&|])*\s*$")
    return or_not_there(now, without_rows(now, lambda one: row.match(one) is not None), name)


def without_modules(now: Edited, value: str) -> Edited:
    """The script without a module."""
    if not value:
        raise InputError(ONE_BY_ONE.format("modules"))
    return or_not_there(now, swap_module(now, list(MODULE.finditer(now.text)), "", value), value)


def without_environment(now: Edited, _: str) -> Edited:
    """The script without the line that enters an environment."""
    for one in (ACTIVATES, SOURCES_VENV):
        if found := one.search(now.text):
            beside = len(BESIDE.match(found["head"])[0])  # type: ignore[index]
            rest = found["head"][:beside].rstrip(" ;&")
            end = found.end() + (0 if rest or now.text[found.end() : found.end() + 1] != "\n" else 1)
            text = f"{now.text[: found.start()]}{rest}{now.text[end:]}"
            return replace(now, text=text, says=(*now.says, f"taken out: `{found[0][beside:].strip()}`"))
    raise InputError(NOT_THERE.format("a line that enters an environment"))


def without_offline(now: Edited, _: str) -> Edited:
    """The script without the variables that keep libraries off the network."""
    rows = [f"export {one}" for one in OFFLINE.split()]
    return or_not_there(now, without_rows(now, lambda row: row.strip() in rows), "offline variables")


def without_extra(now: Edited, value: str) -> Edited:
    """The script without a directive, as the person wrote it."""
    if not value:
        raise InputError(ONE_BY_ONE.format("extra_directives"))
    scheduler = scheduler_of(now.text, "FILE")
    text = value.strip().removeprefix(PREFIX[scheduler]).strip()
    return or_not_there(now, without_row(now, f"{mark_of(read_script(now.text), scheduler)} {text}"), text)


def without_image(now: Edited, _: str) -> Edited:
    raise InputError(f"the program runs in the image: {AS_PATCH}")


HANDLERS: Mapping[str, Callable[[Edited, str], Edited]] = {
    "variables": without_variables,
    "modules": without_modules,
    "environment": without_environment,
    "offline": without_offline,
    "extra_directives": without_extra,
    "container": without_image,
}
