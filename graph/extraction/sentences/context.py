"""What stands around a name: is it meant, taken back, of the past, or for later?"""

from __future__ import annotations

import re

from graph.extraction.sentences.line import Line
from graph.extraction.sentences.patterns import pattern

# Before "no", these show that it answers what was said and not what follows: "debug? no, prod".
ANSWERED = ("?", "!", "or", "hm", "hmm", "oops", "ah", "oh")


def _context(name: str) -> re.Pattern[str]:
    return pattern("grammar.yaml", "context", name)


def is_negated(line: Line, token: int) -> bool:
    """Whether the name at this token is said not to be wanted."""
    left, right, key = line.left(token), line.right(token), line.tokens[token].key
    beaten = _context("beaten").search(left)
    if key in ("<S>", "<F>") and ((beaten and beaten["first"] == key) or _context("preferred").search(left)):
        return True
    negated = _context("negated").search(left)
    if negated and negated["other"] in (None, key):
        return True
    if _context("refused_after").match(right):
        return True
    if key[0].isdigit() and left.endswith(" no more of "):  # Spanish, Portuguese: at most
        return False
    refused = _context("refused").search(left)
    # Portuguese: "no Delta" is "on Delta".
    return refused is not None and key != "<M>" and refused["before"] not in ANSWERED


def is_past(line: Line, token: int) -> bool:
    """Whether it is what people used before, what has failed them, or what they have no access to."""
    left, right = line.left(token), line.right(token)
    before = any(_context(name).search(left) for name in ("past", "past_verb", "than", "barred"))
    if _context("wished").search(left) and right.startswith(" but "):
        return True
    if _context("outdated").match(line.text[line.tokens[token].end :].lower()):
        return True
    return before or any(_context(name).match(right) is not None for name in ("past_after", "failing"))


def is_later(line: Line, token: int) -> bool:
    """Whether it is for another time: "later we'll do FSDP"."""
    return bool(_context("later").search(line.left(token)) or _context("later_after").match(line.right(token)))
