"""The options of sbatch, srun and salloc by release, as Slurm's own table has them (knowledge/launchers/slurm.yaml)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from knowledge.data_file import read_data
from knowledge.errors import FactsError

FILE = Path(__file__).parent / "launchers" / "slurm.yaml"
Takes = Literal["value", "optional", "nothing", "unknown"]


@dataclass(frozen=True, slots=True)
class SlurmOption:
    """One long option: its letter, what it takes (optional: only behind `=`), the commands and releases that have it.

    since and until are releases such as 23.11, empty where the first or last release that was read has it.
    """

    takes: Takes
    commands: tuple[str, ...]
    letter: str = ""
    since: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class SlurmOptions:
    """All by name; aliases: an older spelling -> today's name; plugins: what sites and tools add -> what it takes."""

    options: Mapping[str, SlurmOption]
    aliases: Mapping[str, str]
    plugins: Mapping[str, Takes]

    def of(self, command: str) -> Mapping[str, SlurmOption]:
        """The options that a command (sbatch, srun, salloc) takes in some release."""
        return {name: one for name, one in self.options.items() if command in one.commands}


@cache
def slurm_options() -> SlurmOptions:
    """The file, read once. Raises FactsError where it cannot be read or an entry has another form."""
    try:
        data = read_data(FILE)
        options = {
            name: SlurmOption(**{**one, "commands": tuple(one["commands"])}) for name, one in data["options"].items()
        }
    except (TypeError, KeyError) as error:
        raise FactsError(f"{FILE}: {' '.join(str(error).split())[:200]}") from error
    return SlurmOptions(options, data["aliases"], data["plugins"])
