"""Messages about the resources of a training that are read as one question: whole ones, and fragments that go on from
the question before (`and with LoRA?`, `on LUMI?`, `in fp32?`)."""

from __future__ import annotations

import re
from dataclasses import replace

from graph.answering.planned import OF_SAVES
from graph.conversation.followup import GOES_ON, JOINING, LEANING, LONGEST, MARKS, OWN, answers_what_is_open
from graph.conversation.turn import Turn, view_of
from graph.extraction.sentences.intents import is_question
from graph.planning.resources.parameters import find_model
from graph.planning.resources.reading import read_question, residue, scaled
from graph.reading.reader import read_as_one
from graph.reading.utterance import Clause
from knowledge.resource_question import ResourceQuestion

# From this probability on a message of several clauses, taken together, plans a training.
TOGETHER = 0.6
OF_PLANS = ("method.", "machine.")
OF_SUMS = ("script", "method.", "machine.")
OTHER_ACTS = ("ask", "diagnose", "pending", "mend", "port")
# What asks for a script, and no sum.
WANTS_SCRIPT = re.compile(
    r"(?i)\b(?:write|scripts?|sbatch|qsub|bsub|(?:job|batch|submission) files?|submit|generate|create|port|convert)\b"
)
ASKS = re.compile(
    r"(?i)\b(?:which|what|how (?:many|much|long|big|often)|wie ?viele?|combien|cu[aá]nt[oa]s)\b.{1,40}"
    r"\b(?:should|do|does|can|could|must|would|need|brauch\w*|faut)\b"
)
MACHINES = re.compile(r"(?i)\b(?:which|what|any)\b.{0,20}\b(?:machines?|clusters?|systems?|supercomputers?)\b")
# Words of a fragment that say nothing beside its values.
BESIDE_WORDS = """
ah oh sorry oops wait hmm yes no actually ones take model has i twice double half times as many more fewer less same
full long hours days length size per each then these those cards
"""
BESIDE = frozenset(BESIDE_WORDS.split())


def as_planning(turn: Turn) -> Turn:
    """The turn with its message as one question of resources, where it is one; else as it is."""
    if turn.message.scripts or turn.message.logs or turn.message.outputs:
        return turn
    if goes_on(turn) or is_whole(turn):
        words = turn.words
        act, topic = ("ask", "method.checkpoint") if OF_SAVES.search(words) else ("plan", "")
        plan = Clause(0, len(words), words, act, topic, scope="asked", shares=((act, 1.0),))
        return replace(turn, utterance=replace(turn.utterance, clauses=(plan,)))
    return turn


def is_whole(turn: Turn) -> bool:
    """Whether a message names a model's size, asks, and wants no script: its clauses taken together plan a training, or
    none is a question of another topic. A question for machines with such a GPU is one, too."""
    clauses, said = turn.utterance.clauses, read_question(turn.utterance)
    asks = any(one.scope == "asked" or one.text.rstrip().endswith(MARKS) for one in clauses) or asks_inside(turn.words)
    if not asks or WANTS_SCRIPT.search(turn.words) or (turn.script is not None and turn.act == "edit"):
        return False
    if not said.model:
        return bool((said.gpu or said.gpu_gb) and not said.machines and MACHINES.search(turn.words))
    if not find_model(said.model):
        return False
    together = read_as_one(turn.words, view_of(turn.state)).share("plan") >= TOGETHER
    if (together and len(clauses) > 1) or all(one.act == "ask" for one in clauses):
        return together and len(clauses) > 1
    others = [one for one in clauses if one.act in OTHER_ACTS and not one.topic.startswith(OF_SUMS)]
    return not any(one.confidence >= OWN for one in others)


def asks_inside(words: str) -> bool:
    """Whether words ask without a question mark: `..., which gpu type should i ask`."""
    return is_question(words) or ASKS.search(words) is not None


def goes_on(turn: Turn) -> bool:
    """Whether, after an answer about resources, the words name values of such a question and nothing else."""
    state, words = turn.state, turn.words.strip()
    before = state.get("resources") or ResourceQuestion()
    of_plans = state.get("last_act") == "plan" or state.get("last_topic", "").startswith(OF_PLANS)
    if not of_plans or len(words) > LONGEST:
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
