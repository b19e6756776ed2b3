"""What a conversation remembers. Small on purpose: it is written to disk after each turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from knowledge.types import (
    Assumption,
    Attachment,
    Diagnosis,
    Finding,
    Intent,
    JobRequest,
    LaunchBundle,
    LaunchPlan,
    Question,
    Refusal,
    Said,
)


class State(TypedDict, total=False):
    """Plain overwrite everywhere: a checkpointed counter or list that grows would live on into the next turn."""

    # This turn, written by the session.
    turn: int
    text: str
    attachments: Sequence[Attachment]

    # This turn, written by the nodes; the session empties them before each turn. again: the request was changed and
    # is to be written once more; tries counts the scripts of this turn. unanswered: nothing here
    # answers the question. searching: the web query that got a yes; empty for a no, None where none was offered.
    intent: Intent
    heard_nothing: bool
    outcome: LaunchPlan | Refusal | Diagnosis | None
    draft: LaunchBundle | None
    notes: Sequence[str]
    findings: Sequence[Finding]
    proof: Sequence[str]
    again: bool
    tries: int
    unanswered: bool
    searching: str | None
    said: Sequence[Said]

    # From turn to turn. source: the script that is carried over, if any. described: what was said of a machine that
    # nobody described here; stands_in: what is offered are other machines in its place. told: the assumptions and
    # notes that went with the newest script. agreed: the requests that led to a script, the newest last. refused: the
    # request that the last answer refused while a script stands. tried: the requests that failed, or that a failure
    # led to.
    # offered_search: the web query that waits for a yes. diagnosed: the newest failure; unhelped: the steps for it that
    # were tried and did not cure it. log_wanted: a failure was told without its log.
    # asked_last: the question that the last turn answered. pasted: a script that was only asked about.
    request: JobRequest
    source: str
    question: Question | None
    left_to_us: Sequence[Assumption]
    offered: Refusal | None
    offered_search: str
    described: str
    agreed: Sequence[JobRequest]
    refused: JobRequest | None
    stands_in: bool
    plan: LaunchPlan | None
    bundle: LaunchBundle | None
    told: Sequence[Assumption | str]
    tried: Sequence[str]
    diagnosed: Diagnosis | None
    unhelped: Sequence[str]
    log_wanted: bool
    asked_last: str
    pasted: str


def new_turn(turn: int, text: str, attachments: Sequence[Attachment] = ()) -> State:
    """The input of one turn: the message, and everything of the last turn emptied."""
    return State(
        turn=turn,
        text=text,
        attachments=attachments,
        intent="other",
        heard_nothing=False,
        outcome=None,
        draft=None,
        notes=(),
        findings=(),
        proof=(),
        again=False,
        tries=1,
        unanswered=False,
        searching=None,
        said=(),
    )
