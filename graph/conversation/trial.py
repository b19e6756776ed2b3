"""`What would happen if I asked for 16 tasks a node?`: the change is tried, told as such, and the state is kept."""

from __future__ import annotations

import re

from graph.conversation.gate import WOULD_BE, offered
from graph.conversation.script_job import machine_for
from graph.conversation.scripts import SPEAKS_AGAINST, faults_of_change
from graph.conversation.turn import TurnContext
from graph.conversation.words import read_beside
from graph.state import State
from knowledge.types import Offer, OfferEdit, Say

# How a trial begins; what follows is the change.
FRAME = re.compile(
    r"(?i)^\W*(?:(?:and|but|so|ok|hm+)\W+)*(?:what (?:would|will|might) (?:happen|change|be|it (?:cost|look like|mean))"
    r"|what (?:if|happens)|how (?:would|will) it (?:look|run|be)|would it (?:still )?(?:run|work|fit|start))\b"
    r"(?:\W+(?:if|when|with))*(?:\s+(?:i|we|it|one|you))?"
    r"(?:\s+(?:asked? for|requested?|used?|had|have|took|take|set|ran|runs?|were|was|changed?(?: it)? to|on))?\s+"
)
# `What about 2 hours on the debug queue?`
ABOUT = re.compile(r"(?i)^\W*(?:(?:and|but|so|ok|hm+)\W+)*(?:what|how) about\s+")


def by_trial(turn: TurnContext) -> State | None:
    """None where it is no trial, where a queue's limits answer it, or where the script holds no such thing."""
    found, said = FRAME.match(turn.words), turn.utterance
    # Of these the queues' limits give the verdict, with the price.
    sized = said.of_kind("Duration", "Machine", "Queue") or any(one.unit == "node" for one in said.of_kind("Quantity"))
    if about := ABOUT.match(turn.words):
        found, sized = about, said.of_kind("Machine")
    if found is None or turn.script is None or turn.message.scripts or turn.message.logs or sized:
        return None
    words, own = turn.words[found.end() :].rstrip(" ?!."), turn.state.get("own")
    if own is None:
        before = turn.state.get("request")
        if before is None:
            return None
        return offered(turn, before, read_beside(words, before, (None, None), turn.state.get("plan")), bare=True)
    from graph.usecases.edit_script import edit_script

    cluster = machine_for(turn, own)
    edited = edit_script(own.text, words, cluster)
    if edited is None:
        return None
    if edited.text == own.text:
        return State(said=tuple(map(Say, edited.told)), act="ask")
    changes, against = "; ".join(edited.says), "; ".join(faults_of_change(own.text, edited.text, cluster))
    told = SPEAKS_AGAINST.format(changes, against) if against else WOULD_BE.format(changes, "")
    return State(
        said=(Say(told), *map(Say, edited.told)), pending=OfferEdit((Offer(changes, script=edited.text),)), act="ask"
    )
