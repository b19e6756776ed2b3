"""Nodes, partitions, queues and hosts beside the request, where their state was pasted."""

from __future__ import annotations

import re
from collections.abc import Mapping

from graph.waiting.case import WaitCase, WaitingNote
from graph.waiting.spoken import listed, spoken_date
from knowledge.schedulers.accounting import host_names
from knowledge.schedulers.reason_types import ReasonRemedy
from knowledge.schedulers.times import spoken_time
from templates.quoting import shell_word

OUT = ("drain", "drng", "down", "fail", "maint", "boot", "pow", "unk", "futr")


def count(row_count: str) -> int:
    return int(row_count) if row_count.isdigit() else 0


def number_of(nodes: int) -> str:
    return f"{nodes} node{'s' if nodes != 1 else ''}"


def in_queue(printed: str, case: WaitCase) -> bool:
    return printed.rstrip("*") == case.job.queue


def nodes_in(row: Mapping[str, str]) -> int:
    """The nodes of a row of sinfo: counted, or named (`sinfo -N` prints a row for each)."""
    return count(row["NODES"]) if "NODES" in row else len(list(host_names(row.get("NODELIST", "")))) or 1


def usable_nodes(case: WaitCase) -> WaitingNote | None:
    """How many nodes of the partition can be used at all, beside those asked for."""
    rows = [r for r in case.rows("sinfo") if in_queue(r.get("PARTITION", case.job.queue), case) and r.get("STATE")]
    asked = case.job.nodes
    if not rows or not asked or case.found.reason.kind not in ("wait", "node"):
        return None
    out = [row for row in rows if row["STATE"].rstrip("*~#!%$@^-").startswith(OUT)]
    usable = sum(map(nodes_in, rows)) - (lost := sum(map(nodes_in, out)))
    if not lost or usable >= asked:
        return None
    names = ", ".join(f"{row.get('NODELIST', '')}{f': {why}' if (why := row.get('REASON')) else ''}" for row in out)
    fewer = ReasonRemedy(
        text=f"ask for {number_of(usable)}, if that is enough",
        command=f"scontrol update jobid=<JOBID> NumNodes={usable}-{usable}",
    )
    back = ReasonRemedy(text=f"{'or ' if usable else ''}ask support when {names} return")
    do = (fewer, back) if usable else (back,)
    can = f"only {usable} can" if usable else "none can"
    return WaitingNote(
        (
            f"It asks for {number_of(asked)}, and of {case.job.queue} {can} be used now: {lost} ({names}) are out. "
            f"It starts only when they come back{', or with fewer nodes' if usable else ''}."
        ),
        starts="depends",
        do=do,
        only=True,
    )


def out_reasons(case: WaitCase) -> WaitingNote | None:
    """Which nodes are out and why, by a pasted `sinfo -R`."""
    rows = [row for row in case.rows("sinfo") if row.get("REASON") and row.get("NODELIST")]
    named = set(host_names(case.job.printed("ReqNodeList")))
    rows = [row for row in rows if row["REASON"] != "none"]
    rows = [row for row in rows if named & set(host_names(row["NODELIST"]))] or rows
    if not rows or case.found.reason.starts != "depends" or case.found.reason.kind not in ("wait", "node"):
        return None
    out = listed([f"{row['NODELIST']} ({row['REASON']}{out_since(row)})" for row in rows])
    return WaitingNote(f"Out now: {out}.")


def out_since(row: Mapping[str, str]) -> str:
    return f", since {spoken_date(row['TIMESTAMP'])}" if row.get("TIMESTAMP") else ""


FREE = ("idle", "free", "ok")


def node_counts(case: WaitCase) -> dict[str, int]:
    """How many nodes of its queue are in which state, by sinfo, pbsnodes, bhosts or flux resource list."""
    found: dict[str, int] = {}
    for row in case.rows("sinfo", "pbsnodes", "bhosts", "flux resource list"):
        queue = row.get("PARTITION", row.get("QUEUE", "")).rstrip("*")
        state = (row.get("STATE") or row.get("State") or row.get("state") or row.get("STATUS") or "").lower()
        state = state.rstrip("*~#!%$@^-+")
        if state and (queue == case.job.queue or not queue or not case.job.queue):
            many = row.get("NODES") or row.get("NNODES") or ("1" if "PARTITION" not in row else "")
            found[state] = found.get(state, 0) + count(many)
        parts = row.get("NODES(A/I/O/T)", "").split("/")
        if len(parts) == 4 and queue == case.job.queue:
            for name, many in zip(("in use", "idle", "out"), parts, strict=False):
                found[name] = found.get(name, 0) + count(many)
    return found


def free_nodes(case: WaitCase) -> WaitingNote | None:
    """Free nodes beside the request: too few, or kept for others."""
    counts, asked = node_counts(case), case.job.nodes
    idle = sum(counts.get(name, 0) for name in FREE)
    if not counts or not asked or case.found.reason.of != "node" or case.found.reason.kind != "wait":
        return None
    of = f" of {case.job.queue}" if case.job.queue else ""
    rest = listed([f"{many} {name}" for name, many in counts.items() if many and name not in FREE])
    rest = f" ({rest})" if rest else ""
    if not idle:
        return WaitingNote(f"No node{of} is idle{rest}; it asks for {asked}.")
    are = f"{number_of(idle)}{of} {'is' if idle == 1 else 'are'} idle"
    if idle < asked:
        command = {"slurm": f"scontrol update jobid=<JOBID> NumNodes={idle}-{idle}"}.get(case.job.scheduler, "")
        do = ReasonRemedy(text=f"with {number_of(idle)} it fits those that are idle now", command=command)
        return WaitingNote(f"{are}, fewer than the {asked} that it asks for{rest}.", do=(do,))
    return WaitingNote(
        f"{are}: they are kept for a job that stands before it, or do not have what this one asks for (memory, GPUs, a "
        "constraint)."
    )


def named_nodes(case: WaitCase) -> WaitingNote | None:
    """Whether the job asked for nodes by name, where that is printed."""
    asked = case.job.printed("ReqNodeList")
    if case.found.reason.word != "ReqNodeNotAvail" or not asked:
        return None
    if asked == "(null)":
        return WaitingNote("It named no nodes itself (ReqNodeList=(null)), so any others will do.")
    do = ReasonRemedy(
        text="take the named nodes out, so that any will do", command="scontrol update jobid=<JOBID> ReqNodeList="
    )
    says = f"it asks for {asked} by name (`-w`), and that cannot be used now: it waits until just that is back"
    return WaitingNote(instead=says, do=(do,), only=True)


def partition_state(case: WaitCase) -> WaitingNote | None:
    """Whether the partition is shown as closed."""
    for row in case.rows("sinfo"):
        if row.get("PARTITION", "").rstrip("*") == case.job.queue and row.get("AVAIL") in ("down", "inact", "drain"):
            return WaitingNote(f"sinfo shows {case.job.queue} as {row['AVAIL']}.")
    return None


STOPPED = re.compile(r"\bScheduling is stopped(?:: (.*))?")


def queue_state(case: WaitCase) -> WaitingNote | None:
    """Whether the queue takes and starts jobs, by qstat -Q or by flux queue status."""
    if case.found.reason.word in ("sched", "eta") and (stopped := STOPPED.search(case.text)):
        why = f" (`{stopped[1].strip()}`)" if stopped[1] else ""
        return WaitingNote(
            instead=f"its queue starts no job now: staff stopped the scheduling{why}; it starts once that goes on",
            do=(
                ReasonRemedy(
                    text="nothing: staff start it again; another queue may be open", command="flux queue status"
                ),
            ),
            kind="config",
            starts="depends",
            only=True,
        )
    for row in case.rows("qstat -Q"):
        if row.get("Str") == "no":
            return WaitingNote(
                (
                    f"{row['Queue']}: Ena {row.get('Ena')}, Str no, "
                    f"{row.get('Que')} jobs queued, {row.get('Run')} running."
                ),
                {"QUEUE": row["Queue"]},
            )
    return None


def own_host(case: WaitCase) -> WaitingNote | None:
    """The one host that a select line of PBS insists on, and its state by `pbsnodes -l`."""
    select = case.job.printed("Resource_List.select")
    host = re.search(r":?(?:host|vnode)=([\w.-]+)", select)
    if case.found.reason.word != "node-state" or not host:
        return None
    state = re.search(rf"(?m)^\s*{re.escape(host[1])}\s+(\S+)", case.text)
    is_so = (
        f", which staff have set {state[1]}" if state and "offline" in state[1] else f" ({state[1]})" if state else ""
    )
    left = without_host(select, host[1])
    do = ReasonRemedy(text="leave the host out", command=f"qalter -l select={left} <JOBID>")
    back = ReasonRemedy(text=f"or ask support when {host[1]} comes back")
    says = f"it insists on host {host[1]}{is_so}, and waits until that comes back; other free nodes are not used"
    return WaitingNote(instead=says, do=(do, back), only=True)


def without_host(select: str, host: str) -> str:
    """The select line of PBS with that host asked for in no chunk, as a word of the shell."""
    chunks = [
        ":".join(one for one in chunk.split(":") if one not in (f"host={host}", f"vnode={host}")) or "1"
        for chunk in select.split("+")
    ]
    return shell_word("+".join(chunks))


def reservation_of_pbs(case: WaitCase) -> WaitingNote | None:
    """When the reservation in its way begins and ends, by pbs_rstat."""
    row = re.search(r"(?m)^(\w\S*)(?:[ \t]+\S+){3}[ \t]+(\w[^/\n]*?) / (\d+) / (\S.*?)[ \t]*$", case.text)
    if not row or case.found.reason.word not in ("reservation-or-top", "reservation"):
        return None
    long = f", before its {spoken_time(case.job.limit)} would be over" if case.job.limit else ""
    return WaitingNote(
        f"Reservation {row[1]} begins {row[2]}{long}, and ends {row[4]}: free nodes do not help a job of that length.",
        do=(
            ReasonRemedy(text=f"a walltime that ends before {row[2]}", command="qalter -l walltime=<SHORTER> <JOBID>"),
        ),
        only=True,
    )


def hosts_of_lsf(case: WaitCase) -> WaitingNote | None:
    """How many hosts could take it at all, and that the others do not matter."""
    every = re.fullmatch(r"[^;]*: (\d+) hosts?;?", case.job.reason.strip())
    if every and case.found.reason.word == "resource requirements" and re.search(rf"\b{every[1]} hosts", case.words):
        return WaitingNote(
            f"All {every[1]} hosts say so: what select[...] asks for, no host has.",
            instead="no host meets its `-R`",
            kind="limit-request",
            starts="no",
            do=(
                ReasonRemedy(
                    text="ask for what hosts have (lshosts), or spread it over several",
                    command='bmod -R "<RESOURCES>" <JOBID>',
                ),
            ),
            only=True,
        )
    found = re.search(r"(?<!Non-)[Cc]andidate host pending reasons \((\d+) of (\d+) hosts\)", case.job.reason)
    if not found:
        return None
    candidates, hosts = int(found[1]), int(found[2])
    if candidates == 0:
        return WaitingNote(
            "No host is a candidate: none can ever take it as it is asked for.", kind="limit-request", starts="no"
        )
    rest = hosts - candidates
    return WaitingNote(
        f"{candidates} of {hosts} hosts could take it"
        + (f"; the {rest} others (closed, down or outside its choice) do not matter." if rest else ".")
    )
