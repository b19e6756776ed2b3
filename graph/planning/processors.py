"""A job without GPUs: the request in cores, on the part of the machine's facts that holds for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from graph.planning.programs import take_apart
from graph.planning.queues import plural
from knowledge.cluster import Cluster, CpuNodeType, LaunchForm, Queue, RankVariables, Setting, Software
from knowledge.processors import cores_of, cpus_of, part_without_gpus
from knowledge.types import Alternative, Assumption, JobRequest, Refusal

ONE_GPU = (("cpu_only", None), ("nodes", 1), ("gpus_per_node", 1), ("strategy", "none"))
# What is written where the site's pages show no Python of its own for these nodes.
OWN_PYTHON = Software(
    settings=(Setting(name="VENV", value="$HOME/venvs/data", why="your Python environment", environment=True),),
    lines=('source "$VENV/bin/activate"',),
)
FEW = 4
ALONE = LaunchForm(launcher="none", workers="single")


@dataclass(frozen=True, slots=True)
class ProcessorJob:
    """A request in cores, the part of the machine that it is planned on, and what was assumed or is to be said."""

    request: JobRequest
    cluster: Cluster
    counting: str
    assumptions: tuple[Assumption, ...] = ()
    notes: tuple[str, ...] = ()


def without_gpus(request: JobRequest, cluster: Cluster | None) -> bool:
    """Whether a job without GPUs is asked for: in words, by a count of 0, or by a queue that has none."""
    if request.gpus_per_node or request.total_gpus:
        return False
    if request.cpu_only is not None or request.gpus_per_node == 0:
        return request.cpu_only is not False
    if request.framework or request.model or request.strategy not in (None, "none"):
        return False  # a training: the queue's name is one of two that are alike
    queue = cluster.queue(request.queue) if cluster and request.queue else None
    return queue is not None and not queue.node_types and bool(queue.cpu_nodes)


def processor_job(request: JobRequest, cluster: Cluster) -> ProcessorJob | Refusal:
    """The request on the machine's nodes without GPUs."""
    queues = [queue for queue in cluster.queues if queue.cpu_nodes]
    queues = [queue for queue in queues if request.node_type in queue.cpu_nodes] or queues
    if not queues:
        return not_described(cluster)
    named = cluster.queue(request.queue) if request.queue else None
    if named and not named.cpu_nodes:
        return no_such_nodes(named, queues, cluster)
    processes = request.processes_per_node or 1
    program = take_apart(request.entry, request.args) if request.entry else None
    taken: tuple[Assumption, ...] = ()
    if request.cpus_per_task is None and processes == 1 and program and program.kind == "program":
        request = replace(request, cpus_per_task=FEW)
        taken = (Assumption("cores", str(FEW), "not said; a command that moves or packs data needs few", None),)
    if by_cores := memory_in_cores(request, queues, cluster, processes):
        request, taken = by_cores[0], (*taken, by_cores[1])
    asked = request.cpus_per_task * processes if request.cpus_per_task else None
    usual = named or usual_queue(queues, cluster, asked, request)
    node = next(one for one in cluster.cpu_nodes if one.id in usual.cpu_nodes)
    threads = cpus_of(node) // cores_of(node)
    most = min(cores_of(node), (usual.max_cores or cpus_of(node)) // threads)
    if asked and asked > most:
        return too_many_cores(asked, most, node, usual, cluster, request)
    if request.memory_gb and node.memory_gb and request.memory_gb > node.memory_gb:
        return too_much_memory(request.memory_gb, node, cluster)
    whole = cluster.whole_nodes or usual.whole_nodes
    cores = most if whole else asked or most
    alone = processes == 1 and (request.nodes or 1) == 1
    more, notes = told(request, node, cores, asked, whole)
    if request.cpus_per_task and threads > 1:
        why = f"{request.cpus_per_task} cores of {threads} hardware threads each, which the scheduler counts"
        more = (*more, Assumption("cpus_per_task", str(request.cpus_per_task * threads), why, node.source))
    if not request.cpu_only and request.gpus_per_node != 0:
        notes = (f"Queue {usual.id} has no GPUs, so the job has none.", *notes)
    software = Software() if program and program.kind == "program" else cluster.software.get("cpu", OWN_PYTHON)
    own = replace(
        request,
        cpu_only=None,
        framework="pytorch",
        strategy="none",
        nodes=request.nodes or 1,
        gpus_per_node=cores * threads,
        total_gpus=None,
        node_type=node.id,
        cpus_per_task=request.cpus_per_task and request.cpus_per_task * threads,
        processes_per_node=processes,
        memory_gb=None if whole else request.memory_gb,
        launcher=None,
        heard=(),
    )
    counting = (
        f"{cores} of {cores_of(node)} cores a node{', two hardware threads each' if threads == 2 else ''}, no GPU"
    )
    form = ALONE if alone else tasks_of(cluster)
    part = part_without_gpus(cluster, usual)
    part = replace(part, software={"default": software}, launch={"pytorch": (form,)})
    return ProcessorJob(own, part, counting, (*taken, *more), notes)


def memory_in_cores(
    request: JobRequest, queues: list[Queue], cluster: Cluster, processes: int
) -> tuple[JobRequest, Assumption] | None:
    """The request with cores that bring the memory along, where the site takes no option for it; None: it does."""
    refused = next((one for one in cluster.forbidden if one.option == "--mem" and one.effect == "rejected"), None)
    node = next(one for one in cluster.cpu_nodes if one.id in queues[0].cpu_nodes)
    memory = node.job_memory_gb or node.memory_gb
    whole = cluster.whole_nodes or queues[0].whole_nodes
    if refused is None or whole or not request.memory_gb or not memory or request.memory_gb > memory:
        return None
    needed = -(-request.memory_gb * cores_of(node) // int(memory) // processes)
    cores = max(needed, request.cpus_per_task or 0)
    told = Assumption("cores", str(cores * processes), f"{request.memory_gb} GB come with them: {refused.why}", None)
    return replace(request, memory_gb=None, cpus_per_task=cores), told


def tasks_of(cluster: Cluster) -> LaunchForm:
    """A task of the machine's launcher for each process; Slurm's own needs no MPI module."""
    first = cluster.launch["pytorch"][0]
    if cluster.scheduler == "slurm" and first.launcher != "ibrun":
        return LaunchForm(launcher="srun", workers="ranks", options=("--cpus-per-task={cpus_per_task}",))
    told = first.rank_variables
    counted = told and RankVariables(rank=told.rank, local_rank=f"$(({told.rank} % RANKS_PER_NODE))")
    return LaunchForm(launcher=first.launcher, workers="ranks", rank_variables=counted)


def usual_queue(queues: list[Queue], cluster: Cluster, asked: int | None, request: JobRequest) -> Queue:
    """A shared one for part of a node, else the first for production, of those whose nodes have room for it."""
    kinds = {node.id: node for node in cluster.cpu_nodes}
    roomy = [queue for queue in queues if has_room(queue, kinds[queue.cpu_nodes[0]], asked, request.memory_gb)]
    part = asked is not None and request.nodes in (None, 1) and asked < cores_of(kinds[queues[0].cpu_nodes[0]])
    wanted = ("shared", "production", "special") if part else ("production", "special", "shared")
    return min(
        roomy or queues, key=lambda queue: wanted.index(queue.purpose) if queue.purpose in wanted else len(wanted)
    )


def has_room(queue: Queue, node: CpuNodeType, asked: int | None, memory_gb: int | None) -> bool:
    """Whether a node of the queue holds so many cores and GB."""
    threads = cpus_of(node) // cores_of(node)
    enough = (asked or 1) * threads <= (queue.max_cores or cpus_of(node))
    memory = node.job_memory_gb or node.memory_gb
    return enough and (not memory_gb or memory is None or memory_gb <= memory)


def told(
    request: JobRequest, node: CpuNodeType, cores: int, asked: int | None, whole: bool
) -> tuple[tuple[Assumption, ...], tuple[str, ...]]:
    """What was decided beyond what was said, and what of it a whole node makes needless."""
    taken, notes = [], []
    if asked is None:
        why = "all of a node; say *16 cores* for a part of one" if node.source else "not said; say how many it can use"
        why = "the queue hands out whole nodes" if whole else why
        taken.append(Assumption("cores", str(cores), why, node.source))
    elif whole and asked < cores:
        notes.append(f"Nodes come whole there: the job has, and pays for, all {cores} cores.")
    if request.nodes is None:
        taken.append(Assumption("nodes", "1", "one node starts soonest", None))
    if whole and request.memory_gb:
        memory = f" of {node.job_memory_gb or node.memory_gb:g} GB" if node.memory_gb else ""
        notes.append(f"Nodes come whole there: {request.memory_gb} GB need no option, all{memory} are the job's.")
    return tuple(taken), tuple(notes)


def not_described(cluster: Cluster) -> Refusal:
    says = f"The nodes without GPUs of {cluster.title} are not described here."
    why = "Only its GPU nodes are; a queue's name and limits would be a guess."
    return Refusal(says, why, cluster.docs, (Alternative("one GPU, with the cores that come with it", ONE_GPU),))


def no_such_nodes(queue: Queue, queues: list[Queue], cluster: Cluster) -> Refusal:
    ways = tuple(Alternative(f"queue {one.id}, without GPUs", (("queue", one.id),)) for one in queues[:3])
    says = f"{cluster.title}'s queue {queue.id} has no nodes without GPUs."
    why = f"Those are in {', '.join(one.id for one in queues)}."
    return Refusal(says, why, queues[0].source, (*ways, Alternative(f"one GPU in {queue.id}", ONE_GPU)))


def too_many_cores(
    asked: int, most: int, node: CpuNodeType, queue: Queue, cluster: Cluster, request: JobRequest
) -> Refusal:
    nodes = -(-asked * (request.nodes or 1) // most)
    spread = (("nodes", nodes), ("cpus_per_task", most), ("processes_per_node", None))
    ways = [Alternative(f"{most} cores", (("cpus_per_task", most), ("processes_per_node", None)))]
    if asked <= cores_of(node):
        ways.append(Alternative("the usual queue for so many", (("queue", None),)))
    elif (queue.max_nodes or nodes) >= nodes:
        text = f"{plural(nodes, 'node')} with a process on each: the program shares out its work"
        ways.append(Alternative(text, spread))
    says = f"A job in queue {queue.id} of {cluster.title} has {most} cores of a node ({node.id}) at most, not {asked}."
    return Refusal(says, "One program's threads stay on one node.", node.source, tuple(ways))


def too_much_memory(asked: int, node: CpuNodeType, cluster: Cluster) -> Refusal:
    most = int(node.job_memory_gb or node.memory_gb or 0)
    says = f"A node of {cluster.title} ({node.id}) has {node.memory_gb:g} GB, not {asked}."
    why = "No job gets more than a node has."
    return Refusal(says, why, node.source, (Alternative(f"{most} GB", (("memory_gb", most),)),))
