"""What a question and a text have in common, word by word: telling stems, and what must be found to the letter."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

WORD = re.compile(r"[a-z0-9][a-z0-9_+.]*[a-z0-9_]|[a-z]")
ADDRESS = re.compile(r"https?://\S+")
FILLER_WORDS = """
a about after again all also always an and any are as at be because been before but by can cannot could did do does
doing else ever find for from get gets getting give go goes going good happen happens had has have help here hi how
i if in into is it its job jobs just know let like machine make many may me mean means more most much must my need
needs no not now of on one only or other our out over own please possible put really run runs running say see seem
set should so some still tell than that the their them then there these they thing this those to try trying up us
use used using very want was we well were what when where which while who why will with without work working works
would yes you your cluster system supercomputer hpc keep keeps come comes
"""
FILLER = frozenset(FILLER_WORDS.split())
ENDINGS = ("ations", "ation", "ings", "ing", "ers", "er", "ied", "ies", "ed", "es", "s", "e", "y")

# What is meant to the letter: a quotation, an option, a variable, a name in CamelCase, a code in brackets.
EXACT = re.compile(
    r"\"(?P<double>[^\"\n]{4,120})\"|(?:(?<=\s)|^)'(?P<single>[^'\n]{4,120})'|`(?P<code>[^`\n]{2,120})`"
    r"|(?P<option>(?<![\w-])--[a-zA-Z][\w-]+)"
    r"|(?P<variable>\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b)"
    r"|(?P<camel>\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b)"
    r"|(?P<snake>\b[a-z0-9]+(?:_[a-z0-9]+)+\b)"
    r"|\[?(?P<xid>\b[Xx]id:? ?\d+)\]?"
)


def stems(text: str) -> frozenset[str]:
    """The telling words, without their endings. An address is no word."""
    words = WORD.findall(ADDRESS.sub(" ", text.lower()))
    return frozenset(stem(word) for word in words if word not in FILLER and not word.isdigit())


def stem(word: str) -> str:
    """The word without its ending, where enough is left."""
    if not word.isalpha():
        return word
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def rarity(having: int, texts: int) -> float:
    """What a stem weighs that so many of the texts have (as BM25 weighs it); one that none has counts as rare."""
    having = max(1, having)
    return math.log(1 + (texts - having + 0.5) / (having + 0.5))


def covered(query: Mapping[str, float], bag: frozenset[str]) -> float:
    """How much of the question's weight the text has, 0 to 1."""
    whole = sum(query.values())
    return sum(weight for word, weight in query.items() if word in bag) / whole if whole else 0.0


def exact_terms(question: str) -> tuple[str, ...]:
    """What the question means to the letter, each once."""
    found = (next(filter(None, match.groups()), "").strip() for match in EXACT.finditer(question))
    return tuple(dict.fromkeys(term for term in found if term))


def to_the_letter(terms: tuple[str, ...], text: str) -> float:
    """The share of the terms that stand in the text, without regard to case; 0 where there are no terms."""
    if not terms:
        return 0.0
    lower = text.lower()
    return sum(standing(term.lower(), lower) for term in terms) / len(terms)


def standing(term: str, text: str) -> bool:
    """Whether the term stands in the text as a whole word: NCCL_NET is not in NCCL_NET_GDR_LEVEL."""
    return re.search(rf"(?<![\w]){re.escape(term)}(?![\w])", text) is not None
