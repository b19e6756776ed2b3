"""How well a passage answers a question, by one measure for all collections; and passages that say the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from knowledge.catalogue import catalogue
from knowledge.common_questions import is_common
from knowledge.retrieval import RankedEntry
from knowledge.shipped import whole
from knowledge.types import Passage
from knowledge.wording import covered, exact_terms, rarity, stems, to_the_letter

MEANING, WORDS, TITLE = 0.5, 0.35, 0.15
"""What the cosine, the share of words, and the share of words in the title weigh."""
RANKS = 0.1
"""What the place in the two rankings weighs."""
LETTER = 0.3
"""What it weighs that options, variables and quotations stand there to the letter, where the question has any."""
OWN_MACHINE, OTHER_MACHINE = 0.13, -0.05
"""For a passage of the machine that is asked for, and for a fact of some machine when another or none is."""
ENOUGH, NEAR = 0.5, 0.25
"""Below this score, or with a cosine below this and nothing to the letter, a passage is no answer."""
GENERAL, GENERAL_ENOUGH, GENERAL_WORDS = -0.2, 0.6, 0.6
"""For a common question's answer where a machine is named; and the score and the share of words that it needs."""
COMMON = 0.02
"""A name that more of the shipped passages have, such as PyTorch, is a word like others."""
SAME = 0.8
RUN_ONLY = re.compile(r"\S*/\S+|0x[0-9a-fA-F]+|\b\w*\d{3,}\w*\b|\b\d[\d.:,]*\b|[0-9a-f]{8}-[0-9a-f-]+")
LONGEST = 600
PAGE_ENDING = re.compile(r"\.(?:md|rst|html?|txt|pdf)$", re.IGNORECASE)
NAMELESS = ("index", "readme", "main", "latest")
LIKE_A_CARD, LIKE_OTHERS = (10.0, 0.4), (15.0, 0.45)
"""How much weight of shared words, and what cosine, joins a card or another text to a log's lines."""


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """A question, read: the words to look for, what each stem weighs, and what is meant to the letter."""

    words: str
    weights: Mapping[str, float]
    letters: tuple[str, ...]
    machine: str | None


@dataclass(frozen=True, slots=True)
class Verdict:
    score: float
    enough: bool


def read(question: str, having: Mapping[str, int], texts: int, machine: str | None) -> ReadQuestion:
    """The question without the machine's own name, which all of its passages have."""
    words = without_machine(question, machine) if machine else question
    weights = {stem: rarity(having.get(stem, 0), texts) for stem in stems(words)}
    letters = tuple(term for term in exact_terms(question) if having.get(term.lower(), 0) <= COMMON * texts)
    return ReadQuestion(words, weights, letters, machine)


def without_machine(question: str, machine: str) -> str:
    cluster = catalogue().clusters.get(machine)
    names = sorted({machine, *((cluster.title, *cluster.names) if cluster else ())}, key=len, reverse=True)
    pattern = "|".join(re.escape(name) for name in names)
    left = re.sub(rf"(?<!\w)(?:{pattern})(?:'s)?(?!\w)", " ", question, flags=re.IGNORECASE)
    return left if left.strip(" ?!.") else question


@lru_cache(maxsize=4096)
def bag(text: str) -> frozenset[str]:
    return stems(text)


def judged(asked: ReadQuestion, passage: Passage, candidate: RankedEntry, rank: float) -> Verdict:
    """One number for meaning, words, title and letter, and whether it is enough to answer with.

    rank: how high the collection's two rankings have it, 1.0 for the first of both (retrieval.py, fuse).
    """
    text, page = whole(passage), bag(page_name(passage.source))
    words = covered(asked.weights, bag(text) | page)
    title = covered(asked.weights, bag(passage.title) | page)
    meaning = candidate.cosine if candidate.cosine is not None else words
    score = MEANING * meaning + WORDS * words + TITLE * title
    letters = to_the_letter(asked.letters, text)
    if asked.letters:
        score = (1 - LETTER) * score + LETTER * letters
    near = meaning >= NEAR or letters > 0
    score += RANKS * rank
    if passage.machine and passage.machine == asked.machine:
        score += OWN_MACHINE
    elif passage.machine and passage.kind == "fact":
        score += OTHER_MACHINE
    if is_common(passage):
        score += GENERAL if asked.machine else 0.0
        told = len(asked.weights) > 1  # one word alone (`what time is it?`) is in many answers
        return Verdict(score, near and told and score >= GENERAL_ENOUGH and words >= GENERAL_WORDS)
    return Verdict(score, near and score >= ENOUGH)


def page_name(source: str) -> str:
    """What a page's address calls it: `.../compiling/gnu-compilers.md` is on gnu compilers, whatever its title says."""
    pieces = [piece for piece in urlsplit(source).path.split("/") if piece]
    names = [PAGE_ENDING.sub("", piece) for piece in pieces[-2:]]
    named = next((name for name in reversed(names) if name.lower() not in NAMELESS), "")
    return re.sub(r"[-_.]+", " ", named)


def telling_words(lines: str) -> str:
    """A log's lines without what only that run has: paths, addresses, numbers, and long codes."""
    return " ".join(re.sub(r"[.:-]", " ", RUN_ONLY.sub(" ", lines)).split())[:LONGEST]


def shared(asked: ReadQuestion, passage: Passage) -> float:
    """What the question's words weigh that the passage has."""
    has = bag(whole(passage))
    return sum(weight for word, weight in asked.weights.items() if word in has)


def folded(ranked: Sequence[Passage]) -> list[Passage]:
    """Without those that say nearly the same as a better one."""
    kept: list[tuple[Passage, frozenset[str]]] = []
    for passage in ranked:
        own = bag(passage.text)
        if not any(alike(own, other) for _, other in kept):
            kept.append((passage, own))
    return [passage for passage, _ in kept]


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two texts share nearly all of their telling words."""
    return len(one & other) >= SAME * max(len(one | other), 1)
