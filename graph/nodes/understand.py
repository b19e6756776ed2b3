"""Read the message: what is wanted, and what it adds to the request."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.attached import is_script, read_head
from graph.choosing import apply, changed, chosen, recommended
from graph.context import Context
from graph.extraction.request import understand as read
from graph.state import State
from knowledge.types import Assumption, JobRequest, Question, Say


def understand(state: State, runtime: Runtime[Context]) -> State:
    before, question = state.get("request"), state.get("question")
    offered = state.get("offered")
    picked = chosen(state["text"], offered.instead) if offered else None
    if picked:
        return State(intent="generate", request=apply(before or JobRequest(), picked), offered=None, question=None)
    text, is_log = with_attachments(state)
    if is_log:
        return State(intent="diagnose")
    heard = read(text, before, question.field if question else None, question.options or None if question else None)
    left = leave_to_us(state, heard.request, question)
    if left:
        return left
    return State(
        intent=heard.intent,
        request=heard.request,
        heard_nothing=heard.request == before,
        left_to_us=still_ours(state, heard.request),
        offered=None,
    )


def with_attachments(state: State) -> tuple[str, bool]:
    """The message with an attached script's text; and whether what is attached is a log."""
    for attachment in state["attachments"]:
        head = read_head(attachment)
        if not is_script(head):
            return state["text"], True
        return f"{state['text']}\n\n{head}", False
    return state["text"], False


def leave_to_us(state: State, request: JobRequest, question: Question | None) -> State | None:
    """`you choose`, in answer to a question: take the recommended value, and say why."""
    if question is None or getattr(request, question.field, None) is not None:
        return None
    advice = recommended(state["text"], question)
    if advice is None:
        return None
    value, why = advice
    taken = Assumption(question.field, str(value), f"left to me: {why}")
    return State(
        intent="generate",
        request=changed(request, {question.field: value}),
        left_to_us=(*state.get("left_to_us", ()), taken),
        said=(Say(f"I take {question.field} = {value}: {why}."),),
    )


def still_ours(state: State, request: JobRequest) -> tuple[Assumption, ...]:
    """The choices that were left to us and have not been overruled since."""
    return tuple(a for a in state.get("left_to_us", ()) if str(getattr(request, a.field)) == a.value)
