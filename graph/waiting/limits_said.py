"""Limits and sizes that the person tells in words, or in a row that no reader knows: `each host has 4`, `node=4`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from graph.waiting.amounts import amount, on_one_node, resource_of, size
from graph.waiting.case import WaitCase
from graph.waiting.spoken import TOLD
from knowledge.schedulers.command_lines import prompted

if TYPE_CHECKING:
    from graph.waiting.limit_tables import LimitSeen

# Words for an amount of a resource, in the languages that are asked in.
UNITS: tuple[tuple[str, str], ...] = (
    ("gpu", r"gpus?|apus?|gcds?|accelerators?|cards?|karten|卡|a100s?|h100s?|v100s?"),
    ("node", r"nodes?|knoten|n[oœ]e?uds?|nodos?|nodi|nós|w[eę]z\w+"),
    ("cpu", r"(?:cpu[ -])?cores?|cpus?|kerne?|c[oœ]e?urs|núcleos|slots?"),
    ("mem", r"[gt](?:i?b)?(?: of)?(?: (?:ram|memory))?"),
    (
        "time",
        r"h|hrs?|hours?|stunden|heures?|horas?|ore|uur|小时|時間|시간|days?|d|tage?|jours?|días?|dias?|giorni|min(?:ute)?s?",
    ),
    ("jobs", r"jobs?"),
)
UNIT = "|".join(f"(?P<{name}>{words})" for name, words in UNITS)
# Nobody tells a limit of more digits: a longer run of them would be gone through again from each of its digits.
NUMBER = r"(?<![\d.,])(?P<n>(?:\d{1,3}-)?\d{1,10}(?:[.,]\d{1,6}){0,4}(?::\d\d){0,2})(?!\d)"
AMOUNT = rf"{NUMBER}[ -]?(?:[个枚块张台장] ?)?(?:(?:{UNIT})\b)?"
HOST = r"(?:nodes?|hosts?|knoten|n[oœ]e?uds?|nodos?|nodi|nós?|węz\w+)"
HAS = r"(?:has|have|holds?|with|hat|haben|mit|a|ont|avec|tiene|tienen|con|ha|hanno|tem|têm|com|heeft|hebben|met|ma)"
ON_A_NODE = (
    re.compile(rf"(?i)\b{HOST}(?: only| nur| seulement| solo| só)? {HAS}(?: only| nur| seulement| solo| só)? {AMOUNT}"),
    re.compile(rf"(?i){AMOUNT} (?:a|per|each|on each|on (?:a|one)|in each|pro|je|par|por|per ogni|na)[ /]?{HOST}\b"),
    re.compile(rf"(?i)(?:每个?节点|各ノード|ノードあたり|노드당)\D{{0,4}}{AMOUNT}"),
)
PLACE = r"(?P<place>machine|cluster|system|partition|queue)"
TOTAL = r"(?<!\d)(?P<total>\d[\d,]{0,9})"
IN_ALL = (
    re.compile(rf"(?i){TOTAL}[ -]nodes? {PLACE}\b"),
    re.compile(rf"(?i)\b{PLACE}[^.\n\d]{{0,20}} (?:has|have|holds)(?: only| just)? {TOTAL}(?: [a-z]+)? nodes\b"),
    re.compile(rf"(?i)\b(?:there are|we have)(?: only| just)? {TOTAL} nodes\b(?P<place>)"),
)
ALLOWED = re.compile(
    rf"(?i)\b(?:(?:qos|account|group|project|queue)\b[^.\n\d]{{0,20}} has|"
    rf"limit\w*|max\w*|at most|allow\w*|cap(?:ped)?|up to|may (?:use|have|hold|run)|erlaubt|höchstens|darf|"
    rf"dürfen|au plus|peut|máximo|puede|massimo|può)\b[^.\n\d]{{0,25}}{AMOUNT}"
)
PAIR = re.compile(r"(?<![\w/-])(?P<name>[a-z][\w/]*(?::[\w-]+)?)=(?P<value>\d+(?:\.\d+)?[KMGT]?)\b")
# A line that tells a request and no limit.
REQUEST = re.compile(
    r"(?i)--|\b(?:ask\w*|request\w*|want\w*|need\w*|(?<!may )use|using|submitted)\b|#(?:SBATCH|PBS|BSUB)"
)
# What several jobs hold: `3 running with 256G each`.
EACH = re.compile(rf"(?i)(?P<jobs_of>\d{{1,3}}) (?:\w+ ){{0,2}}running[^.\n\d]{{0,20}}{AMOUNT} each\b")


# `500 GPU hours`, `300 horas de GPU`, `4 k node-h`, and the words that make it what is left of a budget.
HOUR_WORD = r"(?:h|hrs?|hours?|stunden|heures?|horas?|ore|uren|uur|godzin\w*)"
HOURS_OF = r"(?P<of>gpu|node|core|cpu|knoten|kern|n[oœ]e?uds?|nodos?|nodi|c[oœ]e?urs?)s?"
HOURS_SAID = re.compile(
    rf"(?i)(?<![\d.:])(?P<n>\d[\d,]{{0,9}}(?:\.\d+)?)(?P<k> ?k)?(?:[ -]*{HOURS_OF})?[ -]*"
    rf"(?:{HOUR_WORD}\b|小时|時間|시간)(?:[ -](?:de |di |d['\u2019])?{HOURS_OF.replace('?P<of>', '?P<behind>')}\b)?"
)
STILL_LEFT = re.compile(
    r"(?i)\b(?:left|remain\w*|balance|available|übrig|noch|verbleib\w*|rest\w*|qued\w+|sobr\w+|rim\w+|over|zostało)\b|"
    r"剩|残|남"
)


def hours_left_said(case: WaitCase) -> tuple[float, str] | None:
    """The hours that the person says are left of a budget, and of what (`gpu`, `node`, `cpu`; empty: not told)."""
    for clause in CLAUSE.split(sentences(case)):
        found = HOURS_SAID.search(clause)
        if not found or not STILL_LEFT.search(clause) or re.search(r"(?i)\b(?:runs?|limit|wait\w*)\b", clause):
            continue
        word = (found["of"] or found["behind"] or "").lower()
        of = next((name for name, words in UNITS if word and re.fullmatch(words, word, re.I)), "")
        return float(found["n"].replace(",", "")) * (1000 if found["k"] else 1), of
    return None


def on_a_node_said(case: WaitCase, of: str) -> float | None:
    """What the person says that one node has of it."""
    return next((one.most for one in sizes_said(case) if one.per == "node" and one.of == of), None)


def sizes_said(case: WaitCase) -> Iterator[LimitSeen]:
    """What a node holds, and how many nodes there are, as the person says it."""
    from graph.waiting.limit_tables import LimitSeen

    words = sentences(case)
    for pattern in ON_A_NODE:
        for found in pattern.finditer(words):
            of, value = read(found, next(iter(on_one_node(case)), ""))
            if of in ("gpu", "cpu", "mem") and value:
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
        told = (read(found, of) for found in ALLOWED.finditer(line) if not pairs)
        for value in [*values, *(value for name, value in told if name == of and value)]:
            used = USED.search(line) or USED.search(sentences(case))
            held = amount(of, used["behind"] or used["before"]) if used else used_by_each(case, of)
            yield LimitSeen(of, value, per, held, counts)  # type: ignore[arg-type]


def used_by_each(case: WaitCase, of: str) -> float | None:
    """What running jobs hold together, where the person says how many there are and what each has."""
    found = EACH.search(sentences(case))
    name, value = read(found, of) if found else ("", 0.0)
    return int(found["jobs_of"]) * value if found and name == of and value else None


# Where one statement ends and the next begins.
CLAUSE = re.compile(
    r"\n|[;!?\uff0c\u3002\uff1b\uff01\uff1f\u3001]|,(?!\d)|\.(?!\d)|"
    r"\b(?:and|but|und|aber|et|mais|y|pero|e|ma|en|maar)\b"
)


def amounts_asked(case: WaitCase) -> dict[str, float]:
    """What the person says to ask for: `i asked 7-00:00:00`, `this one wants 192` (of what the reason speaks of)."""
    from graph.waiting.limits_told import spoken_of

    of, found = spoken_of(case)[0], dict[str, float]()
    for clause in CLAUSE.split(sentences(case)):
        said = ASKS.search(clause)
        told = re.search(rf"(?i){AMOUNT}", clause[said.end() :]) if said else None
        if said and not told:  # `ich habe 4 h verlangt`
            before = re.finditer(rf"(?i){AMOUNT}", clause[: said.start()])
            told = next((one for one in before if any(one[unit] for unit, _ in UNITS)), None)
        name, value = read(told, of) if told else ("", 0.0)
        if value:
            found.setdefault(name, value)
    return found


ASKS = re.compile(
    r"(?i)\b(?:ask(?:s|ed|ing)?(?: for)?|request\w*|wants?|needs?|submitted with|verlang\w*|brauch\w*|beantrag\w*|"
    r"demand\w*|ped[ií]\w*|pid\w+|solicit\w+|chie[ds]\w+|vraag\w*)\b|申请|要求|申請"
)


IN_USE = r"(?:used|in use|taken|busy|utilis\w+|belegt|verbraucht|usad\w+|en uso|em uso|in uso|in gebruik)"
USED = re.compile(
    rf"(?i)\b{IN_USE}[ :=]*(?P<behind>\d{{1,12}})(?!\d)|"
    rf"(?<![\d.])(?P<before>\d{{1,12}})(?: [a-z]+){{0,3}} {IN_USE}\b(?![ :=]*\d)"
)
IDLE_SAID = re.compile(
    r"(?i)(?<![\d.])(\d{1,6}) (?:[^\W\d]+ ){0,2}(?:idle|free|frei\w*|libres?|livres|liber[eio]|vrij\w*|wolne|woln\w+)\b"
)


def idle_said(case: WaitCase) -> int | None:
    """The idle nodes that the person tells of; None where it is something else that is free."""
    found = IDLE_SAID.search(sentences(case))
    other = found and any(re.search(rf"(?i)\b(?:{words})\b", found[0]) for name, words in UNITS if name != "node")
    return int(found[1]) if found and not other else None


def sentences(case: WaitCase) -> str:
    """What no reader knows, without the command lines."""
    return "\n".join(line for line in case.words.splitlines() if not prompted(line) or "|" in line or TOLD.match(line))


def read(found: re.Match[str], bare: str) -> tuple[str, float]:
    """The resource and the amount; a number without a unit is one of `bare`."""
    unit = next((name for name, _ in UNITS if found[name]), "")
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
