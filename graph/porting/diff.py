"""The two scripts side by side, section by section, with a reason for each changed line."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest

from graph.extraction.script import ReadScript, read_script
from graph.extraction.shell_words import plain
from graph.planning.queues import plural
from graph.porting.ownership import OWN_STEPS, is_machine_variable
from graph.porting.port import Ported
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.masking import hide

SECTIONS = ("head", "request", "yours", "software", "environment", "rendezvous", "launch", "other")


# Sections in which lines that have no counterpart are set against each other, to be read as a whole.
FACING = ("head", "rendezvous", "launch")
# One thing asked of a scheduler, by the names that it has with each.
ALIKE = {
    "select": "nodes", "partition": "queue", "qos": "queue", "project": "account", "bank": "account",
    "group": "account", "time-limit": "time", "walltime": "time", "gpus": "gpus-per-node", "gres": "gpus-per-node",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of one of the scripts: its number, its text, and what it sets or starts."""

    number: int
    text: str
    about: str


NOTHING = DiffLine(0, "", "")


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One row: line numbers (0: none) and texts of both sides, and why they differ (empty where they do not)."""

    section: str
    left_line: int
    left: str
    right_line: int
    right: str
    why: str = ""


def side_by_side(ported: Ported, target: Cluster) -> tuple[DiffRow, ...]:
    """The rows, in the order of the sections. Blank lines and comments of the old script are left out."""
    source = catalogue().find(ported.record.machine) if ported.record.machine else None
    left = sections(replace(ported.source, text=hide(ported.source.text)), source)
    right = sections(read_script(ported.bundle.script), target)
    why = reasons(ported, target, source)
    noted = {line: one.why for one in ported.account if one.fate == "named" for line in range(one.first, one.last + 1)}
    noted |= {note.line: note.says for note in ported.notes if note.line}
    made = (row for name in SECTIONS for row in in_order(rows(name, left[name], right[name], why[name])))
    return tuple(replace(row, why=noted.get(row.left_line, row.why)) if row.why else row for row in made)


def rows(name: str, left: list[DiffLine], right: list[DiffLine], why: str) -> Iterator[DiffRow]:
    """The lines of a section: equal ones paired first, then those about the same thing, then the others.

    Others stand alone, but where a section is one command (the launch) or one purpose, against each other.
    """
    old, new = list(left), list(right)
    for same, reason in ((bare, ""), (about, why)):
        for one in list(old):
            other = next((line for line in new if same(line) == same(one)), None)
            if other is not None:
                yield DiffRow(name, one.number, one.text, other.number, other.text, reason)
                old.remove(one)
                new.remove(other)
    pairs = [*((one, NOTHING) for one in old), *((NOTHING, one) for one in new)]
    for a, b in zip_longest(old, new, fillvalue=NOTHING) if name in FACING else pairs:
        yield DiffRow(name, a.number, a.text, b.number, b.text, why)


def in_order(found: Iterator[DiffRow]) -> list[DiffRow]:
    """By the old script's lines; what is new comes last."""
    return sorted(found, key=lambda row: (row.left_line == 0, row.left_line))


def bare(line: DiffLine) -> str:
    return line.text.strip().removesuffix("\\").rstrip()


def about(line: DiffLine) -> str:
    return line.about


def sections(script: ReadScript, machine: Cluster | None) -> dict[str, list[DiffLine]]:
    """Each line of a script by what it is about; a line that starts nothing goes with the one before it."""
    kinds = line_kinds(script, machine)
    options = {one.line: ALIKE.get(one.option, one.option) for one in script.directives if one.active}
    found: dict[str, list[DiffLine]] = {name: [] for name in SECTIONS}
    kind = "other"
    for number, text in enumerate(script.text.splitlines(), 1):
        words = text.strip().removeprefix("export ")
        if words and (number in kinds or not words.startswith("#")):
            kind = kinds.get(number, kind)
            subject = options.get(number) or re.split(r"[=\s]", words, maxsplit=1)[0]
            found[kind].append(DiffLine(number, text, subject))
    return found


def line_kinds(script: ReadScript, machine: Cluster | None) -> dict[int, str]:
    """Line -> section, for every line that starts something."""
    kinds: dict[int, str] = {}
    for command in script.commands:
        kinds.setdefault(command.line, command_kind(command.name, command.argv))
    for assignment in script.assignments:
        name = assignment.name
        kind = "environment" if is_machine_variable(name, machine) else "yours"
        if name in ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "NNODES") or "hostname" in assignment.written:
            kind = "rendezvous"
        kinds[assignment.line] = "yours" if name in ("PROGRAM", "RANKS_PER_NODE") else kind
    if script.training:
        at = script.training
        while at.outer:
            at = at.outer
        kinds |= {script.training.line: "launch", at.line: "launch"}
        kinds |= dict.fromkeys(argument_lines(script, script.training.line), "yours")
    kinds |= {one.line: "request" for one in script.directives if one.active}
    first = next((n for n, text in enumerate(script.text.splitlines(), 1) if text.startswith("#!")), 0)
    return kinds | {first: "head"}


def argument_lines(script: ReadScript, start: int) -> Iterator[int]:
    """The first line below the program's own, where the command goes on there: from it on, the arguments stand."""
    entry = plain(script.program.entry).rsplit("/", 1)[-1] if script.program else ""
    lines = script.text.splitlines()
    for number in range(start, min(start + 60, len(lines) + 1)):
        goes_on = lines[number - 1].rstrip().endswith("\\")
        if entry and entry in lines[number - 1]:
            yield from (number + 1,) if goes_on else ()
            return
        if not goes_on:
            return


def command_kind(name: str, words: tuple[str, ...]) -> str:
    if name in ("module", "ml", "conda", "source", ".", "mamba") or "activate" in words:
        return "software"
    if name == "set" or name.startswith("#"):
        return "head"
    return "yours" if name in OWN_STEPS else "other"


def reasons(ported: Ported, target: Cluster, source: Cluster | None) -> dict[str, str]:
    """Why the lines of each section differ, in a sentence."""
    old = source.title if source else "the old machine"
    plan = ported.plan
    documented = not any(note.startswith("No page of") for note in plan.notes)
    return {
        "head": f"how {target.title} starts a job",
        "request": f"{target.title}'s words for {plural(plan.nodes, 'node')}, queue {plan.queue}, {plan.walltime}",
        "yours": "your program, variables and steps, written where you can change them",
        "software": f"{old}'s modules and environments are not on {target.title}",
        "environment": f"network, GPU and rank settings are the machine's: {target.title}'s documented ones",
        "rendezvous": "the first node and the world size are found in the new scheduler's way",
        "launch": f"started with {plan.launch.launcher}, "
        + (f"as {target.title} documents" if documented else f"our reading: no page of {target.title} shows it"),
        "other": "not needed there, or made anew; see the notes",
    }


def as_text(rows_: tuple[DiffRow, ...], width: int = 150) -> str:
    """Two columns, each section under its reason; a line with a reason of its own has it below."""
    out: list[str] = []
    for name in SECTIONS:
        listed = [row for row in rows_ if row.section == name]
        usual = Counter(row.why for row in listed if row.why).most_common(1)
        if listed:
            out += ["", f"-- {name}" + (f": {usual[0][0]}" if usual else "")]
        for row in listed:
            out += columns(row, (width - 3) // 2)
            if row.why and row.why != usual[0][0]:
                out.append(f"   ^ {row.why}")
    return "\n".join(out).strip("\n")


def columns(row: DiffRow, half: int) -> list[str]:
    left = textwrap.wrap(row.left, half, subsequent_indent="    ", drop_whitespace=False) or [""]
    right = textwrap.wrap(row.right, half, subsequent_indent="    ", drop_whitespace=False) or [""]
    mark = " " if not row.why else "|" if row.left and row.right else "<" if row.left else ">"
    return [f"{a:<{half}} {mark} {b}".rstrip() for a, b in zip_longest(left, right, fillvalue="")]
