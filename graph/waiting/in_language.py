"""An answer in the language of the person: the verdict, the numbers under their names, commands with what they do.

What a look found as facts (case.Fact) is told by these; what it found only as a sentence follows under a heading that
says that it is English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from graph.waiting.case import Fact, WaitCase, WaitingNote, open_names
from graph.waiting.spoken import moment_of
from graph.waiting.words import tables
from knowledge.data_file import read_data
from knowledge.document import Document, Paragraph, Part, Step, Steps
from knowledge.errors import FactsError

PATH = Path(__file__).with_name("labels.yaml")
DOES: Mapping[str, str] = tables()["does"]


@cache
def labels() -> Mapping[str, Mapping[str, str]]:
    """Language -> label -> words. Raises FactsError where a row lacks a language."""
    rows: Mapping[str, list[str]] = read_data(PATH)
    names = rows["languages"]
    if short := [label for label, row in rows.items() if len(row) != len(names)]:
        raise FactsError(f"{PATH}: {', '.join(short)}: needs a word for each of {', '.join(names)}")
    return {name: {label: row[at] for label, row in rows.items()} for at, name in enumerate(names)}


def spoken_facts(facts: Sequence[Fact], told: Mapping[str, str]) -> str:
    """`GPUs: verlangt 12, erlaubt 16. Laufende Jobs: 71, 72.`; what another fact says with more is left out."""
    lines = []
    for fact in facts:
        if any(one.label == fact.label and one != fact and one.value.startswith(fact.value) for one in facts):
            continue
        if not fact.value and not fact.parts:  # a sentence
            lines.append(told[fact.label])
            continue
        parts = [f"{told.get(name, name)} {value}".strip() for name, value in fact.parts]
        of = " ".join(told.get(name, name) for name in fact.label.split())
        value = [plain_date(fact.value)] if fact.value else []
        lines.append(f"{of[:1].upper()}{of[1:]}: {', '.join([*value, *parts])}.")
    return " ".join(dict.fromkeys(lines))


def plain_date(value: str) -> str:
    """`2026-11-30 22:00` of a date as a scheduler prints it, which needs no language; anything else as it is."""
    moment = None if value.isdigit() else moment_of(value)
    return f"{moment:%Y-%m-%d %H:%M}" if moment and len(value) > len("2026-11-22") else ISO.sub(r"\1 \2", value)


ISO = re.compile(r"\b(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d)?\b")


def head_facts(case: WaitCase, told: Mapping[str, str]) -> list[Fact]:
    """The reason as the scheduler prints it, and whose limit on what it speaks of."""
    reason = case.found.reason
    printed = case.job.reason.split(";")[0].strip().rstrip(".")
    shown = reason.word if case.job.scheduler == "slurm" and not printed.startswith(reason.word) else printed
    found = [Fact("reason", f"`{shown}`")] if shown else []
    if reason.word.startswith("Reservation") and (name := case.found.named.get("name")):
        found.append(Fact("names", name))
    limit = case.found.limit
    if limit and limit.whose in ("job", "user", "account", "qos", "node"):
        from graph.waiting.amounts import resource_of

        whose = "per-node" if limit.whose == "node" else limit.whose
        name = case.job.qos if limit.set_on == "qos" else case.job.account
        owner = f"({'QOS ' * (limit.set_on == 'qos')}{name.rstrip('+')})" if name else ""
        found.append(Fact("limited", parts=((resource_of(limit.resource), ""), (whose, owner))))
    elif reason.whose in ("user", "account") and reason.of:
        name = f"({case.job.user if reason.whose == 'user' else case.job.account})".replace("()", "")
        found.append(Fact("limited", parts=((reason.of, ""), (reason.whose, name))))
    if f"why {reason.word}" in told:
        found.append(Fact(f"why {reason.word}"))
    return found


def answer_in(
    language: str,
    verdict: str,
    case: WaitCase,
    notes: Sequence[WaitingNote],
    steps: Sequence[Step],
    look: Sequence[Step],
    keep: bool,
) -> Document:
    """The whole answer, with steps that have a command; `keep`: whether the job is best left where it is."""
    told = labels()[language]
    facts = [*head_facts(case, told), *(fact for note in notes for fact in note.facts)]
    job = case.job
    who = f"**{job.id.strip()}{f' ({job.name})' if job.name else ''}**: " if job.id.strip() else ""
    parts: list[Part] = [Paragraph(f"{who}{verdict}"), Paragraph(spoken_facts(facts, told))]
    if case.anothers:
        parts.append(Paragraph(told["theirs"].format(case.job.user)))
    elif keep and all(fact.label != "keep" for fact in facts):  # said already, to what was asked
        parts.append(Paragraph(told["keep"]))
    named = tuple(Step(told[what_it_does(step.command)], step.command) for step in steps if step.command)
    parts += [Steps(named)] if named else []
    parts += [Paragraph(told["put-in"])] if any(open_names(step.command) for step in named) else []
    parts += [Paragraph(f"{told['look']}:"), Steps(tuple(look))] if look else []
    rest = [
        line
        for note in notes
        if not note.facts
        for line in (f"{note.instead}." * bool(note.instead), note.says)
        if line
    ]
    parts += [Paragraph(f"{told['details']}: {' '.join(rest)}")] if rest else []
    return Document(tuple(parts))


def what_it_does(command: str) -> str:
    return next((name for name, pattern in DOES.items() if re.search(pattern, command)), "do-other")
