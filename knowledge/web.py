"""The web: search it, read what was found, cite it. Only after a person's yes, and never with anything private.

The engine is DuckDuckGo (by ddgs), or a SearxNG of one's own (MAPLE_CHAT_SEARCH_URL).
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol
from urllib.parse import urlsplit

from knowledge.errors import InputError, UnavailableError
from knowledge.ingest.page import UnreadableError, iso_date, one_line, visible
from knowledge.types import Passage

if TYPE_CHECKING:
    from knowledge.fetching import Fetcher

Policy = Literal["ask", "always", "never"]
BACKEND = "duckduckgo"
ENGINE_S = 10
MOST_PAGE_BYTES = 5_000_000
MOST_WORDS = 40
WORD = re.compile(r"[a-z0-9][a-z0-9_.-]+")
NO_WEB = "cannot reach the web"
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class WebHit:
    """What an engine found: a page, and the engine's own excerpt of it."""

    address: str
    title: str
    excerpt: str
    date: str = ""


class SearchEngine(Protocol):
    """Finds pages. private: whether it stands in a private network, and so may lead there."""

    @property
    def private(self) -> bool: ...

    def find(self, query: str, limit: int) -> list[WebHit]: ...


class DuckDuckGo:
    """DuckDuckGo, by ddgs. Its other engines are not asked: a query goes to one place."""

    @property
    def private(self) -> bool:
        return False

    def find(self, query: str, limit: int) -> list[WebHit]:
        from ddgs import DDGS
        from ddgs.engines import ENGINES
        from ddgs.exceptions import DDGSException, RatelimitException

        if BACKEND not in ENGINES["text"]:  # ddgs would ask all its other engines instead
            raise UnavailableError("this ddgs has no DuckDuckGo; set MAPLE_CHAT_SEARCH_URL, or install another ddgs")
        logging.getLogger("ddgs").setLevel(logging.CRITICAL)
        proxy = os.environ.get("DDGS_PROXY") or os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy")
        try:
            rows = DDGS(proxy=proxy, timeout=ENGINE_S).text(query, max_results=limit, backend=BACKEND)
        except RatelimitException as error:
            raise UnavailableError("the search engine wants a pause; try again in some minutes") from error
        except DDGSException as error:
            if "no results" in str(error).lower():
                return []
            raise UnavailableError(f"{NO_WEB}; check the network and HTTPS_PROXY") from error
        except Exception as error:  # what its Rust client raises has no common parent
            raise UnavailableError(f"{NO_WEB} ({type(error).__name__}); check the network and HTTPS_PROXY") from error
        return [WebHit(row["href"], row.get("title", ""), row.get("body", "")) for row in rows if row.get("href")]


@dataclass(frozen=True, slots=True)
class Searx:
    """A SearxNG server, by its JSON answers (search.formats in its settings must allow json)."""

    address: str

    @property
    def private(self) -> bool:
        from knowledge.fetching import host_of, is_public

        return not is_public(host_of(self.address))

    def find(self, query: str, limit: int) -> list[WebHit]:
        from knowledge.fetching import Fetcher, UnreachableError, host_of

        address = self.address.rstrip("/")
        if not urlsplit(address).path:
            address += "/search"
        with Fetcher(most_bytes=MOST_PAGE_BYTES, tries=2) as fetcher:
            try:
                answer = fetcher.get(address, {"q": query, "format": "json"})
            except UnreachableError as error:
                raise UnavailableError(f"{NO_WEB}: {host_of(address)} does not answer") from error
        if answer.status != 200:
            raise UnavailableError(f"the search engine at {host_of(address)} answers {answer.status}")
        body = answer.json()
        rows = body.get("results", []) if isinstance(body, dict) else []
        hits = [
            WebHit(
                str(row["url"]), str(row.get("title", "")), str(row.get("content", "")), str(row.get("publishedDate"))
            )
            for row in rows
            if isinstance(row, dict) and row.get("url")
        ]
        return hits[:limit]


@dataclass(frozen=True, slots=True)
class Web:
    """How this person wants the web: ask first, always, never; and by which engine."""

    policy: Policy
    engine: SearchEngine

    def search(self, query: str, limit: int = 3, progress: Progress | None = None) -> list[Passage]:
        """The best piece of each page found, marked as found on the web. Raises UnavailableError, InputError."""
        return search(query, self.engine, limit, progress)


def open_web(policy: Policy, address: str = "") -> Web | None:
    """What searches the web; None where it is never to be searched."""
    if policy == "never":
        return None
    return Web(policy, Searx(address) if address else DuckDuckGo())


def to_send(query: str) -> str:
    """What leaves of a query: nothing private, and no more words than a query has. Raises InputError when empty."""
    from knowledge.public import without_private

    words = without_private(query).split()[:MOST_WORDS]
    if not any(any(c.isalnum() for c in word) for word in words):
        raise InputError("nothing of that may be sent: it is all private; say it in general words")
    return " ".join(words)


def search(query: str, engine: SearchEngine, limit: int = 3, progress: Progress | None = None) -> list[Passage]:
    """Ask the engine, then read the pages. Whatever is given, only `to_send` of it leaves."""
    from knowledge.fetching import Fetcher

    sent = to_send(query)
    tell = progress or (lambda what, done, total: None)
    tell("searching the web", 0, limit)
    hits = [hit for hit in engine.find(sent, limit) if hit.address.startswith(("https://", "http://"))]
    found = []
    with Fetcher(stay=False, public_only=not engine.private, most_bytes=MOST_PAGE_BYTES, tries=1) as fetcher:
        for at, hit in enumerate(hits):
            tell("reading what was found", at, len(hits))
            found.append(passage(hit, sent, fetcher))
    return [one for one in found if one.text]


def passage(hit: WebHit, query: str, fetcher: Fetcher) -> Passage:
    """A page's best piece for a query, or the engine's excerpt where the page cannot be read."""
    from knowledge.ingest.chunking import chunks
    from knowledge.ingest.reading import CONTENT_TYPES, read

    title, excerpt = one_line(hit.title), one_line(hit.excerpt)
    source = one_line(hit.address)
    plain = Passage(excerpt, title or source, source, iso_date(hit.date), kind="web")
    try:
        answer = fetcher.get(hit.address)
        form = CONTENT_TYPES.get(answer.content_type, "")
        if answer.status != 200 or not form:
            return plain
        page = read(answer.body, form, title or hit.address)
    except (UnavailableError, UnreadableError):
        return plain
    words = set(WORD.findall(query.lower()))
    best = max(chunks(page), key=lambda piece: shared(piece.text, words), default=None)
    if best is None or (excerpt and not shared(best.text, words)):
        return plain
    date = page.date or plain.date
    return Passage(visible(best.text), page.title, source, date, best.path, shared(best.text, words), kind="web")


def shared(text: str, words: set[str]) -> float:
    """How many of the query's words a piece holds, as a share of 1."""
    return len(words & set(WORD.findall(text.lower()))) / max(1, len(words))
