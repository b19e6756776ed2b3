"""Gathers the values of a script's program: its arguments as words, and the variables that they and it are made of.

The text itself stays as it is (in_place.py): these are what the plan counts with, batch sizes, threads, device words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from graph.extraction.amounts import arithmetic
from graph.extraction.commands import Assignment
from graph.extraction.script import ReadScript
from graph.extraction.shell_words import Field, Piece, expansion, plain
from graph.porting.own_names import JOB_ID, JOB_ID_NAMES, PLAIN_VARIABLE
from graph.porting.ownership import is_machine_variable, is_site_path
from knowledge.cluster import Cluster
from knowledge.masking import hide
from knowledge.types import Variable

OWN_ARGUMENTS = re.compile(r"\$[@*]|\$\{[@*]\}")
# `NAME=${NAME:-value}`: what is given from outside goes before the value.
DEFAULT = re.compile(r"[\"']?(\$\{(\w+):?[-=][^$`\\\"'{}\n]*\})[\"']?")


@dataclass(slots=True)
class Collector:
    """facts: numbers of the job by name. variables: what was gathered, in the order in which one needs the other."""

    script: ReadScript
    source: Cluster | None
    target: Cluster
    facts: Mapping[str, int]
    variables: dict[str, Variable] = field(default_factory=dict)
    following: set[str] = field(default_factory=set)

    @property
    def job_id(self) -> str:
        return JOB_ID[self.target.scheduler]

    def words(self, one: Field) -> list[str]:
        """The words that an argument becomes: several where it echoes a variable that holds several, or none."""
        echoed = re.fullmatch(r"\$\(echo \$\{?(\w+)\}?\)", plain(one)) if len(one) == 1 and not one[0].quoted else None
        value = self.assigned(echoed[1]) if echoed else None
        if value is not None and value.known:
            return value.value.split()
        text = self.word(one)
        return [] if text is None else [text]

    def word(self, one: Field) -> str | None:
        """A word as text with plain variables only; None where nothing tells what it is."""
        if len(one) == 1 and one[0].open and not self.is_told(one[0]):
            return None
        return "".join(map(self.piece, one))

    def is_told(self, piece: Piece) -> bool:
        """Whether a word that is one open expansion has a value here: the script's own arguments and unset names have
        none."""
        if self.is_given_from_outside(piece.text):
            return False
        if piece.amount and arithmetic(piece.amount, self.facts) is not None:
            return True
        name = piece.text.strip("${}")
        unset = PLAIN_VARIABLE.fullmatch(piece.text) and self.assigned(name) is None
        return not (unset and not piece.quoted and not is_site_path(piece.text) and name not in JOB_ID_NAMES)

    def is_given_from_outside(self, text: str) -> bool:
        """Whether it stands for the script's own arguments, itself or by a variable that holds nothing else."""
        if PLAIN_VARIABLE.fullmatch(text) and (found := self.assigned(text.strip("${}"))) is not None:
            text = found.value
        return OWN_ARGUMENTS.fullmatch(text) is not None

    def piece(self, piece: Piece) -> str:
        """A part of a word as text: numbers worked out, all else by its name."""
        if not piece.open:
            return piece.text
        known = arithmetic(piece.amount, self.facts) if piece.amount else None
        if known is not None:
            return str(known)
        name = piece.text.strip("${}")
        if name in JOB_ID_NAMES:
            return f"${{{self.job_id}}}" if piece.text.startswith("${") else f"${self.job_id}"
        for inner in [name] if PLAIN_VARIABLE.fullmatch(piece.text) else re.findall(r"\$\{?([A-Za-z_]\w*)", piece.text):
            self.need(inner)
        return piece.text

    def assigned(self, name: str) -> Assignment | None:
        return next((a for a in reversed(self.script.assignments) if a.name == name), None)

    def renamed(self, text: str) -> str:
        """Text with the old scheduler's job id called as the new one calls it."""
        for name in JOB_ID_NAMES:
            text = re.sub(rf"(\$\{{?){name}\b", rf"\g<1>{self.job_id}", text)
        return text

    def need(self, name: str) -> None:
        """Gathers a variable, behind those that its value is made of. A key is none."""
        found = self.assigned(name)
        if found is None or name in self.variables or name in self.following:
            return
        if is_machine_variable(name, self.source) or is_secret_line(name, found.written):
            return
        given = DEFAULT.fullmatch(found.written)
        if given and given[2] == name:
            self.variables[name] = Variable(name, given[1], "", expand=True)
            return
        self.following.add(name)
        for other in re.findall(r"\$\{?([A-Za-z_]\w*)", found.value):
            if other != name:
                self.need(other)
        self.following.remove(name)
        simple = found.known or not re.search(r"[$`]", PLAIN_VARIABLE.sub("", found.value))
        value = self.renamed(found.value)
        self.variables[name] = Variable(name, value if simple else inside_quotes(value), "", expand=not simple)


def is_secret_line(name: str, written: str) -> bool:
    """Whether an assignment holds a key or token itself, and not the name of one."""
    return hide(f"{name}={written}") != f"{name}={written}"


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
