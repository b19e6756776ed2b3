"""The strict model of network_env.yaml: variables that jobs on several nodes need, and what each launcher sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from knowledge.strict import Facts
from knowledge.types import Passage

FILE = Path(__file__).parent / "network_env.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkVariable(Facts):
    """A variable or option: its values, when it matters, what it is for, and what a missing or wrong one shows."""

    name: str
    values: str
    when: str
    fixes: str
    symptom: str = ""
    source: str = ""
    confirmed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkGroup(Facts):
    id: str
    title: str
    notes: tuple[str, ...] = ()
    variables: tuple[NetworkVariable, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LauncherVariables(Facts):
    """Where a task finds its rank, by the launcher that started it."""

    launcher: str
    rank: str
    local_rank: str = ""
    world_size: str = ""
    local_size: str = ""
    node_rank: str = ""
    hosts: str = ""
    note: str = ""
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility(Facts):
    """A variable that hides devices from a process, and who sets it."""

    name: str
    by: str
    trap: str
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkNote(Facts):
    text: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkFacts(Facts):
    as_of: str
    groups: tuple[NetworkGroup, ...]
    renamed: Mapping[str, str]
    launchers: tuple[LauncherVariables, ...]
    visibility: tuple[Visibility, ...] = ()
    notes: tuple[NetworkNote, ...] = ()
    unknown: tuple[str, ...] = field(default=())


def network_passages(facts: NetworkFacts) -> Iterator[Passage]:
    """Each variable, launcher and note as a text that stands alone."""
    for group in facts.groups:
        path = ("Network variables", group.title)
        for one in group.variables:
            yield Passage(variable_text(one, group), one.name, one.source, facts.as_of, path, kind="fact")
        for note in group.notes:
            source = next((one.source for one in group.variables if one.source), "")
            yield Passage(note, group.title, source, facts.as_of, path, kind="fact")
    for launcher in facts.launchers:
        title = f"Rank variables of {launcher.launcher}"
        yield Passage(launcher_text(launcher), title, launcher.source, facts.as_of, ("Launchers",), kind="fact")
    for one_of in facts.visibility:
        text = f"{one_of.name} chooses the devices a process sees. Set by {one_of.by}. Trap: {one_of.trap}."
        yield Passage(text, one_of.name, one_of.source, facts.as_of, ("Device visibility",), kind="fact")
    for said in facts.notes:
        title = "Launchers and PyTorch"
        yield Passage(f"{said.text}.", title, said.source, facts.as_of, ("Launchers",), kind="fact")
    for old, new in facts.renamed.items():
        text = f"{old} is the old name of {new}: newer PyTorch reads {new}; the old one is still read or warned about."
        yield Passage(text, old, "", facts.as_of, ("Network variables", "Renamed in PyTorch"), kind="fact")


def variable_text(one: NetworkVariable, group: NetworkGroup) -> str:
    """`NAME (NCCL on InfiniBand): what it is for. Values: ... When: ... Missing or wrong: ...`"""
    purpose = one.fixes or "see its values"
    doubt = "" if one.confirmed else " Seen in users' scripts only, not in documentation."
    symptom = f" Missing or wrong, it shows as: {one.symptom}." if one.symptom else ""
    return f"{one.name} ({group.title}): {purpose}. Values: {one.values}. When: {one.when}.{symptom}{doubt}"


def launcher_text(one: LauncherVariables) -> str:
    """What a task reads to find its place."""
    rows = {
        "rank": one.rank,
        "local rank": one.local_rank,
        "world size": one.world_size,
        "ranks on the node": one.local_size,
        "node rank": one.node_rank,
        "list of hosts": one.hosts,
    }
    told = "; ".join(f"{what} in {where}" for what, where in rows.items() if where)
    missing = [what for what, where in rows.items() if not where]
    none = f" It sets none for: {', '.join(missing)}." if missing else ""
    return f"A process started by {one.launcher} finds its {told}.{none}" + (f" {one.note}." if one.note else "")
