"""Messages about the resources of a training that are read as one question: whole ones, and fragments that go on from
the question before (`and with LoRA?`, `on LUMI?`, `in fp32?`)."""

from __future__ import annotations

import re
from dataclasses import replace

from graph.conversation.followup import GOES_ON, JOINING, LEANING, LONGEST, MARKS, answers_what_is_open
from graph.conversation.turn import Turn, view_of
from graph.planning.resources.parameters import find_model
from graph.planning.resources.reading import read_question, residue, scaled
from graph.reading.reader import read_as_one
from graph.reading.utterance import Clause

# From this probability on a message of several clauses, taken together, plans a training.
TOGETHER = 0.6
OF_PLANS = ("method.", "machine.")
# Words of a fragment that say nothing beside its values.
BESIDE_WORDS = "twice double half times as many more fewer less same full long hours days length size per each"
BESIDE = frozenset(BESIDE_WORDS.split())


def as_planning(turn: Turn) -> Turn:
    """The turn with its message as one question of resources, where it is one; else as it is."""
    if turn.message.scripts or turn.message.logs or turn.message.outputs:
        return turn
    if goes_on(turn) or is_whole(turn):
        words = turn.words
        plan = Clause(0, len(words), words, "plan", scope="asked", shares=(("plan", 1.0),))
        return replace(turn, utterance=replace(turn.utterance, clauses=(plan,)))
    return turn


def is_whole(turn: Turn) -> bool:
    """Whether a message names a model's size, asks, and taken together plans a training."""
    clauses = turn.utterance.clauses
    model = read_question(turn.utterance).model
    if len(clauses) < 2 or not model or not find_model(model):
        return False
    asks = any(one.scope == "asked" or one.text.rstrip().endswith(MARKS) for one in clauses)
    return asks and read_as_one(turn.words, view_of(turn.state)).share("plan") >= TOGETHER


def goes_on(turn: Turn) -> bool:
    """Whether, after an answer about resources, the words name values of such a question and nothing else."""
    state, words = turn.state, turn.words.strip()
    before = state.get("resources")
    of_plans = state.get("last_act") == "plan" or state.get("last_topic", "").startswith(OF_PLANS)
    if before is None or not of_plans or len(words) > LONGEST:
        return False
    named = [one for one in turn.utterance.mentions if one.kind != "Rank"]
    asks = words.endswith(MARKS) or GOES_ON.match(words) is not None
    if (turn.script is not None and not asks) or (turn.pending and answers_what_is_open(turn, asks, named)):
        return False
    said = read_question(turn.utterance).said()
    if not said and not scaled(turn.utterance, before):
        return False
    left = set(re.findall(r"[^\W\d_][\w']*", residue(turn.utterance).lower()))
    return left <= JOINING | LEANING | BESIDE
