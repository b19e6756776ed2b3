"""Questions about queues: how long, how many nodes, which there are, which to take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from graph.answering.asking import Inquiry, named_queues
from graph.answering.fact_answer import FactAnswer, listed, nodes_in_words, say, spell
from graph.extraction.walltime import clock
from graph.planning.queues import longest, plural, takes
from knowledge.cluster import Queue, walltime_seconds

NODES_TOO = re.compile(r"\bhow many nodes\b")
PURPOSES = {
    "debug": ("debug", "test", "quick", "short job", "try out"),
    "interactive": ("interactive",),
    "preempt": ("preempt", "cheap"),
    "shared": ("part of a node", "single gpu", "one gpu", "1 gpu", "shared node", "share a node"),
}


def how_long(ask: Inquiry) -> FactAnswer:
    """The longest walltime: of the queue named, or of each."""
    queues = wanted(ask)
    if len(queues) == 1 or ask.queue:
        told = [*longest_of(queues[0], ask), nodes_of(queues[0]) if NODES_TOO.search(ask.text) else ""]
        return say_of(ask, [*told, queues[0].note or ""], queues[:1])
    title = ask.cluster.title
    rows = [row for queue in queues if (row := row_of(queue, ask.nodes))]
    if not rows:
        spans = "; ".join(f"{queue.id} {bounds(queue)}" for queue in queues)
        return say_of(ask, [f"No queue of {title} takes {plural(ask.nodes or 0, 'node')}", spans], queues)
    having = f", with {plural(ask.nodes, 'node')}" if ask.nodes else ""
    return say_of(ask, [f"The longest run on {title}{having}, by queue: {'; '.join(rows)}"], queues)


def say_of(ask: Inquiry, sentences: Iterable[str], queues: Sequence[Queue]) -> FactAnswer:
    """Sentences about these queues, with their pages and the oldest of their dates (YYYY-MM)."""
    told = say(ask.cluster, sentences, [queue.source for queue in queues])
    return replace(told, as_of=min((queue.as_of or told.as_of for queue in queues), default=told.as_of))


def wanted(ask: Inquiry) -> list[Queue]:
    """The queue named; else those of the GPU named; else those with GPUs, the usual one first."""
    if ask.queue:
        return [ask.queue]
    types = {node.id for node in ask.node_types} or {node.id for node in ask.cluster.node_types}
    queues = [queue for queue in ask.cluster.queues if types & set(queue.node_types)] or list(ask.cluster.queues)
    return sorted(queues, key=lambda queue: (not queue.default, queue.purpose == "special"))


def longest_of(queue: Queue, ask: Inquiry) -> list[str]:
    where = f"{queue.id} on {ask.cluster.title}"
    if ask.nodes is not None:
        if not in_bounds(queue, ask.nodes):
            return [f"{where} does not take {plural(ask.nodes, 'node')}: it takes {bounds(queue)}"]
        limit = longest(queue, ask.nodes)
        with_nodes = f"With {plural(ask.nodes, 'node')} the longest run in {where} is"
        return [f"{with_nodes} {spell(limit)}"] if limit else [unknown(where)]
    if queue.limits:
        steps = "; ".join(
            f"{nodes_in_words(lim.min_nodes, lim.max_nodes)} {spell(lim.max_walltime)}" for lim in queue.limits
        )
        return [f"The longest run in {where} depends on the node count: {steps}"]
    return [f"The longest run in {where} is {spell(queue.max_walltime)}"] if queue.max_walltime else [unknown(where)]


def unknown(where: str) -> str:
    return f"The walltime limit of {where} is not in what I know"


def in_bounds(queue: Queue, nodes: int) -> bool:
    return queue.min_nodes <= nodes and (queue.max_nodes is None or nodes <= queue.max_nodes)


def bounds(queue: Queue) -> str:
    if queue.max_nodes is None and queue.min_nodes == 1:
        return "no node limit is known"
    return nodes_in_words(queue.min_nodes, queue.max_nodes)


def row_of(queue: Queue, nodes: int | None) -> str:
    """`batch: 12 h (1 to 91 nodes 2 h, ...)`; empty where the queue does not take so many nodes."""
    if nodes is not None:
        if not in_bounds(queue, nodes):
            return ""
        limit = longest(queue, nodes)
        return f"{queue.id} {spell(limit) if limit else '(limit not known)'}"
    steps = ", ".join(
        f"{nodes_in_words(lim.min_nodes, lim.max_nodes)} {spell(lim.max_walltime)}" for lim in queue.limits
    )
    most = spell(queue.max_walltime) if queue.max_walltime else "(limit not known)"
    return f"{queue.id} {most}" + (f" ({steps})" if steps else "")


def how_many_nodes(ask: Inquiry) -> FactAnswer:
    """How many nodes a job may have: in the queue named or in each, for the time named or at all."""
    queues = wanted(ask)
    title = ask.cluster.title
    if ask.seconds is None:
        rows = [f"{queue.id} {bounds(queue)}" for queue in queues]
        note = queues[0].note or "" if len(queues) == 1 else ""
        return say_of(ask, [f"Nodes a job on {title}, by queue: {'; '.join(rows)}", note], queues)
    length = in_words(ask.seconds)
    rows = [f"{queue.id} {span}" for queue in queues if (span := span_for(queue, ask.seconds))]
    if rows:
        return say_of(ask, [f"For {length} on {title}: {'; '.join(rows)}"], queues)
    which = f"Queue {queues[0].id}" if ask.queue else "No queue"
    longest_known = "; ".join(row for queue in queues if (row := row_of(queue, None)))
    no = f"{which} of {title} takes {'no' if ask.queue else 'a'} job of {length}"
    return say_of(ask, [no, f"The longest runs: {longest_known}"], queues)


def in_words(seconds: int) -> str:
    return spell(clock(seconds))


def span_for(queue: Queue, seconds: int) -> str:
    """The node counts at which a run may last so long; empty: none."""
    if not queue.limits:
        if queue.max_walltime is None:
            return f"{bounds(queue)} (its walltime limit is not known)"
        return bounds(queue) if walltime_seconds(queue.max_walltime) >= seconds else ""
    fit = [lim for lim in queue.limits if walltime_seconds(lim.max_walltime) >= seconds]
    return listed([nodes_in_words(lim.min_nodes, lim.max_nodes) for lim in fit], "or") if fit else ""


def fits(ask: Inquiry) -> FactAnswer | None:
    """`Can I run 64 nodes for 20 hours?`: the queues that take it, those that may, or none."""
    if ask.nodes is not None and ask.seconds is None and ask.queue:
        return say_of(ask, [*longest_of(ask.queue, ask), ask.queue.note or ""], [ask.queue])
    if ask.nodes is None or ask.seconds is None:
        return None
    title, job = ask.cluster.title, f"{plural(ask.nodes, 'node')} for {in_words(ask.seconds)}"
    queues = wanted(ask)
    taking = [queue for queue in queues if takes(queue, ask.nodes, clock(ask.seconds), 1)]
    sure = [queue.id for queue in taking if longest(queue, ask.nodes)]
    perhaps = [queue.id for queue in taking if queue.id not in sure]
    if sure:
        return say_of(ask, [f"Yes: {job} on {title} fits in {listed(sure, 'or')}"], taking)
    if perhaps:
        unsure = f"Perhaps: {listed(perhaps, 'or')} of {title} takes so many nodes, but its walltime limit is not known"
        return say_of(ask, [unsure, taking[0].note or ""], taking)
    rows = "; ".join(short(queue) for queue in queues)
    return say_of(ask, [f"No queue of {title} is known to take {job}", f"There is {rows}"], queues)


def which_queues(ask: Inquiry) -> FactAnswer:
    """The queue named, told whole; the queues for a purpose; or all of them."""
    if ask.queue:
        return describe(ask.queue, ask)
    queues = wanted(ask)
    for purpose, words in PURPOSES.items():
        fitting = [queue for queue in queues if queue.purpose == purpose]
        if fitting and any(word in ask.text for word in words):
            return say_of(ask, [f"On {ask.cluster.title}: {'; '.join(short(queue) for queue in fitting)}"], fitting)
    usual = ask.cluster.default_queue
    opening = (
        f"{ask.cluster.title} has {listed([queue.id for queue in queues])}"
        if len(queues) > 1
        else f"On {ask.cluster.title} it is {queues[0].id}"
    )
    tail = f"The usual one is {usual.id}" if usual in queues and len(queues) > 1 else ""
    return say_of(ask, [opening, tail, "; ".join(short(queue) for queue in queues)], queues)


def short(queue: Queue) -> str:
    most = spell(queue.max_walltime) if queue.max_walltime else "walltime limit not known"
    return f"{queue.id}: {most}, {bounds(queue)}"


def compare(ask: Inquiry) -> FactAnswer | None:
    """Two queues that a question sets against each other, one after the other."""
    # Beside a queue's own name a common word such as `regular` means a queue too.
    found = named_queues(ask.text, ask.cluster)
    found += named_queues(ask.text, ask.cluster, bare=True) if found else []
    queues = list({queue.id: queue for _, queue in found}.values())
    if len(queues) < 2:
        return None
    told = [describe(queue, ask) for queue in queues[:3]]
    sources = dict.fromkeys(source for answer in told for source in answer.sources)
    return replace(told[0], text=" ".join(answer.text for answer in told), sources=tuple(sources))


def nodes_of(queue: Queue) -> str:
    return f"It takes {bounds(queue)}" if queue.max_nodes or queue.min_nodes > 1 else "No node limit is known"


def describe(queue: Queue, ask: Inquiry) -> FactAnswer:
    """One queue: limits, nodes, what is special."""
    gpus = f"At most {plural(queue.max_gpus, 'GPU')} a job" if queue.max_gpus else ""
    least = f"At least {spell(queue.min_walltime)} must be asked" if queue.min_walltime else ""
    kinds = f"Its nodes: {listed(queue.node_types)}" if queue.node_types else "It has no GPU nodes"
    extra = f"It needs {listed(queue.directives)}" if queue.directives else ""
    return say_of(ask, [*longest_of(queue, ask), nodes_of(queue), gpus, least, kinds, extra, queue.note or ""], [queue])
