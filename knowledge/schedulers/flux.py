"""Flux's outputs: the table of `flux jobs` and the events of `flux job eventlog`."""

from __future__ import annotations

import re

from knowledge.data_file import parse_json
from knowledge.schedulers.records import Fields, Phase, QueuedJob, job_columns, read_job
from knowledge.schedulers.tables import DATA, phase_in
from knowledge.schedulers.times import printed_seconds

EVENT = re.compile(
    r"\s*(?:\[\s*[^\]]+\]|\d{9,}\.\d+|\d{4}-\d\d-\d\dT\S+)\s+"
    r"(?P<name>submit|validate|dependency-add|dependency-remove|depend|priority|alloc|start|finish|release|free|clean|"
    r"exception|urgency|jobspec-update|resource-update|annotations|flag-set|memo|prolog-start|prolog-finish|"
    r"epilog-start|epilog-finish|debug\.\S+|invalidate)\b(?P<rest>.*)"
)

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def short_id(number: int) -> str:
    """The id as Flux prints it and as its commands take it (RFC 19): 53653536768 is `ƒ2QkBQDm`."""
    digits = ""
    while number:
        number, digit = divmod(number, 58)
        digits = BASE58[digit] + digits
    return f"ƒ{digits or BASE58[0]}"


def phase_of(state: str) -> Phase:
    return phase_in("flux", state.upper())


LISTED = job_columns(
    id="JOBID|ID", name="NAME", user="USER", queue="QUEUE", account="BANK", state="ST|STATE|STATUS", nodes="NNODES",
    tasks="NTASKS", depends="DEPENDENCIES",
)  # fmt: skip


def listed_job(fields: Fields) -> QueuedJob:
    """A row of `flux jobs`; TIME is what was asked for while it waits, and what it has run after that."""
    row = dict(fields)
    phase = phase_of(row.get("ST") or row.get("STATE") or row.get("STATUS") or "")
    clock, info = printed_seconds(row.get("TIME", "")), row.get("INFO", "")
    length = {"limit" if phase == "waiting" else "elapsed": clock}
    place = {"waiting": {"reason": info}, "running": {"where": info}}.get(phase, {})
    return read_job("flux", fields, LISTED, phase=phase, **length, **place)


def event_of(line: str) -> tuple[str, str] | None:
    """The name of an event and what is told with it, from a line of text or of JSON; None where it is neither."""
    if found := EVENT.match(line):
        return found["name"], found["rest"].strip()
    if line.lstrip().startswith('{"timestamp"'):
        try:
            event = parse_json(line)
            return str(event["name"]), " ".join(f'{k}="{v}"' for k, v in event.get("context", {}).items())
        except (ValueError, KeyError, AttributeError):
            return None
    return None


def job_of_events(job: str, events: Fields) -> QueuedJob:
    """The job as its events leave it: the state after the last one, and what holds it or stopped it."""
    state, waits = "D", dict[str, None]()
    reason = ""
    for name, rest in events:
        state = DATA["after"].get(name, state)
        if name == "dependency-add":
            waits[described(rest)] = None
        elif name == "dependency-remove":
            waits.pop(described(rest), None)
        elif name == "exception" and "severity=0" in rest.replace('"', ""):
            state, reason = "F", noted(rest)
        elif name in ("submit", "urgency") and "urgency=" in rest:
            reason = "held" if re.search(r"urgency=\"?0\b", rest) else ""
    if state == "D" and waits:
        reason = "depends:" + ",".join(waits)
    return QueuedJob("flux", id=job, state=state, phase=phase_of(state), reason=reason, fields=events)


def described(rest: str) -> str:
    found = re.search(r'description="([^"]*)"', rest)
    return found[1] if found else rest


def noted(rest: str) -> str:
    """The note of an exception with its type before it."""
    kind, note = re.search(r'type="([^"]*)"', rest), re.search(r'note="((?:\\.|[^"\\])*)"', rest)
    return f"{kind[1] if kind else ''}: {note[1] if note else rest}".replace('\\"', '"').removeprefix(": ")
