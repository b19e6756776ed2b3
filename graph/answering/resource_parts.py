"""A question of several parts (does it fit, how long, how often to save), answered part by part in the order asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from graph.answering.ask import Ask
from graph.answering.resource_budgets import against_budget
from graph.answering.resource_languages import verdict_line
from graph.answering.resource_words import option_line
from graph.answering.resources import HOW_MUCH, saves_line, tell_hours
from graph.answering.situation import cite, write_document
from graph.planning.resources.alternatives import fewest_there
from graph.planning.resources.options import ResourceOption, amount, known_devices
from graph.planning.resources.reading import KINDS
from graph.usecases.plan_resources import (
    TAKING,
    ResourcePlan,
    describe_memory,
    offered,
    plan_resources,
    time_line,
)
from knowledge.document import Document, Paragraph, Part, Sources
from knowledge.gpu_facts import gpu_table
from knowledge.resource_question import ResourceQuestion

Answer = Callable[[Ask, ResourceQuestion], Document | None]


def tell_parts(ask: Ask, question: ResourceQuestion, own: dict[str, Answer]) -> Document | None:
    """All that is asked. own: the aims with an answer of their own; None where the model's size is not known.

    Where what was said does not hold the model, the other parts are answered for the fewest GPUs that do.
    """
    plan = plan_resources(question)
    if plan.model is None or not plan.options:
        return plan.document if plan.model else None
    best = plan.options[0]
    settled, instead = holding(question, plan, best)
    total = amount(question, plan.model)
    paid = [against_budget(question, plan.model, device, cluster, total) for device, cluster in known_devices(question)
            if total and best.fit.device == device]  # fmt: skip
    told = [write_document(verdict_line(ask.text, plan), *paid)]
    for aim in (question.aim or "fit", *question.also):
        kind = KINDS.get(aim, aim)
        asked = replace(settled, aim=aim, also=())
        if kind == "memory":
            told += [describe_memory(question, plan.model, plan.options), write_document(instead)]
        elif kind == "work":
            told.append(tell_work(asked, plan, best))
        elif aim == "saves":
            told.append(write_document(f"Saving: {line}" if (line := saves_line(asked)) else ""))
        elif aim in own and (answer := own[aim](ask, asked)):
            told.append(answer)
    untimed = [replace(option, hours=None) for option in plan.options[:3]]  # the hours are told above
    rows = offered(question, plan.model, untimed)
    return joined(*told, write_document(*((rows, TAKING) if rows else ())))


def holding(question: ResourceQuestion, plan: ResourcePlan, best: ResourceOption) -> tuple[ResourceQuestion, str]:
    """The question on GPUs that surely hold the model, and a line that says so where others were asked about."""
    option, line = best, ""
    if best.fit.verdict != "fits" and plan.model:
        found = fewest_there(replace(question, strategy=None, tensor=None, pipeline=None), plan.model)
        if not found:
            return question, ""
        option, line = found[0], f"What follows is for the fewest that surely hold it: {option_line(found[0])}."
    elif question.nodes or question.gpus or (plan.model and amount(question, plan.model)):
        return question, ""
    machines = (option.cluster.id,) if option.cluster else question.machines
    return replace(
        question, nodes=None, gpus=option.fit.layout.gpus, each=None, machines=machines,
        gpu=option.fit.device.facts.model, gpu_gb=option.fit.device.gb + option.fit.device.facts.host_gb,
    ), line  # fmt: skip


def tell_work(question: ResourceQuestion, plan: ResourcePlan, best: ResourceOption) -> Document:
    """Hours and price of the work that was said; else the speed, and what is missing for hours."""
    if plan.model and amount(question, plan.model):
        return tell_hours(question, plan.model, memory=False)
    return write_document(HOW_MUCH, time_line(question, plan.model, best) if plan.model else None)


def joined(*documents: Document) -> Document:
    """One after the other, each paragraph once, with all sources in the end."""
    parts: list[Part] = []
    pages: list[str] = []
    for part in _parts(documents):
        if isinstance(part, Sources):
            pages += [one.address for one in part.items]
        elif not (isinstance(part, Paragraph) and part in parts):
            parts.append(part)
    return Document(tuple(parts)) + Document((cite(pages, gpu_table().as_of),))


def _parts(documents: tuple[Document, ...]) -> Iterator[Part]:
    for document in documents:
        yield from document.parts
