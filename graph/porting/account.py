"""The account of a port: what became of every statement of the old script that is no directive, and why.

Nothing is dropped in silence: what is neither in the new script nor replaced by the new machine's own is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from graph.extraction.commands import Command
from graph.extraction.launch_shape import root_of
from graph.extraction.script import ReadScript
from graph.extraction.shell_words import plain
from graph.extraction.statements import Statement, statements
from graph.porting.arguments import HOSTS
from graph.porting.collector import PortNote
from graph.porting.lost import WORDLESS
from graph.porting.ownership import is_machine_variable
from graph.porting.parts import UserPart, is_launch
from knowledge.cluster import Cluster
from knowledge.masking import hide
from knowledge.types import LaunchBundle

Fate = Literal["carried", "replaced", "named"]
ASSIGNED = re.compile(
    r"(?:^|[;&\s(])(?:(?:export|declare|typeset|readonly|local)(?:\s+-\w+)*\s+)?([A-Za-z_]\w*)\+?=(?!=)"
)
# What may be written differently in the new script: expansions, and the joints between known pieces of a word.
LOOSE = re.compile(r"[\s=]+|\$\w+|\$\{[^}]*\}|\$\([^)]*\)")
PLAIN_ASSIGNMENT = ("variable_assignment", "variable_assignments", "declaration_command", "unset_command")
SOFTWARE = frozenset(("module", "ml", "conda", "mamba", "micromamba", "source", ".", "spack", "deactivate"))
START = re.compile(r"\bcd\s+.*(PBS_O_WORKDIR|SLURM_SUBMIT_DIR|LS_SUBCWD|FLUX_JOB_CWD|dirname)")
NAME = re.compile(r"\$\{?([A-Za-z_]\w*)")
MOST_SHOWN = 5
# Variables of variables are followed so far.
DEEPEST = 6
PRINTS = "it prints, waits or looks; nothing of the training rests on it"


@dataclass(frozen=True, slots=True)
class AccountLine:
    """Lines first to last of the old script (from 1, both in): carried over, replaced by the new machine's, or named.

    text is the statement, keys and tokens hidden; why is never empty.
    """

    first: int
    last: int
    text: str
    fate: Fate
    why: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """What the fates are told from."""

    script: ReadScript
    part: UserPart
    bundle: LaunchBundle
    source: Cluster | None
    target: Cluster
    notes: tuple[PortNote, ...]

    @property
    def new(self) -> str:
        return "\n".join((self.bundle.script, *(file.text for file in self.bundle.files)))

    @property
    def old(self) -> str:
        return self.source.title if self.source else "the old machine"

    def note_on(self, one: Statement) -> str:
        return next((note.says for note in self.notes if one.first <= note.line <= one.last), "")

    def commands(self, one: Statement) -> list[Command]:
        return [c for c in self.script.commands if one.first <= c.line <= one.last and c.outer is None and c.argv]


def account(ledger: Ledger) -> tuple[AccountLine, ...]:
    """One entry a statement, in the old script's order."""
    training = ledger.script.training
    at = training.line if training else 0
    listed = list(statements(ledger.script, at))
    fates: dict[Statement, tuple[Fate, str]] = {}
    for one in listed:
        if not is_assignment(one):
            fates[one] = fate_of_step(one, ledger)
    for one in reversed(listed):
        if is_assignment(one):
            fates[one] = fate_of_assignment(one, ledger, fates)
    return tuple(AccountLine(one.first, one.last, hide(one.shown), *fates[one]) for one in listed)


def is_assignment(one: Statement) -> bool:
    return one.kind in PLAIN_ASSIGNMENT and not one.holds


def fate_of_step(one: Statement, ledger: Ledger) -> tuple[Fate, str]:
    """What became of a command, a block, or the head of a block that holds the training."""
    if one.holds:
        return HEADS[one.holds]
    commands = ledger.commands(one)
    names = [command.name.rsplit("/", 1)[-1] for command in commands]
    if is_training(one, ledger):
        return fate_of_launch(one, ledger)
    if stands_in_new(one, ledger):
        return "carried", "it stands among your steps"
    if hide(one.text) != one.text:
        return "named", "it holds a key or token, which is not copied: set it outside the script"
    if START.search(one.text):
        return "replaced", "the new script starts in the folder that it is submitted from"
    if names and set(names) <= SOFTWARE:
        return "replaced", ledger.note_on(one) or f"modules and environments are {ledger.target.title}'s own"
    if names and set(names) <= {"set", "shopt"}:
        return "replaced", "the new script has its own `set -eo pipefail` and `set -u`"
    if names and all(name in WORDLESS or name in ("[[", "test") for name in names) and not writes(one):
        return "named", PRINTS
    return "named", ledger.note_on(one) or reason(one, ledger)


HEADS: Mapping[str, tuple[Fate, str]] = {
    "loop": ("named", "the training stands in a loop: one run is written; submit it once for each value"),
    "branch": ("named", "the training stands in a branch: what is written is that branch alone"),
    "function": ("replaced", "what the function starts stands in the new script itself"),
    "subshell": ("replaced", "the new launch needs no shell of its own"),
    "heredoc": ("replaced", "the file around the training is not needed: the new launch starts it directly"),
}


def reason(one: Statement, ledger: Ledger) -> str:
    if one.background:
        return "it runs beside the training and is not carried over: start it in the new script yourself"
    if one.kind in ("if_statement", "case_statement", "for_statement", "while_statement", "list", "test_command"):
        return "what it decides or repeats is not carried over: look at what the new machine needs of it"
    if one.kind == "function_definition":
        return "the function is not carried over: take what you need of it"
    training = ledger.script.training
    if training is not None and one.first > training.line:
        return "it runs after the training and is not carried over: add it"
    return "it is not carried over: add it if the training needs it"


def writes(one: Statement) -> bool:
    """Whether it leaves a file behind."""
    return bool(re.search(r"(?<![&\d])>{1,2}\s*(?!/dev/|&)|\btee\b|\bsed -i", one.text))


def stands_in_new(one: Statement, ledger: Ledger) -> bool:
    """Whether a step's words, or the text of a file that it writes, are in the new script."""
    steps = "\n".join(ledger.part.setup)
    lines = [line.strip() for line in one.text.split("\n") if line.strip()]
    if lines and "<<" in lines[0] and len(lines) > 2:
        return all(bare(line) in bare(steps) for line in lines[1:-1]) and bool(lines[1:-1])
    if bare(one.text) in bare(steps):
        return True
    return any(command.line in ledger.part.step_lines for command in ledger.commands(one)) and one.kind in (
        "command", "redirected_statement", "line",
    )  # fmt: skip


def bare(text: str) -> str:
    """Text without quotes, braces and blanks, in which the same step is written differently."""
    return re.sub(r"[\s\"'{}\\]", "", text)


def fate_of_launch(one: Statement, ledger: Ledger) -> tuple[Fate, str]:
    """The program and its arguments go along; what is not in the new script is listed."""
    missing = missing_words(ledger)
    if missing:
        return "named", f"program carried over, launch written anew; left out: {', '.join(missing[:8])}"
    return "carried", "the program and its arguments; the launch around them is written anew"


def missing_words(ledger: Ledger) -> list[str]:
    """Words of the program's arguments that the new script does not hold."""
    program = ledger.script.program
    new = bare(ledger.new)
    words = [plain(word) for word in (program.args if program else ())]
    return [word for word in words if not all(bare(part) in new for part in LOOSE.split(word))]


def fate_of_assignment(one: Statement, ledger: Ledger, fates: Mapping[Statement, tuple[Fate, str]]) -> tuple[Fate, str]:
    """The worst fate of the names that a statement sets."""
    names = list(dict.fromkeys(ASSIGNED.findall(one.text)))
    if not names:
        return "replaced", "it sets nothing by itself"
    found = [fate_of_name(name, one, ledger, fates) for name in names]
    return max(found, key=lambda fate: ("carried", "replaced", "named").index(fate[0]))


def fate_of_name(
    name: str, one: Statement, ledger: Ledger, fates: Mapping[Statement, tuple[Fate, str]]
) -> tuple[Fate, str]:
    carried = {variable.name: variable for variable in ledger.part.variables}
    value = next((a.value for a in ledger.script.assignments if a.name == name and one.first <= a.line <= one.last), "")
    if hide(one.text) != one.text:
        return "named", f"{name} holds a key or token, which is not copied: set it outside the script"
    if name in carried and (carried[name].value or not value):
        return "carried", "a variable at the top"
    if name in carried:
        return "named", carried[name].why or f"{name} is to be filled in"
    if re.search(rf"(?m)^[^\S\n]*(export )?{name}=", ledger.bundle.script) or is_machine_variable(name, ledger.source):
        return "replaced", f"network, rank and machine settings are {ledger.target.title}'s own"
    if HOSTS.search(one.text) or is_launch(value):
        return "replaced", "nodes and launch are found in the new scheduler's way"
    words = value.strip("() ").split()
    if words and name in program_names(ledger) and all(bare(word) in bare(ledger.new) for word in words):
        return "carried", "its value stands where it was used"
    users = [(user, fate) for user, fate in fates.items() if uses(user, name) and user is not one]
    if not users:
        return "named", f"nothing else in the script uses {name}"
    if all(fate[0] == "replaced" or is_training(user, ledger) for user, fate in users):
        return "replaced", "only the old launch or environment used it"
    if all(fate[0] == "named" for _, fate in users):
        return "named", f"only what is not carried over uses it (line {users[-1][0].first})"
    return "named", ledger.note_on(one) or f"{name} is not carried over: look at where it is used"


def program_names(ledger: Ledger) -> set[str]:
    """The variables of the program's part of the training command, and those that their values are made of."""
    training, program = ledger.script.training, ledger.script.program
    if training is None or program is None:
        return set()
    entry = plain(program.entry).rsplit("/", 1)[-1]
    words = [*training.written, *(root_of(training).written if training.outer else ())]
    at = next((i for i, word in enumerate(words) if entry and entry in word), 0)
    found = set(NAME.findall(" ".join(words[at:] if at else words)))
    for _ in range(DEEPEST):
        set_by = (one.written for one in ledger.script.assignments if one.name in found)
        found |= {inner for written in set_by for inner in NAME.findall(written)}
    return found


def uses(one: Statement, name: str) -> bool:
    return bool(re.search(rf"\$\{{?[#!]?{name}\b", one.text))


def is_training(one: Statement, ledger: Ledger) -> bool:
    training = ledger.script.training
    places = (training.line, root_of(training).line) if training else ()
    return any(one.first <= line <= one.last for line in places)


def told(lines: Iterable[AccountLine], notes: tuple[PortNote, ...]) -> Iterator[PortNote]:
    """A note for what is named and no note speaks of; neighbours are told together."""
    open_lines = [one for one in lines if one.fate == "named" and one.why != PRINTS and not is_noted(one, notes)]
    left = open_lines
    while left:
        same = [one for one in left if one.why == left[0].why]
        left = [one for one in left if one.why != left[0].why]
        shown = ", ".join(f"`{one.text}`" for one in same[:MOST_SHOWN])
        more = f" and {len(same) - MOST_SHOWN} more" if len(same) > MOST_SHOWN else ""
        yield PortNote(same[0].first, f"{shown}{more}: {same[0].why}.")


def is_noted(one: AccountLine, notes: tuple[PortNote, ...]) -> bool:
    return any(one.first <= note.line <= one.last and note.says == one.why for note in notes) or one.why.startswith(
        ("nothing else in the script", "only what is not carried")
    )


def counts(lines: tuple[AccountLine, ...]) -> str:
    """`12 carried, 5 replaced, 3 named`."""
    fates: tuple[Fate, ...] = ("carried", "replaced", "named")
    return ", ".join(f"{sum(one.fate == fate for one in lines)} {fate}" for fate in fates)
