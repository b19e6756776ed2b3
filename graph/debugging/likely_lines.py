"""The lines of a log that look most like trouble by what they mean, where neither a signature nor a plain word tells.

They are shown and name no cause: of logs whose telling line no rule knew the first one was it in a third, one of three
in two thirds. Nothing is looked for where MiniLM's weights are not installed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from graph.debugging.echoes import is_source
from graph.debugging.lines import PROGRESS
from graph.debugging.log import message, printable
from graph.debugging.trouble import LONGEST, Tail, Trouble, counting_lines
from knowledge.meaning import meaning_model
from knowledge.signatures.matcher import Matcher
from knowledge.signatures.wording import plain_text

WEIGHTS = Path(__file__).with_name("likely_lines.npz")
# So many last lines of all files, of each so many at least; each shape of line once. So many of them are told.
MOST_LOOKED, FEWEST, MOST_TOLD = 60, 10, 3
SHORTEST = 9
# Logits: as likely trouble as not, and nine times as likely.
FLOOR, SURE = 0.0, 2.2
NUMBER = re.compile(r"0x[0-9a-f]+|\d+")


def likely_lines(
    tails: Mapping[str | None, Tail], use: Matcher, floor: float = FLOOR
) -> list[tuple[Trouble, str | None]]:
    """The likeliest lines with their files, the best first. floor: the least logit."""
    model = meaning_model(WEIGHTS)
    each = max(FEWEST, MOST_LOOKED // max(1, len(tails)))  # a vector takes 5 to 10 ms
    found = [(told, file) for file, tail in tails.items() for told in unknown_lines(tail, use)[-each:]] if model else []
    if model is None or not found:
        return []
    sure = model.logits_of([plain_text(told.text) for told, _ in found])[:, 0]
    best = sorted(range(len(found)), key=lambda at: -sure[at])[:MOST_TOLD]
    return [found[at] for at in best if sure[at] >= floor]


def unknown_lines(tail: Tail, use: Matcher) -> list[Trouble]:
    """The last lines that no signature knows and that count nothing up, the first of each shape."""
    counting = set(counting_lines(tail))
    shapes: dict[str, Trouble] = {}
    above = ""
    for number, raw in enumerate(tail.data.split(b"\n"), tail.first_line):
        shown, rank = message(printable(raw[:LONGEST].decode("utf-8", "replace")))
        text, source = shown.strip(), is_source(shown, above)
        above = shown
        if len(text) >= SHORTEST and not (source or number in counting or PROGRESS.search(raw)):
            shapes.setdefault(NUMBER.sub("0", text), Trouble(number, text, rank, 1))
    last = list(shapes.values())[-MOST_LOOKED:]
    return [one for one in last if not any(known.cause for known in use.match(one.text.encode()))]
