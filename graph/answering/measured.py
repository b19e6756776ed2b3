"""Hours by a pace that the person measured: it goes before every theory, and without the work nothing is reckoned."""

from __future__ import annotations

import math

from graph.answering.resource_words import count_words, round_words
from graph.answering.situation import write_document
from graph.planning.queues import plural
from graph.planning.resources.device import Device
from graph.planning.resources.limits import holds, longest_hours
from graph.planning.resources.options import SEQUENCE, known_devices, wanted_gpus
from graph.usecases.plan_resources import FACTOR
from knowledge.cluster import Cluster
from knowledge.document import Document
from knowledge.gpu_facts import gpu_table
from knowledge.resource_question import ResourceQuestion

OF_TIME = (None, "hours", "cost", "jobs", "budget")
# Share of the ideal that more GPUs than were measured on usually keep.
SCALING = 0.9
MISSING = {
    "sample": "how many images (or samples) and epochs",
    "step": "how many steps, or the tokens and the global batch",
    "epoch": "how many epochs",
}


def tell_measured(question: ResourceQuestion) -> Document | None:
    """The wall time, its share of a limit or a budget, and the charge; None where no pace was measured."""
    bounded = question.hours or question.node_hours or question.gpu_hours or work_of(question)
    fits_in = question.aim == "fit" and not question.measured_gb and bounded
    if not question.pace_s or not (question.aim in OF_TIME or fits_in):
        return None
    work = work_of(question)
    if work is None:
        missing = MISSING[question.pace_of or "step"]
        return write_document(
            f"You measured {pace_words(question)}: say {missing}, and I work the hours out from that."
        )
    units, sum_words = work
    device, cluster = next(iter(known_devices(question)), (None, None))
    if device and (device.facts.model != (question.pace_card or device.facts.model)):
        return tell_other_card(question, device, units * question.pace_s / 3600)
    if cluster is None and question.pace_nodes and not question.gpus:  # how many GPUs a node has is not known
        return tell_by_nodes(question, question.pace_nodes, units, sum_words)
    now = (wanted_gpus(question, device) if device else None) or question.gpus
    then = question.pace_gpus or (question.pace_nodes * device.each if question.pace_nodes and device else now)
    now, then = now or then, then or now
    if not now or not then:
        return write_document(
            f"{sum_words}: {_hours(units * question.pace_s / 3600)} at {pace_words(question)}, on as many GPUs as that "
            "was measured on. On how many shall it run?"
        )
    ideal = units * question.pace_s / 3600 * then / now
    kept = question.scaling or SCALING
    likely = ideal / kept if now > then else ideal
    ideal = likely if question.scaling else ideal
    size = f"{now} {'GPU' if now == 1 else 'GPUs'}"
    spread = f", {_hours(likely)} where {kept:.0%} of the ideal is kept" if now > then else ""
    spread = f", with {kept:.0%} of the ideal kept" if question.scaling and now > then else spread
    lines = [f"**{_hours(ideal)} on {size}** by what you measured ({pace_words(question)}){spread}."]
    share = f" / {kept:g}" if question.scaling and now > then else ""
    lines += [against(question, ideal, likely), f"The sum: {sum_words}{_shared(question, then, now)}{share}."]
    lines += [charged(question, device, cluster, likely if now > then else ideal, now)] if device else []
    lines.append("Start, loading and validation come on top.")
    return write_document(*filter(None, lines))


def tell_by_nodes(question: ResourceQuestion, then: int, units: float, sum_words: str) -> Document:
    """Wall time and node hours of a pace that was measured on so many nodes of no known machine."""
    now = question.nodes or then
    ideal = units * (question.pace_s or 0.0) / 3600 * then / now
    likely = ideal / (question.scaling or SCALING) if now > then else ideal
    share = "" if then == now else f" x {then} / {now} nodes"
    spread = f", {_hours(likely)} where {ideal / likely:.0%} of the ideal is kept" if now > then else ""
    return write_document(
        f"**{_hours(ideal)} on {plural(now, 'node')}** by what you measured ({pace_words(question)}){spread}.",
        against(question, ideal, likely),
        f"The sum: {sum_words} x {question.pace_s:.4g} s{share}; that is {round_words(likely * now)} node hours.",
        "Start, loading and validation come on top.",
    )


def tell_other_card(question: ResourceQuestion, device: Device, hours: float) -> Document:
    """Between which bounds a pace lies on another card than it was measured on: arithmetic's and memory's."""
    old = next((gpu for gpu in gpu_table().gpus if gpu.model == question.pace_card), None)
    if old is None:
        return write_document(f"You measured {pace_words(question)} on another card: measure ten minutes there first.")
    times = sorted((old.tflops / device.facts.tflops, old.hbm / device.facts.hbm))
    return write_document(
        f"**You measured that on {old.model}, so it does not hold on {device.facts.model}.** It peaks at "
        f"{device.facts.tflops:g} against {old.tflops:g} TFLOP/s and reads {device.facts.hbm:g} against {old.hbm:g} "
        f"TB/s: on as many GPUs expect {times[0]:.2g} to {times[1]:.2g} times as long, {_hours(hours * times[0])} to "
        f"{_hours(hours * times[1])} for {_hours(hours)}. Measure ten minutes there and tell me the pace."
    )


def work_of(question: ResourceQuestion) -> tuple[float, str] | None:
    """How many units of the pace the work is, with the sum in words."""
    epochs = question.epochs or 1
    done = question.epochs_done or 0
    if question.pace_of == "epoch" and question.epochs and 0 < done < question.epochs:
        return question.epochs - done, f"{question.epochs:g} - {done:g} = {question.epochs - done:g} epochs"
    times = f" x {epochs:g} epochs" if question.epochs else ""
    if question.pace_of == "sample" and question.samples:
        return question.samples * epochs, f"{count_words(question.samples)}{times}"
    if question.pace_of == "epoch" and question.epochs:
        return question.epochs, f"{question.epochs:g} epochs"
    if question.pace_of != "step":
        return None
    if question.steps:
        return question.steps, f"{question.steps:,.0f} steps"
    batch, each = question.global_batch, question.sequence or SEQUENCE
    if question.tokens and batch:
        steps = question.tokens * epochs / (batch * each)
        return steps, f"{count_words(question.tokens)} tokens{times} / ({batch} x {each} a step) = {steps:,.0f} steps"
    if question.samples and batch:
        steps = question.samples * epochs / batch
        return steps, f"{count_words(question.samples)}{times} / {batch} a step = {steps:,.0f} steps"
    return None


def pace_words(question: ResourceQuestion) -> str:
    pace, of = question.pace_s or 0.0, question.pace_of
    told = f"{1 / pace:,.4g} a second" if of == "sample" else f"{pace:g} s per {of}"
    told = f"{pace / 60:g} min per {of}" if of == "epoch" and pace >= 60 else told
    where = plural(question.pace_gpus, "GPU") if question.pace_gpus else ""
    where = plural(question.pace_nodes, "node") if question.pace_nodes else where
    return f"{told} on {where}" if where else told


def against(question: ResourceQuestion, ideal: float, likely: float) -> str:
    """Whether it ends within the hours that were said."""
    limit = question.hours
    if not limit:
        return ""
    if ideal > limit:
        jobs = math.ceil(likely / limit)
        return f"**No, not within {limit:g} h**: {jobs} jobs in a chain, each from the last checkpoint."
    if likely > SCALING * limit:
        return f"**Only just within {limit:g} h, so do not rely on it**: save and resume, or ask for more time or GPUs."
    return f"**Yes, within {limit:g} h.**"


def charged(question: ResourceQuestion, device: Device, cluster: Cluster | None, hours: float, gpus: int) -> str:
    """GPU hours and node hours, against a budget, with the charge where the queue's factor is known."""
    spent, nodes = hours * gpus, hours * device.nodes_for(gpus)
    told = f"{round_words(spent)} GPU hours"
    told += f", {round_words(nodes)} node hours" if cluster else ""
    there, need = (question.node_hours, nodes) if question.node_hours else (question.gpu_hours, spent)
    if there:
        verdict = "enough" if need <= there else "not enough"
        told += f": {verdict}, {there:,.0f} are there"
    queues = [q for q in cluster.queues if holds(q, device.node_type, device.nodes_for(gpus), gpus)] if cluster else []
    queue = next((q for q in queues if q.id == question.queue), queues[0] if queues else None)
    if queue and (found := FACTOR.search(queue.note or "")):
        told += f"; x charge factor {found[1]} of `{queue.id}` = {round_words(spent * float(found[1]))} units"
    limit = longest_hours(queue, device.nodes_for(gpus)) if queue else None
    if queue and limit:
        jobs = f"{math.ceil(hours / limit)} jobs in a chain" if hours > limit else "it goes into one job"
        tight = (
            ", with little to spare: save often, and have a second job wait for it"
            if SCALING * limit < hours <= limit
            else ""
        )
        told += f". `{queue.id}` takes {limit:g} h a job: {jobs}{tight}"
    if queue and queue.purpose == "preempt":
        told += ". It may be preempted: ask for `--requeue` and save often, what was done since a save is paid again"
    return f"That is {told}."


def _shared(question: ResourceQuestion, then: int, now: int) -> str:
    share = "" if then == now else f" x {then} / {now} GPUs"
    return f" x {question.pace_s:.4g} s{share}"


def _hours(hours: float) -> str:
    return f"{hours * 60:.2g} min" if hours < 1 else f"{hours:.3g} h" if hours < 96 else f"{hours / 24:.3g} days"
