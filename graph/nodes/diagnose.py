"""Why did it fail? The attached log, or the message itself where the log was typed in."""

from __future__ import annotations

from pathlib import Path

from graph.debugging.diagnosis import diagnose as find_cause
from graph.state import State
from knowledge.errors import InputError
from knowledge.types import Refusal


def diagnose(state: State) -> State:
    paths = [Path(attachment.path) for attachment in state["attachments"]]
    try:
        return State(outcome=find_cause(paths or state["text"]))
    except InputError as error:
        return State(outcome=Refusal("I cannot read that log.", f"{str(error)[:1].upper()}{str(error)[1:]}."))
