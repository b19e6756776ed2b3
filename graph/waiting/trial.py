"""What starts a waiting job, or starts it sooner, tried with Slurm's dry run: `sbatch --test-only` submits nothing."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from graph.waiting.script_change import UPDATE
from graph.waiting.spoken import spoken_date
from knowledge.document import Step
from knowledge.schedulers.asking import Printed
from knowledge.schedulers.live import Ask
from knowledge.schedulers.outputs import scheduler_output
from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.times import printed_seconds

# https://slurm.schedmd.com/sbatch.html, --test-only (read 2026-11-22): the estimate is written on stderr.
PLANNED = re.compile(r"Job \S+ to start at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)")
REFUSAL = re.compile(r"(?:allocation failure|submission failed): (.*)")
# Sooner by less is no reason to change anything; so many partitions are tried.
WORTH, MOST_PARTITIONS = 60.0, 3
# What `scontrol update` sets, and the option of sbatch; the name that `scontrol show job` prints.
OPTIONS = {
    "Account": "--account",
    "Partition": "--partition",
    "QOS": "--qos",
    "NumNodes": "--nodes",
    "TimeLimit": "--time",
    "NumTasks": "--ntasks",
    "CPUs/Task": "--cpus-per-task",
    "Features": "--constraint",
    "Licenses": "--licenses",
    "TresPerNode": "--gres",
    "TresPerJob": "--gpus",
}
ABSENT = ("", "(null)", "N/A", "None", "UNLIMITED", "Partition_Limit")
Change = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TriedChange:
    """A change of the job's request and what the dry run says: the planned start, or why it is refused."""

    change: Change
    start: datetime | None
    refused: str = ""


def tried_changes(job: QueuedJob, commands: Iterable[str], script: str, ask: Ask) -> tuple[TriedChange, ...]:
    """The job as it is, then the changes of these commands, other partitions, a shorter time, fewer nodes, each tried.

    Empty where nothing could be tried: no script, no answer, or an option that the dry run does not have.
    """
    asked = own_values(job)
    if not script or not asked:
        return ()
    first = tried({}, asked, script, ask)
    if first is None:
        return ()
    found = [first]
    for change in candidates(job, commands, ask):
        one = tried(change, asked, script, ask)
        if one is None:
            break
        found.append(one)
    return tuple(found)


def own_values(job: QueuedJob) -> dict[str, str]:
    """What the job asks for, as Slurm prints it; empty where the record is no `scontrol show job`."""
    if job.scheduler != "slurm" or not job.printed("NumNodes") or not job.printed("JobState"):
        return {}
    found = {name: job.printed(name) for name in OPTIONS}
    found["NumNodes"] = found["NumNodes"].partition("-")[0]
    found["TresPerNode"] = found["TresPerNode"].replace("gres/", "").replace("gres:", "")
    found["TresPerJob"] = re.sub(r"gres[/:]gpu:?", "", found["TresPerJob"])
    found["Partition"] = found["Partition"].partition(",")[0]
    return {name: value for name, value in found.items() if value not in ABSENT}


def candidates(job: QueuedJob, commands: Iterable[str], ask: Ask) -> list[Change]:
    """The changes to try: those that are advised, then another partition, half the time, half the nodes."""
    found: list[Change] = [dict(UPDATE.findall(command)) for command in commands]
    found += [{"Partition": name} for name in other_partitions(job, ask)[:MOST_PARTITIONS]]
    if job.limit and job.limit >= 600:
        minutes = int(job.limit // 120)
        found.append({"TimeLimit": f"{minutes // 60:02d}:{minutes % 60:02d}:00"})
    if job.nodes and job.nodes > 1:
        found.append({"NumNodes": f"{job.nodes // 2}-{job.nodes // 2}"})
    return [change for i, change in enumerate(found) if change and change not in found[:i]]


def other_partitions(job: QueuedJob, ask: Ask) -> list[str]:
    """Partitions that are up, and whose limits and accounts take the request as it is."""
    told = ask(["scontrol", "show", "partition"])
    if not isinstance(told, Printed):
        return []
    rows = [dict(row) for output in scheduler_output(told.text) for row in output.rows if output.kind == "queues"]
    return [row["PartitionName"] for row in rows if takes(row, job)]


def takes(row: Mapping[str, str], job: QueuedJob) -> bool:
    if row.get("PartitionName", "") in ("", *job.queue.split(",")) or row.get("State", "UP") != "UP":
        return False
    longest, most = printed_seconds(row.get("MaxTime", "")), row.get("MaxNodes", "")
    fewest, nodes = row.get("MinNodes", ""), job.nodes or 1
    allowed, denied = row.get("AllowAccounts", "ALL"), row.get("DenyAccounts", "")
    qos = row.get("AllowQos", "ALL")
    # The dry run does not look at these.
    if (allowed != "ALL" and job.account not in allowed.split(",")) or job.account in denied.split(","):
        return False
    if qos != "ALL" and job.qos and job.qos not in qos.split(","):
        return False
    fits = (not most.isdigit() or nodes <= int(most)) and (not fewest.isdigit() or nodes >= int(fewest))
    return fits and (longest is None or job.limit is None or job.limit <= longest)


def tried(change: Change, asked: Mapping[str, str], script: str, ask: Ask) -> TriedChange | None:
    """One dry run; None where it said neither a start nor a refusal."""
    values = {**asked, **change}
    if "NumNodes" in change:
        values.pop("NumTasks", None)
    options = [f"{OPTIONS[name]}={value}" for name, value in values.items()]
    with tempfile.NamedTemporaryFile("w", suffix=".sh", encoding="utf-8") as file:
        file.write(script)
        file.flush()
        told = ask(["sbatch", "--test-only", *options, file.name])
    said = f"{told.text}\n{told.beside}" if isinstance(told, Printed) else told.why
    if planned := PLANNED.search(said):
        return TriedChange(change, datetime.fromisoformat(planned[1]))
    refused = REFUSAL.search(said)
    return TriedChange(change, None, refused[1].strip()[:120]) if refused else None


def as_it_is(found: Sequence[TriedChange], job: QueuedJob, never: bool) -> datetime | None:
    """When it would start as it is: its own plan, or the dry run (a copy behind it). None: never, or unknown."""
    if never or found[0].start is None:
        return None
    planned = re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", job.start)
    return min(found[0].start, datetime.fromisoformat(planned[0])) if planned else found[0].start


def sooner(found: Sequence[TriedChange], as_is: datetime | None) -> list[TriedChange]:
    """The changes that start the job earlier than it would as it is, the earliest first."""
    good = [one for one in found[1:] if one.start and (as_is is None or (as_is - one.start).total_seconds() >= WORTH)]
    return sorted(good, key=lambda one: one.start or datetime.max)


WORDS = {
    "Partition": "in the partition {}",
    "TimeLimit": "with a time limit of {}",
    "NumNodes": "on {} nodes",
    "Account": "on the account {}",
    "QOS": "in the QOS {}",
}


def change_words(change: Change) -> str:
    values = {**change, "NumNodes": change.get("NumNodes", "").partition("-")[0]}
    said = " and ".join(WORDS[name].format(values[name]) for name in change if name in WORDS)
    return said.replace("on 1 nodes", "on 1 node")


def update_command(job: str, change: Change) -> str:
    return f"scontrol update jobid={job} " + " ".join(f"{name}={value}" for name, value in change.items())


def trial_steps(job: str, found: Sequence[TriedChange], as_is: datetime | None) -> tuple[Step, ...]:
    """What helps by the dry run, with its command."""
    now = f"; as it is: {spoken_date(as_is.isoformat())}" if as_is else ""
    return tuple(
        Step(
            f"{change_words(one.change)}: the dry run plans it for {spoken_date(one.start.isoformat())}{now}",
            update_command(job, one.change),
        )
        for one in sooner(found, as_is)
        if one.start
    )


def refused_changes(found: Sequence[TriedChange]) -> dict[str, str]:
    """What the dry run refuses of the changes, by the words of their command."""
    return {f"{name}={value}": one.refused for one in found[1:] if one.refused for name, value in one.change.items()}
