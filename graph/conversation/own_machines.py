"""What a person says of the machines that are theirs: it is kept, and plans are made over these."""

from __future__ import annotations

from collections.abc import Sequence

from graph.context import Context
from graph.conversation.turn import SURE, TurnContext, open_turn
from graph.reading.own_machines import ASKED, asks_where, the_rest, told_machines
from graph.state import State
from knowledge.types import Say

KEPT = (
    "Your machines: {}. Plans and *which machine?* compare these from now on, in all your conversations; *I also have "
    "access to ...* adds one, *forget my machines* ends it."
)
# Which of the machines that a message lists is asked in the same breath: it is read as one.
CHOOSING = ("machine.which", "machine.compare")
NONE_KEPT = "I know of no machines of yours: *which machine?* compares all. *I have access to ...* tells me yours."


def with_own_machines(begun: State, turn: TurnContext, context: Context) -> tuple[State, TurnContext]:
    """What the words say of the person's machines, and the turn for what else they say.

    Where one machine is told of, it may be the one that the rest is about; several are no choice.
    """
    before = tuple(turn.state.get("own_machines", ()))
    mine = told_machines(turn.utterance, before)
    rest = the_rest(turn.utterance)
    if mine is None or turn.message.scripts or turn.message.logs:
        return begun, turn
    begun = State(**{**begun, "own_machines": mine})
    named = turn.utterance.machines()
    chooses = len(named) > 1 and any(one.topic in CHOOSING and one.confidence >= SURE for one in turn.utterance.clauses)
    chooses = chooses or asks_where(turn.utterance)
    if not rest or (len(named) == 1 and named[0] in mine) or chooses:
        return begun, turn
    return begun, open_turn(State(**{**turn.state, "own_machines": mine, "text": rest}), context)


def by_own_machines(turn: TurnContext) -> State | None:
    """A message that only tells which machines are the person's, or asks which were told."""
    before = tuple(turn.state.get("own_machines", ()))
    if ASKED.fullmatch(turn.words.strip()):
        return State(said=(kept_words(before, turn.context),), act="chat")
    told = told_machines(turn.utterance, before)
    if told is None or the_rest(turn.utterance):
        return None
    return State(said=(kept_words(told, turn.context),), act="chat", pending=turn.pending)


def kept_words(mine: Sequence[str], context: Context) -> Say:
    """What is kept of the person's machines, and how to change it."""
    titles = [one.title for name in mine if (one := context.catalogue.find(name))]
    return Say(KEPT.format(", ".join(titles)) if titles else NONE_KEPT)
