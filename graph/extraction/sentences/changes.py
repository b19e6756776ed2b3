"""Changes to what was said before: "double the nodes", "two fewer", "half of that", "back to 16"."""

from __future__ import annotations

import re

from graph.extraction.sentences.answers import COUNTED, bare_numbers, most_devices
from graph.extraction.sentences.choose import SaidValue
from graph.extraction.sentences.durations import hms
from graph.extraction.sentences.lexicon import FIELD_WORDS, fold
from graph.extraction.sentences.line import BEHIND_NUMBER, OF_THEM, Line
from graph.extraction.sentences.patterns import pattern
from graph.extraction.sentences.reading import SentenceReading
from knowledge.types import JobRequest

FACTORS = {"double": 2.0, "triple": 3.0, "halve": 0.5}
UNITS = {"node": "nodes", "gpu": "gpus_per_node", "hour": "walltime", "min": "walltime", "day": "walltime"}
MORE = ("increase", "raise", "extend", "bump", "lengthen", "prolong", "grow")
SHARES = {"third": 1 / 3, "quarter": 0.25, "quadruple": 4.0}
MOST_STAGE = 3  # of ZeRO
SHORTEST = 60  # seconds: a walltime changed by less was no number of time
SECONDS = {"hour": 3600, "min": 60, "day": 86400}
# What a person may leave open again, in words; of parts a withdrawal is an edit.
TAKEN_BACK = ("walltime", "queue", "account")
NUMERIC = ("nodes", "gpus_per_node", "total_gpus", "walltime")


def _change(name: str) -> re.Pattern[str]:
    return pattern("grammar.yaml", "changes", name)


def changes(reading: SentenceReading, before: JobRequest, asked: str | None) -> dict[str, SaidValue]:
    """The fields changed relative to `before`, and a bare number that corrects the count said last."""
    folded = fold(reading.message.said)
    return _sufficing(folded, before) or {**_one_change(reading, before, asked), **_added(folded, before)}


def _one_change(reading: SentenceReading, before: JobRequest, asked: str | None) -> dict[str, SaidValue]:
    line = reading.line
    if amount := _amount(fold(reading.message.said), before):
        return amount
    if stage := _stage(fold(reading.message.said), before):
        return stage
    if step := _step(line, before):
        return step
    if timed := _timed(fold(reading.message.said), before):
        return timed
    if not reading.counts and "walltime" not in reading.values and (scaled := _factors(line, before)):
        return {name: said for part, factor in scaled for name, said in _scaled(line, before, factor, part).items()}
    return _corrected(reading, before, asked)


def _amount(folded: str, before: JobRequest) -> dict[str, SaidValue]:
    """`extend it by an hour`, `drop one node`, `3x as many nodes`, `a third of the nodes`."""
    if found := _change("by").search(folded) or _change("dropped").search(folded):
        got = found.groupdict()
        field = _field(got["unit"] or got.get("what") or "")
        sign = 1 if (got.get("way") or "") in MORE else -1
        return _moved(before, field, sign * _number(got["n"]) * _seconds(got["unit"] or ""), found[0])
    if found := _change("times").search(folded):
        return _multiplied(before, _field(found["what"]), _number(found["n"]), found[0])
    if found := _change("share").search(folded):
        return _multiplied(before, _field(found["what"]), SHARES[found["share"]], found[0])
    return {}


def _added(folded: str, before: JobRequest) -> dict[str, SaidValue]:
    """`add an hour`, `tack on 30 minutes`: time that comes to the time before."""
    found = _change("added").search(folded)
    return _moved(before, "walltime", _number(found["n"]) * _seconds(found["unit"]), found[0]) if found else {}


def _sufficing(folded: str, before: JobRequest) -> dict[str, SaidValue]:
    """`2 reichen`, `2 again`: nodes, and of a job of one node its GPUs; what is enough is less than what stands."""
    found, field = _change("suffices").search(folded), "nodes" if (before.nodes or 0) > 1 else "gpus_per_node"
    held = getattr(before, field)
    value = int(found["n"]) if found else 0
    less = found and held and 0 < value != held and (found["anew"] or value < held)
    return {field: SaidValue(value, found[0])} if found and less else {}


def _timed(folded: str, before: JobRequest) -> dict[str, SaidValue]:
    """`cut the time to 6`: hours, or minutes where the time before was less than an hour."""
    found = _change("timed").search(folded)
    if not found or before.walltime is None or int(found["n"]) == 0:
        return {}
    unit = 3600 if seconds(before.walltime) >= 3600 else 60
    return {"walltime": SaidValue(hms(int(found["n"]) * unit), found[0])}


def withdrawn(folded: str, before: JobRequest) -> tuple[str, ...]:
    """The fields whose value words take back: `scrap the walltime`, `leave the queue open`."""
    told = [found["what"] or found["open"] for found in _change("withdrawn").finditer(folded)]
    names = (name for name in TAKEN_BACK for words in told if re.fullmatch(FIELD_WORDS[name], words))
    return tuple(name for name in dict.fromkeys(names) if getattr(before, name) is not None)


def is_relative(folded: str) -> bool:
    """Whether folded words change what stands by a step, a share or a factor."""
    return any(_change(name).search(folded) for name in ("by", "dropped", "times", "share", "stage"))


def _stage(folded: str, before: JobRequest) -> dict[str, SaidValue]:
    """`the next ZeRO stage`, `one stage lower`."""
    found, held = _change("stage").search(folded), before.strategy or ""
    if not found or not held.startswith("zero"):
        return {}
    down = (found["way"] or found["way2"]) in ("previous", "lower", "down", "back", "niedrigere", "niedriger")
    stage = int(held[-1]) + (-1 if down else 1)
    return {"strategy": SaidValue(f"zero{stage}", found[0])} if 1 <= stage <= MOST_STAGE else {}


def _field(words: str) -> str:
    """The field that words count; the time where they name neither nodes nor GPUs."""
    if re.search(r"\bnodes?\b", words):
        return "nodes"
    return "gpus_per_node" if re.search(r"\b(?:gpus?|cards?)\b", words) else "walltime"


def _number(word: str) -> float:
    words = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    if word.startswith("half"):
        return 0.5
    return float(word) if word.isdigit() else words.index(word) + 1 if word in words else 1


def _seconds(unit: str) -> int:
    return next((value for key, value in (("h", 3600), ("m", 60), ("d", 86400)) if unit.startswith(key)), 1)


def _moved(before: JobRequest, field: str, by: float, words: str) -> dict[str, SaidValue]:
    value = getattr(before, field)
    if value is None or (field == "walltime" and abs(by) < SHORTEST):
        return {}
    changed = (seconds(value) if field == "walltime" else value) + by
    return {field: SaidValue(hms(changed) if field == "walltime" else int(changed), words)} if changed > 0 else {}


def _multiplied(before: JobRequest, field: str, factor: float, words: str) -> dict[str, SaidValue]:
    """A count times a factor, where that is whole; more GPUs than a node has are more nodes."""
    value = getattr(before, field)
    if field == "gpus_per_node" and value is None:
        field, value = "total_gpus", before.total_gpus
    if value is None:
        return {}
    if field == "walltime":
        return {field: SaidValue(hms(seconds(value) * factor), words)}
    most = most_devices(before.machine)
    if field == "gpus_per_node" and most and value * factor > most and before.nodes:
        field, value = "nodes", before.nodes
    changed = round(value * factor, 6)
    return {field: SaidValue(int(changed), words)} if changed >= 1 and changed == int(changed) else {}


def _factors(line: Line, before: JobRequest) -> list[tuple[str, float]]:
    """Each piece of the message that doubles or halves something, and by how much."""
    if _change("no_factor").search(line.canon):
        return []
    parts = [f" {part.strip()} " for part in _change("part").split(line.canon)]
    found = [(part, factor) for part in parts for key, factor in FACTORS.items() if f" {key} " in part]
    again = _factor_before(before) if not found and _change("again").search(line.canon) else None
    return [(line.canon, again)] if again else found


def rescaled(reading: SentenceReading) -> dict[str, SaidValue]:
    """`16 nodes, actually half of that`: a first message that changes its own count."""
    line = reading.line
    for key, factor in FACTORS.items():
        at = line.canon.find(f" {key} ")
        nodes = [c for c in reading.counts if c.field == "nodes" and line.starts[c.last] < at]
        if at >= 0 and nodes and (nodes[-1].value * factor).is_integer():
            return {"nodes": SaidValue(int(nodes[-1].value * factor), line.words(nodes[-1].first, line.at(at + 1)))}
    return {}


def seconds(walltime: str) -> int:
    hours, minutes, rest = (int(part) for part in walltime.split(":"))
    return hours * 3600 + minutes * 60 + rest


def last_number(before: JobRequest) -> str | None:
    """The numeric field heard last."""
    return next((h.field for h in reversed(before.heard) if h.field in NUMERIC and getattr(before, h.field)), None)


def _factor_before(before: JobRequest) -> float | None:
    words = next((h.words.lower() for h in reversed(before.heard) if h.field in NUMERIC), "")
    return 2.0 if re.search(r"doubl|twice|doppel|dobl", words) else 0.5 if re.search(r"hal[fv]", words) else None


def _scaled(line: Line, before: JobRequest, factor: float, part: str) -> dict[str, SaidValue]:
    each = re.search(r" (?:gpu|<G>) (?:per|a|an|each|on) (?:each )?node ", part)
    named = next((name for name in ("nodes", "gpus_per_node", "walltime") if _change(name).search(part)), None)
    named = "gpus_per_node" if each else named
    long = before.walltime and _change("long").search(fold(line.text))
    field = named or ("walltime" if long else last_number(before))
    return _multiplied(before, field, factor, line.words(0, len(line.tokens) - 1)) if field else {}


def _step(line: Line, before: JobRequest) -> dict[str, SaidValue]:
    match = _change("step").search(line.canon) or _change("step_after").search(line.canon)
    if not match:
        return {}
    got = match.groupdict()
    unit, way = got["unit"] or got.get("unit2") or "", got["way"] or got.get("way2")
    field = UNITS[unit]
    value = getattr(before, field)
    if value is None:
        return {}
    by = int(got["n"]) if (got["n"] or "").isdigit() else 1
    sign = -1 if way == "less" else 1
    words = line.words(line.at(match.start() + 1), line.at(match.end() - 2))
    if field == "walltime":
        changed = seconds(value) + sign * by * SECONDS[unit]
        return {field: SaidValue(hms(changed), words)} if changed > 0 else {}
    return {field: SaidValue(value + sign * by, words)} if value + sign * by > 0 else {}


def _ends(line: Line, token: int) -> bool:
    """Whether a bare number counts nothing that stands behind it."""
    behind = [t.key for t in line.tokens[token + 1 : token + 3]]
    return not behind or behind[0] in BEHIND_NUMBER or behind in OF_THEM


# Words before a bare number that give it no name of its own.
NO_NAMES = re.compile(
    r"(?:no|nope|sorry|oops|rather|make|makes|made|it|to|use|take|then|and|back|actually|with|on|want|wanted|meant?|mean|be|only"
    r"|just|ok|okay|not|but|now|say|said|better|let|go|for|is|should|hm+|wait|please|so|or|of|them|too|i|we|need|maybe|at|the"
    r"|keep|put|give|try|was|right|of|a|nee|nein|doch|lieber|non|plut[oô]t|mejor|no,|meglio|anzi|che|que|und|et|y|e|ou|mais|pero|ma)",
    re.I,
)


def _is_named(line: Line, token: int) -> bool:
    """Whether a word right before a number says what it is: `batch 32`, `accumulate 4`; it corrects no size then."""
    before = re.search(r"([^\W\d_][\w-]*)\s+$", line.text[: line.tokens[token].start])
    return before is not None and not NO_NAMES.fullmatch(before[1])


def _is_old(line: Line, token: int) -> bool:
    """Whether a number is what something was: `stage 2 instead of 3`."""
    return _change("old").search(f" {line.text[: line.tokens[token].start].lower()}") is not None


def _corrected(reading: SentenceReading, before: JobRequest, asked: str | None) -> dict[str, SaidValue]:
    """A bare number when nothing was asked, or said as a correction: it is of what was heard last."""
    numbers = [(int(n), i) for n, i in bare_numbers(reading) if n.is_integer() and n > 0 and _ends(reading.line, i)]
    numbers = [(n, i) for n, i in numbers if not _is_named(reading.line, i) and not _is_old(reading.line, i)]
    field = last_number(before)
    corrects = _change("corrects").search(reading.line.canon) is not None
    if not numbers or field is None or reading.counts or len(reading.line.tokens) > 14:
        return {}
    if _change("of_other_things").search(reading.line.canon):
        return {}
    if asked in COUNTED and _change("only").search(reading.line.canon):
        return {}  # `All 4 GPUs? - no, only 2`
    if asked and (not corrects or field in (asked, "total_gpus", "walltime")):
        return {}
    if {"nodes", "gpus_per_node", "total_gpus", "walltime"} & reading.values.keys():
        return {}
    if before.gpus_per_node and " gpu " in reading.line.canon and " node " not in reading.line.canon:
        field = "gpus_per_node"
    value, token = numbers[-1]
    words = reading.line.words(token, token)
    held = getattr(before, field) if field != "walltime" else None
    lessens = _change("lessens").search(fold(reading.message.said))
    if lessens and held and held <= value and before.walltime and seconds(before.walltime) > value * 3600:
        return {"walltime": SaidValue(hms(value * 3600), words)}  # `cut it to 12`, of 2 nodes for 24 h
    if before.gpus_per_node and _change("with").search(reading.line.left(token)) and value <= 16:
        field = "gpus_per_node"
    if field == "walltime":
        heard = next(h.words for h in reversed(before.heard) if h.field == field)
        return {field: SaidValue(hms(value * (60 if "min" in heard.lower() else 3600)), words)}
    return {field: SaidValue(value, words)}
