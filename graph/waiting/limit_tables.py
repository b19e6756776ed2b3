"""Every limit that stands in what was pasted, whichever command printed it: of what, how much, how much is in use."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from graph.waiting.amounts import GPUS, amount, gpus_each, queue_of, resource_of, size
from graph.waiting.case import WaitCase
from graph.waiting.limits_said import hours_left_said, limits_said, sizes_said
from graph.waiting.words import tables
from knowledge.schedulers.limit_words import Counts

Per = Literal["job", "node", "user", "account", "qos", "queue", "system", "licence"]
SERVER = "the server"


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
    unit_unread: bool = False
    """Its hours may be of GPUs, nodes or cores: what printed them does not say."""

    @property
    def left(self) -> float | None:
        return None if self.used is None else max(0.0, self.most - self.used)


def limits_pasted(case: WaitCase) -> list[LimitSeen]:
    """All limits that the outputs beside the job tell, of this job's QOS, account and queue."""
    readers: tuple[Callable[[WaitCase], Iterable[LimitSeen]], ...] = (
        accounting_limits, partition_limits, node_sizes, pbs_limits, lsf_limits, flux_limits, machine_facts,
        limits_said, sizes_said,
    )  # fmt: skip
    budget = balances(case) if case.found.reason.kind == "limit-budget" else ()
    return [*budget, *(limit for reader in readers for limit in reader(case))]


# GrpTRES, MaxTRESMinsPJ, MaxJobsPU, MaxWall, MinTRES: https://slurm.schedmd.com/resource_limits.html (read 2026-11-22).
COLUMN = re.compile(
    r"(?i)(Grp|Max|Min)(TRES|Jobs|Submit(?:Jobs)?|Wall)(RunMins|Mins)?(P[JUAN]|Per(?:Job|User|Account|Node)|"
    r"DurationPerJob)?"
)
OF = {"jobs": "jobs", "submit": "submit", "submitjobs": "submit", "wall": "time"}
PER: Mapping[str, Per] = {"j": "job", "u": "user", "a": "account", "n": "node", "d": "job"}
ASSOC_NAMED = re.compile(r"\b(?:qos|accounts?)=([\w.-]+)(?![\w.,-])")
# `32(28)` of scontrol show assoc_mgr: the limit and what is in use; `N` is none.
CELL = re.compile(r"(N|[\d:.-]+[KMGT]?)(?:\((\d+(?:\.\d+)?)\))?")


def accounting_limits(case: WaitCase, every: bool = False) -> Iterator[LimitSeen]:
    """The columns of sacctmgr and the pairs of `scontrol show assoc_mgr`; `every`: also of other QOS and accounts."""
    rows = case.rows("sacctmgr", "scontrol show assoc_mgr")
    for row in rows:
        of_qos = "Name" in row or ("QOS" in row and "Account" not in row)
        owner = (row.get("Name") or row.get("QOS", "") if of_qos else row.get("Account", "")).split("(")[0]
        own = case.job.qos if of_qos else case.job.account
        user = "" if of_qos else row.get("User", "").split("(")[0]
        if user and user != case.job.user.rstrip("+"):
            continue  # another user's row of the same account
        # https://slurm.schedmd.com/resource_limits.html: set on a user in an account, it counts that user's jobs only.
        group: Per = "qos" if of_qos else "user" if user else "account"
        if not owner and case.found.limit:  # cut out by grep, without its head
            group = case.found.limit.set_on
            asked = (line for line in case.text.split("\n") if "show assoc_mgr" in line)
            owner = next((found[1] for line in asked if (found := ASSOC_NAMED.search(line))), "")
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
        name, _, value = (part.split() or [""])[0].rpartition("=")  # behind it may stand what the person adds
        of, told = OF.get(name) or resource_of(name.split(":")[0]), CELL.fullmatch(value.strip())
        most = amount(of, told[1]) if told and name and told[1] != "N" else None
        if told and most is not None:
            used = float(told[2]) * (2**20 if of == "mem" else 1) if told[2] else None
            yield LimitSeen(of, most, whose, used, counts, owner)


PARTITION: Mapping[str, tuple[str, Per, Counts]] = tables()["set_in_partition"]


def partition_limits(case: WaitCase) -> Iterator[LimitSeen]:
    """MaxTime, MaxNodes and the like of its partition, and the time that sinfo shows."""
    # One `grep` behind two commands puts the partition's settings into the job's block: no job has such.
    beside = {key: value for key, value in case.job.fields if key in PARTITION}
    rows = [*case.rows("scontrol show partition"), *([beside] if beside else [])]
    for row in rows:
        if row.get("PartitionName", case.job.queue) == case.job.queue or (not case.job.queue and len(rows) == 1):
            for key, (of, per, counts) in PARTITION.items():
                most = amount(of, row.get(key, ""))
                if most:
                    place = case.job.queue or row.get("PartitionName", "") or "the partition"
                    yield LimitSeen(of, most, per, None, counts, place)
    own = [row for row in case.rows("sinfo") if row.get("PARTITION", "").rstrip("*") == case.job.queue]
    totals = [row.get("NODES", "") for row in own if "STATE" not in row]
    if case.found.reason.word == "PartitionNodeLimit" and len(totals) == 1 and totals[0].isdigit():
        yield LimitSeen("node", float(totals[0]), "job", owner=f"the partition {case.job.queue}")
    for row in own:
        if row.get("PARTITION"):
            if most := short_time(row.get("TIMELIMIT", "")):
                yield LimitSeen("time", most, "job", owner=case.job.queue)
            return


def too_short(case: WaitCase) -> dict[str, float]:
    """Those of several partitions that the job names whose longest time is below its own."""
    names, asked = case.job.queue.split(","), case.job.limit
    rows = [(row.get("PARTITION", "").rstrip("*"), short_time(row.get("TIMELIMIT", ""))) for row in case.rows("sinfo")]
    return {name: most for name, most in rows if name in names and len(names) > 1 and asked and most and most < asked}


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
    shown += [(f"gpu:{r.get('NGPUS', '')}", "", "") for r in case.rows("bhosts")]
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
    r"(?m)^[^\S\n]*(?:set (?:queue \S+|server) )?(?P<name>max_run(?:_res\.(?P<res>\w+))?|max_user_run|max_running|"
    r"resources_(?P<end>max|min)\.(?P<most>\w+)) \+?= (?P<value>.+)$"
)
PBS_OWNER: Mapping[str, Per] = {"u": "user", "g": "account", "p": "account", "o": "queue"}
# `limit: 16, consumed: 12` behind a comment.
NUMBERED = re.compile(r"\blimit[:=] ?(?P<most>\d+)\b.*?\b(?:consumed|used|in use)[:=] ?(?P<used>\d+)")


def pbs_limits(case: WaitCase) -> Iterator[LimitSeen]:
    if case.job.scheduler != "pbs":
        return
    places = list(PLACE.finditer(case.text))
    assigned = {(found[1], place_of(case, places, found)): found[2] for found in ASSIGNED.finditer(case.text)}
    for found in SET_BY_PBS.finditer(case.text):
        of, place = resource_of(found["most"] or found["res"] or "jobs"), place_of(case, places, found)
        if found["most"]:
            most = amount(of, found["value"].strip())
            if most:
                yield LimitSeen(of, most, "job", None, "minimum" if found["end"] == "min" else "held", place)
            continue
        every: Per = "system" if place == SERVER else "queue"
        in_use = amount(of, assigned.get((found["res"] or "", place), ""))
        for who, name, most_of_one in re.findall(r"([ugpo]):([^\s=,\]]+)=(\d+)", found["value"]):
            if name in ("PBS_GENERIC", "PBS_ALL") or name.strip('"') in (case.job.user, case.job.account):
                per = every if who == "o" else PBS_OWNER[who]
                yield LimitSeen(of, float(most_of_one), per, in_use if who == "o" else None, owner=place)
        if found["value"].strip().isdigit():
            yield LimitSeen(of, float(found["value"]), "user" if "user" in found["name"] else every, owner=place)
    named = case.found.named
    if case.found.reason.word == "active-limit":
        yield LimitSeen(resource_of(named["res"]), float(named["max"]), "user", float(named["used"]))
    if numbers := NUMBERED.search(case.job.reason):
        counted = re.search(r"resource[: ]+(\w+)", case.job.reason)
        of = resource_of(counted[1]) if counted else "jobs"
        yield LimitSeen(of, float(numbers["most"]), "user", float(numbers["used"]))


ASSIGNED = re.compile(r"(?m)^[^\S\n]*resources_assigned\.(\w+) = (\S+)")
# The server or the queue that the settings below belong to: their head, or the command that printed them.
PLACE = re.compile(
    r"(?m)^[^\S\n]*Queue: (?P<head>\S+)|^[^\S\n]*Server: \S+|"
    r"\bqstat +-\w*Q\w*f?\w* +(?P<asked>[A-Za-z]\S*)|\bqstat +-\w*B|"
    r"\b(?:list|print|set) (?:queue (?P<said>\S+)|server\b)"
)


def place_of(case: WaitCase, places: Sequence[re.Match[str]], found: re.Match[str]) -> str:
    """The queue of a setting, or SERVER; the job's own queue where nothing tells."""
    # A setting that names its place (`set queue gpu max_run = ...`) is itself the last of them.
    before = bisect_right(places, found.end(), key=lambda place: place.end())
    if before == 0:
        return case.job.queue
    return next((name.strip("\"'") for name in places[before - 1].groups() if name), SERVER)


def lsf_limits(case: WaitCase) -> Iterator[LimitSeen]:
    """bqueues (MAX of the queue, JL/U of one user), busers (MAX of a user and what runs), and the reason's own."""
    if case.job.scheduler != "lsf":
        return
    users = case.rows("busers")
    running = next((slots_held(row) for row in users), None)
    heads = re.findall(r"(?m)^QUEUE: +(\S+)", case.text)
    for row in case.rows("bqueues"):
        if (row.get("QUEUE_NAME") or (heads[0] if len(heads) == 1 else "")) != case.job.queue and case.job.queue:
            continue
        if most := amount("slot", row.get("JL/U", "")):
            yield LimitSeen("slot", most, "user", running, owner=case.job.queue)
        if most := amount("slot", row.get("MAX", "")):
            yield LimitSeen("slot", most, "queue", slots_held(row), owner=case.job.queue)
    for row in users:
        if most := amount("slot", row.get("MAX", "")):
            yield LimitSeen("slot", most, "user", running)
    if most := amount("", case.found.named.get("max", "")):
        name = re.escape(case.found.named.get("name", "no name"))
        in_use = re.search(
            rf"(?m)^[^\S\n]*{name}\s.*?(\d{{1,9}}(?:\.\d{{1,6}})?)/{most:g}[^\S\n]*$", case.text
        )  # of blimits
        used = float(in_use[1]) if in_use else None
        yield LimitSeen(resource_of(case.found.named["res"]), most, "user", used)


def slots_held(row: Mapping[str, str]) -> float | None:
    """Slots that count against a limit: a suspended job keeps its own, and reserved ones are taken."""
    held = [amount("slot", row.get(name, "")) for name in ("RUN", "SUSP", "SSUSP", "USUSP", "RSV")]
    return None if held[0] is None else sum(one or 0 for one in held)


def flux_limits(case: WaitCase) -> Iterable[LimitSeen]:
    """What `flux account view-user` and `flux queue list` print."""
    if case.job.scheduler != "flux":
        return
    for name, most in re.findall(r"max_(running_jobs|active_jobs|nodes)\W+(\d+)", case.text):
        yield LimitSeen("node" if name == "nodes" else "jobs", float(most), "user")
    own = [row for row in case.rows("flux resource list") if row.get("QUEUE", "") in ("", case.job.queue)]
    if own and case.found.reason.word == "unsatisfiable" and "down" in {row.get("STATE") for row in own}:
        every = sum(float(row["NNODES"]) for row in own if row.get("NNODES", "").isdigit())
        yield LimitSeen("node", every, "system", owner=f"the queue {case.job.queue}")
    for row in case.rows("flux queue list"):
        if row.get("QUEUE", "").rstrip("*") == case.job.queue and (most := amount("time", row.get("TLIMIT", ""))):
            yield LimitSeen("time", most, "job", owner=case.job.queue)


LEFT = re.compile(r"(?i)\b(?:balance|remaining|available|left)\b")
# Its name with the number right behind it: "balance 31", "Remaining: 4,000"; `100k` is nothing to reckon with.
BESIDE = re.compile(
    r"(?i)\b(?:balance|remaining|hours left)\b(?: *\(?h(?:ou)?rs?\)?)? *(?:is|of|[:=])? *"
    r"(\d[\d,]*(?:\.\d+)?)(?![\w.]*\d*[kKM%])"
)


def balances(case: WaitCase) -> Iterator[LimitSeen]:
    """Hours that are left by what a site's own command prints: of GPUs, or of nodes where it counts no GPUs."""
    of = "gpu" if gpus_each(case) else "node"
    if (left := balance(case.words)) is not None:
        named = re.search(rf"(?i)\b{of}[ -]?h(?:ou)?rs?\b", case.words)
        yield LimitSeen(of, left * 60, "account", 0.0, counts="minutes", unit_unread=not named)
    elif said := hours_left_said(case):
        yield LimitSeen(said[1] or of, said[0] * 60, "account", 0.0, counts="minutes", unit_unread=not said[1])


def balance(words: str) -> float | None:
    """The number under the heading of a balance in hours, or right behind its name."""
    lines = words.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=False):
        if beside := BESIDE.search(line):
            return float(beside[1].strip(",").replace(",", ""))
        if not re.search(r"(?i)h(?:ou)?rs?\b", line) or not LEFT.search(line):
            continue
        heads, cells = (re.split(r"\s{2,}|\s*\|\s*", text.strip()) for text in (line, below))
        if len(heads) > 1 and len(heads) == len(cells) and not re.search(r"\d", line):
            under = next(
                cell for head, cell in zip(heads, cells, strict=True) if LEFT.search(head) or head is heads[-1]
            )
            return float(under.replace(",", "")) if re.fullmatch(r"\d[\d,]*(?:\.\d+)?", under) else None
    return None


def machine_facts(case: WaitCase) -> Iterator[LimitSeen]:
    """The longest job of its queue by the machine's facts, where the machine is known."""
    queue = queue_of(case.machine, case.job.queue) if case.machine else None
    if case.machine and queue and queue.max_walltime and (most := amount("time", queue.max_walltime)):
        of = f"{queue.id} of {case.machine.title} (facts of {case.machine.as_of})"
        yield LimitSeen("time", most, "job", owner=of)
