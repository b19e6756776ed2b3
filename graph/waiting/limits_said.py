"""Limits and sizes that the person tells in words, or in a row that no reader knows: `each host has 4`, `node=4`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from graph.waiting.amounts import amount, on_one_node, resource_of, size
from graph.waiting.case import WaitCase
from graph.waiting.spoken import TOLD
from graph.waiting.words import tables, with_parts
from knowledge.schedulers.command_lines import prompted

if TYPE_CHECKING:
    from graph.waiting.limit_tables import LimitSeen

UNITS: Mapping[str, str] = tables()["units"]
UNIT = "|".join(f"(?P<{name}>{words})" for name, words in UNITS.items())
FRAGMENTS: Mapping[str, str] = tables()["fragments"]
AMOUNT = FRAGMENTS["AMOUNT"].replace("{UNIT}", UNIT)


def compiled(text: str) -> re.Pattern[str]:
    """A pattern of words.yaml with its fragments put in."""
    return re.compile(with_parts(text, {**FRAGMENTS, "AMOUNT": AMOUNT}))


ON_A_NODE, IN_ALL = (tuple(map(compiled, tables()[name])) for name in ("on_a_node", "in_all"))
TOLD_AMOUNTS = {name: compiled(pattern) for name, pattern in tables()["told_amounts"].items()}
ALLOWED, PER_WHO, PAIR, REQUEST = (TOLD_AMOUNTS[name] for name in ("allowed", "per_who", "pair", "request"))
EACH, ONE_RUNS, ON_A_CORE, USED = (TOLD_AMOUNTS[name] for name in ("each", "one_runs", "on_a_core", "used"))
HOURS_SAID, STILL_LEFT, CLAUSE = (TOLD_AMOUNTS[name] for name in ("hours_said", "still_left", "clause"))
NEEDS, ASKS, IDLE_SAID = (TOLD_AMOUNTS[name] for name in ("needs", "asks", "idle_said"))


# What is asked for, and not how long it waits.
SIZES_OF = ("gpu", "cpu", "node", "mem")


def hours_left_said(case: WaitCase) -> tuple[float, str] | None:
    """The hours that the person says are left of a budget, and of what (`gpu`, `node`, `cpu`; empty: not told)."""
    for clause in CLAUSE.split(sentences(case)):
        found = HOURS_SAID.search(clause)
        if not found or not STILL_LEFT.search(clause) or re.search(r"(?i)\b(?:runs?|limit|wait\w*)\b", clause):
            continue
        word = (found["of"] or found["behind"] or "").lower()
        of = next((name for name, words in UNITS.items() if word and re.fullmatch(words, word, re.I)), "")
        return float(found["n"].replace(",", "")) * (1000 if found["k"] else 1), of
    return None


def on_a_node_said(case: WaitCase, of: str) -> float | None:
    """What the person says that one node has of it."""
    return next((one.most for one in sizes_said(case) if one.per == "node" and one.of == of), None)


def on_a_core_said(case: WaitCase) -> float | None:
    """The memory that the person says one core is to have."""
    told = (read(found, "") for found in ON_A_CORE.finditer(sentences(case)))
    return next((value for of, value in told if of == "mem" and value), None)


def sizes_said(case: WaitCase) -> Iterator[LimitSeen]:
    """What a node holds, and how many nodes there are, as the person says it."""
    from graph.waiting.limit_tables import LimitSeen

    words = sentences(case)
    for pattern in ON_A_NODE:
        for found in pattern.finditer(words):
            of, value = read(found, next(iter(on_one_node(case)), ""))
            if of in ("gpu", "cpu", "mem", "billing") and value:
                yield LimitSeen(of, value, "node")
    for pattern in IN_ALL:
        for found in pattern.finditer(words):
            place = f"the {found['place'].lower() or 'machine'}"
            yield LimitSeen("node", float(found["total"].replace(",", "")), "system", owner=place)


def limits_said(case: WaitCase) -> Iterator[LimitSeen]:
    """The number of the limit that the reason speaks of, where it stands in words or in a row without its head."""
    from graph.waiting.limit_tables import LimitSeen
    from graph.waiting.limits_told import spoken_of

    of, whose, counts = spoken_of(case)
    if not of or not case.found.reason.kind.startswith(("limit", "client")):
        return
    per = whose or "job"
    for line in CLAUSE.split(sentences(case)):
        if REQUEST.search(line):
            continue
        pairs = [(resource_of(found["name"].split(":")[0]), found["value"]) for found in PAIR.finditer(line)]
        values = [value for name, text in pairs if name == of and (value := amount(of, text))]
        told = (read(found, of) for told in (ALLOWED, PER_WHO) for found in told.finditer(line) if not pairs)
        for value in [*values, *(value for name, value in told if name == of and value)]:
            used = USED.search(line) or USED.search(sentences(case))
            held = amount(of, used["behind"] or used["before"]) if used else used_by_each(case, of)
            yield LimitSeen(of, value, per, held, counts)  # type: ignore[arg-type]


def used_by_each(case: WaitCase, of: str) -> float | None:
    """What running jobs hold together, where the person says how many there are and what each has."""
    jobs, value = each_said(case, of)
    return jobs * value or None


def each_said(case: WaitCase, of: str) -> tuple[int, float]:
    """How many running jobs the person tells of, and what each has; 0 and 0: it is not told."""
    found = EACH.search(sentences(case))
    if not found:  # `I have one job running with 192 cores`
        one = ONE_RUNS.search(sentences(case))
        name, value = read(one, of) if one and any(one[unit] for unit in UNITS) else ("", 0.0)
        return (1, value) if name == of and value else (0, 0.0)
    name, value = read(found, of)
    if name != of:
        return 0, 0.0
    spelled, count = FRAGMENTS["COUNT"].split("|"), found["jobs_of"].lower()
    return (spelled.index(count) % 5 + 2 if count in spelled else int(count)), value


def amounts_asked(case: WaitCase) -> dict[str, float]:
    """What the person says to ask for: `i asked 7-00:00:00`, `this one wants 192` (of what the reason speaks of)."""
    from graph.waiting.limits_told import spoken_of

    of, found = spoken_of(case)[0], dict[str, float]()
    for clause in CLAUSE.split(sentences(case)):
        said = ASKS.search(clause)
        told = re.search(rf"(?i){AMOUNT}", clause[said.end() :]) if said else None
        if said and not told:  # `ich habe 4 h verlangt`
            before = re.finditer(rf"(?i){AMOUNT}", clause[: said.start()])
            told = next((one for one in before if any(one[unit] for unit in UNITS)), None)
        name, value = read(told, of) if told else ("", 0.0)
        if value:
            found.setdefault(name, value)
    # The line that tells of the job by its number.
    for line in sentences(case).splitlines() if case.job.id.strip() and not case.job.fields else ():
        if re.search(rf"(?<![\w.-]){re.escape(case.job.id.strip())}(?![\w-])", line):
            told_there = [read(one, "") for one in re.finditer(rf"(?i){AMOUNT}", line) if any(one[u] for u in SIZES_OF)]
            found = {**{name: value for name, value in told_there if value}, **found}
            limit = re.search(r"\bTimeLimit=(\S+?)[,;)]*(?:\s|$)", line)
            found |= {"time": seconds} if limit and (seconds := amount("time", limit[1])) else {}
    sizes = (one for one in re.finditer(rf"(?i){AMOUNT}", sentences(case)) if one["gpu"] or one["cpu"] or one["node"])
    bare = [read(one, "") for one in sizes]
    alone = {name: value for name, value in bare if [one for one, _ in bare].count(name) == 1}
    if case.found.limit and case.found.limit.counts in ("minutes", "run-minutes") and not case.job.fields:
        found = {**{name: alone[name] for name in ("node", of) if name in alone}, **found}
    return found


def needs_said(case: WaitCase) -> float | None:
    """The seconds that the person says the run needs, where that is less than it asks for."""
    for clause in CLAUSE.split(sentences(case)):
        said = NEEDS.search(clause)
        told = re.search(rf"(?i){AMOUNT}(?P<rest> ?\d.*)?", clause[said.end() :]) if said else None
        name, value = read(told, "") if told else ("", 0.0)
        if told and name == "time" and value:  # `9 h 30 min`
            more = re.match(rf"(?i) ?{AMOUNT}", told["rest"] or "")
            also, minutes = read(more, "") if more else ("", 0.0)
            return value + (minutes if also == "time" else 0.0)
    return None


def idle_said(case: WaitCase) -> int | None:
    """The idle nodes that the person tells of; None where it is something else that is free."""
    found = IDLE_SAID.search(sentences(case))
    things = [words for name, words in UNITS.items() if name != "node"]
    other = found and any(re.search(rf"(?i)\b(?:{words})\b", found[0]) for words in things)
    return int(found[1]) if found and not other else None


def sentences(case: WaitCase) -> str:
    """What no reader knows, without the command lines."""
    return "\n".join(line for line in case.words.splitlines() if not prompted(line) or "|" in line or TOLD.match(line))


def read(found: re.Match[str], bare: str) -> tuple[str, float]:
    """The resource and the amount; a number without a unit is one of `bare`."""
    unit = next((name for name in UNITS if found[name]), "")
    text, of = found["n"].replace(",", ""), unit or bare
    if bare == "slot" and of == "cpu":
        of = "slot"
    if of == "time":
        word = (found["time"] or "").lower()
        each = 86400 if word.startswith(("d", "t", "j", "g")) else 60 if word.startswith("m") else 3600
        plain = re.fullmatch(r"\d+(?:\.\d+)?", text)
        return of, (float(text) * each if unit and plain else amount("time", text) if ":" in text else None) or 0.0
    if of == "mem":
        return of, size(f"{text}{found['mem'][0] if unit else ''}") or 0.0
    return of, amount(of, text) or 0.0
