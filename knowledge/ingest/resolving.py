"""A closed issue of GitHub as a page: the problem, and of all that was said of it what tells how it ended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from knowledge.ingest.api import shortened
from knowledge.ingest.markdown import read_markdown
from knowledge.ingest.page import Block, Page, iso_date, one_line
from knowledge.masking import hide

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
