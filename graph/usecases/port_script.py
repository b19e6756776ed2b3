"""A script that works on one machine, for another: the person's lines with the new machine's parts, and checked."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from graph.planning.patches import with_patches
from graph.porting.port import GOES_ALONG, Ported, carried_over, port
from graph.usecases.write_script import findings_of
from knowledge.cluster import Cluster
from knowledge.types import Finding, JobRequest, Refusal

SHOWN = tuple(name for name in GOES_ALONG if name not in ("args", "setup", "variables"))


@dataclass(frozen=True, slots=True)
class PortedScript:
    """The port with its account, and what the checks find in the new text."""

    ported: Ported
    findings: tuple[Finding, ...] = ()


def port_script(source: str, target: Cluster, request: JobRequest) -> PortedScript | Refusal:
    """The script for the target. request: what was said beside it, or all that holds now. Raises InputError."""
    made = port(source, target, said_beside(request, carried_over(source)))
    if isinstance(made, Refusal):
        return made
    plan, bundle = with_patches(made.plan, made.bundle, request.patches)
    return PortedScript(replace(made, plan=plan, bundle=bundle), findings_of(bundle, target))


def said_beside(request: JobRequest, carried: JobRequest) -> JobRequest:
    """The fields that do not come from the script."""
    same = {f.name: f.default for f in fields(JobRequest) if getattr(request, f.name) == getattr(carried, f.name)}
    beside = tuple(one for one in request.variables if one not in carried.variables)
    return replace(request, **{**same, "variables": beside})  # type: ignore[arg-type]


def taken_over(carried: JobRequest) -> str:
    """What a script gives to the request, in a sentence."""
    pairs = ((name, getattr(carried, name)) for name in SHOWN)
    taken = ", ".join(f"{name.replace('_', ' ')} `{value}`" for name, value in pairs if value is not None)
    origin = f" from {carried.source_machine}" if carried.source_machine else ""
    return f"From your script{origin} I take over: {taken or 'nothing that I could read'}."
