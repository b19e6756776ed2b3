"""Slurm's outputs: squeue, sacct, sprio, sshare, sinfo, and the Key=Value blocks of scontrol."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from knowledge.data_file import read_data
from knowledge.schedulers.blocks import LineBlock, read_pairs
from knowledge.schedulers.records import Fields, Kind, Phase, QueuedJob, job_columns, read_job, whole_number
from knowledge.schedulers.times import printed_seconds
from knowledge.word_lists import word_set

_DATA: Mapping[str, Any] = read_data(Path(__file__).with_name("slurm_columns.yaml"))
# The short form, the word, what it is for a person.
STATES: tuple[tuple[str, str, Phase], ...] = tuple((short, word, phase) for short, word, phase in _DATA["states"])
# Command -> column -> what stands in it; the letters of its `-o`, and the column that each prints.
COLUMNS: Mapping[str, dict[str, str]] = {
    command: {name: kind for kind, names in by_kind.items() for name in names.split()}
    for command, by_kind in _DATA["columns"].items()
}
LETTERS: Mapping[str, Mapping[str, str]] = _DATA["letters"]
# The first key of a block and the command that prints it.
BLOCKS: Mapping[str, tuple[str, Kind]] = {head: tuple(told) for head, told in _DATA["blocks"].items()}
HEADS: Mapping[str, str] = _DATA["heads"]
ASKED = {name: BLOCKS[head] for name, head in HEADS.items()}
# Keys of its limits, for a part that was cut out of it: `GrpTRES`, `MaxJobsPU`, `GrpTRESMins`.
ASSOC_KEYS = re.compile(r"(?:Grp|Max|Min)(?:TRES|Jobs|Submit|Wall)\w*")
# A part of such a block is pasted without its head: two of these keys, or one of the first, stand in no other output.
OWN_KEYS, JOB_KEYS, PARTITION_KEYS = (word_set(_DATA[name]) for name in ("own_keys", "job_keys", "partition_keys"))


def state_phase(state: str) -> Phase:
    """The phase of a job by its state, short or long, cut by a column or not (`OUT_OF_ME+`, `CANCELLED by 51234`)."""
    word = state.split(" ")[0].rstrip("+").upper()
    for short, name, phase in STATES:
        if word in (short, name):
            return phase
    cut = [phase for _, name, phase in STATES if len(word) > 3 and name.startswith(word)]
    return cut[0] if cut else "unknown"


def state_name(state: str) -> str:
    """The whole word of a state."""
    word = state.split(" ")[0].rstrip("+").upper()
    for short, name, _ in STATES:
        if word in (short, name) or (len(word) > 3 and name.startswith(word)):
            return name
    return word


def bare(reason: str) -> str:
    """A reason without its brackets; also where a column has cut the closing one."""
    return reason.strip().removeprefix("(").removesuffix(")").strip()


QUEUED = job_columns(
    id="JOBID|ARRAY_JOB_ID", name="NAME", user="USER", queue="PARTITION", account="ACCOUNT", qos="QOS",
    nodes="NODES|NUM_NODES", tasks="TASKS", elapsed="TIME|TIME_USED", limit="TIME_LIMIT|TIMELIMIT", start="START_TIME",
    submitted="SUBMIT_TIME",
)  # fmt: skip
ACCOUNTED = job_columns(
    id="JobID|JobIDRaw", name="JobName", user="User", queue="Partition", account="Account", qos="QOS", state="State",
    reason="Reason", nodes="NNodes|AllocNodes|ReqNodes", where="NodeList", elapsed="Elapsed", limit="Timelimit",
    start="Start", submitted="Submit", exit_code="ExitCode",
)  # fmt: skip
BLOCK = job_columns(
    name="JobName", queue="Partition", account="Account", qos="QOS", state="JobState", reason="Reason",
    tasks="NumTasks", where="NodeList|SchedNodeList", elapsed="RunTime", limit="TimeLimit", submitted="SubmitTime",
    exit_code="ExitCode", depends="Dependency",
)  # fmt: skip


def queue_job(fields: Fields) -> QueuedJob:
    """A row of squeue."""
    row = dict(fields)
    state, reason, shown = row.get("ST") or row.get("STATE", ""), row.get("REASON", ""), row.get("NODELIST(REASON)", "")
    listed = (row.get("NODELIST") or row.get("SCHEDNODES", "")).replace("(null)", "")
    bracketed = shown.startswith("(")
    waits = bracketed or row.get("REASON", "None") != "None"
    job = read_job(
        "slurm",
        fields,
        QUEUED,
        state=state,
        phase=state_phase(state) if state else "waiting" if waits else "unknown",
        reason=reason or (bare(shown) if bracketed else ""),
        where=listed or ("" if bracketed else shown),
        depends=row.get("DEPENDENCY", "").replace("(null)", ""),
    )
    if job.limit is not None or job.phase != "waiting":
        return job
    # Of a job that has not begun the time that is left (`%L`) is its whole limit.
    return replace(job, limit=printed_seconds(row.get("TIME_LEFT", "")))


def accounted_job(fields: Fields) -> QueuedJob:
    """A row of sacct: a job, or a step of one (`71208.batch`)."""
    return read_job("slurm", fields, ACCOUNTED, phase=state_phase(dict(fields).get("State", "")))


def block_job(fields: Fields) -> QueuedJob:
    """A block of `scontrol show job`, or a part of one."""
    row = {key: "" if value in ("(null)", "N/A", "None assigned") else value for key, value in fields}
    job = read_job(
        "slurm",
        tuple(row.items()),
        BLOCK,
        id=block_id(row),
        user=row.get("UserId", "").split("(")[0],
        phase=state_phase(row.get("JobState", "")),
        nodes=whole_number(row.get("NumNodes", "") or asked_nodes(row.get("ReqTRES", ""))),
        start=row.get("StartTime", "").replace("Unknown", ""),
    )
    return replace(job, fields=fields)


def asked_nodes(tres: str) -> str:
    """`4` of `cpu=64,mem=200G,node=4`."""
    found = re.search(r"(?:^|,)node=(\d+)", tres)
    return found[1] if found else ""


def block_id(row: Mapping[str, str]) -> str:
    task = row.get("ArrayTaskId", "")
    if not (row.get("ArrayJobId") and task):
        return row.get("JobId", "")
    # The tasks that wait together, as squeue writes them.
    return f"{row['ArrayJobId']}_{task}" if task.isdigit() else f"{row['ArrayJobId']}_[{task}]"


def block_kind(pairs: Fields) -> tuple[str, Kind] | None:
    """The command that printed such a block; None where it is none of Slurm's."""
    if known := BLOCKS.get(pairs[0][0]):
        return known
    keys = {key for key, _ in pairs}
    if keys & OWN_KEYS or (len(keys & JOB_KEYS) >= 2 and not keys & PARTITION_KEYS):
        return BLOCKS["JobId"]
    if ASSOC_KEYS.fullmatch(pairs[0][0]):
        return BLOCKS["QOS"]
    return BLOCKS["PartitionName"] if keys & PARTITION_KEYS else None


def split_blocks(block: LineBlock) -> list[LineBlock]:
    """The blocks of several jobs, partitions or reservations that stand without an empty line between them.

    Lines without a head that were cut out of two commands' outputs stand below each other too: a new part begins where
    the settings of a partition follow those of a job, or the other way round.
    """
    heads = {i for i, line in enumerate(block.lines) if line.lstrip().split("=")[0] in BLOCKS}
    kinds = [part_kind(line) for line in block.lines]
    first = min(heads, default=len(kinds))
    told = [(i, kind) for i, kind in enumerate(kinds[:first]) if kind]
    changes = {i for (_, before), (i, kind) in itertools.pairwise(told) if kind != before}
    cuts = sorted({0, *heads, *changes, len(block.lines)})
    return [LineBlock(block.first + a, block.lines[a:b]) for a, b in itertools.pairwise(cuts)]


def part_kind(line: str) -> str:
    """Whether a line of settings is one of a job or of a partition; empty where it may be either."""
    keys = {key for key, _ in read_pairs([line])}
    own, theirs = len(keys & JOB_KEYS), len(keys & PARTITION_KEYS)
    return "job" if own > theirs else "partition" if theirs > own else ""
