"""The programs that start other programs, as one table (knowledge/launchers/programs.yaml): options, kinds, names.

Scripts are read by it, checks and the stand-in cluster judge by it, planning takes each launcher's rank variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from knowledge.cluster import RankVariables
from knowledge.data_file import read_data
from knowledge.slurm_options import slurm_options
from knowledge.word_lists import word_set

FILE = Path(__file__).parent / "launchers" / "programs.yaml"
REFUSAL = "{program}: unrecognized option '{word}'"
Kind = Literal["parallel", "spawner", "container", "wrapper", "shell", "remote", "submit", "python"]


@dataclass(frozen=True, slots=True)
class OptionSet:
    """values take one value, pairs two, optional one only when attached (`-K0`, `--x=y`), flags none.

    means: what a value tells of the job, by its option. one_dash: long options stand behind one dash, too.
    """

    values: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    pairs: frozenset[str] = frozenset()
    means: Mapping[str, str] = field(default_factory=dict)
    one_dash: bool = False
    refusal: str = REFUSAL


@dataclass(frozen=True, slots=True)
class LauncherTool:
    """A program by the name it has here, and its options as a script's reader takes them.

    before: words between its options and the program. of: the scheduler that it comes with; whose: in words.
    """

    name: str
    kind: Kind
    options: OptionSet
    called: frozenset[str]
    before: int = 0
    subcommands: frozenset[str] = frozenset()
    underscores: bool = False
    of: str = ""
    whose: str = ""
    ranks: RankVariables | None = None


@dataclass(frozen=True, slots=True)
class LauncherTable:
    """All of the file. by_name: every name that a program is called by."""

    sets: Mapping[str, OptionSet]
    tools: tuple[LauncherTool, ...]
    by_name: Mapping[str, LauncherTool]
    housekeeping: frozenset[str]
    modules: Mapping[str, str]
    transparent_modules: frozenset[str]
    python_values: frozenset[str]


@cache
def launcher_table() -> LauncherTable:
    """The file, read once."""
    data: Mapping[str, Any] = read_data(FILE)
    sets = {name: option_set(row) for name, row in data["sets"].items()}
    tools = tuple(tool(row, sets) for row in data["programs"])
    return LauncherTable(
        sets,
        tools,
        {name: one for one in tools for name in one.called},
        word_set(data["housekeeping"]),
        {module: name for name, modules in data["modules"].items() for module in modules.split()},
        word_set(data["transparent_modules"]),
        word_set(data["python_values"]),
    )


def option_set(row: Mapping[str, Any]) -> OptionSet:
    """The options of one entry. One that has a meaning takes a value."""
    means = {option: name for name, options in row.get("means", {}).items() for option in options.split()}
    values, flags, optional, pairs = (word_set(row.get(name, "")) for name in ("values", "flags", "optional", "pairs"))
    one_dash, refusal = row.get("one_dash", False), row.get("refusal", REFUSAL)
    return OptionSet(values | set(means), flags, optional, pairs, means, one_dash, refusal)


def tool(row: Mapping[str, Any], sets: Mapping[str, OptionSet]) -> LauncherTool:
    """A program with all that its sets, its own options and Slurm's table say."""
    parts = [sets[name] for name in row.get("options", "").split()] + [option_set(row)]
    parts += [slurm_set(row["slurm"])] if "slurm" in row else []
    return LauncherTool(
        row["name"],
        row["kind"],
        joined(parts),
        word_set(row.get("called", row["name"])),
        row.get("before", 0),
        word_set(row.get("subcommands", "")),
        row.get("underscores", False),
        row.get("of", ""),
        row.get("whose", ""),
        RankVariables(**row["ranks"]) if "ranks" in row else None,
    )


def joined(parts: Iterable[OptionSet]) -> OptionSet:
    """One set of several. An attached value asks for no word behind it, so such an option reads like a flag."""
    every = tuple(parts)
    return OptionSet(
        frozenset().union(*(one.values for one in every)),
        frozenset().union(*(one.flags | one.optional for one in every)),
        pairs=frozenset().union(*(one.pairs for one in every)),
        means={option: meaning for one in every for option, meaning in one.means.items()},
    )


def slurm_set(command: str) -> OptionSet:
    """What Slurm's own table says of a command, and the options of plug-ins."""
    table = slurm_options()
    found: dict[str, set[str]] = {"value": set(), "optional": set(), "nothing": set(), "unknown": set()}
    for name, one in table.of(command).items():
        found[one.takes] |= {f"--{name}", f"-{one.letter}"} if one.letter else {f"--{name}"}
    for name, takes in table.plugins.items():
        found[takes].add(f"--{name}")
    return OptionSet(frozenset(found["value"]), frozenset(found["nothing"]), frozenset(found["optional"]))
