"""Which numbers that the rules read as a job's size are surely that, and measure nothing else: `800 seconds of audio`.

The words beside a number decide: what it is of, or what stands right behind it, has to be a word that the reader knows
or a name that it found. Of a number in doubt nothing is told; whoever reads the message itself knows better.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from graph.extraction.sentences.lexicon import fold, lexicon, lower
from graph.reading.mentions import find_mentions
from graph.reading.utterance import Mention, bounded
from knowledge.types import JobRequest

SIZES = ("nodes", "gpus_per_node", "total_gpus", "walltime")
BARE = re.compile(r"[\d.,]+")
# Nobody writes minutes with a capital letter.
MILLIONS = re.compile(r"\d\s?M\b(?!in)")
BEHIND = re.compile(r"[ \t-]*([^\W\d_][\w'\u2019-]*)")
BEFORE = re.compile(r"([^\W\d_][\w'\u2019-]*)[ \t:=]*$")
WORD = re.compile(r"[^\W\d_][\w'\u2019-]*")
OF, ARTICLES, COUNTED = ("of",), ("", "a"), ("node", "gpu")
NAMES = (*COUNTED, "rank", "ppn", "time")


def without_doubtful(request: JobRequest, text: str, before: JobRequest, asked: str = "") -> JobRequest:
    """The request with the sizes of the one before where the text's numbers may measure something else."""
    doubted = doubtful(request, text, asked)
    return replace(request, **{name: getattr(before, name) for name in doubted})


def doubtful(request: JobRequest, text: str, asked: str = "") -> tuple[str, ...]:
    """The sizes whose words in the text may measure something else than the job. asked: the field that a question was
    about, to which a number alone is the answer."""
    text = bounded(text)
    heard = {one.field: one.words for one in request.heard if one.field in SIZES and one.origin == "said"}
    places = {name: [found.span() for found in re.finditer(written(words), text)] for name, words in heard.items()}
    mentions = find_mentions(text)[1] if any(places.values()) else ()
    return tuple(
        name
        for name, spans in places.items()
        if spans and name != asked and not any(is_of_job(text, mentions, *span) for span in spans)
    )


def written(words: str) -> str:
    """A pattern of the words as they stand in a text, whatever blanks are between them."""
    return r"(?i)(?<![\w.,])" + r"\s+".join(map(re.escape, words.split())) + r"(?!\w)"


def is_of_job(text: str, mentions: Iterable[Mention], start: int, end: int) -> bool:
    """Whether a number, with its unit, stands by itself or beside words that are of jobs."""
    words = text[start:end]
    if ":" in words or any(meaning(one) in COUNTED for one in WORD.findall(words)):
        return True
    before = BEFORE.search(text[:start])
    if BARE.fullmatch(words):
        return before is not None and meaning(before[1]) in NAMES
    if MILLIONS.search(words):
        return False
    if before and meaning(before[1]) in OF and not is_known(text, mentions, BEFORE.search(text[: before.start()])):
        return False
    behind, linked = BEHIND.match(text, end), False
    while behind and (meaning(behind[1]) in (OF if not linked else (*OF, *ARTICLES))):
        linked, behind = True, BEHIND.match(text, behind.end())
    return is_known(text, mentions, behind)


def is_known(text: str, mentions: Iterable[Mention], word: re.Match[str] | None) -> bool:
    """Whether a word is one of a job's, part of a name that was found, or missing."""
    if word is None:
        return True
    named: Sequence[Mention] = [one for one in mentions if one.kind not in ("Quantity", "Term", "Name")]
    return meaning(word[1]) is not None or any(one.start <= word.start(1) < one.end for one in named)


def meaning(word: str) -> str | None:
    """What the reader takes a word for; None where it knows none."""
    found = lexicon().match([lower(word)], [fold(word)], 0)
    return found[0] if found else None
