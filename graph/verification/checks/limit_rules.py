# ruff: noqa: E501
"""Does the job fit its queue and its nodes? From the machine's facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from graph.extraction.directives import is_placeholder
from graph.extraction.job_shape import memory_of
from graph.extraction.walltime import clock
from graph.planning.charging import is_whole
from graph.verification.checks.directive_values import rewritten
from graph.verification.checks.option_tables import TIME_OPTION
from graph.verification.checks.rule import Change, Edit, Hit, Rule
from graph.verification.checks.subject import Subject
from knowledge.catalogue import catalogue
from knowledge.cluster import DirectiveFact, NodeType, Queue, walltime_seconds

MODEL = re.compile(r"(?<![a-z0-9])(gh|gb|mi|rtx|[kptvalhb])\d{1,4}[sxa]?(?![a-z0-9])")
"""A card's name inside a GPU type: h100, mi250x, gh200."""
# A part of a GPU, as NVIDIA's MIG names it: h100_2g.20gb.
SLICE = re.compile(r"\dg\.\d+gb", re.I)
CONSTRAINT = re.compile(r"(?:--constraint[= ]|-C ?)(\S+)")
WORD = re.compile(r"\w[\w.-]*")
# `gpu`, `batch` and `normal` may be queues anywhere: only a name like `gpu-a100` tells whose it is.
OF_ONE_SITE = re.compile(r"[\d_-]")


def on_site(s: Subject) -> bool:
    return s.cluster is not None and s.scheduler == s.cluster.scheduler and not s.job.mixed


def queue_options(s: Subject) -> tuple[str, ...]:
    """The options that name a queue of the facts on this machine."""
    texts = " ".join(fact.text for fact in s.cluster.directives) if s.cluster else ""
    if s.scheduler != "slurm":
        return ("queue",)
    return ("qos",) if re.search(r"(--qos|-q)[= ]\{queue\}", texts) else ("partition",)


# PBS makes a queue for each reservation and names it so (PBS Professional User's Guide, "Job-specific reservations").
RESERVATION = re.compile(r"[RSM]\d+(\..*)?")


def unknown_queue(s: Subject) -> Iterator[Hit]:
    if not on_site(s) or s.cluster is None:
        return
    facts = " ".join(f"{fact.text}" for fact in s.cluster.directives)
    known = {name for queue in s.cluster.queues for name in (queue.id, *queue.names)}
    for option in queue_options(s):
        value = s.job.value(option)
        if (
            not value
            or is_placeholder(value)
            or value in known
            or (s.scheduler == "pbs" and RESERVATION.fullmatch(value))
            or (option == "qos" and s.cluster.queue(value))  # Slurm keeps names of QOS in lower case, others as written
            or re.search(rf"[= ]{re.escape(value)}\b", facts)
        ):
            continue
        if "," in value and any(s.cluster.queue(part) for part in value.split(",")):
            continue
        near = nearest(value, known)
        listed = ", ".join(sorted(queue.id for queue in s.cluster.queues if queue.node_types))
        says = f"'{value}' is none of {s.cluster.title}'s GPU queues that are known here" + (
            f"; the nearest is '{near[0]}'" if near else ""
        )
        yield Hit(s.job.line(option), says, f"its GPU queues: {listed} (facts of {s.cluster.as_of})", s.cluster.docs, "error" if near else "warning",
                  (("queue", near[0]),) if near else (), queue_cure(s, s.job.line(option), value, near))  # fmt: skip


def queue_cure(s: Subject, line: int, value: str, near: list[str]) -> Edit | None:
    """The queue that is spelt nearly so; no queue where the machine's jobs write none; the machine's usual one in the
    place of another machine's. None for a name that nobody knows: the facts may lack it."""
    if near:
        return s.swapped(line, value, near[0])
    if s.cluster is None or s.lines[line - 1].count("--") > 1:
        return None
    if not s.cluster.writes_queue:
        return Edit(line, line, ())
    elsewhere = any(other.id != s.cluster.id and other.queue(value) for other in catalogue().clusters.values())
    return s.swapped(line, value, s.cluster.default_queue.id) if elsewhere and OF_ONE_SITE.search(value) else None


def nearest(value: str, known: set[str]) -> list[str]:
    """The known name that is spelt nearly so, whatever its case."""
    spelt = {name.lower(): name for name in sorted(known)}
    return [spelt[one] for one in get_close_matches(value.lower(), spelt, 1, 0.84) if not goes_on(value.lower(), one)]


def goes_on(word: str, name: str) -> bool:
    """Whether one is the other and more: `gpu-debug` may well be beside `gpu`. A last letter typed twice is a slip."""
    return word != name and word != name + name[-1] and (name.startswith(word) or word.startswith(name))


def longest(queue: Queue, nodes: int | None) -> tuple[float | None, str]:
    """(the walltime limit in seconds, for which node counts) of a queue at a node count."""
    for limit in queue.limits:
        if nodes and limit.min_nodes <= nodes and (limit.max_nodes is None or nodes <= limit.max_nodes):
            upper = limit.max_nodes or "more"
            return walltime_seconds(limit.max_walltime), f"with {limit.min_nodes} to {upper} nodes"
    limits = [walltime_seconds(one.max_walltime) for one in queue.limits]
    if queue.max_walltime:
        limits.append(walltime_seconds(queue.max_walltime))
    return (max(limits) if limits else None), "at most"


def walltime_limit(s: Subject) -> Iterator[Hit]:
    queue, time = s.queue, s.job.walltime
    if not on_site(s) or queue is None or time is None or several(s):
        return
    most, words = longest(queue, s.job.nodes)
    line = s.job.line("time", "walltime", "time-limit")
    if most is not None and time > most:
        whose = f"'{queue.id}'" if s.cluster is None or s.cluster.writes_queue else s.cluster.title
        says = f"{clock(time)} is more than {whose} gives: {clock(most)} {words}"
        why = queue.note or "a longer job is refused, or waits for ever"
        yield Hit(
            line,
            says,
            why,
            queue.source,
            change=(("walltime", clock(most)),),
            edit=s.swapped(
                line, s.job.asked[TIME_OPTION[s.scheduler]].value, rewritten(s.scheduler, clock(most)) or clock(most)
            ),
        )
    if queue.min_walltime and time < walltime_seconds(queue.min_walltime):
        says = f"{clock(time)} is less than '{queue.id}' takes: {queue.min_walltime} at least"
        why = queue.note or "a shorter job is refused"
        yield Hit(line, says, why, queue.source, change=(("walltime", queue.min_walltime),))


def several(s: Subject) -> bool:
    return any("," in s.job.value(option) for option in queue_options(s))


def node_limit(s: Subject) -> Iterator[Hit]:
    queue, nodes = s.queue, s.job.nodes
    if not on_site(s) or queue is None or nodes is None or several(s) or s.cluster is None:
        return
    line = s.job.line("nodes", "select", "ntasks")
    roomy = roomy_for(s, queue, nodes)
    takes = f"; '{roomy[0].id}' takes them" if roomy else ""
    if queue.max_nodes and nodes > queue.max_nodes:
        change: Change = (("queue", roomy[0].id),) if roomy else (("nodes", queue.max_nodes),)
        says = f"{nodes} nodes are more than '{queue.id}' gives: {queue.max_nodes} at most{takes}"
        yield Hit(line, says, queue.note or "a larger job is refused, or waits for ever", queue.source, change=change)
    if nodes < queue.min_nodes:
        says = f"{nodes} nodes are fewer than '{queue.id}' takes: {queue.min_nodes} at least{takes}"
        change = (("queue", roomy[0].id),) if roomy else (("nodes", queue.min_nodes),)
        yield Hit(line, says, queue.note or "a smaller job is refused", queue.source, change=change)


def roomy_for(s: Subject, than: Queue, nodes: int) -> list[Queue]:
    """The other queues for everyday work that take that many of the same nodes for the job's time, production first."""
    kinds = ("production", "debug")

    def fits(other: Queue) -> bool:
        same = bool(set(other.node_types) & set(than.node_types)) and other.purpose in kinds
        most = longest(other, nodes)[0]
        in_time = s.job.walltime is None or (most is not None and s.job.walltime <= most)
        inside = other.min_nodes <= nodes and (other.max_nodes is None or nodes <= other.max_nodes)
        return same and other != than and inside and in_time

    found = filter(fits, s.cluster.queues if s.cluster else ())
    return sorted(found, key=lambda queue: kinds.index(queue.purpose))


def gpu_limit(s: Subject) -> Iterator[Hit]:
    """More GPUs of a node than it has."""
    most = max((kind.gpus.per_node or 0) * (1 if kind.gpus.scheduler_counts == "cards" else kind.gpus.tiles_per_gpu)
               for kind in s.node_types) if s.node_types else 0  # fmt: skip
    if not on_site(s) or not most or any(kind.gpus.per_node is None for kind in s.node_types):
        return
    job, model = s.job, s.node_types[0].gpus.model
    line = job.line("gpus-per-node", "gres", "gpus", "select", "gpu", "gpus-per-task")
    if job.gpus_per_node and job.gpus_per_node > most:
        says = f"{job.gpus_per_node} GPUs a node are asked for; a node there has {most} ({model})"
        why = "no node can serve that, so the job is refused"
        asked = s.job.value("gpus-per-node", "gres")
        meant = s.launch is not None and s.launch.procs == most  # the launch has the node's number already
        fewer = re.sub(rf"\b{job.gpus_per_node}$", str(most), asked)
        cure = s.swapped(line, asked, fewer) if meant and asked and fewer != asked else None
        yield Hit(line, says, why, s.node_types[0].source, change=(("gpus_per_node", most),), edit=cure)
    elif job.total_gpus and job.nodes and job.total_gpus > most * job.nodes:
        says = f"{job.total_gpus} GPUs are asked for on {job.nodes} nodes; they have {most * job.nodes}"
        yield Hit(line, says, "no nodes can serve that, so the job is refused", s.node_types[0].source)
    elif job.gpus_per_task and job.tasks_per_node and job.gpus_per_task * job.tasks_per_node > most:
        says = f"{job.tasks_per_node} tasks a node with {job.gpus_per_task} GPUs each are more than the node's {most}"
        yield Hit(line, says, "no node can serve that, so the job is refused", s.node_types[0].source)


def gpu_type(s: Subject) -> Iterator[Hit]:
    """A GPU type that this machine's scheduler does not have, where its facts name all of them."""
    types = {kind.gpu_type for kind in s.node_types}
    if not on_site(s) or s.cluster is None or not types:
        return
    if None in types:
        yield from gpu_model(s)
        return
    for option in ("gpus", "gpus-per-node", "gres", "gpus-per-task"):
        found = re.fullmatch(r"(?:gpu:)?([A-Za-z][\w.-]*):\d+", s.job.value(option))
        if found and found[1] not in types and not (SLICE.search(found[1]) and s.cluster.tells_of(found[1])):
            listed = ", ".join(sorted(str(one) for one in types))
            says = f"there is no GPU type '{found[1]}'; the types are {listed}"
            yield Hit(
                s.job.line(option),
                says,
                source=s.node_types[0].source,
                severity="info" if any(str(one).startswith(f"{found[1]}-") for one in types) else None,
            )


def gpu_model(s: Subject) -> Iterator[Hit]:
    """The same by the cards' names, where the facts do not tell what the scheduler calls them."""
    kinds = s.cluster.node_types if s.cluster else ()
    there = [re.sub(r"\W", "", kind.gpus.model.lower()) for kind in kinds]
    for option in ("gpus", "gpus-per-node", "gres", "gpus-per-task"):
        found = re.fullmatch(r"(?:gpu:)?([A-Za-z][\w.-]*):\d+", s.job.value(option))
        model = MODEL.search(found[1].lower()) if found else None
        if there and found and model and not any(model[0] in one for one in there):
            listed = ", ".join(sorted({kind.gpus.model for kind in kinds}))
            says = f"no node type that is known here has a {model[0].upper()}; its GPUs: {listed}"
            yield Hit(s.job.line(option), says, "a type that no node has is refused", kinds[0].source)


def constraint(s: Subject) -> Iterator[Hit]:
    """Only where the facts choose the kind of node by a constraint: elsewhere they need not hold all of them."""
    if not on_site(s) or s.cluster is None or s.scheduler != "slurm":
        return
    kinds = {kind.id for kind in s.node_types}
    known = constraints_of(fact for fact in s.cluster.directives if kinds & set(fact.node_types))
    value = s.job.value("constraint")
    if known and not is_placeholder(value) and not known & set(WORD.findall(value)):
        says = f"'{value}' names none of the constraints that choose GPU nodes there: {', '.join(sorted(known))}"
        other = constraints_of(fact for fact in s.cluster.directives if set(fact.node_types) - kinds)
        if s.queue and other & set(WORD.findall(value)):
            says = (
                f"'{value}' chooses other nodes than '{s.queue.id}' has, which are chosen by {', '.join(sorted(known))}"
            )
            why = "a job that no node fits is refused or waits for ever"
            yield Hit(s.job.line("constraint"), says, why, s.queue.source)
            return
        chosen = any(word in fact.text for fact in s.cluster.directives for word in WORD.findall(value))
        why = "the nodes of that kind have no GPUs, or are not told here" if chosen else ""
        yield Hit(s.job.line("constraint"), says, why, s.cluster.docs)


def constraints_of(facts: Iterable[DirectiveFact]) -> set[str]:
    """The words by which directives choose a kind of node."""
    return {word for fact in facts for found in CONSTRAINT.findall(fact.text) for word in WORD.findall(found)}


def queue_gpus(s: Subject) -> Iterator[Hit]:
    """The queue's own number of GPUs: at most so many, or whole nodes only."""
    queue, job = s.queue, s.job
    if not on_site(s) or queue is None:
        return
    total = job.total_gpus or (job.gpus_per_node * job.nodes if job.gpus_per_node and job.nodes else None)
    line = job.line("gpus-per-node", "gres", "gpus", "select", "gpu")
    if queue.max_gpus and total and total > queue.max_gpus:
        says = f"{total} GPUs are more than '{queue.id}' gives: {queue.max_gpus} at most"
        yield Hit(line, says, queue.note or "a larger job is refused", queue.source)
    if not (s.cluster and total and job.nodes and s.node_devices and is_whole(queue, s.cluster)):
        return
    # Slurm counts the devices that a program sees; elsewhere a card of two may be counted once.
    devices = s.node_devices * job.nodes // (1 if s.scheduler == "slurm" else s.tiles)
    parts = [one.id for one in s.cluster.gpu_queues if not is_whole(one, s.cluster)]
    if (parts or queue.whole_nodes) and total < devices:
        says = f"'{queue.id}' hands out whole nodes: ask for all {s.node_devices * job.nodes} GPUs of {job.nodes} nodes"
        share = f"; of a node's part take '{parts[0]}'" if parts else ""
        yield Hit(
            line, says, f"the rest stays idle and is charged, or the job is refused{share}", queue.source, "warning"
        )


def is_kept_back(s: Subject, kind: NodeType) -> bool:
    """Whether the site keeps some cores of such a node, and the job does not ask for them back."""
    own = (kind.cpu.schedulable or 0) < (kind.cpu.cores or 0) and kind.cpu.schedulable is not None
    return own and s.job.value("core-spec") != "0"


def cpus_for_jobs(s: Subject, kind: NodeType) -> int:
    """The most CPUs that a job gets of such a node, as the scheduler counts; 0 where nobody says."""
    threads = kind.cpu.threads_per_core or 1
    if not is_kept_back(s, kind):
        return max(kind.cpu.schedulable or 0, (kind.cpu.cores or 0) * threads)
    both = s.job.value("hint") == "multithread" or (s.job.number("threads-per-core") or 1) > 1
    return (kind.cpu.schedulable or 0) * (threads if both else 1)


def cpu_limit(s: Subject) -> Iterator[Hit]:
    job, sizes = s.job, [cpus_for_jobs(s, kind) for kind in s.node_types]
    tasks = job.tasks_per_node or (
        job.ntasks // job.nodes if job.ntasks and job.nodes and job.ntasks % job.nodes == 0 else None
    )
    if not on_site(s) or not sizes or not all(sizes) or not tasks or not job.cpus_per_task:
        return
    if tasks * job.cpus_per_task > max(sizes):
        kept = any(is_kept_back(s, kind) for kind in s.node_types)
        has = f"{max(sizes)} of a node's are for jobs" if kept else f"a node has {max(sizes)}"
        says = f"{tasks} tasks a node with {job.cpus_per_task} CPUs each need {tasks * job.cpus_per_task}; {has}"
        option = "cpus-per-task" if s.scheduler == "slurm" else "cores-per-slot"
        line, each = job.line(option), str(max(sizes) // tasks)
        cure = s.swapped(line, job.value(option), each) if each != "0" else None
        yield Hit(line, says, edit=cure)


def memory_by_parts(s: Subject) -> float | None:
    """GB a node of --mem-per-cpu and --mem-per-gpu, where the counts are told."""
    job = s.job
    if (each := memory_of(job.value("mem-per-cpu"))) and job.cpus_per_task and job.tasks_per_node:
        return each * job.cpus_per_task * job.tasks_per_node
    each = memory_of(job.value("mem-per-gpu"))
    return each * job.gpus_per_node if each and job.gpus_per_node else None


def memory_limit(s: Subject) -> Iterator[Hit]:
    sizes = [kind.memory_gb for kind in s.node_types]
    memory = s.job.memory_gb or memory_by_parts(s)
    if on_site(s) and memory and sizes and all(sizes) and memory > 1.1 * max(size or 0 for size in sizes):
        says = f"{memory:.0f} GB a node are asked for; a node has {max(size or 0 for size in sizes):.0f}"
        yield Hit(s.job.line("mem", "mem-per-cpu", "mem-per-gpu"), says)


RULES = (
    Rule("queue-unknown", "limits", "warning", "a queue that the machine's facts do not hold (an error where another one is spelt nearly so)", unknown_queue),
    Rule("queue-walltime", "limits", "error", "a walltime outside the queue's limits at this node count", walltime_limit),
    Rule("queue-nodes", "limits", "error", "more or fewer nodes than the queue takes", node_limit),
    Rule("queue-gpus", "limits", "error", "more GPUs than the queue gives, or part of a node where it hands out whole ones", queue_gpus),
    Rule("node-gpus", "limits", "error", "more GPUs a node than it has", gpu_limit),
    Rule("node-gpu-type", "limits", "warning", "a GPU type that the machine does not have", gpu_type,
         why="a type that no node has is refused"),
    Rule("node-constraint", "limits", "warning", "a constraint that chooses none of the machine's GPU nodes", constraint,
         why="a feature that no node has is refused: 'Invalid feature specification'"),
    Rule("node-cpus", "limits", "error", "more CPUs a node than it has: tasks x CPUs a task", cpu_limit,
         why="no node can serve that: 'Requested node configuration is not available'"),
    Rule("node-memory", "limits", "error", "more memory than a node has", memory_limit,
         why="no node can serve that: 'Requested node configuration is not available'"),
)  # fmt: skip
