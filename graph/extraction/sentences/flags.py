"""Options of schedulers and launchers (`-N 4`, `--nproc_per_node=4`, `-l select=2`), in a sentence or a command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from graph.extraction.sentences.durations import clock, hms
from graph.extraction.sentences.lexicon import lexicon, read_yaml
from graph.extraction.sentences.patterns import pattern
from graph.reading.scope import stretch_at


@dataclass(frozen=True, slots=True)
class Flag:
    """One option with a value that a field takes; weak: another option of the same text says it better."""

    field: str
    value: str | int
    start: int
    end: int
    weak: bool = False


KEYWORDS = (
    ("nodes", re.compile(r"\b(?:select|nodes)=(\d+)(?=[:\s,;\"'`)]|$)")),
    ("gpus_per_node", re.compile(r"\b(?:ngpus|ppn|gpus)=(\d+)\b")),
    ("nodes", re.compile(r"\bnum_nodes=(\d+)\b")),
    ("gpus_per_node", re.compile(r"\bdevices=(\d+)\b")),
    ("walltime", re.compile(r"\bwalltime=(\d{1,3}:\d\d(?::\d\d)?)\b")),
)
LAUNCHER_LINE = re.compile(r"-l\s+(?:select|nodes|walltime)=[\w:=.,]+|(?<![\w-])select=\d[\w:=.]*")
ACCOUNT = re.compile(r"(?<![\w-])A=(?P<value>[A-Za-z][\w.@-]*\w)")  # -A without its hyphen


@cache
def fields() -> Mapping[str, tuple[str, str]]:
    """Option -> (kind, field)."""
    data: dict[str, Any] = read_yaml("flags.yaml")
    return {
        str(o): (kind, field)
        for kind in ("count", "time", "name")
        for field, options in data[kind].items()
        for o in options
    }


@cache
def weak() -> frozenset[str]:
    return frozenset(read_yaml("flags.yaml")["weak"])


def find_flags(text: str, prose: bool) -> list[Flag]:
    """Every option with a usable value. In prose a short option needs a value that looks like one."""
    found = [
        flag for match in pattern("flags.yaml", "patterns", "option").finditer(text) if (flag := _flag(match, prose))
    ]
    for line in LAUNCHER_LINE.finditer(text) if prose else [re.match(r"(?s).*", text)]:
        if line:
            found += _keywords(line[0], line.start())
    if prose:
        found += [Flag("account", match["value"], *match.span()) for match in ACCOUNT.finditer(text)]
        found = [one for one in found if stretch_at(text, one.start) is None]
    return found


def _keywords(text: str, offset: int) -> Iterator[Flag]:
    for field, request in KEYWORDS:
        for match in request.finditer(text):
            value = clock(match[1], colon="hours") if field == "walltime" else int(match[1])
            if value is not None:
                shown = value if isinstance(value, int) and field != "walltime" else hms(float(value))
                yield Flag(
                    field,
                    shown,
                    offset + match.start(),
                    offset + match.end(),
                    field == "gpus_per_node" and "ppn" in match[0],
                )


def _flag(match: re.Match[str], prose: bool) -> Flag | None:
    kind, field = fields().get(match["name"], ("", ""))
    value = (match["value"] or "").rstrip(".,:")
    if not value or not kind:
        return None
    if match["name"] == "-B" and "flux" not in match.string:
        return None
    start, end = match.span()
    if kind == "count":
        number = re.search(r"(?:^|:)(\d{1,6})$", value)
        return Flag(field, int(number[1]), start, end, match["name"] in weak()) if number and int(number[1]) else None
    if kind == "time":
        seconds = clock(value, colon="hours" if match["name"] == "-W" else "slurm")
        return Flag(field, hms(seconds), start, end) if seconds else None
    if prose and len(match["name"]) == 2 and lexicon().knows(value.lower()):
        return None
    if value.startswith("-") or "/" in value:
        return None
    return Flag("queue" if field == "qos" else field, value, start, end, field == "qos")
