"""Slurm's outputs: squeue, sacct, sprio, sshare, sinfo, and the Key=Value blocks of scontrol."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

from knowledge.schedulers.blocks import LineBlock
from knowledge.schedulers.records import Fields, Kind, Phase, QueuedJob
from knowledge.schedulers.times import printed_seconds

# https://slurm.schedmd.com/job_state_codes.html (read 2026-11-22): the short form, the word, what it is for a person.
STATES: tuple[tuple[str, str, Phase], ...] = (
    ("PD", "PENDING", "waiting"),
    ("CF", "CONFIGURING", "starting"),
    ("R", "RUNNING", "running"),
    ("S", "SUSPENDED", "suspended"),
    ("ST", "STOPPED", "suspended"),
    ("SI", "SIGNALING", "running"),
    ("RS", "RESIZING", "running"),
    ("CG", "COMPLETING", "ending"),
    ("SO", "STAGE_OUT", "ending"),
    ("RQ", "REQUEUED", "waiting"),
    ("RF", "REQUEUE_FED", "waiting"),
    ("RH", "REQUEUE_HOLD", "waiting"),
    ("SE", "SPECIAL_EXIT", "waiting"),
    ("RD", "RESV_DEL_HOLD", "waiting"),
    ("CD", "COMPLETED", "ended"),
    ("CA", "CANCELLED", "ended"),
    ("F", "FAILED", "ended"),
    ("TO", "TIMEOUT", "ended"),
    ("NF", "NODE_FAIL", "ended"),
    ("OOM", "OUT_OF_MEMORY", "ended"),
    ("BF", "BOOT_FAIL", "ended"),
    ("DL", "DEADLINE", "ended"),
    ("PR", "PREEMPTED", "ended"),
    ("RV", "REVOKED", "ended"),
    ("LF", "LAUNCH_FAILED", "ended"),
)

SQUEUE = {
    **dict.fromkeys(("JOBID", "ARRAY_JOB_ID"), "id"),
    **dict.fromkeys(("ST", "STATE"), "state"),
    **dict.fromkeys(("TIME", "TIME_LIMIT", "TIMELIMIT", "TIME_LEFT", "TIME_MIN", "TIME_USED"), "time"),
    **dict.fromkeys(("NODES", "CPUS", "MIN_CPUS", "NUM_NODES", "NUM_CPUS", "TASKS", "PRIORITY", "NICE"), "number"),
    **dict.fromkeys(("START_TIME", "SUBMIT_TIME", "END_TIME", "ELIGIBLE_TIME"), "date"),
    **dict.fromkeys(("REASON", "NODELIST(REASON)", "COMMENT", "DEPENDENCY"), "free"),
    **dict.fromkeys(
        [
            "PARTITION",
            "NAME",
            "USER",
            "NODELIST",
            "SCHEDNODES",
            "QOS",
            "ACCOUNT",
            "MIN_MEMORY",
            "TRES_PER_NODE",
            "TRES_PER_JOB",
            "TRES_ALLOC",
            "GRES",
            "FEATURES",
            "EXEC_HOST",
            "WORK_DIR",
            "GROUP",
            "ARRAY_TASK_ID",
            "LICENSES",
            "RESERVATION",
            "REQ_NODES",
            "EXC_NODES",
            "WCKEY",
        ],
        "word",
    ),
}
SACCT = {
    **dict.fromkeys(("JobID", "JobIDRaw"), "id"),
    "State": "free",  # `CANCELLED by 51234`
    **dict.fromkeys(("Elapsed", "Timelimit", "TotalCPU", "CPUTime", "UserCPU", "Planned", "Reserved"), "time"),
    **dict.fromkeys(("Start", "End", "Submit", "Eligible"), "date"),
    **dict.fromkeys(
        ("AllocCPUS", "AllocNodes", "NNodes", "NTasks", "NCPUS", "ReqCPUS", "ReqNodes", "Restarts"), "count"
    ),
    **dict.fromkeys(
        [
            "JobName",
            "Partition",
            "Account",
            "User",
            "QOS",
            "ExitCode",
            "DerivedExitCode",
            "MaxRSS",
            "ReqMem",
            "AveRSS",
            "MaxVMSize",
            "NodeList",
            "ReqTRES",
            "AllocTRES",
            "Priority",
            "MaxRSSNode",
            "MaxRSSTask",
            "Cluster",
            "WorkDir",
            "Flags",
            "Group",
            "ElapsedRaw",
            "CPUTimeRAW",
        ],
        "word",
    ),
    "Reason": "free",
}
SPRIO = {
    "JOBID": "id",
    **dict.fromkeys(("PARTITION", "USER", "ACCOUNT"), "word"),
    **dict.fromkeys(["PRIORITY", "SITE", "AGE", "ASSOC", "FAIRSHARE", "JOBSIZE", "QOS", "NICE"], "number"),
    **dict.fromkeys(("QOSNAME", "TRES"), "word"),
}
SSHARE = {
    **dict.fromkeys(("Account", "User", "GrpTRESMins", "TRESRunMins"), "word"),
    **dict.fromkeys(
        ["RawShares", "NormShares", "RawUsage", "NormUsage", "EffectvUsage", "FairShare", "LevelFS"],
        "number",
    ),
}
SINFO = {
    **dict.fromkeys(
        ["PARTITION", "AVAIL", "STATE", "NODELIST", "NODES(A/I/O/T)", "GRES", "AVAIL_FEATURES", "ACTIVE_FEATURES"],
        "word",
    ),
    **dict.fromkeys(
        ["USER", "NODE", "HOSTNAMES", "CPUS(A/I/O/T)", "MEMORY", "S:C:T", "JOB_SIZE", "ROOT", "OVERSUBS", "GROUPS"],
        "word",
    ),
    **dict.fromkeys(("NODES", "CPUS"), "count"),
    "TIMELIMIT": "word",
    "TIMESTAMP": "date",
    "REASON": "free",
}
SACCTMGR = {
    **dict.fromkeys(("Name", "Cluster", "Account", "User", "Partition", "QOS", "Flags"), "word"),
    **dict.fromkeys(
        (
            *(
                "GrpTRES",
                "GrpTRESMins",
                "GrpTRESRunMins",
                "GrpJobs",
                "GrpSubmit",
                "GrpWall",
                "MaxTRES",
                "MaxTRESPerNode",
            ),
            *(
                "MaxTRESMins",
                "MaxWall",
                "MaxTRESPU",
                "MaxJobsPU",
                "MaxSubmitPU",
                "MaxTRESPA",
                "MaxJobsPA",
                "MaxSubmitPA",
            ),
            *("MinTRES", "MaxJobs", "MaxSubmit"),
        ),
        "word",
    ),
}
# The first key of a block and the command that prints it.
BLOCKS: Mapping[str, tuple[str, Kind]] = {
    "JobId": ("scontrol show job", "jobs"),
    "PartitionName": ("scontrol show partition", "queues"),
    "ReservationName": ("scontrol show reservation", "limits"),
    "LicenseName": ("scontrol show licenses", "limits"),
    "NodeName": ("scontrol show node", "nodes"),
    "ClusterName": ("scontrol show assoc_mgr", "limits"),
    "QOS": ("scontrol show assoc_mgr", "limits"),
}
# Keys of its limits, for a part that was cut out of it: `GrpTRES`, `MaxJobsPU`, `GrpTRESMins`.
ASSOC_KEYS = re.compile(r"(?:Grp|Max|Min)(?:TRES|Jobs|Submit|Wall)\w*")
# A part of such a block is pasted without its head: these keys stand in no other program's output.
JOB_KEYS = frozenset(
    [
        "JobState",
        "Reason",
        "EligibleTime",
        "Dependency",
        "ReqTRES",
        "NumNodes",
        "TimeLimit",
        "MinMemoryNode",
        "Restarts",
    ]
)
PARTITION_KEYS = frozenset(
    ["MaxTime", "MaxNodes", "MinNodes", "TotalNodes", "DefaultTime", "AllowAccounts", "AllowQos"]
)


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


def first_of(row: Mapping[str, str], *names: str) -> str:
    return next((row[name] for name in names if row.get(name)), "")


def whole_number(text: str) -> int | None:
    found = re.match(r"\d+", text)
    return int(found.group()) if found and not text.endswith(("K", "M", "G")) else None


def queue_job(fields: Fields) -> QueuedJob:
    """A row of squeue."""
    row = dict(fields)
    state = first_of(row, "ST", "STATE")
    phase = state_phase(state)
    shown = first_of(row, "NODELIST(REASON)")
    listed = first_of(row, "NODELIST", "SCHEDNODES").replace("(null)", "")
    bracketed = shown.startswith("(")
    return QueuedJob(
        "slurm",
        id=first_of(row, "JOBID", "ARRAY_JOB_ID"),
        name=row.get("NAME", ""),
        user=row.get("USER", ""),
        queue=row.get("PARTITION", ""),
        account=row.get("ACCOUNT", ""),
        qos=row.get("QOS", ""),
        state=state,
        phase=phase if state else ("waiting" if bracketed or row.get("REASON", "None") != "None" else "unknown"),
        reason=row.get("REASON", "") or (bare(shown) if bracketed else ""),
        nodes=whole_number(first_of(row, "NODES", "NUM_NODES")),
        tasks=whole_number(first_of(row, "TASKS")),
        where=listed or ("" if bracketed else shown),
        elapsed=printed_seconds(first_of(row, "TIME", "TIME_USED")),
        limit=printed_seconds(first_of(row, "TIME_LIMIT", "TIMELIMIT")),
        start=first_of(row, "START_TIME"),
        submitted=first_of(row, "SUBMIT_TIME"),
        depends=row.get("DEPENDENCY", "").replace("(null)", ""),
        fields=fields,
    )


def accounted_job(fields: Fields) -> QueuedJob:
    """A row of sacct: a job, or a step of one (`71208.batch`)."""
    row = dict(fields)
    return QueuedJob(
        "slurm",
        id=first_of(row, "JobID", "JobIDRaw"),
        name=row.get("JobName", ""),
        user=row.get("User", ""),
        queue=row.get("Partition", ""),
        account=row.get("Account", ""),
        qos=row.get("QOS", ""),
        state=row.get("State", ""),
        phase=state_phase(row.get("State", "")),
        reason=row.get("Reason", ""),
        nodes=whole_number(first_of(row, "NNodes", "AllocNodes", "ReqNodes")),
        where=row.get("NodeList", ""),
        elapsed=printed_seconds(row.get("Elapsed", "")),
        limit=printed_seconds(row.get("Timelimit", "")),
        start=row.get("Start", ""),
        submitted=row.get("Submit", ""),
        exit_code=row.get("ExitCode", ""),
        fields=fields,
    )


def block_job(fields: Fields) -> QueuedJob:
    """A block of `scontrol show job`, or a part of one."""
    row = {key: "" if value in ("(null)", "N/A", "None assigned") else value for key, value in fields}
    return QueuedJob(
        "slurm",
        id=block_id(row),
        name=row.get("JobName", ""),
        user=row.get("UserId", "").split("(")[0],
        queue=row.get("Partition", ""),
        account=row.get("Account", ""),
        qos=row.get("QOS", ""),
        state=row.get("JobState", ""),
        phase=state_phase(row.get("JobState", "")),
        reason=row.get("Reason", ""),
        nodes=whole_number(row.get("NumNodes", "")),
        tasks=whole_number(row.get("NumTasks", "")),
        where=first_of(row, "NodeList", "SchedNodeList"),
        elapsed=printed_seconds(row.get("RunTime", "")),
        limit=printed_seconds(row.get("TimeLimit", "")),
        start=row.get("StartTime", "").replace("Unknown", ""),
        submitted=row.get("SubmitTime", ""),
        exit_code=row.get("ExitCode", ""),
        depends=row.get("Dependency", ""),
        fields=fields,
    )


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
    if keys & {"JobState", "ReqTRES"} or len(keys & JOB_KEYS) >= 2:
        return BLOCKS["JobId"]
    if ASSOC_KEYS.fullmatch(pairs[0][0]):
        return BLOCKS["QOS"]
    return BLOCKS["PartitionName"] if keys & PARTITION_KEYS else None


def split_blocks(block: LineBlock) -> list[LineBlock]:
    """The blocks of several jobs, partitions or reservations that stand without an empty line between them."""
    heads = [i for i, line in enumerate(block.lines) if line.lstrip().split("=")[0] in BLOCKS]
    cuts = [*heads, len(block.lines)] if heads and heads[0] == 0 else [0, *heads, len(block.lines)]
    return [LineBlock(block.first + a, block.lines[a:b]) for a, b in itertools.pairwise(cuts) if a < b]
