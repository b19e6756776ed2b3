"""`knowledge sync stackexchange`: answered questions of a tag, each with its accepted answer.

Posts are under CC BY-SA: each passage's source names the author, the address and the licence.
https://api.stackexchange.com/docs (2.3), /docs/throttle: `backoff` must be kept, `quota_remaining` counts down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import unescape
from typing import Any

from knowledge.documents import Documents, KnownDocument, SourceDocument
from knowledge.errors import InputError, UnavailableError
from knowledge.fetching import Fetcher, Response, host_of
from knowledge.ingest.adding import About, AddingReport, Keeping, Progress, keeping, quiet
from knowledge.ingest.api import LimitError, Patience, shortened, within_limits
from knowledge.ingest.chunking import chunks
from knowledge.ingest.html import blocks_of
from knowledge.ingest.page import Block, Page
from knowledge.masking import hide

ADDRESS = "https://api.stackexchange.com/2.3"
NAME = re.compile(r"[a-z0-9.#+_-]{1,60}")
PAGE = 100
# Without a key of one's own no further page is given; the list goes on from the time of the last question.
MOST_PAGES = 25
THROTTLED = 502
MORE_IN = re.compile(r"available in (\d+) seconds")
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tagged:
    """Which questions: of a site and a tag. limit: how many at most in this run (0: all)."""

    tag: str
    site: str = "stackoverflow"
    limit: int = 0
    about: About = field(default_factory=lambda: About("issues"))

    @property
    def origin(self) -> str:
        return f"stackexchange:{self.site}/{self.tag}"


class StackExchange:
    """Asks Stack Exchange. key: optional, allows more questions a day."""

    def __init__(self, base: str = ADDRESS, key: str = "", patience: Patience | None = None) -> None:
        self.base = base.rstrip("/")
        self.key = key
        self.patience = patience or Patience()
        self.fetcher = Fetcher(home=self.base, pause=self.patience.pause)

    def get(self, method: str, **params: str | int) -> Json:
        """One answer, after the pause that the last one asked for. Raises InputError, UnavailableError."""
        own = {"key": self.key} if self.key else {}
        answer = within_limits(
            lambda: self.fetcher.get(f"{self.base}/{method}", {**params, **own}),
            wait_of,
            "Stack Exchange",
            self.patience,
        )
        body = answer.json()
        if not isinstance(body, dict):
            raise UnavailableError(f"{host_of(self.base)} does not answer as Stack Exchange does")
        if answer.status != 200:
            raise InputError(f"Stack Exchange refuses: {str(body.get('error_message', answer.status))[:120]}")
        if body.get("backoff"):
            self.patience.pause(float(body["backoff"]))
        if body.get("quota_remaining") == 0 and body.get("has_more"):
            raise LimitError("Stack Exchange allows no more today; what came is kept, give the same command tomorrow")
        return body


def wait_of(answer: Response, now: float) -> float:
    """The seconds that Stack Exchange wants us to wait; 0 for an answer that is no limit."""
    if answer.status == 429:
        after = answer.headers.get("retry-after", "")
        return float(after) if after.isdecimal() else 60.0
    if answer.status != 400:
        return 0.0
    body = answer.json()
    if not isinstance(body, dict) or body.get("error_id") != THROTTLED:
        return 0.0
    found = MORE_IN.search(str(body.get("error_message", "")))
    return float(found[1]) if found else 60.0


def sync(documents: Documents, wish: Tagged, server: StackExchange, progress: Progress = quiet) -> AddingReport:
    """Read the questions with an accepted answer that changed since the last time. Raises as `get`; what came stays."""
    for name in (wish.tag, wish.site):
        if not NAME.fullmatch(name):
            raise InputError(f"'{name[:60]}' names no tag or site of Stack Exchange; try --tag slurm")
    before = documents.origin(wish.origin)
    cursor = dict(before.cursor) if before else {}
    report = AddingReport(wish.origin)
    with server.fetcher, keeping(documents, wish.origin) as keep:
        pages = listing(server, wish, cursor)
        page: list[Json] | None = next(pages, [])
        documents.begin(wish.origin, "stackexchange", wish.about.collection, wish.about.options())
        known = documents.known(wish.origin)
        seen: set[tuple[str, int]] = set()
        while page is not None and not (wish.limit and report.read >= wish.limit):
            # The last question of a part is the first one of the next.
            page = [one for one in page if version(one) not in seen]
            if wish.limit:
                page = page[: wish.limit - report.read]
            seen.update(map(version, page))
            take(keep, page, wish, known, server, report)
            if page:
                cursor["min"] = str(page[-1]["last_activity_date"])
                keep.cursor = dict(cursor)
            progress("questions", report.read + report.unchanged + report.empty, wish.limit)
            page = next(pages, None)
    documents.finish(wish.origin, cursor)
    return report


def listing(server: StackExchange, wish: Tagged, cursor: dict[str, str]) -> Iterator[list[Json]]:
    """The parts of the list, oldest activity first, from where the cursor is; it is moved on by the reader."""
    number, asked = 1, cursor.get("min", "")
    while True:
        body = server.get(
            "search/advanced",
            site=wish.site,
            tagged=wish.tag,
            accepted="True",
            order="asc",
            sort="activity",
            filter="withbody",
            pagesize=PAGE,
            page=number,
            **({"min": int(asked)} if asked else {}),
        )
        yield body.get("items", [])
        if not body.get("has_more"):
            return
        since = cursor.get("min", "")
        number, asked = (1, since) if since != asked else (number + 1, asked)
        if number > MOST_PAGES:
            return


def take(
    keep: Keeping,
    questions: list[Json],
    wish: Tagged,
    known: dict[str, KnownDocument],
    server: StackExchange,
    report: AddingReport,
) -> None:
    """A part of the list into the store: one request for all its accepted answers."""
    fresh = []
    for question in questions:
        seen = known.get(question["link"])
        if seen and seen.hash == mark_of(question, wish):
            report.unchanged += 1
        elif question.get("accepted_answer_id"):
            fresh.append(question)
    if not fresh:
        return
    ids = ";".join(str(question["accepted_answer_id"]) for question in fresh)
    body = server.get(f"answers/{ids}", site=wish.site, filter="withbody", pagesize=PAGE)
    answers = {answer["answer_id"]: answer for answer in body.get("items", [])}
    for question in fresh:
        answer = answers.get(question["accepted_answer_id"])
        if answer is None:
            report.empty += 1
            continue
        keep.put(document(question, answer, wish))
        report.read += 1


def version(question: Json) -> tuple[str, int]:
    return str(question["link"]), int(question["last_activity_date"])


def mark_of(question: Json, wish: Tagged) -> str:
    return f"{question['last_activity_date']} {wish.about.options()}"


def document(question: Json, answer: Json, wish: Tagged) -> SourceDocument:
    """A question and its accepted answer; the source says who wrote them, and under which licence."""
    title = unescape(str(question["title"]))
    page = Page(
        title,
        (
            Block("heading", "Question", 1),
            *shortened(blocks_of(hide(question.get("body") or ""))),
            Block("heading", "Accepted answer", 1),
            *shortened(blocks_of(hide(answer.get("body") or ""))),
        ),
    )
    about = wish.about
    day = datetime.fromtimestamp(int(question["last_activity_date"]), UTC).date().isoformat()
    return SourceDocument(
        key=str(question["link"]),
        source=f"{question['link']} ({credit(question, answer)})",
        collection=about.collection,
        title=title,
        chunks=chunks(page),
        hash=mark_of(question, wish),
        date=day,
        machine=about.machine,
        scheduler=about.scheduler,
        framework=about.framework,
    )


def credit(question: Json, answer: Json) -> str:
    """`answer by NAME, ADDRESS; question by NAME, ADDRESS; CC BY-SA 4.0`, as the licence asks."""
    licences = sorted({str(post.get("content_license") or "CC BY-SA") for post in (answer, question)})
    return f"answer by {author(answer)}; question by {author(question)}; {', '.join(licences)}"


def author(post: Json) -> str:
    owner = post.get("owner") or {}
    return ", ".join(filter(None, [unescape(str(owner.get("display_name") or "a former user")), owner.get("link")]))
