"""PBS's outputs: the tables of qstat, the settings of `qstat -f`, and its JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping

from knowledge.schedulers.records import Fields, Phase, QueuedJob, job_columns, read_job, whole_number
from knowledge.schedulers.tables import phase_in
from knowledge.schedulers.times import printed_seconds

# pbsnodes -aSj: free / in all, of memory, cores, MICs and GPUs in this order.
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
    return phase_in("pbs", state)


LISTED = job_columns(
    name="Name|Jobname", user="User|Username", queue="Queue", state="S", nodes="NDS", tasks="TSK",
)  # fmt: skip
SETTINGS = job_columns(
    name="Job_Name", queue="queue", account="Account_Name|project", reason="comment", where="exec_host",
    elapsed="resources_used.walltime", start="estimated.start_time|stime", submitted="qtime|ctime",
    exit_code="Exit_status", depends="depend",
)  # fmt: skip


def table_job(fields: Fields, comment: str = "") -> QueuedJob:
    """A row of qstat, in any of its tables, with the comment below it (`qstat -s`) or behind it (`qstat -was1`)."""
    row = dict(fields)
    clocks = [value for key, value in fields if key == "Time"]
    asked = clocks[0] if len(clocks) > 1 or (clocks and "NDS" in row) else ""
    used = clocks[1] if len(clocks) > 1 else row.get("Time Use", "")
    return read_job(
        "pbs",
        fields,
        LISTED,
        id=bare_id(row.get("Job id") or row.get("Job ID") or row.get("Jobid") or ""),
        phase=phase_of(row.get("S", "")),
        reason=comment,
        elapsed=printed_seconds(used, "h:m"),
        limit=printed_seconds(asked, "h:m"),
        start=row.get("Start", "").replace("--", ""),
    )


def settings_job(job: str, fields: Fields) -> QueuedJob:
    """The settings of `qstat -f`, in text or JSON."""
    row = dict(fields)
    comment = row.get("comment", "")
    state = row.get("job_state", "") or ("Q" if re.match(r"(?:Not Running|Can Never Run)", comment) else "")
    held = row.get("Hold_Types", "n") != "n" or comment.lower().startswith("job held")
    state = state or ("H" if held else "F" if "Exit_status" in row else "")
    return read_job(
        "pbs",
        fields,
        SETTINGS,
        id=bare_id(job),
        user=row.get("Job_Owner", "").split("@")[0],
        state=state,
        phase=phase_of(state),
        nodes=whole_number(row.get("Resource_List.nodect", "") or chunk_count(row.get("Resource_List.select", ""))),
        limit=printed_seconds(row.get("Resource_List.walltime", ""), "h:m"),
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
