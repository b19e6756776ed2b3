"""The issues reader against a server that behaves like GitHub's: pages, ETag, limits, faults, cut connections."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knowledge.documents import Documents
from knowledge.errors import InputError, UnavailableError
from knowledge.ingest.adding import AddingReport
from knowledge.ingest.api import LimitError, Patience
from knowledge.ingest.github import GitHub, IssueFilter, repository_named, sync

REPO = "lab/tool"
LIST = f"/repos/{REPO}/issues"
NOW = 1_750_000_000.0


class Hub:
    """Issues as GitHub gives them, in parts of `size`, oldest change first."""

    def __init__(self, stand_in: Any, size: int = 3) -> None:
        self.stand, self.size = stand_in, size
        self.issues = [self.issue(n) for n in range(1, 9)]
        self.broken: list[Any] = []
        stand_in.pages[LIST] = self.listing
        for issue in self.issues:
            stand_in.pages[f"{LIST}/{issue['number']}/timeline"] = self.timeline

    def issue(self, number: int, **more: Any) -> dict[str, Any]:
        return {
            "number": number,
            "title": f"Hang number {number}",
            "body": f"It hangs in step {number}.\n\n```\nRuntimeError: broken {number}\n```\n<!-- template -->",
            "html_url": f"https://github.example/{REPO}/issues/{number}",
            "url": f"{self.stand.address}{LIST}/{number}",
            "updated_at": f"2025-01-{number:02d}T00:00:00Z",
            "closed_at": f"2025-01-{number:02d}T00:00:00Z",
            "state": "closed",
            "state_reason": "completed",
            "user": {"login": "reporter"},
            "labels": [],
            **more,
        }

    def listing(self, asked: Any) -> Any:
        if self.broken:
            return self.broken.pop(0)
        assert (asked.query["sort"], asked.query["direction"]) == ("updated", "asc")
        since, states = asked.query.get("since", ""), {"closed", "open" if asked.query["state"] == "all" else "closed"}
        issues = [i for i in sorted(self.issues, key=lambda i: i["updated_at"]) if i["state"] in states]
        found = [i for i in issues if i["updated_at"] >= since]
        page = int(asked.query.get("page", 1))
        part = found[(page - 1) * self.size : page * self.size]
        etag = f'W/"{since}-{len(found)}"'
        if asked.headers.get("if-none-match") == etag:
            return self.stand.make(b"", 304, ETag=etag)
        more = {}
        if len(found) > page * self.size:
            query = "&".join(f"{k}={v}" for k, v in {**asked.query, "page": page + 1}.items())
            more = {"Link": f'<{self.stand.address}{LIST}?{query}>; rel="next", <x>; rel="last"'}
        return self.stand.make(json.dumps(part), ETag=etag, **more)

    def timeline(self, asked: Any) -> Any:
        number = asked.path.split("/")[-2]
        pull = {"title": f"Fix {number}", "html_url": "https://x/9", "pull_request": {"merged_at": "2025-01-01"}}
        said = {"event": "commented", "author_association": "NONE", "user": {"login": "a", "type": "User"}}
        return self.stand.make(
            json.dumps(
                [
                    {**said, "body": "Thanks!"},
                    {**said, "body": "robot words", "user": {"login": "x[bot]", "type": "Bot"}},
                    {**said, "body": f"Set NCCL_DEBUG={number} to cure it.", "author_association": "MEMBER"},
                    {"event": "cross-referenced", "source": {"issue": pull}},
                ]
            )
        )


@pytest.fixture
def hub(stand_in: Any) -> Hub:
    return Hub(stand_in)


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    return Documents(tmp_path / "documents.sqlite")


@pytest.fixture
def read(documents: Documents, stand_in: Any) -> Callable[..., AddingReport]:
    def of(token: str = "", wait: bool = False, pauses: list[float] | None = None, **wish: Any) -> AddingReport:
        patience = Patience(wait, (pauses if pauses is not None else []).append, lambda: NOW)
        return sync(documents, IssueFilter(REPO, **wish), GitHub(stand_in.address, token, patience))

    return of


def numbers(documents: Documents) -> list[int]:
    return sorted({int(passage.source.rsplit("/", 1)[1]) for passage in documents.passages()})


def test_every_closed_issue_with_what_resolved_it(read: Any, documents: Documents, hub: Hub) -> None:
    hub.issues.append(hub.issue(20, pull_request={"url": "x"}, updated_at="2025-02-01T00:00:00Z"))
    report = read()
    assert report.read == 8 and numbers(documents) == list(range(1, 9))
    first = [p for p in documents.passages() if p.source.endswith("/1")]
    assert {p.path for p in first} == {("Problem",), ("What resolved it",)}
    text = "\n".join(p.text for p in first)
    assert "RuntimeError: broken 1" in text and "NCCL_DEBUG=1" in text and "Fix 1" in text
    assert "Thanks" not in text and "robot" not in text and "template" not in text
    assert (first[0].kind, first[0].date, first[0].title) == ("issue", "2025-01-01", "Hang number 1 (#1)")


def test_the_second_time_nothing_is_asked_twice(read: Any, documents: Documents, hub: Hub, stand_in: Any) -> None:
    read()
    before = documents.version()
    read()
    stand_in.asked.clear()
    report = read()
    assert [one.path for one in stand_in.asked] == [LIST] and "if-none-match" in stand_in.asked[0].headers
    assert not report.read and documents.version() == before
    hub.issues[2] = hub.issue(3, body="Other words.", updated_at="2025-03-01T00:00:00Z")
    hub.stand.pages[f"{LIST}/9/timeline"] = hub.timeline
    hub.issues.append(hub.issue(9, updated_at="2025-03-02T00:00:00Z"))
    assert read().read == 2
    assert numbers(documents) == list(range(1, 10))
    assert any("Other words." in p.text for p in documents.passages())


def test_what_was_opened_again_is_no_longer_resolved(read: Any, documents: Documents, hub: Hub) -> None:
    hub.issues.append(hub.issue(9, state="open"))
    assert read().read == 8
    hub.issues[2] = hub.issue(3, state="open", updated_at="2025-03-01T00:00:00Z")
    assert read().removed == 1 and numbers(documents) == [1, 2, 4, 5, 6, 7, 8]
    hub.issues[2] = hub.issue(3, updated_at="2025-04-01T00:00:00Z")
    assert read().read == 1 and numbers(documents) == list(range(1, 9))


def test_an_issue_that_is_listed_and_not_shown_stops_nothing(read: Any, documents: Documents, hub: Hub) -> None:
    del hub.stand.pages[f"{LIST}/3/timeline"]
    report = read()
    assert report.read == 7 and "issues/3: GitHub lists it" in report.problems[0]
    assert read().read == 0


def test_an_issue_that_moves_while_the_list_is_read_is_not_lost(read: Any, documents: Documents, hub: Hub) -> None:
    def moving(asked: Any) -> Any:
        answer = hub.listing(asked)
        hub.issues[0] = hub.issue(1, updated_at="2025-06-01T00:00:00Z")
        return answer

    hub.stand.pages[LIST] = moving
    read()
    assert numbers(documents) == list(range(1, 9))


def test_many_issues_of_one_second_are_all_read(read: Any, documents: Documents, hub: Hub) -> None:
    hub.issues = [hub.issue(n, updated_at="2025-01-01T00:00:00Z") for n in range(1, 9)]
    read()
    assert numbers(documents) == list(range(1, 9))


def test_a_limit_says_until_when_and_keeps_what_came(read: Any, documents: Documents, hub: Hub, stand_in: Any) -> None:
    seen = []

    def limited(asked: Any) -> Any:
        seen.append(asked)
        if len(seen) == 6:
            reset = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW) + 720)}
            return stand_in.make('{"message": "API rate limit exceeded"}', 403, **reset)
        return hub.timeline(asked)

    for number in range(1, 9):
        stand_in.pages[f"{LIST}/{number}/timeline"] = limited
    with pytest.raises(LimitError, match=r"until \d\d:\d\d \(in 12 min\).*GITHUB_TOKEN"):
        read()
    assert numbers(documents) == [1, 2, 3, 4, 5]
    stand_in.asked.clear()
    assert read().read == 3
    assert numbers(documents) == list(range(1, 9))
    assert f"{LIST}/1/timeline" not in stand_in.paths()


@pytest.mark.parametrize(
    ("status", "headers", "body", "seconds"),
    [
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW) + 60)}, "{}", 61.0),
        (429, {"Retry-After": "7"}, "{}", 7.0),
        (403, {}, '{"message": "You have exceeded a secondary rate limit"}', 60.0),
    ],
)
def test_with_wait_it_waits(
    read: Any, hub: Hub, stand_in: Any, status: int, headers: dict[str, str], body: str, seconds: float
) -> None:
    hub.broken = [stand_in.make(body, status, **headers)]
    pauses: list[float] = []
    assert read(wait=True, pauses=pauses).read == 8
    assert pauses == [seconds]


def test_faults_and_cut_connections_are_tried_again(read: Any, hub: Hub, stand_in: Any) -> None:
    hub.broken = [stand_in.make("oops", 502), stand_in.make("[{", cut=True), stand_in.make("", 500)]
    pauses: list[float] = []
    assert read(pauses=pauses).read == 8
    assert pauses == [1.0, 2.0, 4.0]


def test_a_server_that_stays_down_is_one_line_and_gone_on_with(read: Any, documents: Documents, hub: Hub) -> None:
    part = hub.timeline
    for number in range(4, 9):
        hub.stand.pages[f"{LIST}/{number}/timeline"] = hub.stand.make("x", cut=True)
    with pytest.raises(UnavailableError, match="cannot reach"):
        read()
    assert numbers(documents) == [1, 2, 3]
    for number in range(4, 9):
        hub.stand.pages[f"{LIST}/{number}/timeline"] = part
    assert read().read == 5


@pytest.mark.parametrize(
    ("status", "error", "says"),
    [
        (401, InputError, "token"),
        (404, InputError, "private"),
        (403, InputError, "refuses"),
        (502, UnavailableError, "502"),
    ],
)
def test_refusals(
    read: Any, documents: Documents, hub: Hub, stand_in: Any, status: int, error: type[Exception], says: str
) -> None:
    stand_in.say(LIST, '{"message": "no"}', status)
    with pytest.raises(error, match=says):
        read()
    assert documents.origins() == []


def test_the_token_goes_to_this_server_alone(read: Any, documents: Documents, hub: Hub, stand_in: Any) -> None:
    read(token="ghp_verysecrettoken123")
    assert {one.headers.get("authorization") for one in stand_in.asked} == {"Bearer ghp_verysecrettoken123"}
    assert b"verysecret" not in documents.path.read_bytes()
    stand_in.say(LIST, json.dumps([hub.issue(1)]), Link='<http://127.0.0.2:9/next>; rel="next"')
    with pytest.raises(UnavailableError, match="another host"):
        read(token="ghp_verysecrettoken123", labels=("x",))
    stand_in.say(LIST, "", 302, Location="http://127.0.0.2:9/x")
    with pytest.raises(UnavailableError, match="leads away"):
        read(token="ghp_verysecrettoken123", labels=("y",))


def test_labels_since_and_limit(read: Any, documents: Documents, hub: Hub, stand_in: Any) -> None:
    assert read(labels=("bug", "slurm"), since="2025-01-05", limit=2).read == 2
    assert stand_in.asked[0].query["labels"] == "bug,slurm"
    assert stand_in.asked[0].query["since"] == "2025-01-05T00:00:00Z"
    assert numbers(documents) == [5, 6]
    assert read(labels=("bug", "slurm"), since="2025-01-05", limit=2).read == 2
    assert numbers(documents) == [5, 6, 7, 8]
    assert read(labels=("bug", "slurm"), since="2025-01-01").read == 4


def test_what_nothing_resolved_is_left_out(read: Any, documents: Documents, hub: Hub, stand_in: Any) -> None:
    for number in range(1, 9):
        stand_in.say(f"{LIST}/{number}/timeline", "[]")
    hub.issues[0] = hub.issue(1, state_reason="not_planned")
    report = read()
    assert (report.read, report.empty) == (1, 7)
    assert any("not planned" in p.text for p in documents.passages())


def test_secrets_of_others_are_hidden(read: Any, documents: Documents, hub: Hub) -> None:
    hub.issues[0] = hub.issue(1, body="I use HF_TOKEN=hf_abcdefghijklmnopqrst here.")
    read()
    assert b"hf_abcdefghijkl" not in documents.path.read_bytes()


@pytest.mark.parametrize(
    "text", ["lab/tool", "https://github.com/lab/tool", "https://github.com/lab/tool.git", " lab/tool/ "]
)
def test_names_of_a_repository(text: str) -> None:
    assert repository_named(text) == "lab/tool"
    with pytest.raises(InputError, match="OWNER/REPO"):
        repository_named("tool")
