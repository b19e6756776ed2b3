"""What is free on each node that was pasted, beside what the job asks for on one node."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graph.waiting.amounts import GPUS, amount, bare_amount, on_one_node, size, spoken_amount, tres
from graph.waiting.case import Fact, WaitCase, WaitingNote
from graph.waiting.constraint_seen import gpu_type
from graph.waiting.limits_said import idle_said
from graph.waiting.nodes_seen import (
    FREE,
    bare_state,
    free_nodes,
    in_queue,
    is_out,
    named_by_job,
    node_counts,
    nodes_in,
    number_of,
    one_switch,
    usable_nodes,
    whole_nodes,
)
from graph.waiting.spoken import listed
from knowledge.document import Step
from knowledge.schedulers.accounting import host_names
from templates.quoting import shell_word

Amounts = Mapping[str, float]
SHOWN = ("gpu", "cpu", "mem")


@dataclass(frozen=True, slots=True)
class Room:
    """What is free on a node now (or on each of several that are alike), and what it has in all where that is told."""

    name: str
    free: Amounts
    whole: Amounts
    nodes: int = 1

    def is_large_enough(self, asked: Amounts) -> bool:
        return all(self.whole.get(of, value) >= value for of, value in asked.items())

    def share(self, asked: Amounts) -> float:
        """How much of the request it has, by the resource that is shortest: 1 and more is enough."""
        return min((self.free[of] / value for of, value in asked.items() if of in self.free), default=0.0)


def room_on_nodes(case: WaitCase) -> WaitingNote | None:
    """The node that comes closest, and what is short there; or that some have enough."""
    waits = case.job.phase in ("waiting", "unknown") and case.found.reason.kind in ("wait", "node")
    by_nodes = case.found.reason.of == "node" or case.job.scheduler == "lsf"
    if not waits or not by_nodes or whole_nodes(case):
        return None
    only_on = set(host_names(named_by_job(case)))
    asked = {of: value for of, value in on_one_node(case).items() if of in SHOWN and value}
    shown = [room for reader in READERS for room in reader(case) if not only_on or room.name in only_on]
    rooms = [room for room in shown if room.is_large_enough(asked)]
    if not rooms:
        return None  # that none is large enough is said elsewhere
    only = large_enough(rooms, shown, asked)
    rooms = [room for room in rooms if set(room.free) & set(asked)]
    asked = {of: value for of, value in asked.items() if any(of in room.free for room in rooms)}
    if not rooms:
        return WaitingNote(only) if only else None
    rooms.sort(key=lambda room: room.share(asked), reverse=True)
    enough = sum(room.nodes for room in rooms if room.share(asked) >= 1)
    wants, request = case.job.nodes or 1, listed([spoken_amount(of, value) for of, value in asked.items()])
    if kind := gpu_type(case):
        request, only = (text.replace(" GPU", f" {kind} GPU") for text in (request, only))
    says = f"On {'each node' if wants > 1 else 'its node'} it asks for {request}"
    if enough >= wants:
        names = listed([room.name for room in rooms if room.share(asked) >= 1])
        kept = "then they are kept for jobs before it, or lack something that is not shown here"
        have = f"{names} {'has' if enough == 1 else 'have'} that free by what is printed; {kept}"
        return WaitingNote(f"{says}: {have}. {only}".strip())
    best, many = rooms[0], sum(room.nodes for room in rooms)
    if enough:
        have = "has" if enough == 1 else "have"
        have = f"{number_of(enough)} of the {many} shown {have} that free, and it needs {wants}"
        return WaitingNote(f"{says}: {have}, {wants - enough} short. {only}".strip(), do=fewer_nodes(case, enough))
    named = [
        room
        for room in rooms[1:]
        if room.name in case.words and re.search(rf"(?<![\w-]){re.escape(room.name)}(?![\w-])", case.words)
    ]
    asked_for = "".join(f"; {room.name} has {listed(list(beside(room, asked)))}" for room in named[:2])
    closest = f"{best.name} comes closest with {listed(list(beside(best, asked)))}"
    none = f"none of the {many} shown has that free now" if many > 1 else "the node shown has not that free now"
    told = tuple(
        Fact(f"closest {of}", best.name, (("asked", bare(of, value)), ("left", bare(of, best.free[of]))))
        for of, value in asked.items()
        if of in best.free
    )
    says = f"{says}: {none}; {closest}{asked_for}. {only}".strip()
    return WaitingNote(says, do=share_of_gpus(case, rooms, asked) or what_fits(case, best, asked), facts=told)


def kept_or_lacking(case: WaitCase) -> WaitingNote | None:
    """Enough nodes are idle, and nothing in the paste tells why it does not get them."""
    counts = node_counts(case) or {"idle": idle_said(case) or 0}
    idle, asked, reason = sum(counts.get(name, 0) for name in FREE), case.job.nodes, case.found.reason
    waits = reason.of == "node" and reason.kind == "wait" and reason.word not in RESERVED
    if not waits or not asked or idle < asked or named_by_job(case) or any(look(case) for look in TELL_WHY):
        return None
    of = f" of {case.job.queue}" if case.job.queue else ""
    return WaitingNote(
        f"{number_of(idle)}{of} {'is' if idle == 1 else 'are'} idle: they are kept for a job that stands before it, or "
        "do not have what this one asks for (memory, GPUs, a constraint)."
    )


def large_enough(rooms: Sequence[Room], shown: Sequence[Room], asked: Amounts) -> str:
    """Which nodes can take it at all, where others that are shown never can."""
    small = [room for room in shown if not room.is_large_enough(asked)]
    if not small:
        return ""
    short = listed(
        [spoken_amount(of, value) for of, value in asked.items() if any(r.whole.get(of, value) < value for r in small)]
    )
    names = listed([room.name for room in rooms])
    return f"Only {names} of those shown {'has' if len(rooms) == 1 else 'have'} {short} at all."


def beside(room: Room, asked: Amounts) -> Iterator[str]:
    """`4 of 8 GPUs free (4 short)`, for each resource that is asked for and shown."""
    for of, value in asked.items():
        if of not in room.free:
            continue
        free, noun = room.free[of], spoken_amount(of, room.whole.get(of, room.free[of]))
        told = f"{bare(of, free)} of {noun} free" if of in room.whole else f"{noun} free"
        yield told + (f" ({bare(of, value - free)} short)" if free < value else "")


def bare(of: str, value: float) -> str:
    return bare_amount(of, value).removesuffix(" of memory")


def what_fits(case: WaitCase, room: Room, asked: Amounts) -> tuple[Step, ...]:
    """What is free there as a request; none where nothing of something is free."""
    short = {of: room.free[of] for of, value in asked.items() if of in room.free and room.free[of] < value}
    if not all(short.values()) or (case.job.nodes or 1) > 1:
        return ()
    most = listed([spoken_amount(of, value) for of, value in short.items()])
    return (Step(f"with at most {most} a node it fits {room.name} now, if no job before it takes that"),)


def share_of_gpus(case: WaitCase, rooms: Sequence[Room], asked: Amounts) -> tuple[Step, ...]:
    """The cores and the memory that go with its GPUs on a node, where it asks for more and that much is free."""
    gpus, like = asked.get("gpu", 0), rooms[0].whole
    if not gpus or not like.get("gpu") or any(one.whole != like for one in rooms) or (case.job.nodes or 1) > 1:
        return ()
    share = {of: float(int(min(value, like[of] * gpus / like["gpu"]))) for of, value in asked.items() if of in like}
    fit = [room.name for room in rooms if room.share(share) >= 1]
    if share == asked or not fit:
        return ()
    parts = listed([spoken_amount(of, value) for of, value in share.items() if of != "gpu"])
    share_of = f"the share that goes with {gpus:g} of a node's {like['gpu']:g} GPUs"
    text = f"{share_of} is {parts}: so much is free on {listed(fit)} now"
    return (Step(text, with_less(case, share)),)


def with_less(case: WaitCase, asked: Amounts) -> str:
    """The command that makes one chunk of PBS that small; empty elsewhere."""
    select = case.job.printed("Resource_List.select")
    if case.job.scheduler != "pbs" or "+" in select or not select:
        return ""
    values = {"ncpus": f"{asked.get('cpu', 0):g}", "mem": f"{asked.get('mem', 0) / 2**30:.0f}gb"}
    for name, value in values.items():
        select = re.sub(rf"\b{name}=\w+", f"{name}={value}", select)
    return f"qalter -l select={shell_word(select)} <JOBID>"


def fewer_nodes(case: WaitCase, nodes: int) -> tuple[Step, ...]:
    command = f"scontrol update jobid=<JOBID> NumNodes={nodes}-{nodes}" if case.job.scheduler == "slurm" else ""
    return (Step(f"with {number_of(nodes)} it may start now, if it can do with them", command),)


def of_slurm(case: WaitCase) -> Iterator[Room]:
    """`scontrol show node`, and rows of sinfo with what is in use."""
    kind = gpu_type(case)
    for row in case.rows("scontrol show node"):
        queues = row.get("Partitions", case.job.queue).split(",")
        if is_out(bare_state(row)) or (case.job.queue and case.job.queue not in queues):
            continue
        whole = {
            "gpu": gpus(row.get("Gres", ""), kind),
            "cpu": amount("cpu", row.get("CPUTot", "")),
            "mem": size(row.get("RealMemory", "")),
        }
        used = tres(row.get("AllocTRES", ""))
        used |= {
            of: value
            for of, key in (("cpu", "CPUAlloc"), ("mem", "AllocMem"))
            if (value := amount(of, row.get(key, ""))) is not None
        }
        if "GresUsed" in row:
            used["gpu"] = gpus(row["GresUsed"], kind) or 0.0
        if "AllocTRES" in row:
            used.setdefault("gpu", 0.0)
        yield left_of(row.get("NodeName", "a node"), whole, used)
    for row in case.rows("sinfo"):
        if is_out(bare_state(row)) or not in_queue(row.get("PARTITION", case.job.queue), case):
            continue
        name = row.get("NODELIST") or row.get("HOSTNAMES") or ""
        whole, used = {"gpu": gpus(row.get("GRES", ""), kind), "mem": size(row.get("MEMORY", ""))}, dict[str, float]()
        nodes = nodes_in(row)
        cores = row.get("CPUS(A/I/O/T)", "").split("/")
        if len(cores) == 4 and all(part.isdigit() for part in cores) and nodes == 1:
            whole["cpu"], used["cpu"] = float(cores[3]), float(cores[3]) - float(cores[1])
        if "GRES_USED" in row:
            used["gpu"] = gpus(row["GRES_USED"], kind) or 0.0
        if (held := size(row.get("ALLOCMEM", ""))) is not None:
            used["mem"] = held
        elif whole["mem"] and (free := size(row.get("FREE_MEM", ""))) is not None:
            used["mem"] = whole["mem"] - free
        state = bare_state(row)
        if not used and state in ("idle", "allocated", "alloc"):
            used = {of: 0.0 if state == "idle" else value for of, value in whole.items() if value is not None}
        if name and (used or state.startswith("mix")):
            yield left_of(name, whole, used, nodes)


def gpus(gres: str, kind: str = "") -> float | None:
    """`8` of `gpu:a100:8(S:0-1)`; None where no GPU is named. `kind`: GPUs of another type do not count."""
    found = [(part[0], int(part[1])) for part in GPUS.finditer(gres)]
    return float(sum(n for part, n in found if not kind or kind in part or part.count(":") < 2)) if found else None


def left_of(name: str, whole: Mapping[str, float | None], used: Amounts, nodes: int = 1) -> Room:
    has = {of: value for of, value in whole.items() if value is not None}
    return Room(name, {of: max(0.0, value - used[of]) for of, value in has.items() if of in used}, has, nodes)


PBS_NAMES = {"gpu": "ngpus", "cpu": "ncpus", "mem": "mem"}
# A node of `pbsnodes -a`: its name at the line's begin, its settings below.
PBS_NODE = re.compile(r"(?m)^([A-Za-z][\w.-]*)\n((?:[ \t]+[\w.]+ = .*(?:\n|\Z))+)")


def of_pbs(case: WaitCase) -> Iterator[Room]:
    """The `free/in all` of `pbsnodes -aSj`, and the settings of `pbsnodes -a`."""
    for row in case.rows("pbsnodes"):
        told = {of: [amount(of, part) for part in row.get(name, "").split("/")] for of, name in PBS_NAMES.items()}
        pairs = {of: two for of, two in told.items() if len(two) == 2 and None not in two}
        if pairs and not pbs_out(row.get("state", "")):
            free, whole = ({of: two[at] or 0.0 for of, two in pairs.items()} for at in (0, 1))
            yield Room(row["vnode"], free, whole)
    for found in PBS_NODE.finditer(case.text):
        settings = dict(re.findall(r"(?m)^[ \t]+([\w.]+) = (.*?)[ \t]*$", found[2]))
        if "state" not in settings or pbs_out(settings["state"]):
            continue
        sizes = {key: {of: amount(of, settings.get(f"resources_{key}.{name}", "")) for of, name in PBS_NAMES.items()}
                 for key in ("available", "assigned")}  # fmt: skip
        if any(sizes["available"].values()):
            used = {of: value or 0.0 for of, value in sizes["assigned"].items()}
            yield left_of(found[1], sizes["available"], used)


def pbs_out(state: str) -> bool:
    return any(word in state for word in ("down", "offline", "unknown", "stale", "provisioning"))


def of_lsf(case: WaitCase) -> Iterator[Room]:
    """Slots and GPUs of bhosts, and the memory that lsload shows as free or lshosts as there at all."""
    memory = {row["HOST_NAME"]: size(row.get("mem", "")) for row in case.rows("lsload")}
    most = {row["HOST_NAME"]: size(row.get("maxmem", "")) for row in case.rows("lshosts")}
    rows = {row["HOST_NAME"]: row for row in case.rows("bhosts") if row.get("STATUS", "ok") == "ok"}
    shut = {row["HOST_NAME"] for row in case.rows("bhosts")} - set(rows)
    for name in dict.fromkeys([*rows, *memory, *most]):
        if name in shut:
            continue
        row = rows.get(name, {})
        whole = {
            "cpu": amount("cpu", row.get("MAX", "")),
            "gpu": amount("gpu", row.get("NGPUS", "")),
            "mem": most.get(name),
        }
        used = {
            of: value
            for of, key in (("cpu", "NJOBS"), ("gpu", "NGPUS_ALLOC"))
            if (value := amount(of, row.get(key, ""))) is not None
        }
        room = left_of(name, whole, used)
        free = {"mem": value} if (value := memory.get(name)) is not None else {}
        if room.free or free or most:
            yield Room(name, {**room.free, **free}, room.whole)


# Reasons that say themselves what the nodes are kept for.
RESERVED = ("reservation", "dedicated-time", "reservation-or-top")
TELL_WHY = (free_nodes, usable_nodes, one_switch, room_on_nodes)
READERS: tuple[Callable[[WaitCase], Iterator[Room]], ...] = (of_slurm, of_pbs, of_lsf)
