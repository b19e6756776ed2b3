"""Why did it fail? The attached log, or the message itself where the log was typed in."""

from __future__ import annotations

from pathlib import Path

from langgraph.runtime import Runtime

from graph.context import Context
from graph.debugging.counting import counted
from graph.debugging.diagnosis import diagnose as find_cause
from graph.debugging.log import from_paths, from_text
from graph.modelling.diagnosing import Helped, help_with, is_unsure
from graph.state import State
from knowledge.errors import InputError
from knowledge.types import Diagnosis, Passage, Refusal, Say, Working


def is_only_words(found: Diagnosis) -> bool:
    """Whether a message tells of a failure without showing a line of it: `why did it hang?`."""
    return found.cause in ("no-failure", "unknown") and not found.evidence


def diagnose(state: State, runtime: Runtime[Context]) -> State:
    paths = [Path(attachment.path) for attachment in state["attachments"]]
    try:
        context = runtime.context
        found = find_cause(counted(paths, context.tell, context.stopped) if paths else state["text"])
        if is_only_words(found) and not paths:
            return State(outcome=None)
        helped = with_model(found, paths, state["text"], runtime)
        said = (Say(helped.trouble),) if helped.trouble else ()
        return State(outcome=helped.diagnosis, said=(*state["said"], *said))
    except InputError as error:
        return State(outcome=Refusal("I cannot read that log.", f"{str(error)[:1].upper()}{str(error)[1:]}."))


def with_model(found: Diagnosis, paths: list[Path], text: str, runtime: Runtime[Context]) -> Helped:
    """What a model reads in a log of which the rules are not sure, with what is known about its lines."""
    models = runtime.context.model
    if models is None or not is_unsure(found):
        return Helped(found)
    runtime.context.tell(Working("asking the language model"))
    sources = from_paths(paths) if paths else [from_text(text)]
    return help_with(found, sources, models, passages(found, runtime.context), runtime.context.stopped)


def passages(found: Diagnosis, context: Context) -> list[Passage]:
    """What was read in that speaks of the log's own lines."""
    lines = " ".join(evidence.text for evidence in found.evidence[:2])
    return context.knowledge.search(lines, limit=3) if context.knowledge and lines else []
