"""What an answer may stand on: the facts of the machines that are spoken of, what tools say, the person's own words,
and what was only pasted.

Of earlier turns only the items are kept that a later answer may name again (paths, names), and what was said of
accounts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graph.conversing.claims import beside_queue, has_sign, queue_names
from graph.conversing.numbers import NO_NUMBERS, quantities, times_of
from graph.conversing.said import OF_ACCOUNT, in_digits
from knowledge.cluster import Cluster
from knowledge.types import Grounds

# How many items of earlier turns are kept: of facts and answers, of the person's words, of what was pasted.
MOST_KNOWN, MOST_WORDS, MOST_PASTED = 800, 200, 300
MOST_ROW = 300
ITEM = re.compile(r"[^\s,;|()\[\]'\"<>`*]+")
# What lies in any environment.
STANDARD_PARTS = frozenset(
    ("bin", "etc", "lib", "activate", "python", "python3", "pip", "profile.d", "conda.sh", "..", "envs")
)
TELLING = re.compile(r"[\d_/=@]|^\$")
# A folder of a fact below which each project or person has one: `/global/common/software/<project>`,
# `/scratch/project_<n>`.
OF_EACH = re.compile(r"((?:/[\w.-]+)+/(?:[\w.-]*[_-])?)<[^<>/\s]{1,40}>")
# Part of a path that stands for a name: PROJECT.
FOR_A_NAME = re.compile(r"[A-Z][A-Z_]+")


class Amounts:
    """The numbers of a text, each with what it counts there."""

    def __init__(self, text: str) -> None:
        plain = in_digits(NO_NUMBERS.sub(" ", text))
        self.kinds: dict[float, set[str]] = {}
        for one in (*times_of(plain), *quantities(plain)):
            for value in one.values:
                self.kinds.setdefault(value, set()).add(one.kind)

    def have(self, values: Iterable[float], kind: str, counted: bool = False) -> bool:
        """Whether one of the numbers stands there as one of that kind, or either of the two is of no kind that is told;
        a length of time is always told, and all are where they have to be counted."""
        kinds = {one for value in values for one in self.kinds.get(value, ())}
        return bool(kinds & {kind, ""} if kind != "time" and not counted else kinds & {kind}) or (
            bool(kinds) and not kind
        )


@dataclass(slots=True)
class Ground:
    """What a sentence may stand on. known: tools' answers; printed: what the machine printed; words: the person's
    own; pasted: logs and comments, which prove nothing; pages: passages that were read in, which a sentence has to
    cite; job: the script in hand and what was taken for it.

    here: the described machines that are spoken of; machines: every described one, by the names for it; undescribed:
    the name of the one in hand that nobody described.
    """

    known: list[str] = field(default_factory=list)
    words: str = ""
    job: list[str] = field(default_factory=list)
    pasted: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    here: list[Cluster] = field(default_factory=list)
    machines: Mapping[str, Cluster] = field(default_factory=dict)
    undescribed: str = ""
    _text: str = ""
    _facts: dict[str, str] = field(default_factory=dict)
    _amounts: dict[str, Amounts] = field(default_factory=dict)

    def add(self, *texts: str) -> None:
        self.known += texts
        self._text = ""

    def go_on(self, earlier: Grounds) -> None:
        """Take over what the turns before stood on."""
        self.add(*earlier.known)
        self.words = "\n".join([*earlier.words, self.words])
        self.pasted += earlier.pasted

    def kept(self, shown: Iterable[str], words: str) -> Grounds:
        """What the turns behind this one may stand on too. shown: the lines of scripts that the person saw."""
        said = [*self.words.splitlines(), *words.splitlines()]
        of_account = [row[:MOST_ROW] for row in said if OF_ACCOUNT.search(row)]
        return Grounds(
            items_in([*self.known, *shown], MOST_KNOWN),
            tuple(dict.fromkeys((*items_in(said, MOST_WORDS), *of_account)))[-MOST_WORDS:],
            items_in(self.pasted, MOST_PASTED),
        )

    def text(self) -> str:
        if not self._text:
            self._text = self.as_written().lower()
        return self._text

    def as_written(self) -> str:
        """What is known of the thread, in its own letters: a gigabyte is told from other words by its capital."""
        return "\n".join([*self.known, *self.job, *self.printed, self.words])

    def tells(self, values: Iterable[float], kind: str, at: Sequence[Cluster]) -> bool:
        """Whether the thread or the machines' facts have one of the numbers with that unit."""
        texts = [self.as_written(), *map(repr, at)]
        told = (self._amounts.setdefault(text, Amounts(text)) for text in dict.fromkeys(texts))
        return any(kind in one.kinds.get(value, ()) for one in told for value in values)

    def machines_in(self, text: str) -> list[Cluster]:
        """The described machines that a text names; a small `delta` or `frontier` may be the word."""
        lower = text.lower()
        found = {}
        for name, one in self.machines.items():
            at = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", lower) if name in lower else None
            if at and text[at.start()].isupper():
                found[one.id] = one
        return list(found.values())

    def facts(self, cluster: Cluster) -> str:
        """All that is written down of a machine, in small letters."""
        if cluster.id not in self._facts:
            self._facts[cluster.id] = repr(cluster).replace("\\n", " ").lower()
        return self._facts[cluster.id]

    def has(self, item: str, at: Iterable[Cluster]) -> bool:
        return stands(item, self.text()) or any(stands(item, self.facts(one)) for one in at)

    def has_path(self, path: str, at: Sequence[Cluster]) -> bool:
        """Whether it is known, lies in a folder that the person named, that a log or a file of theirs has or that each
        project has, or each of its parts is known; a part between known ones may be anybody's project."""
        parts = [part for part in path.strip("/").split("/") if part]
        words = "\n".join([self.words, *self.pasted]).lower()
        below = ("/".join(parts[:most]) for most in range(len(parts), 1, -1))
        theirs = (one[1] for text in (self.text(), *map(self.facts, at)) for one in OF_EACH.finditer(text))
        if any(path.lower().startswith(one) for one in theirs):
            return True  # below the folder that each project has there
        return any(stands(one, words) for one in below) or all(
            part in STANDARD_PARTS
            or FOR_A_NAME.fullmatch(part) is not None
            or 2 <= place < len(parts) - 1
            or self.has(part, at)
            for place, part in enumerate(parts)
        )

    def has_queue(self, name: str, at: Sequence[Cluster]) -> bool:
        """Whether it is a queue there, or one that the script, the machine's own output or the person names. A word of
        the language that stands in a page is a name where it stands beside the word for a queue."""
        own = "\n".join([*self.job, *self.printed, self.words]).lower()
        if any(one.queue(name) for one in at) or stands(name, own) or (has_sign(name) and self.has(name, at)):
            return True
        pages = (self.text(), *map(self.facts, at))
        return any(name.lower() == one["name"] for text in pages if name.lower() in text for one in beside_queue(text))

    def is_pasted(self, item: str) -> bool:
        return any(stands(item, text.lower()) for text in self.pasted)

    def own(self) -> Amounts:
        """The numbers that the person or the job in hand names."""
        return Amounts("\n".join([self.words, *self.job]))


def items_in(texts: Iterable[str], most: int) -> tuple[str, ...]:
    """The items of the texts that a later answer may name, each once, the newest of them where they are too many."""
    found: dict[str, None] = {}
    for text in texts:
        for item in (word.rstrip(".:") for word in ITEM.findall(text)):
            if TELLING.search(item) or item.lower() in queue_names():
                found.pop(item, None)
                found[item] = None
    return tuple(found)[-most:]


def stands(item: str, text: str) -> bool:
    """Whether the item stands there as a word of its own."""
    return re.search(rf"(?<![\w-]){re.escape(item.lower())}(?![\w-])", text) is not None
