"""Every limit that stands in what was pasted, whichever command printed it: of what, how much, how much is in use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from graph.waiting.amounts import GPUS, amount, gpus_each, queue_of, resource_of, size
from graph.waiting.case import WaitCase
from knowledge.schedulers.limit_words import Counts

Per = Literal["job", "node", "user", "account", "qos", "queue", "licence"]


@dataclass(frozen=True, slots=True)
class LimitSeen:
    """A limit: at most `most` of a resource, and what is in use of it (None: not printed)."""

    of: str
    most: float
    per: Per
    used: float | None = None
    counts: Counts = "held"
    owner: str = ""
    """The QOS, account, partition, queue or licence that it is set on; empty: not printed."""

    @property
    def left(self) -> float | None:
        return None if self.used is None else max(0.0, self.most - self.used)


def limits_pasted(case: WaitCase) -> list[LimitSeen]:
    """All limits that the outputs beside the job tell, of this job's QOS, account and queue."""
    readers: tuple[Callable[[WaitCase], Iterable[LimitSeen]], ...] = (
        accounting_limits, partition_limits, node_sizes, pbs_limits, lsf_limits, flux_limits, balances, machine_facts,
    )  # fmt: skip
    return [limit for reader in readers for limit in reader(case)]


# GrpTRES, MaxTRESMinsPJ, MaxJobsPU, MaxWall, MinTRES: https://slurm.schedmd.com/resource_limits.html (read 2026-11-22).
COLUMN = re.compile(
    r"(?i)(Grp|Max|Min)(TRES|Jobs|Submit(?:Jobs)?|Wall)(RunMins|Mins)?(P[JUAN]|Per(?:Job|User|Account|Node)|"
    r"DurationPerJob)?"
)
OF = {"jobs": "jobs", "submit": "jobs", "submitjobs": "jobs", "wall": "time"}
PER: Mapping[str, Per] = {"j": "job", "u": "user", "a": "account", "n": "node", "d": "job"}
# `32(28)` of scontrol show assoc_mgr: the limit and what is in use; `N` is none.
CELL = re.compile(r"(N|[\d:.-]+[KMGT]?)(?:\((\d+(?:\.\d+)?)\))?")


def accounting_limits(case: WaitCase, every: bool = False) -> Iterator[LimitSeen]:
    """The columns of sacctmgr and the pairs of `scontrol show assoc_mgr`; `every`: also of other QOS and accounts."""
    rows = case.rows("sacctmgr", "scontrol show assoc_mgr")
    for row in rows:
        of_qos = "Name" in row or ("QOS" in row and "Account" not in row)
        owner = (row.get("Name") or row.get("QOS", "") if of_qos else row.get("Account", "")).split("(")[0]
        own = case.job.qos if of_qos else case.job.account
        group: Per = "qos" if of_qos else "account"
        if not owner and case.found.limit:  # cut out by grep, without its head
            group = case.found.limit.set_on
        if owner and own and owner != own.rstrip("+") and len(rows) > 1 and not every:
            continue
        for key, cell in row.items():
            if found := COLUMN.fullmatch(key):
                yield from of_column(found, gpus_meant(cell, case), group, owner)


def gpus_meant(cell: str, case: WaitCase) -> str:
    """The cell without limits on GPU types that are not the job's: beside an untyped number, or of another type."""
    if "gres/gpu:" not in cell:
        return cell
    asked = re.search(r"gpu:([A-Za-z][\w.-]*)", " ".join(value for _, value in case.job.fields))
    kind = f"gres/gpu:{asked[1]}=" if asked else "gres/gpu="
    return ",".join(part for part in cell.split(",") if not part.startswith("gres/gpu") or part.startswith(kind))


def of_column(found: re.Match[str], cell: str, group: Per, owner: str) -> Iterator[LimitSeen]:
    """The limits of one column: several where it lists resources."""
    head, what, counted, per = (part.lower() if part else "" for part in found.groups())
    counts: Counts = "minimum" if head == "min" else "run-minutes" if "run" in counted else "held"
    counts = "minutes" if counted == "mins" or (head == "grp" and what == "wall") else counts
    if per:
        whose = PER[per.removeprefix("per")[0] if len(per) > 2 else per[1]]
    else:
        whose = group if head == "grp" else "job" if what in ("tres", "wall") else "user"
    parts = cell.split(",") if what == "tres" else [f"{what}={cell}"]
    for part in parts:
        name, _, value = part.rpartition("=")
        of, told = OF.get(name) or resource_of(name.split(":")[0]), CELL.fullmatch(value.strip())
        most = amount(of, told[1]) if told and name and told[1] != "N" else None
        if told and most is not None:
            used = float(told[2]) * (2**20 if of == "mem" else 1) if told[2] else None
            yield LimitSeen(of, most, whose, used, counts, owner)


PARTITION: Mapping[str, tuple[str, Per, Counts]] = {
    "MaxTime": ("time", "job", "held"),
    "MaxNodes": ("node", "job", "held"),
    "MinNodes": ("node", "job", "minimum"),
    "MaxMemPerNode": ("mem", "node", "held"),
    "MaxMemPerCPU": ("core-mem", "node", "held"),
    "MaxCPUsPerNode": ("cpu", "node", "held"),
}


def partition_limits(case: WaitCase) -> Iterator[LimitSeen]:
    """MaxTime, MaxNodes and the like of its partition, and the time that sinfo shows."""
    rows = case.rows("scontrol show partition")
    for row in rows:
        if row.get("PartitionName", case.job.queue) == case.job.queue or len(rows) == 1:
            for key, (of, per, counts) in PARTITION.items():
                most = amount(of, row.get(key, ""))
                if most:
                    yield LimitSeen(of, most, per, None, counts, case.job.queue)
    for row in case.rows("sinfo"):
        if row.get("PARTITION", "").rstrip("*") == case.job.queue:
            if most := short_time(row.get("TIMELIMIT", "")):
                yield LimitSeen("time", most, "job", owner=case.job.queue)
            return


def short_time(text: str) -> float | None:
    """A time limit as sinfo prints it, where `30:00` is half an hour."""
    return amount("time", text if text.count(":") != 1 else f"00:{text}")


def node_sizes(case: WaitCase) -> Iterator[LimitSeen]:
    """The largest node that is shown: its GPUs, memory and cores."""
    rows = [r for r in case.rows("sinfo") if r.get("PARTITION", case.job.queue).rstrip("*") == case.job.queue]
    shown = [(r.get("GRES", ""), r.get("MEMORY", ""), r.get("CPUS", "")) for r in rows]
    shown += [
        (r.get("Gres", ""), r.get("RealMemory", ""), r.get("CPUTot", "")) for r in case.rows("scontrol show node")
    ]
    shown += [
        (f"gpu:{total(r.get('ngpus', ''))}", total(r.get("mem", "")), total(r.get("ncpus", "")))
        for r in case.rows("pbsnodes")
    ]
    gpus = [int(number) for gres, _, _ in shown for number in GPUS.findall(gres)]
    sizes = [value for _, memory, _ in shown if (value := size(memory))]
    cores = [int(bare) for _, _, cpus in shown if (bare := cpus.rstrip("+")).isdigit()]
    for of, values in (("gpu", gpus), ("mem", sizes), ("cpu", cores)):
        if values:
            yield LimitSeen(of, float(max(values)), "node")


def total(free_of: str) -> str:
    """`64` of `12/64`: what pbsnodes -aSj prints as free / in all."""
    return free_of.rpartition("/")[2]


def licence_totals(case: WaitCase) -> Iterator[LimitSeen]:
    for row in case.rows("scontrol show licenses"):
        if (most := row.get("Total", "")).isdigit():
            used = int(most) - int(row["Free"]) if row.get("Free", "").isdigit() else None
            yield LimitSeen("license", float(most), "licence", used, owner=row["LicenseName"])


# Attributes of a queue or server of PBS, by `qstat -Qf`, `qstat -Bf` or `qmgr -c "print queue Q"`.
SET_BY_PBS = re.compile(
    r"(?m)^\s*(?:set (?:queue \S+|server) )?(?P<name>max_run(?:_res\.(?P<res>\w+))?|max_user_run|max_running|"
    r"resources_(?P<end>max|min)\.(?P<most>\w+)) \+?= (?P<value>.+)$"
)
PBS_OWNER: Mapping[str, Per] = {"u": "user", "g": "account", "p": "account", "o": "queue"}
# `limit: 16, consumed: 12` behind a comment.
NUMBERED = re.compile(r"\blimit[:=] ?(?P<most>\d+)\b.*?\b(?:consumed|used|in use)[:=] ?(?P<used>\d+)")


def pbs_limits(case: WaitCase) -> Iterator[LimitSeen]:
    if case.job.scheduler != "pbs":
        return
    for found in SET_BY_PBS.finditer(case.text):
        of = resource_of(found["most"] or found["res"] or "jobs")
        if found["most"]:
            most = amount(of, found["value"].strip())
            if most:
                yield LimitSeen(of, most, "job", None, "minimum" if found["end"] == "min" else "held", case.job.queue)
            continue
        for who, most_of_one in re.findall(r"([ugpo]):\S+?=(\d+)", found["value"]):
            yield LimitSeen(of, float(most_of_one), PBS_OWNER[who], owner=case.job.queue)
        if found["value"].strip().isdigit():
            yield LimitSeen(of, float(found["value"]), "user" if "user" in found["name"] else "queue")
    if numbers := NUMBERED.search(case.job.reason):
        named = re.search(r"resource[: ]+(\w+)", case.job.reason)
        of = resource_of(named[1]) if named else "jobs"
        yield LimitSeen(of, float(numbers["most"]), "user", float(numbers["used"]))


def lsf_limits(case: WaitCase) -> Iterator[LimitSeen]:
    """bqueues (MAX of the queue, JL/U of one user), busers (MAX of a user and what runs), and the reason's own."""
    if case.job.scheduler != "lsf":
        return
    users = case.rows("busers")
    running = next((amount("slot", row.get("RUN", "")) for row in users), None)
    for row in case.rows("bqueues"):
        if row.get("QUEUE_NAME", "") != case.job.queue and case.job.queue:
            continue
        if most := amount("slot", row.get("JL/U", "")):
            yield LimitSeen("slot", most, "user", running, owner=case.job.queue)
        if most := amount("slot", row.get("MAX", "")):
            yield LimitSeen("slot", most, "queue", amount("slot", row.get("RUN", "")), owner=case.job.queue)
    for row in users:
        if most := amount("slot", row.get("MAX", "")):
            yield LimitSeen("slot", most, "user", running)
    if most := amount("", case.found.named.get("max", "")):
        yield LimitSeen(resource_of(case.found.named["res"]), most, "user")


def flux_limits(case: WaitCase) -> Iterable[LimitSeen]:
    """What `flux account view-user` and `flux queue list` print."""
    if case.job.scheduler != "flux":
        return
    for name, most in re.findall(r"max_(running_jobs|active_jobs|nodes)\W+(\d+)", case.text):
        yield LimitSeen("node" if name == "nodes" else "jobs", float(most), "user")
    for row in case.rows("flux queue list"):
        if row.get("QUEUE", "").rstrip("*") == case.job.queue and (most := amount("time", row.get("TLIMIT", ""))):
            yield LimitSeen("time", most, "job", owner=case.job.queue)


LEFT = re.compile(r"(?i)balance|remaining|available|left")


def balances(case: WaitCase) -> Iterator[LimitSeen]:
    """Hours that are left by what a site's own command prints: of GPUs, or of nodes where it counts no GPUs."""
    left = balance(case.words) if case.found.reason.kind == "limit-budget" else None
    if left is not None:
        yield LimitSeen("gpu" if gpus_each(case) else "node", left * 60, "account", counts="minutes")


def balance(words: str) -> float | None:
    """The first number below a heading of a balance, or beside the word."""
    lines = words.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=False):
        if LEFT.search(line):
            numbers = re.findall(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?(?![\w-])", below) or re.findall(
                r"(?<![\w.-])\d[\d,]*(?:\.\d+)?", line
            )
            if numbers:
                return float(numbers[0].replace(",", ""))
    return None


def machine_facts(case: WaitCase) -> Iterator[LimitSeen]:
    """The longest job of its queue by the machine's facts, where the machine is known."""
    queue = queue_of(case.machine, case.job.queue) if case.machine else None
    if case.machine and queue and queue.max_walltime and (most := amount("time", queue.max_walltime)):
        of = f"{queue.id} of {case.machine.title} (facts of {case.machine.as_of})"
        yield LimitSeen("time", most, "job", owner=of)
