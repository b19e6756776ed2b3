"""The machines that a person says are theirs: `I have access to perlmutter and delta`, `I no longer have delta`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.reading.utterance import Mention, Utterance

# What stands right before the first of them; a question (`do I have access to`) is none.
HAVING = re.compile(
    r"(?<!\bdo )(?<!\bdoes )(?<!\bdid )(?<!\bif )(?<!\bonce )(?<!\bwhen )(?<!\bcan )(?<!\bshould )(?<!\bwhether )"
    r"\b(?:i|we|(?:my|our) (?:group|team|lab)(?: members)?)\b[^.?!;\n]{0,30}?"
    r"\b(?:access (?:to|on)|accounts? (?:on|at|for)|allocations? (?:on|at|for)|(?:node |gpu )?hours (?:on|at)"
    r"|time (?:on|at)|(?:can|may) (?:only )?(?:use|run on|log ?in ?to)|no longer (?:have|use)|lost)"
    r"(?: (?:the|both|only|these|machines?|clusters?|systems?))*:?\s*$"
    r"|\b(?:my|our) (?:machines|clusters|systems|supercomputers) (?:are|is|=)?:?\s*$",
    re.I,
)
LOST = re.compile(r"n[o']t\b|\bno(?: longer| more)?\b|\blost\b|\bnever\b|n't\b|\bcannot\b", re.I)
BESIDE = re.compile(r"\b(?:also|too|as well|additionally|in addition|besides|now)\b", re.I)
JOINING = re.compile(r"(?:[\s,/&+]|\b(?:and|or|plus|to|on|at|the|und|et|y|as well as)\b)*", re.I)
# `Perlmutter (4000 node hours), Frontier`
REMARK = re.compile(r"\([^()\n]{0,60}\)")
FORGET = re.compile(r"\b(?:forget|drop|clear|remove|delete)\b.{0,10}\b(?:my|our) (?:machines|clusters|systems)\b", re.I)
# So few words beside the list say nothing more.
FEW_WORDS = 3
# `What is the longest I can run on ...` asks, and tells of no machine of theirs.
ASKS = re.compile(r"(?i)\b(?:what|which|how|where)\b[^.?!;\n]*$")
ASKED = re.compile(
    r"\W*(?:(?:what|which) (?:are|were) (?:my|our) (?:machines|clusters|systems)"
    r"|(?:what|which) (?:machines|clusters|systems) (?:do|did) i (?:have|say)[^.?!]{0,20}|(?:my|our) machines)\W*",
    re.I,
)


def told_machines(utterance: Utterance, before: Sequence[str]) -> tuple[str, ...] | None:
    """The person's machines after these words, as catalogue ids; None where the words say nothing of them."""
    if FORGET.search(utterance.text):
        return ()
    found = listed(utterance)
    if found is None:
        return None
    named, said = found
    names = tuple(dict.fromkeys(str(one.value) for one in named))
    if LOST.search(said):
        return tuple(name for name in before if name not in names)
    tail = utterance.text[named[-1].end : named[-1].end + 12]
    return tuple(dict.fromkeys((*before, *names))) if BESIDE.search(said) or BESIDE.match(tail.strip()) else names


def listed(utterance: Utterance) -> tuple[list[Mention], str] | None:
    """The machines that are listed one behind the other, and the words that lead up to them."""
    machines = [one for one in utterance.mentions if one.kind == "Machine"]
    for at, first in enumerate(machines):
        lead = HAVING.search(utterance.text[: first.start])
        asks = lead is not None and ASKS.search(utterance.text[: lead.start()])
        if not lead or asks or re.search(r"\d", lead[0]):  # an amount of hours is a budget, not a list of machines
            continue
        named = [first]
        for one in machines[at + 1 :]:
            if not JOINING.fullmatch(REMARK.sub(" ", utterance.text[named[-1].end : one.start])):
                break
            named.append(one)
        return named, lead[0]
    return None


def the_rest(utterance: Utterance) -> str:
    """The message without the words that say which machines are the person's: empty where they were all."""
    found = listed(utterance)
    if found is None:
        return ""
    named, lead = found
    behind = utterance.text[named[-1].end :]
    rest = utterance.text[: utterance.text.index(lead)] + re.sub(r"^\W*(?:(?:too|also|as well)\b\W*)?", "", behind)
    return rest.strip() if "?" in rest or len(re.findall(r"\w{2,}", rest)) > FEW_WORDS else ""


# Which of several machines to take, asked in so many words: `where would you run it?`.
WHERE = re.compile(
    r"(?i)\b(?:where|which (?:one|machine|cluster|system|of (?:them|these|those|the (?:two|three)))"
    r"|what machine|on which"
    r"|wo|welche[nrsm]?|o[uù]|lequel|laquelle|d[oó]nde|cu[aá]l|onde|qual|quale|dove)\b[^.?!\n]{0,30}?"
    r"\b(?:should|would|shall|better|best|recommend\w*|soll\w*|w[uü]rde\w*|besser|am besten|empf\w+"
    r"|devrai\w*|vaut|mieux|conseill\w+"
    r"|deber[ií]a|debo|conviene|mejor|recomiend\w+|devo|deveria|melhor|recomend\w+|dovrei|meglio|consigli\w*)\b"
)


def asks_where(utterance: Utterance) -> bool:
    """Whether a message names several machines and asks on which of them to run."""
    return len(utterance.machines()) > 1 and WHERE.search(utterance.text) is not None
