"""The user's own part of a script: program, arguments, variables, set-up steps, and what cannot go along."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from graph.extraction.commands import Command
from graph.extraction.launchers import read_chain
from graph.extraction.script import Script
from graph.extraction.script_counts import count
from graph.extraction.script_files import document_text
from graph.extraction.script_record import scheduler_of
from graph.extraction.shell_words import Field, Piece, literal, plain, split_words, to_shell
from graph.porting.arguments import HOSTS, arguments
from graph.porting.collector import Collector, Note, inside_quotes
from graph.porting.own_names import JOB_ID_NAMES, by_name, inner_names, is_elsewhere
from graph.porting.ownership import OWN_STEPS, is_machine_variable
from knowledge.cluster import Cluster
from knowledge.types import Variable
from templates.quoting import shell_word

END = "END_OF_FILE"
FILE_NAME = re.compile(r"\.(json|ya?ml|toml|cfg|ini|txt)$")


@dataclass(frozen=True, slots=True)
class UserPart:
    """What is carried over. args are words as the program gets them; the job expands plain variables in them.

    late are the arguments that name what the rendezvous sets.
    """

    entry: str
    is_module: bool
    args: tuple[str, ...]
    variables: tuple[Variable, ...]
    setup: tuple[str, ...]
    notes: tuple[Note, ...]
    late: tuple[str, ...] = ()


def user_part(script: Script, source: Cluster | None, target: Cluster) -> UserPart | None:
    """The user's part of a script, its job id renamed for the target; None where no training program is seen."""
    program, training = script.program, script.training
    if program is None or training is None:
        return None
    facts = count(script, scheduler_of(script)).facts
    files = tuple(plain(one).rpartition("=")[2] for one in program.args)
    script = by_name(script, source, target)
    program, training = script.program or program, script.training or training
    collector = Collector(script, source, target, facts)
    for assignment in script.assignments:
        machines = is_machine_variable(assignment.name, source) or HOSTS.search(assignment.written)
        if assignment.exported and not machines and not is_launch(assignment.value):
            collector.need(assignment.name)
    entry = collector.word(program.entry, training.line) or plain(program.entry)
    args, late = arguments(program.args, collector, training.line)
    if is_elsewhere(entry, script) and not collector.stays_here:
        collector.note(training.line, f"{entry} is a path on {collector.old}: give the program's new one with --entry.")
    setup = (*steps(script, training, collector), *written_files(files, program.args, collector))
    args = tuple(collector.named_place(args, i) for i in range(len(args)))
    collector.say_places()
    variables, notes = tuple(collector.variables.values()), tuple(collector.notes)
    return UserPart(entry, program.kind == "module", args, variables, setup, notes, late)


def is_launch(value: str) -> bool:
    """Whether a variable's value is a launch line, or the launcher's part of one: the new script has its own."""
    words = split_words(value)
    layers = read_chain([literal(word) for word in words]).layers if len(words) > 1 else ()
    return any(layer.kind in ("parallel", "spawner") for layer in layers)


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
        if not collector.stays_here and any(is_elsewhere(plain(one), script) for one in command.fields):
            collector.note(command.line, f"`{shown(command)}` works in a place on {collector.old}: change it.")
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
        says = f"enters an environment on {collector.old}: make one on {collector.target.title} and give it with --env."
        if collector.stays_here:
            says = "is not carried over: give the environment with --env."
        if words[-1] not in ("activate", "base"):
            collector.note(command.line, f"`{shown(command)}` {says}")
    elif name in ("source", "."):
        collector.note(command.line, f"`{shown(command)}` is not carried over: look at what it sets.")
    elif name.startswith("python") or (command.chain.program is not None and command.chain.layers):
        collector.note(
            command.line, f"`{shown(command)}` ran before the training and is not carried over: run it first."
        )


def step_word(one: Field, collector: Collector, line: int) -> str:
    """A word of a step as shell text, quoted where it is one word for sure. What it needs is carried along."""
    if plain(one).startswith("~/") and not any(piece.open for piece in one):
        return shell_word(plain(one))
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


def shown(command: Command) -> str:
    text = " ".join(" ".join(command.written).split())
    return text if len(text) <= 60 else text[:59] + "…"
