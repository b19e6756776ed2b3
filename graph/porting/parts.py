"""The user's own part of a script: program, arguments, variables, and the files that it writes for the program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from graph.extraction.commands import Assignment, Command, WrittenFile
from graph.extraction.launchers import read_chain
from graph.extraction.script import ReadScript
from graph.extraction.script_counts import count
from graph.extraction.script_record import scheduler_of
from graph.extraction.shell_words import literal, plain, split_words
from graph.porting.arguments import HOSTS, arguments
from graph.porting.collector import Collector, is_secret_line
from graph.porting.own_names import by_name
from graph.porting.ownership import is_machine_variable
from knowledge.cluster import Cluster
from knowledge.masking import hide
from knowledge.types import Variable

# Text of a file that is made for the old launch, not for the program.
OF_LAUNCH = re.compile(
    r"\b(srun|mpirun|mpiexec|torchrun|accelerate|deepspeed|slots=|scontrol|num_machines|distributed_type)"
)


@dataclass(frozen=True, slots=True)
class UserPart:
    """What is carried over. args are words as the program gets them; the job expands plain variables in them.

    files: lines of what the script writes for its program; late: arguments that name what the rendezvous sets.
    """

    entry: str
    is_module: bool
    args: tuple[str, ...]
    variables: tuple[Variable, ...]
    files: tuple[str, ...]
    late: tuple[str, ...] = ()


def user_part(script: ReadScript, source: Cluster | None, target: Cluster) -> UserPart | None:
    """The user's part of a script, its job id renamed for the target; None where no training program is seen."""
    program, training = script.program, script.training
    if program is None or training is None:
        return None
    facts = count(script, scheduler_of(script)).facts
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
    entry = collector.word(program.entry) or plain(program.entry)
    args, late = arguments(program.args, collector)
    files = tuple(row for one in own_documents(script, training.line) for row in one.text.split("\n"))
    return UserPart(entry, program.kind == "module", args, tuple(collector.variables.values()), files, late)


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


def own_documents(script: ReadScript, before: int) -> Iterator[WrittenFile]:
    """Files that the script writes above the training for its program, and not for the old launch."""
    inside = " ".join(where for one in script.commands for where in one.inside)
    for one in script.documents:
        plain_name = one.name and not re.search(r"\$\(|`", one.name) and not HOSTS.search(one.name)
        of_launch = OF_LAUNCH.search(one.text) or f"heredoc {one.name}" in inside or hide(one.text) != one.text
        if one.line <= before and plain_name and not of_launch:
            yield one
