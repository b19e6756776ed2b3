"""What a sentence says that a queue or a node holds, against the facts of the machine: the fact is told beside what
contradicts it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

from graph.conversing.claims import CODE, beside_queue, queue_names
from graph.conversing.dangers import note, spoken
from graph.conversing.ground import Amounts, Ground, stands
from graph.conversing.numbers import COUNTED, NO_NUMBERS, NUMERAL, Quantity, quantities, times_of
from graph.conversing.said import in_digits
from knowledge.cluster import Cluster, Queue, walltime_seconds

FILLERS = r"(?:\s+(?:jobs?|about|of|for|a|an|only|nur|de))*[\s`*~]*$"
LIMITING = spoken("limiting")
LIMIT = re.compile(rf"(?:{LIMITING.pattern}|\bl[ií]mite?\b[^.,;:\d]{{0,40}}\b(?:is|ist|est|es)){FILLERS}", re.I)
# Limits beside each other behind one such word: `takes 1-64 nodes and 48 h`.
BESIDE = re.compile(
    rf"(?:{NUMERAL}(?::\d\d)*(?:[ -]?[^\W\d]+){{0,2}}?\s*"
    r"(?:[-\u2013]|,|\b(?:to|and|for|on|bis|und|für|auf|et|pour|sur|à|y|por|en|a|e|per|su)\b)\s*"
    rf"(?:{LIMITING.pattern}\s*)?)+$",
    re.I,
)
# `GPU-shared, time limit 8 h`: what a job asks for.
OF_JOB = re.compile(r"\b(?:time[ -]?limit|wall[ -]?time|Zeitlimit)[\s:=`*]*$", re.I)
SEVERAL = frozenset(("node", "gpu", "time"))
# A number of a sum: `1 node x up to 1 h = 1 SU`.
SUM_BEFORE, SUM_BEHIND = re.compile(r"[x\u00d7*=][^.;,\d]{0,12}$"), re.compile(r"[^.;,\d]{0,12}[x\u00d7*=]")
# A verb that a job's own length may stand behind (`it takes about 2 h`).
TAKING = re.compile(rf"{spoken('taking').pattern}{FILLERS}", re.I)
# `--qos=debug`, as a setting of a script in words.
QUEUE_SETTING = re.compile(r"--(?:partition|qos|queue)[= ]([\w.-]+)")
# `debug allows ...`
BEFORE_LIMIT = re.compile(rf"[\w-]+(?= {LIMITING.pattern[2:]})", re.I)
OF_EACH = re.compile(spoken("has").pattern + FILLERS, re.I)
# `Your 2 nodes have 8 GPUs` tells of them together.
ENDS_COUNTED = re.compile(r"\d\s*$")
OF_QUEUE = re.compile(f"{spoken('queue').pattern}|{spoken('walltime').pattern}", re.I)
# A word for what a site sets, and the number beside it; what is worked out (`= 1.1 TB`) is no site's.
POLICY = spoken("policy").pattern
POLICY_BEFORE = re.compile(rf"{POLICY}[^.,;:()=|\d]{{0,25}}$", re.I)
POLICY_BEHIND = re.compile(rf"\s*(?:[KMGTP]i?[Bo]\s+)?(?:of\s+)?{POLICY}", re.I)
PRICE_BEHIND = re.compile(
    r"\s*[^\W\d]+(?: \w+)? (?:per|pro|par|por|an?) (?:\w+ )?"
    r"(?:(?:node|GPU|core|card)[- ]?hour|Knotenstunde|GPU-Stunde|heure|hora)",
    re.I,
)
POLICY_KINDS = frozenset(("time", "K", "M", "G", "T", "P"))
# Shorter ones are no time for which files are kept.
SHORTEST_KEPT = 24.0
NUMBER_SPAN = re.compile(rf"`({NUMERAL}(?::\d\d)*(?:\s?\w+)?)`")
# A working that is written out.
WORKS_OUT = re.compile(r"\d[^.;\d]{0,20}?(?:[x\u00d7*/+=]|\b(?:times|mal|fois|por)\b)[^.;\d]{0,20}?\d")
# A product of gigabytes told in terabytes; numbers that are weighed.
SCALES, MOST_WORKED = (1.0, 1000.0, 1024.0), 30
OF_PAGES = note("of_pages")


@dataclass(frozen=True, slots=True)
class AgainstFacts:
    """facts: what our pages say, where a sentence contradicts it; odd: site's numbers that stand nowhere; derived: the
    numbers that the sentence itself works out."""

    facts: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()
    derived: frozenset[float] = frozenset()


def judge(
    sentence: str, ground: Ground, at: Sequence[Cluster], worked: Iterable[float] = (), language: str = ""
) -> AgainstFacts:
    """The limits, sizes of nodes and rules of a site that a sentence tells. at: the machines that it may be about;
    worked: the numbers of the words before, of which one here may be worked out; language: of the facts' words."""
    plain = in_digits(NO_NUMBERS.sub(" ", CODE.sub(" ", NUMBER_SPAN.sub(r"\1", sentence))))
    said = [*times_of(plain), *quantities(plain)]
    told: dict[str, None] = {}
    odd = []
    named, derived = limited_queues(sentence, at), set[float]()
    own = ground.own().kinds if WORKS_OUT.search(plain) else ()
    for n, one in enumerate(said):
        beside = [value for other in (*said[:n], *said[n + 1 :]) for value in other.values]
        others = (*worked, *beside)
        if is_worked_out(one, beside):
            derived |= one.values
        known = is_worked_out(one, others) or ground.tells(one.values, one.kind, at) or is_worked_out(one, own, beside)
        limited = of_which(sentence, one, named, at)
        before = BESIDE.sub("", one.before) if one.kind in SEVERAL else one.before
        limits = LIMIT.search(before) is not None and not is_of_sum(one, plain)
        each = OF_EACH.search(one.before) if one.kind == "gpu" else None
        if each and not ENDS_COUNTED.search(one.before[: each.start()]):
            told.update(dict.fromkeys(of_nodes(one, at, language)))
        elif limits and limited:
            facts, unknown = of_queues(one, limited, ground, others, language)
            told.update(dict.fromkeys(facts))
            odd += [shown(one, plain)] * (unknown and not known)
        elif limits and one.kind == "time" and OF_QUEUE.search(one.before):
            odd += [shown(one, plain)] * (not known and not is_some_limit(one, at))
        elif is_policy(one, plain):
            odd += [shown(one, plain)] * (not known)
    return AgainstFacts(tuple(told), tuple(dict.fromkeys(odd)), frozenset(derived))


def is_of_sum(one: Quantity, plain: str) -> bool:
    """Whether a number is a part or the result of a sum that is written out."""
    return SUM_BEFORE.search(one.before) is not None or SUM_BEHIND.match(plain[one.end :]) is not None


def of_which(
    sentence: str, one: Quantity, named: Sequence[tuple[int, str]], at: Sequence[Cluster]
) -> list[tuple[Cluster, Queue]]:
    """The queue whose limit a number is: the one named last before it, or the first behind it. A common name (`debug`)
    is no queue of one machine where several are spoken of."""
    place = sentence.find(one.text)
    before = [name for start, name in named if place < 0 or start < place]
    name = before[-1] if before else named[0][1] if named else ""
    found = [(cluster, queue) for cluster in at if (queue := cluster.queue(name))]
    return [pair for pair in found if len(at) == 1 or pair[1].id.lower() == name]


def of_queues(
    one: Quantity, limited: Sequence[tuple[Cluster, Queue]], ground: Ground, beside: Sequence[float], language: str
) -> tuple[list[str], bool]:
    """What our pages say of the queues, where each of them says something else; and whether they say nothing of it.
    beside: the other numbers there, of which one may be the limit itself."""
    theirs = [Amounts(told_queue(queue, whole=True)) for _, queue in limited]
    printed = [row for row in "\n".join([*ground.printed, *ground.pages]).splitlines()
               if any(stands(queue.id, row.lower()) for _, queue in limited)]  # fmt: skip
    within = [most for _, queue in limited for most in most_of(queue, one.kind)]
    counted = bool(within)  # then a number that counts nothing proves none
    if any(amounts.have(one.values, one.kind, counted) for amounts in (*theirs, Amounts("\n".join(printed)))):
        return [], False
    own = ground.own().have(one.values, one.kind) or any(form.search(one.before) for form in (TAKING, OF_JOB))
    if within and ((own and min(one.values) <= max(within)) or max(within) in beside):
        return [], False  # the job's own size, which fits, or the limit stands beside it
    if not within:
        return [], True
    return [note("of_pages", language).format(cluster.title, told_queue(queue, language=language))
            for cluster, queue in limited[:1]], False  # fmt: skip


def most_of(queue: Queue, kind: str) -> list[float]:
    """The most that a queue takes of one kind; empty where nobody says."""
    times = [queue.max_walltime, *(one.max_walltime for one in queue.limits)]
    nodes = [queue.max_nodes, *(one.max_nodes for one in queue.limits)]
    most: dict[str, list[float | None]] = {"node": [*nodes], "gpu": [queue.max_gpus]}
    most["time"] = [walltime_seconds(one) / 3600 for one in times if one]
    return [float(one) for one in most.get(kind, ()) if one is not None]


def told_queue(queue: Queue, *, whole: bool = False, language: str = "") -> str:
    """A queue's limits in a few words. whole: with its least ones and notes, to be compared with."""
    of_step, at_most, nodes = (note(name, language) for name in ("of_step", "at_most", "nodes"))
    steps = [of_step.format(one.max_walltime, one.min_nodes, one.max_nodes or "...") for one in queue.limits]
    says = [at_most.format(queue.max_walltime) if queue.max_walltime and not steps else "", *steps,
            nodes.format(queue.max_nodes) if queue.max_nodes and not steps else "",
            f"{queue.max_gpus} GPUs" if queue.max_gpus else ""]  # fmt: skip
    if whole:
        says += [f"{queue.min_nodes} nodes", queue.min_walltime or "", queue.max_walltime or "", queue.note or ""]
        says += [f"{one.min_nodes} nodes, {one.max_nodes or ''} nodes {one.note or ''}" for one in queue.limits]
    return note("queue_takes", language).format(queue.id, ", ".join(filter(None, says)))


def of_nodes(one: Quantity, at: Sequence[Cluster], language: str) -> list[str]:
    """What our pages say of the GPUs of a node, where none of the machines has nodes like that."""
    nodes = [(cluster, node.gpus) for cluster in at for node in cluster.node_types if node.gpus.per_node]
    counts = {float(count or 0) for _, gpus in nodes for count in (gpus.per_node, gpus.devices_per_node, 0)}
    if not nodes or one.values & counts:
        return []
    first = nodes[0][0]
    kinds = dict.fromkeys(f"{gpus.per_node} {gpus.model}" for cluster, gpus in nodes if cluster is first)
    has = note("node_has", language).format(" / ".join(kinds))
    return [note("of_pages", language).format(first.title, has)]


def is_some_limit(one: Quantity, at: Sequence[Cluster]) -> bool:
    """Whether a time is the limit of any queue there."""
    limits = {hours for cluster in at for queue in cluster.queues for hours in most_of(queue, "time")}
    return any(abs(value - hours) < 0.01 for value in one.values for hours in limits)


def is_worked_out(one: Quantity, numbers: Iterable[float], beside: Iterable[float] | None = None) -> bool:
    """Whether a number is the sum, difference, product or quotient of two others, or such a product in larger units.
    beside: one of the two is of these."""
    others = sorted({value for value in numbers if value})[:MOST_WORKED]
    pairs = product(others, filter(None, beside)) if beside is not None else combinations_with_replacement(others, 2)
    made = {result for a, b in pairs for result in (a + b, abs(b - a), a * b, b / a)}
    return any(abs(value * scale - result) < 0.01 * result for value in one.values for scale in SCALES
               for result in made if result)  # fmt: skip


def is_policy(one: Quantity, plain: str) -> bool:
    """Whether a number is one that a site sets: of a quota, of the time that files are kept, of an hour's price."""
    behind = plain[one.end :]
    if one.kind == "charge":
        return PRICE_BEHIND.match(behind) is not None
    if one.kind not in POLICY_KINDS or (one.kind == "time" and max(one.values) < SHORTEST_KEPT):
        return False
    return POLICY_BEFORE.search(one.before) is not None or POLICY_BEHIND.match(behind) is not None


def shown(one: Quantity, plain: str) -> str:
    """A number with what it counts."""
    counted = COUNTED.match(plain, one.end) if one.kind != "time" else None
    return f"{one.text}{counted[0]}" if counted else one.text


def limited_queues(sentence: str, at: Sequence[Cluster]) -> list[tuple[int, str]]:
    """The queues that a sentence names, each with where: those of the machines, and what is one of another."""
    found = [(one.start(), one[0].split()[-1]) for one in BEFORE_LIMIT.finditer(sentence)]
    found += [(one.start("name"), one["name"]) for one in beside_queue(sentence)]
    found += [(one.start(1), one[1]) for span in (CODE, QUEUE_SETTING) for one in span.finditer(sentence)]
    plain = sorted((place, name.strip("`*\"',;. ").lower()) for place, name in found)
    return [(place, name) for place, name in plain if name in queue_names() or any(one.queue(name) for one in at)]
