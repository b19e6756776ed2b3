"""Why did it fail? The attached log, or the message itself where the log was typed in."""

from __future__ import annotations

from pathlib import Path

from graph.debugging.diagnosis import diagnose as find_cause
from graph.state import State
from knowledge.errors import InputError
from knowledge.types import Diagnosis, Refusal


def is_only_words(found: Diagnosis) -> bool:
    """Whether a message tells of a failure without showing a line of it: `why did it hang?`."""
    return found.cause in ("no-failure", "unknown") and not found.evidence


def diagnose(state: State) -> State:
    paths = [Path(attachment.path) for attachment in state["attachments"]]
    try:
        found = find_cause(paths or state["text"])
        return State(outcome=None if is_only_words(found) and not paths else found)
    except InputError as error:
        return State(outcome=Refusal("I cannot read that log.", f"{str(error)[:1].upper()}{str(error)[1:]}."))
