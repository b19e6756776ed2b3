"""Answered questions from a server that behaves like Stack Exchange's: parts, backoff, throttling, gzip, quota."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knowledge.documents import Documents
from knowledge.errors import InputError, UnavailableError
from knowledge.ingest.adding import AddingReport
from knowledge.ingest.api import LimitError, Patience
from knowledge.ingest.stackexchange import StackExchange, Tagged, sync


class Exchange:
    """Questions as Stack Exchange gives them, in parts of three, packed by gzip as theirs always are."""

    def __init__(self, stand_in: Any) -> None:
        self.stand = stand_in
        self.questions = [self.question(n) for n in range(1, 8)]
        self.more: dict[str, Any] = {"quota_remaining": 200}
        self.broken: list[Any] = []
        stand_in.pages["/search/advanced"] = self.search

    def question(self, number: int, **more: Any) -> dict[str, Any]:
        return {
            "question_id": number,
            "title": f"Why &quot;{number}&quot; hangs?",
            "body": f"<p>It hangs in {number}.</p><pre><code>srun -n {number} a.out</code></pre>",
            "link": f"https://so.example/q/{number}",
            "accepted_answer_id": 100 + number,
            "last_activity_date": 1_700_000_000 + number * 86_400,
            "content_license": "CC BY-SA 4.0",
            "owner": {"display_name": "Asker &amp; Co", "link": "https://so.example/users/1"},
            **more,
        }

    def say(self, body: dict[str, Any], status: int = 200) -> Any:
        packed = gzip.compress(json.dumps(body).encode())
        return self.stand.make(packed, status, Content_Encoding="gzip", Content_Type="application/json")

    def search(self, asked: Any) -> Any:
        if self.broken:
            return self.broken.pop(0)
        query = asked.query
        assert (query["tagged"], query["sort"], query["order"], query["accepted"]) == (
            "slurm",
            "activity",
            "asc",
            "True",
        )
        found = [q for q in self.questions if q["last_activity_date"] >= int(query.get("min", 0))]
        start = (int(query["page"]) - 1) * 3
        return self.say({"items": found[start : start + 3], "has_more": len(found) > start + 3, **self.more})

    def answers(self, asked: Any) -> Any:
        ids = [int(one) for one in asked.path.rsplit("/", 1)[1].split(";")]
        owner = {"display_name": "Helper", "link": "https://so.example/users/2"}
        return self.say(
            {
                "items": [{"answer_id": n, "body": f"<p>Use --mpi=pmix, number {n}.</p>", "owner": owner} for n in ids],
                "has_more": False,
            }
        )


@pytest.fixture
def exchange(stand_in: Any) -> Exchange:
    made = Exchange(stand_in)
    answers = made.answers
    reply = stand_in.reply

    def any_answers(asked: Any) -> Any:
        if asked.path.startswith("/answers/"):
            stand_in.pages[asked.path] = answers
        return reply(asked)

    stand_in.reply = any_answers
    return made


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    return Documents(tmp_path / "documents.sqlite")


@pytest.fixture
def read(documents: Documents, stand_in: Any) -> Callable[..., AddingReport]:
    def of(wait: bool = False, pauses: list[float] | None = None, **wish: Any) -> AddingReport:
        patience = Patience(wait, (pauses if pauses is not None else []).append)
        return sync(documents, Tagged("slurm", **wish), StackExchange(stand_in.address, "", patience))

    return of


def test_questions_with_their_accepted_answers_and_authors(read: Any, documents: Documents, exchange: Exchange) -> None:
    assert read().read == 7
    first = [p for p in documents.passages() if p.source.startswith("https://so.example/q/1 ")]
    assert {p.path for p in first} == {("Question",), ("Accepted answer",)}
    assert first[0].title == 'Why "1" hangs?' and first[0].date == "2023-11-15"
    assert "srun -n 1 a.out" in first[0].text and "--mpi=pmix, number 101" in first[1].text
    assert first[1].source.endswith(
        "(answer by Helper, https://so.example/users/2; question by Asker & Co, https://so.example/users/1; "
        "CC BY-SA, CC BY-SA 4.0)"
    )


def test_the_next_run_reads_only_what_is_new(
    read: Any, documents: Documents, exchange: Exchange, stand_in: Any
) -> None:
    read()
    stand_in.asked.clear()
    exchange.questions.append(exchange.question(9))
    report = read()
    assert (report.read, report.unchanged) == (1, 1)
    assert [one.path for one in stand_in.asked] == ["/search/advanced", "/answers/109"]


def test_backoff_is_kept(read: Any, exchange: Exchange) -> None:
    exchange.more["backoff"] = 5
    pauses: list[float] = []
    read(pauses=pauses)
    assert pauses and set(pauses) == {5.0}


def test_throttling_says_until_when_or_waits(read: Any, documents: Documents, exchange: Exchange) -> None:
    says = "too many requests from this IP, more requests available in 120 seconds"
    throttled = exchange.say({"error_id": 502, "error_name": "throttle_violation", "error_message": says}, 400)
    exchange.broken = [throttled, throttled]
    with pytest.raises(LimitError, match=r"in 2 min"):
        read()
    pauses: list[float] = []
    assert read(wait=True, pauses=pauses).read == 7 and pauses == [120.0]


def test_a_used_up_quota_keeps_what_came_and_goes_on(read: Any, documents: Documents, exchange: Exchange) -> None:
    whole = exchange.search
    calls = []

    def last(asked: Any) -> Any:
        calls.append(1)
        exchange.more["quota_remaining"] = 0 if len(calls) == 2 else 9
        return whole(asked)

    exchange.stand.pages["/search/advanced"] = last
    with pytest.raises(LimitError, match="tomorrow"):
        read()
    assert len(documents.passages()) == 6
    read()
    assert len(documents.passages()) == 14


def test_many_questions_of_one_second(read: Any, exchange: Exchange) -> None:
    exchange.questions = [exchange.question(n, last_activity_date=1_700_000_000) for n in range(1, 8)]
    assert read().read == 7


def test_faults_refusals_and_odd_names(read: Any, documents: Documents, exchange: Exchange, stand_in: Any) -> None:
    exchange.broken = [stand_in.make("", 503), stand_in.make("{", cut=True)]
    assert read(limit=2).read == 2
    exchange.broken = [exchange.say({"error_id": 400, "error_message": "No site found"}, 400)]
    with pytest.raises(InputError, match="No site found"):
        read(site="nosuch")
    exchange.broken = [stand_in.make("<html>", 200)]
    with pytest.raises(UnavailableError, match="no JSON"):
        read()
    with pytest.raises(InputError, match="no tag"):
        read(site="a/../b")
