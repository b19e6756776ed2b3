"""What one message says, read once and handed to everything that follows: its mentions and its clauses.

Nothing here knows how a mention is found or how an act is decided; these are the values that travel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

MentionKind = Literal[
    "Quantity",
    "Duration",
    "Machine",
    "Method",
    "Framework",
    "Gpu",
    "Model",
    "Path",
    "Option",
    "Variable",
    "Account",
    "Queue",
    "Term",
    "JobId",
    "Rank",
    "LineNumber",
    "Name",
]
# asked: a question; negated: not wanted; past: of an earlier run; others: of somebody else's job; hypothetical: "what
# if"; corrected: takes the place of what was said before; plain: none of these.
Scope = Literal["plain", "asked", "negated", "past", "others", "hypothetical", "corrected"]

# Characters that are read of a person's own words, and of one word; what is longer is nobody's message, and takes
# seconds: most patterns look around themselves.
LONGEST_MESSAGE, LONGEST_WORD = 10_000, 500
LONG_WORD = re.compile(rf"(\S{{{LONGEST_WORD}}})\S+")


def bounded(text: str) -> str:
    """As much of a text as is read."""
    return LONG_WORD.sub(r"\1", text[:LONGEST_MESSAGE])


@dataclass(frozen=True, slots=True)
class Mention:
    """One thing named in the text.

    start, end: where it stands, in characters; value: what it means (a catalogue id for a Machine, seconds for a
    Duration, a number for a Quantity, Rank or LineNumber, `NAME=VALUE` for a Variable, else text); unit: of a Quantity
    (node, gpu, rank, GB, epoch, ...), empty where none is said; role: the request's field that it fills, empty where
    none.
    """

    kind: MentionKind
    start: int
    end: int
    text: str
    value: str | int | float
    unit: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of the message with one purpose.

    act is an id of acts.yaml; topic one of its topics, empty but for `ask`; confidence is the probability of the two
    together, 0 to 1; runner_up the second reading as `act` or `ask/topic`. shares: each act's probability, whatever its
    topic, the likeliest first (empty: read by a rule, certain). topics: the likeliest topics were it a question,
    whatever act it is, each with its probability. by_rule: a rule or the reader of resources read it, not the reader of
    sentences. leads: what the whole message is for was read of all of it and stands here.
    """

    start: int
    end: int
    text: str
    act: str
    topic: str = ""
    confidence: float = 1.0
    runner_up: str = ""
    scope: Scope = "plain"
    shares: tuple[tuple[str, float], ...] = ()
    topics: tuple[tuple[str, float], ...] = ()
    by_rule: bool = True
    leads: bool = False

    def share(self, *acts: str) -> float:
        """How probable it is that the clause is one of these acts, 0 to 1."""
        return sum(share for act, share in self.shares if act in acts) if self.shares else float(self.act in acts)

    @property
    def asked(self) -> str:
        """The likeliest topic, were it a question."""
        return self.topics[0][0] if self.topics else self.topic

    @property
    def label(self) -> str:
        """Act and topic as one word, as the training sentences write them."""
        return f"{self.act}/{self.topic}" if self.topic else self.act


@dataclass(frozen=True, slots=True)
class ThreadView:
    """What a reader may know of the conversation: it decides what an elliptic message means.

    asked: the field just asked for; options: the choices offered with it; last_topic, last_act: of the turn before;
    last_field: the request's field that was changed or spoken of last ("and 4?"); has_...: what the thread holds;
    new_script, new_log: what came with this very message.
    """

    asked: str | None = None
    options: tuple[str, ...] = ()
    last_topic: str = ""
    last_machine: str | None = None
    last_act: str = ""
    last_field: str | None = None
    has_script: bool = False
    has_log: bool = False
    has_offer: bool = False
    new_script: bool = False
    new_log: bool = False


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message: its text, what it names in the order of the text, and its clauses (at least one)."""

    text: str
    mentions: tuple[Mention, ...] = ()
    clauses: tuple[Clause, ...] = field(default=())

    @property
    def main(self) -> Clause:
        """The clause that decides what the message is for: the one that leads, else the first that says something.

        A word or two in front (`ok`, `hm no`) say nothing where more follows, unless they name something.
        """
        if leading := next((c for c in self.clauses if c.leads), None):
            return leading
        told = [c for c in self.clauses if c.act != "chat"]
        told = [c for c in told if c.scope not in ("others", "past")] or told
        weighty = (c for c in told if len(c.text.split()) > 2 or any(True for _ in self.within(c)))
        return next(weighty, told[0] if told else self.clauses[0])

    def of_kind(self, *kinds: MentionKind) -> list[Mention]:
        """The mentions of these kinds, in the order of the text."""
        return [m for m in self.mentions if m.kind in kinds]

    def within(self, clause: Clause) -> Iterator[Mention]:
        """The mentions that stand in one clause."""
        return (m for m in self.mentions if clause.start <= m.start < clause.end)

    def machines(self) -> Sequence[str]:
        """The machines named, each once."""
        return tuple(dict.fromkeys(str(m.value) for m in self.mentions if m.kind == "Machine"))
