"""Request + cluster -> plan. A default is an Assumption; what the machine cannot do a Refusal with a way round."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePosixPath

from graph.planning.charging import further_price, is_whole
from graph.planning.counting import Count, count
from graph.planning.directives import with_parts
from graph.planning.environment import Surroundings, conda_sourced, launched, surroundings
from graph.planning.extras import first_run, is_own_job, with_extras
from graph.planning.fields import check_request, shown
from graph.planning.filling import Values, clock, fill_directives
from graph.planning.gpus import kinds_named, mixed_precision, too_large
from graph.planning.launching import (
    LIGHTNING_NOTE,
    LaunchChoice,
    binding_note,
    choose_launch,
    for_a_tool,
    kind_for_lightning,
    with_all_gpus,
)
from graph.planning.methods import with_methods
from graph.planning.processors import processor_job, without_gpus
from graph.planning.programs import Started, take_apart
from graph.planning.queues import Slot, choose_queue, of_purpose
from graph.planning.serving import on_model, with_served_model
from graph.planning.software import all_devices, overlapping, variables, with_theirs_alone
from graph.planning.strategies import Style, choose_style, parallel_sizes
from graph.planning.tools import on_one_node, tool_args, with_tool_told, with_tools_gpus
from knowledge.cluster import Cluster, Condition, NodeType, Queue, walltime_seconds
from knowledge.commanding_variables import consequence
from knowledge.errors import InputError
from knowledge.job_parts import Program
from knowledge.types import SERVERS, Alternative, Assumption, JobRequest, LaunchPlan, Refusal, Strategy
from templates.configs import parallel_sizes as parallel_sizes_told
from templates.parts import goes_on
from templates.quoting import shell_word

ACCOUNT_PLACEHOLDER = "YOUR_ACCOUNT"
USUAL_ENTRY = "train.py"
THEIR_SIZES = "those of your configuration"
GIVE_SIZES = "none were given, and the program names a file of its own; tensor_parallel and pipeline_parallel set them"
ONE_DEVICE = (
    "Each task sees one GPU, as device 0, so LOCAL_RANK is 0 in every task: code that downloads or writes on local "
    "rank 0 does it once a task here; let RANK decide (0 in all, or RANK % RANKS_PER_NODE == 0 for once a node)."
)
# What jobs that follow another share with it.
SHARED_BY_JOBS = (
    *("machine", "framework", "account", "queue", "node_type", "environment", "environment_kind", "container"),
    *("container_runtime", "binds", "modules", "modules_removed", "modules_only", "source_files", "variables", "setup"),
    *("offline", "mail", "reservation", "constraint"),
)
JAX_START = (
    "Outside Slurm your program tells JAX where it is: jax.distributed.initialize(MASTER_ADDR:MASTER_PORT, WORLD_SIZE, "
    "RANK{}), each read from os.environ.{}"
)
# JAX finds its one device by itself under Slurm and Open MPI alone.
# Source: https://docs.jax.dev/en/latest/_autosummary/jax.distributed.initialize.html
JAX_DEVICE = (", local_device_ids=[LOCAL_RANK]", " Without local_device_ids every process takes all GPUs of its node.")
FRAMEWORK_NOTES: Mapping[str, tuple[str, ...]] = {
    "horovod": (
        "Horovod must be built with MPI here (HOROVOD_WITH_MPI=1): the launcher starts the ranks, not horovodrun.",
    ),
}
# Frameworks that a site's PyTorch module or image seldom brings.
ELSEWHERE = ("jax", "tensorflow", "horovod", "ray", "torchtitan")
# What accounts of other classes and machines end on: CPU time, another partition, another machine's GPUs.
CLASS = re.compile(r"-(?:delta|dtai|deltaai|anvil)?-?(?:cpu|gpu|gh|ai|gpu-interactive)$|_g$", re.I)
GPU = re.compile(r"[a-z]{1,2}\d{2,3}[a-z]?", re.I)


def plan(request: JobRequest, cluster: Cluster) -> LaunchPlan | Refusal:
    """What to write. The request must name strategy and nodes (or a total); see questions.still_missing.

    Raises InputError where a field cannot stand in a script, or is still open.
    """
    check_request(request)
    if without_gpus(request, cluster):
        return on_processors(request, cluster)
    return planned(request, cluster)


def planned(request: JobRequest, cluster: Cluster) -> LaunchPlan | Refusal:
    """The plan of a request that was checked, on the nodes that the facts hold."""
    if request.exclusive is False and request.queue is None:
        request = replace(request, queue="shared")
    request = with_served_model(first_run(request, cluster))
    style = choose_style(request)
    if style is None:
        raise InputError("strategy is open; say one of ddp, fsdp, zero1, zero2, zero3, tp, pp, 3d")
    if isinstance(style, Refusal):
        return style
    if request.queue and cluster.queue(request.queue) is None:
        return with_queue_meant(request, cluster)
    named = cluster.queue(request.queue) if request.queue else None
    if named and not named.node_types:
        usual = choose_node_type(replace(request, queue=None), cluster).id
        return (
            with_queue_meant(request, cluster)
            if of_purpose(named.id, cluster, usual)
            else without_nodes(named, cluster)
        )
    node = choose_node_type(request, cluster)
    if other := elsewhere(request, cluster, node):
        return other
    counted = count(with_tools_gpus(request), cluster, node)
    if counted is None:
        raise InputError("nodes are open; say how many nodes, or how many GPUs in all")
    if isinstance(counted, Refusal):
        return counted
    if alone := on_one_node(request, counted.nodes):
        return alone
    wrong = another_class(request, cluster, node)
    if wrong is not None:
        return wrong
    slot = choose_queue(request, cluster, node.id, counted.nodes, counted.ranks_per_node)
    if isinstance(slot, Refusal):
        return slot
    launch = choose_launch(cluster, style, node, counted, request.launcher, request.processes_per_node)
    if isinstance(launch, Refusal):
        return launch
    if style.starts and style.framework == "lightning" and not request.launcher:
        launch = for_a_tool(launch, cluster)
    if request.processes_per_node == 1 and counted.ranks_per_node > 1:
        launch = with_all_gpus(launch, cluster)
    around = surroundings(request, cluster, node, launch.software)
    if isinstance(around, Refusal):
        return around
    around, others = conda_sourced(around, request.source_files)
    request = replace(request, source_files=others)
    decided = decide(request, cluster, node, style, counted, slot, launch, around)
    told = with_methods(with_tool_told(decided, request), request)
    if isinstance(told, Refusal):
        return told
    directives = with_parts(decided.directives, request, cluster)
    if isinstance(directives, Refusal):
        return directives
    made = with_extras(replace(told, directives=directives), request, cluster, node)
    if isinstance(made, Refusal):
        return made
    made = with_sizes_left(with_theirs_alone(made))
    return with_jobs(with_price(made, request, cluster, counted.ranks_per_node), request, cluster)


def with_price(decided: LaunchPlan, request: JobRequest, cluster: Cluster, gpus: int) -> LaunchPlan:
    """The plan with the price of all the jobs that it makes, where that is more than itself.

    gpus: of a node, in the framework's devices; a rank may have several.
    """
    own = replace(
        request,
        nodes=decided.nodes,
        walltime=decided.walltime,
        queue=decided.queue,
        node_type=decided.node_type,
        gpus_per_node=gpus if decided.on_gpus else 0,
    )
    told = further_price(own, cluster)
    bound = " MOST_STARTS in the script is how often it may start." if decided.requeue and "start" in told else ""
    return replace(decided, notes=(*decided.notes, f"At most {told}.{bound}")) if told else decided


def with_sizes_left(decided: LaunchPlan) -> LaunchPlan:
    """The plan with Megatron's sizes told as the program's own, where nobody gave them and it has them by itself."""
    if decided.framework != "megatron" or parallel_sizes_told(decided):
        return decided
    told = (replace(one, value=THEIR_SIZES, why=GIVE_SIZES) if one.field == "parallel sizes" else one
            for one in decided.assumptions)  # fmt: skip
    return replace(decided, assumptions=tuple(told))


def with_jobs(decided: LaunchPlan, request: JobRequest, cluster: Cluster) -> LaunchPlan | Refusal:
    """The plan with the jobs before and behind it: programs with a time, queue or number of nodes of their own."""
    before, later = list[LaunchPlan](), list[LaunchPlan]()
    for program in request.then:
        if decided.on_gpus and not is_own_job(program, decided.nodes):
            continue
        made = plan(link(program, decided, request, cluster), cluster)
        if isinstance(made, Refusal):
            return made
        (before if program.first else later).append(made)
    if not before and not later:
        return decided
    on = any(goes_on(*two) for two in pairwise((*before, decided, *later)))
    well = "ended well, or however it ended where it goes on with the same run" if on else "ended well"
    many = 1 + len(before) + len(later)
    note = f"{many} jobs: each starts when the one before {well}; the submit script sends them all."
    return replace(decided, jobs=tuple(later), jobs_before=tuple(before), notes=(*decided.notes, note))


def link(program: Program, decided: LaunchPlan, request: JobRequest, cluster: Cluster) -> JobRequest:
    """What one job of a chain asks for: what it shares with the main one, and its own."""
    queue = cluster.queue(program.queue) if program.queue else None
    own = JobRequest(
        **{name: getattr(request, name) for name in SHARED_BY_JOBS},
        entry=program.entry,
        args=program.args,
        nodes=program.nodes or decided.nodes,
        gpus_per_node=program.gpus_per_node or request.gpus_per_node,
        walltime=program.walltime or (decided.walltime if decided.on_gpus else None),
        strategy=decided.strategy if decided.on_gpus else training_strategy(request),
    )
    own = replace(own, account=program.account or own.account)
    if program.queue:
        own = replace(own, queue=program.queue, node_type=None)
    if queue and not queue.node_types:  # without GPUs: a download, a preparation
        own = replace(own, cpu_only=True, gpus_per_node=None, strategy="none", walltime=program.walltime)
        own = replace(own, nodes=program.nodes or 1)
    return own


def training_strategy(request: JobRequest) -> Strategy | None:
    """The strategy of a training behind a job that has none of its own."""
    return request.strategy if request.strategy != "none" and request.strategy else "ddp"


def on_processors(request: JobRequest, cluster: Cluster) -> LaunchPlan | Refusal:
    """The plan of a job without GPUs; a training that follows it has its own, on the GPU nodes."""
    later = tuple(one for one in request.then if one.gpus_per_node or one.nodes)
    job = processor_job(replace(request, then=tuple(one for one in request.then if one not in later)), cluster)
    if isinstance(job, Refusal):
        return job
    made = planned(job.request, job.cluster)
    if isinstance(made, Refusal):
        return made
    made = replace(
        made,
        counting=job.counting,
        assumptions=(*job.assumptions, *made.assumptions),
        notes=(*job.notes, *made.notes),
    )
    account = request.account and request.account.removesuffix(cluster.account.cpu_suffix or "")
    training = replace(request, queue=None, node_type=None, account=account, gpus_per_node=None, then=later)
    return with_jobs(made, training, cluster) if later else made


def without_nodes(queue: Queue, cluster: Cluster) -> Refusal:
    """A job with GPUs was sent to a queue that has none."""
    usual = Alternative(f"queue {cluster.default_queue.id}", (("queue", cluster.default_queue.id),))
    none = (("cpu_only", True), ("gpus_per_node", None), ("total_gpus", None), ("node_type", None))
    ways = (Alternative(f"the job without GPUs in {queue.id}", none),) if queue.cpu_nodes else ()
    return Refusal(f"{cluster.title}'s queue {queue.id} has no GPUs.", queue.note or "", queue.source, (usual, *ways))


def with_queue_meant(request: JobRequest, cluster: Cluster) -> LaunchPlan | Refusal:
    """The plan where a kind of queue was named and not a queue: `the preemptible queue`."""
    said = request.queue or ""
    queue = of_purpose(said, cluster, choose_node_type(replace(request, queue=None), cluster).id)
    if queue is None:
        return unknown_queue(said, cluster)
    decided = planned(replace(request, queue=queue.id), cluster)
    if isinstance(decided, Refusal):
        return decided
    taken = Assumption("queue", queue.id, f"what {cluster.title} has for {shown(said)} ({queue.purpose})", queue.source)
    return replace(decided, assumptions=(*decided.assumptions, taken))


def unknown_queue(name: str, cluster: Cluster) -> Refusal:
    ways = tuple(Alternative(f"queue {queue.id}", (("queue", queue.id),)) for queue in cluster.gpu_queues[:6])
    says = f"{cluster.title} has no queue {shown(name)} that is known here."
    why = f"Known: {', '.join(queue.id for queue in cluster.queues)} (facts of {cluster.as_of})."
    return Refusal(says, why, cluster.queues[0].source, ways)


def choose_node_type(request: JobRequest, cluster: Cluster) -> NodeType:
    """The kind that was named, where the queue has it; else the queue's first kind with enough GPUs."""
    asked = cluster.queue(request.queue) if request.queue else None
    queue = asked if asked and asked.node_types else cluster.default_queue
    wanted = request.gpus_per_node or 0
    if request.node_type:
        there = [queue.node_types] if request.queue else [one.node_types for one in cluster.queues]
        named = [n for n in kinds_named(request.node_type, cluster.node_types) if any(n.id in ids for ids in there)]
        named.sort(key=lambda node: (node.id not in queue.node_types, (node.gpus.devices_per_node or 0) < wanted))
        if named:
            return named[0]
    types = [cluster.node_type(name) for name in queue.node_types]
    ends = cluster.account.suffix_by_node_type
    paid = [name for name, end in ends.items() if (request.account or "").endswith(end)]
    if paid and not request.queue and types[0].id not in paid:  # the account is for one kind of node
        types = [cluster.node_type(name) for name in paid if any(name in one.node_types for one in cluster.queues)]
    return next((node for node in types if (node.gpus.devices_per_node or 0) >= wanted), types[0])


def elsewhere(request: JobRequest, cluster: Cluster, node: NodeType) -> Refusal | None:
    """Nodes that were named by their memory or kind, and that the queue which was named does not have."""
    named = kinds_named(request.node_type, cluster.node_types) if request.node_type and request.queue else []
    if not named or node in named or node.id == request.node_type:
        return None
    there = [queue for queue in cluster.queues if any(one.id in queue.node_types for one in named)]
    if not there:
        return None
    asked = cluster.queue(request.queue or "")
    return Refusal(
        f"{cluster.title}'s queue {asked.id if asked else request.queue} has no {named[0].id} nodes.",
        f"Its nodes are {node.id}; {named[0].id} is in {', '.join(queue.id for queue in there)}.",
        there[0].source,
        (
            *(Alternative(f"queue {queue.id}", (("queue", queue.id),)) for queue in there[:2]),
            Alternative(f"nodes {node.id} in {request.queue}", (("node_type", node.id),)),
        ),
    )


def decide(
    request: JobRequest,
    cluster: Cluster,
    node: NodeType,
    style: Style,
    counted: Count,
    slot: Slot,
    choice: LaunchChoice,
    around: Surroundings,
) -> LaunchPlan:
    """Everything chosen; the rest follows from the facts."""
    program = take_apart(USUAL_ENTRY if request.entry is None else request.entry, request.args)
    account, on_account = charge(request, cluster, node)
    values = numbers(request, cluster, node, counted, slot, choice, account)
    holds = conditions(node, counted, choice)
    taken = (*style.assumptions, *counted.assumptions, *slot.assumptions)
    whole = "whole_node" in holds and not request.processes_per_node
    one_each = request.processes_per_node in (None, counted.ranks_per_node)
    launch = choice.launch(values, whole, one_each and is_whole(slot.queue, cluster))
    if request.node_type != node.id:
        taken += on_node_type(request, cluster, node, counted, slot)
    decided = LaunchPlan(
        cluster=cluster.id,
        title=cluster.title,
        as_of=cluster.as_of,
        scheduler=cluster.scheduler,
        submit=cluster.submit,
        shebang=cluster.shebang,
        job_name=request.job_name or job_name(program.name),
        framework=style.framework,
        strategy=style.strategy,
        node_type=node.id,
        gpu_model=node.gpus.model,
        backend=node.gpus.backend,
        nodes=counted.nodes,
        ranks_per_node=request.processes_per_node or counted.ranks_per_node,
        counting=processes_in_words(request, counted),
        queue=slot.queue.id,
        walltime=slot.walltime,
        account=account,
        directives=(*fill_directives(cluster.directives, slot.queue, node.id, holds, values), *around.directives),
        launch=launched(launch, around),
        rendezvous_host=cluster.rendezvous.host,
        rendezvous_port=str((style.framework not in SERVERS and request.port) or cluster.rendezvous.port),
        rendezvous_lines=cluster.rendezvous.lines,
        entry=program.entry,
        entry_kind=program.kind,
        args=tool_args(program.args, request),
        user_variables=(*program.variables, *request.variables),
        files=around.files,
        assumptions=(*taken, *on_account, *on_entry(request, program)),
    )
    return with_program(decided, request, cluster, node, style, counted, choice, around)


def with_program(
    decided: LaunchPlan,
    request: JobRequest,
    cluster: Cluster,
    node: NodeType,
    style: Style,
    counted: Count,
    choice: LaunchChoice,
    around: Surroundings,
) -> LaunchPlan:
    """The plan with what the program is told and finds around it."""
    tensor, pipeline, on_sizes = parallel_sizes(style, counted.nodes, counted.ranks_per_node, request)
    return replace(
        decided,
        stage=style.stage,
        tensor_parallel=tensor,
        pipeline_parallel=pipeline,
        mixed_precision=mixed_precision(node),
        preamble=cluster.preamble,
        settings=around.settings,
        setup=around.lines,
        variables=(
            *variables(cluster, node, style, counted, choice),
            *overlapping(style, node, tensor, request),
            *all_devices(style, counted, request),
        ),
        user_setup=(*(f"source {shell_word(path)}" for path in request.source_files), *request.setup),
        assumptions=(*decided.assumptions, *on_sizes, *around.assumptions, *choice.assumptions),
        notes=(
            *warned(request, style, counted, node, cluster),
            *around.notes,
            *notes(cluster, style, choice),
            *binding_note(choice, decided.launch, decided.launch.tasks_per_node),
        ),
    )


def processes_in_words(request: JobRequest, counted: Count) -> str:
    """How the ranks of a node were counted, where their number is the person's own."""
    if request.processes_per_node is None:
        return counted.says
    return f"{request.processes_per_node} a node, for {counted.ranks_per_node} GPUs"


def charge(request: JobRequest, cluster: Cluster, node: NodeType) -> tuple[str, tuple[Assumption, ...]]:
    """The account as the directive needs it. Without one a placeholder stands there, and is said."""
    facts = cluster.account
    suffix = facts.suffix_for(node.id)
    if request.account is None:
        if not facts.needed:
            return "", ()
        text = ACCOUNT_PLACEHOLDER + (suffix or "")
        return text, (Assumption("account", text, "not said; replace it before you submit", facts.source),)
    if facts.prefix and not request.account.startswith(facts.prefix):
        text = facts.prefix + request.account
        return text, (Assumption("account", text, f"accounts there are {facts.prefix}<project>", facts.source),)
    if suffix and facts.suffix_required and not request.account.endswith(suffix):
        text = request.account + suffix
        why = f"{'GPU' if node.gpus.model else 'CPU'} jobs there are charged to <project>{suffix}"
        return text, (Assumption("account", text, why, facts.source),)
    return request.account, ()


def another_class(request: JobRequest, cluster: Cluster, node: NodeType) -> Refusal | None:
    """An account that ends as those of another machine or kind of node do: asked about, never made longer."""
    suffix = cluster.account.suffix_for(node.id)
    if not (request.account and suffix and cluster.account.suffix_required) or request.account.endswith(suffix):
        return None
    ending = CLASS.search(request.account)
    endings = [one for one in cluster.account.endings if request.account.endswith(one)]
    theirs = max((*endings, ending[0] if ending else ""), key=len)
    if not theirs:
        return None
    project = request.account.removesuffix(theirs) + suffix
    jobs = f"{'GPU' if node.gpus.model else 'CPU'} jobs on these nodes of {cluster.title}"
    return Refusal(
        f"The account {request.account} ends on {theirs}; {jobs} are charged to accounts that end on {suffix}.",
        "It looks like the account of another machine or kind of node.",
        cluster.account.source,
        (Alternative(f"account {project}, if the project has it", (("account", project),)),),
    )


def numbers(
    request: JobRequest,
    cluster: Cluster,
    node: NodeType,
    counted: Count,
    slot: Slot,
    choice: LaunchChoice,
    account: str,
) -> Values:
    """The placeholders' values (knowledge/cluster.py, PLACEHOLDERS)."""
    ranks = request.processes_per_node or counted.ranks_per_node
    tasks = ranks if choice.form.workers == "ranks" else 1
    gpus = counted.ranks_per_node
    devices = node.gpus.devices_per_node or gpus
    if slot.queue.whole_nodes:
        gpus = devices
    if node.gpus.scheduler_counts == "cards":
        gpus = -(-gpus // node.gpus.tiles_per_gpu)
    seconds = walltime_seconds(slot.walltime)
    cpus = request.cpus_per_task or cpus_per_task(node, counted.ranks_per_node, tasks)
    if cpus and node.cpu.schedulable and cpus * tasks > node.cpu.schedulable:
        most = max(1, node.cpu.schedulable // tasks)
        # So many are those of the node; a few more than a task can have are a task's.
        cpus = max(1, min(most, cpus // tasks)) if cpus > 2 * most else most
    return {
        "account": account or None,
        "queue": slot.queue.id,
        "nodes": counted.nodes,
        "walltime": slot.walltime,
        "walltime_hm": clock(seconds),
        "minutes": -(-seconds // 60),
        "job_name": request.job_name
        or job_name(take_apart(USUAL_ENTRY if request.entry is None else request.entry).name),
        "tasks": tasks * counted.nodes,
        "tasks_per_node": tasks,
        "cpus_per_task": cpus,
        "total_cpus": cpus * tasks * counted.nodes if cpus else None,
        "gpus_per_node": gpus if node.gpus.model else None,
        "total_gpus": gpus * counted.nodes if node.gpus.model else None,
        "gpu_type": node.gpu_type,
        "ranks_per_node": counted.ranks_per_node,
        "memory_gb": memory_share(node, gpus / devices),
    }


def memory_share(node: NodeType, share: float) -> int | None:
    """GB of host memory for that share of a node's GPUs."""
    whole = node.job_memory_gb or node.memory_gb
    return None if whole is None else int(whole * share)


def cpus_per_task(node: NodeType, ranks: int, tasks: int) -> int | None:
    """A task's share of the CPUs: the whole node's where all GPUs are used, else in proportion to the GPUs."""
    devices = node.gpus.devices_per_node
    if node.cpu.schedulable is None or devices is None:
        return None
    return max(1, node.cpu.schedulable * ranks // devices // tasks)


def conditions(node: NodeType, counted: Count, choice: LaunchChoice) -> frozenset[Condition]:
    whole = counted.ranks_per_node == node.gpus.devices_per_node
    return frozenset(
        (
            "always",
            "multi_node" if counted.nodes > 1 else "one_node",
            "whole_node" if whole else "part_node",
            "ranks" if choice.form.workers == "ranks" else "one_task",
        )
    )


def on_node_type(
    request: JobRequest, cluster: Cluster, node: NodeType, counted: Count, slot: Slot
) -> tuple[Assumption, ...]:
    """Said where the queue has several kinds of node or not the one that was named, or hands out more than asked."""
    others = [name for name in slot.queue.node_types if name != node.id]
    taken = []
    if request.node_type and not kinds_named(request.node_type, (node,)):
        where = f"queue {slot.queue.id}" if kinds_named(request.node_type, cluster.node_types) else cluster.title
        named = request.node_type.upper() if GPU.fullmatch(request.node_type) else request.node_type
        memory = f" with {node.gpus.memory_gb:g} GB" if node.gpus.memory_gb else ""
        why = f"{where} has no {named}; these nodes have {node.gpus.model}{memory}"
        taken.append(Assumption("node type", node.id, why, slot.queue.source))
    elif others:
        why = f"queue {slot.queue.id} also has {', '.join(others)}"
        taken.append(Assumption("node type", node.id, why, slot.queue.source))
    if slot.queue.whole_nodes and counted.ranks_per_node != node.gpus.devices_per_node:
        why = f"queue {slot.queue.id} hands out whole nodes, and charges for them"
        taken.append(Assumption("GPUs asked for", f"{node.gpus.devices_per_node} a node", why, slot.queue.source))
    return tuple(taken)


def on_entry(request: JobRequest, program: Started) -> tuple[Assumption, ...]:
    if program.launcher:
        why = f"without `{program.launcher}`: the script starts the ranks itself"
        return (Assumption("entry", program.entry, why),)
    if request.entry is not None:
        return on_model(request, request.entry)
    return (Assumption("entry", USUAL_ENTRY, "not said; put your program and its arguments at the top", None),)


def warned(request: JobRequest, style: Style, counted: Count, node: NodeType, cluster: Cluster) -> tuple[str, ...]:
    """What the person should know before the script runs: programs that it is told to run, a model that cannot fit."""
    trains = style.framework not in SERVERS and not style.starts  # a tool's configuration may be LoRA's
    large = too_large(request.model, style.strategy, counted.nodes * counted.ranks_per_node, node) if trains else ""
    commanding = ((one.name, consequence(one.name, one.value)) for one in request.variables)
    told = tuple(f"{name}: {does}." for name, does in commanding if does)
    return (*told, *((large,) if large else ()), *node.advice, *not_in_the_sites(request, style, cluster))


def not_in_the_sites(request: JobRequest, style: Style, cluster: Cluster) -> tuple[str, ...]:
    """Said where the site's own software has PyTorch, and the program needs another framework."""
    own = request.environment or request.container or request.modules
    if style.framework not in ELSEWHERE or style.starts or own or style.framework in cluster.software:
        return ()
    return (f"The software lines are the site's for PyTorch: say which environment or image has {style.framework}.",)


def notes(cluster: Cluster, style: Style, choice: LaunchChoice) -> tuple[str, ...]:
    said = [cluster.status] if cluster.status else []
    if not choice.form.documented:
        said.append(f"No page of {cluster.site} shows this launch; it is our reading of the facts.")
    if style.framework == "lightning" and kind_for_lightning(choice.form) == "other":
        said.append(LIGHTNING_NOTE)
    if choice.form.visible_devices == "one" and choice.form.workers == "ranks":
        said.append(ONE_DEVICE)
    if style.framework == "jax" and cluster.scheduler != "slurm":
        of_several = choice.form.workers == "ranks" and choice.form.visible_devices != "one"
        said.append(JAX_START.format(*(JAX_DEVICE if of_several else ("", ""))))
    said += FRAMEWORK_NOTES.get(style.framework, ())
    if choice.form.note and (style.strategy != "none" or style.starts == "ranks") and style.framework not in SERVERS:
        said.append(choice.form.note)
    if cluster.internet.access == "no":
        said.append(f"Compute nodes have no internet: {cluster.internet.beforehand}.")
    return tuple(said)


def job_name(entry: str) -> str:
    """A plain word from the program's name."""
    word = re.sub(r"[^A-Za-z0-9_-]+", "-", PurePosixPath(entry).stem).strip("-")
    return word[:32] if word and word[0].isalpha() else "train"
