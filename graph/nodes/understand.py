"""Read the message: what is wanted, and what it adds to the request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from langgraph.runtime import Runtime

from graph.agreed import carried_by, corrects, undo
from graph.attached import is_script, read_head, split_script
from graph.carried import told
from graph.choosing import apply, beyond, changed, chosen, recommended
from graph.context import Context
from graph.extraction.request import is_not_ours, machines_in
from graph.extraction.request import understand as read
from graph.following import followed
from graph.going_on import is_unhelped
from graph.modelling.extracting import fill
from graph.nodes.answer import SEND_LOG
from graph.nodes.web import answered as to_the_offer
from graph.porting.port import carried_over
from graph.reviewing import MOVES, reviewed
from graph.routes import TALK
from graph.state import State
from graph.undescribed import DECIDING
from graph.wishes import wishes
from knowledge.errors import InputError
from knowledge.types import (
    Alternative,
    Assumption,
    Attachment,
    JobRequest,
    LaunchPlan,
    Question,
    Refusal,
    Said,
    Say,
    Understood,
)

MOST_DESCRIBED = 2000
# What planning chooses where it was not said, and people then change by an amount.
COUNTED = ("walltime", "nodes", "gpus_per_node")
BEYOND = "I offered {} above. Say one of those numbers, or in words what to change, such as *2 nodes*."
# Asks for a job rather than tells where one failed.
WANTS = re.compile(r"\b(?:train|write|script|launch|help|need|want|make|give|create|generate|please)\b", re.I)
READ_AS = "I take *{}* for {} = {}; say so if it is not."


def understand(state: State, runtime: Runtime[Context]) -> State:
    """An offer of a web search stands until the next message, whatever that is about."""
    found = to_the_offer(state) or understood(state, runtime)
    found["offered_search"] = ""
    found["asked_last"] = ""
    return found


def understood(state: State, runtime: Runtime[Context]) -> State:
    before, question, offered = state.get("request"), state.get("question"), state.get("offered")
    refused = state.get("refused")
    picked = chosen(state["text"], offered.instead) if offered else None
    if picked:
        return pick(state, refused or before or JobRequest(), picked)
    if offered and beyond(state["text"], offered.instead):
        return State(intent="smalltalk", said=(Say(BEYOND.format(len(offered.instead))),))
    undone = undo(state)
    if undone:
        return undone
    words, script = message(state["text"], state["attachments"])
    if not script and state.get("pasted") and MOVES.search(words):
        script = state["pasted"]
    if script:
        return asked_about(words, script, state, runtime.context) or carry(words, script)
    if state["attachments"]:
        return State(intent="diagnose", request=before or JobRequest())
    asked = (question.field if question else None, question.options or None if question else None)
    heard, said = hear(words, before, asked, state, runtime.context)
    if before and refused:
        again, said_again = hear(words, refused, asked, state, runtime.context)
        if corrects(before, refused, again.request):
            heard, said = again, said_again
    whole = followed(
        words, state.get("asked_last", ""), before or JobRequest(), heard.request, writing="bundle" in state
    )
    if whole and not question:
        return State(intent="question", request=before or JobRequest(), text=whole)
    if question and question.field in DECIDING and heard.request == before and "?" not in words:
        return of_the_machine(state, before or JobRequest(), question)
    left = leave_to_us(state, heard.request, question, runtime.context)
    if left:
        return left
    if heard.request == before and is_unhelped(words, state):
        heard = replace(heard, intent="diagnose")
    if names_its_machine(before, heard.request, state):
        if state.get("diagnosed") is None:
            return State(intent="smalltalk", request=heard.request, said=(Say(SEND_LOG),))
        heard = replace(heard, intent="diagnose")
    heard, said_loosely = loosely(words, question, heard, runtime)
    return take(state, before, heard, (*said, *said_loosely))


def names_its_machine(before: JobRequest | None, now: JobRequest, state: State) -> bool:
    """Whether a message tells, while a failure is spoken of and no script, only where the job ran."""
    open_failure = state.get("diagnosed") is not None or state.get("log_wanted")
    if not open_failure or state.get("bundle") or state.get("question") or WANTS.search(state["text"]):
        return False
    was = before or JobRequest()
    return now.machine != was.machine and replace(now, machine=was.machine, heard=was.heard) == was


def hear(
    words: str,
    before: JobRequest | None,
    asked: tuple[str | None, Sequence[str] | None],
    state: State,
    context: Context,
) -> tuple[Understood, tuple[Said, ...]]:
    """What the rules read in the words, and what of it is to be said."""
    heard = read_beside(words, before, asked, state.get("plan"))
    heard, said = wishes(words, before, heard, context.cluster(heard.request))
    return heard, tuple(map(Say, said))


def read_beside(
    words: str, before: JobRequest | None, asked: tuple[str | None, Sequence[str] | None], decided: LaunchPlan | None
) -> Understood:
    """The message, where `an hour more` and `half the nodes` also count from what planning chose."""
    if before is None or decided is None or decided.cluster != before.machine:
        return read(words, before, *asked)
    known = replace(before, walltime=before.walltime or decided.walltime)
    heard = read(words, known, *asked)
    if heard.request == known:
        each = before.gpus_per_node or decided.ranks_per_node
        known = replace(known, nodes=before.nodes or decided.nodes, gpus_per_node=each, total_gpus=None)
        counted = read(words, known, *asked)
        if counted.request == known:
            return replace(heard, request=before)
        heard = counted
    said = {one.field for one in heard.request.heard}
    same = [name for name in COUNTED if getattr(heard.request, name) == getattr(known, name) and name not in said]
    return replace(heard, request=changed(heard.request, {name: getattr(before, name) for name in same}))


def loosely(
    words: str, question: Question | None, heard: Understood, runtime: Runtime[Context]
) -> tuple[Understood, tuple[Said, ...]]:
    """What a model reads in loose words, for fields that the rules left empty; said, so that it can be corrected."""
    models = runtime.context.model
    open_to_it = heard.intent in ("generate", "port") or (heard.intent == "other" and not is_not_ours(words))
    if models is None or heard.intent in TALK or not (open_to_it or question):
        return heard, ()
    filled = fill(words, heard.request, runtime.context.catalogue, models, runtime.context.stopped)
    said = [Say(READ_AS.format(c.words, c.field.replace("_", " "), c.value)) for c in filled.chosen]
    said += [Say(filled.trouble)] if filled.trouble else []
    if filled.chosen and heard.intent == "other":
        heard = replace(heard, intent="generate")
    return replace(heard, request=filled.request), tuple(said)


def of_the_machine(state: State, request: JobRequest, question: Question) -> State:
    """An answer about a machine that nobody described: a choice, by number or name, or any words."""
    picked = chosen(state["text"], [Alternative(option) for option in question.options])
    words = picked.says if picked else state["text"]
    known = f"{state.get('described', '')} {words}"[:MOST_DESCRIBED]
    return State(intent="generate", request=request, described=known)


def pick(state: State, before: JobRequest, picked: Alternative) -> State:
    """One of the ways round a refusal. A machine that stands in for another is an assumption, and stays one."""
    request = apply(before, picked)
    ours = tuple(state.get("left_to_us", ()))
    if state.get("stands_in"):
        why = f"stands in for {before.machine}, which nobody described: check queue, account, modules and network there"
        ours = (*ours, Assumption("machine", str(request.machine), why))
    return State(
        intent="generate", request=request, offered=None, refused=None, question=None, stands_in=False, left_to_us=ours
    )


def message(text: str, attachments: Sequence[Attachment]) -> tuple[str, str]:
    """The words, and the script that came with them, if one did: attached, or pasted behind the words."""
    for head in map(read_head, attachments):
        if is_script(head):
            words, script = split_script(head)
            return f"{text}\n{words}".strip(), script
    return (text, "") if attachments else split_script(text)


def asked_about(words: str, script: str, state: State, context: Context) -> State | None:
    """A script that is to be checked or explained, and not carried over."""
    named = [context.catalogue.clusters[name] for name in machines_in(words) if name in context.catalogue.clusters]
    said = reviewed(words, script, named[0] if named else None)
    request = state.get("request") or JobRequest()
    return State(intent="smalltalk", request=request, said=said, pasted=script) if said else None


def carry(words: str, script: str) -> State:
    """A script for another machine: what the words say goes before what the script says."""
    try:
        carried = carried_over(script)
    except InputError as error:
        return State(intent="port", outcome=Refusal("I cannot carry that script over.", f"Reason: {error}."))
    heard = read(words, carried, None, None) if words.strip() else Understood("port", carried)
    said = (Say(told(carried)),)
    return State(
        intent="port",
        request=heard.request,
        source=script,
        pasted="",
        question=None,
        offered=None,
        left_to_us=(),
        said=said,
    )


def take(state: State, before: JobRequest | None, heard: Understood, said: tuple[Said, ...] = ()) -> State:
    left = tuple(a for a in state.get("left_to_us", ()) if str(getattr(heard.request, a.field)) == a.value)
    return State(
        intent=heard.intent,
        request=heard.request,
        heard_nothing=heard.request == before,
        source=carried_by(heard.request, before or JobRequest(), state.get("source", "")),
        left_to_us=left,
        offered=state.get("offered") if heard.intent in TALK else None,
        refused=state.get("refused") if heard.intent in TALK else None,
        described=described(state, before, heard.request),
        log_wanted=heard.intent in TALK and bool(state.get("log_wanted")),
        said=said,
    )


def described(state: State, before: JobRequest | None, request: JobRequest) -> str:
    """What was said of the machine: the message that named it; answers to what was asked about it are added."""
    if before is None or before.machine != request.machine:
        return state["text"][:MOST_DESCRIBED]
    return state.get("described", "")


def leave_to_us(state: State, request: JobRequest, question: Question | None, context: Context) -> State | None:
    """`you choose`, in answer to a question: take the recommended value, and say why."""
    if question is None or getattr(request, question.field, None) is not None:
        return None
    advice = recommended(state["text"], question, request, context.cluster(request))
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
