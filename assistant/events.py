"""What a session may say. Every door draws these and nothing else, so all doors say the same."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Literal

from knowledge.document import Document
from knowledge.printable import printable
from knowledge.types import Diagnosis, Made, Question, Refusal, Said, Say, Working, Writing

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True)
class Text:
    """Words, in Markdown."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in parts."""

    document: Document
    type: Literal["answer"] = "answer"


@dataclass(frozen=True, slots=True)
class Asked:
    """The one thing that is asked next."""

    question: Question
    type: Literal["question"] = "question"


@dataclass(frozen=True, slots=True)
class Script:
    """A script was made or changed."""

    made: Made
    type: Literal["script"] = "script"


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """Why a job failed."""

    diagnosis: Diagnosis
    type: Literal["diagnosis"] = "diagnosis"


@dataclass(frozen=True, slots=True)
class Refused:
    """What cannot be done, and the ways round it."""

    refusal: Refusal
    type: Literal["refusal"] = "refusal"


@dataclass(frozen=True, slots=True)
class Report:
    """What a command of the chat found, such as /check: lines as they are."""

    text: str
    type: Literal["report"] = "report"


@dataclass(frozen=True, slots=True)
class Error:
    """Something went wrong here; one line that says what to do next."""

    text: str
    type: Literal["error"] = "error"


@dataclass(frozen=True, slots=True)
class Chip:
    """One field of the request as it stands: known (said), assumed (and why), or missing."""

    field: str
    value: str
    state: Literal["known", "assumed", "missing"]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """The request as it stands after the turn."""

    chips: tuple[Chip, ...]
    type: Literal["known"] = "known"


@dataclass(frozen=True, slots=True)
class Done:
    """The turn is over and stored."""

    turn: int
    type: Literal["done"] = "done"


@dataclass(frozen=True, slots=True)
class Streaming:
    """A piece of the answer while it is still worded; the answer itself follows whole. Never stored."""

    text: str
    type: Literal["streaming"] = "streaming"


@dataclass(frozen=True, slots=True)
class Progress:
    """What takes time, done of total (0 of 0: nobody can know). Never stored."""

    what: str
    done: int = 0
    total: int = 0
    type: Literal["progress"] = "progress"


Kept = Text | Answer | Asked | Script | Diagnosed | Refused | Report | Error | Known | Done
Passing = Streaming | Progress
Event = Kept | Passing


def event_of(said: Said) -> Kept:
    """What the graph said, as an event."""
    match said:
        case Say():
            return Text(said.text)
        case Document():
            return Answer(said)
        case Question():
            return Asked(said)
        case Made():
            return Script(said)
        case Diagnosis():
            return Diagnosed(said)
        case Refusal():
            return Refused(said)


def passing(part: Writing | Working) -> Passing:
    """What a node streamed, as an event."""
    match part:
        case Writing():
            return Streaming(printable(part.text))
        case Working():
            return Progress(printable(part.what), part.done, part.total)


def kept(events: Iterable[Event]) -> list[Kept]:
    """The answer itself, without what only passed by while it was made."""
    return [event for event in events if not isinstance(event, Passing)]


def to_json(events: Iterable[Event]) -> str:
    """The answer's events as a JSON list, which `from_json` reads back."""
    return json.dumps([asdict(event) for event in kept(events)], ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> list[Kept]:
    """The events of a stored answer. Raises ValueError where the text is none, or one of another version."""
    return _stored_events().validate_json(text)


@cache
def _stored_events() -> TypeAdapter[list[Kept]]:
    from pydantic import Field, TypeAdapter  # building it costs as much as a tenth of a turn: only who reads pays

    return TypeAdapter(list[Annotated[Kept, Field(discriminator="type")]])
