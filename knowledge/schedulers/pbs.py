"""PBS's outputs: the tables of qstat, the settings of `qstat -f`, and its JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping

from knowledge.schedulers.records import Fields, Phase, QueuedJob
from knowledge.schedulers.times import printed_seconds

# openpbs src/include/pbs_ifl.h and the manual of qstat (read 2026-11-22).
STATES: Mapping[str, Phase] = {
    "Q": "waiting",
    "H": "waiting",
    "W": "waiting",
    "T": "waiting",
    "R": "running",
    "B": "running",
    "E": "ending",
    "S": "suspended",
    "U": "suspended",
    "M": "ended",
    "X": "ended",
    "F": "ended",
    "C": "ended",
}
QSTAT = {
    "Job id": "id",
    "Job ID": "id",
    "Jobid": "id",
    **dict.fromkeys(
        ("Name", "User", "Queue", "Username", "Jobname", "SessID", "Memory", "Time Use", "Account"), "word"
    ),
    **dict.fromkeys(("NDS", "TSK"), "count"),
    "Time": "time",
    "S": "state",
    **dict.fromkeys(("Start", "Est"), "date"),
}
QUEUES = {
    "Queue": "word",
    **dict.fromkeys(["Max", "Tot", "Que", "Run", "Hld", "Wat", "Trn", "Ext"], "count"),
    **dict.fromkeys(("Ena", "Str", "Type"), "word"),
}
QUEUE_LIMITS = {
    **dict.fromkeys(("Queue", "Memory", "CPU Time", "Walltime", "Node"), "word"),
    **dict.fromkeys(("Run", "Que"), "count"),
    **dict.fromkeys(("Lm", "State"), "free"),
}
# pbsnodes -aSj: free / in all, of memory, cores, MICs and GPUs in this order.
NODES = {
    **dict.fromkeys(("vnode", "state", "jobs", "f/t"), "word"),
    **dict.fromkeys(("njobs", "run", "susp"), "count"),
}
FREE_OF_ALL = ("mem", "ncpus", "nmics", "ngpus")
# Settings that only a job of PBS has; one of them makes a block of settings an output of `qstat -f`.
JOB_SETTINGS = re.compile(
    r"(?:Job_Name|Job_Owner|job_state|substate|Hold_Types|comment|Resource_List\..*|resources_used\..*|run_count|"
    r"Exit_status|eligible_time|depend|qtime|etime|Execution_Time|estimated\..*|accrue_type|exec_vnode|exec_host|Submit_arguments)"
)
JOB_HEAD = re.compile(r"\s*Job Id:\s*(\S+)")


def bare_id(job: str) -> str:
    """`2361190` of `2361190.polari*`: what every command of PBS takes on its own machine. Arrays keep `[]`."""
    return job.split(".")[0]


def phase_of(state: str) -> Phase:
    return STATES.get(state, "unknown")


def table_job(fields: Fields, comment: str = "") -> QueuedJob:
    """A row of qstat, in any of its tables, with the comment below it (`qstat -s`) or behind it (`qstat -was1`)."""
    row = dict(fields)
    clocks = [value for key, value in fields if key == "Time"]
    state = row.get("S", "")
    asked = clocks[0] if len(clocks) > 1 or (clocks and "NDS" in row) else ""
    used = clocks[1] if len(clocks) > 1 else row.get("Time Use", "")
    return QueuedJob(
        "pbs",
        id=bare_id(row.get("Job id") or row.get("Job ID") or row.get("Jobid") or ""),
        name=row.get("Name") or row.get("Jobname") or "",
        user=row.get("User") or row.get("Username") or "",
        queue=row.get("Queue", ""),
        state=state,
        phase=phase_of(state),
        reason=comment,
        nodes=int(row["NDS"]) if row.get("NDS", "").isdigit() else None,
        tasks=int(row["TSK"]) if row.get("TSK", "").isdigit() else None,
        elapsed=printed_seconds(used, "h:m"),
        limit=printed_seconds(asked, "h:m"),
        start=row.get("Start", "").replace("--", ""),
        fields=fields,
    )


def settings_job(job: str, fields: Fields) -> QueuedJob:
    """The settings of `qstat -f`, in text or JSON."""
    row = dict(fields)
    comment = row.get("comment", "")
    state = row.get("job_state", "") or ("Q" if re.match(r"(?:Not Running|Can Never Run)", comment) else "")
    held = row.get("Hold_Types", "n") != "n" or comment.lower().startswith("job held")
    state = state or ("H" if held else "F" if "Exit_status" in row else "")
    nodes = row.get("Resource_List.nodect", "") or chunk_count(row.get("Resource_List.select", ""))
    return QueuedJob(
        "pbs",
        id=bare_id(job),
        name=row.get("Job_Name", ""),
        user=row.get("Job_Owner", "").split("@")[0],
        queue=row.get("queue", ""),
        account=row.get("Account_Name", "") or row.get("project", ""),
        state=state,
        phase=phase_of(state),
        reason=comment,
        nodes=int(nodes) if nodes.isdigit() else None,
        where=row.get("exec_host", ""),
        elapsed=printed_seconds(row.get("resources_used.walltime", "")),
        limit=printed_seconds(row.get("Resource_List.walltime", ""), "h:m"),
        start=row.get("estimated.start_time", "") or row.get("stime", ""),
        submitted=row.get("qtime", "") or row.get("ctime", ""),
        exit_code=row.get("Exit_status", ""),
        depends=row.get("depend", ""),
        fields=fields,
    )


def chunk_count(select: str) -> str:
    """The chunks that a select statement asks for: `4:ncpus=64+2` is 6."""
    counts = [part.split(":")[0] for part in select.split("+") if part]
    return str(sum(int(n) if n.isdigit() else 1 for n in counts)) if counts else ""


def flat(attributes: Mapping[str, object], prefix: str = "") -> Fields:
    """The attributes of `qstat -f -F json` under the names that the text form prints."""
    found: list[tuple[str, str]] = []
    for key, value in attributes.items():
        name = f"{prefix}{key}"
        found += flat(value, f"{name}.") if isinstance(value, dict) else [(name, str(value))]
    return tuple(found)
