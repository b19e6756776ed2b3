"""How many nodes, how many GPUs, and of what: by the rules of grammar.yaml (`counts`), in their order."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from graph.extraction.sentences.asides import Aside, aside, asides
from graph.extraction.sentences.line import Line
from graph.extraction.sentences.patterns import pattern, pattern_list

MOST_GPUS_OF_A_NODE = 16
MOST_FIELDS = 3  # counts in one match


@dataclass(frozen=True, slots=True)
class SaidCount:
    """One number read. field: nodes, gpus_per_node, total_gpus, or gpus where the words leave open which of the two.

    weak: an article was all there was ("a node"). boxed: said as 4xA100, as of one node.
    """

    field: str
    value: int
    first: int
    last: int
    weak: bool = False
    boxed: bool = False


FIELDS = {"n": "nodes", "g": "gpus_per_node", "t": "total_gpus", "p": "gpus"}


def find_counts(line: Line) -> list[SaidCount]:
    """Every count in the order of the text; those taken back ("not 4 nodes") are left out."""
    canon, found = line.canon, []
    for rule in pattern_list("grammar.yaml", "counts"):
        for match in list(rule.finditer(canon)):
            if _wild(match):
                continue
            back = pattern("grammar.yaml", "listed", "negated").search(line.canon[: match.start()])
            # "not 5 nodes, 4 GPUs each" takes back the nodes only
            found += _read(line, match)[1 if " , " in match[0] else MOST_FIELDS :] if back else _read(line, match)
            canon = canon[: match.start()] + re.sub(r"\S", "_", match[0]) + canon[match.end() :]
    found.sort(key=lambda c: c.first)
    return found + _listed(line, canon, found)


def of_other_runs(line: Line, counts: list[SaidCount], stands: bool) -> set[Aside]:
    """The pieces that count for another run: this one's own count of the same stands beside them, or "now" behind.

    stands: a request with its counts stands from the turns before.
    """
    if stands:
        return {a for a in asides(line.canon) if a.elsewhere}
    own = {c.field == "nodes" for c in counts if aside(line, c.first) is None}
    told = {(a, c.field == "nodes") for c in counts if (a := aside(line, c.first))}
    return {a for a, nodes in told if (own and (a.others or nodes in own)) or _turned(line, a)}


def _turned(line: Line, told: Aside) -> bool:
    """Whether the words turn to one's own run behind what was told of another: `now`, `for me`."""
    rest = line.canon[told.end - 1 :]
    return " now " in rest or pattern("grammar.yaml", "asides", "turned").match(rest) is not None


def _wild(match: re.Match[str]) -> bool:
    """224x224 and the like."""
    got = match.groupdict()
    return bool(got.get("g")) and int(got["g"]) > 64


def _read(line: Line, match: re.Match[str]) -> list[SaidCount]:
    first, last = line.at(match.start()), line.at(match.end() - 2)
    got = {name: value for name, value in match.groupdict().items() if value}
    counts = [
        SaidCount(FIELDS[name], int(value), first, last, boxed="boxed" in got)
        for name, value in got.items()
        if name in FIELDS
    ]
    if "single" in got or "article" in got:
        counts.append(SaidCount("nodes", 1, first, last, weak="article" in got))
    if "one" in got:
        counts.append(SaidCount("gpus", 1, first, last, weak=got["one"] != "single"))
    return [replace(c, value=c.value) for c in counts if c.value > 0]


def _listed(line: Line, canon: str, found: list[SaidCount]) -> list[SaidCount]:
    """Bare numbers in a list: `polaris/ddp/4/4`, `frontier, 4 nodes, 8`."""
    has = {c.field for c in found}
    listed = pattern("grammar.yaml", "listed", "number")
    bare, position = [], 0
    while match := listed.search(canon, position):
        bare.append((int(match["value"]), line.at(match.start("value"))))
        position = match.end("value")
    if has & {"gpus_per_node", "gpus", "total_gpus"} or not bare:
        return []
    if "nodes" in has:
        value, at = bare[-1]
        return (
            [SaidCount("gpus_per_node", value, at, at)] if len(bare) == 1 and 0 < value <= MOST_GPUS_OF_A_NODE else []
        )
    if len(bare) == 2 and 0 < bare[1][0] <= MOST_GPUS_OF_A_NODE and bare[0][0] > 0:
        return [
            SaidCount("nodes", bare[0][0], bare[0][1], bare[0][1]),
            SaidCount("gpus_per_node", bare[1][0], bare[1][1], bare[1][1]),
        ]
    return []


@dataclass(frozen=True, slots=True)
class CountsLayout:
    """What the counts come to."""

    nodes: int | None = None
    gpus_per_node: int | None = None
    total_gpus: int | None = None
    one_gpu: bool = False


def settle(
    counts: list[SaidCount], nodes_before: int | None, most_per_node: int | None, articles: bool
) -> CountsLayout:
    """Nodes, GPUs per node and total from what was said; the last word wins.

    most_per_node: devices of the machine's largest node, None where it is not known; 16 GPUs on 2 nodes of 8 are a
    total.
    articles: whether "a node" counts as one.
    """
    last = {c.field: c for c in counts if not c.weak}
    weak = {c.field: c for c in counts if c.weak and articles}
    picked = weak | last
    nodes, per_node, total = (
        picked[f].value if f in picked else None for f in ("nodes", "gpus_per_node", "total_gpus")
    )
    plain = [c for c in counts if c.field == "gpus" and (not c.weak or articles)]
    if plain:
        nodes, per_node, total = _place(plain[-1], nodes, nodes_before, per_node, total, most_per_node)
    known = nodes or nodes_before
    if total and known and per_node is None and total % known == 0:
        per_node = total // known
    if total and per_node and known is None and total % per_node == 0:
        nodes = total // per_node
    one = bool(plain) and plain[-1].value == 1 and (known in (None, 1)) and per_node in (None, 1) and total in (None, 1)
    return CountsLayout(nodes, per_node, total, one)


def _place(
    plain: SaidCount, nodes: int | None, before: int | None, per_node: int | None, total: int | None, most: int | None
) -> tuple[int | None, int | None, int | None]:
    """GPUs of which the words leave open whether they are of one node or of the job."""
    value, known = plain.value, nodes or before
    if per_node is not None:
        fits = value == (known or 0) * per_node or (known is None and value > per_node and value % per_node == 0)
        return nodes, per_node, value if fits and total is None else total
    if total is not None:
        return nodes, (value if known and value * known == total else None), total
    if known is None:
        boxed = plain.boxed and value <= (most or 8)
        return nodes, (value if boxed else None), (None if boxed else value)
    whole_job = known > 1 and most is not None and value == known * most and value > most
    return (nodes, most, value) if whole_job else (nodes, value, None)
