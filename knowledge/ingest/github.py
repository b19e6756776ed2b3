"""`knowledge sync github`: closed issues, each with what resolved it.

The list is asked for by the time of the last change, oldest first, and each next part from where the last one ended:
a page number would skip issues that move while the list is read. So any stop is a place to go on from.
https://docs.github.com/en/rest/issues/issues, /timeline, and /using-the-rest-api/rate-limits-for-the-rest-api
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from knowledge.documents import Documents, KnownDocument, SourceDocument
from knowledge.errors import InputError, UnavailableError
from knowledge.fetching import Fetcher, Response, host_of
from knowledge.ingest.adding import About, AddingReport, Keeping, Progress, keeping, quiet
from knowledge.ingest.api import Patience, shortened, within_limits
from knowledge.ingest.chunking import chunks
from knowledge.ingest.markdown import read_markdown
from knowledge.ingest.page import Block, Page, iso_date, one_line
from knowledge.masking import hide

# A closed issue of GitHub as a page: the problem, and of all that was said of it what tells how it ended.


MAINTAINERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
KEPT_COMMENTS = 3
THANKS = re.compile(r"(?i)^\W*(?:thanks?( you| a lot| so much)?|\+1|same( here)?|any updates?|bump|me too)\b.{0,40}$")
REASONS = {"not_planned": "Closed as not planned.", "duplicate": "Closed as a duplicate."}
Json = dict[str, Any]


def read_issue(issue: Json, events: list[Json]) -> Page | None:
    """The issue as a page; None where nothing tells what resolved it."""
    resolved = [*pull_requests(events), *(block for comment in telling(issue, events) for block in post(comment))]
    reason = REASONS.get(str(issue.get("state_reason")), "")
    if not resolved and not reason:
        return None
    return Page(
        f"{one_line(hide(issue['title']))} (#{issue['number']})",
        (
            Block("heading", "Problem", 1),
            *shortened(read_markdown(hide(issue.get("body") or "")).blocks),
            Block("heading", "What resolved it", 1),
            *([Block("text", reason)] if reason else ()),
            *resolved,
        ),
        iso_date(str(issue.get("closed_at") or issue["updated_at"])),
    )


def pull_requests(events: list[Json]) -> Iterator[Block]:
    """The merged pull requests that name the issue, and the commit that closed it."""
    seen = set()
    for event in events:
        source = (event.get("source") or {}).get("issue") or {}
        merged = (source.get("pull_request") or {}).get("merged_at")
        if event.get("event") == "cross-referenced" and merged and source["html_url"] not in seen:
            seen.add(source["html_url"])
            yield Block("text", f"Pull request merged: {source['title']} ({source['html_url']})")
        elif event.get("event") == "closed" and event.get("commit_id") and not seen:
            yield Block("text", f"Closed by commit {event['commit_id'][:10]}.")


def telling(issue: Json, events: list[Json]) -> list[Json]:
    """The comments that say how it ended: the maintainers' last ones, the reporter's last, and the best liked."""
    said = [event for event in events if event.get("event") == "commented" and is_said(event)]
    maintainers = [event for event in said if event.get("author_association") in MAINTAINERS][-KEPT_COMMENTS:]
    reporter = (issue.get("user") or {}).get("login")
    own = [event for event in said if who(event) == reporter][-1:]
    liked = sorted(said, key=likes)[-1:]
    chosen = [*maintainers, *own, *(event for event in liked if likes(event) > 1)] or said[-1:]
    return [event for event in said if event in chosen]


def is_said(event: Json) -> bool:
    """Whether a person said something: no robot, no thanks."""
    body = (event.get("body") or "").strip()
    robot = (event.get("user") or {}).get("type") == "Bot" or str(who(event)).endswith("[bot]")
    return bool(body) and not robot and not THANKS.match(body)


def who(event: Json) -> object:
    return (event.get("user") or event.get("actor") or {}).get("login")


def likes(event: Json) -> int:
    return int((event.get("reactions") or {}).get("+1", 0))


def post(comment: Json) -> list[Block]:
    """A comment, with where it stands."""
    return shortened(read_markdown(hide(comment["body"])).blocks)


ADDRESS = "https://api.github.com"
REPOSITORY = re.compile(r"(?:https?://[^/]+/)?([\w.-]+/[\w.-]+?)(?:\.git)?/?")
NEXT = re.compile(r"<([^>]+)>;\s*rel=\"next\"")
PAGE = 100
MOST_TIMELINE_PAGES = 5
SECONDARY_WAIT_S = 60.0


@dataclass(frozen=True, slots=True)
class IssueFilter:
    """Which issues. labels: all of them; since: ISO day or time; limit: how many at most in this run (0: all)."""

    repository: str
    labels: tuple[str, ...] = ()
    since: str = ""
    limit: int = 0
    about: About = field(default_factory=lambda: About("issues"))

    @property
    def origin(self) -> str:
        return f"github:{self.repository}" + "".join(f" label:{label}" for label in sorted(self.labels))


def repository_named(text: str) -> str:
    """OWNER/REPO, also out of its address. Raises InputError."""
    found = REPOSITORY.fullmatch(text.strip())
    if not found:
        raise InputError(f"'{text[:60]}' names no repository; give OWNER/REPO, such as pytorch/pytorch")
    return found[1]


class GitHub:
    """Asks one GitHub. token: goes to this server only, and nowhere else."""

    def __init__(self, base: str = ADDRESS, token: str = "", patience: Patience | None = None) -> None:
        self.base = base.rstrip("/")
        self.patience = patience or Patience()
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        self.hint = "" if token else ", or set GITHUB_TOKEN: it allows 80 times as much"
        own = {**headers, "Authorization": f"Bearer {token}"} if token else headers
        self.fetcher = Fetcher(own, home=self.base, pause=self.patience.pause)

    def get(self, address: str, params: Mapping[str, str | int] | None = None, etag: str = "") -> Response:
        """One answer: 200, or 304 where an etag was given. Raises InputError, UnavailableError."""
        if host_of(address) != host_of(self.base):
            raise UnavailableError(f"GitHub at {host_of(self.base)} names another host for its next page")
        headers = {"If-None-Match": etag} if etag else {}
        answer = within_limits(
            lambda: self.fetcher.get(address, params, headers), wait_of, "GitHub", self.patience, self.hint
        )
        if answer.status not in (200, 304):
            raise refused(answer)
        return answer


def wait_of(answer: Response, now: float) -> float:
    """The seconds that GitHub wants us to wait; 0 for an answer that is no limit."""
    if answer.status not in (403, 429):
        return 0.0
    after = answer.headers.get("retry-after", "")
    if after.isdecimal():
        return max(1.0, float(after))
    reset = answer.headers.get("x-ratelimit-reset", "")
    if answer.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        return max(1.0, float(reset) - now + 1)
    limited = answer.status == 429 or b"rate limit" in answer.body.lower()
    return SECONDARY_WAIT_S if limited else 0.0


class NotThereError(InputError):
    """There is no such thing, or it may not be seen."""


def refused(answer: Response) -> InputError | UnavailableError:
    """Why GitHub gives nothing, and what to do."""
    if answer.status == 401:
        return InputError("GitHub does not take the token; correct or unset GITHUB_TOKEN")
    if answer.status in (404, 410):
        said = "GitHub has no such repository, or it is private: set GITHUB_TOKEN to a token that reads it"
        return NotThereError(said)
    if answer.status in (403, 451):
        return InputError("GitHub refuses: the token may not read issues there, or a firewall answers")
    return UnavailableError(f"GitHub answers {answer.status}; what came is kept, give the same command later")


def sync(documents: Documents, wish: IssueFilter, github: GitHub, progress: Progress = quiet) -> AddingReport:
    """Read the issues that changed since the last time. Raises InputError, UnavailableError; what came stays."""
    origin = wish.origin
    before = documents.origin(origin)
    cursor = dict(before.cursor) if before else {}
    if cursor.get("from", "") > wish.since:
        cursor = {}
    cursor.setdefault("from", wish.since)
    report = AddingReport(origin)
    with github.fetcher, keeping(documents, origin) as keep:
        # The first answer comes before anything is stored: a name that is wrong leaves nothing behind.
        pages = listing(github, wish, cursor)
        first = next(pages, [])
        documents.begin(origin, "github", wish.about.collection, wish.about.options())
        take_pages(keep, pages, first, wish, cursor, github, report, progress)
    documents.finish(origin, cursor)
    return report


def take_pages(
    keep: Keeping,
    pages: Iterator[list[Json]],
    page: list[Json] | None,
    wish: IssueFilter,
    cursor: dict[str, str],
    github: GitHub,
    report: AddingReport,
    progress: Progress,
) -> None:
    known = keep.documents.known(keep.origin)
    seen: set[tuple[str, str]] = set()
    while page is not None:
        for issue in page:
            if wish.limit and report.read >= wish.limit:
                return
            # The last issue of a part is the first one of the next.
            version = (str(issue["html_url"]), str(issue["updated_at"]))
            if "pull_request" not in issue and version not in seen:
                take(keep, issue, wish, known, github, report)
            seen.add(version)
            cursor["since"] = str(issue["updated_at"])
            keep.cursor = dict(cursor)
            progress("issues", report.read + report.unchanged + report.empty, wish.limit)
        page = next(pages, None)


def listing(github: GitHub, wish: IssueFilter, cursor: dict[str, str]) -> Iterator[list[Json]]:
    """The parts of the list. cursor: `since` is moved on by the reader between two parts; the etag is kept here."""
    address = f"{github.base}/repos/{wish.repository}/issues"
    # From the second time on the open ones too: what was opened again is no longer resolved.
    state = "all" if cursor.get("since") else "closed"
    params: dict[str, str | int] = {"state": state, "sort": "updated", "direction": "asc", "per_page": PAGE}
    if wish.labels:
        params["labels"] = ",".join(wish.labels)
    asked = cursor.get("since") or wish.since
    answer = github.get(address, with_since(params, asked), cursor.get("etag", ""))
    while answer.status == 200:
        page = answer.json()
        if not isinstance(page, list):
            raise UnavailableError(f"{host_of(address)} does not answer as GitHub does; check GITHUB_API_URL")
        yield page
        following = NEXT.search(answer.headers.get("link", ""))
        if not following:
            # Asked again from here, this is what says `nothing new` for free.
            same = cursor.get("since") == asked
            cursor["etag"] = answer.headers.get("etag", "") if same else ""
            return
        since = cursor.get("since", "")
        # More issues of one and the same second than fit a page: only then by GitHub's own page numbers.
        answer = github.get(address, with_since(params, since)) if since > asked else github.get(following[1])
        asked = since


def with_since(params: dict[str, str | int], since: str) -> dict[str, str | int]:
    if not since:
        return params
    return {**params, "since": since if "T" in since else f"{since}T00:00:00Z"}


def take(
    keep: Keeping,
    issue: Json,
    wish: IssueFilter,
    known: Mapping[str, KnownDocument],
    github: GitHub,
    report: AddingReport,
) -> None:
    """One issue into the store, if it changed and something resolved it; out of it, if it is open again."""
    key, mark = str(issue["html_url"]), f"{issue['updated_at']} {wish.about.options()}"
    if issue.get("state") == "open":
        report.removed += keep.documents.remove([key]) if key in known else 0
        return
    if key in known and known[key].hash == mark:
        report.unchanged += 1
        return
    try:
        page = read_issue(issue, timeline(github, issue))
    except NotThereError:
        report.problem(key, "GitHub lists it and does not show it")
        return
    if page is None:
        report.empty += 1
        report.removed += keep.documents.remove([key]) if key in known else 0
        return
    facts = wish.about
    keep.put(
        SourceDocument(
            key=key,
            source=key,
            collection=facts.collection,
            title=page.title,
            chunks=chunks(page),
            hash=mark,
            date=page.date,
            machine=facts.machine,
            scheduler=facts.scheduler,
            framework=facts.framework,
        )
    )
    report.read += 1


def timeline(github: GitHub, issue: Json) -> list[Json]:
    """What happened to an issue: comments, the pull requests that name it, how it was closed."""
    answer = github.get(f"{issue['url']}/timeline", {"per_page": PAGE})
    events = events_of(answer)
    for _ in range(MOST_TIMELINE_PAGES - 1):
        following = NEXT.search(answer.headers.get("link", ""))
        if not following:
            break
        answer = github.get(following[1])
        events += events_of(answer)
    return events


def events_of(answer: Response) -> list[Json]:
    found = answer.json()
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
