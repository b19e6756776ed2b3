"""What a conversation remembers. Small on purpose: it is written to disk after each turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from graph.reading.utterance import Utterance
from knowledge.resource_question import ResourceQuestion
from knowledge.types import (
    Assumption,
    Attachment,
    Diagnosis,
    Exchange,
    Finding,
    Grounds,
    JobRequest,
    LaunchBundle,
    LaunchPlan,
    Offer,
    ParkedJob,
    Paste,
    Pending,
    Refusal,
    Revision,
    Said,
    ToldStatement,
)

# What a turn is for: to write or change a script, to read a log, to look on the web, or to answer in words.
Way = Literal["write", "diagnose", "web", "answer"]


class State(TypedDict, total=False):
    """Plain overwrite everywhere: a checkpointed counter or list that grows would live on into the next turn."""

    # This turn, written by the session.
    turn: int
    text: str
    attachments: Sequence[Attachment]

    # This turn, written by the nodes; the session empties them before each turn. words: the person's own;
    # act: what they are for, an id of acts.yaml;
    # understood: whether anything of them was; again: the request was changed and is to be written once more; tries
    # counts the scripts of this turn; unanswered: nothing here answers the question; searching: the web query that got
    # a yes, empty for a no, None where none was offered; reopened: a question that was open before comes again;
    # whole: beside its wish the message asks for the whole script.
    way: Way
    words: str
    utterance: Utterance | None
    act: str
    understood: bool
    outcome: LaunchPlan | Refusal | Diagnosis | None
    draft: LaunchBundle | None
    notes: Sequence[str]
    findings: Sequence[Finding]
    proof: Sequence[str]
    again: bool
    tries: int
    unanswered: bool
    searching: str | None
    reopened: bool
    whole: bool
    said: Sequence[Said]

    # From turn to turn. pending: what the last answer left open; earlier: what those before it offered and is still
    # open where a model leads. source: the script that is carried over to another
    # machine, own: the person's script that is edited in place. told: the assumptions and notes that
    # went with the newest script. revisions: the scripts agreed on, the newest last; undone: those taken back; jobs:
    # other jobs of this conversation. tried: the requests that failed, or that a failure led to. diagnosed: the newest
    # failure, logs what it was read from, output what a scheduler printed last; unhelped: the steps for it that were
    # tried and did not cure it.
    # files: what lies beside the scripts and came with a message, the newest last.
    # asked_last: the question that was answered last, answered: with what; last_topic, last_act, last_field: what it
    # was about;
    # resources: what was asked of GPUs, hours and machines so far.
    # talk: the last few turns, where a model leads; grounds: what its next answer may stand on of them.
    # since: what was said since the diagnosis; step: how far the way of a beginner was told.
    # own_machines: ids of those that the person has; the session hands them in and keeps what was said of them.
    # statements: what the last answers said, the newest first.
    # question_before, topic_before, act_before: of the turn before this one; last_machine: the one spoken of last.
    request: JobRequest
    pending: Pending | None
    earlier: Sequence[Offer]
    source: str
    own: Paste | None
    left_to_us: Sequence[Assumption]
    plan: LaunchPlan | None
    bundle: LaunchBundle | None
    told: Sequence[Assumption | str]
    revisions: Sequence[Revision]
    undone: Sequence[Revision]
    jobs: Sequence[ParkedJob]
    tried: Sequence[str]
    diagnosed: Diagnosis | None
    logs: Sequence[Paste]
    files: Sequence[Paste]
    output: str
    job: str
    unhelped: Sequence[str]
    asked_last: str
    answered: Sequence[Said]
    statements: Sequence[ToldStatement]
    question_before: str
    last_topic: str
    resources: ResourceQuestion | None
    topic_before: str
    act_before: str
    last_machine: str
    own_machines: Sequence[str]
    since: str
    step: int
    last_act: str
    last_field: str | None
    talk: Sequence[Exchange]
    grounds: Grounds


def new_turn(turn: int, text: str, attachments: Sequence[Attachment] = ()) -> State:
    """The input of one turn: the message, and everything of the last turn emptied."""
    return State(
        turn=turn,
        text=text,
        attachments=attachments,
        way="answer",
        words=text,
        utterance=None,
        act="",
        understood=True,
        outcome=None,
        draft=None,
        notes=(),
        findings=(),
        proof=(),
        again=False,
        tries=1,
        unanswered=False,
        searching=None,
        reopened=False,
        whole=False,
        said=(),
    )
