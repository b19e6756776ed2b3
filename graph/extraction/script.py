"""A launch script, read: what it asks the scheduler for, what it runs, and what only the run will tell.

`read_script(text)` is the one entry: the checks, the porting and the record of fields all start from its Script.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property

from graph.extraction.commands import Assignment, Command, InnerJob, Place, WrittenFile
from graph.extraction.dialects import checked, language_of, shebang_of, to_bash
from graph.extraction.directives import (
    MOST_DIRECTIVES,
    DirectiveLine,
    from_command,
    in_force,
    mark_overridden,
    read_directives,
)
from graph.extraction.expansion import Environment
from graph.extraction.launch_chain import LaunchedProgram, Layer
from graph.extraction.shell import ShellReader
from graph.extraction.training import layers_of, training_command
from knowledge.long_numbers import short_numbers
from knowledge.word_lists import word_set

SUBMITS = {"sbatch": "slurm", "salloc": "slurm", "qsub": "pbs", "bsub": "lsf"}


@dataclass(frozen=True)
class ReadScript:
    """Everything that was read. Lines count from 1 in `text`.

    language is bash (sh, zsh, ksh too), csh, fish, batch or the name of another language: only bash is for `bash -n`.
    directives hold the dead ones too, with the reason. Inside a script that writes its own job (`sbatch <<EOF`), the
    directives are the job's.
    """

    text: str
    language: str
    shebang: str
    directives: tuple[DirectiveLine, ...]
    commands: tuple[Command, ...]
    assignments: tuple[Assignment, ...]
    sourced: tuple[tuple[int, str], ...]
    documents: tuple[WrittenFile, ...]
    jobs: tuple[InnerJob, ...]
    errors: tuple[tuple[int, str], ...]
    # The line from which on nothing was read, as the script does more than any that a person writes; 0: all was read.
    unread_from: int = 0

    @cached_property
    def active(self) -> dict[str, DirectiveLine]:
        """Option -> the directive that counts."""
        return in_force(self.directives)

    @cached_property
    def comments(self) -> tuple[tuple[int, str], ...]:
        """Comment lines that are no directives, and comments behind code."""
        lines = {one.line for one in self.directives if one.active}
        found: list[tuple[int, str]] = []
        for number, line in enumerate(self.text.splitlines(), 1):
            comment = re.search(r"(?:^|\s)(#+(?!!)\s?.*|(?i:rem)\s.*)$", line)
            if comment and number not in lines:
                found.append((number, comment[1]))
        return tuple(found)

    @cached_property
    def training(self) -> Command | None:
        """The command that starts the training program; None where none is to be seen."""
        return training_command(self.commands)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The launch chain of the training command, outermost first."""
        return layers_of(self.training) if self.training else ()

    @property
    def program(self) -> LaunchedProgram | None:
        return self.training.chain.program if self.training else None

    @cached_property
    def modules(self) -> tuple[tuple[int, str], ...]:
        """(line, module) for everything that `module load` and its short forms load."""
        found: list[tuple[int, str]] = []
        for command in self.commands:
            words = list(command.argv)
            if words[0] == "ml" and len(words) > 1 and words[1] not in MODULE_VERBS:
                words.insert(1, "load")
            if (
                words[0] in ("module", "ml")
                and len(words) > 2
                and words[1] in ("load", "add", "try-load", "switch", "swap")
            ):
                found += [(command.line, word) for word in words[2:] if not word.startswith("-")]
        return tuple(found)

    @property
    def unresolved(self) -> tuple[str, ...]:
        """The expansions in the training command that only the run will tell."""
        return tuple(dict.fromkeys(self.training.unresolved)) if self.training else ()

    def value_of(self, name: str) -> str | None:
        """The last value given to a variable, expanded as far as known."""
        return next((a.value for a in reversed(self.assignments) if a.name == name), None)


MODULE_VERBS = word_set("load add use unload del purge reset list avail spider swap switch restore show")


def read_script(text: str, kept: frozenset[str] = frozenset()) -> ReadScript:
    """Read a script. Raises InputError on what is none.

    kept are variables that stay names in words and values: for writing the script anew, not for judging it.
    """
    text = checked(text)
    language = language_of(text)
    reader = ShellReader()
    counted = short_numbers(text)
    reader.read(to_bash(counted, language), Environment(kept=kept), Place())
    read_unused(reader)
    directives = job_directives(counted, reader)
    if len(directives) >= MOST_DIRECTIVES:
        unread = directives[-1].line + 1
        reader.unread_from = min(reader.unread_from or unread, unread)
    return ReadScript(
        text,
        language,
        shebang_of(text),
        directives,
        tuple(reader.commands),
        tuple(reader.assignments),
        tuple(reader.sourced),
        tuple(reader.documents.values()),
        tuple(reader.jobs),
        tuple(dict.fromkeys(reader.errors)),
        reader.unread_from,
    )


def read_unused(reader: ShellReader) -> None:
    """Where no training command is in sight, look into job texts never submitted and functions never called."""
    if training_command(tuple(reader.commands)) is not None:
        return
    for document in list(reader.documents.values()):
        if any(one.active for one in read_directives(document.text)):
            reader.jobs.append(InnerJob("", document.text, document.line))
            reader.read(document.text, Environment(), Place((f"heredoc {document.name}",), None, document.line))
    for name, (body, first_line) in list(reader.functions.items()):
        if name not in reader.called:
            reader.block([body], Environment(), Place((f"function {name} (not called)",), None, first_line))


def job_directives(text: str, reader: ShellReader) -> tuple[DirectiveLine, ...]:
    """The directives of the text itself, else of the job that it writes, else the options of its submit command."""
    own = read_directives(text)
    if any(one.active for one in own) and not (reader.jobs and all(one.scheduler == "lsf" for one in own)):
        return mark_overridden(own)
    training = training_command(tuple(reader.commands))
    for job in reader.jobs:
        # What the script starts beside its jobs runs in none of them.
        if training is not None and not 0 <= training.line - job.line <= job.text.count("\n") + 1:
            continue
        inner = [replace(one, line=one.line + job.line - 1) for one in read_directives(job.text)]
        if any(one.active for one in inner):
            return mark_overridden(inner)
    return own + submitted(reader.commands)


def submitted(commands: list[Command]) -> tuple[DirectiveLine, ...]:
    """The options of `sbatch`, `qsub`, `bsub` or `flux batch` where they are all that is known of a job."""
    for command in commands:
        words = command.argv
        if words[:2] in (("flux", "batch"), ("flux", "alloc")):
            return from_command("flux", words[2:], command.line, " ".join(command.written))
        if words and words[0].rsplit("/", 1)[-1] in SUBMITS:
            scheduler = SUBMITS[words[0].rsplit("/", 1)[-1]]
            return from_command(scheduler, words[1:], command.line, " ".join(command.written))
    return ()
