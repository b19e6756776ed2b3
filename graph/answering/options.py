"""What flags, directives and variables mean; several of them against each other; which is right on a machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from graph.answering.ask import Ask
from graph.answering.fact_answer import as_sentence
from graph.answering.in_hand import in_hand
from graph.answering.script import explain_part
from graph.answering.script_parts import split_value
from graph.answering.situation import cite, write_document
from graph.answering.surroundings import rendezvous
from knowledge.cluster import Cluster, DirectiveFact, EnvironmentFact
from knowledge.document import Document, Part
from knowledge.options import OptionFact, difference_of, options, options_named

MOST = 4
WRITTEN = re.compile(
    r"(?<![\w/.-])(?<!sh )--?[A-Za-z][\w-]*|\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|\bexpandable_segments\b|\b29500\b"
)
# Options that ask for the same thing: on a machine the one that its own directives write is right.
GPU_OPTIONS = ("slurm-gres", "slurm-gpus-per-node", "slurm-gpus", "slurm-gpus-per-task")


def explain_option(ask: Ask) -> Document | None:
    """What the options of the question mean; of several also what sets them apart; then this machine's own words."""
    facts = named(ask)
    if not facts:
        return of_machine_alone(ask)
    if len(facts) == 1 and (found := of_script(ask)):
        return found + write_document(*on_machine(ask.machine, facts))
    told = apart(facts) if len(facts) > 1 else []
    says = [f"`{name}`: {fact.says}" for name, fact in facts]
    trap = as_sentence(facts[0][1].trap) if len(facts) == 1 else ""
    return write_document(*says, *told, trap, *on_machine(ask.machine, facts))


def names_options(ask: Ask) -> bool:
    """Whether flags or variables stand in the question as written, or in the one that a machine goes on from."""
    return WRITTEN.search(ask.text) is not None or bool(ask.utterance.machines() and WRITTEN.search(ask.before))


def named(ask: Ask) -> list[tuple[str, OptionFact]]:
    """(as written, fact): the options and variables of the clause, each once."""
    where = (*contexts(ask), *launchers(ask.text))
    found: dict[str, tuple[str, OptionFact]] = {}
    for match in WRITTEN.finditer(ask.text):
        name = split_value(match[0])
        for fact in options_named(name, where)[:1]:
            found.setdefault(fact.id, (name, fact))
    if not found:
        words = re.findall(r"(?<![\w-])[a-z]+(?:[-_][a-z]+)*(?![\w-])", ask.text.lower())
        spelled = ((word, fact) for word in words if len(word) > 3 for fact in options_named(f"--{word}", where)[:1])
        found = {fact.id: (f"--{word}", fact) for word, fact in spelled}
    return [*found.values()][:MOST]


def contexts(ask: Ask) -> Sequence[str]:
    """The scheduler of the machine or script that is spoken of."""
    hand = in_hand(ask)
    if ask.machine:
        return (ask.machine.scheduler,)
    return (hand.record.scheduler,) if hand else scheduler_named(ask.text)


def scheduler_named(text: str) -> Sequence[str]:
    marks = {"slurm": r"slurm|sbatch", "pbs": r"pbs|qsub", "lsf": r"lsf|bsub", "flux": r"flux"}
    return tuple(name for name, mark in marks.items() if re.search(rf"\b(?:{mark})\b", text, re.I)) or ("slurm",)


def launchers(text: str) -> Sequence[str]:
    names = ("srun", "mpiexec", "mpirun", "jsrun", "torchrun", "accelerate", "deepspeed", "megatron")
    return tuple(name for name in names if name in text.lower())


def apart(facts: Sequence[tuple[str, OptionFact]]) -> list[str]:
    """What sets each two of them apart, where it is written down."""
    pairs = ((one, other) for at, (_, one) in enumerate(facts) for _, other in facts[at + 1 :])
    return [text for one, other in pairs if (text := difference_of(one, other))]


def on_machine(machine: Cluster | None, facts: Sequence[tuple[str, OptionFact]]) -> list[Part | str]:
    """What the machine's own facts write, forbid or set of them, with the page."""
    if machine is None:
        return []
    names = {name for _, fact in facts for name in fact.names}
    written = [one for one in machine.directives if option_of(one.text) in names]
    banned = [one for one in machine.forbidden if one.option.split("=")[0] in names]
    set_there = [one for one in machine.environment if one.name in names]
    told = [
        *(f"On {machine.title}: `{tidy(one)}`{f' ({one.comment})' if one.comment else ''}." for one in written[:2]),
        *(f"On {machine.title} not `{one.option}`: {one.why}." for one in banned),
        *(variable(one, machine) for one in set_there[:2]),
        *gpus_there(machine, facts, bool(written)),
        *([rendezvous(machine).text] if names & {"MASTER_ADDR", "MASTER_PORT"} else ()),
    ]
    pages = [*(one.source for one in written[:2]), *(one.source for one in banned), *(one.source for one in set_there)]
    return [*told, cite((page for page in pages if page), machine.as_of)]


def option_of(directive: str) -> str:
    """`--gres=gpu:{gpus}` as `--gres`; `-l select={nodes}` as `-l select`."""
    found = re.match(r"(-l \w+|--?[\w-]+)", directive)
    return found[1] if found else ""


def tidy(fact: DirectiveFact) -> str:
    return re.sub(r"\{(\w+)\}", r"<\1>", fact.text)


def variable(fact: EnvironmentFact, machine: Cluster) -> str:
    why = f": {fact.why}" if fact.why else ""
    when = f" ({fact.when})" if fact.when else ""
    return f"On {machine.title} `{fact.name}={fact.value}`{when}{why}."


def gpus_there(machine: Cluster, facts: Sequence[tuple[str, OptionFact]], known: bool) -> list[str]:
    """Where GPU options are asked for and the machine writes another one, or none."""
    if known or not any(fact.id in GPU_OPTIONS for _, fact in facts):
        return []
    names = {name for each in GPU_OPTIONS for name in options()[each].names}
    other = [tidy(one) for one in machine.directives if option_of(one.text) in names or "ngpus" in one.text]
    if other:
        return [f"On {machine.title} it is `{other[0]}`."]
    if machine.whole_nodes:
        return [f"On {machine.title} none of them: a job gets whole nodes with all their GPUs."]
    return []


def of_machine_alone(ask: Ask) -> Document | None:
    """`which one for leonardo`: of the options of the turn before, by the machine's directives."""
    before = named(replace(ask, clause=replace(ask.clause, text=ask.before)))
    if ask.machine is None or not before:
        return None
    return write_document(*on_machine(ask.machine, before))


def of_script(ask: Ask) -> Document | None:
    """What the line of the script in hand says that has it."""
    told = explain_part(ask)
    return told if told and any(getattr(part, "text", "").startswith("Line ") for part in told.parts) else None
