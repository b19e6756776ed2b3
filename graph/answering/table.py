"""Which functions answer which topic of acts.yaml: one line a topic, loaded with its first question."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

from graph.answering.ask import Ask
from knowledge.catalogue import catalogue
from knowledge.document import Document
from knowledge.general_facts import job_life

MOST_MACHINES = 3
OF_OWN_CODE = ("site.environment", "site.container")
# A folder or a file, which a glossary has no entry for and the script may have a line of.
OF_A_FILE = re.compile(r"(?<!\w)/\w+/\w|\w\.(?:py|sh|sif|json|yaml|out|log)\b")

# A typed fact that fits the words better goes before these: limits and hardware are asked in numbers.
FACTS_FIRST = frozenset(("site.limits", "site.hardware", "site.directives", "site.about", "machine.runs"))
# MODULE.FUNCTION of graph/answering, each asked in turn until one knows an answer. The rest of the topics about a
# site and about a job's life are in their own tables (site_days.TELLERS, knowledge/job_life.yaml).
ANSWERERS: dict[str, tuple[str, ...]] = {
    "job.exitcode": ("job_codes.explain_code",),
    "job.state": ("job_codes.explain_state", "job_codes.explain_code"),
    "script.explain": ("script.explain_script",),
    "script.line": ("script.explain_part", "options.explain_option"),
    "script.launch": ("script.explain_launch",),
    "script.output": ("script.tell_output",),
    "script.counts": ("script.tell_counts",),
    "script.cost": ("script_sizes.tell_cost",),
    "script.batch": ("script_sizes.tell_batch",),
    "script.whatif": ("script_sizes.tell_whatif",),
    "option": ("options.explain_option",),
    "method.strategy": ("table.compare_ways", "planning_answers.choose_way", "method.choose_strategy"),
    "method.precision": ("method.choose_precision",),
    "method.framework": ("method.choose_framework",),
    "method.checkpoint": ("table.plan_saves",),
    "method.scaling": ("plan_grounds.tell_assumed", "method.expect_scaling"),
    "method.memory": ("planning_answers.tell_fit", "method_sizes.tell_memory"),
    "method.degrees": ("resources.tell_split", "method_sizes.split_model"),
    "method.batch": ("resources.tell_batch_of_split", "method_sizes.choose_batch"),
    "method.gpus": ("planning_answers.tell_gpus", "planning_answers.tell_plan"),
    "machine.which": ("resource_machines.tell_machine", "machines_known.compare_machines"),
    "machine.compare": ("resource_machines.tell_comparison", "machines_known.compare_machines"),
    "plan": ("planning_answers.tell_plan",),
    "log.cause": ("log.tell_cause",),
    "log.line": ("log.tell_line",),
    "log.rank": ("log.tell_rank",),
    "log.retry": ("log.tell_retry",),
    "log.next": ("failure.after_words",),
    **dict.fromkeys(("log.helps", "log.where", "log.how", "log.fault", "log.need"), ("table.no_log",)),
    "log.proof": ("table.tell_grounds",),
    "next": ("next_steps.tell_next",),
    "site.start": ("next_steps.start_path",),
    "us.what": ("us.tell_what",),
    "us.sources": ("plan_grounds.tell_assumed", "us.tell_sources"),
    "us.privacy": ("us.tell_privacy",),
    "machine.list": ("machines_known.list_machines",),
    "machine.runs": ("method.tell_runs",),
    "method.speed": ("method.tell_speed",),
    "concept": ("table.explain_concept",),
    "review": ("script_sizes.review_script",),
}


def answer_topic(topic: str, ask: Ask) -> Document | None:
    """What the topic's functions say to the question; None where none knows an answer here."""
    group, _, name = topic.partition(".")
    if topic not in ANSWERERS and group == "site":
        return of_each_machine(topic, ask)
    if topic not in ANSWERERS and group == "job" and name in job_life()["slurm"]:
        from graph.answering.job_deeds import explain_deed

        return explain_deed(name, ask.situation)
    found = (answerer(place)(ask) for place in ANSWERERS.get(topic, ()))
    return next(filter(None, found), None)


def answerer(place: str) -> Callable[[Ask], Document | None]:
    """The function at MODULE.FUNCTION of graph/answering."""
    module, _, function = place.partition(".")
    answers: Callable[[Ask], Document | None] = getattr(import_module(f"graph.answering.{module}"), function)
    return answers


def of_each_machine(topic: str, ask: Ask) -> Document | None:
    """The topic on the machine that is spoken of; on each, where several are named or were just compared."""
    from graph.answering.site_days import TELLERS

    if topic not in TELLERS:
        return None
    of_plans = ask.last_act == "plan" or ask.last_topic.startswith("machine.")
    compared = ask.resources.machines if ask.resources and of_plans else ()
    names = ask.utterance.machines() or compared
    clusters = [one for name in names if (one := catalogue().find(name))][:MOST_MACHINES]
    from graph.answering.site_days import tell_site

    meant = clusters or ([ask.machine] if ask.machine else [])
    if topic in OF_OWN_CODE and meant and (stack := answerer("method.tell_move")(replace(ask, machine=meant[-1]))):
        return stack
    if len(clusters) < 2:
        return tell_site(topic, ask.situation)
    told = [tell_site(topic, replace(ask.situation, cluster=one)) for one in clusters]
    return Document(tuple(part for each in told if each for part in each.parts))


def no_log(ask: Ask) -> Document | None:
    """What to send, where a failure is asked about and none was shown."""
    return answerer("log.tell_cause")(ask) if ask.report is None else None


def tell_grounds(ask: Ask) -> Document | None:
    """What proves the cause that was told; without one, where our facts come from."""
    return answerer("log.tell_proof" if ask.report else "us.tell_sources")(ask)


def compare_ways(ask: Ask) -> Document | None:
    """The ways of spreading that are asked about, on the GPUs that the question or the job in hand has."""
    from graph.answering.resource_extremes import tell_ways
    from graph.answering.resources import question_of

    return tell_ways(ask, question_of(ask))


def plan_saves(ask: Ask) -> Document | None:
    """How often to save, by the job's own numbers where they are known."""
    from graph.answering.method import plan_checkpoints
    from graph.answering.resources import tell_saves

    return plan_checkpoints(ask, tell_saves(ask))


def explain_concept(ask: Ask) -> Document | None:
    """What a word means: an exit code, an option, or a term."""
    of_codes = re.search(r"\bexit|\bsignal\b", ask.text, re.I) and re.search(r"\d", ask.text)
    from graph.answering.options import names_options
    from graph.answering.terms import explain_terms

    return (
        (answerer("job_codes.explain_code")(ask) if of_codes else None)
        or (answerer("options.explain_option")(ask) if names_options(ask) else None)
        or explain_terms(ask.situation)
        or (answerer("script.explain_part")(ask) if OF_A_FILE.search(ask.text) else None)
    )
