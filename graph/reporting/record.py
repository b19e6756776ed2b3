"""A diagnosis as the record of a job: what is counted by reports and incidents."""

from __future__ import annotations

import re
from dataclasses import replace

from graph.debugging.log import printable
from knowledge.job_record import JobRecord
from knowledge.types import Diagnosis

LONGEST_LINE = 300
LONGEST_MARK = 160
# What differs between two jobs that say the same: paths, addresses, numbers, names that masking found.
VARIES = (
    (re.compile(r"(?:<[A-Z]{2,8}_\d+>|<hidden>)(?:/[^\s'\":,)]*)?"), "NAME"),
    (re.compile(r"(?:/[\w.@+~%=,-]+){2,}/?|\b[\w.-]+(?:/[\w.@+-]+){2,}"), "PATH"),
    (re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{8,}(?:-[0-9a-f]{4,})*\b"), "HEX"),
    (re.compile(r"\b[a-z][a-z-]{0,12}\d{1,6}(?:[-.][\w-]+)*\b(?=[\]: ,]|$)"), "HOST"),
    (re.compile(r"(?<!Errno )(?<!Errno -)(?<!\d)\d+(?:[.:,_]\d+)*"), "0"),
    (re.compile(r"\s+"), " "),
)
# Where a time limit or a person's wish ended the job, the node in the line is only where its script ran.
NOT_OF_A_NODE = ("sched-time-limit", "sched-cancelled", "sched-preempted")
OF_FILES = ("env-disk", "env-file-missing", "env-permission", "fw-checkpoint", "fw-dataloader", "env-shared-library")
MODULES = {"env-python-package": ("package", "module"), "env-module": ("module", "name")}
# Folders under which sites mount one file system each; elsewhere the first folder is the mount point.
MOUNTS = ("mnt", "lustre", "gpfs", "lfs", "work", "vast", "ceph", "pfs", "net", "global", "eagle", "grand")


def record_of(found: Diagnosis, job: str = "", *, names: bool = False, **known: object) -> JobRecord:
    """The record of a diagnosed job; `known` are fields of JobRecord that the caller knows (nodes, queue, times ...).

    The telling line is masked: names of people, also those of their folders; with `names` only keys and passwords.
    """
    told = found.evidence[0].text if found.evidence else ""
    facts = {**dict(found.captured), **dict(found.facts)}
    told = printable(told)[:LONGEST_LINE]
    from knowledge.masking import mask

    line = mask(told).text
    node = facts.get("node", "")
    made = JobRecord(
        job,
        found.cause,
        round(found.confidence, 2),
        line=told if names else line,
        mark=mark_of(line),
        signature=found.signature,
        ended_on=tuple(filter(None, facts.get("ended_on", "").split(", "))),
        blamed=(node,) if node and found.cause not in NOT_OF_A_NODE else (),
        module=next((facts[n] for n in MODULES.get(found.cause, ()) if n in facts), ""),
        filesystem=mount_of(facts.get("path", "")) if found.cause in OF_FILES else "",
    )
    return replace(made, **known)  # type: ignore[arg-type]


def mark_of(line: str) -> str:
    """The line without what differs between jobs that say the same."""
    for pattern, name in VARIES:
        line = pattern.sub(name, line)
    return line.strip()[:LONGEST_MARK]


def mount_of(path: str) -> str:
    """The mount point as sites usually have them: the first folder, or two below /mnt, /lustre and their like."""
    parts = [part for part in path.split("/") if part] if path.startswith("/") else []
    if len(parts) < 2:
        return ""
    return "/" + "/".join(parts[:2] if parts[0] in MOUNTS and len(parts) > 2 else parts[:1])
