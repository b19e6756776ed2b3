"""LSF's outputs: the table of bjobs with its reasons below each job, and the long form of `bjobs -l`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from knowledge.schedulers.records import Fields, Phase, QueuedJob, job_columns, read_job
from knowledge.schedulers.tables import phase_in

LONG_HEAD = re.compile(r"\s*Job <(?P<id>[^>]+)>,")
NAMED = re.compile(
    r"(Job Name|User|Project|Status|Queue|Command|CWD|Output File|Error File|Requested GPU|Requested Resources|"
    r"Dependency Condition|Specified Hosts|Specified start time)\s+<"
)


def phase_of(state: str) -> Phase:
    return phase_in("lsf", state.upper())


LISTED = job_columns(
    id="JOBID", name="JOB_NAME", user="USER", queue="QUEUE", account="PROJ_NAME", state="STAT",
    start="ESTIMATED_START_TIME|START_TIME", submitted="SUBMIT_TIME",
)  # fmt: skip


def listed_job(fields: Fields, reasons: Sequence[str]) -> QueuedJob:
    """A row of bjobs and the reasons printed below it."""
    row = dict(fields)
    said = row.get("PEND_REASON") or row.get("PEND_REASONS") or "; ".join(reasons)
    host = row.get("EXEC_HOST", "")
    phase = phase_of(row.get("STAT", ""))
    return read_job("lsf", fields, LISTED, phase=phase, reason=said, where="" if host == "-" else host)


def unwrapped(lines: Sequence[str]) -> str:
    """The head of `bjobs -l` as one line: it is cut at 80 characters, inside words too, and goes on after 21 blanks."""
    text = "".join(line if i == 0 else re.sub(r"^ {15,}", "", line) for i, line in enumerate(lines))
    return re.sub(r"\s*\n\s*", " ", text)


def long_job(head: str, rest: str, reasons: Sequence[str]) -> QueuedJob:
    """The long form: `Job <41>, Job Name <eval>, ..., Status <PEND>` and the dated events after it."""
    text = f"{head} {rest}"
    named = {m[1].strip(): value_at(text, m.end()) for m in NAMED.finditer(text)}
    if several := re.search(r"Specified Hosts\s+((?:<[^>]+>,?\s*)+)", text):
        named["Specified Hosts"] = ", ".join(re.findall(r"<([^>]+)>", several[1]))
    job = LONG_HEAD.match(head)
    limit = re.search(r"RUNLIMIT\s+(\d+(?:\.\d+)?) min", text)
    tasks = re.search(r"(\d+) (?:Task|Processors? Requested)", text)
    stopped = re.search(r"\bTERM_\w+: [^.;]*", text)
    hosts = re.search(
        r"[Ss]tarted .*?on (?:\d+ (?:Task\(s\) on )?Host\(?s?\)?/?(?:Processor\(?s?\)?)? )?((?:<[^>]+>\s*)+)", text
    )
    return QueuedJob(
        "lsf",
        id=job["id"] if job else "",
        name=named.get("Job Name", ""),
        user=named.get("User", ""),
        queue=named.get("Queue", ""),
        account=named.get("Project", ""),
        state=named.get("Status", ""),
        phase=phase_of(named.get("Status", "")),
        reason="; ".join(reasons) or (stopped[0] if stopped else ""),
        tasks=int(tasks[1]) if tasks else None,
        where=" ".join(re.findall(r"<([^>]+)>", hosts[1])) if hosts else "",
        limit=float(limit[1]) * 60 if limit else None,
        depends=named.get("Dependency Condition", ""),
        submitted=found[1] if (found := re.search(r"(\w{3} \w{3} +\d+ [\d:]{8}): Submitted from", text)) else "",
        exit_code=(found[1] if (found := re.search(r"Exited with exit code (\d+)", text)) else ""),
        fields=tuple(named.items()),
    )


def value_at(text: str, start: int) -> str:
    """What stands between the angle brackets that open before `start`; a `>` closes before `,`, `;`, `.` or a blank."""
    depth = 1
    for i in range(start, len(text)):
        closes = text[i] == ">" and not text[i + 1 : i + 2].isalnum() and text[i + 1 : i + 2] != "="
        depth += 1 if text[i] == "<" else -1 if closes else 0
        if depth == 0:
            return text[start:i]
    return text[start:]
