"""Who had this before: found by line, signature and question, on both databases, and shown to those who may see it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assistant.events import Answer, Diagnosed, Event
from assistant.printing.markdown import print_markdown
from assistant.session import Session
from assistant.settings import Settings
from assistant.storage.database import Database
from assistant.storage.diagnoses import Asker, Diagnoses, KeptFailure
from graph.incidents.subjects import SharedSubject
from graph.usecases.seen_before import Ongoing, PastTicket, SeenBefore, told_with
from knowledge.job_record import JobRecord
from tests.assistant.conftest import Say

pytestmark = pytest.mark.xdist_group("postgres")
MARK = "OSError: [Errno 116] Stale file handle while reading shard index of the loader"
OOM = "step 3\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"


def ticket(
    name: str, mark: str = MARK, *, who: str = "u1", place: str = "C1", question: str = "", **more: object
) -> KeptFailure:
    record = JobRecord(
        name, "env-disk", 0.9, mark, mark, "stale-handle", user=who, source=f"https://x/{name}", ended=1e9
    )
    made = KeptFailure(
        f"{name}:1:0", name, "ticket", record, "A file system let go.", ("Submit again.",), question, place
    )
    return replace(made, **more)  # type: ignore[arg-type]


def names(kept: Diagnoses, asked: KeptFailure, sees: str = "all") -> list[str]:
    return [one.thread for one in kept.like(asked, sees).cases]  # type: ignore[arg-type]


def test_the_same_line_before_one_like_it_and_nothing_else(database: Database) -> None:
    kept = Diagnoses(database)
    kept.put(
        [ticket("same"), ticket("near", MARK.replace("shard index", "header")), ticket("far", "KeyError: 'labels'")]
    )
    kept.rate("near", 1, "helpful")
    assert names(kept, ticket("new")) == ["same", "near"]
    assert kept.like(ticket("new"), "all").times == 1


def test_what_cured_it_comes_first_and_what_was_wrong_last(database: Database) -> None:
    kept = Diagnoses(database)
    kept.put([ticket(name) for name in ("wrong", "cured", "plain")])
    kept.rate("wrong", 1, "wrong")
    kept.rate("cured", 1, "helpful", "mounted it again on the node")
    assert names(kept, ticket("new")) == ["cured", "plain", "wrong"]
    best = kept.like(ticket("new"), "all").cases[0]
    assert (best.rating, best.cure, best.link) == ("helpful", "mounted it again on the node", "https://x/cured")


def test_a_question_in_nearly_the_same_words_finds_it_where_the_lines_differ(database: Database) -> None:
    kept = Diagnoses(database)
    asked = "tokenizer hangs while preprocessing openwebtext shards on the burst buffer"
    kept.put([ticket("before", "one thing that was printed then", question=f"my {asked}")])
    assert names(kept, ticket("new", "quite other words now", question=asked, who="u2")) == ["before"]
    assert names(kept, ticket("new", "quite other words now", question="why did my job fail?", who="u2")) == []


def test_a_wide_signature_alone_tells_nothing(database: Database) -> None:
    kept = Diagnoses(database)
    kept.put([ticket("other", "KeyError: 'labels' in collate")])
    kept.rate("other", 1, "helpful", "renamed the column")
    assert names(kept, ticket("new", "IndexError: list index out of range")) == []


@pytest.mark.parametrize(
    ("sees", "expected"),
    [("nobody", set()), ("mine", {"mine"}), ("place", {"mine", "here"}), ("all", {"mine", "here", "there"})],
)
def test_who_may_see_what(database: Database, sees: str, expected: set[str]) -> None:
    kept = Diagnoses(database)
    kept.put(
        [
            ticket("mine", who="me", private=True),
            ticket("here", who="u2"),
            ticket("there", who="u3", place="C2"),
            ticket("direct", who="u4", private=True),
        ]
    )
    found = kept.like(ticket("new", who="me"), sees, limit=9)  # type: ignore[arg-type]
    assert {one.thread for one in found.cases} == expected


def test_a_pseudonym_is_one_person_s_and_this_site_s_own(database: Database) -> None:
    kept, again = Diagnoses(database), Diagnoses(database)
    assert kept.pseudonym("T1:U1") == again.pseudonym("T1:U1") != kept.pseudonym("T1:U2")
    assert "U1" not in kept.pseudonym("T1:U1")


def test_a_ticket_that_comes_twice_is_kept_once(database: Database) -> None:
    kept = Diagnoses(database)
    kept.put([ticket("a"), ticket("a")])
    kept.put([ticket("a")])
    assert kept.counts() == {"ticket": 1}


def test_a_later_conversation_is_told_what_cured_it(settings: Settings, say: Say) -> None:
    """In the terminal: one's own conversations, also by what was said of them."""
    first = say(f"why did it fail?\n```\n{OOM}```")
    assert any(isinstance(one, Diagnosed) for one in first) and "before" not in told(first)
    kept = Diagnoses(Session(settings, "t").database)
    kept.rate("t", 1, "helpful", "micro-batch 2 in place of 4")
    second = run(Session(settings, "other"), f"again!\n```\n{OOM}```")
    assert "You had this before" in told(second) and "micro-batch 2 in place of 4" in told(second)
    stranger = Session(settings, "stranger", Asker("somebody else", "C9", "", False, "place"))
    assert "before" not in told(run(stranger, f"why?\n```\n{OOM}```"))


def test_a_forgotten_conversation_is_forgotten_here_too(settings: Settings, say: Say, session: Session) -> None:
    say(f"why did it fail?\n```\n{OOM}```")
    session.forget()
    assert Diagnoses(session.database).counts() == {}


def run(session: Session, text: str) -> list[Event]:
    import asyncio

    async def collect() -> list[Event]:
        return [event async for event in session.send(text)]

    return asyncio.run(collect())


def told(events: list[Event]) -> str:
    return "\n".join(print_markdown(one.document) for one in events if isinstance(one, Answer))


def test_in_words() -> None:
    cured = PastTicket("t", 1e9, "env-disk", "", (), "https://x/1", "helpful", "mounted it again", 1.0, False)
    plain = replace(cured, rating="", cure="", link="")
    now = Ongoing(3, 1_700_000_000.0, SharedSubject("node", "nid1"), True)
    document = told_with(now, SeenBefore(14, 1e9, (cured, plain)))
    assert document
    words = print_markdown(document)
    assert "3 others see this since 22:13 UTC (node nid1), the team knows." in words
    assert "Seen 14 times before, last on 9 Sep 2001." in words and "mounted it again" in words
    sly = replace(cured, cure="see [here](https://evil.example) <!channel>\n**now**")
    told = told_with(None, SeenBefore(1, 1e9, (sly,)))
    assert told and "](https://evil" not in print_markdown(told) and "<!" not in print_markdown(told)
    assert told_with(None, SeenBefore(1, 1e9, (plain,))) is None, "nothing to read and nothing that helped"
