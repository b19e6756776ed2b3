"""The mentions of a text: names by the lexicons, and what only has a shape (options, job ids, lines, ranks)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from graph.extraction.sentences.counts import find_counts
from graph.extraction.sentences.durations import find_durations
from graph.extraction.sentences.flags import find_flags
from graph.extraction.sentences.line import NUMBER, Line, NameSpan, make_line
from graph.extraction.sentences.names import find_names
from graph.extraction.sentences.taken import Taken
from graph.reading.utterance import Mention, MentionKind
from knowledge.data_file import read_data

# Amounts with a unit that plans are made of: tokens, GB, sequence length, batch, node hours, epochs, users.


AMOUNT = (
    r"(?P<number>\d{1,3}(?:[.,]\d{3})+(?!\d)|[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3})*[ \u00a0\u202f]000(?![\d.,]*\d)"
    r"|\d+(?:[.,]\d+)?)\s?(?P<scale>k|mio\.?|mln|mld|mrd\.?|bn|m|b|t"
    r"|thousand|tausend|mil (?:millones|milh[õo]es)|mil|milh[õo]es|millions?|millionen|millones|milioni|milion\w*"
    r"|billions?|milliarden?|milliards?|mds|miliard\w*|bilh[õo]es|miljard\w*|trillions?|billionen|bilion\w*"
    r"|тыс(?:яч[\u0430-\u044f]*|\.)?|миллион[\u0430-\u044f]*|млн|миллиард[\u0430-\u044f]*|млрд|十亿|億|亿|万)?"
)
HOURS = r"(?:hours?|hrs?|h|stunden|heures?|horas?|ore|小时|時間)"
THOUSANDS = re.compile(r"(?!0)\d{1,3}(?:[.,]\d{3})+")
# Units that are measured, not counted: three digits behind a point (`38.125 GB`) are a fraction.
MEASURED = ("GB", "TB", "second", "epoch", "token/parameter")
# `every 500 steps` is how often, `2 batch jobs` a kind of job.
HOW_OFTEN = r"(?<!\bevery )(?<!\bper )(?<!\bafter )(?<!\balle )(?<!\bcada )"
KIND_OF_JOB = r"(?!\s+(?:jobs?|scripts?|files?|queues?|partitions?|systems?|nodes?)\b)"
SCALE = {"k": 1e3, "thousand": 1e3, "tausend": 1e3, "万": 1e4, "m": 1e6, "mln": 1e6, "milli": 1e6, "milh": 1e6,
         "milio": 1e6, "亿": 1e8, "億": 1e8, "b": 1e9, "mld": 1e9, "mrd": 1e9, "bn": 1e9, "billi": 1e9, "bilh": 1e9,
         "milliar": 1e9, "miliar": 1e9, "miljard": 1e9, "mil mil": 1e9, "mds": 1e9, "mil": 1e3, "milion": 1e6,
         "тыс": 1e3, "тысяч": 1e3, "млн": 1e6, "миллион": 1e6, "миллиард": 1e9, "млрд": 1e9, "bilion": 1e12,
         "十亿": 1e9, "t": 1e12, "trilli": 1e12,
         "mio": 1e6, "billionen": 1e12}  # fmt: skip
FILLED = {"AMOUNT": AMOUNT, "HOURS": HOURS, "HOW_OFTEN": HOW_OFTEN, "KIND_OF_JOB": KIND_OF_JOB}


@cache
def patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Unit and pattern of each row; ASCII's letters bound a word: Chinese and Japanese write no blanks."""
    rows: list[list[str]] = read_data(Path(__file__).with_name("amounts.yaml"))
    for name, words in FILLED.items():
        rows = [[unit, written.replace(f"{{{name}}}", words)] for unit, written in rows]
    return tuple((unit, re.compile(rf"(?<![\w.])(?<!\d,){written}", re.I | re.A)) for unit, written in rows)


def find_sizes(text: str) -> Iterator[Mention]:
    """Quantity mentions with their unit; the value is in single units (`26B tokens`: 26e9), of a size in GB or TB."""
    for unit, shape in patterns():
        for match in shape.finditer(text):
            value = read_number(match["number"], match["scale"], unit) * _scale(match["scale"], unit)
            number = int(value) if value.is_integer() else value
            yield Mention("Quantity", match.start(), match.end(), match[0], number, unit)


def read_number(written: str, scale: str | None, unit: str) -> float:
    """`20,000`, `20 000`, `20.000` (of what is counted, where no scale stands behind it), `1.5`, `1,5`, `10^12`."""
    written = re.sub(r"\s", "", written)
    if written.startswith("10^"):
        return 10.0 ** int(written[3:])
    whole = THOUSANDS.fullmatch(written) and ("," in written or not (scale or unit in MEASURED))
    return float(written.replace(",", "").replace(".", "") if whole else written.replace(",", "."))


def _scale(word: str | None, unit: str) -> float:
    """`32k context` is 32,768 tokens, `10k images` 10,000."""
    if word and word.lower() == "k" and unit == "sequence":
        return 1024.0
    plain = (word or "").lower().rstrip(".")
    whole = SCALE.get(plain)
    return (
        whole
        or max(
            ((len(start), value) for start, value in SCALE.items() if len(start) > 3 and plain.startswith(start)),
            default=(0, 1.0),
        )[1]
    )


NAMED: dict[str, MentionKind] = {
    "machine": "Machine",
    "strategy": "Method",
    "framework": "Framework",
    "gpu": "Gpu",
    "model": "Model",
    "entry": "Path",
    "account": "Account",
    "queue": "Queue",
}
# What has a form of its own, in any language. The group `value` is what it means.
SHAPES: tuple[tuple[MentionKind, re.Pattern[str]], ...] = (
    ("Option", re.compile(r"(?<![\w/.-])(?P<value>--?[A-Za-z][\w.-]*(?:=\S*[^\s,;.?!])?)")),
    ("Variable", re.compile(r"(?<![\w$/.-])(?P<value>[A-Z][A-Z0-9]*_[A-Z0-9_]+(?:=\S*[^\s,;.?!])?)")),
    ("Option", re.compile(r"(?<![\w$/.-])(?P<value>[a-z][\w]*(?:[._][\w]+)*=[^\s,;=][^\s,;]*)")),
    ("Rank", re.compile(r"(?i)\b(?:rank|rang|rango|ранг)[ #]?(?P<value>\d{1,6})\b")),
    (
        "LineNumber",
        re.compile(r"(?i)\b(?:line|zeile|ligne|l[íi]nea|riga|linha|строк\w+|第|行)[ #]?(?P<value>\d{1,5})\b"),
    ),
    (
        "JobId",
        re.compile(r"(?i)(?<![\w.$=/:-])(?P<value>\d{4,9}(?:_\d+|\[\d*\])?(?:\.[a-z][\w-]*)?)(?![\w%/:.]*[\w%/:])"),
    ),
    ("JobId", re.compile(r"(?i)\b(?:job|jobid|id)[ #:]+(?P<value>\d{2,9})\b")),
    ("Path", re.compile(r"(?<![\w<])(?P<value>(?:~|\.{1,2}|\$\{?\w+\}?)?/[\w.$@{}~/+-]*[\w/}])")),
)


# Chinese and Japanese write no blank between a name and what goes with it.
UNPARTED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uff00-\uffef]")


def find_mentions(text: str) -> tuple[Line, tuple[Mention, ...]]:
    """The row of meanings of a text, and its mentions in order, none overlapping another."""
    flags = find_flags(text, prose=True)
    apart = [NameSpan("noise", "", f.start, f.end) for f in flags]
    places = _disjoint(apart)
    names = find_names(text, places)
    if UNPARTED.search(text):
        names = _disjoint([*names, *find_names(UNPARTED.sub(" ", text), places)])
    line = make_line(text, names)
    found = [*_shaped(text), *find_sizes(text), *_names(line), *_durations(line), *_quantities(line)]
    return line, tuple(sorted(_claimed(found), key=lambda m: m.start))


def _disjoint(spans: Iterable[NameSpan]) -> list[NameSpan]:
    out: list[NameSpan] = []
    for span in sorted(spans, key=lambda s: s.start):
        if not out or span.start >= out[-1].end:
            out.append(span)
    return out


def _claimed(found: Iterable[Mention]) -> list[Mention]:
    """Each piece of text belongs to the first that claims it."""
    out, taken = list[Mention](), Taken()
    for mention in found:
        if taken.is_free(mention.start, mention.end):
            out.append(mention)
            taken.add(mention.start, mention.end)
    return out


def _names(line: Line) -> Iterator[Mention]:
    for token in line.tokens:
        span = token.mention
        if span and span.kind in NAMED:
            text = line.text[token.start : token.end]
            yield Mention(NAMED[span.kind], token.start, token.end, text, span.value)


def _durations(line: Line) -> Iterator[Mention]:
    for one in find_durations(line):
        start, end = line.tokens[one.first].start, line.tokens[one.last].end
        yield Mention("Duration", start, end, line.text[start:end], one.seconds)


def _quantities(line: Line) -> Iterator[Mention]:
    """Every number, with the word behind it as its unit where it counts something."""
    counted = {i: c.field for c in find_counts(line) for i in range(c.first, c.last + 1)}
    for i, token in enumerate(line.tokens):
        if token.mention is None and NUMBER.fullmatch(token.key):
            unit = _unit(line, i, counted.get(i, ""))
            number = float(token.key)
            value = int(number) if number.is_integer() else number
            yield Mention("Quantity", token.start, token.end, line.text[token.start : token.end], value, unit)


FIELD_UNITS = {"nodes": "node", "gpus_per_node": "gpu", "total_gpus": "gpu", "gpus": "gpu"}
COUNTABLE = ("node", "gpu", "rank", "hour", "min", "day", "g")


def _unit(line: Line, at: int, field: str) -> str:
    behind = next((t.key for t in line.tokens[at + 1 : at + 3] if t.key in COUNTABLE), "")
    return behind or FIELD_UNITS.get(field, "")


def _shaped(text: str) -> Iterator[Mention]:
    """What has a form; a number of four digits that may be a year or a size is no job id."""
    for kind, shape in SHAPES:
        for match in shape.finditer(text):
            value: str | int = match["value"]
            if kind in ("Rank", "LineNumber"):
                value = int(match["value"])
            elif kind == "JobId" and not _is_job_id(match):
                continue
            yield Mention(kind, match.start(), match.end(), match[0], value)


def _is_job_id(match: re.Match[str]) -> bool:
    """Five digits or more that nothing counts, or a number that words call a job."""
    value = match["value"]
    if match[0] != value or not value.isdigit():
        return True
    return len(value) >= 5 and value[0] != "0" and value[-3:] not in ("000", "500")
