"""Work against what there is: hours, node hours and GPU hours of a budget, and a speed that the person measured."""

from __future__ import annotations

import math

from graph.answering.resource_words import count_words, hours_words, round_words
from graph.planning.charging import is_whole
from graph.planning.queues import plural
from graph.planning.resources.device import Device
from graph.planning.resources.limits import chains, holds, longest_hours, takes
from graph.planning.resources.options import ResourceOption, base_layout, wanted_gpus, ways
from graph.planning.resources.parameters import SizedModel
from graph.planning.resources.search import NODES
from graph.planning.resources.speed import Range, gpu_hours
from knowledge.cluster import Cluster, Queue
from knowledge.resource_question import ResourceQuestion

# Hours of wall time from which on more nodes are worth telling, and the most that are told unasked.
LONG_H, MOST_SENSIBLE = 96.0, 64


def hours_on(question: ResourceQuestion, model: SizedModel, device: Device, total: float) -> Range:
    """GPU hours for that many tokens: by the speed that the person saw, else by published utilisation."""
    gpus = wanted_gpus(question, device) or device.each
    if question.speed:
        seen = total / question.speed / 3600 * (1 / (question.scaling or 1) if question.speed_each else gpus)
        return Range(seen, seen, seen)
    base = base_layout(question, model)
    return gpu_hours(model, total, device, base.sequence, base.method)


def within(question: ResourceQuestion, model: SizedModel, device: Device, cluster: Cluster | None, total: float) -> str:
    """`Yes, in 4 h on 13 nodes`: whether the hours that were said are enough, and from how many nodes on. Empty where
    none were said, or they are those of one job of a chain."""
    if not question.hours or question.per_job:
        return ""
    limit, hours = question.hours, hours_on(question, model, device, total)
    where = f" of {cluster.title}" if cluster else ""
    said = wanted_gpus(question, device)
    if said:
        wall = hours.scaled(1 / said)
        verdict = "No" if wall.usual > limit else "Yes" if max(wall.low, wall.best) <= limit else "Just"
        return f"**{verdict}: {hours_words(wall)} on {said} x {device.name}{where}, against {limit:g} h.**"
    fits = [fit for fit in ways(question, model, device, cluster) if fit.verdict == "fits"]
    if not fits:
        return f"**No: it does not fit in memory on {device.name}{where}**, whatever the hours."
    usual, sure = (device.nodes_for(-int(-value // limit)) for value in (hours.usual, max(hours.low, hours.best)))
    least = device.nodes_for(min(fit.layout.gpus for fit in fits))
    memory = f"; by hours alone {plural(usual, 'node')} would do, by memory it takes {least}" if least > usual else ""
    usual, sure = max(usual, least), max(sure, least)
    cards = f"{usual * device.each} x {device.name}"
    sizes = f"{plural(usual, 'node')} ({cards}){where}" if cluster else cards
    queues = [q for q in cluster.queues if holds(q, device.node_type, 1, None)] if cluster else []
    largest = max((q.max_nodes or usual for q in queues), default=0 if cluster else usual)
    if largest < usual:
        return f"**No: {limit:g} h take about {sizes}**, and its queues end at {plural(largest, 'node')}."
    later = f"; {sure} to be safe at the low end of published speeds" if sure > usual else ""
    return f"**Yes, in {limit:g} h on about {sizes}**{memory}{later}, if it scales."


def against_budget(
    question: ResourceQuestion, model: SizedModel, device: Device, cluster: Cluster | None, total: float
) -> str:
    """Whether the node hours or GPU hours that there are pay for it. Empty without any."""
    found = _budget(question, device, cluster)
    if not found:
        return ""
    there, unit, per = found
    need = hours_on(question, model, device, total).scaled((question.runs or 1) / per)
    most = max(need.low, need.best)
    verdict = "No" if need.usual > there else "Enough" if most <= there else "Just enough"
    part = f", that is {need.usual / there:.0%} ({need.low / there:.0%} to {most / there:.0%})"
    if need.usual > there:
        part = f", {there / need.usual:.0%} of it: short by {round_words(need.usual - there)}"
    return (
        f"**{verdict}: it takes about {round_words(need.usual)} {unit} ({round_words(need.low)} to {round_words(most)})"
        f" of {there:,.0f}{part}.**"
    )


def one_job_line(question: ResourceQuestion, cluster: Cluster | None, nodes: int, gpus: int, wall: Range) -> str:
    """Whether one job of the queue that was named is long enough; empty where none was, or it takes no such job."""
    queue = cluster.queue(question.queue) if cluster and question.queue else None
    limit = longest_hours(queue, nodes) if queue and takes(queue, nodes, gpus) else None
    if queue is None or limit is None:
        return ""
    slow, size = max(wall.low, wall.best), plural(nodes, "node")
    if wall.usual > limit:
        few, many = (math.ceil(hours / limit) for hours in (wall.usual, slow))
        jobs = f"{few} to {many}" if many > few else f"{few}"
        return (
            f"**Not in one job of `{queue.id}`** ({limit:g} h for {size}): {hours_words(wall)}, {jobs} jobs in a chain."
        )
    sure = "Yes" if slow <= 0.9 * limit else "Just"
    reserve = "" if sure == "Yes" else " with little in reserve, so save and be ready to go on in a second job"
    return f"**{sure}, in one job of `{queue.id}`** (up to {limit:g} h for {size}): {hours_words(wall)}{reserve}."


def sensible_nodes(
    question: ResourceQuestion, device: Device, cluster: Cluster | None, hours: Range, least: int
) -> int | None:
    """Nodes on which work that would take weeks on the fewest GPUs that hold it ends in some days, as far as a queue
    takes them; None where the fewest will do, or a number was said."""
    if cluster is None or question.nodes or question.gpus or hours.usual / least < LONG_H:
        return None
    open_to_it = [n for n in NODES if n <= MOST_SENSIBLE and n * device.each >= least
                  and chains(cluster, device.node_type, n, 1.0, n * device.each)]  # fmt: skip
    enough = [n for n in open_to_it if hours.usual / (n * device.each) <= LONG_H]
    return next(iter(enough), open_to_it[-1] if open_to_it else None)


def affordable(question: ResourceQuestion, model: SizedModel, device: Device, cluster: Cluster | None) -> str:
    """How many tokens a budget pays for, where no amount of work was said. Empty without a budget."""
    found = _budget(question, device, cluster)
    gpus = wanted_gpus(question, device)
    if found:
        hours, told = found[0] * found[2], f"{found[0]:,.0f} {found[1]} of {device.name}"
    elif question.hours and gpus:
        time = f"{question.hours:g} h" if question.hours >= 1 else f"{60 * question.hours:.0f} min"
        hours, told = question.hours * gpus, f"{time} on {gpus} x {device.name}"
    else:
        return ""
    each = hours_on(question, model, device, 1e9)
    tokens = Range(*(1e9 * hours / cost for cost in (each.best, each.usual, each.low)))
    where = f" of {cluster.title}" if cluster else ""
    unit = "image patches" if model.shape.kind == "convolution" else "tokens"
    return (
        f"**{told}{where} are about {count_words(tokens.usual)} {unit}** of {model.name} "
        f"({count_words(tokens.low)} to {count_words(tokens.best)})."
        if tokens.low != tokens.best
        else f"**{told}{where} are about {count_words(tokens.usual)} {unit}** of {model.name} at the "
        f"{question.speed:,.0f} a second that you measured."
    )


def _budget(question: ResourceQuestion, device: Device, cluster: Cluster | None) -> tuple[float, str, float] | None:
    """How much there is, its unit, and the GPU hours of one of it: as the site charges them, where it counts in that
    unit."""
    there, unit = (question.gpu_hours, "gpu") if question.gpu_hours else (question.node_hours, "node")
    gpus = wanted_gpus(question, device) or device.each
    charged = site_charge(question, cluster, device, float(gpus), gpus)
    if not there and question.site_units and charged and "node" not in charged[1] and "GPU" not in charged[1]:
        return question.site_units, charged[1], gpus / charged[0]
    if not there:
        return None
    if charged and charged[1].lower().replace("-", " ") == f"{unit} hours":
        return there, charged[1].replace("-", " "), gpus / charged[0]
    if unit == "node" and cluster is None and device.each == 1:
        return None  # how many GPUs a node has is not known
    return (there, "node hours", float(device.each)) if unit == "node" else (there, f"{device.kind} hours", 1.0)


def prices_of(question: ResourceQuestion, option: ResourceOption) -> list[tuple[float, str, Queue]]:
    """What each queue that takes it charges for an option's hours (for one where the work is not said), with the unit,
    the least first; of the queue that was named alone, where it takes it. Empty where that is not known."""
    cluster, fit = option.cluster, option.fit
    if cluster is None or cluster.charge is None:
        return []
    charge, hours, gpus = cluster.charge, option.hours.usual if option.hours else 1.0, fit.layout.gpus
    part = gpus < fit.device.each
    found = [one.queue for one in chains(cluster, fit.device.node_type, fit.nodes, hours, gpus, part=part,
                                         named=question.queue)]  # fmt: skip
    named = [queue for queue in found if queue.id == question.queue] or found
    told = []
    for queue in named:
        each = fit.device.each if is_whole(queue, cluster) else min(gpus, fit.device.each)
        if (price := charge.amount(hours, fit.nodes, each, queue.id, fit.device.node_type)) is not None:
            told.append((price, charge.unit, queue))
    return sorted(told, key=lambda one: one[0])


def site_charge(
    question: ResourceQuestion, cluster: Cluster | None, device: Device, hours: float, gpus: int
) -> tuple[float, str] | None:
    """What the site charges for GPU hours of that many GPUs in the queue that was named, else in the usual one that
    takes them, with its unit; None where that is not known."""
    if cluster is None or cluster.charge is None:
        return None
    nodes, charge = device.nodes_for(gpus), cluster.charge
    found = chains(cluster, device.node_type, nodes, hours / gpus, gpus, part=gpus < device.each, named=question.queue)
    queue = next((one.queue for one in found if one.queue.id == question.queue), found[0].queue if found else None)
    if queue is None:
        return None
    each = device.each if is_whole(queue, cluster) else min(gpus, device.each)
    price = charge.amount(hours / gpus, nodes, each, queue.id, device.node_type)
    return (price, charge.unit) if price else None
