"""Labelled cases, read from files and folders. A fault is told with its file and line."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from assistant.errors import InputError
from assistant.evaluating.case_types import ADAPTER, TYPES, AnyCase, ConversationCase, LogCase
from knowledge.data_file import parse_json, parse_yaml
from knowledge.errors import FactsError
from knowledge.opening import read_plain

LARGEST_FILE = 200_000_000
MANIFEST = "sets.yaml"
Part = Literal["development", "blind", "fitted"]


class Described(BaseModel):
    """A set as `sets.yaml` of a folder describes it. path: a file or a folder, from the folder on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    path: str
    part: Part = "development"
    date: datetime.date | None = None
    about: str = ""


@dataclass(frozen=True, slots=True)
class CaseSet:
    """Cases that belong together, in order."""

    name: str
    part: str
    date: str
    about: str
    cases: tuple[AnyCase, ...]


def read_sets(paths: Sequence[Path]) -> tuple[CaseSet, ...]:
    """The sets of files and folders. Raises InputError where one cannot be read or holds no case."""
    found = [one for path in paths for one in sets_of(path)]
    if not any(one.cases for one in found):
        raise InputError(f"no case in {', '.join(map(str, paths))}; docs/eval.md tells the format")
    return tuple(found)


def sets_of(path: Path) -> Iterator[CaseSet]:
    """The sets that the folder describes; else each of its files as one, and files of one case together."""
    if (manifest := path / MANIFEST).is_file():
        for row in described(manifest):
            cases = tuple(cases_of(path / row.path))
            yield CaseSet(row.name, row.part, str(row.date or ""), row.about, cases)
        return
    files = case_files(path)
    single = [file for file in files if file.suffix in (".log", ".txt")]
    for file in files:
        if file not in single:
            yield CaseSet(file.stem, "", "", "", tuple(cases_of(file)))
    if single:
        yield CaseSet(path.stem, "", "", "", tuple(case for file in single for case in cases_of(file)))


def described(manifest: Path) -> tuple[Described, ...]:
    """The rows of `sets.yaml`. Raises InputError."""
    try:
        return TypeAdapter(tuple[Described, ...]).validate_python(parse_yaml(text_of(manifest)))
    except (FactsError, ValidationError) as error:
        raise InputError(f"{manifest}: {fault_of(error)}") from error


def case_files(path: Path) -> list[Path]:
    """The file itself, or those below the folder that may hold cases. Raises InputError where nothing is there."""
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.suffix in READERS and file.is_file())
    if not path.exists():
        raise InputError(f"{path} is not there; give a folder or a file of cases")
    return [path]


def cases_of(path: Path) -> Iterator[AnyCase]:
    """The cases of a file or a folder, each with an id."""
    for file in case_files(path):
        yield from READERS.get(file.suffix, read_lines)(file)


def read_lines(file: Path) -> Iterator[AnyCase]:
    """A case a line. Raises InputError with the line."""
    for number, line in enumerate(text_of(file).splitlines(), 1):
        if line.strip():
            try:
                value = parse_json(line)
                if not isinstance(value, dict):
                    raise ValueError("it is no JSON object")
                named = {**value, "id": str(value.get("id") or f"{file.stem}:{number}")}
                yield ADAPTER.validate_python(beside(named, file))
            except ValueError as error:
                raise InputError(f"{file}, line {number}: {fault_of(error)}") from error


def beside(value: dict[str, Any], file: Path) -> dict[str, Any]:
    """The case with the log that it names by `file`. Raises ValueError where that lies outside the folder."""
    if "file" not in value or "log" in value:
        return value
    named = (file.parent / str(value["file"])).resolve()
    if not named.is_relative_to(file.parent.resolve()):
        raise ValueError(f"{value['file']} lies outside the folder of the cases")
    return {**value, "log": text_of(named)}


HEAD = re.compile(r"#\s*cause:\s*([a-z-]+)")


def read_log(file: Path) -> Iterator[AnyCase]:
    """A raw log: its first line reads `# cause: ID; how: WORDS`, or its folder is called after the cause."""
    text = text_of(file)
    head = HEAD.match(text)
    cause, log = (head[1], text.partition("\n")[2]) if head else (file.parent.name, text)
    yield LogCase(id=f"{file.parent.name}/{file.stem}" if not head else file.stem, log=log, cause=cause)


MARKS = {"= ": "says", "- ": "not", "+ ": "lines"}


def read_conversation(file: Path) -> Iterator[ConversationCase]:
    """`> ` what is said, `= ` what the answer must hold, `- ` what it must not, `+ ` a line of the script after it."""
    turns: list[dict[str, Any]] = []
    for line in text_of(file).splitlines():
        mark, rest = line[:2], line[2:]
        if mark == "> ":
            turns.append({"say": rest, "says": [], "not": [], "lines": []})
        elif mark in MARKS and turns:
            turns[-1][MARKS[mark]].append(rest)
        elif turns and not any(turns[-1][name] for name in MARKS.values()):
            turns[-1]["say"] += f"\n{line}"
    spoken = [{**turn, "say": turn["say"].strip("\n")} for turn in turns]
    if not spoken:
        raise InputError(f"{file}: no line begins with '> '; docs/eval.md tells the format")
    yield ConversationCase.model_validate({"id": file.stem, "turns": spoken})


READERS = {".jsonl": read_lines, ".log": read_log, ".txt": read_conversation}


def text_of(file: Path) -> str:
    try:
        return read_plain(file, LARGEST_FILE).decode("utf-8", "replace")
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror}); give a file of cases") from error


def fault_of(error: Exception) -> str:
    """What is wrong, in a line."""
    if isinstance(error, json.JSONDecodeError):
        return f"it is no JSON ({error.msg}, character {error.colno})"
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        if first["type"].startswith("union_tag"):
            return f'its type cannot be told; give "type": one of {", ".join(TYPES)}'
        where = ".".join(map(str, first["loc"][1:] if first["loc"][:1] and first["loc"][0] in TYPES else first["loc"]))
        return f"{where}: {first['msg']}"
    return " ".join(str(error).split())
