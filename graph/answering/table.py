"""Which function answers which topic of acts.yaml: one line a topic. None: it knows no answer here."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from graph.answering.ask import Ask
from graph.answering.failure import after_words
from graph.answering.job_codes import explain_code, explain_state
from graph.answering.job_deeds import explain_deed
from graph.answering.log import tell_cause, tell_line, tell_proof, tell_rank, tell_retry
from graph.answering.machines_known import compare_machines, list_machines
from graph.answering.method import (
    choose_framework,
    choose_precision,
    choose_strategy,
    expect_scaling,
    plan_checkpoints,
    tell_runs,
    tell_speed,
)
from graph.answering.method_sizes import choose_batch, split_model, tell_memory
from graph.answering.next_steps import start_path, tell_next
from graph.answering.options import explain_option, names_options
from graph.answering.planning_answers import tell_fit, tell_gpus, tell_plan, tell_why_not
from graph.answering.resource_extremes import tell_ways
from graph.answering.resource_machines import tell_comparison, tell_machine
from graph.answering.resources import (
    question_of,
    tell_batch_of_split,
    tell_saves,
    tell_split,
)
from graph.answering.script import explain_launch, explain_part, explain_script, tell_counts, tell_output
from graph.answering.script_sizes import review_script, tell_batch, tell_cost, tell_whatif
from graph.answering.site_days import TELLERS, tell_site
from graph.answering.terms import explain_terms
from graph.answering.us import tell_privacy, tell_sources, tell_what
from knowledge.catalogue import catalogue
from knowledge.document import Document
from knowledge.job_life import job_life

MOST_MACHINES = 3
Handler = Callable[[Ask], Document | None]


def of_site(topic: str) -> Handler:
    return lambda ask: of_each_machine(topic, ask)


def of_each_machine(topic: str, ask: Ask) -> Document | None:
    """The topic on the machine that is spoken of; on each, where several are named or were just compared."""
    compared = ask.resources.machines if ask.resources and ask.last_topic.startswith("machine.") else ()
    names = ask.utterance.machines() or compared
    clusters = [one for name in names if (one := catalogue().find(name))][:MOST_MACHINES]
    if len(clusters) < 2:
        return tell_site(topic, ask.situation)
    told = [tell_site(topic, replace(ask.situation, cluster=one)) for one in clusters]
    return Document(tuple(part for each in told if each for part in each.parts))


def of_job(name: str) -> Handler:
    return lambda ask: explain_deed(name, ask.situation)


def is_of_codes(ask: Ask) -> bool:
    return re.search(r"\bexit|\bsignal\b", ask.text, re.I) is not None and re.search(r"\d", ask.text) is not None


def no_log(ask: Ask) -> Document | None:
    return tell_cause(ask) if ask.report is None else None


# A typed fact that fits the words better goes before these: limits and hardware are asked in numbers.
FACTS_FIRST = frozenset(("site.limits", "site.hardware", "site.directives", "site.about", "machine.runs"))
HANDLERS: dict[str, Handler] = {
    **{topic: of_site(topic) for topic in TELLERS},
    **{f"job.{name}": of_job(name) for name in job_life()["slurm"]},
    "job.exitcode": explain_code,
    "job.state": lambda ask: explain_state(ask) or explain_code(ask),
    "script.explain": explain_script,
    "script.line": lambda ask: explain_part(ask) or explain_option(ask),
    "script.launch": explain_launch,
    "script.output": tell_output,
    "script.counts": tell_counts,
    "script.cost": tell_cost,
    "script.batch": tell_batch,
    "script.whatif": tell_whatif,
    "option": explain_option,
    "method.strategy": lambda ask: tell_ways(ask, question_of(ask)) or tell_why_not(ask) or choose_strategy(ask),
    "method.precision": choose_precision,
    "method.framework": choose_framework,
    "method.checkpoint": lambda ask: plan_checkpoints(ask, tell_saves(ask)),
    "method.scaling": expect_scaling,
    "method.memory": lambda ask: tell_fit(ask) or tell_memory(ask),
    "method.degrees": lambda ask: tell_split(ask) or split_model(ask),
    "method.batch": lambda ask: tell_batch_of_split(ask) or choose_batch(ask),
    "method.gpus": lambda ask: tell_gpus(ask) or tell_plan(ask),
    "machine.which": lambda ask: tell_machine(ask) or compare_machines(ask),
    "machine.compare": lambda ask: tell_comparison(ask) or compare_machines(ask),
    "plan": tell_plan,
    "log.cause": tell_cause,
    "log.line": tell_line,
    "log.rank": tell_rank,
    "log.retry": tell_retry,
    "log.next": after_words,
    **dict.fromkeys(("log.helps", "log.where", "log.how", "log.fault", "log.need"), no_log),
    "log.proof": lambda ask: tell_proof(ask) if ask.report else tell_sources(ask),
    "next": tell_next,
    "site.start": start_path,
    "us.what": tell_what,
    "us.sources": tell_sources,
    "us.privacy": tell_privacy,
    "machine.list": list_machines,
    "machine.runs": tell_runs,
    "method.speed": tell_speed,
    "concept": lambda ask: (
        (explain_code(ask) if is_of_codes(ask) else None)
        or (explain_option(ask) if names_options(ask) else None)
        or explain_terms(ask.situation)
    ),
    "review": review_script,
}
