"""A script that works elsewhere, in a conversation: what it gives to the request, and what was said beside it."""

from __future__ import annotations

from dataclasses import fields, replace

from graph.porting.port import GOES_ALONG, Ported, carried_over, port
from knowledge.cluster import Cluster
from knowledge.types import JobRequest, Refusal

SHOWN = tuple(name for name in GOES_ALONG if name not in ("setup", "variables"))


def told(carried: JobRequest) -> str:
    """What was taken over, in a sentence."""
    pairs = ((name, getattr(carried, name)) for name in SHOWN)
    taken = ", ".join(f"{name.replace('_', ' ')} `{value}`" for name, value in pairs if value is not None)
    origin = f" from {carried.source_machine}" if carried.source_machine else ""
    return f"From your script{origin} I take over: {taken or 'nothing that I could read'}."


def ported(source: str, target: Cluster, request: JobRequest) -> Ported | Refusal:
    """The script for the target, with what was said since. Raises InputError as `port` does."""
    return port(source, target, said_beside(request, carried_over(source)))


def said_beside(request: JobRequest, carried: JobRequest) -> JobRequest:
    """The fields that do not come from the script."""
    same = {f.name: f.default for f in fields(JobRequest) if getattr(request, f.name) == getattr(carried, f.name)}
    return replace(request, **same)  # type: ignore[arg-type]
