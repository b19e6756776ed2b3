"""What each limit of Slurm's means for a job, put together from the parts of its word (limit_reasons.yaml)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from knowledge.data_file import read_data
from knowledge.document import Step
from knowledge.schedulers.limit_words import LimitWord
from knowledge.schedulers.reason_types import WaitReason

ALONE = "If this job alone asks for more than the limit it never starts"
OWNERS = {"user": "your running jobs", "account": "the running jobs of the account"}


@cache
def texts() -> Mapping[str, Any]:
    found: Mapping[str, Any] = read_data(Path(__file__).with_suffix(".yaml"))
    return found


def shape_of(limit: LimitWord) -> str:
    """Which row tells it."""
    if limit.counts != "held":
        return "minutes-job" if limit.counts == "minutes" and limit.whose == "job" else limit.counts
    if limit.whose in ("job", "node"):
        of_node = {"node": "nodes", "wallduration": "wallduration"}.get(limit.resource, "request")
        return "node" if limit.whose == "node" else of_node
    return "jobs" if "job" in limit.resource else "held"


def limit_reason(limit: LimitWord) -> WaitReason:
    """The meaning of a limit, put together from its parts."""
    told, of_qos = texts(), limit.set_on == "qos"
    row = told["shapes"][shape_of(limit)]
    memory = limit.resource in ("mem", "memory")
    parts = {
        "noun": limit.noun,
        "place": "QOS" if of_qos else "account",
        "other": "account" if limit.set_on == "account" else "QOS",
        "less": "less memory" if memory else f"fewer {limit.noun}",
        "fewer": "less memory" if memory else f"fewer {limit.noun.split(' (')[0]}",
        "whom": "one account" if of_qos else "the account",
        "inside": " in the QOS" if of_qos else "",
        "jobs": "running jobs" if limit.resource == "jobs" else limit.noun,
        "budget": "wall-clock time" if limit.resource == "wall" else f"{limit.noun} x time",
        "owner": OWNERS.get(limit.whose, "the running jobs of the QOS"),
    }
    commands = {
        "{running}": told["running"].get(limit.whose, told["running"]["user"]),
        "{use}": told["use"] if limit.whose == "account" else "",
        "{limits}": told["limits"][limit.set_on],
        "{job}": 'scontrol show job <JOBID> | grep -E "ReqTRES|TimeLimit|QOS"',
    }
    says = row["says"].get(limit.whose) or row["says"]["any"]
    return WaitReason(
        word=limit.word,
        kind=row["kind"],
        starts=row["starts"],
        says=says.format(**parts),
        look=tuple(filter(None, (commands.get(line, line) for line in row["look"]))),
        do=tuple(Step(step[0].format(**parts), *step[1:]) for step in row["do"]),
        but=ALONE if row.get("but") else "",
        ask=told["ask"].get(limit.whose, "") if row.get("ask") else row.get("who", ""),
    )
