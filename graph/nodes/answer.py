"""Say what came out: a script and what to know about it, a refusal, a diagnosis, or words."""

from __future__ import annotations

import re
from datetime import date

from langgraph.runtime import Runtime

from graph.agreed import agree, stands
from graph.answering import related
from graph.answering.grounds import SURE, Grounds, grounds
from graph.answering.joined import question_in
from graph.answering.telling import answer_text
from graph.changes import changes, diff
from graph.context import Context
from graph.extraction.request import is_about_us, is_order
from graph.modelling.wording import worded
from graph.planning.plan import ACCOUNT_PLACEHOLDER
from graph.state import State
from knowledge.types import Assumption, Diagnosis, LaunchBundle, LaunchPlan, Made, Refusal, Say, Working, Writing

WHAT_I_DO = (
    "I write launch scripts for deep learning on HPC machines, and tell why a job failed. "
    "Try *train ViT with FSDP on Perlmutter, 4 nodes*, or paste a log."
)
NOT_KNOWN = (
    "That is not in what I know, so I will not guess. Name a machine and one of its facts (queues, walltime, GPUs, "
    "modules; `maple-chat clusters` lists the machines), let me read your site's pages (`maple-chat knowledge add "
    "PATH|URL`), or ask your site's support."
)
SEND_LOG = (
    "Show me the log and I find what failed first: paste it here (the last few hundred lines will often do), or name "
    "its file, as in *@slurm-123.out*."
)
NO_ACTS = (
    "I do nothing on a machine by myself. A script goes in with the command that stands under it; `scancel JOB` "
    "(Slurm), `qdel JOB` (PBS), `bkill JOB` (LSF) or `flux cancel JOB` ends a job. Passwords and files are yours alone."
)
SHOW = re.compile(r"\b(?:show|print|give|send|repeat|display)\b.{0,20}\bscript\b|\bscript (?:again|once more)\b", re.I)
STANDS = "The script stands; say *make it 8 nodes* or *account m1234* to change it."
UNCHANGED = "I read no change in that, so the script stays as it is. Say what to change, such as *make it 8 nodes*."


def answer(state: State, runtime: Runtime[Context]) -> State:
    outcome, draft = state["outcome"], state["draft"]
    if isinstance(outcome, LaunchPlan) and draft:
        return also_answered(state, script(state, outcome, draft), runtime)
    if isinstance(outcome, Refusal):
        offered = outcome if outcome.instead else None
        request, refused, left = stands(state)
        return State(said=(*state["said"], outcome, *left), offered=offered, request=request, refused=refused)
    if isinstance(outcome, Diagnosis):
        found = any(isinstance(part, Diagnosis) for part in state["said"])
        said = state["said"] if found else (*state["said"], outcome)
        return State(said=(*said, *beside(outcome, state, runtime)))
    return words(state, runtime)


def beside(diagnosis: Diagnosis, state: State, runtime: Runtime[Context]) -> tuple[Say, ...]:
    """Known issues and pages that speak of the same lines."""
    get_ready(runtime)
    found = related.related(diagnosis, state["request"], runtime.context)
    lines = " ".join(evidence.text for evidence in diagnosis.evidence)
    return (Say(related.in_words(found, lines, date.today())),) if found else ()


def get_ready(runtime: Runtime[Context]) -> None:
    """Let the finder index what is new, which may take a while, and say so."""
    if runtime.context.knowledge:
        runtime.context.knowledge.refresh(progress=lambda *facts: runtime.context.tell(Working(*facts)))


def script(state: State, plan: LaunchPlan, draft: LaunchBundle) -> State:
    before = state.get("bundle")
    if draft == before and not SHOW.search(state["text"]):
        return State(said=state["said"] or (Say(UNCHANGED),))
    last = state.get("plan")
    same_machine = last is not None and last.cluster == plan.cluster
    assumptions = (*state.get("left_to_us", ()), *plan.assumptions)
    notes = (*state["notes"], *plan.notes, *state["proof"])
    told = state.get("told", ())
    made = Made(
        bundle=draft,
        title=plan.title,
        assumptions=tuple(a for a in assumptions if a not in told or is_placeholder(a)),
        notes=tuple(note for note in notes if note not in told),
        changes=changes(last, plan),
        diff=diff(before, draft) if same_machine else "",
    )
    return State(
        said=(*state["said"], made),
        plan=plan,
        bundle=draft,
        offered=None,
        told=(*assumptions, *notes),
        agreed=agree(state.get("agreed", ()), state["request"]),
        refused=None,
    )


def also_answered(state: State, made: State, runtime: Runtime[Context]) -> State:
    """The question that came with the change, answered behind the script."""
    asked = question_in(state["text"], state["request"])
    if asked:
        get_ready(runtime)
        found = grounds(asked, state, runtime.context)
        made["said"] = (*made["said"], *(told(found, runtime) if found.known else (Say(NOT_KNOWN),)))
    return made


def is_placeholder(assumption: Assumption) -> bool:
    return assumption.field == "account" and assumption.value.startswith(ACCOUNT_PLACEHOLDER)


def words(state: State, runtime: Runtime[Context]) -> State:
    """A question out of the facts and passages, small talk, and what could not be read: one line on what there is."""
    text, intent = state["text"], state["intent"]
    if intent in ("diagnose", "smalltalk") and state["said"]:
        return State()
    if intent == "other" and is_order(text):
        return State(said=(*state["said"], Say(NO_ACTS)))
    if is_about_us(text):
        return State(said=(*state["said"], Say(WHAT_I_DO)))
    if intent != "smalltalk" or "?" in text:
        get_ready(runtime)
        found = grounds(text, state, runtime.context)
        if found.known and (intent != "other" or "?" in text or is_sure(found)):
            wanted = intent == "diagnose" and not (found.fact and found.fact.typed)
            said = (*state["said"], *told(found, runtime), *(Say(SEND_LOG),) * wanted)
            return State(said=said, log_wanted=wanted, asked_last=text)
        if intent == "question":
            return State(said=(*state["said"], Say(NOT_KNOWN)), unanswered=True)
    return State(said=(*state["said"], Say(friendly(state))), log_wanted=intent == "diagnose")


def is_sure(found: Grounds) -> bool:
    """Whether it answers what was not even asked as a question."""
    return bool(found.fact and found.fact.typed) or (bool(found.passages) and found.passages[0].score >= SURE)


def told(found: Grounds, runtime: Runtime[Context]) -> tuple[Say, ...]:
    """The answer by the rules; where there is a model, in its words, if each sentence stands on what it cites."""
    text, models = answer_text(found, date.today()), runtime.context.model
    if models is None:
        return (Say(text),)
    write, stopped = lambda piece: runtime.context.tell(Writing(piece)), runtime.context.stopped
    text, trouble = worded(found, text, models, write, stopped)
    return (Say(text), Say(trouble)) if trouble else (Say(text),)


def friendly(state: State) -> str:
    """What is said where there was no question."""
    if state["intent"] == "diagnose":
        return SEND_LOG
    if state.get("bundle"):
        return STANDS if state["intent"] == "smalltalk" else UNCHANGED
    return WHAT_I_DO
