"""What a plan's hours assume and where that is from: the share of the peak that trainings reach, the rule of six."""

from __future__ import annotations

import re

from graph.answering.ask import Ask
from graph.answering.resources import share_words
from graph.answering.situation import cite, write_document
from graph.planning.resources.options import known_devices
from graph.planning.resources.parameters import find_model
from knowledge.document import Document

# What asks for the share of the peak; with a number of nodes it is scaling that is asked about.
SHARE_ASKED = re.compile(
    r"(?i)\b(?:efficien\w*|utili[sz]ation|mfu|assum\w*|effizienz|wirkungsgrad|auslastung|angenommen|annahmen?"
    r"|rendement|efficacit[ée]|eficiencia|efici[êe]ncia|efficienza|suposici\w*|hypoth[èe]se\w*)\b"
)
SCALING = re.compile(r"(?i)\b\d+ (?:nodes?|gpus?|knoten)\b|\bscal(?:e|es|ing)\b|\bskalier\w*")
RULE_OF_SIX = "https://arxiv.org/abs/2001.08361"
MOST_GPUS = 3


def tell_assumed(ask: Ask) -> Document | None:
    """The efficiency that the hours of the last plan stand on, and its sources; None where no plan was told, or where
    something else is asked."""
    question, text = ask.resources, ask.utterance.text
    model = find_model(question.model) if question and question.model else None
    if ask.last_act != "plan" or question is None or model is None:
        return None
    asks = SHARE_ASKED.search(text) is not None and not SCALING.search(text)
    if not asks and ask.topic != "us.sources":
        return None
    found = {one.facts.model: one for one, _ in reversed(known_devices(question))}
    gpus = list(found.values())[::-1][:MOST_GPUS]
    if not gpus:
        return None
    pages = [page for one in gpus for page in (one.facts.source, one.source) if page]
    if asks and ask.topic == "us.sources" and any(one.topic == "method.scaling" for one in ask.utterance.clauses):
        return write_document(cite([RULE_OF_SIX, *pages], ""))  # what is assumed is told to the clause before
    usual = ", ".join(f"{one.facts.mfu[1]:.0%} on {one.facts.model}" for one in gpus)
    return write_document(
        f"**An assumption: {usual}**, model FLOPs utilisation of the dense 16-bit peak. "
        f"{'; '.join(share_words(model, one) for one in gpus)}. The range of the hours is that range.",
        "The shares are those of published trainings on such GPUs, the peak is the maker's; 6 FLOP a parameter and "
        "token (2 forward, 4 backward) is the usual rule. None of it was measured with your program: a slow data "
        "loader, small batches or plain attention reach less.",
        "Your own number decides: run 50 to 300 steps, take the tokens a second, tell me and I reckon anew.",
        cite([RULE_OF_SIX, *pages], ""),
    )
