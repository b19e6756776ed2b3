"""What is known of a failure beyond its own log, in words: that others see it now, and what cured it before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from graph.incidents.subjects import SharedSubject, titled
from knowledge.document import Document, Paragraph, Part

# What a subject made of a log's words is called: they may be somebody else's words.
UNNAMED = ("mark", "news", "signature", "cause", "on_filesystem", "in_queue")
LONGEST_STEP, LONGEST_CURE, MOST_CASES = 160, 300, 2
# What Markdown and Slack read as links, mentions and marks.
MARKS = re.compile(r"[\[\]<>`*|]|(?<=\()https?://\S+(?=\))")


@dataclass(frozen=True, slots=True)
class Ongoing:
    """An open incident, for somebody who asks: so many others since when, and whether the team's channel shows it."""

    others: int
    since: float
    subject: SharedSubject
    team_knows: bool


@dataclass(frozen=True, slots=True)
class PastTicket:
    """A ticket of before. rating: what was said of the answer (helpful, wrong or nothing). cure: what cured it.

    mine: of the same person. likeness: how much it tells, 0 and more.
    """

    thread: str
    at: float
    cause: str
    says: str
    fix: tuple[str, ...]
    link: str
    rating: str
    cure: str
    likeness: float
    mine: bool


@dataclass(frozen=True, slots=True)
class SeenBefore:
    """What is known of the like: how often the same line was seen (`most`: or more), when last, and the best cases."""

    times: int = 0
    last: float = 0.0
    cases: tuple[PastTicket, ...] = ()
    most: int = 1_000


def told_with(now: Ongoing | None, seen: SeenBefore) -> Document | None:
    """What to add to a diagnosis; None where nobody had it, or nobody may know."""
    parts: list[Part] = []
    if now:
        parts.append(Paragraph(ongoing_words(now)))
    parts += [Paragraph(words) for words in past_words(seen)]
    return Document(tuple(parts)) if parts else None


def ongoing_words(now: Ongoing) -> str:
    """`3 others see this since 10:05 UTC, the team knows.`"""
    others = "One other person sees" if now.others == 1 else f"{now.others} others see"
    where = "" if now.subject.kind in UNNAMED else f" ({titled(now.subject)})"
    knows = ", the team knows" if now.team_knows else ""
    return f"**{others} this since {clock(now.since)}{where}{knows}.** It may well not be your job."


def past_words(seen: SeenBefore) -> list[str]:
    """How often it was seen, and the cases with what cured them."""
    cases = [one for one in seen.cases if one.rating or one.cure][:MOST_CASES]
    # Where nobody said what helped, one place to read on is enough.
    cases = cases or [one for one in seen.cases if one.link][:1]
    if not cases:
        return []
    words = [case_words(one) for one in cases]
    times = f"{seen.times}{' or more' if seen.times >= seen.most else ''}"
    often = f"Seen {times} times before, last on {day(seen.last)}." if seen.times > 1 else "Somebody had this before."
    if all(one.mine for one in cases):
        often = f"You had this before{f', {times} times' if seen.times > 1 else ''}."
    return [often + "\n" + "\n".join(f"- {one}" for one in words)]


def case_words(one: PastTicket) -> str:
    """When, where to read it, what was said of it, and what cured it."""
    where = f"[{day(one.at)}]({one.link})" if one.link else f"{day(one.at)}{f' (`{one.thread}`)' if one.mine else ''}"
    if one.cure:
        return f"{where}: said to be cured by: {plain(one.cure)}"
    if one.rating == "helpful":
        return f"{where}: the answer was found helpful{first_step(one.fix)}"
    if one.rating == "wrong":
        return f"{where}: the answer `{one.cause}` was found wrong"
    return f"{where}: nobody said what cured it (`{one.cause}`)"


def plain(words: str) -> str:
    """Somebody's own words in one line, as they are: nothing in them is a link or a mark."""
    shown = " ".join(MARKS.sub(" ", words).split())
    return f"“{shown if len(shown) <= LONGEST_CURE else shown[:LONGEST_CURE] + ' ...'}”"


def first_step(fix: Sequence[str]) -> str:
    if not fix:
        return ""
    step = fix[0]
    return f": {step if len(step) <= LONGEST_STEP else step[:LONGEST_STEP] + ' ...'}"


def clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%H:%M} UTC"


def day(at: float) -> str:
    found = datetime.fromtimestamp(at, UTC)
    return f"{found.day} {found:%b %Y}"
