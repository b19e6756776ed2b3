"""Questions about resources: how many GPUs, does it fit, how long, which machine, what it costs, how to split."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from graph.answering.ask import Ask
from graph.answering.resource_budgets import (
    affordable,
    against_budget,
    hours_on,
    one_job_line,
    sensible_nodes,
    site_charge,
    within,
)
from graph.answering.resource_extremes import (
    unused_line,
)
from graph.answering.resource_languages import spoken, verdict_line
from graph.answering.resource_words import (
    count_words,
    hours_words,
    option_line,
    place_words,
    range_words,
    round_words,
    states_words,
)
from graph.answering.situation import cite, write_document
from graph.planning.charging import amount as price_in_words
from graph.planning.charging import is_whole
from graph.planning.queues import plural
from graph.planning.resources.alternatives import that_fit
from graph.planning.resources.device import Device, devices
from graph.planning.resources.layout import Layout
from graph.planning.resources.limits import chains, holds, job_nodes, longest_hours, takes
from graph.planning.resources.memory import SOURCES, usable_gib
from graph.planning.resources.options import (
    WHOLE_NODE,
    ResourceOption,
    amount,
    base_layout,
    known_devices,
    wanted_gpus,
    ways,
)
from graph.planning.resources.parameters import SizedModel, find_model
from graph.planning.resources.patterns import pattern
from graph.planning.resources.reading import read_followup, read_question
from graph.planning.resources.saving import BYTES_FULL, BYTES_WEIGHTS, plan_saving
from graph.planning.resources.search import NODES, Fit, best_split
from graph.planning.resources.speed import SOURCE as FLOPS_SOURCE
from graph.planning.resources.speed import Range, flops_per_token, published_share
from graph.usecases.plan_resources import (
    FACTOR,
    RESERVE,
    UNPUBLISHED,
    ResourcePlan,
    batch_line,
    from_here,
    headline,
    mine_line,
    most_nodes,
    needless_line,
    plan_resources,
    refused_line,
)
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.document import Document
from knowledge.gpu_facts import gpu_table
from knowledge.resource_question import ResourceQuestion
from knowledge.served_models import weights_of
from knowledge.types import SERVERS
from templates.parts import SUBMITTED, kind_of

# Every machine there is, not the person's alone.
EVERY = re.compile(
    r"(?i)\b(?:all|any|every|each)\b(?: of)?(?: the| these| your| known)? (?:21 )?(?:machines?|clusters?|systems?)\b"
)
# Aims that are of memory, and those that take an amount of work.
OF_MEMORY, OF_WORK = ("fit", "memory", "nodes", "batch", "sequence", "hybrid"), ("hours", "cost", "jobs")
HOW_MUCH = "**For hours I need the work: how many tokens** (or epochs and samples, or steps and batch)? Until then:"
# Cards in the plural, or a number that is asked for.
SEVERAL = re.compile(
    r"(?i)\b(?:[ahvlt]\d{1,3}s|gh200s|mi\d{3}\w?s|(?:gpu|card|karte|carte|tarjeta)n?s|karten|how many|each)\b"
)
NO_PACE = (
    "**How fast it answers I have no sum for**: that goes with the engine, the batch and the lengths. Time a hundred "
    "requests on one copy and multiply. What holds it:"
)
TAKEN_AS = "Taken for a training of all parameters with Adam; *LoRA?* or *only served?* reckons that instead."
PRICE = re.compile(r"(?i)\b(?:SUs?|service units|cheap\w*|price|cost\w*|charge\w*|how much|expensive)\b")
# Nobody spreads the same work over so many times the nodes.
MOST_WIDER = 8
# Nobody chains more jobs than that.
MOST_JOBS = 200
# Minutes of one GPU up to which several of them are a mistake.
SMALL_MIN = 30.0
# Minutes that a short run loses to its start.
START_MIN = 3.0
# A save's seconds where no model's size is known.
UNKNOWN_SAVE_S = 60.0
# What is kept free behind the last save of a job.
END_S = 120
WORLD_BATCH_TOKENS = 4e6


def question_of(ask: Ask) -> ResourceQuestion:
    """What is asked of resources, with what the turn before and the job in hand say."""
    said = read_followup(ask.utterance, ask.resources)
    request = ResourceQuestion(
        model=ask.request.model,
        machines=(ask.machine.id,) if ask.machine else (),
        nodes=ask.request.nodes if ask.bundle else None,
        strategy=ask.request.strategy if ask.bundle and not said.model else None,
    )
    request = served_as(request, ask)
    question = said.after(request).over(() if EVERY.search(ask.text) else ask.own_machines)
    question = with_most_nodes(with_queue(question, ask.resources), ask)
    of_card = (question.gpu or question.gpu_gb) and not (question.machines or question.nodes or question.each)
    if of_card and question.aim == "fit" and not question.gpus and not SEVERAL.search(ask.text):
        question = replace(question, gpus=1)  # `does it fit on an A100?`, `auf meine 4090`: on that one
    named = bool(question.machines or question.gpu) and bool(question.pace_s and not question.pace_card)
    return replace(question, pace_card=known_devices(question)[0][0].facts.model) if named else question


def served_as(question: ResourceQuestion, ask: Ask) -> ResourceQuestion:
    """What is asked beside the script of a server is asked of the model that is served, on that script's GPUs."""
    if ask.plan is None or ask.request.framework not in SERVERS:
        return question
    model = ask.request.model or ""
    return replace(
        question,
        task="serve",
        strategy=None,
        nodes=None,
        gpus=ask.plan.nodes * ask.plan.ranks_per_node,
        queue=ask.plan.queue,
        gpu=next((d.facts.model for d, c in known_devices(question) if c and d.node_type == ask.plan.node_type), None),
        precision=weights_of(model) if weights_of(model) in ("fp8", "int8", "int4") else None,
        sequence=ask.request.sequence_length,
    )


def with_most_nodes(question: ResourceQuestion, ask: Ask) -> ResourceQuestion:
    """With as many nodes as a queue gives, where the most that one can have is asked."""
    if not pattern("quantities", "most_nodes").search(ask.text):
        return question
    device, cluster = next(iter(known_devices(question)), (None, None))
    queues = [q for q in cluster.queues if device and device.node_type in q.node_types] if cluster else []
    most = max((nodes for q in queues if q.purpose == "production" and (nodes := job_nodes(q, device.each))), default=0)  # type: ignore[union-attr]
    return replace(question, nodes=most, gpus=None, aim=None) if most else question


def with_queue(question: ResourceQuestion, before: ResourceQuestion | None) -> ResourceQuestion:
    """With the id of the queue that a word of its name or its purpose means (`preempt`), next to the one before."""
    cluster = catalogue().find(question.machines[0]) if len(question.machines) == 1 else None
    if cluster is None or not question.queue:
        return question
    if known := cluster.queue(question.queue):
        own = {d.facts.model for d in devices(cluster) if d.node_type in known.node_types}
        if question.gpu and own and question.gpu not in own:  # the queue is meant, and set against the other card
            others = tuple(dict.fromkeys((*question.or_gpus, question.gpu)))
            return replace(question, gpu=min(own), gpu_gb=None, or_gpus=others)
        return question
    word, old = question.queue.lower(), (before and before.queue) or ""
    kinds = {d.node_type for d, c in known_devices(replace(question, queue=old or None)) if c}
    meant = [q for q in cluster.queues if (word in q.id.lower() or word in q.purpose) and kinds & set(q.node_types)]
    meant.sort(key=lambda q: not q.id.startswith(old))
    return replace(question, queue=meant[0].id) if meant else question


def tell_saves(ask: Ask) -> str:
    """How often a training of that size saves; empty where neither a number of GPUs nor the failures are known."""
    return saves_line(question_of(ask))


def saves_line(question: ResourceQuestion) -> str:
    """By the failures (told, or published for so many GPUs), a save's time (told, or of its size), and the queue's
    limit. Without a model a save is taken for a minute."""
    device, cluster = next(iter(known_devices(question)), (None, None))
    gpus = question.gpus or (question.nodes * device.each if question.nodes and device else None)
    model = find_model(question.model) if question.model else None
    if device is None or not (gpus or (question.mtbf_h and question.mtbf_of == "job")):
        return ""
    nodes = question.nodes or -(-(gpus or 1) // (device.per_node or WHOLE_NODE))
    queues = [q for q in (cluster.queues if cluster else ()) if holds(q, device.node_type, nodes, gpus)]
    hours = question.hours or max((limit for q in queues if (limit := longest_hours(q, nodes))), default=None)
    of_size = model or (question.save_gb and question.write_gbs)
    cards = (gpus or 1) if device.kind == "GPU" else -(-(gpus or 1) // 2)  # what fails is a card, with both devices
    told_h, among = question.mtbf_h, {"node": nodes, "gpu": gpus or 1}.get(question.mtbf_of or "", 1)
    saves = plan_saving(
        model,
        cards,
        nodes,
        hours * 3600 if hours else None,
        question.save_s or (None if of_size else UNKNOWN_SAVE_S),
        size_gb=question.save_gb,
        write_gbs=question.write_gbs,
        mtbf_h=told_h / among if told_h else None,
    )
    counted = f"{gpus} GPUs" + (f" ({plural(nodes, 'node')})" if question.nodes else "")
    counted = plural(nodes, "node") if question.nodes and not cluster else counted
    where = f" on {counted}" + (f" of {cluster.title}" if cluster else "") if gpus else ""
    takes = time_words(saves.write_s)
    size = f"a checkpoint{f' of {model.name}' if model else ''} is {saves.size_gb:,.0f} GB and takes about {takes}"
    if question.save_s or not saves.size_gb:
        size = f"a save takes {takes}" if question.save_s else f"were a save {takes}"
    told_every = question.save_every_h or 0.0
    judged = ""
    if told_every and saves.mtbf_h:
        lost = min(1.0, told_every / 2 / saves.mtbf_h) + saves.write_s / 3600 / told_every
        best = saves.interval_s / 7200 / saves.mtbf_h + saves.write_s / saves.interval_s
        much = "too rarely" if told_every * 3600 > saves.interval_s else "more often than needed"
        if lost > 1.3 * best:
            judged = (
                f"**Every {time_words(told_every * 3600)} is {much}**: about {lost:.0%} of the time is lost to work "
                f"done twice and to saving, against {best:.0%}. "
            )
    fails = f"so many GPUs fail about every {time_words(saves.mtbf_h * 3600)} (published rates of large clusters)"
    if told_h:
        shared = f" / {among} = {time_words(saves.mtbf_h * 3600)}" if among > 1 else ""
        fails = f"a failure about every {time_words(told_h * 3600)}{shared}"
        if question.mtbf_of == "node" and not question.nodes and device.per_node is None:
            fails += f" (a node taken for one of {WHOLE_NODE} GPUs)"
    formula = f"sqrt(2 x {saves.write_s:,.0f} s x {saves.mtbf_h * 3600:,.0f} s)"
    why = f"half of the {hours:g} h that a job has" if saves.by_limit else f"Young's and Daly's interval, {formula}"
    lead = 60 * math.ceil((1.5 * saves.write_s + END_S) / 60)
    ends = (
        f"**The last one starts {lead // 60} min before the time limit** (`--signal=B:USR1@{lead}` in Slurm): a save, "
        f"half as much again, and {END_S // 60} min for the end. "
    )
    return (
        f"{judged}**Every {time_words(saves.interval_s)}{where}**, and once before the time limit: {size}; {fails}; "
        f"{why}. {ends}Where a save costs little, more often: what is lost is what was done since."
        f"{' ' + room if (room := room_line(question, model)) else ''}"
    )


def room_line(question: ResourceQuestion, model: SizedModel | None) -> str:
    """How many checkpoints the room for files holds, and what to do; empty where no room or size was said."""
    if not question.disk_gb or model is None:
        return ""
    full, weights = (model.parameters * each / 1e9 for each in (BYTES_FULL, BYTES_WEIGHTS))
    if count := int(question.disk_gb // full):
        return f"**{question.disk_gb:,.0f} GB hold {count} of them**: delete the oldest once the newest is whole."
    alone = f", or keep the 16-bit weights alone ({weights:,.0f} GB)" if weights <= question.disk_gb else ""
    return (
        f"**{question.disk_gb:,.0f} GB hold not one of them** ({full:,.0f} GB): save to a larger file system, ask for "
        f"more room{alone}."
    )


def time_words(seconds: float) -> str:
    """`40 s`, `31 min`, `6.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{round(seconds / 3600, 1):g} h" if seconds < 360_000 else f"{seconds / 3600:,.0f} h"


def work_or_fit(ask: Ask, question: ResourceQuestion) -> Document | None:
    """A job against the limits, hours for the work that was said, else what holds the model; None where the question
    gives too little for any of them."""
    said = read_question(ask.utterance)
    model = find_model(question.model) if question.model else None
    clusters = [c for name in question.machines if (c := catalogue().find(name))]
    priced = PRICE.search(ask.text) and clusters and question.hours and (question.gpus or question.nodes)
    if priced and (told := tell_prices(clusters[0], question)):
        return told
    if question.flops and model is None:
        return tell_flops(question)
    if model is None and UNPUBLISHED.search(question.model or ""):
        return plan_resources(question).document
    if model is None and clusters and question.hours and ("jobs" in (question.aim, *question.also) or question.start_h):
        return with_unused(ask, question, tell_chain(clusters[0], question), "limits")
    if model is None and not clusters and question.job_h and question.hours:
        jobs = math.ceil(question.hours / (question.job_h - (question.start_h or 0.0)))
        many = f"**{jobs} jobs of {question.job_h:g} h are {question.hours:g} h**, about {math.ceil(1.1 * jobs)} with"
        return write_document(f"{many} restarts: each saves before its limit and goes on from the newest checkpoint.")
    if model is None and not clusters and question.nodes and question.hours and question.node_hours:
        return write_document(*price_lines(question))
    if model is None and clusters and question.nodes and question.hours and not question.task:
        return with_unused(ask, question, tell_limits(clusters[0], question), "limits")
    if model is None and clusters and not question.measured_gb and (question.nodes or question.hours):
        return None
    of_memory = question.aim in OF_MEMORY and not (said.tokens or said.samples or said.steps)
    bound = question if said.aim is None else said  # what goes on from a question of hours is one
    elsewhere = said.aim is None and ask.resources is not None and question.queue != ask.resources.queue
    bounded = bound.hours or bound.gpu_hours or bound.node_hours or elsewhere
    if model and question.task != "serve" and amount(question, model) and not (of_memory and not bounded):
        if eased_task(question, plan_resources(question)):
            return planned(ask, question)
        said_first = write_document(spoken_hours(ask, question, model))
        return with_unused(ask, question, said_first + tell_hours(question, model), "hours")
    if saw_memory(question):
        return what_fits(question)
    told = planned(ask, question)
    limited = question.hours or question.gpu_hours or question.node_hours
    if question.aim in OF_WORK and model and question.task != "serve" and not limited:
        return write_document(HOW_MUCH) + told
    return told


def spoken_hours(ask: Ask, question: ResourceQuestion, model: SizedModel) -> str:
    """The GPU hours in the language of the question; empty for English."""
    total, (device, cluster) = amount(question, model), next(iter(known_devices(question)), (None, None))
    if not total or device is None:
        return ""
    hours = round_words(hours_on(question, model, device, total).usual)
    return spoken(
        ask.text, "hours", hours=hours, gpu=device.facts.model, where=f" ({cluster.title})" if cluster else ""
    )


def saw_memory(question: ResourceQuestion) -> bool:
    """Whether the GB that were told are what a job was seen to take: of a model of known size that is trained in whole,
    `needs only 140 GB` is less than its states, and no measurement."""
    model = find_model(question.model) if question.model else None
    whole = model.parameters * 8 / 1e9 if model and question.task == "train" else 0.0
    return bool(question.measured_gb and question.measured_gb >= whole)


def planned(ask: Ask, question: ResourceQuestion) -> Document:
    """What would do, what a budget pays for, and which values of the message it does not use."""
    plan = plan_resources(question)
    if question.task == "serve" and plan.model:
        timed = question.aim in ("hours", "cost", "speed", "jobs")
        return write_document(NO_PACE if timed else "") + with_unused(ask, question, plan.document, "serve")
    if plan.model is None:
        return with_unused(ask, question, plan.document, "fit")
    if eased := eased_task(question, plan):
        way = {"lora": "LoRA", "qlora": "QLoRA"}[eased]
        told = write_document(f"**{headline(plan.model, plan.options[0]).split('**')[1]}: but it does with {way}.**")
        return told + planned(ask, replace(question, task=eased))
    bought = [affordable(question, plan.model, device, cluster) for device, cluster in known_devices(question)[:2]]
    spoken = write_document(verdict_line(ask.text, plan))
    told = with_unused(ask, question, spoken + write_document(*bought) + plan.document, "fit")
    return told + write_document("" if says_training(ask, question) else TAKEN_AS)


def eased_task(question: ResourceQuestion, plan: ResourcePlan) -> Literal["lora", "qlora"] | None:
    """The way of training that holds on the one card which was said, where all parameters do not fit there and no way
    was named."""
    named = question.task or question.strategy or question.optimizer or question.offload or question.denied
    if named or question.gpus != 1 or not plan.options or plan.options[0].fit.verdict != "no" or not plan.model:
        return None
    if plan.model.shape.kind != "decoder":
        return None
    ways: tuple[Literal["lora", "qlora"], ...] = ("lora", "qlora")
    return next((task for task in ways if that_fit(replace(question, task=task), plan.model)), None)


def says_training(ask: Ask, question: ResourceQuestion) -> bool:
    """Whether a message, or the one before it, says anything by which a model is trained and not only kept."""
    said = ("task", "strategy", "optimizer", "micro_batch", "global_batch", "tokens", "recompute", "offload")
    told = (question.aim not in (None, "fit", "memory", "nodes"), ask.resources, *map(question.said().get, said))
    return any(told) or pattern("quantities", "trains").search(ask.text) is not None


def with_unused(ask: Ask, question: ResourceQuestion, told: Document, kind: str) -> Document:
    """The answer, and in its end what of the message it does not use."""
    line = unused_line(ask, question, kind)
    return told + write_document(line) if line else told


def plan_with_hours(plan: ResourcePlan) -> Document:
    """A plan with the hours of the work that was said: those of its options, which know the network and what is
    computed twice; by published utilisation alone only where no option has any."""
    question = plan.question
    if plan.model is None or question.task == "serve" or not question.tokens:
        return plan.document
    timed = [one for one in plan.options if one.hours and one.fit.verdict == "fits" and one.accepted]
    if not timed:
        return tell_hours(question, plan.model) + plan.document
    return write_document(in_time_line(question, timed)) + plan.document


def in_time_line(question: ResourceQuestion, timed: Sequence[ResourceOption]) -> str:
    """Whether the quickest way ends within the hours that were said; empty where none were."""
    best = min(timed, key=lambda one: one.hours.usual if one.hours else math.inf)
    if not question.hours or not best.hours:
        return ""
    most = max(best.hours.low, best.hours.best)
    verdict = "No" if best.hours.usual > question.hours else "Yes" if most <= question.hours else "Just"
    return f"**{verdict}: {hours_words(best.hours)} on {place_words(best)}, against {question.hours:g} h.**"


def tell_hours(question: ResourceQuestion, model: SizedModel, *, memory: bool = True) -> Document:
    """GPU hours by FLOPs and published utilisation, the wall time of a number of nodes, and the queues for it. memory:
    whether to say that it fits, too."""
    total = amount(question, model) or 0.0
    sequence = base_layout(question, model).sequence
    method = base_layout(question, model).method
    flops = flops_per_token(model, sequence, method) * total
    options = plan_resources(question).options
    order = [one.fit.device for one in options]
    there = sorted(known_devices(question), key=lambda pair: order.index(pair[0]) if pair[0] in order else len(order))
    kinds = {(d.facts.model, d.each, c.id if c else ""): (d, c) for d, c in reversed(there)}
    found = list(kinds.values())[::-1][:3]
    unit = "images" if model.shape.kind == "convolution" else "tokens"
    shares = "; ".join(dict.fromkeys(share_words(model, device) for device, _ in found))
    formula = f"{6 if method == 'full' else 4} x {count_words(model.active)} parameters, and attention,"
    if model.shape.kind == "convolution":
        formula = f"3 x 2 x {model.shape.gflops:g} G multiply-adds forward"
    said = bool(question.nodes or question.gpus)
    best = options[0] if said and options else None
    least = {} if said else {one.fit.device.name: one for one in reversed(options) if one.fit.verdict == "fits"}
    holding, not_held = _holding(question, model, found)
    if question.hours:  # how many GPUs for that time is told: not how long the fewest would take
        least = {}
    lines = [
        _hours_line(question, model, device, cluster, total, least.get(device.name))
        for device, cluster in holding or found
    ]
    if model.shape.kind == "other":
        return plan_resources(question).document
    if best and best.cluster and not best.accepted and 0 < (most := most_nodes(best)) < best.nodes:
        fewer = replace(question, nodes=most, gpus=None, gpu=best.fit.device.facts.model)
        refused = write_document(refused_line(best), f"On {plural(most, 'node')} of it:")
        return refused + tell_hours(fewer, model, memory=memory)
    fits = best and best.fit.verdict == "fits" and best.accepted
    if best and fits and (small := small_line(question, model, best, total)):
        alone = replace(question, nodes=None, gpus=1, each=None, hours=None)
        return write_document(small) + tell_hours(alone, model, memory=memory)
    return write_document(
        mine_line(question),
        memory_line(question, model, best) if best and memory and not fits else "",
        not_held if holding else "",
        runs_line(question, model, total, holding or found),
        *(one_job_of(question, model, device, cluster, total) for device, cluster in holding),
        *(job_tokens(question, model, device, cluster) for device, cluster in holding[:1]),
        *(within(question, model, device, cluster, total) for device, cluster in holding),
        *(
            f"{f'{device.name}: ' if len(found) > 1 else ''}{told}"
            for device, cluster in found
            if (told := against_budget(question, model, device, cluster, total))
        ),
        memory_line(question, model, best) if best and memory and fits else "",
        *lines,
        *(holding_line(model, one) for one in list(least.values())[:2]),
        f"The sum: {count_words(total)} {unit} x {formula} = "
        f"{flops:.2g} FLOP; {shares}. An estimate: your own tokens a second after ten minutes decide. {RESERVE}",
        cite([FLOPS_SOURCE, *(device.facts.source for device, _ in found)], gpu_table().as_of),
    )


def one_job_of(
    question: ResourceQuestion, model: SizedModel, device: Device, cluster: Cluster | None, total: float
) -> str:
    """The verdict on the queue that was named, on the GPUs that were."""
    gpus = wanted_gpus(question, device)
    if not gpus:
        return ""
    wall = hours_on(question, model, device, total).scaled(1 / gpus)
    return one_job_line(question, cluster, device.nodes_for(gpus), gpus, wall)


def job_tokens(question: ResourceQuestion, model: SizedModel, device: Device, cluster: Cluster | None) -> str:
    """How many tokens one job there works through, where that is asked beside the whole."""
    gpus = wanted_gpus(question, device)
    found = chains(cluster, device.node_type, device.nodes_for(gpus), 1.0, gpus) if cluster and gpus else []
    if question.aim != "budget" or question.hours or not found or not found[0].limit_h:
        return ""
    asked = replace(question, hours=found[0].limit_h, node_hours=None, gpu_hours=None, site_units=None)
    return f"In one job of `{found[0].queue.id}`: {affordable(asked, model, device, cluster)}"


def small_line(question: ResourceQuestion, model: SizedModel, best: ResourceOption, total: float) -> str:
    """That many GPUs are too many for work that one does in minutes; empty else."""
    device = best.fit.device
    alone = hours_on(question, model, device, total)
    if best.fit.layout.gpus <= 1 or max(alone.low, alone.best) * 60 > SMALL_MIN:
        return ""
    one = next(iter(plan_resources(replace(question, nodes=None, gpus=1)).options), None)
    if one is None or one.fit.verdict != "fits":
        return ""
    size, spent = best.fit.layout.gpus, question.hours or 0.0
    asked = (
        f" {plural(best.nodes, 'node')} for {spent:g} h would be {best.nodes * spent:,.0f} node hours." if spent else ""
    )
    queues = best.cluster.queues if best.cluster else ()
    shared = [q for q in queues if q.purpose == "shared" and device.node_type in q.node_types]
    where = f", in `{shared[0].id}`" if shared else ""
    return (
        f"**{size} GPUs are far too many: one does it in {hours_words(alone)} of arithmetic**, some minutes with "
        f"starting and loading. Take one GPU for half an hour{where}; so many would get a few samples each and do few, "
        f"too large steps.{asked}"
    )


def runs_line(
    question: ResourceQuestion, model: SizedModel, total: float, found: list[tuple[Device, Cluster | None]]
) -> str:
    """What several such trainings take together; empty where one is spoken of."""
    if (question.runs or 1) < 2:
        return ""
    told = []
    for device, cluster in found:
        hours = hours_on(question, model, device, total).scaled(question.runs or 1)
        nodes = f", {round_words(hours.usual / device.each)} node hours" if cluster else ""
        told.append(f"{range_words(hours, f'{device.facts.model} {device.kind} hours')}{nodes}")
    many = question.runs or 1
    starts = f", and {many * START_MIN / 60:,.0f} GPU hours more if each loses {START_MIN:g} min to its start"
    return (
        f"**All {many} of them: {'; '.join(told)}**{starts}. They are independent: a job array, and where one GPU "
        "holds a run several of them in each task, one on each GPU. Each of them:"
    )


def _holding(
    question: ResourceQuestion, model: SizedModel, found: list[tuple[Device, Cluster | None]]
) -> tuple[list[tuple[Device, Cluster | None]], str]:
    """Those of several devices whose GPUs, as many as were said, hold the model; and a line about the others."""
    no = [
        (device, cluster)
        for device, cluster in found
        if (fits := ways(question, model, device, cluster)) and all(fit.verdict == "no" for fit in fits)
    ]
    told = "; ".join(
        f"{wanted_gpus(question, device) or ''} x {device.name}" + (f" of {cluster.title}" if cluster else "")
        for device, cluster in no
    )
    return [pair for pair in found if pair not in no], f"**It does not fit in memory on {told}.**" if no else ""


def holding_line(model: SizedModel, least: ResourceOption) -> str:
    """What holds the model, beside hours for which no number of GPUs was said."""
    alone = "" if least.fit.layout.gpus == 1 else f" One {least.fit.device.name} alone does not hold it."
    return f"In memory: {option_line(replace(least, hours=None))}; {states_words(model, least.fit)}.{alone}"


def memory_line(question: ResourceQuestion, model: SizedModel, best: ResourceOption) -> str:
    """Whether it fits there at all, beside the hours."""
    if best.fit.verdict != "fits" or not best.accepted:
        return " ".join(
            (headline(model, best), refused_line(best) if not best.accepted else from_here(question, model))
        )
    plain = needless_line(question, model, best)
    batch = batch_line(question, model, best) if question.global_batch else ""
    told = f"In memory it fits: {option_line(replace(best, hours=None))}; {states_words(model, best.fit)}."
    return " ".join(filter(None, (told, plain, batch)))


def share_words(model: SizedModel, device: Device) -> str:
    """A GPU's peak, and the share of it that such trainings reach."""
    share = published_share(model, device).scaled(100)
    low, usual, best = share.low, share.usual, share.best
    bound = f", held up by {device.facts.hbm:g} TB/s of memory" if model.shape.kind == "convolution" else ""
    guess = ", assumed: no published training was found" if device.facts.assumed else ""
    return (
        f"{device.facts.model} ({device.kind}) peaks at {device.facts.tflops:g} TFLOP/s in 16 bit, of which trainings "
        f"reach {low:.0f} to {best:.0f} %, usually {usual:.0f} %{bound}{guess}"
    )


def hours_of(question: ResourceQuestion, option: ResourceOption, model: SizedModel) -> list[str]:
    """What the work that was said takes on an option's machine, against the budget where one was said."""
    total, device, cluster = amount(question, model), option.fit.device, option.cluster
    if not total:
        return []
    paid = against_budget(question, model, device, cluster, total)
    paid = f"{cluster.title}: {paid}" if paid and cluster else paid
    return [paid, _hours_line(question, model, device, cluster, total, option)]


def _hours_line(
    question: ResourceQuestion,
    model: SizedModel,
    device: Device,
    cluster: Cluster | None,
    total: float,
    least: ResourceOption | None = None,
) -> str:
    """`About 420 A100 hours`, node hours, and the wall time on the nodes that were said; else on the fewest that surely
    hold it."""
    hours = hours_on(question, model, device, total)
    where = f" on {cluster.title}" if cluster else ""
    told = f"**{range_words(hours, f'{device.facts.model} {device.kind} hours')}{where}**".replace("**about", "**About")
    if cluster and device.each > 1:
        told += f", that is {round_words(hours.usual / device.each)} node hours at {device.each} {device.kind}s a node"
    gpus = wanted_gpus(question, device) or (least.fit.layout.gpus if least else None)
    if not gpus:
        return f"{told}."
    if cluster and not wanted_gpus(question, device) and is_whole(cluster.default_queue, cluster):
        gpus = max(gpus, device.each)
    charged = site_charge(question, cluster, device, hours.usual, gpus)
    if charged and not (charged[1] == "node hours" and 0.99 < charged[0] * device.each / hours.usual < 1.01):
        ends = (
            ""
            if hours.low == hours.best
            else " ({} to {})".format(
                *(
                    round_words(charged[0] * end / hours.usual)
                    for end in (min(hours.low, hours.best), max(hours.low, hours.best))
                )
            )
        )
        told += f", **charged as about {round_words(charged[0])} {charged[1]}{ends}**"
    fewest = ", which surely hold it" if least else ""
    if cluster and not wanted_gpus(question, device) and gpus < device.each:
        limits = [longest_hours(q, 1) or 0.0 for q in cluster.queues if holds(q, device.node_type, 1, gpus)]
        if hours.usual / gpus > max(limits, default=0.0):  # the GPUs of the same node before a chain of jobs
            gpus, fewest = device.each, ""
    if more := sensible_nodes(question, device, cluster, hours, gpus):
        gpus, fewest = more * device.each, ""
    wall = hours.scaled(1 / gpus)
    nodes = device.nodes_for(gpus)
    size = f"{plural(nodes, 'node')} ({plural(gpus, device.kind)})" if cluster else plural(gpus, device.kind)
    told += f". On {size}{fewest}: {hours_words(wall)} of wall time"
    return (
        f"{told}. {queue_words(cluster, device.node_type, nodes, wall.usual, gpus, wall.best)}"
        if cluster
        else f"{told}."
    )


def queue_words(
    cluster: Cluster, node_type: str, nodes: int, hours: float, gpus: int | None = None, slow: float = 0.0
) -> str:
    """Which queues take that many nodes for so long, and how many jobs in a chain the others need; slow: hours at the
    low end of published speeds."""
    whole, parts, just = [], [], []
    for queue in cluster.queues:
        if queue.purpose in ("interactive", "special") or not holds(queue, node_type, nodes, gpus):
            continue
        limit = longest_hours(queue, nodes)
        if limit is None:
            whole.append(f"`{queue.id}` (its time limit is not in my facts)")
        elif limit >= hours and slow > limit:
            just.append(
                f"`{queue.id}` (up to {limit:g} h; {math.ceil(slow / limit)} jobs at the low end of the speeds)"
            )
        elif limit >= hours:
            whole.append(f"`{queue.id}` (up to {limit:g} h)")
        elif queue.purpose != "debug" and hours <= MOST_JOBS * limit:
            few, many = math.ceil(hours / limit), math.ceil(slow / limit)
            jobs = f"{few} to {many}" if many > few else f"{few}"
            parts.append(f"`{queue.id}` in a chain of {jobs} jobs of {limit:g} h")
    told = (
        f"In one job: {', '.join((*whole, *just))}. "
        if whole or just
        else f"No queue takes {plural(nodes, 'node')} that long. "
    )
    chain = f"Else {'; '.join(parts)}, each from the last checkpoint." if parts else ""
    return (told + chain).strip()


def price_lines(question: ResourceQuestion) -> list[str]:
    """Nodes times hours of all runs against the node hours that there are."""
    nodes, hours, runs = question.nodes or 1, question.hours or 0.0, question.runs or 1
    price, there = nodes * hours * runs, question.node_hours or 0.0
    times = f"{runs} x " if runs > 1 else ""
    verdict = f"Yes, {there - price:,.4g} are left" if price <= there else f"No, {price - there:,.4g} are missing"
    return [f"**{verdict}: {times}{nodes} nodes x {hours:g} h = {price:,.4g} node hours** of {there:,.4g}.", RESERVE]


def tell_limits(cluster: Cluster, question: ResourceQuestion) -> Document:
    """Whether a job of that many nodes and hours is accepted and covered, and what would be."""
    nodes, hours = question.nodes or 1, question.hours or 1.0
    price = nodes * hours
    covered = ""
    if question.node_hours:
        left = question.node_hours - price
        covered = f" Of {question.node_hours:,.0f} node hours " + (
            f"{left:,.0f} stay" if left >= 0 else "it is too much"
        )
    kind = kind_of_node(cluster, question)
    limits = [longest_hours(q, nodes) or 0.0 for q in cluster.queues if holds(q, kind, nodes, None)]
    accepted = any(limit >= hours for limit in limits)
    why = "" if accepted else f", but no queue of {cluster.title} takes {plural(nodes, 'node')} for {hours:g} h"
    if question.queue and (named := cluster.queue(question.queue)):
        limit = longest_hours(named, nodes) if takes(named, nodes, None) else 0.0
        accepted = limit is None or limit >= hours
        most = f"{plural(nodes, 'node')} for {limit:g} h at most" if limit else f"no job of {plural(nodes, 'node')}"
        why = "" if accepted else f", but `{named.id}` takes {most}"
    opening = "Yes" if accepted and (not question.node_hours or price <= question.node_hours) else "No"
    usual = cluster.default_queue
    if accepted and not question.queue and holds(usual, kind, nodes, None):
        limit = longest_hours(usual, nodes)
        taking = next(
            (q for q in cluster.queues if holds(q, kind, nodes, None) and (longest_hours(q, nodes) or 0) >= hours), None
        )
        if limit and limit < hours and taking:
            most = f"{plural(nodes, 'node')} for {limit:g} h at most"
            why = f", in `{taking.id}`, not in the usual `{usual.id}`, which takes {most}"
    each = cluster.node_type(kind).gpus.per_node
    in_gpus = f" (x {plural(each, 'GPU')} a node = {price_in_words(price * each)} GPU hours)" if each else ""
    return write_document(
        f"**{opening}:** {nodes} x {time_words(hours * 3600)} = {price_in_words(price)} node hours"
        f"{in_gpus}{why}.{covered}",
        queue_words(cluster, kind, nodes, hours),
        _smaller(cluster, kind, price, nodes),
        cite([q.source for q in cluster.queues if q.source], cluster.as_of),
    )


def kind_of_node(cluster: Cluster, question: ResourceQuestion) -> str:
    """The node type of the GPU that is named, else the usual one."""
    named = (device.node_type for device, there in known_devices(question) if there)
    return (next(named, "") if question.gpu else "") or cluster.default_queue.node_types[0]


def tell_chain(cluster: Cluster, question: ResourceQuestion) -> Document:
    """How many jobs a run of so many hours is, by the limit of each queue and the one that was said."""
    hours, nodes, kind = question.hours or 1.0, question.nodes or 1, kind_of_node(cluster, question)
    named = [q for q in cluster.queues if q.id == question.queue]
    taking = named or [
        q for q in cluster.queues if holds(q, kind, nodes, None) and q.purpose in ("production", "preempt")
    ]
    lost = question.start_h or 0.0
    counted = [
        (q, limit, math.ceil(hours / (limit - lost)))
        for q in taking
        if (longest := longest_hours(q, nodes))
        and takes(q, nodes, None)
        and (limit := min(longest, question.job_h or longest)) > lost
    ]
    each = f" - {time_words(lost * 3600)} for each start" if lost else ""
    rows = []
    for queue, limit, jobs in counted:
        more = f" (about {math.ceil(1.1 * jobs)} with restarts)" if jobs > 1 else ""
        spent = nodes * (hours + lost * jobs)
        price = f", {spent:,.0f} node hours" if question.nodes else ""
        rows.append(f"`{queue.id}` {jobs} of {limit:g} h{each}{more}{price}")
    told = f"**{hours:g} h on {cluster.title} are at least this many jobs: {'; '.join(rows)}**." if rows else ""
    if question.nodes and lost and rows:
        told += f" The work alone is {nodes} x {hours:g} h = {nodes * hours:,.0f} node hours."
    several = next((jobs for _, _, jobs in counted if jobs > 1), 0)
    waits = SUBMITTED[cluster.scheduler][1].format(kind=kind_of("afterany", cluster.scheduler))
    return write_document(
        told or f"No queue of {cluster.title} with a known limit takes {plural(nodes, 'node')}.",
        f"A chain of them (*chain {several} of them*): each waits for the one before "
        f"(`{waits.replace('$before', '<JOBID>')}`), saves before its limit and goes on from the newest checkpoint."
        if several
        else None,
        cite([queue.source for queue in taking if queue.source], cluster.as_of),
    )


def _smaller(cluster: Cluster, kind: str, price: float, nodes: int) -> str:
    """The same node hours on another number of nodes: the most of a queue with fewer, the least that a longer limit
    asks for, with the jobs that it is there."""
    told = []
    for queue in cluster.queues:
        if kind not in queue.node_types or queue.purpose not in ("production", "preempt"):
            continue
        for other in (queue.max_nodes or 0, *(step.min_nodes for step in queue.limits)):
            limit = longest_hours(queue, other) if takes(queue, other, None) else None
            now = longest_hours(queue, nodes) if takes(queue, nodes, None) else 0.0
            if (
                other
                and limit
                and other <= MOST_WIDER * nodes
                and (other < nodes if queue.max_nodes == other else other > nodes and limit > (now or 0))
            ):
                takes_h = price / other
                fits = "in one job" if takes_h <= limit else f"in {-int(-takes_h // limit)} jobs"
                told.append(
                    f"`{queue.id}`: {plural(other, 'node')} for about {takes_h:.0f} h (limit {limit:g} h, {fits})"
                )
    return f"The same node hours on other numbers of nodes, if it scales: {'; '.join(told[:4])}." if told else ""


def tell_flops(question: ResourceQuestion) -> Document:
    """GPU and node hours of work that is told as arithmetic, on each machine."""
    work, lines = question.flops or 0.0, []
    found = known_devices(question)[:4]
    for device, cluster in found:
        share = Range(*device.facts.mfu)
        hours = [work / (device.facts.tflops * 1e12 * part) / 3600 for part in (share.best, share.usual, share.low)]
        told = range_words(Range(*hours).scaled(1 / device.each), "node hours" if cluster else "GPU hours")
        gpus = wanted_gpus(question, device)
        wall = f"; on {gpus} {device.kind}s {hours_words(Range(*hours).scaled(1 / gpus))}" if gpus else ""
        lines.append(
            f"**{cluster.title if cluster else device.name}: {told}**{wall}: {device.each} x {device.facts.tflops:g} "
            f"TFLOP/s x {100 * share.usual:.0f} % ({100 * share.low:.0f} to {100 * share.best:.0f})"
        )
    near = "Where the ranges overlap, the software (CUDA or ROCm), the queue and your allocation decide." * (
        len(found) > 1
    )
    return write_document(
        f"{work:.2g} FLOP:", *(f"{line}." for line in lines), near, RESERVE,
        cite([FLOPS_SOURCE, *(device.facts.source for device, _ in found)], gpu_table().as_of),
    )  # fmt: skip


def tell_prices(cluster: Cluster, question: ResourceQuestion) -> Document | None:
    """What GPUs for so many hours cost in each queue whose charge factor is known, the cheapest first."""
    rows, asked = [], replace(question, queue=None)
    for queue in cluster.queues:
        device = next((d for d, _ in known_devices(asked) if d.node_type in queue.node_types), None)
        found = FACTOR.search(queue.note or "")
        if device is None or not found:
            continue
        gpus = question.gpus or (question.nodes or 1) * device.each
        limit, nodes = longest_hours(queue, device.nodes_for(gpus)), device.nodes_for(gpus)
        if takes(queue, nodes, gpus) and (limit is None or limit >= (question.hours or 0)):
            rows.append((float(found[1]) * gpus * (question.hours or 0), queue, device, gpus, float(found[1])))
    if not rows:
        return None
    rows.sort(key=lambda row: row[0])
    price, queue, device, gpus, factor = rows[0]
    preempt = " It may be preempted: ask for --requeue and save often." if queue.purpose == "preempt" else ""
    steps = "; ".join(
        f"`{q.id}` ({d.name}): {g} x {question.hours:g} h x {f:g} = {round_words(p)}" for p, q, d, g, f in rows[:6]
    )
    return write_document(
        f"**`{queue.id}` is the cheapest: {gpus} x {question.hours:g} h x {factor:g} = {round_words(price)} units.**"
        f"{preempt}",
        f"All that take it, by price: {steps}.",
        _link_words({d.name: d for _, _, d, _, _ in rows}.values()),
        cite([queue.source or ""], cluster.as_of),
    )


def _link_words(found: Iterable[Device]) -> str:
    """What a cheaper card gives up."""
    told = [f"{d.name}: {d.facts.tflops:g} TFLOP/s, {d.facts.link_gbytes:g} GB/s between GPUs of a node" for d in found]
    return f"What you get: {'; '.join(told)}."


def what_fits(question: ResourceQuestion) -> Document:
    """What helps where a job was seen to take so many GB on one GPU: sharing it out, shrinking it, a larger card.

    Without the model's size three quarters of what was seen are taken for states that sharding spreads.
    """
    seen = question.measured_gb or 0.0
    found = known_devices(question)
    model = find_model(question.model) if question.model else None
    states = min(0.95 * seen, model.parameters * 16 / 2**30) if model else 0.75 * seen
    lines = []
    smallest = min(found, key=lambda pair: pair[0].gb)[0] if found else None
    if smallest:
        room = usable_gib(smallest.gb)
        gpus = next((n for n in (2, 4, 8, 16, 32) if states / n + (seen - states) * 1.2 <= room), None)
        left = states / gpus + (seen - states) if gpus else 0.0
        spread = (
            f"FSDP or ZeRO-3 over {gpus} x {smallest.name}: about {states:.0f}/{gpus} + {seen - states:.0f} = "
            f"{left:.0f} of {room:.0f} GB usable on each"
            if gpus
            else f"sharding alone does not do it on {smallest.name}: the rest is activations"
        )
        sold = sorted(gb for gpu in gpu_table().gpus if gpu.model == smallest.facts.model for gb in gpu.gb)
        least = next((gb for gb in sold if usable_gib(gb) >= seen), smallest.gb)
        fewer = f", and on one of {least:g} GB ({usable_gib(least):.0f} usable) as well" if least < smallest.gb else ""
        verdict = f"do not fit on {smallest.name}** (about {room:.0f} usable)."
        if seen <= room:
            verdict = f"fit on {smallest.name}** (about {room:.0f} usable){fewer}. If it grows:"
        lines.append(f"**{seen:g} GB {verdict}")
        lines.append(
            f"In this order: {spread}; activation checkpointing (about a third more time); an 8-bit optimizer (a "
            "quarter to a third of the states less); offload of the optimizer to the CPU (slow)."
        )
    lines += [_larger(cluster, seen) for cluster in {c.id: c for _, c in found if c}.values()]
    guess = (
        "" if model else "I take three quarters of it for weights, gradients and Adam; say the model's size for a sum."
    )
    return write_document(*lines, guess, cite(SOURCES, gpu_table().as_of))


def _larger(cluster: Cluster, seen: float) -> str:
    """Cards of the same machine that hold it as it is, with their queues' notes."""
    told = []
    for device in devices(cluster):
        queue = next((q for q in cluster.queues if device.node_type in q.node_types), None)
        if usable_gib(device.gb) >= seen and queue:
            note = f": {queue.note}" if queue.note else ""
            few = f", {device.node_count} nodes" if device.node_count else ""
            told.append(f"{device.name} in `{queue.id}`{few}{note}")
    return f"As it is it fits {cluster.title}'s {'; '.join(dict.fromkeys(told))}." if told else ""


def tell_split(ask: Ask) -> Document | None:
    """Tensor, pipeline and data parallel degrees that multiply to the GPUs; None without size, machine and nodes."""
    question = question_of(ask)
    model = find_model(question.model) if question.model else None
    found = [(d, c) for d, c in known_devices(question) if c]
    if model is None or not found or not (question.nodes or question.gpus):
        return None
    lines = [_split_words(model, device, cluster, question) for device, cluster in found[:2]]
    verdict = lines[0].split("**")[1] if lines[0].startswith("**TP") else ""
    return write_document(
        spoken(ask.text, "take", what=verdict) if verdict else "",
        *lines,
        "Tensor parallelism stays inside a node, on its fast links; pipeline stages are as few as make it fit; the "
        "rest is data parallel with the optimizer sharded (`--use-distributed-optimizer`). Try the neighbours and "
        "compare tokens a second.",
        cite(SOURCES, gpu_table().as_of),
    )


def _split_words(model: SizedModel, device: Device, cluster: Cluster, question: ResourceQuestion) -> str:
    gpus = question.nodes * device.each if question.nodes else question.gpus or device.each
    layout = Layout(spread="zero1", gpus=gpus, sequence=question.sequence or 4096)
    fit = best_split(model, layout, device)
    if fit is None:
        more = (n for n in NODES if n * device.each > gpus)
        least = next((n for n in more if best_split(model, replace(layout, gpus=n * device.each), device)), None)
        from_there = f" From {plural(least, 'node')} on a split does." if least else ""
        return (
            f"**{model.name} does not fit on {gpus} x {device.name} of {cluster.title}** with any split that I tried."
            f"{from_there}"
        )
    done = fit.layout
    batch = _batch_words(fit)
    nodes = device.nodes_for(gpus)
    if not any(holds(queue, device.node_type, nodes, gpus) for queue in cluster.queues):
        most = max((q.max_nodes or 0 for q in cluster.queues if device.node_type in q.node_types), default=0)
        batch += f" **But no queue there takes {plural(nodes, 'node')}**" + (f": at most {most}." if most else ".")
    return (
        f"**TP {done.tensor} x PP {done.pipeline} x DP {done.data}** = {gpus} {device.kind}s of {cluster.title} "
        f"({plural(device.nodes_for(gpus), 'node')}): {fit.memory.gib:.0f} to {fit.memory.most:.0f} GiB on each "
        f"{device.name}. {batch}"
    )


def _batch_words(fit: Fit) -> str:
    """A global batch of about four million tokens that divides."""
    layout = fit.layout
    steps = max(layout.pipeline * 4, round(WORLD_BATCH_TOKENS / (layout.sequence * layout.data)))
    total = steps * layout.data
    return (
        f"Global batch {total} = micro-batch 1 x {steps} accumulation steps x {layout.data} replicas, "
        f"{count_words(total * layout.sequence)} tokens a step."
    )


def tell_batch_of_split(ask: Ask) -> Document | None:
    """The global batch for the split just worked out; None where there is none."""
    question = question_of(ask)
    if not (ask.resources and question.model and question.machines and (question.nodes or question.gpus)):
        return None
    return tell_split(ask)
