"""Which of the user's variables stay variables, so that a path or a name is changed in one place after the port."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from graph.extraction.commands import Assignment
from graph.extraction.script import ReadScript, read_script
from graph.extraction.shell_words import plain
from graph.porting.ownership import facts_variables, is_machine_variable
from knowledge.cluster import Cluster

JOB_ID = {"slurm": "SLURM_JOB_ID", "pbs": "PBS_JOBID", "lsf": "LSB_JOBID", "flux": "FLUX_ENCLOSING_ID"}
JOB_ID_NAMES = frozenset((*JOB_ID.values(), "SLURM_JOBID"))
PLAIN_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
# One word for sure, and no option, program or file of settings: those are read by what they are called.
SIMPLE = re.compile(r"(?!-)[\w@%+=:,./^-]+")
READ_BY_NAME = re.compile(
    r"\.(py|sh|json|ya?ml|toml)$|^(.*/)?(python[\d.]*|torchrun|srun|mpiexec|mpirun|accelerate|deepspeed)$"
)


def by_name(script: ReadScript, source: Cluster | None, target: Cluster) -> ReadScript:
    """The script read again, simple variables of the user kept as names; as it was where that changes the launch."""
    taken = facts_variables(target)
    written = Counter(one.name for one in script.assignments)
    names = frozenset(
        one.name
        for one in script.assignments
        if written[one.name] == 1 and one.name not in taken and not one.inside and is_simple(one, source)
    )
    if not names:
        return script
    named = read_script(script.text, kept=names)
    return named if same_launch(script, named, names) else script


def is_simple(one: Assignment, source: Cluster | None) -> bool:
    """Whether a variable is the user's and one word, made of nothing that the old machine alone has."""
    if is_machine_variable(one.name, source) or READ_BY_NAME.search(one.value):
        return False
    if any(name not in JOB_ID_NAMES and is_machine_variable(name, source) for name in inner_names(one.value)):
        return False
    return SIMPLE.fullmatch(PLAIN_VARIABLE.sub("x", one.value)) is not None


def inner_names(text: str) -> Iterator[str]:
    return (found[1] or found[2] for found in PLAIN_VARIABLE.finditer(text))


def same_launch(script: ReadScript, named: ReadScript, names: frozenset[str]) -> bool:
    """Whether both readings start the same program with the same words, once the names are filled in."""
    one, two = script.training, named.training
    if one is None or two is None or one.chain.program is None or two.chain.program is None or one.line != two.line:
        return False
    before, after = one.chain.program, two.chain.program
    old = [plain(word) for word in (before.entry, *before.args)]
    new = [filled_in(plain(word), script, names) for word in (after.entry, *after.args)]
    return old == new and before.kind == after.kind


def filled_in(text: str, script: ReadScript, names: frozenset[str]) -> str:
    """Kept names replaced by their values; what a value is made of is filled in already."""

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return (script.value_of(name) or "") if name in names else found[0]

    return PLAIN_VARIABLE.sub(value, text)
