"""Read the message: what is wanted, and what it adds to the request."""

from __future__ import annotations

from collections.abc import Sequence

from graph.attached import is_script, read_head, split_script
from graph.carried import carried_over, told
from graph.choosing import apply, changed, chosen, recommended
from graph.extraction.request import understand as read
from graph.state import State
from knowledge.types import Assumption, Attachment, JobRequest, Question, Say, Understood


def understand(state: State) -> State:
    before, question, offered = state.get("request"), state.get("question"), state.get("offered")
    picked = chosen(state["text"], offered.instead) if offered else None
    if picked:
        return State(intent="generate", request=apply(before or JobRequest(), picked), offered=None, question=None)
    words, script = message(state["text"], state["attachments"])
    carried = carried_over(script) if script else None
    if carried:
        return carry(words, carried)
    if state["attachments"]:
        return State(intent="diagnose", request=before or JobRequest())
    heard = read(words, before, question.field if question else None, question.options or None if question else None)
    left = leave_to_us(state, heard.request, question)
    return left or take(state, before, heard)


def message(text: str, attachments: Sequence[Attachment]) -> tuple[str, str]:
    """The words, and the script that came with them (attached or pasted), if one did."""
    for head in map(read_head, attachments):
        if is_script(head):
            return text, head
    return (text, "") if attachments else split_script(text)


def carry(words: str, carried: JobRequest) -> State:
    """A script for another machine: what the words say goes before what the script says."""
    heard = read(words, carried, None, None) if words.strip() else Understood("port", carried)
    said = (Say(told(carried)),)
    return State(intent="port", request=heard.request, question=None, offered=None, left_to_us=(), said=said)


def take(state: State, before: JobRequest | None, heard: Understood) -> State:
    left = tuple(a for a in state.get("left_to_us", ()) if str(getattr(heard.request, a.field)) == a.value)
    nothing = heard.request == before
    return State(intent=heard.intent, request=heard.request, heard_nothing=nothing, left_to_us=left, offered=None)


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
