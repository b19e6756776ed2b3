"""Messages about the resources of a training that are read as one question: whole ones, and fragments that go on from
the question before (`and with LoRA?`, `on LUMI?`, `in fp32?`)."""

from __future__ import annotations

import re
from dataclasses import replace

from graph.answering.planned import without_interval
from graph.conversation.followup import GOES_ON, JOINING, LEANING, LONGEST, MARKS, OWN, answers_what_is_open
from graph.conversation.turn import SURE, WANTING, TurnContext, view_of
from graph.extraction.sentences.intents import is_question
from graph.planning.resources.parameters import find_model
from graph.planning.resources.reading import bare_number, read_followup, read_question, residue, scaled, scaled_words
from graph.reading.reader import read_as_one
from graph.reading.utterance import Clause
from knowledge.resource_question import ResourceQuestion
from knowledge.types import OfferRows

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
full long hours days length size per each then these those cards that them
get got again dann nur wenn ich make finetune training finetuning
"""
BESIDE = frozenset(BESIDE_WORDS.split())
# Aims whose words ask of much else, too; how many words beside a plain aim go on from a question.
VAGUE, FEW_LEFT = ("fit", "cost", "machine", "memory"), 4
# Particles of Chinese, Japanese and Korean between values.
SHORT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,4}")


def as_planning(turn: TurnContext) -> TurnContext:
    """The turn with its message as one question of resources, where it is one; else as it is."""
    if turn.message.scripts or turn.message.logs or turn.message.outputs:
        return turn
    read = replace(turn, utterance=without_interval(turn.utterance))
    if goes_on(read) or is_whole(read):
        turn = read
        words = turn.words
        asked = read_followup(turn.utterance, turn.state.get("resources"))
        act, topic = ("ask", "method.checkpoint") if asked.aim == "saves" and not asked.also else ("plan", "")
        plan = Clause(0, len(words), words, act, topic, scope="asked", shares=((act, 1.0),))
        return replace(turn, utterance=replace(turn.utterance, clauses=(plan,)))
    return turn


def is_whole(turn: TurnContext) -> bool:
    """Whether a message is a question of resources by itself: it says what is asked and what its sum takes, wants no
    script, and is surely of nothing else."""
    clauses, said = turn.utterance.clauses, read_question(turn.utterance)
    asks = any(one.scope == "asked" or one.text.rstrip().endswith(MARKS) for one in clauses) or asks_inside(turn.words)
    told = bool(said.model and said.task in ("lora", "qlora") and (said.machines or said.gpu)) and is_terse(turn)
    if (
        not (asks or said.aim or told)
        or WANTS_SCRIPT.search(residue(turn.utterance))  # `3 minutes to write` is a save's time
        or (turn.script is not None and turn.act == "edit")
    ):
        return False
    others = [one for one in clauses if one.act in OTHER_ACTS and not one.topic.startswith(OF_SUMS)]
    elsewhere = any(one.confidence >= OWN for one in others)
    place = bool(said.machines or said.gpu or said.gpu_gb)
    of_time = said.aim in (None, "hours", "cost", "jobs", "budget") and asks
    if (said.aim == "saves" and said.mtbf_h) or (said.pace_s and of_time):
        return True
    if not said.model:
        with_gpu = (said.gpu or said.gpu_gb) and not said.machines and MACHINES.search(turn.words)
        alone = (said.aim == "largest" and place) or (said.aim == "network" and said.machines and said.sequence)
        of_limits = said.machines and said.hours and not named_work(turn)
        if of_limits and (said.aim == "jobs" or (said.aim == "fit" and said.nodes)):
            return True
        return bool(with_gpu or alone) and not elsewhere
    if not find_model(said.model):
        return False
    if told or (said.aim and (said.aim not in VAGUE or said.also) and not elsewhere):
        return True
    together = read_as_one(turn.words, view_of(turn.state)).share("plan") >= TOGETHER
    if (together and len(clauses) > 1) or all(one.act == "ask" for one in clauses):
        return together and len(clauses) > 1
    return not elsewhere


def is_terse(turn: TurnContext) -> bool:
    """`LoRA 70B on 1 node of DeltaAI`: values alone, with no verb and no program, which ask whether that will do."""
    words_left = set(re.findall(r"[^\W\d_][\w']*", residue(turn.utterance).lower()))
    return not turn.pending and words_left <= JOINING and not turn.utterance.of_kind("Path", "Framework", "Account")


def named_work(turn: TurnContext) -> bool:
    """Whether a program or a way to run one is named: such a message may want a script."""
    return bool(turn.utterance.of_kind("Path", "Method", "Framework", "Model"))


def asks_inside(words: str) -> bool:
    """Whether words ask without a question mark: `..., which gpu type should i ask`."""
    return is_question(words) or ASKS.search(words) is not None


def goes_on(turn: TurnContext) -> bool:
    """Whether, after an answer about resources, the words ask of it again: they name values of such a question or what
    is asked, and little else."""
    state, words = turn.state, turn.words.strip()
    before = state.get("resources") or ResourceQuestion()
    of_plans = state.get("last_act") == "plan" or state.get("last_topic", "").startswith(OF_PLANS)
    if not of_plans or len(words) > LONGEST or WANTS_SCRIPT.search(residue(turn.utterance)):
        return False
    said = read_question(turn.utterance)
    named = [one for one in turn.utterance.mentions if one.kind != "Rank"]
    asks = words.endswith(MARKS) or GOES_ON.match(words) is not None or said.aim is not None
    ordered = turn.utterance.main.share(*WANTING) >= SURE and not words.endswith(MARKS)
    if turn.script is not None and ordered:
        return False  # `ok and make it 4 nodes`, of the script
    rows = isinstance(turn.pending, OfferRows) and said.said()  # a value is asked about, a number alone takes a row
    if (turn.script is not None and not asks) or (
        turn.pending and not rows and answers_what_is_open(turn, asks, named)
    ):
        return False
    if not said.said() and not scaled(turn.utterance, before) and not bare_number(turn.utterance, before):
        return False
    left = {
        word for word in re.findall(r"[^\W\d_][\w']*", residue(turn.utterance).lower()) if not SHORT.fullmatch(word)
    }
    left -= JOINING | LEANING | BESIDE
    if times := scaled_words(words):
        left -= set(times.split())
    if not left:
        return said.aim != "memory" or not said.machines
    main = turn.utterance.main
    elsewhere = main.act not in ("plan", "chat") and main.confidence >= OWN and not main.topic.startswith(OF_PLANS)
    if said.aim and said.aim not in VAGUE:
        return len(left) <= FEW_LEFT
    return len(left) == 1 and not elsewhere and bool(said.said())
