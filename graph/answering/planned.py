"""A question that is about the size, the hours or the saves of a training that the message tells of, whatever its words
are nearest to: `I have a 3B model and 24 GB. Can I train it?`, `2B tokens, one node. Can it finish in 24 h?`."""

from __future__ import annotations

import re
from dataclasses import replace

from graph.answering.ask import Ask
from graph.planning.resources.parameters import find_model
from graph.planning.resources.reading import blanked, find_aim, read_question
from graph.planning.resources.saves_said import read_saves
from graph.reading.utterance import Clause, Utterance

# How probable it is that a clause tells of a planned training.
PREMISE = 0.6
OF_SIZE = re.compile(
    r"(?i)\b(?:how (?:many|much|long)|(?:can|could|will|would|does) (?:i|we|it|that)"
    r"|is (?:it|that|this)|do i need|enough|fit|finish\w*|in time|possible|feasible)\b"
)
WHICH_MACHINE = re.compile(
    r"(?i)\b(?:which|what(?:'?s| is| are)?|where|cheapest|best|fastest|quickest)\b.{0,30}"
    r"\b(?:machine|cluster|system|supercomputer)s?\b"
)
TOLD_INTERVAL = re.compile(
    r"(?i)\bevery\s+\d[\d.,]*\s?k?\s*(?:steps?|iter\w*|epochs?|min\w*|hours?|h|s|sec\w*|tokens?)\b"
)
MOST = re.compile(r"(?i)\b(?:most|largest|biggest|fastest|widest|highest|best|longest)\b")
OF_MACHINES = re.compile(r"(?i)\b(?:memory|vram|compute|flops?|tflops?|network|bandwidth|fabric|gpus?)\b")


def as_planned(ask: Ask) -> Ask:
    """The question under its topic of planning where it is one; else as it is."""
    clause = ask.clause
    if clause.act not in ("ask", "plan", "review") or ask.report:
        return ask
    ask = replace(ask, utterance=without_interval(ask.utterance))
    said = read_question(ask.utterance)
    if said.aim == "saves" and not said.also and (said.gpus or said.nodes or said.model or said.mtbf_h):
        return under(ask, clause, "ask", "method.checkpoint")
    if asks_for_most(ask):
        return under(ask, clause, "ask", "machine.which")
    sized = said.model is not None and find_model(said.model) is not None
    told = any(one.share("plan") >= PREMISE for one in ask.utterance.clauses)
    if sized and told and clause.act == "ask" and not ask.bundle and OF_SIZE.search(ask.text):
        whole = replace(clause, text=ask.utterance.text, start=0, end=len(ask.utterance.text))
        return under(ask, whole, "plan")
    return ask


def without_interval(utterance: Utterance) -> Utterance:
    """With blanks for how often is saved, where that is told and something else is asked; as long as it was."""
    failures = [(one.start, one.end) for one in read_saves(utterance.text)]  # `fails every 20 hours` is no interval
    intervals = [one.span() for one in TOLD_INTERVAL.finditer(utterance.text)]
    text = blanked(utterance.text, [(a, b) for a, b in intervals if not any(a < e and s < b for s, e in failures)])
    aim = find_aim(text)
    return replace(utterance, text=text) if aim and aim[0] not in ("fit", "checkpoint", "saves") else utterance


def asks_for_most(ask: Ask) -> bool:
    """`Which cluster has the most memory per GPU`, with none named."""
    text = ask.text
    asks = WHICH_MACHINE.search(text) and MOST.search(text) and OF_MACHINES.search(text)
    return bool(asks) and not ask.utterance.machines()


def under(ask: Ask, clause: Clause, act: str, topic: str = "") -> Ask:
    return replace(ask, clause=replace(clause, act=act, topic=topic, confidence=1.0, shares=(), by_rule=True))
