"""A job script pasted into a message: read by the reader of scripts, which is loaded only then."""

from __future__ import annotations

from graph.extraction.sentences.choose import SaidValue
from knowledge.errors import InputError

TAKEN = (
    "machine",
    "framework",
    "strategy",
    "nodes",
    "gpus_per_node",
    "walltime",
    "model",
    "entry",
    "account",
    "queue",
    "args",
)
WORDS = "the script"


def script_values(text: str) -> dict[str, SaidValue]:
    """The fields of a pasted script; empty where it cannot be read."""
    from graph.extraction.script_record import understand_script

    try:
        record = understand_script(text)
    except InputError:
        return {}
    values = {name: getattr(record, name) for name in TAKEN}
    return {name: SaidValue(value, WORDS) for name, value in values.items() if value not in (None, "")}
