"""Gathers the user's part of a script: words turned into what a rendered script can hold, and what they need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from graph.extraction.amounts import arithmetic
from graph.extraction.commands import Assignment
from graph.extraction.script import ReadScript
from graph.extraction.shell_words import Field, Piece, expansion, plain
from graph.porting.own_names import JOB_ID, JOB_ID_NAMES, PLAIN_VARIABLE
from graph.porting.ownership import facts_variables, is_machine_variable, is_site_path
from knowledge.cluster import Cluster
from knowledge.masking import hide
from knowledge.types import Variable
from knowledge.word_lists import word_set

OWN_ARGUMENTS = re.compile(r"\$[@*]|\$\{[@*]\}")
KEY = "a key or token, export it before you submit"
UNSET = "of the machine before, put your own place at the top and take this line out"
# Set in the new script itself, or by every shell.
GIVEN = word_set(
    "MASTER_ADDR MASTER_PORT WORLD_SIZE NNODES RANKS_PER_NODE HOME USER PWD HOSTNAME TMPDIR LOGNAME SHELL OLDPWD "
    "CONDA_PREFIX VIRTUAL_ENV RANDOM SECONDS UID BASH_SOURCE"
)
OWN_OF = {
    "slurm": re.compile(r"SLURM_"), "pbs": re.compile(r"PBS_"), "lsf": re.compile(r"LSB_|LS_"),
    "flux": re.compile(r"FLUX_"),
}  # fmt: skip
SCHEDULERS_OWN = re.compile(r"(SLURM|PBS|LSB|FLUX)_")
# `NAME=${NAME:-value}`: what is given from outside goes before the value.
DEFAULT = re.compile(r"[\"']?(\$\{(\w+):?[-=][^$`\\\"'{}\n]*\})[\"']?")


@dataclass(frozen=True, slots=True)
class PortNote:
    """Something that a person should look at after the port; line is the source's, 0 for the whole script."""

    line: int
    says: str


@dataclass(slots=True)
class Collector:
    """Gathers the part while words are turned into what a rendered script can hold."""

    script: ReadScript
    source: Cluster | None
    target: Cluster
    facts: Mapping[str, int]
    variables: dict[str, Variable] = field(default_factory=dict)
    notes: list[PortNote] = field(default_factory=list)
    made: int = 0
    following: set[str] = field(default_factory=set)
    guards: dict[str, str] = field(default_factory=dict)
    """Name -> why the script must stop where it is unset, rather than go on with an empty path."""

    @property
    def job_id(self) -> str:
        return JOB_ID[self.target.scheduler]

    @property
    def stays_here(self) -> bool:
        """Whether the script is written anew for the machine that it was for."""
        return self.source is not None and self.source.id == self.target.id

    @property
    def old(self) -> str:
        return self.source.title if self.source else "the old machine"

    def words(self, one: Field, line: int) -> list[str]:
        """The words that an argument becomes: several where it echoes a variable that holds several, or none."""
        echoed = re.fullmatch(r"\$\(echo \$\{?(\w+)\}?\)", plain(one)) if len(one) == 1 and not one[0].quoted else None
        value = self.assigned(echoed[1]) if echoed else None
        if value is not None and value.known:
            return value.value.split()
        text = self.word(one, line)
        return [] if text is None else [text]

    def word(self, one: Field, line: int) -> str | None:
        """A word as text with plain variables only; None where it falls away."""
        if len(one) == 1 and one[0].open and not self.stays(one[0], line):
            return None
        return "".join(self.piece(piece, line) for piece in one)

    def stays(self, piece: Piece, line: int) -> bool:
        """Whether a word that is one open expansion can stay: the script's own arguments and unset names cannot."""
        if self.is_given_from_outside(piece.text):
            self.note(line, f"{piece.text}: what you pass to the script itself is not known; add it to the arguments.")
            return False
        if piece.amount and arithmetic(piece.amount, self.facts) is not None:
            return True
        name = piece.text.strip("${}")
        unset = PLAIN_VARIABLE.fullmatch(piece.text) and self.assigned(name) is None
        if unset and not piece.quoted and not is_site_path(piece.text) and name not in JOB_ID_NAMES:
            self.note(line, f"{piece.text} is set nowhere in the script: it is left out; add its value.")
            return False
        return True

    def is_given_from_outside(self, text: str) -> bool:
        """Whether it stands for the script's own arguments, itself or by a variable that holds nothing else."""
        if PLAIN_VARIABLE.fullmatch(text) and (found := self.assigned(text.strip("${}"))) is not None:
            text = found.value
        return OWN_ARGUMENTS.fullmatch(text) is not None

    def piece(self, piece: Piece, line: int) -> str:
        """A part of a word as text: numbers worked out, plain variables kept, all else in a variable of its own."""
        if not piece.open:
            return piece.text
        known = arithmetic(piece.amount, self.facts) if piece.amount else None
        if known is not None:
            return str(known)
        name = piece.text.strip("${}")
        if name in JOB_ID_NAMES:
            return f"${{{self.job_id}}}" if piece.text.startswith("${") else f"${self.job_id}"
        if PLAIN_VARIABLE.fullmatch(piece.text):
            self.need(name)
            if SCHEDULERS_OWN.match(name):
                self.note(line, f"{piece.text} is a variable of the old scheduler: put the new one's there.")
            return piece.text
        if not piece.quoted:
            self.note(line, f"{piece.text} is one word in the new script: if it prints several, split it by hand.")
        self.made += 1
        name = f"VALUE_{self.made}"
        if self.left_behind(name, piece.text, line):
            return f"${name}"
        for inner in re.findall(r"\$\{?([A-Za-z_]\w*)", piece.text):
            self.need(inner)
        why = "worked out by the job, as in the script before"
        self.variables[name] = Variable(name, inside_quotes(piece.text), why, expand=True)
        return f"${name}"

    def guard_lines(self, words: Iterable[str], leads: bool) -> tuple[str, ...]:
        """Lines that stop the script where a name that it reads is unset on the new machine. leads: whether a name that
        a path begins with counts, which nothing in the script sets."""
        if not self.stays_here:
            self.find_unset(words, leads)
        return tuple(f': "${{{name}:?{why}}}"' for name, why in self.guards.items())

    def find_unset(self, words: Iterable[str], leads: bool) -> None:
        text = "\n".join((*words, *(one.value for one in self.variables.values() if is_read(one))))
        looped = set(re.findall(r"\bfor\s+(\w+)\s+in\b|\bread\s+(?:-\w+\s+)*(\w+)", text))
        own = {name for pair in looped for name in pair}
        used = dict.fromkeys(re.findall(r"(?<!\\)\$\{?([A-Za-z_]\w*)(?=\b(?!:?[-=?+]))", text))
        places = set(re.findall(r"(?<![\w:])\$\{?([A-Za-z_]\w*)\}?/", text)) if leads else set[str]()
        there = {*facts_variables(self.target), *re.findall(r"\$\{?(\w+)", " ".join(self.target.filesystems.values()))}
        missing = [name for name in used if name not in there | own and self.is_unset(name, name in places)]
        self.guards |= dict.fromkeys(missing, UNSET)
        if missing:
            them = "it" if len(missing) == 1 else "them"
            names = ", ".join(f"${name}" for name in missing)
            says = f"{names}: nothing sets {them} on {self.target.title}; the script stops there until you do."
            self.note(0, says)

    def is_unset(self, name: str, leads: bool) -> bool:
        """Whether nothing sets a name that is the old site's or scheduler's, or that leads a path."""
        if name in self.variables or self.assigned(name) is not None or name in JOB_ID_NAMES or name in GIVEN:
            return False
        if OWN_OF[self.target.scheduler].match(name) and not is_site_path(f"${name}"):
            return False
        return bool(leads or SCHEDULERS_OWN.match(name) or is_site_path(f"${name}"))

    def assigned(self, name: str) -> Assignment | None:
        return next((a for a in reversed(self.script.assignments) if a.name == name), None)

    def renamed(self, text: str) -> str:
        """Text with the old scheduler's job id called as the new one calls it."""
        for name in JOB_ID_NAMES:
            text = re.sub(rf"(\$\{{?){name}\b", rf"\g<1>{self.job_id}", text)
        return text

    def need(self, name: str) -> None:
        """Carry a variable over, behind those that its value is made of."""
        found = self.assigned(name)
        if found is None or name in self.variables or is_machine_variable(name, self.source):
            return
        if name in self.following:
            self.note(found.line, f"{name} and another hold each other's value: set {name} at the top by hand.")
            return
        if is_secret_line(name, found.written):
            self.guards[name] = KEY
            return
        given = DEFAULT.fullmatch(found.written)
        if given and given[2] == name:
            self.variables[name] = Variable(name, given[1], "", expand=True)
            return
        array = found.written.startswith("(") or "[" in found.value.partition("$")[2]
        if self.left_behind(name, found.value, found.line, "an array" if array else ""):
            return
        self.following.add(name)
        for other in re.findall(r"\$\{?([A-Za-z_]\w*)", found.value):
            if other != name:
                self.need(other)
        self.following.remove(name)
        simple = found.known or not re.search(r"[$`]", PLAIN_VARIABLE.sub("", found.value))
        value = self.renamed(found.value)
        self.variables[name] = Variable(name, value if simple else inside_quotes(value), "", expand=not simple)
        values = {a.value for a in self.script.assignments if a.name == name}
        if len(values) > 1:
            self.note(found.line, f"{name} has {len(values)} values in the script before; the last is taken: check it.")

    def left_behind(self, name: str, text: str, line: int, what: str = "") -> bool:
        """Whether a value comes out of an array or a function that is not carried over: then it is left to fill in."""
        called = re.search(r"(?:\$\(|`)\s*([\w-]+)", text)
        defined = called and re.search(rf"(?m)^[^\S\n]*(function\s+)?{re.escape(called[1])}\s*\(\)", self.script.text)
        what = f"the function {called[1]}" if called and defined else what
        if what:
            self.variables[name] = Variable(name, "", f"came out of {what} in the script before: put its value here")
            self.note(line, f"{name} comes out of {what}, which is not carried over: set it at the top.")
        return bool(what)

    def note(self, line: int, says: str) -> None:
        if PortNote(line, says) not in self.notes:
            self.notes.append(PortNote(line, says))


def is_secret_line(name: str, written: str) -> bool:
    """Whether an assignment holds a key or token itself, and not the name of one."""
    return hide(f"{name}={written}") != f"{name}={written}"


def is_read(variable: Variable) -> bool:
    """Whether a variable's value is expanded by the job."""
    return variable.expand or "$" in variable.value


def inside_quotes(text: str) -> str:
    """Shell text fit to stand in double quotes: what is no expansion is escaped, expansions stay as they are."""
    out, i = "", 0
    while i < len(text):
        atom, end = expansion(text, i, True) if text[i] in "$`" else (None, i)
        if atom is not None:
            out, i = out + text[i:end], end
            continue
        out, i = out + ("\\" if text[i] in '"\\$`' else "") + text[i], i + 1
    return out
