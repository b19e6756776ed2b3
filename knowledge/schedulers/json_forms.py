"""The JSON of `squeue --json`, `sacct --json`, `qstat -f -F json`, `bjobs -json` and `flux jobs --json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from knowledge.schedulers import flux, lsf, pbs, slurm
from knowledge.schedulers.records import Fields, QueuedJob, SchedulerOutput

# 9999-12-31 in seconds since 1970: no later moment can be written.
LAST_MOMENT = 253_402_214_400


def output_of_json(value: object, first: int, last: int) -> SchedulerOutput | None:
    """The jobs of a scheduler's JSON; None where the value is none of theirs."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("Jobs"), dict):
        made = tuple(pbs.settings_job(job, pbs.flat(told)) for job, told in value["Jobs"].items())
        return SchedulerOutput("pbs", "qstat -f", "jobs", first, last, made)
    if isinstance(value.get("RECORDS"), list):
        rows = [tuple((k, str(v)) for k, v in row.items()) for row in value["RECORDS"]]
        return SchedulerOutput("lsf", "bjobs", "jobs", first, last, tuple(lsf.listed_job(row, ()) for row in rows))
    if "job_id" in value and ("job_state" in value or "steps" in value):  # one of them, picked out by jq
        value = {"jobs": [value]}
    jobs = value.get("jobs")
    if isinstance(jobs, list) and all(isinstance(job, dict) for job in jobs):
        if any("t_submit" in job for job in jobs):
            return SchedulerOutput("flux", "flux jobs", "jobs", first, last, tuple(flux_job(job) for job in jobs))
        command, kind = ("sacct", "accounting") if any("steps" in job for job in jobs) else ("squeue", "jobs")
        return SchedulerOutput("slurm", command, kind, first, last, tuple(slurm_job(job) for job in jobs))  # type: ignore[arg-type]
    if "t_submit" in value:
        return SchedulerOutput("flux", "flux jobs", "jobs", first, last, (flux_job(value),))
    return None


def plain(value: object) -> str:
    """A value of Slurm's JSON as text: numbers come as {"set", "infinite", "number"}, states as lists of words."""
    if isinstance(value, dict):
        if value.get("infinite"):
            return "UNLIMITED"
        return str(value.get("number", "")) if value.get("set", True) and "number" in value else ""
    if isinstance(value, list):
        return ",".join(str(item) for item in value)
    return "" if value is None else str(value)


def moment(value: object) -> str:
    """Seconds since 1970 as ISO in UTC; empty for 0 and what is not set."""
    seconds = amount(value)
    return datetime.fromtimestamp(seconds, UTC).isoformat() if 0 < seconds < LAST_MOMENT else ""


def amount(value: object) -> float:
    """A count or length of a JSON's; 0 for none, and for what is no number."""
    try:
        found = float(plain(value) or 0)
    except ValueError:
        return 0.0
    return found if isfinite(found) and found >= 0 else 0.0


def whole(value: object) -> int | None:
    """A whole number of a JSON's; None for none, and for what is no number."""
    return int(amount(value)) if plain(value)[:1].isdigit() else None


def slurm_job(told: Mapping[str, Any]) -> QueuedJob:
    """A job of squeue's or sacct's JSON; before Slurm 23.02 numbers and states are plain."""
    state = told.get("job_state") or (told.get("state") or {}).get("current", "")
    name = plain(state).split(",")[0]
    times = told.get("time") if isinstance(told.get("time"), dict) else {}
    limit = plain(told.get("time_limit") or (times or {}).get("limit"))
    code = told.get("exit_code")
    fields: Fields = tuple(
        (key, plain(value)) for key, value in told.items() if not isinstance(value, (list, dict)) or plain(value)
    )
    array, task = plain(told.get("array_job_id")), plain(told.get("array_task_id"))
    job = plain(told.get("job_id"))
    return QueuedJob(
        "slurm",
        id=f"{array}_{task}" if array not in ("", "0") and task else job,
        name=plain(told.get("name")),
        user=plain(told.get("user_name") or told.get("user")),
        queue=plain(told.get("partition")),
        account=plain(told.get("account")),
        qos=plain(told.get("qos")),
        state=name,
        phase=slurm.state_phase(name),
        reason=plain(told.get("state_reason") or ((told.get("state") or {}).get("reason", ""))),
        nodes=whole(told.get("node_count") or told.get("allocation_nodes")),
        where=plain(told.get("nodes")),
        limit=amount(limit) * 60 if limit.isdigit() else None,
        elapsed=whole((times or {}).get("elapsed") or told.get("run_time")),
        start=moment(told.get("start_time") or (times or {}).get("start")),
        submitted=moment(told.get("submit_time") or (times or {}).get("submission")),
        exit_code=exit_words(code),
        depends=plain(told.get("dependency")),
        fields=fields,
    )


def exit_words(code: object) -> str:
    """`1:0` as sacct prints it: return code and signal."""
    if not isinstance(code, dict):
        return ""
    signal = code.get("signal") or {}
    number = plain(
        (signal.get("id") if isinstance(signal, dict) else "")
        or (signal.get("signal_id") if isinstance(signal, dict) else "")
    )
    return f"{plain(code.get('return_code')) or 0}:{number or 0}"


def flux_job(told: Mapping[str, Any]) -> QueuedJob:
    """A job of `flux jobs --json`."""
    fields: Fields = tuple((key, str(value)) for key, value in told.items())
    waits = ",".join(str(d) for d in told.get("dependencies") or ())
    job = flux.listed_job(fields)
    state = str(told.get("status") or told.get("state") or "")
    phase = flux.phase_of(state)
    planned = ((told.get("annotations") or {}).get("sched") or {}).get("t_estimate")
    held = "held" if told.get("urgency") == 0 and phase == "waiting" else ""
    wrong = told.get("exception") or {}
    ended = f"{wrong.get('type')}: {wrong.get('note')}" if wrong.get("occurred") else ""
    return replace(
        job,
        id=plain(told.get("jobid") or (flux.short_id(number) if isinstance(number := told.get("id"), int) else number)),
        name=plain(told.get("name")),
        user=plain(told.get("username")),
        queue=plain(told.get("queue")),
        account=plain(told.get("bank")),
        state=state,
        phase=phase,
        reason=held or (f"depends:{waits}" if waits else "priority-wait" if state == "PRIORITY" else ended),
        nodes=whole(told.get("nnodes")),
        tasks=whole(told.get("ntasks")),
        where=plain(told.get("nodelist")),
        limit=amount(told.get("duration")) or None,
        elapsed=amount(told.get("runtime")) or None,
        start=moment(planned),
        submitted=moment(told.get("t_submit")),
        fields=fields,
    )
