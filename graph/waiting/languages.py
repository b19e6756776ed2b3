"""The verdict in the language of the question: the first line of the answer (in_language.py tells the rest)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from knowledge.data_file import read_data
from knowledge.errors import FactsError
from knowledge.schedulers.reason_types import Starts, WaitKind
from knowledge.word_lists import word_set

PATH = Path(__file__).parent / "languages.yaml"
KEYS = word_set(
    "yes later limit-aggregate limit-budget limit-request config closed hold staff dependency dependency-yes never "
    "depends ended not-waiting no-job client-error"
)
# So many words of a language make it the language of a sentence.
ENOUGH = 2


@cache
def languages() -> Mapping[str, Mapping[str, object]]:
    """The languages with their marks and sentences. Raises FactsError where one lacks a sentence."""
    found: Mapping[str, Mapping[str, object]] = read_data(PATH)
    for name, told in found.items():
        if set(told) - {"marks", "script"} != KEYS:
            raise FactsError(f"{PATH}: {name}: has to hold exactly {', '.join(sorted(KEYS))}")
    return found


# Names, options, numbers and paths say nothing of a language.
# `Mon Nov 30`: mon is a word of French, and the state `CO` one of Polish.
NO_WORD = re.compile(r"\b[A-Z][a-z]{2},? [A-Z][a-z]{2} +\d|\b[A-Z]{2}\b|(?<!\S)(?:\S*[=/_\d(){}|:]\S*|--?\w\S*)")


def language_of(words: str) -> str:
    """The language of the words by its script or its commonest words; empty for English and what is not known.

    One word is enough where no English one stands beside it: `attendre ou annuler?`.
    """
    said = re.findall(r"[^\W\d_]+", NO_WORD.sub(" ", words).lower())
    scores: dict[str, int] = {}
    for name, told in languages().items():
        if (script := told.get("script")) and re.search(str(script), words):
            return name
        marks = told.get("marks")
        scores[name] = len({word for word in said if isinstance(marks, list) and word in marks})
    best = max(scores, key=lambda name: scores[name], default="")
    foreign = english(said)
    return best if best and scores[best] > foreign and (scores[best] >= ENOUGH or not foreign) else ""


# No word of a scheduler's own (job, node, start): those stand in every language.
ENGLISH = word_set(
    "the is my why not it what and how been still when should i a to in for are was were this that there they be have "
    "has had does did do doesnt dont on of or but if so can cant will would free all already since now then no yes "
    "with from at by an we you your me its only just any some more other others waiting running says said"
)


def english(said: list[str]) -> int:
    return len({word for word in said if word in ENGLISH})


def verdict_in(language: str, kind: WaitKind, starts: Starts | None, staff: bool, of: str = "") -> str:
    """The sentence for a verdict; empty where the language has none. `of`: what it waits for (`time`: a moment)."""
    told = languages().get(language)
    if told is None:
        return ""
    key: str = kind
    if kind == "hold" and staff:
        key = "staff"
    elif kind == "limit-aggregate" and starts == "no":
        key = "limit-request"
    elif kind in ("wait", "node", "limit"):
        key = {"yes": "later" if of == "time" else "yes", "no": "limit-request", "depends": "depends", None: "depends"}[
            starts
        ]
    elif kind == "dependency":
        key = {"no": "never", "yes": "dependency-yes"}.get(starts or "", "dependency")
    elif kind == "config" and starts == "depends":
        key = "closed"
    return str(told[key])
