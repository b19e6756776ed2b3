"""Why did it fail? The attached log, or the message itself where the log was typed in."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from langgraph.runtime import Runtime

from graph.context import Context
from graph.debugging.advice import for_cluster
from graph.debugging.counting import counted
from graph.debugging.diagnosis import diagnose as find_cause
from graph.debugging.log import from_paths, from_text
from graph.going_on import go_on, is_unhelped
from graph.modelling.diagnosing import Helped, help_with, is_unsure
from graph.state import State
from knowledge.errors import InputError
from knowledge.types import Diagnosis, Passage, Refusal, Say, Working

# `now it says KeyError: 'x'`: what is said of the line is no part of it.
SAYS = re.compile(
    r"\A[^\n:]{0,60}?\b(?:says?|said|shows?|prints?|reports?|(?:fail|dies|died|crash|stop)\w* with"
    r"|(?:i|we) (?:now )?(?:get|got|see)|(?:error|message) is(?: now)?)\b:?\s*(?=[^\s])",
    re.I,
)

# Why a job waits, in Slurm's words, said in a sentence.
REASON = re.compile(r"\b(?:(?:QOS|Assoc|Partition|MaxJobs|ReqNode|Nodes?|Job|Association)[A-Z][a-z]\w+)\b")
LONGEST = 300


def is_only_words(found: Diagnosis) -> bool:
    """Whether a message tells of a failure without showing a line of it: `why did it hang?`."""
    return found.cause in ("no-failure", "unknown") and not found.evidence


def diagnose(state: State, runtime: Runtime[Context]) -> State:
    paths = [Path(attachment.path) for attachment in state["attachments"]]
    try:
        context = runtime.context
        found = find_cause(counted(paths, context.tell, context.stopped)) if paths else typed(state["text"])
        if is_only_words(found) and not paths:
            return without_log(state, context)
        helped = with_model(found, paths, state["text"], runtime)
        said = (Say(helped.trouble),) if helped.trouble else ()
        known = of_the_machine(helped.diagnosis, state, context)
        if known.cause in ("no-failure", "unknown"):
            return State(outcome=known, said=(*state["said"], *said))
        return State(outcome=known, said=(*state["said"], *said), diagnosed=known, unhelped=(), log_wanted=False)
    except InputError as error:
        return State(outcome=Refusal("I cannot read that log.", f"{str(error)[:1].upper()}{str(error)[1:]}."))


def typed(text: str) -> Diagnosis:
    """What a message shows; a line after `now it says` is read without these words too."""
    found = find_cause(text)
    if not is_only_words(found):
        return found
    if reason := REASON.search(text):
        told = find_cause(f"PD 0:00 1 ({reason[0]})")
        return replace(told, evidence=tuple(replace(one, text=text[:LONGEST]) for one in told.evidence))
    return find_cause(SAYS.sub("", text)) if SAYS.search(text) else found


def without_log(state: State, context: Context) -> State:
    """Nothing is shown: after a diagnosis its machine's or its next step is said, else the log is asked for."""
    last = state.get("diagnosed")
    cluster = context.cluster(state["request"])
    if last and cluster and cluster.title not in " ".join(last.fix) and not is_unhelped(state["text"], state):
        told = of_the_machine(last, state, context)
        return State(outcome=told, diagnosed=told)
    if last is None or not is_unhelped(state["text"], state):
        return State(outcome=None)
    said, tried = go_on(last, tuple(state.get("unhelped", ())), state["text"])
    return State(outcome=None, said=(*state["said"], said), unhelped=tried)


def of_the_machine(found: Diagnosis, state: State, context: Context) -> Diagnosis:
    """With the machine's own steps. Where there is a script, they are added when it is revised."""
    cluster = context.cluster(state["request"])
    failed = found.cause not in ("no-failure", "unknown")
    return for_cluster(found, cluster) if cluster and failed and not state.get("bundle") else found


def with_model(found: Diagnosis, paths: list[Path], text: str, runtime: Runtime[Context]) -> Helped:
    """What a model reads in a log of which the rules are not sure, with what is known about its lines."""
    models = runtime.context.model
    if models is None or not is_unsure(found):
        return Helped(found)
    runtime.context.tell(Working("asking the language model"))
    sources = from_paths(paths) if paths else [from_text(text)]
    return help_with(found, sources, models, passages(found, runtime.context), runtime.context.stopped)


def passages(found: Diagnosis, context: Context) -> list[Passage]:
    """What was read in that speaks of the log's own lines."""
    lines = " ".join(evidence.text for evidence in found.evidence[:2])
    return context.knowledge.search(lines, limit=3) if context.knowledge and lines else []
