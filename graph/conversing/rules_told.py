"""What a model is told of the rules' answer: what answers the message. Where they did not understand it, or may have
taken a number for another, nothing."""

from __future__ import annotations

from dataclasses import replace

from graph.answering.abstaining import NO_ANSWER, NOT_PLANNED
from graph.conversation import next_step, scripts
from graph.conversation.turn import TurnContext
from graph.conversing.read_sizes import doubtful, without_doubtful
from graph.planning.patches import LOST
from graph.reading.own_machine import YOURS, machine_told
from graph.state import State
from knowledge.document import Document, Paragraph
from knowledge.types import Diagnosis, LaunchBundle, Made, Question, Said, Say

# How a part begins that only says that some words were not understood, or what could be said next.
UNPLACED = tuple(one.partition("{")[0] for one in (next_step.UNPLACED, next_step.NOT_UNDERSTOOD))
STEPS = (next_step.SUBMIT, next_step.ACCOUNT, next_step.BEGIN, next_step.REPORT, next_step.WAITING, next_step.SEND_LOG)
EMPTY = (*UNPLACED, *(one.partition("{")[0] for one in STEPS), scripts.HOW_TO_CHANGE)
PART_LEFT = NOT_PLANNED.partition("{")[0]


def told_rules(ruled: State, turn: TurnContext) -> State:
    """The rules' state with the parts of their answer that a model may take over.

    Of a job, whose words they could not place all, or whose numbers may measure something else, they made another job:
    then nothing of it is left but a diagnosis.
    """
    said = tuple(ruled.get("said", ()))
    before, request = turn.state, ruled.get("request") or turn.request
    asked = turn.question.field if turn.question else ""
    doubted = doubtful(request, turn.words, asked)
    if ruled.get("unanswered"):
        said = ()
    elif is_beside_their_own(turn):
        said = tuple(one for one in said if isinstance(one, Diagnosis))
    elif doubted or any(isinstance(one, Say) and one.text.startswith(UNPLACED) for one in said):
        said = tuple(one for one in said if isinstance(one, Diagnosis | Document))
    kept = tuple(without_doubt(one) for one in said if not (is_empty(one, before.get("bundle")) or loses(one)))
    if doubted:
        ruled = State(**{**ruled, "request": without_doubtful(request, turn.words, turn.request, asked)})
    return State(**{**ruled, "said": kept})


def is_beside_their_own(turn: TurnContext) -> bool:
    """Whether a message speaks of a machine that is known and of one that nobody described: the rules read one."""
    find, told = turn.context.catalogue.find, machine_told(turn.words)
    return bool(told not in (None, YOURS) and find(str(told)) is None and any(map(find, turn.utterance.machines())))


def is_empty(part: Said, in_hand: LaunchBundle | None) -> bool:
    """Whether a part answers nothing: it is not understood, offers a search of the web, shows the script once more."""
    if isinstance(part, Say):
        return part.text.startswith(EMPTY) or NO_ANSWER in part.text
    if isinstance(part, Made):
        return part.bundle == in_hand and not part.diff
    return isinstance(part, Question) and part.field == "web"


def loses(part: Said) -> bool:
    """Whether a script of the rules has no more what was changed in the one in hand."""
    return isinstance(part, Made) and any(note.startswith(LOST.partition("{")[0]) for note in part.notes)


def without_doubt(part: Said) -> Said:
    """A plan's answer without the words that it did not place: the model reads the message itself."""
    if isinstance(part, Document) and part.parts and isinstance(first := part.parts[0], Paragraph):
        return replace(part, parts=part.parts[1:]) if first.text.startswith(PART_LEFT) else part
    return part
