"""Which machine: those that hold a model, by node hours or speed, those with such GPUs, and machines side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from graph.answering.ask import Ask
from graph.answering.machine_compare import (
    change_line,
    compare_machines,
    kind_of_gpu,
    profile_line,
    runs_as_is,
    stack_lines,
    tell_aspect,
    tell_side_by_side,
)
from graph.answering.planned import WHICH_MACHINE, asks_for_most
from graph.answering.resource_budgets import prices_of
from graph.answering.resource_languages import spoken
from graph.answering.resource_words import hours_words, option_line, place_words, round_words
from graph.answering.resources import EVERY, hours_of, question_of
from graph.answering.situation import write_document
from graph.planning.charging import amount as price_in_words
from graph.planning.queues import plural
from graph.planning.resources.alternatives import that_fit
from graph.planning.resources.device import Device, devices
from graph.planning.resources.limits import holds, longest_hours
from graph.planning.resources.options import ResourceOption
from graph.planning.resources.parameters import SizedModel, find_model
from graph.planning.resources.reading import read_question
from graph.reading.scope import wanted
from graph.usecases.plan_resources import (
    TAKING,
    ResourcePlan,
    fewest_line,
    mine_line,
    offered,
    plan_resources,
    unknown_machines,
)
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.document import Choices, Document
from knowledge.resource_question import ResourceQuestion

MOST_MACHINES = 6
ORDER = {"fits": 0, "tight": 1, "no": 2}
FEWEST = re.compile(
    r"(?i)\b(?:fewest|least|smallest number of|wenigsten|moins de|menos)\s+(?:nodes|knoten|n(?:oe|œ)uds|nodos)\b"
)
BY_NODE_HOURS = re.compile(r"(?i)\bnode[- ]?hours?\b|\bknotenstunden\b")
BY_PRICE = "By price"
# Of one machine its kinds of nodes are weighed.
BY_KIND = ("fastest", "cheapest")
THESE = re.compile(r"(?i)\b(?:those|these|them|davon|diesen|ceux|celles|esos|esas|queste|questi)\b")
# GPUs of a whole job or machine, not of one node.
OVER_NODES = re.compile(
    r"(?i)\b(?:in total|altogether|in all|overall|insgesamt|au total|en total|over several nodes)\b"
)


def tell_machine(ask: Ask) -> Document | None:
    """Which machine: the model on each that was named, else on the person's own, else on all; without a model, those
    side by side."""
    question = question_of(ask)
    several = len(question.machines) > 1 or question.or_gpus
    if question.task == "serve" and several and question.model:
        return plan_resources(question).document
    anywhere = WHICH_MACHINE.search(ask.text) or (ask.machine is None and not ask.own_machines)
    if anywhere and (told := tell_machines_with(read_question(ask.utterance), ask.text)):
        return told
    named = tuple(c.id for name in question.machines if (c := catalogue().find(name)))
    of_kinds = question.aim in BY_KIND and (THESE.search(ask.text) or not WHICH_MACHINE.search(ask.text))
    kinds = len(named) == 1 and (of_kinds or bool(question.or_gpus))
    if len(named) == 1 and ask.utterance.machines() and not kinds:
        plan = plan_resources(question)
        known = [catalogue().clusters[name] for name in named if unknown_machines(question)]
        beside = (profile_line(one, kind_of_gpu(one, question.gpu)) for one in known)
        return plan.document + write_document(*beside) if plan.model else None
    if len(named) < 2 and not kinds:
        named = () if EVERY.search(ask.text) else ask.own_machines
        question = replace(question, machines=named or tuple(catalogue().clusters), mine=bool(named))
    clusters = [catalogue().clusters[name] for name in named]
    said = read_question(ask.utterance).said().keys() <= {"aim", "machines", "mine"}
    if said and ask.resources and len(clusters) > 1 and (aspect := tell_aspect(clusters, ask.text)):
        return aspect  # `which one has longer jobs?`, of those that were compared
    plan = plan_resources(question)
    if plan.model is None or not plan.options:
        every = list(catalogue().clusters.values()) if asks_for_most(ask) else []
        if clusters:
            return write_document(mine_line(question)) + tell_side_by_side(clusters, ask.utterance.text, question.gpu)
        return compare_machines(every) if every else None
    if not any(option.cluster for option in plan.options):
        return plan.document
    needs = wanted(ask.utterance.text) + (" bitsandbytes" if question.task == "qlora" else "")
    ready = runs_as_is({c.id: c.node_types[0] for c in clusters}, needs)
    choice = _choice_of_machine(
        plan,
        not named,
        ready if len(ready) < len(clusters) else (),
        fewest=FEWEST.search(ask.text) is not None,
        charged=not BY_NODE_HOURS.search(ask.text),
    )
    told = write_document(mine_line(question), *choice)
    if len(clusters) < 2:
        return told
    return told_beside(ask, plan, plan.model, clusters, choice, needs)


def told_beside(
    ask: Ask,
    plan: ResourcePlan,
    model: SizedModel,
    clusters: Sequence[Cluster],
    choice: Sequence[str | Choices],
    needs: str,
) -> Document:
    """The choice among several machines, with what sets their software apart, hours, each in a line, and the table.

    needs: the words that name what has to run there.
    """
    best = {one.cluster.id: one for one in reversed(plan.options) if one.cluster and one.fit.verdict == "fits"}
    nodes = {
        c.title: c.node_type(best[c.id].fit.device.node_type) if c.id in best else c.node_types[0] for c in clusters
    }
    question, named = plan.question, [c.id for c in clusters]
    told_before = ask.resources is not None and set(named) <= set(ask.resources.machines)
    told_before = told_before and len(ask.utterance.machines()) < 2  # named anew, they are set against each other
    stacks = [] if told_before else stack_lines(nodes, needs)
    lines = [profile_line(c, nodes[c.title]) for c in clusters]
    pairs = [(c, nodes[c.title]) for c in clusters]
    taken = next((c for c in clusters if str(choice[0]).startswith(f"**{c.title}**")), None)
    lines += [change_line(pairs, taken)] if taken else []
    verdict = spoken(ask.text, "take", what=taken.title) if taken else ""
    told = write_document(verdict, mine_line(question), choice[0], *stacks, *choice[1:])
    priced = any(isinstance(part, str) and part.startswith(BY_PRICE) for part in choice)
    spent = [] if priced else [one for name in named if name in best for one in hours_of(question, best[name], model)]
    held = {one.fit.device.node_type for one in plan.options if one.fit.verdict == "fits"}
    return told + write_document(*filter(None, spent), *lines) + compare_machines(clusters, held or None)


def tell_machines_with(said: ResourceQuestion, text: str = "") -> Document | None:
    """Every machine with such GPUs: of that model, of so many GB or more, so many in a node. None where a model is to
    be held, or no GPU is told."""
    if said.model or said.machines or not (said.gpu or said.gpu_gb or said.gpus):
        return None
    each = said.gpus or said.each or 1
    kinds = [
        (cluster, device)
        for cluster in catalogue().clusters.values()
        for device in devices(cluster)
        if said.gpu in (None, device.facts.model) and device.gb >= (said.gpu_gb or 0)
    ]
    if each > max((device.each for _, device in kinds), default=0) or (OVER_NODES.search(text) and said.gpus):
        return tell_machines_over(said, kinds, each)
    rows = [
        f"{cluster.title}: {device.each} x {device.name} {device.kind} a node (`{device.node_type}`)"
        for cluster, device in kinds
        if device.each >= each
    ]
    size = f" of {said.gpu_gb:g} GB or more" if said.gpu_gb else ""
    wish = f"{f'{each} ' if each > 1 else ''}{said.gpu or 'GPUs'}{size} in a node"
    told = f"**{wish}:** {'; '.join(rows)}." if rows else f"**No machine that I know has {wish}.**"
    return write_document(
        told, f"Of {len(catalogue().clusters)} machines; `maple-chat clusters compare` has the table."
    )


def tell_machines_over(said: ResourceQuestion, kinds: list[tuple[Cluster, Device]], gpus: int) -> Document:
    """Every machine that has so many such GPUs over its nodes, with the nodes that they take and the largest job."""
    rows, unknown = [], []
    for cluster, device in kinds:
        nodes = device.nodes_for(gpus)
        if not device.node_count:
            unknown.append(f"{cluster.title} (`{device.node_type}`)")
        elif device.node_count >= nodes:
            taken = [queue for queue in cluster.queues if holds(queue, device.node_type, nodes, gpus)]
            longest = max((longest_hours(queue, nodes) or 0.0 for queue in taken), default=0.0)
            one_job = "" if taken else ", but no queue takes them in one job"
            if taken and said.hours:
                one_job = f", {longest:g} h in one job" + ("" if longest >= said.hours else f", not {said.hours:g}")
            rows.append(
                f"{cluster.title}: {device.node_count:,} nodes of {device.each} x {device.name} {device.kind} "
                f"(`{device.node_type}`), {gpus} are {plural(nodes, 'node')}{one_job}"
            )
    size = f" of {said.gpu_gb:g} GB or more" if said.gpu_gb else ""
    wish = f"{gpus} {said.gpu or 'GPUs'}{size} over several nodes"
    told = f"**{wish}:** {'; '.join(rows)}." if rows else f"**No machine that I know has {wish}.**"
    left_out = f"How many nodes there are is not in my facts for {', '.join(unknown)}." if unknown else ""
    return write_document(told, left_out, f"Of {len(catalogue().clusters)} machines.")


def _by_charge(plan: ResourcePlan, order: list[ResourceOption]) -> list[str]:
    """Orders what surely holds it by what the site charges, the least first, where one site charges all of it, and
    tells the prices; else leaves the order and tells nothing."""
    held = [one for one in order if one.fit.verdict == "fits" and one.accepted and one.cluster]
    prices = {id(one): prices_of(plan.question, one) for one in held}
    sites = {urlsplit((one.cluster.charge and one.cluster.charge.source) or one.cluster.id).netloc or one.cluster.id
             for one in held if one.cluster}  # fmt: skip
    units = {price[0][1] for price in prices.values() if price}
    if not held or not all(prices.values()) or len(sites) > 1 or len(units) > 1 or units <= {"node hours"}:
        return []
    speed = {id(one): 1.0 if one.hours else one.rate.usual if one.rate else 1.0 for one in held}
    held.sort(key=lambda one: prices[id(one)][0][0] / speed[id(one)])
    order[:] = [*held, *(one for one in order if id(one) not in prices)]
    unit, least = units.pop(), held[0]
    rows = []
    for one in held[:MOST_MACHINES]:
        each = ", ".join(f"{price_in_words(price)} {unit} in `{queue.id}`" for price, _, queue in prices[id(one)][:3])
        pace = (
            ""
            if one.hours
            else f" an hour, {round_words(1e9 * prices[id(one)][0][0] / speed[id(one)] / 3600)} for 1 B tokens"
        )
        time = f", {hours_words(one.hours)}" if one.hours else ""
        rows.append(f"{place_words(one)}: {each}{pace}{time}")
    price, _, queue = prices[id(least)][0]
    ends = f"about {price_in_words(price)} {unit}" if least.hours else f"{price_in_words(price)} {unit} an hour"
    told = f"**{place_words(least)} in `{queue.id}` costs the least: {ends}**"
    asked = next(((one, price) for one in held for price, _, q in prices[id(one)] if q.id == plan.question.queue), None)
    if asked and asked[0] is not least and least.hours and len(plan.question.machines) == 1:
        told = (
            f"**In `{plan.question.queue}` about {price_in_words(asked[1])} {unit}** ({place_words(asked[0])}). {told}"
        )
    stopped = " It may be stopped early there: save often and ask for --requeue." if queue.purpose == "preempt" else ""
    return [f"{told}, of what surely holds it, by what the site charges.{stopped}", f"{BY_PRICE}: {'; '.join(rows)}."]


def _choice_of_machine(
    plan: ResourcePlan, every: bool, ready: Sequence[str] = (), *, fewest: bool = False, charged: bool = True
) -> list[str | Choices]:
    """The best way on each machine, those that surely hold it first, by what one site charges or else by node hours.

    ready: the machines on which what is named runs as it is, where others have it by another build.
    """
    one = len({option.cluster.id for option in plan.options if option.cluster}) == 1
    first = {
        (option.cluster.id, option.fit.device.node_type if one else ""): option
        for option in reversed(plan.options)
        if option.cluster
    }
    order = sorted(first.values(), key=plan.options.index)
    if all(one.node_hours for one in order):  # what is shown is what they are ordered by
        order.sort(key=lambda one: (ORDER[one.fit.verdict], not one.accepted, _node_hours(one)))
    if ready:
        order.sort(key=lambda one: (ORDER[one.fit.verdict], not one.cluster or one.cluster.id not in ready))
    order = [_whole(plan, one) for one in order]
    priced = _by_charge(plan, order) if charged and not fewest and plan.question.aim != "fastest" else []
    best, shown = order[0], [one for one in order if one.fit.verdict != "no"][:MOST_MACHINES]
    by = "software first, then node hours," if ready else "node hours"
    if fewest and best.fit.verdict == "fits":
        by, held = "nodes", [one for one in plan.options if one.fit.verdict == "fits" and one.accepted and one.cluster]
        held.sort(key=lambda one: (one.nodes, one.fit.layout.gpus))
        shown = list({one.cluster.id: one for one in reversed(held) if one.cluster}.values())[::-1][:MOST_MACHINES]
        best = shown[0]
    if plan.question.aim == "fastest":
        by = "speed of a GPU"
        shown.sort(key=lambda one: -_speed(one))
        order.sort(key=lambda one: (one.fit.verdict == "no", -_speed(one)))
        best = order[0]
    title = best.cluster.title if best.cluster and not one else best.fit.device.name
    if best.fit.verdict == "no":
        return [f"**None of them** surely holds it; nearest: {option_line(best)}."]
    rows = offered(plan.question, plan.model, shown) if plan.model else None
    access = "I compared all machines that I know: take the one where you have an account." if every else ""
    told = f"**{title}**, by {by} among what surely holds it: {option_line(best)}."
    if best.fit.verdict == "tight":
        told = f"**{title}**, by {by}, and none of them surely holds it: {option_line(best)}."
    if priced:
        return [*priced, f"{option_line(best)}.", access, *((rows, TAKING) if rows else ())]
    if by == "speed of a GPU" and best.rate:
        told += f" About {_speed(best):,.0f} tokens a second on each GPU."
    return [told, *_fewer(plan, shown), access, *((rows, TAKING) if rows else ())]


def _whole(plan: ResourcePlan, option: ResourceOption) -> ResourceOption:
    """On a machine that gives and charges whole nodes the way on all GPUs of one, where a part would do and no number
    was said."""
    cluster, device, model = option.cluster, option.fit.device, plan.model
    if not cluster or not model or not cluster.whole_nodes or option.fit.layout.gpus >= device.each:
        return option
    if plan.question.gpus:
        return option
    asked = replace(
        plan.question, machines=(cluster.id,), nodes=1, gpus=None, gpu=device.facts.model, or_gpus=(), queue=None
    )
    return next(iter(that_fit(asked, model)), option)


def _fewer(plan: ResourcePlan, shown: list[ResourceOption]) -> list[str]:
    """On each machine what holds it on far fewer GPUs than the way that is shown."""
    there = ((one, [o for o in plan.options if o.fit.device == one.fit.device and o.cluster == one.cluster])
             for one in shown if one.cluster)  # fmt: skip
    told = ((one.cluster.title, fewest_line([one, *others])) for one, others in there if one.cluster)
    return [f"{title}: {line}" for title, line in told if line]


def _node_hours(option: ResourceOption) -> float:
    return option.node_hours.usual if option.node_hours else 0.0


def _speed(option: ResourceOption) -> float:
    """Tokens a second on each GPU."""
    return option.rate.usual / option.fit.layout.gpus if option.rate else 0.0


# Of each of the machines that were weighed before.
OF_EACH = re.compile(
    r"(?i)\b(?:each|both|either|them|those|beiden?|jeweils|jede[mnrs]?|chacun\w*|les deux|cada|ambos|ambas|entrambi)\b"
)


def tell_of_compared(ask: Ask) -> Document | None:
    """One thing that is asked of each of the machines that were weighed: which has more of it, and each in a line."""
    named = ask.resources.machines if ask.resources and not ask.utterance.machines() else ()
    clusters = [one for name in named if (one := catalogue().find(name))]
    if len(clusters) < 2 or len(clusters) > MOST_MACHINES or not OF_EACH.search(ask.text):
        return None
    return tell_aspect(clusters, ask.text)


def tell_comparison(ask: Ask) -> Document | None:
    """Two or more machines side by side; None where fewer than two are named."""
    question, before = question_of(ask), ask.resources.machines if ask.resources else ()
    named = question.machines
    names = tuple(named if len(named) > 1 else dict.fromkeys((*before, *named)))  # `and Anvil, compared to that?`
    clusters = [c for name in names if (c := catalogue().find(name))]
    if question.model and find_model(question.model) and clusters and len(names) > 1:
        return tell_machine(ask)
    missing = mine_line(replace(question, machines=names)) if len(clusters) < len(names) else ""
    if not clusters or len(names) < 2:
        return None
    told_before = set(names) <= set(before) and len(clusters) > 1
    if told_before and (aspect := tell_aspect(clusters, ask.text)):
        return aspect
    return write_document(missing) + tell_side_by_side(clusters, ask.utterance.text, question.gpu)
