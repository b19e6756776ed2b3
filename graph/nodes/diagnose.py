"""Why did it fail? The logs of this message, or the words that tell of a failure; the script in hand is mended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from langgraph.runtime import Runtime

from graph.answering.log import after_failure, means
from graph.context import Context
from graph.conversation.fix_followup import go_on, is_unhelped
from graph.conversation.script_job import machine_for
from graph.conversation.scripts import said_of
from graph.conversation.turn import TurnContext, open_turn
from graph.debugging.advice import for_cluster
from graph.debugging.counting import counted
from graph.debugging.diagnosis import diagnose as find_cause
from graph.debugging.log import LogSource, from_paths, from_text
from graph.debugging.memory_sum import with_sum
from graph.debugging.run_signs import with_signs
from graph.extraction.request import understand as read
from graph.modelling.diagnosing import Helped, help_with, is_unsure
from graph.state import State
from graph.usecases.diagnose_job import report_of
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.site import site_of
from knowledge.types import NO_CAUSE, AwaitLog, Diagnosis, JobRequest, Passage, Paste, Refusal, Said, Say, Working

# `now it says KeyError: 'x'`: what is said of the line is no part of it.
SAYS = re.compile(
    r"\A[^\n:]{0,60}?\b(?:says?|said|shows?|prints?|reports?|(?:fail|dies|died|crash|stop)\w* with"
    r"|(?:i|we) (?:now )?(?:get|got|see)|(?:error|message) is(?: now)?)\b:?\s*(?=[^\s])",
    re.I,
)

# Why a job waits, in Slurm's words, said in a sentence.
REASON = re.compile(r"\b(?:(?:QOS|Assoc|Partition|MaxJobs|ReqNode|Nodes?|Job|Association)[A-Z][a-z]\w+)\b")
LONGEST, MOST_SAID = 300, 1000
OF_JOB = "job"
BRING_SCRIPT = "Paste or attach the job's script (*@job.sh*) and I put the cure into it."
# Causes that a change of the script can cure.
IN_SCRIPT = ("sched-", "comm-", "env-", "gpu-", "fw-", "user-shell")


def diagnose(state: State, runtime: Runtime[Context]) -> State:
    turn = open_turn(state, runtime.context)
    # A job that was named by its id brings the output files that its scheduler told of.
    logs = turn.message.logs or (tuple(state["logs"]) if state.get("act") == OF_JOB else ())
    try:
        found = find_cause(sources(logs, runtime.context)) if logs else typed(turn.words)
        spoken = not logs and found.cause in NO_CAUSE and state.get("diagnosed") is not None
        if (is_only_words(found) and not logs) or spoken:
            return without_log(state, runtime.context)
        helped = with_model(found, logs, turn.words, runtime)
        return told(turn, helped.diagnosis, (Say(helped.trouble),) if helped.trouble else ())
    except InputError as error:
        return State(outcome=Refusal("I cannot read that log.", f"{str(error)[:1].upper()}{str(error)[1:]}."))


def told(turn: TurnContext, found: Diagnosis, said: tuple[Say, ...]) -> State:
    """The diagnosis, and what it means for the script in hand."""
    state, own = turn.state, turn.state.get("own")
    before = (*state["said"], *said)
    shown, proved = turn.printed_on
    names = [shown, *turn.machines] if shown and proved else turn.machines
    named = [turn.context.catalogue.find(name) for name in names]
    cluster = next(filter(None, named), None) or (machine_for(turn, own) if own else turn.cluster)
    found = with_signs(found, cluster)
    if found.cause in NO_CAUSE:
        return State(outcome=found, said=before)
    found = with_sum(found, own.text if own else bundle_text(state), turn.words[:MOST_SAID], said_of_run(turn, cluster))
    if own is None and not state.get("bundle") and is_by_hand(found, turn.words):
        return State(outcome=(told := killed_by_hand(found, cluster)), said=before, diagnosed=told, unhelped=())
    if own is not None:
        mended = said_of(turn, own, report_of(found, own.text, cluster, name=own.name))
        return State(**{**mended, "outcome": mended["diagnosed"], "said": (*before, *mended["said"]), "unhelped": ()})
    known = for_cluster(found, cluster) if cluster and not state.get("bundle") else found
    bring = is_in_script(known) and not state.get("bundle")
    more: tuple[Said, ...] = (known, Say(BRING_SCRIPT)) if bring else ()
    return State(outcome=known, said=(*before, *more), diagnosed=known, unhelped=())


def said_of_run(turn: TurnContext, cluster: Cluster | None) -> JobRequest:
    """What the words beside a log say of its run, its GPUs counted by the machine's nodes."""
    said = read(turn.words[:MOST_SAID], None, None, None).request
    each = said.gpus_per_node or (cluster.node_types[0].gpus.devices_per_node if cluster else None)
    return replace(said, total_gpus=said.total_gpus or (said.nodes * each if said.nodes and each else None))


def is_by_hand(found: Diagnosis, words: str) -> bool:
    """Whether what was killed ran on a login node: the words say so, and no scheduler speaks in the log."""
    shown = " ".join(one.text for one in found.evidence)
    return found.cause == "sched-host-oom" and bool(means("by-hand", words)) and not means("of-a-job", shown)


def killed_by_hand(found: Diagnosis, cluster: Cluster | None) -> Diagnosis:
    """The same without what is of batch jobs alone."""
    site, told = site_of(cluster.id) if cluster else None, after_failure()["on-login"]
    look = f" To try by hand, on {cluster.title}: `{site.interactive.gpu}`." if site and cluster else ""
    return replace(found, says=told["says"], fix=(f"{told['do']}{look}",), send_next=())


def bundle_text(state: State) -> str:
    """The script of ours that is in hand."""
    bundle = state.get("bundle")
    return bundle.script if bundle else ""


def is_in_script(found: Diagnosis) -> bool:
    return found.cause.startswith(IN_SCRIPT)


def is_only_words(found: Diagnosis) -> bool:
    """Whether a message tells of a failure without showing a line of it: `why did it hang?`."""
    return found.cause in NO_CAUSE and not found.evidence


def sources(logs: Sequence[Paste], context: Context) -> list[LogSource]:
    """Files are read with progress; what was typed is at hand."""
    paths = [Path(one.path) for one in logs if one.path]
    texts = [from_text(one.text) for one in logs if not one.path]
    return [*texts, *(counted(paths, context.tell, context.stopped) if paths else ())]


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
    cluster = context.cluster(state.get("request") or JobRequest())
    if last and cluster and cluster.title not in " ".join(last.fix) and not is_unhelped(state["words"], state):
        told = for_cluster(last, cluster)
        return State(outcome=told, diagnosed=told)
    if last is None:
        return State(outcome=None, pending=AwaitLog())
    if not is_unhelped(state["words"], state):
        return State(outcome=None)
    said, tried = go_on(last, tuple(state.get("unhelped", ())), state["words"], state.get("question_before", ""))
    return State(outcome=None, said=(*state["said"], said), unhelped=tried)


def with_model(found: Diagnosis, logs: Sequence[Paste], text: str, runtime: Runtime[Context]) -> Helped:
    """What a model reads in a log of which the rules are not sure, with what is known about its lines."""
    models = runtime.context.model
    if models is None or not is_unsure(found):
        return Helped(found)
    runtime.context.tell(Working("asking the language model"))
    paths = [Path(one.path) for one in logs if one.path]
    texts = [from_text(one.text) for one in logs if not one.path]
    read = [*texts, *(from_paths(paths) if paths else ())] or [from_text(text)]
    return help_with(found, read, models, passages(found, runtime.context), runtime.context.stopped)


def passages(found: Diagnosis, context: Context) -> list[Passage]:
    """What was read in that speaks of the log's own lines."""
    lines = " ".join(evidence.text for evidence in found.evidence[:2])
    return context.knowledge.search(lines, limit=3) if context.knowledge and lines else []
