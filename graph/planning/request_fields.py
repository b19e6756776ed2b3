"""A request's fields from the command line: `--set FIELD=VALUE`, and the short forms of the usual ones.

A field's own type says how its value is read: words as they are, numbers, yes and no, lists at commas; the larger parts
in a short form each.
"""

from __future__ import annotations

import re
import shlex
import types
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from knowledge.errors import InputError
from knowledge.job_parts import (
    DEPENDENCY_KINDS,
    MAIL_EVENTS,
    ArgumentEdit,
    ArrayAxis,
    Dependency,
    JobArray,
    LimitSignal,
    Mail,
    Program,
)
from knowledge.types import JobRequest, Variable

NOT_SET = frozenset({"heard", "machine", "source_machine", "setup", "patches", "site_words"})
# `--lr=1e-4, --bs=8 !--amp`: where the next edit begins, which is in no quotes. Each says by itself whether it goes.
NEXT_EDIT = re.compile(r"""[,;\s]\s*(?=[!+=]?--?[A-Za-z])(?=(?:[^"']|"[^"]*"|'[^']*')*$)""")
NAME_AND_VALUE = re.compile(r"(?P<name>[^\s=]+)(?:=|\s+)(?P<value>.*)", re.S)
NUMERAL = re.compile(r"[-+]?[\d.]+(?:e[-+]?\d+)?", re.I)
YES, NO = ("yes", "true", "on", "1"), ("no", "false", "off", "0")


def with_fields(request: JobRequest, texts: Iterable[str]) -> JobRequest:
    """The request with `FIELD=VALUE` set, in order; a list's field again adds to it. Raises InputError."""
    for text in texts:
        name, sign, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if name not in FIELDS or not sign:
            raise InputError(f"--set takes FIELD=VALUE; the fields are {', '.join(sorted(FIELDS))}")
        made = FIELDS[name](value)
        before = getattr(request, name)
        if isinstance(made, tuple) and isinstance(before, tuple):
            made = (*before, *made)
        request = replace(request, **{name: made})
    return request


# Values that a range may stand for.
MOST_COUNTED = 1000
# The first and the last index of an array.
INDICES = re.compile(r"\s*(\d{1,6})\s*-\s*(\d{1,6})\s*")


def array_of(texts: Iterable[str] | None) -> JobArray | None:
    """`lr=1e-3,1e-4` or `fold=01-10` an axis, `10` a count, `1-10` the indices, `%2` at the end so many at once.

    Raises InputError.
    """
    array = JobArray()
    for text in texts or ():
        body, _, most = text.partition("%")
        if most:
            array = replace(array, at_once=whole(most))
        name, sign, values = body.partition("=")
        if not sign and (found := INDICES.fullmatch(body)):
            first, last = int(found[1]), int(found[2])
            array = replace(array, first=first, count=last - first + 1)
            continue
        if not sign:
            array = replace(array, count=whole(body))
            continue
        option = name if name.startswith("-") or "." in name or not name else f"--{name}"
        array = replace(array, axes=(*array.axes, ArrayAxis(option, values_of(values))))
    return array if texts else None


def values_of(text: str) -> tuple[str, ...]:
    """The values of an axis: `1e-3,1e-4` as they stand, `01-10` counted. Raises InputError for a range that is none."""
    several = INDICES.fullmatch(text)
    if several is None:
        return tuple(text.split(","))
    first, last = int(several[1]), int(several[2])
    if not 0 <= last - first < MOST_COUNTED:
        raise InputError(f"'{text}' is no range of 1 to {MOST_COUNTED} values, the smaller number first")
    width = len(several[1]) if several[1].startswith("0") else 0
    return tuple(str(one).zfill(width) for one in range(first, last + 1))


def variable_of(text: str) -> Variable:
    """`NAME=VALUE`. Raises InputError."""
    name, sign, value = text.partition("=")
    if not sign or not name.isidentifier():
        raise InputError(f"a variable is NAME=VALUE, not '{text[:40]}'")
    return Variable(name, value)


def whole(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise InputError(f"'{text[:40]}' is no whole number") from error


def yes_or_no(text: str) -> bool:
    if text.lower() not in (*YES, *NO):
        raise InputError(f"'{text[:40]}' is neither yes nor no")
    return text.lower() in YES


def dependency(text: str) -> Dependency:
    """`afterok:123:124`, `singleton`, or ids alone."""
    head, *jobs = text.split(":")
    kind = next((one for one in DEPENDENCY_KINDS if one == head), None)
    return Dependency(kind, tuple(jobs)) if kind else Dependency("afterok", (head, *jobs))


def signal(text: str) -> LimitSignal:
    """`USR1@300`, with the unit or as a clock has it (`USR1@5min`, `TERM@00:05:00`), and as sbatch takes it (`B:`)."""
    found = SIGNAL.fullmatch(text.strip())
    if found is None:
        name, _, seconds = text.partition("@")
        return LimitSignal(name.upper().removeprefix("SIG"), whole(seconds or "300"))
    parts = [int(one) for one in (found["clock"] or "0").split(":")]
    clock = sum(part * 60**at for at, part in enumerate(reversed(parts)))
    unit = {"h": 3600, "m": 60}.get((found["unit"] or "s")[0].lower(), 1)
    counted = int(found["count"]) * unit if found["count"] else clock or 300
    return LimitSignal(found["name"].upper().removeprefix("SIG"), counted)


SIGNAL = re.compile(
    r"(?:[BR]{1,2}:)?(?P<name>[A-Za-z][A-Za-z0-9]*)"
    r"(?:\s*[@ ]\s*(?:(?P<clock>\d+(?::\d\d){1,2})"
    r"|(?P<count>\d+)\s*(?P<unit>s|secs?|seconds?|m|mins?|minutes?|h|hours?)?))?",
    re.I,
)


# Schedulers' own words for the events of a mail.
ALSO = {"start": "begin", "time_limit": "limit", "abort": "fail"}


def mail(text: str) -> Mail:
    """`ADDRESS`, `ADDRESS:end,fail`, or the events alone. Raises InputError."""
    address, _, events = text.partition(":")
    if address and not events and {one.strip() for one in address.lower().split(",")} <= set(MAIL_EVENTS):
        address, events = "", address
    said = [ALSO.get(one := word.strip().lower(), one) for word in events.split(",") if word.strip()]
    if "all" in (address.lower(), *said):
        address, said = "" if address.lower() == "all" else address, list(MAIL_EVENTS)
    if unknown := [one for one in said if one not in MAIL_EVENTS]:
        raise InputError(f"mail '{unknown[0][:40]}' is none of {', '.join(MAIL_EVENTS)}")
    chosen = tuple(one for one in MAIL_EVENTS if one in said)
    return Mail(address or None, chosen) if chosen else Mail(address or None)


def edit(text: str) -> tuple[ArgumentEdit, ...]:
    """`--lr=1e-4` sets, `+--seed=1` adds, `!--amp` removes. Several options in one text are one change each."""
    if len(parts := NEXT_EDIT.split(text)) > 1:
        return tuple(made for part in parts for made in edit(part))
    kind: Literal["add", "set", "remove"] = (
        "add" if text.startswith("+") else "remove" if text.startswith("!") else "set"
    )
    said = (text[1:] if kind != "set" else text).strip()
    found = NAME_AND_VALUE.fullmatch(said)
    name, value = (found["name"], found["value"]) if found else (said, None)
    return (ArgumentEdit(kind, name, value and as_words(value)),)


def as_words(value: str) -> str:
    """The value as a shell would have to be given it: several numbers are several words, a text with blanks is one,
    and what is quoted already stays."""
    with suppress(ValueError):
        words = shlex.split(value)
        numbers = all(NUMERAL.fullmatch(one) for one in words)
        if len(words) < 2 or numbers or len(words) != len(value.split()):
            return value
    return shlex.quote(value)


def program(text: str) -> tuple[Program, ...]:
    """`PROGRAM ARGS`, with `;nodes=2;gpus_per_node=2;walltime=00:30:00;port=5555;helper` behind it; a job of its own
    has `;queue=NAME;account=NAME;first` too."""
    command, *options = text.split(";")
    made = Program(command.strip())
    for option in options:
        name, _, value = option.strip().partition("=")
        if name in ("helper", "first"):
            made = replace(made, **{name: True})  # type: ignore[arg-type]
        elif name in ("walltime", "queue", "account"):
            made = replace(made, **{name: value})  # type: ignore[arg-type]
        elif name in PARTS:
            made = replace(made, **{PARTS[name]: whole(value)})  # type: ignore[arg-type]
        else:
            raise InputError(f"'{name[:40]}' is none of {', '.join(OF_PROGRAM)}")
    return (made,)


PARTS = {"nodes": "nodes", "gpus": "gpus_per_node", "gpus_per_node": "gpus_per_node", "port": "wait_port"}
OF_PROGRAM = ("nodes", "gpus_per_node", "walltime", "queue", "account", "port", "helper", "first")
# What a mount is told by, in the words of docker and of people.
OF_BIND = {
    **dict.fromkeys(("source", "src", "from", "host"), "source"),
    **dict.fromkeys(("target", "destination", "dst", "to", "container"), "target"),
    **dict.fromkeys(("readonly", "read_only", "ro"), "readonly"),
    "type": "type",
}
# A folder and where it is seen in the container, as people put it.
PLACED = re.compile(
    r"(?P<source>[$~/][^\s,]*?)\s*(?:=(?=[$/])|[-=]>|→|\s(?:(?:mounted|bound|mapped|visible|seen)\s)?(?:at|as|to|on|in|into)\s)"
    r"\s*(?P<target>[$/]\S*)"
)


def binds(text: str) -> tuple[str, ...]:
    """`SOURCE:TARGET[:ro]`, a folder alone, or both by name: `/a at /b`, `type=bind,source=/a,target=/b,readonly`.

    Raises InputError where a target has no source, or what is mounted is no folder.
    """
    found, named = list[str](), dict[str, str]()
    for part in (*filter(None, re.split(r"\s*[,;]\s*|\s+and\s+", text.strip())), ""):
        key, sign, value = part.partition("=")
        kind = OF_BIND.get(key.strip().lower(), "") if sign or key.lower() in ("readonly", "ro") else ""
        if named and (not kind or kind in named):
            found.append(bind_of(named))
            named = {}
        if kind:
            named[kind] = value.strip()
        elif part:
            two = PLACED.fullmatch(part)
            found.append(f"{two['source']}:{two['target']}" if two else part)
    return tuple(found)


def bind_of(named: Mapping[str, str]) -> str:
    """One mount out of what it is told by. Raises InputError."""
    source, kind = named.get("source"), named.get("type", "bind")
    if not source or kind != "bind":
        raise InputError("binds takes folders: SOURCE:TARGET[:ro], or source=/a,target=/b[,readonly]")
    end = ":ro" if named.get("readonly", "no").lower() not in NO else ""
    target = named.get("target") or (source if end else "")
    return f"{source}:{target}{end}" if target else source


READERS: Mapping[Any, Callable[[str], Any]] = {
    str: str,
    int: whole,
    bool: yes_or_no,
    JobArray: lambda text: array_of(text.split(";")),
    Dependency: dependency,
    LimitSignal: signal,
    Mail: mail,
}
ITEMS: Mapping[Any, Callable[[str], tuple[Any, ...]]] = {
    str: lambda text: tuple(part for part in text.split(",") if part),
    Variable: lambda text: (variable_of(text),),
    ArgumentEdit: edit,
    Program: program,
}
# A command holds commas of its own; one --set is one of them.
SINGLE = frozenset({"before", "after", "extra_directives"})


def reader(name: str, hint: Any) -> Callable[[str], Any]:
    """How a field's text is read, by its type."""
    if name in SINGLE:
        return lambda text: (text,)
    if name == "binds":
        return binds
    if get_origin(hint) is tuple:
        return ITEMS[get_args(hint)[0]]
    kinds = [one for one in get_args(hint) if one is not types.NoneType] if get_origin(hint) in UNIONS else [hint]
    choices = tuple(value for one in kinds if get_origin(one) is Literal for value in get_args(one))
    return chosen(name, choices) if choices else READERS[kinds[0]]


UNIONS = (Union, types.UnionType)


def chosen(name: str, choices: tuple[str, ...]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in choices:
            raise InputError(f"{name} '{text[:40]}' is none of {', '.join(choices)}")
        return text

    return read


FIELDS = {name: reader(name, hint) for name, hint in get_type_hints(JobRequest).items() if name not in NOT_SET}
