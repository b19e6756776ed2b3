"""Say what came out: a script and what to know about it, a refusal, a diagnosis, or words."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.answering.facts import answer_from_facts
from graph.answering.machines import named
from graph.changes import changes, diff
from graph.context import Context
from graph.planning.plan import ACCOUNT_PLACEHOLDER
from graph.state import State
from knowledge.types import Assumption, Diagnosis, LaunchBundle, LaunchPlan, Made, Refusal, Said, Say

WHAT_I_DO = (
    "I write launch scripts for deep learning on HPC machines, and tell why a job failed. "
    "Try *train ViT with FSDP on Perlmutter, 4 nodes*, or paste a log."
)
NOT_KNOWN = (
    "That is not in what I know, so I will not guess. Name a machine and one of its facts (queues, walltime, GPUs, "
    "modules), or ask your site's support; `maple-chat clusters` lists the machines."
)
SEND_LOG = (
    "Show me the log and I find what failed first: paste it here (the last few hundred lines will often do), or name "
    "its file, as in *@slurm-123.out*."
)
THANKS = "You are welcome. The script stands; say *make it 8 nodes* or *account m1234* to change it."
UNCHANGED = "I read no change in that, so the script stays as it is. Say what to change, such as *make it 8 nodes*."


def answer(state: State, runtime: Runtime[Context]) -> State:
    outcome, draft = state["outcome"], state["draft"]
    if isinstance(outcome, LaunchPlan) and draft:
        return script(state, outcome, draft)
    if isinstance(outcome, Refusal):
        return State(said=(*state["said"], outcome), offered=outcome if outcome.instead else None)
    if isinstance(outcome, Diagnosis):
        told = any(isinstance(part, Diagnosis) for part in state["said"])
        return State(said=state["said"] if told else (*state["said"], outcome))
    return State(said=(*state["said"], words(state, runtime.context)))


def script(state: State, plan: LaunchPlan, draft: LaunchBundle) -> State:
    before = state.get("bundle")
    if draft == before:
        return State(said=(*state["said"], Say(UNCHANGED)))
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
    return State(said=(*state["said"], made), plan=plan, bundle=draft, offered=None, told=(*assumptions, *notes))


def is_placeholder(assumption: Assumption) -> bool:
    return assumption.field == "account" and assumption.value.startswith(ACCOUNT_PLACEHOLDER)


def words(state: State, context: Context) -> Said:
    """A question out of the facts, small talk, and what could not be read: one friendly line on what there is."""
    text = state["text"]
    if state["intent"] == "question" or ("?" in text and state["intent"] != "diagnose"):
        about = named(text) or context.cluster(state["request"])
        found = answer_from_facts(text, about)
        if found or state["intent"] == "question":
            return Say(found.with_sources() if found else NOT_KNOWN)
    if state["intent"] == "diagnose":
        return Say(SEND_LOG)
    if state["intent"] == "smalltalk" and state.get("bundle"):
        return Say(THANKS)
    return Say(WHAT_I_DO)
