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
from assistant.storage.diagnoses import Diagnoses
from assistant.turns import Turn
from graph.debugging.log import LogSource, NotTextError, blocks
from graph.reading.message import take_apart
from knowledge.masking import Masker
from knowledge.signatures.loader import library

SCHEMA_VERSION = 2
OTHER = "other"
# A log up to this size is kept whole; of a longer one its head, its end and the lines about the evidence.
WHOLE, HEAD, TAIL, AROUND = 200_000, 100, 200, 40


@dataclass(frozen=True, slots=True)
class LabelledCase:
    """One labelled case. verdict: helpful or wrong; cause: what was answered; expected: what a person says it is.

    fix: what cured it. line: the line of the log that shows it.
    """

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
    fix: str = ""
    line: str = ""


@dataclass(frozen=True, slots=True)
class Correction:
    """What a person says instead: the cause, what cured it, the line that shows it, and a word of their own."""

    expected: str = ""
    fix: str = ""
    line: str = ""
    comment: str = ""


NOTHING_SAID = Correction()


def corrected(case: LabelledCase, said: Correction, *, private: bool) -> LabelledCase:
    """The case with a correction, its words masked. Of a direct message the cause only."""
    if private:
        return replace(case, expected=said.expected)
    masker = Masker()
    fix, line, comment = (masker.mask(text.strip()).text for text in (said.fix, said.line, said.comment))
    return replace(case, expected=said.expected, fix=fix, line=line, comment=comment)


def now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def label_of(case: LabelledCase) -> str:
    """The cause that is right: what a person says it is, or what was answered where that helped; empty: not known."""
    named = case.expected if case.expected != OTHER else ""
    return named or (case.cause if case.verdict == "helpful" else "")


def case_of(verdict: str, turn: Turn | None, *, private: bool) -> LabelledCase:
    """A case from the turn that was judged, masked. Of a direct message: no words, no log, no script."""
    case = LabelledCase(verdict, now())
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
    logs += [log.text for log in take_apart(turn.text).logs]
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
        for block in blocks(LogSource(None, path=path)):
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

    def put(self, answer: str, user: str, case: LabelledCase) -> None:
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

    def decided(self) -> dict[str, str]:
        """What was decided of proposed signatures, by id."""
        with self.store.reading() as talk:
            return dict(talk.execute("SELECT proposal, decision FROM reviews").fetchall())

    def decide(self, proposal: str, decision: str) -> None:
        with self.store.transaction(durable=True) as talk:
            talk.execute(
                "INSERT INTO reviews (proposal, decision, at) VALUES (?, ?, ?) "
                "ON CONFLICT (proposal) DO UPDATE SET decision = excluded.decision, at = excluded.at",
                (proposal, decision, now()),
            )

    def cases(self, since: str = "") -> Iterator[LabelledCase]:
        """The cases, oldest first. since: an ISO date."""
        query = "SELECT body FROM slack_feedback WHERE at >= ? ORDER BY at, answer"
        with self.store.transaction() as talk:
            rows = talk.execute(query, (since,)).fetchall()
        yield from (LabelledCase(**json.loads(body)) for (body,) in rows)


def keep_correction(
    store: Store, kept: Diagnoses, answer: str, user: str, thread: str, turn: Turn, said: Correction, verdict: str
) -> LabelledCase:
    """Store what a person said of an answer of their own conversation, and tell those who have the same next."""
    case = corrected(case_of(verdict, turn, private=False), said, private=False)
    Feedback(store).put(answer, user, case)
    cause = case.expected if case.expected in library().causes else ""
    kept.rate(thread, turn.number, verdict, case.fix, cause)
    return case


def as_line(case: LabelledCase) -> str:
    """One case as a line of JSON, as `maple-chat eval` reads it (docs/eval.md).

    `cause` is the label: what a person says it is, or what was answered where that helped; null where nobody knows.
    What was answered stands in `answered`. A case without a log, or without a label, is for a person to finish.
    """
    body = asdict(case)
    label = label_of(case)
    fields: dict[str, Any] = {
        "schema": SCHEMA_VERSION,
        "type": "log" if case.log or case.cause else "question",
        "id": f"feedback-{sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:12]}",
        "ask": case.question,
        **body,
        "cause": label or None,
        "answered": case.cause,
    }
    return json.dumps(fields, ensure_ascii=False)
