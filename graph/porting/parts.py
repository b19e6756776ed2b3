"""The user's own part of a script: program, arguments, variables, set-up steps, and what cannot go along."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from graph.extraction.amounts import arithmetic
from graph.extraction.commands import Assignment, Command
from graph.extraction.script import Script
from graph.extraction.script_counts import count, document_text
from graph.extraction.script_record import scheduler_of
from graph.extraction.shell_words import Field, Piece, expansion, plain, to_shell
from graph.porting.own_names import JOB_ID, JOB_ID_NAMES, PLAIN_VARIABLE, by_name, inner_names, is_elsewhere
from graph.porting.ownership import OWN_STEPS, is_machine_variable, is_site_path
from knowledge.cluster import Cluster
from knowledge.types import Variable
from templates.quoting import shell_word

END = "END_OF_FILE"
FILE_NAME = re.compile(r"\.(json|ya?ml|toml|cfg|ini|txt)$")
SCHEDULERS_OWN = re.compile(r"(SLURM|PBS|LSB|FLUX)_")
# `NAME=${NAME:-value}`: what is given from outside goes before the value.
DEFAULT = re.compile(r"[\"']?(\$\{(\w+):?[-=][^$`\\\"'{}\n]*\})[\"']?")


@dataclass(frozen=True, slots=True)
class Note:
    """Something that a person should look at after the port; line is the source's, 0 for the whole script."""

    line: int
    says: str


@dataclass(frozen=True, slots=True)
class UserPart:
    """What is carried over. args are words as the program gets them; the job expands plain variables in them."""

    entry: str
    is_module: bool
    args: tuple[str, ...]
    variables: tuple[Variable, ...]
    setup: tuple[str, ...]
    notes: tuple[Note, ...]


@dataclass(slots=True)
class Collector:
    """Gathers the part while words are turned into what a rendered script can hold."""

    script: Script
    source: Cluster | None
    job_id: str
    facts: Mapping[str, int]
    variables: dict[str, Variable] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    made: int = 0

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
        if re.fullmatch(r"\$\{?[@*]\}?", piece.text):
            self.note(line, f"{piece.text}: the new script takes no arguments of its own; add what you pass there.")
            return False
        name = piece.text.strip("${}")
        unset = PLAIN_VARIABLE.fullmatch(piece.text) and self.assigned(name) is None
        if unset and not piece.quoted and not is_site_path(piece.text) and name not in JOB_ID_NAMES:
            self.note(line, f"{piece.text} is set nowhere in the script: it is left out; add its value.")
            return False
        return True

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
                self.note(line, f"{piece.text} is a variable of the old scheduler: see what the new one has for it.")
            return piece.text
        if not piece.quoted:
            self.note(line, f"{piece.text} is one word now: split it by hand if it prints several.")
        self.made += 1
        name = f"VALUE_{self.made}"
        for inner in re.findall(r"\$\{?([A-Za-z_]\w*)", piece.text):
            self.need(inner)
        why = "worked out by the job, as in the script before"
        self.variables[name] = Variable(name, inside_quotes(piece.text), why, expand=True)
        return f"${name}"

    def named_place(self, args: tuple[str, ...], at: int) -> str:
        """A path of the old machine becomes a variable at the top of the script, named after its option."""
        name, equals, value = args[at].rpartition("=")
        if not is_elsewhere(value, self.script) or (equals and not re.fullmatch(r"[\w.+-]+", name)):
            return args[at]
        before = args[at - 1] if at and args[at - 1].startswith("-") and "=" not in args[at - 1] else ""
        option = re.sub(r"\W+", "_", (name or before).lstrip("-+")).strip("_").upper() or "PLACE"
        variable = self.free_name(option, value)
        self.variables.setdefault(variable, Variable(variable, value))
        return f"{name}{equals}${variable}"

    def free_name(self, wanted: str, value: str) -> str:
        """The name, or a numbered one where it is taken for another value or means something already."""
        same = next((v.name for v in self.variables.values() if v.value == value and v.name.startswith(wanted)), None)
        if same:
            return same
        taken = wanted[0].isdigit() or is_machine_variable(wanted, self.source) or is_site_path(f"${wanted}")
        base = f"PLACE_{wanted}" if taken else wanted
        number = 1
        name = base
        while name in self.variables or (self.assigned(name) is not None and self.script.value_of(name) != value):
            number += 1
            name = f"{base}_{number}"
        return name

    def is_one_word(self, piece: Piece) -> bool:
        """Whether a plain variable cannot fall apart at blanks: it is set from outside, or to a value without any."""
        found = PLAIN_VARIABLE.fullmatch(piece.text) if piece.open else None
        value = self.script.value_of(found[1] or found[2]) if found else None
        return found is not None and (value is None or not re.search(r"\s", value))

    def say_places(self, source: Cluster | None, target: Cluster) -> None:
        """Mark the variables that hold a path of the machine that is left."""
        old = source.title if source else "the old machine"
        for name, variable in self.variables.items():
            if is_site_path(variable.value):
                self.variables[name] = replace(variable, why="a path of the script before: put its new place here")
                self.note(0, f"{name}={variable.value} is a place on {old}: put its place on {target.title} there.")

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
        given = DEFAULT.fullmatch(found.written)
        if given and given[2] == name:
            self.variables[name] = Variable(name, given[1], "", expand=True)
            return
        inner = re.findall(r"\$\{?([A-Za-z_]\w*)", found.value)
        for other in inner:
            if other != name:
                self.need(other)
        simple = found.known or not re.search(r"[$`]", PLAIN_VARIABLE.sub("", found.value))
        value = self.renamed(found.value)
        self.variables[name] = Variable(name, value if simple else inside_quotes(value), "", expand=not simple)
        values = {a.value for a in self.script.assignments if a.name == name}
        if found.written.startswith("(") or "[" in found.value.partition("$")[2]:
            self.note(found.line, f"{name} is or uses an array: it is not carried over; set it at the top.")
        elif len(values) > 1:
            self.note(found.line, f"{name} has {len(values)} values in the script before; the last is taken: check it.")

    def note(self, line: int, says: str) -> None:
        if Note(line, says) not in self.notes:
            self.notes.append(Note(line, says))


def user_part(script: Script, source: Cluster | None, target: Cluster) -> UserPart | None:
    """The user's part of a script, its job id renamed for the target; None where no training program is seen."""
    program, training = script.program, script.training
    if program is None or training is None:
        return None
    facts = count(script, scheduler_of(script)).facts
    files = tuple(plain(one).rpartition("=")[2] for one in program.args)
    script = by_name(script, source, target)
    program, training = script.program or program, script.training or training
    collector = Collector(script, source, JOB_ID[target.scheduler], facts)
    for assignment in script.assignments:
        if assignment.exported and not is_machine_variable(assignment.name, source):
            collector.need(assignment.name)
    entry = collector.word(program.entry, training.line) or plain(program.entry)
    args = tuple(word for one in program.args for word in collector.words(one, training.line))
    if is_elsewhere(entry, script):
        collector.note(training.line, f"{entry} is a path of the old machine: give the program's new one with --entry.")
    setup = (*steps(script, training, collector), *written_files(files, program.args, collector))
    args = tuple(collector.named_place(args, i) for i in range(len(args)))
    collector.say_places(source, target)
    return UserPart(
        entry, program.kind == "module", args, tuple(collector.variables.values()), setup, tuple(collector.notes)
    )


def steps(script: Script, training: Command, collector: Collector) -> Iterator[str]:
    """The user's own simple steps before the training. Others are named, not guessed at."""
    for command in script.commands:
        if command.line >= training.line and command is not training:
            return
        if command is training or command.outer is not None or command.inside:
            continue
        name = command.name.rsplit("/", 1)[-1]
        if name not in OWN_STEPS:
            note_on_step(command, name, collector)
            continue
        text = " ".join(filter(None, (step_word(one, collector, command.line) for one in command.fields)))
        if any(is_elsewhere(plain(one), script) for one in command.fields):
            collector.note(command.line, f"`{shown(command)}` works in a place of the old machine: change it.")
        if re.search(r"\$\{?(PBS_O_WORKDIR|SLURM_SUBMIT_DIR|LS_SUBCWD|FLUX_JOB_CWD)|dirname", text):
            continue
        if not any("<<" in redirect for redirect in command.redirects):
            for variable in inner_names(" ".join(command.redirects)):
                collector.need(variable)
            yield " ".join((text, *command.redirects))


def note_on_step(command: Command, name: str, collector: Collector) -> None:
    """Steps that are not carried over, and why."""
    words = command.argv
    if name in ("conda", "mamba", "micromamba") or (name in ("source", ".") and "activate" in " ".join(words)):
        says = "enters an environment of the old machine: make one on the new one and name it with --env."
        collector.note(command.line, f"`{shown(command)}` {says}")
    elif name in ("source", "."):
        collector.note(command.line, f"`{shown(command)}` is not carried over: look what it sets.")
    elif name.startswith("python") or (command.chain.program is not None and command.chain.layers):
        collector.note(command.line, f"`{shown(command)}` ran before the training: not carried over.")


def step_word(one: Field, collector: Collector, line: int) -> str:
    """A word of a step as shell text, quoted where it is one word for sure. What it needs is carried along."""
    for piece in one:
        if piece.open:
            for name in re.findall(r"\$\{?([A-Za-z_]\w*)", piece.text):
                collector.need(name)
    renamed = tuple(
        Piece(collector.piece(p, line), True, p.quoted) if p.open and p.text.strip("${}") in JOB_ID_NAMES else p
        for p in one
    )
    known = "".join(p.text for p in renamed if not p.open)
    opened = [p for p in renamed if p.open]
    if opened and all(collector.is_one_word(p) for p in opened) and re.fullmatch(r"[\w@%+=:,./^-]*", known):
        return shell_word(plain(renamed))
    return to_shell(renamed)


def written_files(names: tuple[str, ...], args: tuple[Field, ...], collector: Collector) -> Iterator[str]:
    """Files that the script writes and the program is given, such as a DeepSpeed configuration, as heredocs again.

    names are the arguments' values filled in: a file is known by its name.
    """
    done: set[str] = set()
    for name, one in zip(names, args, strict=True):
        text = document_text(collector.script, name) if FILE_NAME.search(name) else None
        if text is None or name in done:
            continue
        done.add(name)
        for variable in inner_names(text):
            collector.need(variable)
        new = collector.renamed(plain(one).rpartition("=")[2])
        quote = "'" if "$" not in text else ""
        target = f'"{inside_quotes(new)}"' if "$" in new else shlex.quote(new)
        yield from (f"cat > {target} <<{quote}{END}{quote}", *collector.renamed(text.rstrip("\n")).split("\n"), END)


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


def shown(command: Command) -> str:
    text = " ".join(" ".join(command.written).split())
    return text if len(text) <= 60 else text[:59] + "…"
