"""What an answer may stand on: what tools and facts say, the person's own words, and what was only pasted.

Of earlier turns only the items are kept that a later answer may name again (options, paths, names, numbers, times).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from graph.conversing.claims import CODE, queue_names
from graph.conversing.numbers import NO_NUMBERS, TIME, quantities, times_of
from graph.conversing.said import in_digits
from knowledge.types import Grounds

# How many items of earlier turns are kept: of facts and answers, of the person's words, of what was pasted.
MOST_KNOWN, MOST_WORDS, MOST_PASTED = 800, 200, 300
ITEM = re.compile(r"[^\s,;|()\[\]'\"<>`*]+")
# What lies in any environment.
STANDARD_PARTS = frozenset(
    ("bin", "etc", "lib", "activate", "python", "python3", "pip", "profile.d", "conda.sh", "..", "envs")
)
# A line that goes on with more space before it.
CONTINUED = re.compile(r"\n {4,}(?=\S)")
WORDS = re.compile(r"[\w-]+")
TELLING = re.compile(r"[\d_/=@]|^--|^\$")


class Amounts:
    """The numbers of a text, each with what it counts there."""

    def __init__(self, text: str) -> None:
        plain = in_digits(NO_NUMBERS.sub(" ", text))
        self.kinds: dict[float, set[str]] = {}
        for one in (*times_of(plain), *quantities(plain)):
            for value in one.values:
                self.kinds.setdefault(value, set()).add(one.kind)

    def have(self, value: float, kind: str) -> bool:
        """Whether that number stands there as one of that kind, or either of the two is of no kind that is told; a
        length of time is always told."""
        kinds = self.kinds.get(value, set())
        if kind == "time":
            return kind in kinds
        return bool(kinds) and (not kind or bool(kinds & {kind, ""}))


@dataclass(slots=True)
class Ground:
    """What a sentence may stand on. known: facts and tools' answers; words: the person's own, which make no queue;
    pasted: logs and comments, which prove nothing; pages: passages that were read in, which a sentence has to cite;
    job: the script in hand and what was taken for it; sizes: the job's own nodes, GPUs and hours; printed: what names
    queues beside the facts: a scheduler's own output, and the person's words on a machine that nobody described.
    """

    known: list[str] = field(default_factory=list)
    words: str = ""
    job: list[str] = field(default_factory=list)
    pasted: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    sizes: tuple[float, ...] = ()
    printed: list[str] = field(default_factory=list)
    _text: str = ""
    _facts: Amounts = field(default_factory=lambda: Amounts(""))
    _own: tuple[str, Amounts] = field(default_factory=lambda: ("", Amounts("")))

    def add(self, *texts: str) -> None:
        self.known += texts
        self._text = ""

    def go_on(self, earlier: Grounds) -> None:
        """Take over what the turns before stood on."""
        self.add(*earlier.known)
        self.words = "\n".join([*earlier.words, self.words])
        self.pasted += earlier.pasted

    def kept(self, answer: Sequence[str], words: str) -> Grounds:
        """What the turns behind this one may stand on too. answer: its sentences that stood on something."""
        return Grounds(
            items_in([*self.known, *answer], MOST_KNOWN),
            items_in([*self.words.splitlines(), words], MOST_WORDS),
            items_in(self.pasted, MOST_PASTED),
        )

    def text(self) -> str:
        if not self._text:
            known = "\n".join(self.known)
            self._text = "\n".join([known, *self.job]).lower()
            self._facts = Amounts(known)
        return self._text

    def has(self, item: str) -> bool:
        return stands(item, self.text()) or stands(item, self.words.lower())

    def has_path(self, path: str) -> bool:
        """Whether it lies in a folder that the person named, or each of its parts is known (`/flare/`, a project)."""
        parts = [part for part in path.strip("/").split("/") if part]
        words = self.words.lower()
        below = ("/".join(parts[:most]) for most in range(len(parts), 1, -1))
        return any(stands(one, words) for one in below) or all(
            part in STANDARD_PARTS or stands(part, words) or stands(part, self.text()) for part in parts
        )

    def names_queue(self, name: str) -> bool:
        """Whether it is a queue of a machine's facts that is spoken of here, or one that the machine itself printed."""
        return any(stands(name, text.lower()) for text in self.printed) or (
            name.lower() in queue_names() and self.has(name)
        )

    def is_pasted(self, item: str) -> bool:
        return any(stands(item, text.lower()) for text in (self.words, *self.pasted))

    def facts(self) -> Amounts:
        """The numbers of facts and tools' answers."""
        self.text()
        return self._facts

    def facts_of(self, queues: Iterable[str]) -> Amounts:
        """The numbers that stand with these queues in the facts; of a line of several queues each has its own part."""
        told = []
        for row in CONTINUED.sub(" ", "\n".join(self.known)).splitlines():
            named = {word for word in WORDS.findall(row.lower()) if word in queue_names()}
            parts = [row] if len(named) < 2 else re.split(r";|\. ", row)
            told += [part for part in parts if any(stands(one, part.lower()) for one in queues)]
        return Amounts("\n".join(told))

    def own(self) -> Amounts:
        """The numbers that the person or the job in hand names."""
        told = "\n".join([self.words, *self.job])
        if self._own[0] != told:
            self._own = told, Amounts(told)
        return self._own[1]

    def numbers(self) -> frozenset[float]:
        """Every number that is known, lengths of time in hours."""
        return frozenset((*self.facts().kinds, *self.own().kinds, *self.sizes))


def items_in(texts: Iterable[str], most: int) -> tuple[str, ...]:
    """The items of the texts that a later answer may name, each once, the newest of them where they are too many."""
    found: dict[str, None] = {}
    for text in texts:
        items = [one[0] for one in TIME.finditer(text)]
        items += [
            word.rstrip(".:") for word in ITEM.findall(text) if TELLING.search(word) or word.lower() in queue_names()
        ]
        items += [word for span in CODE.findall(text) for word in span.split()[:1]]
        for item in items:
            found.pop(item, None)
            found[item] = None
    return tuple(found)[-most:]


def stands(item: str, text: str) -> bool:
    """Whether the item stands there as a word of its own."""
    return re.search(rf"(?<![\w-]){re.escape(item.lower())}(?![\w-])", text) is not None
