"""Programs and files in a sentence: which one is to run, and which are only mentioned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from graph.extraction.sentences.lexicon import read_yaml
from graph.extraction.sentences.line import NameSpan
from graph.extraction.sentences.patterns import pattern


def _file(name: str) -> re.Pattern[str]:
    return pattern("programs.yaml", "patterns", name)


@cache
def _list(name: str) -> tuple[str, ...]:
    return tuple(read_yaml("programs.yaml")[name])


def find_programs(text: str, folded: str) -> list[NameSpan]:
    """Python programs as entries (a shell script that is to be run as a weak one); every other file as noise."""
    found = [NameSpan("noise", "", *match.span()) for match in _file("address").finditer(folded)]
    for match in _file("module").finditer(folded):
        start, end = match.span("name")
        if not text[start:end].startswith(_list("starters")):
            found.append(NameSpan("entry", text[start:end], start, end))
    for match in _file("file").finditer(folded):
        ending = match["ending"]
        if ending == "py":
            found.append(_entry(text, folded, match))
        elif ending in _list("shell") and _file("called").search(folded[max(0, match.start() - 30) : match.start()]):
            found.append(NameSpan("entry", text[match.start() : match.end()], *match.span(), weak=True))
        elif ending in _list("other") or ending in _list("shell"):
            found.append(NameSpan("noise", text[match.start() : match.end()], *match.span()))
    found += [NameSpan("noise", "", *match.span()) for match in _file("path").finditer(folded)]
    return found


def _entry(text: str, folded: str, match: re.Match[str]) -> NameSpan:
    """A program, with the folder that stands right behind it: `train.py inside /workspace`."""
    name, behind = text[match.start() : match.end()], _file("folder").match(folded, match.end())
    if behind is None or "/" in name:
        return NameSpan("entry", name, *match.span())
    folder = text[slice(*behind.span("folder"))].rstrip("/")
    return NameSpan("entry", f"{folder}/{name}", match.start(), behind.end("folder"))


def find_container(text: str, folded: str) -> str | None:
    match = _file("container").search(folded)
    return text[match.start() : match.end()] if match else None


def find_environment(text: str, folded: str) -> str | None:
    match = _file("environment").search(folded)
    if not match:
        return None
    group = match.lastgroup or "name"
    return text[match.start(group) : match.end(group)]


def find_options(text: str, program: str | None, jobs: Sequence[int]) -> str | None:
    """The program's options in a sentence: right behind its name, or behind a word such as `arguments`.

    jobs: where options stand that say something about the job itself (`--nodes 4`); the next one ends the program's.
    """
    at = text.find(program) + len(program) if program and program in text else -1
    starts = [at] if at >= 0 else []
    starts += [match.end() for match in _file("announced").finditer(text)]
    for start in starts:
        until = min((place for place in jobs if place >= start), default=len(text))
        match = _file("options").match(text, start, until)
        if match:
            return _inside(text[: match.start()], match[0]).strip().rstrip(".?!") or None
    return None


def _inside(before: str, options: str) -> str:
    """The options up to the sign that closes the brackets or quotes in which the whole command stands."""
    opened = _file("opened").search(before)
    if opened is None:
        return options
    closing = ")" if opened[1] == "(" else opened[1]
    depth = 0
    for at, sign in enumerate(options):
        if sign == closing and not depth:
            return options[:at]
        depth += (sign == "(") - (sign == ")")
    return options


def find_arguments(command: str) -> str | None:
    """The program's own arguments in one command line: what follows the Python file or module, up to a pipe or `;`."""
    match = _file("arguments").search(command)
    return " ".join(match["rest"].split()) or None if match else None
