"""The user's own part of a script: program, arguments, variables, set-up steps, and what cannot go along."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace

from graph.extraction.commands import Assignment, Command, WrittenFile
from graph.extraction.launchers import read_chain
from graph.extraction.script import ReadScript
from graph.extraction.script_counts import count
from graph.extraction.script_files import document_text
from graph.extraction.script_record import scheduler_of
from graph.extraction.shell_words import Field, Piece, literal, plain, split_words, to_shell
from graph.extraction.statements import Statement, statements
from graph.porting.arguments import HOSTS, arguments
from graph.porting.collector import Collector, PortNote, inside_quotes, is_secret_line
from graph.porting.own_names import JOB_ID_NAMES, by_name, inner_names, is_elsewhere
from graph.porting.ownership import OWN_STEPS, is_machine_variable
from knowledge.cluster import Cluster
from knowledge.masking import hide
from knowledge.types import Variable
from knowledge.word_lists import word_set
from templates.quoting import shell_word

END = "END_OF_FILE"
BLOCKS = ("if_statement", "for_statement", "while_statement", "list", "case_statement")
# What may stand around steps in a block that is carried to the letter.
AROUND_STEPS = word_set("[ [[ test echo printf true false : sleep break continue wait")
# Text of a file that is made for the old launch, not for the program.
OF_LAUNCH = re.compile(
    r"\b(srun|mpirun|mpiexec|torchrun|accelerate|deepspeed|slots=|scontrol|num_machines|distributed_type)"
)
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
    notes: tuple[PortNote, ...]
    late: tuple[str, ...] = ()
    step_lines: frozenset[int] = frozenset()
    """Lines of the old script whose steps are in setup."""


def user_part(script: ReadScript, source: Cluster | None, target: Cluster) -> UserPart | None:
    """The user's part of a script, its job id renamed for the target; None where no training program is seen."""
    program, training = script.program, script.training
    if program is None or training is None:
        return None
    facts = count(script, scheduler_of(script)).facts
    files = tuple(plain(one).rpartition("=")[2] for one in program.args)
    script = by_name(script, source, target)
    program, training = script.program or program, script.training or training
    script = replace(script, assignments=(*script.assignments, *before_launch(training)))
    collector = Collector(script, source, target, facts)
    for assignment in script.assignments:
        machines = is_machine_variable(assignment.name, source) or HOSTS.search(assignment.written)
        if is_secret_line(assignment.name, assignment.written):
            continue  # a key is named by the account and copied nowhere
        if assignment.exported and not machines and not is_launch(assignment.value):
            collector.need(assignment.name)
    entry = collector.word(program.entry, training.line) or plain(program.entry)
    args, late = arguments(program.args, collector, training.line)
    if is_elsewhere(entry, script) and not collector.stays_here:
        collector.note(training.line, f"{entry} is a path on {collector.old}: give the program's new one with --entry.")
    setup = (*steps(script, training, collector), *written_files(files, program.args, collector))
    args = tuple(collector.named_place(args, i) for i in range(len(args)))
    collector.say_places()
    setup = (*collector.guard_lines((entry, *args, *late, *setup)), *setup)
    variables, notes = tuple(collector.variables.values()), tuple(collector.notes)
    done = frozenset(collector.step_lines)
    return UserPart(entry, program.kind == "module", args, variables, setup, notes, late, done)


def before_launch(training: Command) -> Iterator[Assignment]:
    """What stands in front of the launch or the program alone (`PYTHONHASHSEED=0 srun python ...`)."""
    one: Command | None = training
    while one is not None:
        yield from (Assignment(one.line, name, value, value, exported=True) for name, value in one.assignments)
        one = one.outer


def is_launch(value: str) -> bool:
    """Whether a variable's value is a launch line, or the launcher's part of one: the new script has its own."""
    words = split_words(value)
    layers = read_chain([literal(word) for word in words]).layers if len(words) > 1 else ()
    return any(layer.kind in ("parallel", "spawner") for layer in layers)


def steps(script: ReadScript, training: Command, collector: Collector) -> Iterator[str]:
    """The user's own steps before the training, whole blocks of them too. Others are named, not guessed at."""
    blocks = own_blocks(script, training)
    done: set[int] = set()
    for command in script.commands:
        if command.line >= training.line and command is not training:
            return
        block = next((one for one in blocks if one.first <= command.line <= one.last), None)
        if block is not None:
            if block.first not in done:
                done.add(block.first)
                yield from block_step(block, collector)
            continue
        if command is training or command.outer is not None or command.inside:
            continue
        yield from step(command, collector)


def step(command: Command, collector: Collector) -> Iterator[str]:
    """One command as a line of the new script, or a note on it."""
    name = command.name.rsplit("/", 1)[-1]
    raw = " ".join((*command.written, *command.redirects))
    if name not in OWN_STEPS or hide(raw) != raw:
        note_on_step(command, name, collector)
        return
    text = " ".join(filter(None, (step_word(one, collector, command.line) for one in command.fields)))
    if not collector.stays_here and any(is_elsewhere(plain(one), collector.script) for one in command.fields):
        collector.note(command.line, f"`{shown(command)}` works in a place on {collector.old}: change it.")
    if re.search(r"\$\{?(PBS_O_WORKDIR|SLURM_SUBMIT_DIR|LS_SUBCWD|FLUX_JOB_CWD)|dirname", text):
        return
    if not any("<<" in redirect for redirect in command.redirects):
        for variable in inner_names(" ".join(command.redirects)):
            collector.need(variable)
        collector.step_lines.add(command.line)
        yield " ".join((text, *command.redirects))


def own_blocks(script: ReadScript, training: Command) -> list[Statement]:
    """Conditions and loops before the training in which nothing but a user's own steps stands (`if [ ! -d data ]`)."""
    found = [one for one in statements(script, training.line) if one.kind in BLOCKS and one.last < training.line]
    return [one for one in found if not one.holds and is_own_block(one, script)]


def is_own_block(block: Statement, script: ReadScript) -> bool:
    inside = [one for one in script.commands if block.first <= one.line <= block.last and one.argv]
    names = {one.name.rsplit("/", 1)[-1] for one in inside}
    sets = any(block.first <= one.line <= block.last for one in script.assignments)
    own = bool(names & OWN_STEPS) and names <= OWN_STEPS | AROUND_STEPS
    return (
        own and not sets and "<<" not in block.text and hide(block.text) == block.text and not HOSTS.search(block.text)
    )


def block_step(block: Statement, collector: Collector) -> Iterator[str]:
    """The block to the letter, the job id renamed; the variables that it reads are carried along."""
    for name in re.findall(r"\$\{?([A-Za-z_]\w*)", block.text):
        collector.need(name)
    places = re.findall(r"(?<![\w$}])/[\w.@-]+/[\w./@-]*", block.text)
    if not collector.stays_here and any(is_elsewhere(place, collector.script) for place in places):
        collector.note(block.first, f"`{block.shown}` works in a place on {collector.old}: change it.")
    collector.step_lines.update(range(block.first, block.last + 1))
    yield from collector.renamed(block.text).split("\n")


def note_on_step(command: Command, name: str, collector: Collector) -> None:
    """Steps that are not carried over, and why."""
    words = command.argv
    if name in ("conda", "mamba", "micromamba") or (name in ("source", ".") and "activate" in " ".join(words)):
        there = f"enters an environment on {collector.old}: make one on {collector.target.title}"
        says = f"{'is not carried over' if collector.stays_here else there}; *environment NAME* (`--env`) takes it."
        if words[-1] not in ("activate", "base"):
            collector.note(command.line, f"`{shown(command)}` {says}")
    elif name in ("source", "."):
        collector.note(command.line, f"`{shown(command)}` is not carried over: look at what it sets.")
    elif command.background:
        collector.note(
            command.line, f"`{shown(command)}` runs beside the training: start it in the new script yourself."
        )
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
    given = {name: plain(one).rpartition("=")[2] for name, one in zip(names, args, strict=True)}
    given = {name: target for name, target in given.items() if FILE_NAME.search(name)}
    before = collector.script.training.line if collector.script.training else 0
    done: set[str] = set()
    for name, target in [*given.items(), *((one.name, one.name) for one in own_documents(collector.script, before))]:
        text = document_text(collector.script, name)
        last = name.rsplit("/", 1)[-1]
        if text is None or last in done:
            continue
        done.add(last)
        for variable in (*inner_names(text), *inner_names(target)):
            collector.need(variable)
        new = collector.renamed(target)
        quote = "'" if "$" not in text else ""
        path = f'"{inside_quotes(new)}"' if "$" in new else shlex.quote(new)
        yield from (f"cat > {path} <<{quote}{END}{quote}", *collector.renamed(text.rstrip("\n")).split("\n"), END)


def own_documents(script: ReadScript, before: int) -> Iterator[WrittenFile]:
    """Files that the script writes above the training for its program, and not for the old launch."""
    inside = " ".join(where for one in script.commands for where in one.inside)
    for one in script.documents:
        plain_name = one.name and not re.search(r"\$\(|`", one.name) and not HOSTS.search(one.name)
        of_launch = OF_LAUNCH.search(one.text) or f"heredoc {one.name}" in inside or hide(one.text) != one.text
        if one.line <= before and plain_name and not of_launch:
            yield one


def shown(command: Command) -> str:
    text = hide(" ".join(" ".join(command.written).split()))
    return text if len(text) <= 60 else text[:59] + "…"
