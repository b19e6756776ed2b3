"""Where else the job could go: partitions, queues, QOS and accounts that stand in the same paste and would take it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from graph.waiting.amounts import GPUS, amount, on_one_node, request_of, size, spoken_amount
from graph.waiting.budgets import LESS
from graph.waiting.case import Fact, WaitCase, WaitingNote
from graph.waiting.limit_tables import accounting_limits, short_time, too_short
from graph.waiting.limits_told import spoken_of
from graph.waiting.spoken import listed
from knowledge.document import Step
from knowledge.schedulers.times import asked_time, printed_seconds, spoken_time


def elsewhere(case: WaitCase) -> WaitingNote | None:
    """Fills the open name of a remedy (`<OTHER>`, `<OTHER_QOS>`) with one that was pasted and fits, and says why."""
    commands = " ".join(remedy.command for remedy in case.found.reason.do)
    finders = {"OTHER": partitions, "OTHER_QOS": qualities, "OTHER_ACCOUNT": accounts, "OTHER_QUEUE": queues}
    for name, finder in finders.items():
        if f"<{name}>" in commands and (found := finder(case)):
            # Which project pays is the person's choice.
            fill = {} if name == "OTHER_ACCOUNT" and len(found) > 1 else {name: next(iter(found))}
            facts = (Fact("elsewhere", ", ".join(list(found)[:3])),)
            return WaitingNote(f"{upper(listed(list(found.values()), 3))}.", fill, facts=facts)
    free = idle_elsewhere(case) if case.found.reason.kind == "wait" and case.found.reason.of == "node" else ""
    if not free:
        return None
    move = Step(
        "or move it there, if its nodes have what the job needs",
        f"scontrol update jobid=<JOBID> Partition={free}" if case.job.scheduler == "slurm" else "",
    )
    return WaitingNote(f"{upper(partitions(case)[free])}.", do=(move,), facts=(Fact("elsewhere", free),))


def would_take(case: WaitCase) -> WaitingNote | None:
    """Behind a submission that was refused for its time or its nodes: the partitions shown that would take it."""
    found = partitions(case) if case.found.reason.word in ("time refused", "nodes refused") and case.job.queue else {}
    if not found:
        return None
    do = Step("or submit it there", f"sbatch -p {next(iter(found))} <SCRIPT>")
    return WaitingNote(f"{upper(listed(list(found.values()), 3))}.", do=(do,))


def own_names(case: WaitCase) -> WaitingNote | None:
    """Behind a submission that was refused for its QOS or account: those that sacctmgr shows for the person."""
    column = {"bad qos": "QOS", "bad account": "Account"}.get(case.found.reason.word, "")
    cells = [row[column] for row in case.rows("sacctmgr") if column and row.get(column) and "Name" not in row]
    names = list(dict.fromkeys(name for cell in cells for name in cell.split(",")))
    return WaitingNote(f"By sacctmgr you have {listed(names, 8)}.") if names else None


GPU_NAME = re.compile(
    r"(?i)gpu|cuda|accel|boost|ampere|hopper|volta|dgx|(?<![a-z])(?:[avh]100|h200|l40s?|gh200|b200|mi\d{3}\w?)"
)
NO_GPU_NAME = re.compile(
    r"(?i)^(?!.*gpu)(?:.*cpu|.*mem|serial|single|standard|smp|fat|thin|login|transfer|copy|data|viz)"
)


def upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def idle_elsewhere(case: WaitCase) -> str:
    """A partition whose idle nodes would be enough now; empty where none is shown."""
    idle: dict[str, int] = {}
    for row in case.rows("sinfo"):
        name = name_in(row)
        idle[name] = idle.get(name, 0) + idle_and_all(row)[0]
    asked = case.job.nodes or 0
    if not case.job.queue and len(idle) == 1:  # the one that was asked for its own sake is the job's
        return ""
    return next((name for name in partitions(case) if asked and idle.get(name, 0) >= asked), "")


def idle_and_all(row: Mapping[str, str]) -> tuple[int, int]:
    """The idle nodes of a row of sinfo, and all that are not out."""
    parts = [int(part) if part.isdigit() else 0 for part in row.get("NODES(A/I/O/T)", "").split("/")]
    if len(parts) == 4:
        return parts[1], parts[0] + parts[1]
    state, nodes = row.get("STATE", "").rstrip("*~#!%$@^-+"), row.get("NODES", "")
    many = int(nodes) if nodes.isdigit() else 0
    return (many if state == "idle" else 0), (
        many if state in ("idle", "alloc", "mix", "allocated", "mixed", "") else 0
    )


def one_of_several(case: WaitCase) -> WaitingNote | None:
    """Of a job that names several partitions: in which it can start at all, by its time."""
    short = too_short(case)
    rest = [name for name in case.job.queue.split(",") if name not in short]
    if not short or not rest or not case.job.limit:
        return None
    most, asked = max(short.values()), spoken_time(case.job.limit)
    told = listed([f"{name} takes up to {spoken_time(limit)}" for name, limit in short.items()])
    command = LESS[case.job.scheduler, "time"].format(asked_time(case.job.scheduler, most))
    do = Step(f"with at most {spoken_time(most)} it may start in {listed(list(short))} too", command)
    return WaitingNote(f"It asks for {asked}, and {told}: it can start only in {listed(rest)}.", do=(do,))


def tells_states(row: Mapping[str, str]) -> bool:
    """Whether the row says how many nodes are idle; a count alone does not."""
    return bool(row.get("STATE")) or row.get("NODES(A/I/O/T)", "").count("/") == 3


def name_in(row: Mapping[str, str]) -> str:
    """The partition of a row of sinfo, which marks the default one by a star."""
    return row.get("PARTITION", "").rstrip("*")


def as_listed(row: Mapping[str, str]) -> Mapping[str, str]:
    """The settings of a partition by the names of sinfo's columns."""
    most, state = row.get("MaxNodes", ""), row.get("State", "UP").lower()
    nodes = {"NODES": most} if most.isdigit() else {}
    return {"PARTITION": row.get("PartitionName", ""), "TIMELIMIT": row.get("MaxTime", ""), "AVAIL": state, **nodes}


def partitions(case: WaitCase) -> dict[str, str]:
    """Partitions of a pasted sinfo that are up and take its time and its nodes, those with idle nodes first."""
    asked = request_of(case)
    # A partition whose name and columns tell of no GPUs is no place for a job of a GPU partition.
    with_gpus = "gpu" in asked or bool(GPU_NAME.search(case.job.queue))
    seen: dict[str, tuple[int, int, float | None]] = {}
    own = (short_time(row.get("TIMELIMIT", "")) for row in case.rows("sinfo") if name_in(row) == case.job.queue)
    # Where only the time is too long, no partition helps that takes no more.
    least = asked.get("time") or (next(filter(None, own), 0.0) + 1 if case.found.reason.of == "time" else 0.0)
    told = {name_in(row) for row in case.rows("sinfo") if tells_states(row)}
    node, memory = on_one_node(case), dict[str, float]()
    for row in [*case.rows("sinfo"), *map(as_listed, case.rows("scontrol show partition"))]:
        name, most = name_in(row), short_time(row.get("TIMELIMIT", ""))
        no_gpus = with_gpus and (not GPUS.search(row["GRES"]) if "GRES" in row else bool(NO_GPU_NAME.search(name)))
        too_short = most is not None and most < least
        has = size(row.get("MEMORY", "")) or 0.0
        if node.get("mem") and 0 < has < node["mem"]:
            continue
        memory[name] = has if case.found.reason.of == "mem" else 0.0
        if name in ("", *case.job.queue.split(",")) or row.get("AVAIL", "up") != "up" or no_gpus or too_short:
            continue
        idle, every = idle_and_all(row)
        if "NODES" not in row and "NODES(A/I/O/T)" not in row:  # how many it has is not told
            every = int(asked.get("node", 1))
        before = seen.get(name, (0, 0, most))
        seen[name] = (before[0] + idle, before[1] + every, most)
    fit = {name: told for name, told in seen.items() if told[1] >= asked.get("node", 1)}
    ranked = sorted(fit.items(), key=lambda pair: (bool(GPU_NAME.search(pair[0])) != with_gpus, -pair[1][0]))
    return {
        name: f"partition {name} (if you may use it and its nodes fit) {'is up, ' if name in told else ''}takes "
        f"{f'up to {spoken_time(most)}' if most else 'a time that is not shown'}"
        + (f" and has {idle} idle node{'' if idle == 1 else 's'}" if name in told else "")
        + (f", with {spoken_amount('mem', memory[name])} on a node" if memory.get(name) else "")
        for name, (idle, _, most) in ranked
    }


def qualities(case: WaitCase) -> dict[str, str]:
    """Other QOS of a pasted sacctmgr whose limit on what the reason speaks of is above the request."""
    if case.found.reason.kind == "config":
        rows = [row for row in case.rows("sacctmgr") if "Account" in row and row.get("QOS")]
        yours = [name for row in rows for name in row["QOS"].split(",") if name != case.job.qos]
        return {name: f"sacctmgr shows that you have QOS {name}" for name in yours}
    names = [row["Name"] for row in case.rows("sacctmgr") if row.get("Name") and row["Name"] != case.job.qos]
    if case.found.limit and case.found.limit.counts == "minimum":
        of, limits = spoken_of(case)[0], accounting_limits(case, every=True)
        least = {one.owner: one.most for one in limits if one.of == of and one.counts == "minimum"}
        fit = [name for name in names if least.get(name, 0) <= request_of(case).get(of, 0)]
        fit.sort(key=lambda name: name.lower() not in case.words.lower())  # what the person speaks of first
        longest = {row["Name"]: short_time(row.get("MaxWall", "")) for row in case.rows("sacctmgr") if row.get("Name")}
        longest = {name: longest[name] for name in fit if (longest[name] or 1e9) >= request_of(case).get("time", 0)}
        upto = {name: f", up to {spoken_time(most)}" if most else "" for name, most in longest.items()}
        return {name: f"QOS {name} (if your account may use it) takes jobs of that size{upto[name]}" for name in upto}
    gpus = {one.owner: one.most for one in accounting_limits(case, every=True) if (one.of, one.per) == ("gpu", "user")}
    wants = request_of(case).get("gpu", 0)
    return {
        name: f"QOS {name} (if your account may use it) allows {most}"
        + (
            f", with {spoken_amount('gpu', gpus[name])} of one user together"
            if name in gpus and spoken_of(case)[0] == "time"
            else ""
        )
        for name, most in larger(case, names)
        if gpus.get(name, wants) >= wants
    }


def larger(case: WaitCase, names: Sequence[str]) -> list[tuple[str, str]]:
    """Those of the QOS or accounts whose limit on what the reason speaks of is above the request, and that limit."""
    of, whose, _ = spoken_of(case)
    asked = request_of(case).get(of)
    if asked is None or of == "jobs":
        return []
    everywhere = accounting_limits(case, every=True)
    limits = {one.owner: one.most for one in everywhere if one.of == of and one.per in (whose, "job")}
    fit = [(limits[name], name) for name in names if limits.get(name, 0) >= asked]
    return [(name, spoken_amount(of, most)) for most, name in sorted(fit)]


def larger_account(case: WaitCase) -> WaitingNote | None:
    """An account of the person's whose own limit is above the request, where it is the account's that holds the job."""
    if not case.found.limit or case.found.limit.set_on != "account":
        return None
    found = larger(case, list(accounts(case)))
    if not found:
        return None
    told = listed([f"your account {name} allows {most}" for name, most in found])
    do = Step("or charge it there, if the work belongs to it", f"scontrol update jobid=<JOBID> Account={found[0][0]}")
    return WaitingNote(f"By sacctmgr {told}.", do=(do,), facts=(Fact("elsewhere", found[0][0]),))


def accounts(case: WaitCase) -> dict[str, str]:
    """The accounts that sacctmgr shows, without the one that the job has."""
    names = [row["Account"] for row in case.rows("sacctmgr") if row.get("Account") and not row.get("Name")]
    own = [name for name in dict.fromkeys(names) if name != case.job.account]
    asked = f", and the job has {case.job.account}" if case.job.account else ""
    return {name: f"sacctmgr shows your account {name}{asked}" for name in own}


def queues(case: WaitCase) -> dict[str, str]:
    """Queues of PBS or LSF that are open and take its walltime."""
    rows: Sequence[Mapping[str, str]] = case.rows("qstat -q", "qstat -Q", "bqueues")
    found: dict[str, str] = {}
    slots = request_of(case).get("slot", 0) if case.found.reason.of == "slot" else 0
    for row in rows:
        name = row.get("Queue") or row.get("QUEUE_NAME") or ""
        most = printed_seconds(row.get("Walltime", ""), "h:m")
        shut = "no" in (row.get("Ena"), row.get("Str")) or not row.get("STATUS", "Open:Active").startswith(
            "Open:Active"
        )
        shut = shut or (row.get("State") or "E R") != "E R"
        each = amount("slot", row.get("JL/U", ""))  # what one user may have there; `-` is no limit
        if slots and ("JL/U" not in row or (each is not None and each < slots)):
            continue
        if name in ("", case.job.queue) or shut or (most and case.job.limit and most < case.job.limit):
            continue
        found[name] = f"queue {name} is open" + (f" and takes up to {spoken_time(most)}" if most else "")
        allowed = f"lets one user have {each:g} slots" if each else "sets no limit of slots for one user"
        found[name] += f" (if you may use it) and {allowed}" if slots else ""
    return found
