"""How many nodes, how many GPUs, and of what: the table of ways in which people say it.

Rules run in order over the row of meanings; what one rule has read, the next ones do not see.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from graph.extraction.sentences.line import Line

MOST_GPUS_OF_A_NODE = 16


@dataclass(frozen=True, slots=True)
class Count:
    """One number read. field: nodes, gpus_per_node, total_gpus, or gpus where the words leave open which of the two.

    weak: an article was all there was ("a node"). boxed: said as 4xA100, as of one node.
    """

    field: str
    value: int
    first: int
    last: int
    weak: bool = False
    boxed: bool = False


FILL = r"(?:(?:cnt|<M>|<G>|<Q>|<X>|all|compute|different|separate|big|fat|gpu|of|single|more|entire|identical|worker|hopper|extra) ){0,3}"
NODE = rf"{FILL}node (?!hour )"
GPU = r"(?:(?:cnt|of|un|more|big|separate|individual|different|dedicated|<X>|<M>|all|full|total|physical) ){0,2}(?:(?:gpu|<G>)(?: -)?(?: <X>)? )+(?!hour )"
PER = (
    r"(?:(?:on|in|of|for|to|at) )?(?:(?:per|every|each|/|a|un) )+(?:of )?(?:<M> |<G> |<Q> |single |gpu |compute )?node "
)
LINK = r"(?:(?:with|of|have|use|on|get|its|is|should|all|cnt|,|each|up|their|need|uses) ){0,4}"
LINK0 = r"(?:(?:with|have|,|is|get|use) ){0,2}"
STOP = r"(?=(?:[,.;!?)/|-]|and|but|total|please|<\w>|so|on|for|with|$|now) ?)"
NOT_UNIT = r"(?!(?:node|x|gpu|<G>|rank|hour|min|day|week|m|g|sec|%|cnt node|per|each|<X>|k|b|gb|tb) )"
N, G, T, P, IGNORED = (rf"(?P<{name}>\d{{1,6}}) " for name in ("n", "g", "t", "p", "z"))

# Named groups are fields: n nodes, g GPUs per node, t GPUs in all, p GPUs (of which it is open), z nothing.
# one, single and article stand for 1.
RULES = tuple(
    re.compile(r"(?<= )" + pattern)
    for pattern in (
        # too big for one GPU
        rf"(?:big|large|gros|gross|grande|grand|fits?|fitting|passt|cabe|tient|entra|大) (?:\S+ ){{0,3}}?(?:1|a|un|single) {GPU}",
        # 2 of the 4 GPUs
        rf"{IGNORED}of (?:(?:our|my|your|these|those|all|its) )*\d+ {GPU}",
        # nodes=2 gpus_per_node=4; nodes, three of them
        rf"(?<!\d )(?:node|n) (?:is )?{N}(?:, |\. |; )?(?:gpu|rank|<G>|ppn) (?:per |/ |- per - )?(?:node )?(?:is )?{G}{NOT_UNIT}",
        rf"(?<!\d )ppn (?:is |- )?{G}",
        rf"node (?:, )?{N}of (?:them|those|these) ",
        rf"\d+ node to {N}{NOT_UNIT}",
        # 1ノードあたり8GPU
        rf"(?:1 |un )?node per {LINK0}{G}(?:cnt )?(?:{GPU}|{NOT_UNIT})",
        # 2x4, 2 nodes x 4 GPUs, 4 GPUs x 2 nodes
        rf"{N}(?:{NODE})?(?:x|@|by|times) {G}(?:x )?(?:{GPU})?(?:each |{PER})?(?!node |\d|x )",
        rf"{G}{GPU}x {N}{NODE}",
        # two 4-GPU nodes, 4xV100 nodes, eight quad-A100 nodes
        rf"(?:{N}(?:(?:x|full|of) )?)?{G}(?:- |x |- x )(?:gpu |<G> )+(?:- )?{NODE}",
        # 8 GPUs over 2 nodes
        rf"{T}(?:{GPU}|rank )(?:total )?(?:, )?(?:over|with) (?:all )?{N}{NODE}",
        # 4 GPUs per node, 8/node, 12 ppn, 4 each
        rf"(?:all )?{G}(?:{GPU}|rank )?(?:, )?{PER}(?!is \d)",
        rf"{G}(?:{GPU})on node (?!\d)",
        rf"{G}- (?:per|/) - node ",
        rf"{G}ppn ",
        rf"(?:gpu|<G>|rank) (?:/ |per |every |each |a |- per - )node (?:(?:is|-|of|number_of) )*{G}(?!node )",
        rf"{N}{NODE}(?:with |of |, |and |on |use |have )*(?:all )?{G}(?:{GPU})?(?:{PER}|each )",
        rf"(?:per|every|each|on each|/) (?:<M> |of (?:them|those) )?node {LINK}{G}(?:cnt )?{GPU}",
        rf"(?:per|every) node (?:is |, )?{G}(?:cnt )?{NOT_UNIT}",
        rf"{G}(?:{GPU}|rank )?(?:, )?each (?:node )?",
        rf"each (?:of (?:them|those|the|which) )?(?:node )?{LINK}{G}(?:{GPU}|{NOT_UNIT})",
        # 16 GPUs in total, world size 32, 64 ranks
        rf"{T}(?:{GPU}|rank )(?:(?:,|is|-) )?total ",
        rf"total (?:(?:of|is|number_of|gpu|rank|,|<G>|about) )*{T}(?:{GPU}|rank |{NOT_UNIT})",
        rf"{T}total (?:gpu|rank|<G>) ",
        rf"{T}total {STOP}",
        rf"{T}rank (?!\d)",
        # nodes: 4, gpus: 4
        rf"(?<!\d )(?<!cnt )(?<!per )(?<!per - )(?:number_of (?:of )?)?(?:node|(?<!/ )n(?= is)) (?:(?:is|-|number_of|set|to|for|be) )*{N}(?:cnt )?{NOT_UNIT}",
        rf"(?<!\d )(?:number_of (?:of )?)(?:gpu|<G>) (?:(?:is|-) )*{P}{NOT_UNIT}",
        rf"(?<!\d )(?:gpu|<G>) is {P}{NOT_UNIT}",
        # 4 nodes of 4, 2 nodes with four
        rf"{N}{NODE}(?:of|with|a|have|at|use) {G}{STOP}",
        rf"{N}{NODE}{G}(?=$)",
        # 8 (not 16) nodes
        rf"{N}not \d+ {NODE}",
        rf"{P}not \d+ {GPU}",
        # ranges say nothing certain; from 2 to 4 is 4
        rf"from \d+ (?:node )?to {N}{NODE}",
        rf"{IGNORED}(?:node )?(?:-|to|or) \d+ {NODE}",
        # 2n4g; 4 nodes
        rf"{N}node (?:x |, |and |/ )?{P}g ",
        rf"{N}(?:- )?{NODE}",
        rf"(?P<single>single) (?:- )?{NODE}",
        rf"(?<!gpu )(?<!multi )(?P<article>un|a) (?:<M> |single |<G> |gpu |whole |full )?node (?!have )",
        # 4 GPUs, 4xA100, A100 x4, a single GPU
        rf"{P}(?:- )?(?P<boxed>x )(?:gpu |<G> )+",
        rf"<G> (?P<boxed>x) {P}",
        rf"(?P<boxed>all ){P}(?:- )?{GPU}",
        rf"{P}(?:- )?{GPU}",
        rf"(?:gpu|<G>) {P}cnt ",
        rf"(?P<one>single) (?:- )?{GPU}",
        rf"(?P<one>un|a) (?:single )?gpu (?!node|<X>|memory|type)",
    )
)  # fmt: skip
FIELDS = {"n": "nodes", "g": "gpus_per_node", "t": "total_gpus", "p": "gpus"}
NEGATED = re.compile(
    r" (?:not|no longer|not <\w> or)(?: (?:on|at|with|use|the|more|than|need|want|just|have|exactly|total))* $"
)
LISTED = re.compile(r"(?<= )(?:,|/|\||;|_) (?P<value>\d{1,4}) (?=(?:,|/|\||;|\.|!|$|<\w>))")


def find_counts(line: Line) -> list[Count]:
    """Every count in the order of the text; those taken back ("not 4 nodes") are left out."""
    canon, found = line.canon, []
    for rule in RULES:
        for match in list(rule.finditer(canon)):
            if _wild(match):
                continue
            if not NEGATED.search(line.canon[: match.start()]):
                found += _read(line, match)
            canon = canon[: match.start()] + re.sub(r"\S", "_", match[0]) + canon[match.end() :]
    found.sort(key=lambda c: c.first)
    return found + _listed(line, canon, found)


def _wild(match: re.Match[str]) -> bool:
    """224x224 and the like."""
    got = match.groupdict()
    return bool(got.get("g")) and int(got["g"]) > 64


def _read(line: Line, match: re.Match[str]) -> list[Count]:
    first, last = line.at(match.start()), line.at(match.end() - 2)
    got = {name: value for name, value in match.groupdict().items() if value}
    counts = [
        Count(FIELDS[name], int(value), first, last, boxed="boxed" in got)
        for name, value in got.items()
        if name in FIELDS
    ]
    if "single" in got or "article" in got:
        counts.append(Count("nodes", 1, first, last, weak="article" in got))
    if "one" in got:
        counts.append(Count("gpus", 1, first, last, weak=got["one"] != "single"))
    return [replace(c, value=c.value) for c in counts if c.value > 0]


def _listed(line: Line, canon: str, found: list[Count]) -> list[Count]:
    """Bare numbers in a list: `polaris/ddp/4/4`, `frontier, 4 nodes, 8`."""
    has = {c.field for c in found}
    bare, position = [], 0
    while match := LISTED.search(canon, position):
        bare.append((int(match["value"]), line.at(match.start("value"))))
        position = match.end("value")
    if has & {"gpus_per_node", "gpus", "total_gpus"} or not bare:
        return []
    if "nodes" in has:
        value, at = bare[-1]
        return [Count("gpus_per_node", value, at, at)] if len(bare) == 1 and 0 < value <= MOST_GPUS_OF_A_NODE else []
    if len(bare) == 2 and 0 < bare[1][0] <= MOST_GPUS_OF_A_NODE and bare[0][0] > 0:
        return [
            Count("nodes", bare[0][0], bare[0][1], bare[0][1]),
            Count("gpus_per_node", bare[1][0], bare[1][1], bare[1][1]),
        ]
    return []


@dataclass(frozen=True, slots=True)
class Layout:
    """What the counts come to."""

    nodes: int | None = None
    gpus_per_node: int | None = None
    total_gpus: int | None = None
    one_gpu: bool = False


def settle(counts: list[Count], nodes_before: int | None, most_per_node: int | None, articles: bool) -> Layout:
    """Nodes, GPUs per node and total from what was said; the last word wins.

    most_per_node: devices of the machine's largest node, None where it is not known: 16 GPUs on 2 nodes of 8 are a total.
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
    return Layout(nodes, per_node, total, one)


def _place(
    plain: Count, nodes: int | None, before: int | None, per_node: int | None, total: int | None, most: int | None
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
    too_many = bool(most) and value > (most or 0) and known > 1 and value % known == 0 and value // known <= (most or 0)
    return (nodes, value // known, value) if too_many else (nodes, value, None)
