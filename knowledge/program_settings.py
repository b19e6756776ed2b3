"""Options of programs that a job script decides (their GPUs, going on from a checkpoint): program_settings.yaml."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from knowledge.cards import Address, Day, Id
from knowledge.data_file import read_facts
from knowledge.strict import Facts

FILE = Path(__file__).with_suffix(".yaml")
# What ends a command's own words in its last line.
ENDS = re.compile(r"\s*(?:(?<!\\)[|>;&#]|\d?>|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSettings(Facts):
    """One program. names: its commands; gpus: the options that say how many GPUs it takes, unsaid: how many without;
    resume: the option that goes on from the newest checkpoint, resumes_anew: a first run may have it, too."""

    id: Id
    names: tuple[str, ...]
    source: Address
    gpus: tuple[str, ...] = ()
    unsaid: int | None = None
    resume: str = ""
    resumes_anew: bool = False
    note: str = ""

    def called(self, text: str) -> re.Match[str] | None:
        """Where a script calls it: the command with its continued lines."""
        names = "|".join(re.escape(one).replace(r"\ ", r"\s+") for one in self.names)
        return re.search(rf"(?m)^(?!\s*#)[^\n#]*?(?<![\w./-])(?P<name>{names})(?=\s)(?:[^\n]*\\\n)*[^\n]*", text)

    def has(self, text: str, options: tuple[str, ...]) -> bool:
        """Whether the call has one of these options."""
        found = self.called(text)
        return bool(found and re.search(rf"(?<![\w-])(?:{'|'.join(map(re.escape, options))})(?=[\s=]|$)", found[0]))

    def with_option(self, text: str, option: str) -> str | None:
        """The script with an option behind the call's own words; None where it calls no such program."""
        found = self.called(text)
        if found is None:
            return None
        last = text.rfind("\n", found.start(), found.end()) + 1 or found.start()
        last = max(last, found.end("name"))
        end = ENDS.search(text, last)
        at = end.start() if end and end.start() <= found.end() else found.end()
        return f"{text[:at]} {option}{text[at:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramTable(Facts):
    programs: tuple[ProgramSettings, ...]
    as_of: Day


@cache
def program_table() -> ProgramTable:
    """The whole file. Raises FactsError on a wrong one."""
    return read_facts(FILE, ProgramTable)


def settings_of(text: str) -> ProgramSettings | None:
    """The program of the table that a script calls; None where it calls none."""
    return next((one for one in program_table().programs if one.called(text)), None)
