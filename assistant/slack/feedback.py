"""What people said of answers, kept as labelled cases: the question, the log, what was answered, what is right.

Everything is masked before it is stored (knowledge/masking.py). From a direct message only the causes are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from assistant.errors import InputError
from assistant.events import Diagnosed, Kept, Known, Script
from assistant.slack.database import Store
from assistant.turns import Turn
from graph.debugging.log import NotTextError, Source, blocks
from knowledge.masking import Masker

SCHEMA_VERSION = 1
# A log up to this size is kept whole; of a longer one its head, its end and the lines about the evidence.
WHOLE, HEAD, TAIL, AROUND = 200_000, 100, 200, 40


@dataclass(frozen=True, slots=True)
class Case:
    """One labelled case. verdict: helpful or wrong; cause: what was answered; expected: what a person says it is."""

    verdict: str
    at: str
    cause: str = ""
    confidence: float = 0.0
    expected: str = ""
    comment: str = ""
    question: str = ""
    log: str = ""
    machine: str = ""
    script: str = ""


def case_of(verdict: str, turn: Turn | None, *, private: bool) -> Case:
    """A case from the turn that was judged, masked. Of a direct message: no words, no log, no script."""
    case = Case(verdict, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    if turn is None:
        return case
    answer: Sequence[Kept] = turn.answer or ()
    found = [event.diagnosis for event in answer if isinstance(event, Diagnosed)]
    if found:
        case = replace(case, cause=found[-1].cause, confidence=round(found[-1].confidence, 2))
    if private:
        return case
    masker = Masker()
    lines = [line.line for diagnosis in found for line in diagnosis.evidence]
    logs = [excerpt(Path(attachment.path), lines) for attachment in turn.attachments]
    scripts = [event.made.bundle.script for event in answer if isinstance(event, Script)]
    chips = [chip for event in answer if isinstance(event, Known) for chip in event.chips]
    return replace(
        case,
        question=masker.mask(turn.text).text,
        log=masker.mask("\n".join(filter(None, logs))).text,
        script=masker.mask(scripts[-1]).text if scripts else "",
        machine=next((chip.value for chip in chips if chip.field == "machine"), ""),
    )


def excerpt(path: Path, lines: Sequence[int]) -> str:
    """A log as a diagnosis reads it; of a long one its head, its end and the lines about the evidence.

    Empty where it is no longer kept, or is no text.
    """
    wanted = {*range(1, HEAD + 1), *(near for line in lines for near in range(line - AROUND, line + AROUND + 1))}
    whole, size = b"", 0
    found: dict[int, bytes] = {}
    tail: dict[int, bytes] = {}
    try:
        for block in blocks(Source(None, path=path)):
            text, first = block.data[: block.limit], block.first_line
            size += len(text)
            whole = whole + text if size <= WHOLE else b""
            last = first + text.count(b"\n")
            if here := wanted & set(range(first, last + 1)):
                rows = text.split(b"\n")
                found |= {number: rows[number - first] for number in here}
            rows = text.rsplit(b"\n", TAIL)[-TAIL:]
            tail = dict([*(tail | dict(enumerate(rows, last - len(rows) + 1))).items()][-TAIL:])
    except (InputError, NotTextError):
        return ""
    told = whole if size <= WHOLE else b"\n".join(row for _, row in sorted((found | tail).items()))
    return told.decode(errors="replace")[:WHOLE]


class Feedback:
    """The table of cases: one for each answer and person, the last word counts. The person is stored as a hash."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def put(self, answer: str, user: str, case: Case) -> None:
        who = sha256(f"{answer} {user}".encode()).hexdigest()[:16]
        body = json.dumps(asdict(case), ensure_ascii=False)
        with self.store.transaction(durable=True) as talk:
            talk.execute(
                "INSERT INTO slack_feedback (answer, who, at, verdict, body) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (answer, who) DO UPDATE SET at = excluded.at, verdict = excluded.verdict, "
                "body = excluded.body",
                (answer, who, case.at, case.verdict, body),
            )

    def counts(self, since: str = "") -> dict[str, int]:
        """How many there are of each verdict. since: an ISO date."""
        query = "SELECT verdict, count(*) FROM slack_feedback WHERE at >= ? GROUP BY verdict ORDER BY verdict"
        with self.store.transaction() as talk:
            return {verdict: int(count) for verdict, count in talk.execute(query, (since,)).fetchall()}

    def cases(self, since: str = "") -> Iterator[Case]:
        """The cases, oldest first. since: an ISO date."""
        query = "SELECT body FROM slack_feedback WHERE at >= ? ORDER BY at, answer"
        with self.store.transaction() as talk:
            rows = talk.execute(query, (since,)).fetchall()
        yield from (Case(**json.loads(body)) for (body,) in rows)


def as_line(case: Case) -> str:
    """One case as a line of JSON."""
    fields: dict[str, Any] = {"schema": SCHEMA_VERSION, **asdict(case)}
    return json.dumps(fields, ensure_ascii=False)
