"""Whether a message orders a change or asks about it: the model says which, where the words alone prove neither."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Literal

from graph.context import Context
from graph.conversation.turn import MARKS, SURE, WANTING, TurnContext, rather_asks
from graph.conversing.hand import Hand, in_short
from graph.conversing.job_told import UNTOLD
from graph.conversing.notes import read_of
from graph.debugging.remedies import price
from graph.debugging.remedies import says as in_words
from graph.extraction.sentences.intents import has
from graph.extraction.sentences.lexicon import fold
from graph.planning.patches import patches_between, shown
from graph.reading.utterance import Clause
from graph.state import State
from knowledge.types import JobRequest, Offer

Purpose = Literal["order", "trial"]
# From which share on a clause beside a question is an order.
ORDERS = 0.5
# `Back to mpiexec` and `undo that` order as `make it 4` does.
ORDERING = (*WANTING, "undo", "redo", "back")
TRIED = "TRIED, not done: nothing changed. A yes in the next message takes it (take_offer). It would be:"
WHICH = "(The message is a question. Where it asks for this to be done, however politely, call again: purpose=order.)"


def may_only_ask(turn: TurnContext) -> bool:
    """Whether nothing in a message is plainly an order, and something in it a question or a supposition."""
    clauses = turn.utterance.clauses
    asks = any(one.scope in ("asked", "hypothetical") or one.text.rstrip().endswith(MARKS) for one in clauses)
    return asks and not any(map(is_plain_order, clauses))


def is_plain_order(clause: Clause) -> bool:
    """Whether a clause asks for something to be made (`can you make ...?`), or wants it and is no question."""
    if clause.text.rstrip().endswith(MARKS):
        return has("asks_to_make", fold(clause.text)) or clause.share(*WANTING) >= SURE
    return clause.scope in ("plain", "corrected") and not rather_asks(clause) and clause.share(*ORDERING) >= ORDERS


def as_said(hand: Hand, purpose: Purpose | None, change: Callable[[], str]) -> str:
    """Carry a change out, or only try it, as the model says that the message wants; where it does not say, and the
    words may only ask, it is tried."""
    if purpose == "trial":
        return f"{TRIED}\n{tried(hand, change, unasked=True)}"
    began_with = hand.came.get("bundle")  # what this turn made was ordered, and so is what is put right in it
    still = hand.turn.state.get("bundle") and hand.state.get("bundle") == began_with
    if purpose is None and still and may_only_ask(hand.turn):
        return f"{WHICH}\n{TRIED}\n{tried(hand, change)}"
    hand.is_order = purpose == "order"
    try:
        return change()
    finally:
        hand.is_order = False


def tried(hand: Hand, change: Callable[[], str], *, unasked: bool = False) -> str:
    """What a change would be, all of it: the thread stays as it is, and has it as one offer beside those of the turn's
    other trials. unasked: what costs was not wanted."""
    kept, before, offered = hand.kept(), hand.state, hand.offers
    hand.is_trial = True
    try:
        told = change()
    finally:
        hand.is_trial = False
        after, new = hand.state, tuple(one for one in hand.offers if one not in offered)
        hand.go_back(kept)
    hand.offer(*new, unasked=unasked)
    if found := offer_between(before, after, hand.context):
        hand.offer(found, unasked=unasked or not found.price, beside=True)
    return told


def offer_between(before: State, after: State, context: Context) -> Offer | None:
    """The change from one state to another as an offer; its price is told with it."""
    if after.get("bundle") == before.get("bundle") or rows_of(before) == rows_of(after):
        return None
    was, now = (one.get("request") or JobRequest() for one in (before, after))
    names = [one.name for one in fields(JobRequest) if one.name not in UNTOLD]
    new = {name: value for name in names if (value := getattr(now, name)) != getattr(was, name) and value}
    change = tuple((name, value) for name, value in new.items() if isinstance(value, str | int))
    costs, own, made = price(read_of(before), read_of(after), context.cluster(now)), before.get("own"), after.get("own")
    if own and made:
        patches = patches_between(own.text, made.text)
        return Offer(in_words(was, change) or "; ".join(map(shown, patches)), costs, change, patches=patches)
    more = [f"{name.replace('_', ' ')} {in_short(value)}" for name, value in new.items() if (name, value) not in change]
    more += [shown(one) for one in now.patches if one not in was.patches]
    return Offer(", ".join(filter(None, [in_words(was, change), *more])), costs, change, request=now)


def rows_of(state: State) -> list[str]:
    """The rows of the script in hand without the blanks at their ends."""
    bundle = state.get("bundle")
    return [row.rstrip() for row in bundle.script.splitlines()] if bundle else []
