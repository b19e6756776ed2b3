"""What the script in hand costs, the batch it makes, whether other sizes would run, and whether it is right."""

from __future__ import annotations

import re
from dataclasses import replace

from graph.answering.ask import Ask
from graph.answering.fact_answer import as_sentence, spell
from graph.answering.in_hand import InHand, in_hand, no_script
from graph.answering.limits import in_words, short
from graph.answering.method import WAYS
from graph.answering.situation import cite, write_document
from graph.extraction.batch_numbers import batch_numbers, named, ranks_of_a_model, sizes
from graph.extraction.walltime import clock
from graph.planning.charging import in_site_unit
from graph.planning.queues import limits_in_words, longest, near_ways, plural, takes
from graph.verification.checks.run import check
from knowledge.cluster import Cluster, Queue
from knowledge.document import Document
from knowledge.site import site_of
from knowledge.types import Finding, JobRequest

DYING = re.compile(r"\b(?:dies?|died|crash\w*|fails?|goes down|is lost|breaks?|drops?)\b", re.I)
RUNS_OUT = re.compile(
    r"\b(?:out of time|time (?:is )?(?:up|over|runs out)|(?:hits?|reach\w*|over) (?:the|its) (?:time )?limit)\b", re.I
)
MOST_FINDINGS = 6


def in_gpus(hours: float, each: int, machine: Cluster | None) -> str:
    """Node hours as hours of GPUs, each: devices of a node. Sites charge cards, of which a device may be a part."""
    kind = machine.node_type(machine.default_queue.node_types[0]).gpus if machine else None
    parts = kind.tiles_per_gpu if kind else 1
    if kind is None or parts == 1:
        return f", that is x {plural(each, 'GPU')} a node = {hours * each:g} GPU hours"
    name = kind.tile_name or "tile"
    return (
        f", that is x {plural(each, name)} a node = {hours * each:g} {name} hours = {hours * each / parts:g} GPU hours"
    )


def tell_cost(ask: Ask) -> Document | None:
    """Nodes x hours with their parts, and how the machine charges them. Sizes that are said go before the script's."""
    hand = in_hand(ask)
    machine = hand.cluster if hand and hand.cluster else ask.machine
    nodes, seconds = said_nodes(ask), said_seconds(ask)
    if hand is None and not (nodes and seconds):
        return no_script() if machine is None else charged(machine, "")
    nodes = nodes or (hand.nodes if hand else None)
    time = seconds / 3600 if seconds else hand.hours if hand else None
    each = hand.per_node if hand else usual_gpus(machine)
    if not nodes or not time:
        missing = "how many nodes" if not nodes else "for how long"
        return write_document(f"The script does not say {missing} it takes, so its price is open: nodes x hours.")
    hours = nodes * time
    sum_of = f"At most {plural(nodes, 'node')} x {time:g} h = **{hours:g} node hours**"
    gpus = in_gpus(hours, each, machine) if each else ""
    queue = hand.queue if hand else None
    factor = (
        f"Queue {queue.id}: {queue.note}" if queue and queue.note and re.search("price|charge|free", queue.note) else ""
    )
    asked = JobRequest(
        nodes=nodes,
        walltime=clock(time * 3600),
        queue=queue.id if queue else None,
        gpus_per_node=hand.per_node if hand else None,
    )
    there = in_site_unit(asked, machine)
    told = f"{sum_of}{gpus}{f', charged as **{there}** there' if there else ''}, if it runs to its limit."
    return charged(machine, told, factor) if machine else write_document(told)


def charged(machine: Cluster, told: str, factor: str = "") -> Document:
    site = site_of(machine.id)
    facts = site.queue_wait if site else None
    rule = f"On {machine.title}: {facts.charge}" if facts and facts.charge else ""
    unknown = (
        "" if rule else f"How {machine.title} charges is not in what I know; its support or your project's page tells."
    )
    return write_document(
        told,
        as_sentence(factor),
        as_sentence(rule),
        unknown,
        cite(facts.sources if facts else (), site.as_of if site else ""),
    )


def usual_gpus(machine: Cluster | None) -> int | None:
    """GPUs of the machine's usual node."""
    return machine.node_type(machine.default_queue.node_types[0]).gpus.per_node if machine else None


def said_nodes(ask: Ask) -> int | None:
    found = (m for m in ask.utterance.within(ask.clause) if m.kind == "Quantity" and m.unit == "node")
    return next((int(m.value) for m in found), None)


def said_seconds(ask: Ask) -> int | None:
    return next((int(m.value) for m in ask.utterance.within(ask.clause) if m.kind == "Duration"), None)


def tell_batch(ask: Ask) -> Document | None:
    """Samples a step over all GPUs, with its parts."""
    hand = in_hand(ask)
    if hand is None:
        return None
    ranks, request = hand.gpus, ask.request
    found = batch_numbers(hand.text)
    whole, each, more = named(found, "whole"), sizes(found), named(found, "steps")
    split = ranks_of_a_model(found)
    total = whole.value if whole else request.global_batch
    micro = each.value if each else request.micro_batch
    groups = ranks // split if ranks and ranks % split == 0 else ranks
    if total:
        return write_document(f"**{total}**, as the script says itself.", passes(total, micro, groups))
    if not micro or not groups:
        open_part = "a rank's batch" if not micro else "how many ranks run"
        times = f"{groups} x the batch of one rank" if groups else "the batch of one rank x the number of ranks"
        return write_document(
            f"The script does not say {open_part}: that is {hand.entry}'s own. The global batch is {times}, x the "
            "accumulation steps if it accumulates gradients."
        )
    steps = more.value if more else 1
    parts = f"{micro} x {groups} ranks" + (f" ({ranks} / {split} that share one model)" if split > 1 else "")
    parts += f" x {steps} accumulation steps" if more else ""
    option = f"`{each.option} {each.value}`" if each else "the batch said"
    doubt = f"That holds if {option} counts one rank, as it mostly does; {hand.entry} decides."
    return write_document(f"{parts} = **{micro * groups * steps}** samples a step.", doubt)


def passes(total: int, micro: int | None, groups: int | None) -> str:
    """How many passes of each rank make one step, or that it does not divide."""
    if not micro or not groups:
        return ""
    left = total % (micro * groups)
    if left:
        return f"It does not divide: {total} is no multiple of {micro} x {groups} ranks = {micro * groups}."
    return (
        f"{total} / ({micro} x {groups} data-parallel ranks) = {total // (micro * groups)} passes of each rank a step."
    )


def tell_whatif(ask: Ask) -> Document | None:
    """Whether another size would be accepted, or what happens when a node dies."""
    hand = in_hand(ask)
    if RUNS_OUT.search(ask.text):
        return when_time_is_up(ask, hand)
    if DYING.search(ask.text):
        return when_it_dies(hand)
    if not ask.utterance.of_kind("Quantity", "Duration", "Machine", "Queue"):
        return None
    machine = ask.machine or (hand.cluster if hand else None)
    nodes = said_nodes(ask) or (hand.nodes if hand else ask.request.nodes)
    seconds = said_seconds(ask) or (round(hand.hours * 3600) if hand and hand.hours else None)
    if machine is None or nodes is None or seconds is None:
        return None
    elsewhere = hand is not None and hand.cluster is not None and machine.id != hand.cluster.id
    return would_run(machine, nodes, seconds, None if elsewhere else hand)  # a queue of another machine takes nothing


def when_time_is_up(ask: Ask, hand: InHand | None) -> Document:
    """What a time limit does, and what to have done before."""
    limit = f" after {hand.hours:g} h" if hand and hand.hours else ""
    scheduler = (hand.record.scheduler if hand else None) or (ask.machine.scheduler if ask.machine else "slurm")
    return write_document(
        f"The scheduler ends it{limit}, whatever it is doing: what was not saved by then is lost, and nothing "
        "starts it again.",
        f"Before that: {WAYS[scheduler][0]}. Or save every 15 to 30 minutes, and load the newest at the start.",
        "Say *chain 3 of them*, *requeue it at the limit*, or a longer time, and I write that into the script.",
    )


def would_run(machine: Cluster, nodes: int, seconds: int, hand: InHand | None) -> Document:
    """By the queues' limits: yes where, or no and what is nearest."""
    job, ranks = f"{plural(nodes, 'node')} for {in_words(seconds)}", hand.per_node if hand else None
    own, queues = (hand.queue if hand else None), [one for one in machine.queues if one.node_types]
    fitting = [one for one in queues if takes(one, nodes, clock(seconds), ranks or 1)]
    sure = [one for one in fitting if longest(one, nodes)]
    pages = [one.source or "" for one in (own, *sure) if one]
    sources = cite(dict.fromkeys(pages[:3]), machine.as_of)
    if own and own in sure:
        yes = f"Yes: {own.id} of {machine.title} takes {job}. {price(nodes, seconds)}"
        return write_document(yes, limit_of(own, nodes), sources)
    others = ", ".join(one.id for one in sure if one is not own)
    if own:
        no = f"No: {own.id}, the script's queue, does not take {job}. {limit_of(own, nodes)}"
        near = nearest([own], nodes, seconds, ranks)
        return write_document(no, f"These of {machine.title} do: {others}." if others else "", near, sources)
    if sure:
        verb = "takes" if len(sure) == 1 else "take"
        return write_document(f"Yes: on {machine.title} {others} {verb} {job}. {price(nodes, seconds)}", sources)
    if fitting:
        names = ", ".join(one.id for one in fitting)
        return write_document(
            f"Perhaps: {names} of {machine.title} take so many nodes; the time limit is not known.", sources
        )
    no = f"No: no queue of {machine.title} is known to take {job}. {price(nodes, seconds)}"
    limits = "; ".join(limits_in_words(one) for one in queues[:6])
    return write_document(no, nearest(queues, nodes, seconds, ranks), f"Its queues: {limits}.", sources)


def limit_of(queue: Queue, nodes: int) -> str:
    most = longest(queue, nodes)
    at = f"With {plural(nodes, 'node')} it allows {spell(most)} at most." if most and queue.limits else ""
    return at or f"It takes {short(queue).partition(': ')[2]}."


def nearest(queues: list[Queue], nodes: int, seconds: int, ranks: int | None) -> str:
    """The nearest sizes that would be taken."""
    ways = [way for one in queues for way in near_ways(one, nodes, clock(seconds), ranks or 1)]
    says = dict.fromkeys(way.says for _, way in sorted(ways, key=lambda pair: pair[0]))
    return f"Nearest: {'; '.join([*says][:4])}." if says else ""


def price(nodes: int, seconds: int) -> str:
    return f"It is {nodes} x {seconds / 3600:g} h = {nodes * seconds / 3600:g} node hours at most."


def when_it_dies(hand: InHand | None) -> Document:
    """What is lost when a node or rank goes, and what would help, which is offered and not done."""
    again = hand is not None and re.search(r"--requeue|#PBS -r y|#BSUB -r|max[-_]restarts", hand.text) is not None
    ends = "The whole job ends: the other ranks wait for the lost one, and the launcher or a timeout stops them all."
    back = (
        "The script asks to be started again then, from its top: the program must load its newest checkpoint."
        if again
        else "Nothing in the script starts it again. What is lost is the work since the last checkpoint."
    )
    return write_document(
        ends,
        back,
        "What helps: a checkpoint every 15 to 30 minutes, loading the newest one at the start, and then "
        "*requeue it* or *chain 4 of them*. Say so and I add it.",
    )


# A question to which "nothing" is the good answer.
CARRY = "Name the machine that you have now and I carry the script over."
WRONG = re.compile(r"(?i)\b(?:wrong|missing|problems?|mistakes?|errors?|issues?|bugs?|else)\b")


def review_script(ask: Ask, goal: Cluster | None = None) -> Document | None:
    """Whether it would be accepted and run, on the machine that it is for or on `goal`: what the check finds, worst
    first, with its reason."""
    hand = in_hand(ask)
    if hand is None:
        return no_script()
    hand = replace(hand, cluster=goal) if goal else hand
    found = [one for one in check(hand.text, hand.cluster) if one.severity != "info"]
    errors = [one for one in found if one.severity == "error"]
    where = f" on {hand.cluster.title}" if hand.cluster else ""
    site = site_of(hand.cluster.id) if hand.cluster else None
    if hand.cluster and site and site.retired:
        gone = (
            f"No: {hand.cluster.title} is gone since {site.retired.date} ({site.retired.what}); nothing starts there."
        )
        return write_document(gone, CARRY, cite(site.retired.sources, site.retired.date))
    unknown = "" if hand.cluster else "Which machine is it for? Then I hold it against its queues and nodes as well."
    if not found:
        yes = "" if WRONG.search(ask.text) else "Yes: "
        return write_document(f"{yes}I find nothing wrong with it{where}.", fine(hand), unknown)
    opening = (
        f"No: {plural(len(errors), 'thing')} would stop it{where}."
        if errors
        else f"It would start{where}, but I would change this."
    )
    told = [tell_finding(one) for one in found[:MOST_FINDINGS]]
    more = f"{len(found) - MOST_FINDINGS} more: /check tells all." if len(found) > MOST_FINDINGS else ""
    offer = "Say *fix it* and I change these lines and nothing else."
    pages = [one.source or "" for one in found[:MOST_FINDINGS]]
    return write_document(opening, *told, more, offer, unknown, cite(pages, hand.cluster.as_of if hand.cluster else ""))


def tell_finding(finding: Finding) -> str:
    at = f"**Line {finding.line}:** " if finding.line else ""
    return f"{at}{as_sentence(finding.says)} {as_sentence(finding.why)}"


def fine(hand: InHand) -> str:
    """The counts that add up."""
    size = (
        f"{plural(hand.nodes, 'node')} x {plural(hand.per_node, 'GPU')} = {hand.gpus} GPUs"
        if hand.nodes and hand.per_node
        else ""
    )
    return f"It takes {size}{f' for at most {hand.hours:g} h' if hand.hours else ''}." if size else ""
