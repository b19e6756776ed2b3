"""Nodes, partitions, queues and hosts beside the request, where their state was pasted."""

from __future__ import annotations

import re
from collections.abc import Mapping

from graph.waiting.amounts import noun_of, on_one_node, request_of, size, spoken_amount
from graph.waiting.case import Fact, WaitCase, WaitingNote
from graph.waiting.limit_tables import too_short
from graph.waiting.limits_said import idle_said
from graph.waiting.spoken import listed, spoken_date
from knowledge.document import Step
from knowledge.schedulers.accounting import host_names
from knowledge.schedulers.reasons import host_count, slurm_reason
from knowledge.schedulers.times import printed_seconds, spoken_time
from templates.quoting import shell_word

OUT = ("drain", "drng", "down", "fail", "maint", "boot", "pow", "unk", "futr")


def count(row_count: str) -> int:
    return int(row_count) if row_count.isdigit() else 0


def number_of(nodes: int) -> str:
    return f"{nodes} node{'s' if nodes != 1 else ''}"


def in_queue(printed: str, case: WaitCase) -> bool:
    return not case.job.queue or printed.rstrip("*") in case.job.queue.split(",")


def nodes_in(row: Mapping[str, str]) -> int:
    """The nodes of a row of sinfo: counted, or named (`sinfo -N` prints a row for each)."""
    return count(row["NODES"]) if "NODES" in row else len(list(host_names(row.get("NODELIST", "")))) or 1


SOME_STATES = re.compile(r"(?m)\bsinfo\b[^|\n]*\s(?:-\w*[tdr]\b|--(?:states?|dead|responding)\b)")


def bare_state(row: Mapping[str, str]) -> str:
    """The state of nodes as a row of sinfo or scontrol prints it, in small letters and without its marks."""
    return (row.get("STATE") or row.get("State") or "").lower().rstrip("*~#!%$@^-+")


def is_out(state: str) -> bool:
    return any(part.startswith(OUT) for part in state.split("+"))


def state_of_each(case: WaitCase) -> dict[str, str]:
    """The state of each node whose name was printed beside one."""
    rows = case.rows("sinfo", "scontrol show node")
    named = ((row, row.get("NODELIST") or row.get("HOSTNAMES") or row.get("NodeName") or "") for row in rows)
    return {name: bare_state(row) for row, names in named if bare_state(row) for name in host_names(names)}


def usable_nodes(case: WaitCase) -> WaitingNote | None:
    """How many nodes of the partition can be used at all, beside those asked for."""
    shown = case.rows("sinfo")
    rows = [row for row in shown if in_queue(row.get("PARTITION", case.job.queue), case) and told_by_state(row)]
    asked = case.job.nodes
    # A list cut to some states (`sinfo -t idle`, `sinfo -R`) tells nothing of how many there are.
    if not rows or not asked or case.found.reason.kind not in ("wait", "node") or SOME_STATES.search(case.text):
        return None
    if named_by_job(case):  # only their states count
        return None
    counts = [told for row in rows if (told := told_by_state(row))]
    lost = sum(away for _, away in counts)
    usable = sum(every for every, _ in counts) - lost
    out = [row for row, (_, away) in zip(rows, counts, strict=True) if away]
    if not lost:
        return None
    if usable >= asked:
        return enough_left(case, usable, lost)
    listed_out = ((row.get("NODELIST", ""), row.get("REASON", "")) for row in out if bare_state(row))
    names = ", ".join(f"{name}: {why}" if why else name for name, why in listed_out if name)
    command = f"scontrol update jobid=<JOBID> NumNodes={usable}-{usable}"
    fewer = Step(f"ask for {number_of(usable)}, if that is enough", command)
    back = Step(f"{'or ' if usable else ''}ask support when {names or 'the others'} return")
    can = f"only {usable} can" if usable else "none can"
    are = f"{lost}{f' ({names})' if names else ''} are out"
    return WaitingNote(
        f"It asks for {number_of(asked)}, and of {case.job.queue} {can} be used now: {are}. "
        f"It starts only when they come back{', or with fewer nodes' if usable else ''}.",
        starts="depends",
        do=(fewer, back) if usable else (back,),
        only=True,
        facts=(
            Fact("node", parts=(("asked", str(asked)), ("left", str(usable)), ("short", str(asked - usable)))),
            Fact("out", names or str(lost)),
        ),
    )


def told_by_state(row: Mapping[str, str]) -> tuple[int, int] | None:
    """All nodes of a row of sinfo and those of them that are out; None where it does not tell of states."""
    parts = row.get("NODES(A/I/O/T)", "").split("/")
    if len(parts) == 4 and all(part.isdigit() for part in parts):
        return int(parts[3]), int(parts[2])
    return (nodes_in(row), nodes_in(row) if is_out(bare_state(row)) else 0) if bare_state(row) else None


def enough_left(case: WaitCase, usable: int, lost: int) -> WaitingNote | None:
    """Some nodes are out, and the others would do: it is they that are busy or kept."""
    if case.found.reason.word != "Resources":
        return None
    of, are = f" of {case.job.queue}" if case.job.queue else "", "is" if lost == 1 else "are"
    says = (
        f"{number_of(lost)}{of} {are} out, and {usable} can be used: enough for the {case.job.nodes} that it asks for, "
        "if they have what it needs, once enough of them are free together."
    )
    if case.found.reason.starts == "yes":
        return WaitingNote(says)
    nothing = Step("nothing needs doing; fewer nodes or a shorter time may start it sooner")
    busy = "most of the nodes are not out but in use or kept for jobs that stand before it"
    return WaitingNote(says, instead=busy, starts="yes", do=(nothing,), only=True)


def out_reasons(case: WaitCase) -> WaitingNote | None:
    """Which nodes are out and why, by a pasted `sinfo -R`."""
    rows = [row for row in case.rows("sinfo") if row.get("REASON") and row.get("NODELIST")]
    named = set(host_names(named_by_job(case)))
    rows = [row for row in rows if row["REASON"] != "none"]
    rows = [row for row in rows if named & set(host_names(row["NODELIST"]))] or rows
    if not rows or case.found.reason.starts != "depends" or case.found.reason.kind not in ("wait", "node"):
        return None
    out = listed([f"{row['NODELIST']} ({row['REASON']}{out_since(row)})" for row in rows])
    told = [f"{row['NODELIST']} ({', '.join(filter(None, (row['REASON'], row.get('TIMESTAMP', ''))))})" for row in rows]
    return WaitingNote(f"Out now: {out}.", facts=(Fact("out", ", ".join(told[:5])),))


def out_since(row: Mapping[str, str]) -> str:
    return f", since {spoken_date(row['TIMESTAMP'])}" if row.get("TIMESTAMP") else ""


FREE = ("idle", "free", "ok")


def node_counts(case: WaitCase) -> dict[str, int]:
    """How many nodes of its queue are in which state, by sinfo, pbsnodes, bhosts or flux resource list."""
    found, short = dict[str, int](), too_short(case)
    for row in case.rows("sinfo", "pbsnodes", "bhosts", "flux resource list"):
        queue = row.get("PARTITION", row.get("QUEUE", "")).rstrip("*")
        if queue in short or row.get("AVAIL", "up") != "up" or (queue and not in_queue(queue, case)):
            continue
        state = bare_state(row) or (row.get("state") or row.get("STATUS") or "").lower().rstrip("*-")
        if state == "free" and count(row.get("njobs", "")):  # free of PBS means only that it is not full
            state = "in use in part"
        if state:
            many = count(row["NNODES"]) if "NNODES" in row else nodes_in(row)
            found[state] = found.get(state, 0) + many
        parts = row.get("NODES(A/I/O/T)", "").split("/")
        if len(parts) == 4 and (case.job.queue or not queue):
            for name, part in zip(("in use", "idle", "out"), parts, strict=False):
                found[name] = found.get(name, 0) + count(part)
    return found


def free_nodes(case: WaitCase) -> WaitingNote | None:
    """Free nodes beside the request: too few, or kept for others."""
    counts, asked = node_counts(case), case.job.nodes
    if not counts and (told := idle_said(case)) is not None:
        counts = {"idle": told}
    idle = sum(counts.get(name, 0) for name in FREE)
    if not counts or not asked or case.found.reason.of != "node" or case.found.reason.kind != "wait":
        return None
    out = usable_nodes(case)
    if named_by_job(case) or (out and out.starts == "depends"):  # whatever else is free is nothing to it
        return None
    of = f" of {case.job.queue}" if case.job.queue else ""
    gone = out_by_state(case)
    rest = listed(
        [f"{many} {name}{gone.get(name, '')}" for name, many in counts.items() if many and name not in FREE], 9
    )
    rest = f" ({rest})" if rest else ""
    if not idle:
        shown = len(counts) > 1 or not set(counts) & {"idle", "free", "ok"}
        facts = (Fact("free", "0", (("asked", str(asked)),)),)
        kept = " resv means kept by a reservation: `scontrol show reservation` tells for whom and until when."
        kept = kept if counts.keys() & {"resv", "reserved"} else ""
        away = [
            row
            for row in case.rows("sinfo")
            if bare_state(row) == "idle" and not in_queue(row.get("PARTITION", case.job.queue), case)
        ]
        names = listed(list(dict.fromkeys(row["PARTITION"].rstrip("*") for row in away)))
        kept += f" The idle nodes that are shown are of {names}, where it does not wait." if names else ""
        says = f"No node{of} is idle{rest}; it asks for {asked}.{partly_used(case, counts)}{kept}"
        return WaitingNote(says, facts=facts) if shown else None
    are = f"{number_of(idle)}{of} {'is' if idle == 1 else 'are'} idle"
    if idle < asked:
        command = {"slurm": f"scontrol update jobid=<JOBID> NumNodes={idle}-{idle}"}.get(case.job.scheduler, "")
        text = f"with {number_of(idle)} it may start on those idle now, unless they are kept for another job"
        do = Step(text, command)
        facts = (Fact("free", str(idle), (("asked", str(asked)), ("short", str(asked - idle)))),)
        says = f"{are}, fewer than the {asked} that it asks for: {asked - idle} short{rest}."
        return WaitingNote(says, do=(do,), facts=facts)
    return too_small(case, are)


def partly_used(case: WaitCase, counts: Mapping[str, int]) -> str:
    """What `mix` means for a job that is next in line."""
    if case.found.reason.word != "Resources" or not counts.keys() & {"mix", "mixed"} or whole_nodes(case):
        return ""
    nodes = case.job.nodes or 1
    gpus = request_of(case).get("gpu", 0) / nodes
    several = gpus > 1 and gpus.is_integer()
    all_of = f"the {gpus:g} GPUs" if several else "all"
    on = f"each of {nodes} nodes at the same time" if nodes > 1 else "one node"
    free = "are free together" if several else "is free"
    return f" mix means only partly in use: it starts once {all_of} that it asks for {free} on {on}."


def whole_nodes(case: WaitCase) -> WaitingNote | None:
    """That a job shares its nodes with no other, so that only nodes count which are wholly free."""
    waits = case.found.reason.of == "node" and case.found.reason.kind == "wait"
    if not waits or case.job.printed("OverSubscribe") != "NO":
        return None
    # https://slurm.schedmd.com/scontrol.html: NO is what `--exclusive` asks for.
    says = "It asks for whole nodes (OverSubscribe=NO: by `--exclusive`, or by a rule of the partition): nodes partly "
    says += "in use (mix) do not count, whatever is free on them."
    do = Step("submit without `--exclusive`, if it set that and can share its nodes: then nodes in mix will do")
    return WaitingNote(says, do=(do,))


SWITCHES = re.compile(
    r"(?m)\bSwitches=(?P<of>\d{1,6})\b(?:@(?P<wait>[\d:-]+))?|--switches[ =](?P<asked>\d{1,6})\b(?:@(?P<most>[\d:-]+))?"
)
LEAF = re.compile(r"(?m)^[^\S\n]*SwitchName=(\S+) Level=0 .*?\bNodes=(\S+)")


def one_switch(case: WaitCase) -> WaitingNote | None:
    """That all its nodes have to lie below so many switches, and how many of each switch are idle."""
    found = SWITCHES.search(case.text)
    if not found or case.found.reason.of != "node" or case.found.reason.kind != "wait" or not case.job.nodes:
        return None
    most, wait = found["of"] or found["asked"], printed_seconds(found["wait"] or found["most"] or "")
    idle = {name for name, state in state_of_each(case).items() if state == "idle"}
    below = {name: len(idle & set(host_names(nodes))) for name, nodes in LEAF.findall(case.text)}
    below = {name: many for name, many in below.items() if many}
    switches = f"{most} switch{'es' if most != '1' else ''}"
    says = f"It asks for its {number_of(case.job.nodes)} below {switches} together (`--switches={most}`)"
    enough = sum(sorted(below.values(), reverse=True)[: int(most)]) >= case.job.nodes
    if below and not enough:
        each = listed([f"{many} below {name}" for name, many in below.items()])
        says += f": the {sum(below.values())} idle nodes are {each}, too few on {switches}"
    until = f"; that wish is dropped when it has waited {spoken_time(wait)}" if wait else ""
    more = Step(
        "a wider wish, for the next submission (or none: leave `--switches` out)", f"--switches={int(most) + 1}"
    )
    now = Step(
        "where slower links between its nodes do, change it in place", "scontrol update jobid=<JOBID> Switches=0"
    )
    held = bool(below) and not enough
    instead = f"it waits for {number_of(case.job.nodes)} that lie below {switches}" if held else ""
    return WaitingNote(f"{says}{until}.", do=(now, more), only=held, instead=instead)


def too_small(case: WaitCase, are: str) -> WaitingNote | None:
    """Idle nodes of which none has the memory that it asks for on one node; what would fit them."""
    asked = on_one_node(case).get("mem", 0.0)
    rows = [row for row in case.rows("sinfo") if in_queue(row.get("PARTITION", case.job.queue), case)]
    most = max((size(row.get("MEMORY", "")) or asked for row in rows if bare_state(row) in FREE), default=asked)
    if most >= asked:
        return None
    has = f"none of them has more than {spoken_amount('mem', most)}, and it asks for {spoken_amount('mem', asked)}"
    command = f"scontrol update jobid=<JOBID> MinMemoryNode={most / 2**20 * 0.97:.0f}M"
    do = Step(f"with {most * 0.97 / 2**30:.0f} GB on a node, if that is enough, it may start there now", command)
    return WaitingNote(f"{are}, but {has} on one node.", do=(do,))


def out_by_state(case: WaitCase) -> dict[str, str]:
    """The names of the nodes that are out, by state: ` (n05, n06)`."""
    found: dict[str, list[str]] = {}
    for row in case.rows("sinfo", "pbsnodes", "bhosts", "flux resource list"):
        state = bare_state(row) or (row.get("state") or row.get("STATUS") or "").lower().rstrip("*-")
        name = row.get("NODELIST") or row.get("vnode") or row.get("HOST_NAME") or ""
        if name and (is_out(state) or state.startswith(("offline", "unavail", "unreach", "closed_adm"))):
            found.setdefault(state, []).append(name)
    return {state: f" ({listed(names)})" for state, names in found.items()}


def named_by_job(case: WaitCase) -> str:
    """The nodes that the job insists on, as printed; empty where it names none or that is not printed."""
    printed = case.job.printed("ReqNodeList") or case.job.printed("REQ_NODES")
    said = re.search(r"(?:#SBATCH|\bsbatch|\bsrun)\b[^\n]*?(?:\s-w|--nodelist)[ =]*([\w,\[\]-]+)", case.text)
    return (printed or (said[1] if said else "")).replace("(null)", "")


def named_nodes(case: WaitCase) -> WaitingNote | None:
    """Whether the job asked for nodes by name, and what is told of just those."""
    word, asked = case.found.reason.word, named_by_job(case)
    if word not in ("ReqNodeNotAvail", "NodeDown", "Resources", "Priority") or case.found.reason.kind not in (
        "wait",
        "node",
    ):
        return None
    if not asked:
        none = case.job.printed("ReqNodeList") == "(null)" and word == "ReqNodeNotAvail"
        says = "It named no nodes itself (ReqNodeList=(null)), so any others will do."
        counts = node_counts(case)
        in_use = sum(many for state, many in counts.items() if state.startswith(("alloc", "mix", "in use")))
        if in_use and not any(counts.get(name) for name in FREE):
            says += f" The {in_use} nodes that are not out are all in use: it waits for one of those."
        return WaitingNote(says, facts=(Fact("named", "-"),)) if none else None
    do = Step("take the named nodes out, so that any will do", "scontrol update jobid=<JOBID> ReqNodeList=")
    if word == "ReqNodeNotAvail" and case.found.reason.starts == "yes":  # kept for something, and that is told
        return WaitingNote(f"It asks for {asked} by name (`-w`): only that counts, whatever else is free.", do=(do,))
    states = state_of_each(case)
    told = {name: states.get(name, "") for name in host_names(asked)}
    down = set(host_names(unavailable(case.job.reason))) | {
        n for row in case.rows("sinfo") for n in out_with_reason(row)
    }
    out = [name for name, state in told.items() if is_out(state) or (not state and name in down)]
    if out:
        why = why_out(case)
        gone = f"{listed(out)} cannot be used now{why}"
        says = f"it asks for {asked} by name (`-w`), and {gone}: it waits until that is back"
        facts = (Fact("named", asked), Fact("out", ", ".join(out)))
        return WaitingNote(instead=says, do=(do,), only=True, kind="node", starts="depends", facts=facts)
    busy = [name for name, state in told.items() if state.startswith(("alloc", "mix", "comp"))]
    if busy:
        says = f"it asks for {asked} by name (`-w`), and {listed(busy)} {'is' if len(busy) == 1 else 'are'} in use now"
        return WaitingNote(instead=says, do=(do,), only=True, starts="yes", kind="wait")
    says = f"It asks for {asked} by name (`-w`): only that counts, whatever else is free."
    return WaitingNote(says, do=(do,), facts=(Fact("named", asked),))


def why_out(case: WaitCase) -> str:
    """` (DOWN: Not responding [slurm@2026-11-23T02:10:44])` of the one node that `scontrol show node` prints."""
    rows = [row for row in case.rows("scontrol show node") if is_out(bare_state(row))]
    reason = rows[0].get("Reason", "") if len(rows) == 1 else ""
    return f" ({rows[0].get('State', '').rstrip('*')}{f': {reason}' if reason else ''})" if len(rows) == 1 else ""


def unavailable(reason: str) -> str:
    found = re.search(r"UnavailableNodes:(\S+)", reason)
    return found[1].rstrip(")") if found else ""


def out_with_reason(row: Mapping[str, str]) -> list[str]:
    """The nodes of a row of `sinfo -R`, which lists only those that are out."""
    listed_out = row.get("REASON", "none") != "none" and not row.get("STATE")
    return list(host_names(row.get("NODELIST", ""))) if listed_out else []


def partition_state(case: WaitCase) -> WaitingNote | None:
    """Whether the partition is shown as closed."""
    for row in case.rows("sinfo"):
        if row.get("PARTITION", "").rstrip("*") == case.job.queue and row.get("AVAIL") in ("down", "inact", "drain"):
            says = f"sinfo shows {case.job.queue} as {row['AVAIL']}."
            facts = (Fact("sinfo", f"{case.job.queue} {row['AVAIL']}"),)
            closed = slurm_reason("PartitionDown" if row["AVAIL"] == "down" else "PartitionInactive")
            # https://slurm.schedmd.com/scontrol.html: a partition that drains still starts what is queued in it.
            if not closed or row["AVAIL"] == "drain" or case.found.reason.kind != "wait":
                return WaitingNote(says, facts=facts)
            do, why = closed.reason.do, closed.reason.says
            return WaitingNote(says, instead=why, do=do, kind="config", starts="depends", only=True, facts=facts)
    return None


STARTED = re.compile(r"(?m)^ *(\S+): Scheduling is started")
STOPPED = re.compile(r"\bScheduling is stopped(?:: (.*))?")


def queue_state(case: WaitCase) -> WaitingNote | None:
    """Whether the queue takes and starts jobs, by qstat -Q or by flux queue status."""
    if case.found.reason.word in ("sched", "eta") and (stopped := STOPPED.search(case.text)):
        why = f" (`{stopped[1].strip()}`)" if stopped[1] else ""
        name = f"its queue {case.job.queue}".rstrip()
        free, asked = node_counts(case).get("free", 0), case.job.nodes or 0
        enough = f"{free} nodes are free for the {asked} that it asks for: neither its size nor its priority holds it."
        others = listed([one for one in STARTED.findall(case.text) if one != case.job.queue])
        text = (
            f"nothing: staff start it again; {others or 'another queue'} {'starts jobs' if others else 'may be open'}"
        )
        return WaitingNote(
            enough if asked and free >= asked else "",
            instead=(f"{name} starts no job now: staff stopped the scheduling{why}; it starts once that goes on"),
            do=(Step(text, "flux queue status"),),
            kind="config",
            starts="depends",
            only=True,
        )
    for row in case.rows("bqueues") if case.found.reason.word == "queue inactive" else ():
        if (row.get("RUN"), case.job.queue in ("", row.get("QUEUE_NAME"))) == ("0", True):
            says = f"In {row.get('QUEUE_NAME', 'it')} {row.get('PEND')} jobs wait and none runs: it holds everybody."
            return WaitingNote(says, {"QUEUE": row.get("QUEUE_NAME", "")})
    for row in case.rows("qstat -Q"):
        if row.get("Str") == "no":
            says = (
                f"{row['Queue']}: Ena {row.get('Ena')}, Str no, {row.get('Que')} jobs queued, {row.get('Run')} running."
            )
            return WaitingNote(says, {"QUEUE": row["Queue"]})
    return None


def own_host(case: WaitCase) -> WaitingNote | None:
    """The one host that a select line of PBS insists on, and its state by `pbsnodes -l`."""
    select = case.job.printed("Resource_List.select")
    host = re.search(r":?(?:host|vnode)=([\w.-]+)", select)
    if case.found.reason.word != "node-state" or not host:
        return None
    state = re.search(rf"(?m)^[^\S\n]*{re.escape(host[1])}\s+(\S+)", case.text)
    is_so = (
        f", which staff have set {state[1]}" if state and "offline" in state[1] else f" ({state[1]})" if state else ""
    )
    left = without_host(select, host[1])
    do = Step("leave the host out", f"qalter -l select={left} <JOBID>")
    back = Step(f"or ask support when {host[1]} comes back")
    says = f"it insists on host {host[1]}{is_so}, and waits until that comes back; other free nodes are not used"
    return WaitingNote(instead=says, do=(do, back), only=True)


def without_host(select: str, host: str) -> str:
    """The select line of PBS with that host asked for in no chunk, as a word of the shell."""
    chunks = [
        ":".join(one for one in chunk.split(":") if one not in (f"host={host}", f"vnode={host}")) or "1"
        for chunk in select.split("+")
    ]
    return shell_word("+".join(chunks))


def asked_of_a_host(case: WaitCase) -> WaitingNote | None:
    """The GPUs that a job of LSF asks for on one host, where no host takes it."""
    gpus = on_one_node(case).get("gpu")
    if case.found.reason.word != "no suitable hosts" or not gpus or case.machine or case.rows("bhosts"):
        return None
    says = (
        f"It asks for {spoken_amount('gpu', gpus)} on ONE host (`-gpu num={gpus:g}`); `bhosts -gpu` lists each host's."
    )
    spread = f'bsub -n 2 -gpu "num={gpus / 2:g}" -R "span[ptile=1]" <SCRIPT>'
    do = (Step(f"2 hosts, say, with {spoken_amount('gpu', gpus / 2)} each", spread),) if gpus % 2 == 0 else ()
    return WaitingNote(says, do=do, facts=(Fact("gpu per-node", parts=(("asked", f"{gpus:g}"),)),))


def counted_hosts(case: WaitCase) -> WaitingNote | None:
    """How many hosts have too little free of what it reserves, how many are closed, and which could ever give it."""
    if case.found.reason.word not in ("resource in use", "memory in use", "not enough free"):
        return None
    lines = [line.strip() for line in case.job.reason.split(";")]
    few = re.compile(r"requirement|(?i:\bnot enough (?P<of>\w+))")
    short = sum(host_count(line) for line in lines if few.search(line))
    shut = sum(host_count(line) for line in lines if "Closed by" in line or "locked by" in line)
    if not short:
        return None
    res = case.found.named.get("res", "")
    hosts = f"{short} hosts have" if short > 1 else "1 host has"
    told = next((found["of"] for line in lines if (found := few.search(line)) and found["of"]), "")
    says = f"{hosts} not enough {told or noun_of('gpu' if 'gpu' in res else res) or 'of it'} free now"
    says += f" and {shut} {'are' if shut > 1 else 'is'} closed by staff" if shut else ""
    silent = sum(host_count(line) for line in lines if re.search("Load information|unreachable|Unable to reach", line))
    says += f"; {silent} {'do' if silent > 1 else 'does'} not answer (no load information)" if silent else ""
    says += f". It waits for the first, not for {'those' if shut > 1 else 'the one'} closed" if shut else ""
    facts = (Fact("out", str(shut)),) if shut else ()
    return WaitingNote(f"{says}.{large_hosts(case) if res == 'mem' else ''}", facts=facts)


def large_hosts(case: WaitCase) -> str:
    """The hosts whose memory in all would be enough."""
    asked = request_of(case).get("mem")
    most = {row["HOST_NAME"]: size(row.get("maxmem", "")) or 0.0 for row in case.rows("lshosts")}
    large = [name for name, value in most.items() if asked and value >= asked]
    return f" {listed(large)} can give it: it starts when so much is free on one." if large else ""


def hosts_of_lsf(case: WaitCase) -> WaitingNote | None:
    """How many hosts could take it at all, and that the others do not matter."""
    every = re.fullmatch(r"[^;]*: (\d+) hosts?;?", case.job.reason.strip())
    if every and case.found.reason.word == "resource requirements" and re.search(rf"\b{every[1]} hosts", case.words):
        return WaitingNote(
            f"All {every[1]} hosts say so: what select[...] asks for, no host has.",
            instead="no host meets its `-R`",
            kind="limit-request",
            starts="no",
            do=(Step("ask for what hosts have (lshosts), or spread it over several", 'bmod -R "<RESOURCES>" <JOBID>'),),
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
    named = case.job.printed("Specified Hosts")
    why = f": it names {named} (`-m`)" if named else " (closed, down or outside what it asks for)"
    left = (
        f"; the {rest} other{'s are' if rest > 1 else ' is'} no candidate{'s' if rest > 1 else ''}{why}" if rest else ""
    )
    if case.found.reason.kind != "node":
        return WaitingNote(f"LSF weighs {candidates} of {hosts} hosts for it{left}.")
    free = f" {case.found.reason.says.replace('hosts', 'these', 1)}, so none of them takes it now"
    do = (Step("leave `-m` out, if other hosts will do", "bmod -mn <JOBID>"),) if named else ()
    return WaitingNote(f"LSF weighs {candidates} of {hosts} hosts for it{left};{free}.", do=do)
