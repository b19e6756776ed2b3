"""The two scripts side by side, section by section, with a reason for each changed line."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest

from graph.extraction.script import Script, read_script
from graph.porting.ownership import OWN_STEPS, is_machine_variable
from graph.porting.port import Ported
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster

SECTIONS = ("head", "request", "yours", "software", "environment", "rendezvous", "launch", "other")


@dataclass(frozen=True, slots=True)
class Row:
    """One row: line numbers (0: none) and texts of both sides, and why they differ (empty where they do not)."""

    section: str
    left_line: int
    left: str
    right_line: int
    right: str
    why: str = ""


def side_by_side(ported: Ported, target: Cluster) -> tuple[Row, ...]:
    """The rows, in the order of the sections. Blank lines and comments of the old script are left out."""
    source = catalogue().find(ported.record.machine) if ported.record.machine else None
    left = sections(ported.source, source)
    right = sections(read_script(ported.bundle.script), target)
    why = reasons(ported, target, source)
    noted = {note.line: note.says for note in ported.notes if note.line}
    made = (row for name in SECTIONS for row in rows(name, left[name], right[name], why[name]))
    return tuple(replace(row, why=noted.get(row.left_line, row.why)) if row.why else row for row in made)


def rows(name: str, left: list[tuple[int, str]], right: list[tuple[int, str]], why: str) -> Iterator[Row]:
    """The lines of a section: equal ones paired first, the others against each other."""
    texts = {text.strip() for _, text in right}
    same = {text.strip() for _, text in left} & texts
    for number, text in left:
        if text.strip() in same:
            other = next(n for n, t in right if t.strip() == text.strip())
            yield Row(name, number, text, other, text)
    old = [(n, t) for n, t in left if t.strip() not in same]
    new = [(n, t) for n, t in right if t.strip() not in same]
    for a, b in zip_longest(old, new, fillvalue=(0, "")):
        yield Row(name, a[0], a[1], b[0], b[1], why)


def sections(script: Script, machine: Cluster | None) -> dict[str, list[tuple[int, str]]]:
    """Each line of a script by what it is about; a line that starts nothing goes with the one before it."""
    kinds = line_kinds(script, machine)
    found: dict[str, list[tuple[int, str]]] = {name: [] for name in SECTIONS}
    kind = "other"
    for number, text in enumerate(script.text.splitlines(), 1):
        bare = text.strip()
        if bare and (number in kinds or not bare.startswith("#")):
            kind = kinds.get(number, kind)
            found[kind].append((number, text))
    return found


def line_kinds(script: Script, machine: Cluster | None) -> dict[int, str]:
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
    kinds |= {one.line: "request" for one in script.directives if one.active}
    first = next((n for n, text in enumerate(script.text.splitlines(), 1) if text.startswith("#!")), 0)
    return kinds | {first: "head"}


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
    return {
        "head": f"how {target.title} starts a job",
        "request": f"{target.title}'s words for {plan.nodes} nodes, queue {plan.queue}, {plan.walltime}; "
        f"{old}'s queue, account and GPU options do not exist there",
        "yours": "your program, variables and steps, written where you can change them",
        "software": f"{old}'s modules and environments are not on {target.title}",
        "environment": f"network, GPU and rank settings are the machine's: {target.title}'s documented ones",
        "rendezvous": "the first node and the world size are found in the new scheduler's way",
        "launch": f"started with {plan.launch.launcher}, as {target.title} documents",
        "other": "not needed there, or made anew; see the notes",
    }


def as_text(rows_: tuple[Row, ...], width: int = 150) -> str:
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


def columns(row: Row, half: int) -> list[str]:
    left = textwrap.wrap(row.left, half, subsequent_indent="    ", drop_whitespace=False) or [""]
    right = textwrap.wrap(row.right, half, subsequent_indent="    ", drop_whitespace=False) or [""]
    mark = " " if not row.why else "|" if row.left and row.right else "<" if row.left else ">"
    return [f"{a:<{half}} {mark} {b}".rstrip() for a, b in zip_longest(left, right, fillvalue="")]
