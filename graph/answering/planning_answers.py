"""Whatever is asked of resources, by its aim: each has its function, and all others are a job's hours or its fit."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace

from graph.answering.ask import Ask
from graph.answering.measured import tell_measured
from graph.answering.planned import WHICH_MACHINE
from graph.answering.resource_extremes import tell_hybrid, tell_largest, tell_network, tell_ways, unknown_gpu
from graph.answering.resource_machines import tell_comparison, tell_machine, tell_of_compared
from graph.answering.resource_parts import tell_parts
from graph.answering.resource_speeds import tell_card, tell_recompute, tell_speed
from graph.answering.resource_sums import tell_rate, tell_sums
from graph.answering.resource_words import (
    VERDICTS,
    count_words,
    memory_words,
    option_line,
    place_words,
    round_words,
    states_words,
    way_words,
)
from graph.answering.resources import (
    question_of,
    room_line,
    saw_memory,
    tell_saves,
    tell_split,
    what_fits,
    with_unused,
    work_or_fit,
)
from graph.answering.situation import cite, write_document
from graph.planning.queues import plural
from graph.planning.resources.memory import SOURCES, adapter_parameters
from graph.planning.resources.options import SPREADS, ResourceOption, base_layout, known_devices
from graph.planning.resources.parameters import SizedModel, find_model
from graph.planning.resources.reading import KINDS, find_aim, places_of, read_question, words_of
from graph.planning.resources.saving import BYTES_FULL, BYTES_WEIGHTS
from graph.planning.resources.search import ease
from graph.usecases.plan_resources import batch_line, from_here, plan_resources, premise_lines
from knowledge.catalogue import catalogue
from knowledge.document import Document
from knowledge.gpu_facts import gpu_table
from knowledge.resource_question import PLACE, ResourceQuestion

# The size of a file system in its facts.
ROOM = re.compile(r"(\d+(?:\.\d+)?) ?([TG])i?B\b")
# A job that died is told of, and not whether one would.
KILLED = re.compile(
    r"(?i)(?<!\bbe )(?<!\bget )\b(?:(?:oom[- ]?)?killed|oom(?:ed|s|'d)|died|dies|crashe[sd]|gone|abgebrochen|"
    r"abgest[üu]rzt|get[öo]tet|tuée?s?)\b"
)
TIMED = re.compile(r"\b(?:minutes?|hours|days|h)\b \(")
ONE_EPOCH = (
    "**Hours are those of one epoch of {:,.0f} samples**: say how many (*90 epochs*) and I reckon the whole training."
)
OF_LENGTH = "**Each sample is taken for {:,} tokens**: say how long yours are (*500 tokens each*)."
Answer = Callable[[Ask, ResourceQuestion], Document | None]
BOTH_SPLITS = (
    "**Tensor parallel first, as wide as a node at most; pipeline parallel only across nodes, and only where it still "
    "does not fit or FSDP waits for the network.**"
)
ASK_SIZE = "How large is the model? Say its parameters (*7B*) or its name (*Llama-3-8B*)."


def tell_plan(ask: Ask) -> Document | None:
    """The answer to the question, with what it takes silently: of samples without a number of epochs, one epoch."""
    question = question_of(ask)
    told, model = tell_aim(ask, question), find_model(question.model) if question.model else None
    taken = []
    if question.samples and not (question.epochs or question.tokens or question.steps or question.epochs_done):
        taken.append(ONE_EPOCH.format(question.samples))
    if question.samples and model and model.shape.kind == "decoder" and not (question.sequence or question.tokens):
        taken.append(OF_LENGTH.format(base_layout(question, model).sequence))
    timed = told and any(TIMED.search(getattr(part, "text", "")) for part in told.parts)
    return write_document(*taken) + told if told and timed and taken else told


def tell_aim(ask: Ask, question: ResourceQuestion) -> Document | None:
    """The answer to the question's aim; where it has none of its own, hours or what holds the model."""
    if told := tell_sums(question) or tell_measured(question) or unknown_gpu(question):
        return told
    if rate := tell_rate(question):
        alone = "learning_rate" in words_of(ask.utterance)
        return rate if alone else rate + (work_or_fit(ask, question) or write_document())
    aim = read_question(ask.utterance).aim  # of several places in this message, whatever was asked before
    if aim in (None, "fit", *KINDS) and (told := tell_places(question, places_of(ask.utterance))):
        return told
    if question.also and question.task != "serve" and (told := tell_parts(ask, question, AIMS)):
        return with_unused(ask, question, told, "parts")
    own = AIMS.get(question.aim or "")
    if own and (told := own(ask, question)):
        kind = "choice" if own is tell_choice else "largest" if own is tell_largest else "own"
        return with_unused(ask, question, told, kind)
    if question.or_gpus and len(question.machines) == 1 and (told := tell_machine(ask)):
        return told
    machines = ask.utterance.machines()
    if question.aim == "memory" and len(question.machines) > 1 and not machines and (told := tell_of_compared(ask)):
        return told
    if len(machines) > 1 or (WHICH_MACHINE.search(ask.text) and not machines):
        work = question.aim in ("hours", "cost") and (question.model or question.flops)
        if not work and (told := tell_machine(ask)):
            return told
    nothing = question.said().keys() <= {"aim", "machines", "mine", "gpus", "gpu"}
    if nothing and machines and ask.resources and (told := tell_comparison(ask)):  # `and JUPITER?`, of those weighed
        return told
    return work_or_fit(ask, question)


def tell_places(question: ResourceQuestion, places: tuple[ResourceQuestion, ...]) -> Document | None:
    """Each of several places that were said, each with its own number of GPUs, and which of them holds the model; None
    without several places or a model's size."""
    plans = [
        plan_resources(
            replace(
                question, machines=one.machines or (() if one.gpu else question.machines),
                gpu=one.gpu or (None if one.machines else question.gpu), gpu_gb=one.gpu_gb or (
                    None if one.machines or one.gpu else question.gpu_gb
                ), or_gpus=(), queue=one.queue, aim=None, also=(), task=one.task or question.task,
                **({name: getattr(one if one.nodes or one.gpus else question, name) for name in PLACE}),
            )
        )
        for one in places
    ]  # fmt: skip
    best = [next(iter(plan.options), None) for plan in plans]
    if not plans or not all(best):
        return None
    there = {place_words(one) for one in best if one}
    same = len(there) == 1 and (
        len({way_words(one.fit) for one in best if one}) > 1 or not any(p.nodes for p in places)
    )
    if inside := inside_a_node(places, best):
        return write_document(inside, f"{option_line(best[0])}." if best[0] else "")
    told = [(one, way_words(one.fit) if same else place_told(place, one))
            for place, one in zip(places, best, strict=True) if one]  # fmt: skip
    held = [(one, words) for one, words in told if one.fit.verdict == "fits" and one.accepted]
    held.sort(key=lambda pair: (-round(pair[0].rate.usual) if pair[0].rate else 0, pair[0].nodes))
    verdict = f"**Only {held[0][1]} surely holds it:**" if held else "**None of them surely holds it.**"
    if len(held) > 1:
        every = "Both" if len(held) == len(told) == 2 else f"{len(held)} of {len(told)}"
        verdict = f"**{every} surely hold it; the quickest is {held[0][1]}:**"
    nodes = any(one.cluster is None and said.nodes and not (said.gpus or said.each)
                for said, one in zip(places, best, strict=True) if one)  # fmt: skip
    return write_document(
        verdict,
        *(
            f"{words + ': ' if words not in option_line(one) else ''}{option_line(one)}"
            f"{'' if one.hours else speed_words(one)}."
            for one, words in told
        ),
        "A node is taken for one of 8 GPUs; say how many yours has." if nodes else "",
        from_here(plans[0].question, plans[0].model) if not held and plans[0].model else "",
        cite(SOURCES, gpu_table().as_of),
    )


def inside_a_node(places: tuple[ResourceQuestion, ...], best: list[ResourceOption | None]) -> str:
    """Which of two spreads of the same number of GPUs, inside a node or over several; empty where that is not asked."""
    totals = {(one.nodes or 0) * (one.gpus or 0) for one in places}
    on_machine = best[0] is not None and best[0].cluster is not None
    if len(totals) > 1 or not all(totals) or len({one.nodes for one in places}) < 2 or not on_machine:
        return ""
    least = min(one.nodes or 1 for one in places)
    return (
        f"**The {totals.pop()} GPUs on {plural(least, 'node')}**: they hold the same either way, and inside a node "
        "gradients and weights go over its own links and not over the network; GPUs that lie apart only start sooner "
        "where no whole node is free."
    )


def place_told(said: ResourceQuestion, option: ResourceOption) -> str:
    """A place as it was said: its nodes where it is on no machine."""
    return plural(said.nodes, "node") if said.nodes and option.cluster is None and not said.gpu else place_words(option)


def speed_words(option: ResourceOption) -> str:
    """`; about 25,000 tokens a second`, of what fits."""
    fits = option.rate and option.fit.verdict == "fits"
    return f"; about {round_words(option.rate.usual)} tokens a second" if option.rate and fits else ""


def tell_gpus(ask: Ask) -> Document | None:
    """How many GPUs: the fewest that hold the model, with the sum; None where no size is known."""
    question = question_of(ask)
    return tell_plan(ask) if question.model and find_model(question.model) else None


def tell_fit(ask: Ask) -> Document | None:
    """Whether a model, or what was seen to be taken, fits; None where neither is known."""
    question = question_of(ask)
    if saw_memory(question):
        return what_fits(question)
    known = question.aim == "largest" or (question.model and find_model(question.model))
    return tell_plan(ask) if known else None


def tell_why_not(ask: Ask, question: ResourceQuestion | None = None) -> Document | None:
    """`Why not DDP?`, `why not LUMI?`: that way or machine against what is taken. None without a model, or without
    either."""
    question = question or question_of(ask)
    model = find_model(question.model) if question.model else None
    asked = find_aim(ask.utterance.text)  # `I need FSDP. Why not DDP?`: the one behind the question first
    at = asked[1] if asked and asked[0] == "why_not" else 0
    methods = sorted(ask.utterance.of_kind("Method"), key=lambda m: m.start < at)
    named = [str(m.value) for m in methods if m.value in SPREADS]
    way = next(iter(named), question.strategy or "")
    if model is None or not (way in SPREADS or ask.utterance.machines()):
        return None
    if way not in SPREADS:
        return why_not_machine(ask, question)
    best = next(iter(plan_resources(replace(question, strategy=None)).options), None)
    if best is None:
        return None
    device = best.fit.device
    gpus = max(best.fit.layout.gpus, 2)
    layout = replace(best.fit.layout, spread=SPREADS[way], gpus=gpus, tensor=1, pipeline=1)
    tried = ease(model, layout, device)
    verdict = {"fits": "fits too", "tight": "is tight", "no": "does not fit"}[tried.verdict]
    states = tried.memory.parts[0]
    why = f": {states.how}, {states.gib:,.0f} GiB on each GPU" if states.how else ""
    against = "" if best.fit.layout == layout else f" {way_words(best.fit)} needs {memory_words(best.fit)}."
    faster = (
        " It sends less, so it is the simpler choice." if tried.verdict == "fits" and layout.spread == "ddp" else ""
    )
    return write_document(
        *premise_lines(question, device, best.cluster),
        f"**{model.name} with {way_words(tried)} {verdict} on {gpus} x {device.name}**{why}; "
        f"{memory_words(tried)}.{against}{faster}",
        cite(SOURCES, gpu_table().as_of),
    )


def choose_way(ask: Ask) -> Document | None:
    """`DDP or FSDP?`, `do I need FSDP at all?`: the simplest that holds the model on what is taken; of another way why
    not that."""
    question = replace(question_of(ask), strategy=None, aim=None)
    model, aim = find_model(question.model) if question.model else None, find_aim(ask.utterance.text)
    methods = {str(one.value) for one in ask.utterance.of_kind("Method")}
    if {"tp", "pp"} <= methods and (split := tell_split(ask)):
        return write_document(BOTH_SPLITS) + split
    named = methods & SPREADS.keys()
    several = len(named) > 1 and not named <= {"ddp", "fsdp"}
    open_to_it = named <= {"ddp", "fsdp"} or several
    if model is None or model.unsure or not open_to_it or (aim and aim[0] == "why_not"):
        return tell_why_not(ask)
    best = next((one for one in plan_resources(question).options if one.fit.verdict == "fits"), None)
    if best is None:
        return tell_why_not(ask)
    layout, device = best.fit.layout, best.fit.device
    layout = replace(layout, gpus=max(layout.gpus, 2), settled=False)
    if several:  # `ZeRO-2 or ZeRO-3?`: each on the GPUs that were reckoned with
        there = (best.cluster.id,) if best.cluster else ()
        on_these = replace(question, machines=there, gpu=device.facts.model, nodes=None, gpus=layout.gpus, each=None)
        return tell_ways(ask, on_these) or tell_why_not(ask)
    ddp, fsdp = (ease(model, replace(layout, spread=SPREADS[way]), device) for way in ("ddp", "fsdp"))
    told = "; ".join(f"{way_words(one)} {VERDICTS[one.verdict]} ({memory_words(one)})" for one in (ddp, fsdp))
    take = "FSDP (or ZeRO-3)" if layout.tensor * layout.pipeline == 1 else way_words(best.fit)
    simpler = "**DDP: FSDP is not needed**, and DDP is simpler and sends less." if ddp.verdict == "fits" else ""
    return write_document(
        *premise_lines(question, device, best.cluster),
        f"On one GPU neither is needed ({memory_words(best.fit)}). Over several:" * (best.fit.layout.gpus == 1),
        f"{simpler or f'**{take}.**'} {states_words(model, ddp)}; on {layout.gpus} x {device.name}: {told}.",
        cite(SOURCES, gpu_table().as_of),
    )


def why_not_machine(ask: Ask, question: ResourceQuestion) -> Document | None:
    """The best way on the machine that is doubted, and on those of the question before: memory, speed, node hours."""
    doubted = tuple(ask.utterance.machines())
    others = tuple(one for one in (ask.resources.machines if ask.resources else ()) if one not in doubted)
    lines = []
    for name in (*doubted, *others):
        best = next(iter(plan_resources(replace(question, machines=(name,), gpu=None, gpu_gb=None)).options), None)
        cluster = catalogue().find(name)
        if best and best.rate and cluster:
            each = best.rate.usual / best.nodes
            lines.append(f"{option_line(best)}; about {each:,.0f} tokens a second on each node")
        elif cluster:
            lines.append(f"{cluster.title}: nothing that surely holds it")
    told = "It can run there, too; what sets them apart is speed a node, and so node hours:"
    return write_document(told, *(f"{line}." for line in lines), cite(SOURCES, gpu_table().as_of))


def tell_host(ask: Ask, question: ResourceQuestion) -> Document | None:
    """What the main memory of a node must hold while each rank loads its own copy of the weights."""
    model = find_model(question.model) if question.model else None
    if model is None or question.offload:  # what an offloaded optimizer takes is part of the plan
        return None
    device, cluster = next(iter(known_devices(question)), (None, None))
    there = (device and device.host_gb) or 0.0
    ranks = min(question.gpus or 1 << 20, device.each if device and cluster else question.gpus or 1)
    bytes_each = 4 if question.precision == "fp32" else 2
    copy = model.parameters * bytes_each / 1e9
    need = ranks * copy
    other = f"{need / 2:,.0f} GB in bf16" if bytes_each == 4 else f"{2 * need:,.0f} GB where the checkpoint is fp32"
    killed = KILLED.search(ask.text) is not None
    enough = need < 0.9 * there
    words = (
        ("No, main memory is enough" if enough else "Yes, main memory")
        if killed
        else "Enough to load it"
        if enough
        else "No"
    )
    verdict = f"**{words}: " if there else "**"
    of = f" of {there:,.0f} GB" if there else ""
    where = f" on a node of {cluster.title}" if cluster else ""
    return write_document(
        f"{verdict}{ranks} ranks that each load {model.name} take {ranks} x {copy:,.0f} = {need:,.0f} GB of main memory"
        f"{where} in {8 * bytes_each} bit{of}** ({other}).",
        f"One copy is {copy:,.0f} GB: load on rank 0 alone and broadcast, build the model on the meta device, or read "
        "only each rank's shard (`torch.distributed.checkpoint`, safetensors); then the ranks do not multiply it.",
        cite(["https://github.com/hpcaitech/ColossalAI/issues/4931"], ""),
    )


def tell_checkpoint(ask: Ask, question: ResourceQuestion) -> Document | None:
    """How large a checkpoint is: weights alone, and with what going on needs."""
    model = find_model(question.model) if question.model else None
    if model is None:
        return write_document(ASK_SIZE)
    if question.task in ("lora", "qlora"):
        trained = adapter_parameters(model, base_layout(question, model).rank)
        return write_document(
            f"**A LoRA checkpoint of {model.name} is about {trained * 2 / 1e9:.2g} GB** (adapters alone, "
            f"{count_words(trained)} parameters in 16 bit), {trained * BYTES_FULL / 1e9:.2g} GB with Adam's states; "
            "the frozen base is not saved again.",
        )
    weights, full = (model.parameters * each / 1e9 for each in (BYTES_WEIGHTS, BYTES_FULL))
    if question.kept == "weights":
        return write_document(weights_line(question, model, weights, full), cite(SOURCES[:1], gpu_table().as_of))
    return write_document(
        f"**A checkpoint of {model.name} to go on from is about {full:,.0f} GB**: {count_words(model.parameters)} "
        f"parameters x {BYTES_FULL:g} bytes (16-bit weights, fp32 weights and Adam's two states); 12 bytes where all "
        f"is fp32 ({model.parameters * 12 / 1e9:,.0f} GB), and {weights:,.0f} GB for the 16-bit weights alone.",
        kept_line(question, full),
        all_saves_line(question, full, weights),
        store_line(ask, question, full),
        room_line(question, model),
        cite(SOURCES[:1], gpu_table().as_of),
    )


def kept_line(question: ResourceQuestion, full: float) -> str:
    """What so many of them take, how long one is written at the speed that was said, and how often that may be."""
    told = []
    if question.kept_count:
        told.append(f"**{question.kept_count} of them are {question.kept_count * full:,.0f} GB.**")
    if question.write_gbs:
        seconds = full / question.write_gbs
        hourly = f"every hour that is {seconds / 3600:.1%} of the time, every 2 hours {seconds / 7200:.1%}"
        ahead = math.ceil((1.5 * seconds + 120) / 60)
        told.append(
            f"At {question.write_gbs:g} GB/s one takes {seconds:,.0f} s: {hourly}. **Every 1 to 2 hours is sensible**, "
            f"and once {ahead} min before the job's limit (in Slurm a signal: `--signal=B:USR1@{60 * ahead}`). Write "
            "to a new name, rename when it is whole, then delete the oldest."
        )
    return " ".join(told)


def saves_of(question: ResourceQuestion) -> int:
    """How many saves a run makes; 0 where its steps, or those between two saves, were not said."""
    return int(question.steps // question.save_steps) if question.steps and question.save_steps else 0


def weights_line(question: ResourceQuestion, model: SizedModel, weights: float, full: float) -> str:
    """What the 16-bit weights alone take, and what is given up with the rest."""
    count, room = saves_of(question), question.disk_gb or 0.0
    told = f"**The 16-bit weights of {model.name} alone are {weights:,.0f} GB** ({full:,.0f} with all states)"
    if count:
        need = count * weights
        told = f"**{count} saves of the 16-bit weights alone take {count} x {weights:,.0f} GB = {need / 1000:,.1f} TB**"
        if room:
            told += f": {'they fit' if need + full <= room else 'they do not fit'} in {room / 1000:g} TB"
            told += f" beside one whole checkpoint ({full:,.0f} GB)" if need + full <= room else ""
    elif room:
        told += f": {room / 1000:g} TB hold {int(room // weights)} of them"
    return (
        f"{told}. Going on from weights alone is no exact resuming: Adam's states and the fp32 weights are gone, so "
        "keep the last one or two whole besides."
    )


def all_saves_line(question: ResourceQuestion, full: float, weights: float) -> str:
    """What all checkpoints of a run take, where its steps and the steps between two saves were said."""
    count, room = saves_of(question), question.disk_gb
    if not count or not question.steps or not question.save_steps:
        return ""
    verdict = ""
    if room:
        verdict = f"**{'Yes' if count * full <= room else 'No'}, {room / 1000:g} TB: ** ".replace(": **", ":**")
    return (
        f"{verdict}**All {count} of them ({question.steps:,.0f} / {question.save_steps:,.0f} steps) take "
        f"{count} x {full:,.0f} GB = {count * full / 1000:,.1f} TB.** Keep the last two whole, and of the others the "
        "16-bit weights you want "
        f"({count} x {weights:,.0f} GB = {count * weights / 1000:,.1f} TB)."
    )


def store_line(ask: Ask, question: ResourceQuestion, full: float) -> str:
    """How many of them each file system of the machine has room for, where its size is known."""
    cluster = next((c for name in question.machines if (c := catalogue().find(name))), None)
    stores = cluster.filesystems.items() if cluster else ()
    told = []
    for name, text in stores:
        size = ROOM.search(text)
        named = f"${name.upper()}" in ask.text.upper()
        if size and (named or not re.search(r"\$\w+", ask.text)) and name != "note":
            gb = float(size[1]) * (1000 if size[2].upper() == "T" else 1)
            told.append(f"{text}: {int(gb // full) or 'not even one'}")
        elif name == "scratch":
            told.append(text)
    return f"Room for them on {cluster.title}: {'; '.join(told)}." if told and cluster else ""


def tell_size(ask: Ask, question: ResourceQuestion) -> Document | None:
    """The largest micro-batch or the longest sequence, first; then the whole sum."""
    plan = plan_resources(question)
    if plan.model is None or not plan.options or question.task == "serve":
        return None
    best = plan.options[0]
    told = batch_line(question, plan.model, best) if best.fit.verdict == "fits" else ""
    return write_document(f"**{option_line(best)}:** {told}" if told else "") + plan.document


def tell_interval(ask: Ask, question: ResourceQuestion) -> Document | None:
    """How often to save; None where no number of GPUs is known."""
    told = tell_saves(ask)
    return write_document(told) if told else None


def tell_choice(ask: Ask, question: ResourceQuestion) -> Document | None:
    """Which machine; None for a way on the one that is spoken of."""
    priced = question.model is None and question.hours and len(question.machines) == 1
    # One that was named and is not known: what was told of its cards is weighed, and no other machine in its place.
    unknown = question.machines and not any(map(catalogue().find, question.machines))
    return None if priced or unknown else tell_machine(ask)  # without a model: the prices of that many GPU hours


# What has an answer of its own.
AIMS: dict[str, Answer] = {
    "why_not": tell_why_not,
    "host": tell_host,
    "largest": tell_largest,
    "ways": tell_ways,
    "hybrid": tell_hybrid,
    "network": tell_network,
    "split": lambda ask, _: tell_split(ask),
    "batch": tell_size,
    "sequence": tell_size,
    "checkpoint": tell_checkpoint,
    "saves": tell_interval,
    "speed": tell_speed,
    "recompute": tell_recompute,
    "card": tell_card,
    "fastest": tell_choice,
    "cheapest": tell_choice,
    "machine": tell_choice,
}
