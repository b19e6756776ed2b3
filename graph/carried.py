"""A script that works elsewhere, as the beginning of a request for another machine."""

from __future__ import annotations

from typing import cast

from graph.extraction.script_record import ScriptRecord, understand_script
from knowledge.errors import InputError
from knowledge.types import FRAMEWORKS, STRATEGIES, Framework, Heard, JobRequest, Strategy

# What is the program's own goes along; account, queue and container belong to the machine that is left.
GOES_ALONG = ("framework", "strategy", "total_gpus", "walltime", "model", "entry", "args")


def carried_over(text: str) -> JobRequest | None:
    """What the script says about the job itself; None where the text cannot be read as a script.

    GPUs go along as a total: nodes of the new machine may hold another number.
    """
    try:
        record = understand_script(text)
    except InputError:
        return None
    total = record.total_gpus
    if record.nodes and record.gpus_per_node:
        total = record.nodes * record.gpus_per_node
    return JobRequest(
        source_machine=record.machine,
        framework=framework(record),
        strategy=cast(Strategy, record.strategy) if record.strategy in STRATEGIES else None,
        total_gpus=total,
        walltime=record.walltime,
        model=record.model,
        entry=record.entry,
        args=record.args or None,
        heard=tuple(Heard(name, "script", "the script") for name in GOES_ALONG if getattr(record, name) is not None),
    )


def framework(record: ScriptRecord) -> Framework | None:
    return cast(Framework, record.framework) if record.framework in FRAMEWORKS else None


def told(carried: JobRequest) -> str:
    """What was taken over, in a sentence."""
    pairs = ((name, getattr(carried, name)) for name in GOES_ALONG)
    taken = ", ".join(f"{name.replace('_', ' ')} `{value}`" for name, value in pairs if value is not None)
    origin = f" from {carried.source_machine}" if carried.source_machine else ""
    return f"From your script{origin} I take over: {taken or 'nothing that I could read'}."
