"""Limits beside the request: the partition's, the machine's, a reservation's hours, a budget, licences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from graph.waiting.case import WaitCase, WaitingNote
from graph.waiting.spoken import listed, moment_of, spoken_date
from knowledge.cluster import Cluster, Queue
from knowledge.schedulers.reason_types import ReasonRemedy
from knowledge.schedulers.times import printed_seconds, slurm_time, spoken_time

TIME_WORDS = ("PartitionTimeLimit", "QOSMaxWallDurationPerJobLimit", "AssocMaxWallDurationPerJobLimit")


def partition_limits(case: WaitCase) -> WaitingNote | None:
    """The partition's own numbers, where they were pasted."""
    rows = [
        row
        for row in case.rows("scontrol show partition")
        if row.get("PartitionName", case.job.queue) == case.job.queue or len(case.rows("scontrol show partition")) == 1
    ]
    limits = {**(rows[0] if rows else {})}
    word = case.found.reason.word
    if word in TIME_WORDS:
        wall = limit_row(case).get("MaxWall", "")
        most = printed_seconds(wall if word != "PartitionTimeLimit" else limits.get("MaxTime", "")) or sinfo_limit(case)
        return time_note(case.job.limit, most) if most else own_time(case)
    if word == "PartitionNodeLimit":
        high, least, asked = limits.get("MaxNodes", ""), limits.get("MinNodes", ""), case.job.nodes
        if asked and least.isdigit() and asked < int(least):
            says = f"It asks for {asked} {'node' if asked == 1 else 'nodes'}; the partition takes no job below {least}."
            return WaitingNote(says, {"N": least})
        return node_note(asked, int(high)) if high.isdigit() else None
    return None


def partition_access(case: WaitCase) -> WaitingNote | None:
    """A QOS that the partition does not take: Slurm itself gives a reason of its nodes then."""
    rows = [row for row in case.rows("scontrol show partition") if row.get("PartitionName") in (case.job.queue, "")]
    if case.found.reason.word == "AccountNotAllowed":
        return account_access(case)
    taken = rows[0].get("AllowQos", "ALL") if rows else "ALL"
    if (
        taken == "ALL"
        or not case.job.qos
        or case.job.qos in taken.split(",")
        or case.found.reason.kind == "limit-request"
    ):
        return None
    first = taken.split(",")[0]
    do = ReasonRemedy(
        text=f"take a QOS of the partition ({taken})", command=f"scontrol update jobid=<JOBID> QOS={first}"
    )
    other = ReasonRemedy(text="or another partition", command="scontrol update jobid=<JOBID> Partition=<OTHER>")
    says = f"its QOS `{case.job.qos}` is none that the partition {case.job.queue} takes ({taken})"
    return WaitingNote(instead=says, kind="config", starts="no", do=(do, other), only=True)


def account_access(case: WaitCase) -> WaitingNote | None:
    """The accounts that the partition takes, beside the one asked for and those that the person has."""
    allowed = next((row["AllowAccounts"] for row in case.rows("scontrol show partition") if "AllowAccounts" in row), "")
    taken = [name for name in allowed.split(",") if name != "ALL"]
    if not taken:
        return None
    said = re.search(r"(?:-A|--account)[ =](\S+?)[)\s,]", case.text + " ")
    asked = case.job.account or (said[1] if said else "")
    yours = [name for name in taken if name != asked and re.search(rf"(?m)^\s*{re.escape(name)}\b", case.text)]
    who = f"; of these you have {listed(yours)}" if yours else ""
    first = yours[0] if yours else "<OTHER_ACCOUNT>"
    do = ReasonRemedy(
        text="an account that may, if the work belongs to it", command=f"scontrol update jobid=<JOBID> Account={first}"
    )
    name = f"account {asked}" if asked else "its account"
    return WaitingNote(f"The partition takes {listed(taken)}, not {name}{who}.", do=(do,))


def memory_limit(case: WaitCase) -> WaitingNote | None:
    """Memory a core or a node beside the partition's own limit."""
    if case.found.reason.word != "MaxMemPerLimit":
        return None
    for limit, option, noun in (
        ("MaxMemPerCPU", "--mem-per-cpu|MinMemoryCPU", "core"),
        ("MaxMemPerNode", "--mem|MinMemoryNode", "node"),
    ):
        most = re.search(rf"{limit}=(\d+)", case.text)
        asked = re.search(rf"(?:{option})[= ](\d+(?:\.\d+)?)([KMGT]?)", case.text)
        if most and asked:
            top = f"{most[1]} MB"
            do = ReasonRemedy(text=f"at most {top} a {noun} (`{option.split('|')[0]}={most[1]}M`), and submit again")
            return WaitingNote(
                f"It asks for {asked[1]} {asked[2] or 'M'}B a {noun}; the partition allows {top}.", do=(do,)
            )
    return None


def sinfo_limit(case: WaitCase) -> float | None:
    """TIMELIMIT of the job's partition in a pasted sinfo."""
    for row in case.rows("sinfo"):
        if row.get("PARTITION", "").rstrip("*") == case.job.queue:
            return printed_seconds(row.get("TIMELIMIT", ""))
    return None


def time_note(asked: float | None, most: float) -> WaitingNote:
    request = f"It asks for {spoken_time(asked)}; the" if asked else "The"
    return WaitingNote(f"{request} limit is {spoken_time(most)}.", {"MAXTIME": slurm_time(most)})


def own_time(case: WaitCase) -> WaitingNote | None:
    """What it asks for, where the limit itself was not pasted and no machine is known that tells it."""
    return WaitingNote(f"It asks for {spoken_time(case.job.limit)}.") if case.job.limit and not case.machine else None


def node_note(asked: int | None, most: int) -> WaitingNote:
    request = f"It asks for {asked} nodes; the" if asked else "The"
    return WaitingNote(f"{request} limit is {most} nodes.", {"N": str(most)})


def machine_limits(case: WaitCase) -> WaitingNote | None:
    """What the machine's facts say of the request, where the machine is known."""
    # What the scheduler here says of the partition comes before a machine's facts: it may want more nodes, not fewer.
    if case.machine is None or (case.found.reason.word == "PartitionNodeLimit" and partition_limits(case)):
        return None
    if case.found.reason.word in ("nodes-not-enough-total", "PartitionNodeLimit", "unsatisfiable"):
        return too_many_nodes(case, case.machine)
    if case.found.reason.word in ("no suitable hosts", "unsatisfiable"):
        return too_many_gpus(case, case.machine)
    if (
        case.found.reason.word in TIME_WORDS
        and (queue := queue_of(case.machine, case.job.queue))
        and queue.max_walltime
    ):
        most = printed_seconds(queue.max_walltime)
        return (
            WaitingNote(
                (
                    f"On {case.machine.title} {queue.id} takes at most "
                    f"{spoken_time(most)} (facts of {case.machine.as_of})."
                ),
                {"MAXTIME": slurm_time(most)},
            )
            if most
            else None
        )
    return None


def queue_of(machine: Cluster, name: str) -> Queue | None:
    return next(
        (q for q in machine.queues if name and (name in (q.id, *q.names) or q.id.startswith(name.rstrip("+-")))), None
    )


def asked_nodes(case: WaitCase) -> int | None:
    found = re.search(r"select[ =]+(\d+)|(?:-N|--nodes)[= ]*(\d+)|(\d+) nodes", case.text)
    return case.job.nodes or (int(next(n for n in found.groups() if n)) if found else None)


def too_many_nodes(case: WaitCase, machine: Cluster) -> WaitingNote | None:
    """The nodes asked for beside those that exist, and the most that a queue gives."""
    asked = asked_nodes(case)
    total = sum(node.count or 0 for node in machine.node_types if node.gpus.per_node)
    largest = max(machine.queues, key=lambda q: q.max_nodes or 0)
    if not asked or not total:
        return None
    exist = f"{machine.title} has {total} nodes with GPUs" + (
        f", so {asked} can never be given" if asked > total else f"; it asks for {asked}"
    )
    most = f"; {largest.id} takes at most {largest.max_nodes} in one job" if largest.max_nodes else ""
    do = (
        ReasonRemedy(
            text=f"at most {largest.max_nodes} nodes in {largest.id}; submit again",
            command=resize(machine, largest.max_nodes),
        )
        if largest.max_nodes
        else None
    )
    return WaitingNote(
        f"{exist}{most} (facts of {machine.as_of}).",
        {"N": str(largest.max_nodes or "")},
        do=(do,) if do else (),
        only=bool(do),
    )


def resize(machine: Cluster, nodes: int) -> str:
    return (
        f"#PBS -l select={nodes}"
        if machine.scheduler == "pbs"
        else f"#SBATCH --nodes={nodes}"
        if machine.scheduler == "slurm"
        else ""
    )


def too_many_gpus(case: WaitCase, machine: Cluster) -> WaitingNote | None:
    """GPUs asked of one host beside those that a host has."""
    found = re.search(r"num=(\d+)", case.text)
    has = max((node.gpus.per_node or 0 for node in machine.node_types), default=0)
    if not found or not has or int(found[1]) <= has:
        return None
    hosts = -(-int(found[1]) // has)
    do = ReasonRemedy(
        text=f"{has} GPUs a host on {hosts} hosts; submit again",
        command=f'#BSUB -n {hosts} -gpu "num={has}" -R "span[ptile=1]"',
    )
    return WaitingNote(
        f"It asks for {found[1]} GPUs on one host, and hosts of {machine.title} have {has}.",
        do=(do, ReasonRemedy(text=f"or `-nnodes {hosts}` with jsrun, as the site shows it")),
        only=True,
    )


def reservation_window(case: WaitCase) -> WaitingNote | None:
    """The hours of its reservation beside the time it asks for."""
    if case.found.reason.word != "Reservation":
        return None
    name = case.job.printed("Reservation")
    rows = [row for row in case.rows("scontrol show reservation") if not name or row.get("ReservationName") == name]
    if not rows:
        return WaitingNote(f"Its reservation is {name}.") if name and name != "(null)" else None
    row = rows[0]
    name, start, end = row.get("ReservationName", name), row.get("StartTime", ""), row.get("EndTime", "")
    begin, close = moment_of(start), moment_of(end)
    until = spoken_date(end)[-5:] if start[:10] == end[:10] else spoken_date(end)
    says = f"The reservation {name} lasts from {spoken_date(start)} to {until}."
    if not begin or not close or not case.job.limit:
        return WaitingNote(says)
    length = (close - begin).total_seconds()
    if case.job.limit <= length:
        return WaitingNote(
            (
                f"{says} Its {spoken_time(case.job.limit)} fit into these "
                f"{spoken_time(length)}: it starts by itself when the reservation begins."
            ),
            starts="yes",
        )
    do = (
        ReasonRemedy(
            text=f"ask for {spoken_time(length)} or less",
            command=f"scontrol update jobid=<JOBID> TimeLimit={slurm_time(length)}",
        ),
        ReasonRemedy(text="or leave the reservation", command="scontrol update jobid=<JOBID> ReservationName="),
    )
    return WaitingNote(
        (
            f"{says} It asks for {spoken_time(case.job.limit)}, which do not "
            f"fit into {spoken_time(length)}: it never starts there as it is."
        ),
        starts="no",
        do=do,
        only=True,
    )


def maintenance(case: WaitCase) -> WaitingNote | None:
    """The maintenance that it would run into, and the time that ends before it."""
    if "aintenance" not in case.job.reason and case.found.reason.word not in ("dedicated-time", "reservation"):
        return None
    rows = [
        row
        for row in case.rows("scontrol show reservation")
        if "MAINT" in row.get("Flags", "") or "aint" in row.get("ReservationName", "")
    ]
    asked = f" Its {spoken_time(case.job.limit)} would run into it." if case.job.limit else ""
    said = re.search(r"walltime (?:is )?(\d+ ?h(?:ours)?)", case.words)
    if not asked and said:
        asked = f" Its {said[1]} would run into it."
    if not rows:
        return WaitingNote(asked.strip()) if asked else None
    begins = moment_of(rows[0].get("StartTime", ""))
    return WaitingNote(f"It begins {spoken_date(rows[0].get('StartTime', ''))}.{asked}{left_until(begins, case)}")


def left_until(begins: datetime | None, case: WaitCase) -> str:
    judged = moment_of(case.job.printed("LastSchedEval") or case.job.submitted)
    if not begins or not judged or begins <= judged:
        return ""
    return f" From {spoken_date(judged.isoformat())} on that is {spoken_time((begins - judged).total_seconds())}."


TRES = {"cpu": "cpu", "mem": "mem", "memory": "mem", "node": "node", "gres": r"gres/gpu", "billing": "billing"}


def limit_beside_request(case: WaitCase) -> WaitingNote | None:
    """The limit's own number, where sacctmgr or assoc_mgr was pasted, beside what this job asks for."""
    limit = case.found.limit
    if limit is not None and limit.counts == "minimum":
        return fewest_of_qos(case)
    if limit is None or limit.resource not in TRES or limit.counts != "held":
        return None
    resource = TRES[limit.resource]
    asked = amount_of(resource, case.job.printed("ReqTRES")) or (case.job.nodes if resource == "node" else None)
    if asked is None and resource == "gres/gpu" and case.job.nodes and (each := gpus_each(case)):
        asked = case.job.nodes * each
    rest = re.sub(r"(?:Req|Alloc)TRES=\S+", "", case.text)
    row = limit_row(case)
    top = amount_of(resource, row.get(COLUMN[limit.set_on, limit.whose], "")) if row else amount_of(resource, rest)
    if top is None:
        return (
            WaitingNote(f"It asks for {asked} {limit.noun.split(' (')[0]}.") if asked and limit.whose == "job" else None
        )
    used = re.search(rf"{resource}(?::\w+)?=\d+\((\d+)\)", rest)
    now = f", of which {used[1]} are in use" if used else ""
    noun = limit.noun.split(" (")[0]
    if asked is None:
        return WaitingNote(f"The limit is {top} {noun}{now}.")
    if asked > top:
        name, where = ("QOS", "a QOS") if limit.set_on == "qos" else ("account", "an account")
        fewer = (
            f"scontrol update jobid=<JOBID> NumNodes={top}-{top}" if resource == "node" and case.job.id.strip() else ""
        )
        noun_of_top = noun.removesuffix("s") if top == 1 else noun
        again = "" if fewer else " and submit again"
        do = ReasonRemedy(
            text=f"ask for at most {top} {noun_of_top}{again}, or take {where} with a higher limit", command=fewer
        )
        says = f"alone it asks for more than is allowed: {asked} {noun}, and the {name} allows {top}"
        return WaitingNote(instead=says, starts="no", do=(do,), only=True)
    return WaitingNote(f"It asks for {asked} {noun}; the limit is {top}{now}.")


def fewest_of_qos(case: WaitCase) -> WaitingNote | None:
    """The nodes that a QOS wants at least, beside those asked for."""
    least, asked = amount_of("node", limit_row(case).get("MinTRES", "")), case.job.nodes
    if not least or not asked or asked >= least:
        return None
    more = ReasonRemedy(
        text=f"ask for {least} nodes, if the job can use them, or take a QOS for small jobs",
        command=f"scontrol update jobid=<JOBID> NumNodes={least}-{least}",
    )
    says = f"It asks for {asked} {'node' if asked == 1 else 'nodes'}; the QOS takes no job below {least}."
    return WaitingNote(says, do=(more,), only=True)


# Where sacctmgr prints whose limit (https://slurm.schedmd.com/sacctmgr.html, read 2026-11-22).
COLUMN = {
    ("qos", "user"): "MaxTRESPU",
    ("qos", "account"): "MaxTRESPA",
    ("qos", "qos"): "GrpTRES",
    ("account", "account"): "GrpTRES",
    ("account", "user"): "MaxTRES",
    ("qos", "job"): "MaxTRES",
    ("account", "job"): "MaxTRES",
}


def limit_row(case: WaitCase) -> Mapping[str, str]:
    """The row of sacctmgr for the job's QOS or account; its only row where it names none."""
    rows = case.rows("sacctmgr")
    named = [row for row in rows if case.job.qos and row.get("Name") == case.job.qos]
    named = named or [row for row in rows if case.job.account and row.get("Account") == case.job.account]
    return (named or (rows if len(rows) == 1 else []) or [{}])[0]


def amount_of(resource: str, text: str) -> int | None:
    found = re.search(rf"{resource}(?::\w+)?=(\d+)", text)
    return int(found[1]) if found else None


LEFT = re.compile(r"(?i)balance|remaining|available|left")


def budget(case: WaitCase) -> WaitingNote | None:
    """Size x time beside what is left of the allocation, where a balance was pasted."""
    if case.found.reason.kind != "limit-budget":
        return None
    left, hours, nodes = balance(case.words), asked_hours(case), case.job.nodes
    gpus = gpus_each(case)
    if left is None or not hours or not nodes:
        return None
    size = nodes * (gpus or 1)
    unit = "GPU hours" if gpus else "node hours"
    parts = f"{nodes} nodes" + (f" x {gpus} GPUs" if gpus else "") + f" x {hours:g} h = {size * hours:g} {unit}"
    if size * hours <= left:
        return WaitingNote(f"{parts}; {left:g} are left.")
    most = left / size
    do = ReasonRemedy(
        text=f"with {nodes} nodes ask for at most {int(most * 10) / 10:g} h ({left:g} / {size}), or take fewer nodes",
        command=f"scontrol update jobid=<JOBID> TimeLimit={slurm_time(int(most) * 3600)}",
    )
    return WaitingNote(
        f"{parts}, more than the {left:g} that are left: as it is it never starts, until the allocation is filled up.",
        do=(do,),
        only=True,
    )


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


def asked_hours(case: WaitCase) -> float | None:
    said = re.search(r"(?i)\b(?:time|-t|walltime)[= ]+(\S+)", case.words)
    spoken = re.search(r"(?i)(?<![\w.:])(\d+(?:\.\d+)?) ?h(?:ours?|rs?)?\b", case.words)
    seconds = case.job.limit or (printed_seconds(said[1]) if said else None)
    return seconds / 3600 if seconds else float(spoken[1]) if spoken else None


def gpus_each(case: WaitCase) -> int | None:
    """GPUs on each node: from the request, the partition's name (gpuA100x4), or the machine's facts."""
    told = case.job.printed("TresPerNode") or case.job.printed("TRES_PER_NODE")
    asked = re.search(r"gpu(?::\w+)?[=:](\d+)", told)
    named = re.search(r"x(\d)$", case.job.queue)
    if asked or named:
        return int((asked or named)[1])  # type: ignore[index]
    queue = queue_of(case.machine, case.job.queue) if case.machine else None
    nodes = [n for n in case.machine.node_types if queue and n.id in queue.node_types] if case.machine else []
    return nodes[0].gpus.per_node if nodes else None


def licences(case: WaitCase) -> WaitingNote | None:
    """The licences that are used up, or gone."""
    if case.found.reason.word != "Licenses":
        return None
    for row in case.rows("scontrol show licenses"):
        if row.get("Total") == "0" or (row.get("Free") == "0" and row.get("Reserved") == row.get("Total")):
            name = row["LicenseName"]
            none = "a total of 0" if row.get("Total") == "0" else "none free: all are reserved"
            do = ReasonRemedy(
                text=f"wait for {name} (status page, support); leave `-L {name}` out only if the job does not use it"
            )
            return WaitingNote(
                (
                    f"The licence {name} has {none}. Where a file system is counted as a licence (it is no program's "
                    f"then), that means that {name} is taken out or down; it starts when that is back."
                ),
                do=(do,),
                only=True,
            )
        if row.get("Free") == "0":
            return WaitingNote(f"Of the licence {row['LicenseName']} all {row.get('Total')} are in use.")
    asked = case.job.printed("Licenses")
    return WaitingNote(f"It asks for {asked}.") if asked and asked != "(null)" else None
