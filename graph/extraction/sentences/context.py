"""What stands around a name: is it meant, taken back, of the past, or for later?"""

from __future__ import annotations

import re

from graph.extraction.sentences.line import Line

NEAR = r"(?:a|un|any|use|with|plain|more|on|to|want|need|for|be|really|like|of|it|me|write|run|that|this|my|our|in|native|full|from|queue|<X>|is|is the|pure|vanilla|have|just|by)"
NEGATED = re.compile(rf" not(?: {NEAR}){{0,4}}(?: (?P<other><\w>) (?:or|and|/))? $")
# "No" before a name says no to it, but "no, 4" and "debug? no, prod" say no to what came before.
REFUSED = re.compile(r"(?P<before>^|\S+) no(?: (?:more|need|want|have|a|un|use|for|to|of)){0,3} $")
TAKEN_BACK = re.compile(r"^ (?:-|(?:is|was|but|job|run|one|queue|script) ){0,2}(?:not_after|not_after )")
PAST = re.compile(r" before(?: (?:with|on|use|in|at|the|a|un|have|we|i|was|were|had|also|run|some|to|of|from|out))* $")
PAST_VERB = re.compile(
    r" (?:had|used|ran|was|were|did|comparing|compared)(?: (?:on|with|at|in|a|un|our|my|the|to|using|use|it))* $"
)
THAN = re.compile(r" than(?: (?:on|with|at|in|for|from))? $")
PAST_AFTER = re.compile(r"^(?: (?!but|so|and|\.|;|now|,|-|<)\S+){0,3} before ")
LATER = re.compile(r" later(?: (?![<\d.,;])\S+){0,4} $")
LATER_AFTER = re.compile(r"^(?: (?!but|so|and|\.|;|now|,|-|<)\S+){0,2} later ")
FAILING = re.compile(
    r"^ (?:(?:but|it|that|which|always|also|just|because|run|works|keeps|ran|gets|is|was|went|goes|job|for|me|us|a|still|training|, )\s?){0,5}"
    r"(?:oom\w*|out of memory|from memory|crash\w*|fail\w*|too (?:slow|big|large)|slow|died|dies|hang\w*|doesn't|does not|didn't|blows|explodes)"
)


def is_negated(line: Line, token: int) -> bool:
    """Whether the name at this token is said not to be wanted."""
    left, right = line.left(token), line.right(token)
    if line.tokens[token].key in ("<S>", "<F>") and left.endswith(f" {line.tokens[token].key} over "):
        return True
    negated = NEGATED.search(left)
    if (negated and negated["other"] in (None, line.tokens[token].key)) or re.match(
        r"^ (?:-|queue|script|job)? ?not_after ", right
    ):
        return True
    refused = REFUSED.search(left)
    if not refused:
        return False
    if line.tokens[token].key == "<M>":  # Portuguese: "no Delta" is "on Delta"
        return False
    return refused["before"] not in ("?", "!", "or", "hm", "hmm", "oops", "ah", "oh")


def is_past(line: Line, token: int) -> bool:
    """Whether it is what people used before, or what has failed them."""
    left, right = line.left(token), line.right(token)
    return bool(
        PAST.search(left)
        or PAST_VERB.search(left)
        or THAN.search(left)
        or PAST_AFTER.match(right)
        or FAILING.match(right)
    )


def is_later(line: Line, token: int) -> bool:
    return bool(LATER.search(line.left(token)) or LATER_AFTER.match(line.right(token)))
