"""Request + cluster -> plan. A default is an Assumption; what the machine cannot do a Refusal with a way round."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath

from graph.planning.counting import Count, count
from graph.planning.fields import check_request, entry_of, shown, split_arguments
from graph.planning.filling import Values, clock, fill_directives
from graph.planning.gpus import kinds_named, mixed_precision, too_large
from graph.planning.launching import LIGHTNING_NOTE, LaunchChoice, choose_launch, kind_for_lightning
from graph.planning.queues import Slot, choose_queue, of_purpose
from graph.planning.software import own_environment, top_settings, variables
from graph.planning.strategies import Style, choose_style, parallel_sizes
from knowledge.cluster import Cluster, Condition, NodeType, walltime_seconds
from knowledge.errors import InputError
from knowledge.types import Alternative, Assumption, JobRequest, LaunchPlan, Refusal

ACCOUNT_PLACEHOLDER = "YOUR_ACCOUNT"
USUAL_ENTRY = "train.py"
GPU = re.compile(r"[a-z]{1,2}\d{2,3}[a-z]?", re.I)
NO_CONTAINER = (
    "The container {} is not entered: the script loads the machine's own software. Ask *how do containers run there?* "
    "and put that before your program."
)


def plan(request: JobRequest, cluster: Cluster) -> LaunchPlan | Refusal:
    """What to write. The request must name strategy and nodes (or a total); see questions.still_missing.

    Raises InputError where a field cannot stand in a script, or is still open.
    """
    check_request(request)
    style = choose_style(request)
    if style is None:
        raise InputError("strategy is open; say one of ddp, fsdp, zero1, zero2, zero3, tp, pp, 3d")
    if isinstance(style, Refusal):
        return style
    if request.queue and cluster.queue(request.queue) is None:
        return with_queue_meant(request, cluster)
    node = choose_node_type(request, cluster)
    counted = count(request, cluster, node)
    if counted is None:
        raise InputError("nodes are open; say how many nodes, or how many GPUs in all")
    if isinstance(counted, Refusal):
        return counted
    slot = choose_queue(request, cluster, node.id, counted.nodes, counted.ranks_per_node)
    if isinstance(slot, Refusal):
        return slot
    launch = choose_launch(cluster, style, node)
    if isinstance(launch, Refusal):
        return launch
    return decide(request, cluster, node, style, counted, slot, launch)


def with_queue_meant(request: JobRequest, cluster: Cluster) -> LaunchPlan | Refusal:
    """The plan where a kind of queue was named and not a queue: `the preemptible queue`."""
    said = request.queue or ""
    queue = of_purpose(said, cluster, choose_node_type(replace(request, queue=None), cluster).id)
    if queue is None:
        return unknown_queue(said, cluster)
    decided = plan(replace(request, queue=queue.id), cluster)
    if isinstance(decided, Refusal):
        return decided
    taken = Assumption("queue", queue.id, f"what {cluster.title} has for {shown(said)} ({queue.purpose})", queue.source)
    return replace(decided, assumptions=(*decided.assumptions, taken))


def unknown_queue(name: str, cluster: Cluster) -> Refusal:
    ways = tuple(Alternative(f"queue {queue.id}", (("queue", queue.id),)) for queue in cluster.queues[:6])
    return Refusal(
        f"{cluster.title} has no queue {shown(name)} that is known here.",
        f"Known: {', '.join(queue.id for queue in cluster.queues)} (facts of {cluster.as_of}).",
        cluster.queues[0].source,
        ways,
    )


def choose_node_type(request: JobRequest, cluster: Cluster) -> NodeType:
    """The kind that was named, where the queue has it; else the queue's first kind with enough GPUs."""
    queue = (cluster.queue(request.queue) if request.queue else None) or cluster.default_queue
    wanted = request.gpus_per_node or 0
    if request.node_type:
        there = [queue.node_types] if request.queue else [one.node_types for one in cluster.queues]
        named = [n for n in kinds_named(request.node_type, cluster.node_types) if any(n.id in ids for ids in there)]
        named.sort(key=lambda node: (node.id not in queue.node_types, (node.gpus.devices_per_node or 0) < wanted))
        if named:
            return named[0]
    types = [cluster.node_type(name) for name in queue.node_types]
    return next((node for node in types if (node.gpus.devices_per_node or 0) >= wanted), types[0])


def decide(
    request: JobRequest,
    cluster: Cluster,
    node: NodeType,
    style: Style,
    counted: Count,
    slot: Slot,
    choice: LaunchChoice,
) -> LaunchPlan:
    """Everything chosen; the rest follows from the facts."""
    entry, kind = entry_of(USUAL_ENTRY if request.entry is None else request.entry)
    account, on_account = charge(request, cluster, node)
    values = numbers(request, cluster, node, counted, slot, choice, account)
    holds = conditions(node, counted, choice)
    taken = (*style.assumptions, *counted.assumptions, *slot.assumptions)
    if request.node_type != node.id:
        taken += on_node_type(request, cluster, node, counted, slot)
    decided = LaunchPlan(
        cluster=cluster.id,
        title=cluster.title,
        as_of=cluster.as_of,
        scheduler=cluster.scheduler,
        submit=cluster.submit,
        shebang=cluster.shebang,
        job_name=job_name(entry),
        framework=style.framework,
        strategy=style.strategy,
        node_type=node.id,
        gpu_model=node.gpus.model,
        backend=node.gpus.backend,
        nodes=counted.nodes,
        ranks_per_node=counted.ranks_per_node,
        counting=counted.says,
        queue=slot.queue.id,
        walltime=slot.walltime,
        account=account,
        directives=fill_directives(cluster.directives, slot.queue, node.id, holds, values),
        launch=choice.launch(values, "whole_node" in holds),
        rendezvous_host=cluster.rendezvous.host,
        rendezvous_port=cluster.rendezvous.port,
        rendezvous_lines=cluster.rendezvous.lines,
        entry=entry,
        entry_kind=kind,
        assumptions=(*taken, *on_account, *on_entry(request)),
    )
    return with_program(decided, request, cluster, node, style, counted, choice)


def with_program(
    decided: LaunchPlan,
    request: JobRequest,
    cluster: Cluster,
    node: NodeType,
    style: Style,
    counted: Count,
    choice: LaunchChoice,
) -> LaunchPlan:
    """The plan with what the program is told and finds around it."""
    software = choice.software
    tensor, pipeline, on_sizes = parallel_sizes(style, counted.nodes, counted.ranks_per_node)
    settings, on_settings = top_settings(request, software)
    return replace(
        decided,
        args=split_arguments(request.args),
        stage=style.stage,
        tensor_parallel=tensor,
        pipeline_parallel=pipeline,
        mixed_precision=mixed_precision(node),
        preamble=cluster.preamble,
        settings=settings,
        setup=(*software.lines, *own_environment(request, software)),
        variables=variables(cluster, node, style, counted, choice),
        user_setup=request.setup,
        user_variables=request.variables,
        assumptions=(*decided.assumptions, *on_sizes, *on_settings, *choice.assumptions),
        notes=(*warned(request, style, counted, node), *notes(cluster, style, choice)),
    )


def charge(request: JobRequest, cluster: Cluster, node: NodeType) -> tuple[str, tuple[Assumption, ...]]:
    """The account as the directive needs it. Without one a placeholder stands there, and is said."""
    facts = cluster.account
    suffix = facts.suffix_for(node.id)
    if request.account is None:
        if not facts.needed:
            return "", ()
        text = ACCOUNT_PLACEHOLDER + (suffix or "")
        return text, (Assumption("account", text, "not said; replace it before you submit", facts.source),)
    if suffix and facts.suffix_required and not request.account.endswith(suffix):
        text = request.account + suffix
        return text, (Assumption("account", text, f"GPU jobs there are charged to <project>{suffix}", facts.source),)
    return request.account, ()


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
    tasks = counted.ranks_per_node if choice.form.workers == "ranks" else 1
    gpus = counted.ranks_per_node
    devices = node.gpus.devices_per_node or gpus
    if slot.queue.whole_nodes:
        gpus = devices
    if node.gpus.scheduler_counts == "cards":
        gpus = -(-gpus // node.gpus.tiles_per_gpu)
    seconds = walltime_seconds(slot.walltime)
    return {
        "account": account or None,
        "queue": slot.queue.id,
        "nodes": counted.nodes,
        "walltime": slot.walltime,
        "walltime_hm": clock(seconds),
        "minutes": -(-seconds // 60),
        "job_name": job_name(request.entry or USUAL_ENTRY),
        "tasks": tasks * counted.nodes,
        "tasks_per_node": tasks,
        "cpus_per_task": cpus_per_task(node, counted.ranks_per_node, tasks),
        "gpus_per_node": gpus,
        "total_gpus": gpus * counted.nodes,
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


def on_entry(request: JobRequest) -> tuple[Assumption, ...]:
    if request.entry is not None:
        return ()
    return (Assumption("entry", USUAL_ENTRY, "not said; put your program and its arguments at the top", None),)


def warned(request: JobRequest, style: Style, counted: Count, node: NodeType) -> tuple[str, ...]:
    """What the script does not do for the person: a model that cannot fit, a container that nothing enters."""
    large = too_large(request.model, style.strategy, counted.nodes * counted.ranks_per_node, node)
    container = NO_CONTAINER.format(request.container) if request.container else ""
    return tuple(filter(None, (large, container)))


def notes(cluster: Cluster, style: Style, choice: LaunchChoice) -> tuple[str, ...]:
    said = [cluster.status] if cluster.status else []
    if not choice.form.documented:
        said.append(f"No page of {cluster.site} shows this launch; it is our reading of the facts.")
    if style.framework == "lightning" and kind_for_lightning(choice.form) == "other":
        said.append(LIGHTNING_NOTE)
    if choice.form.note:
        said.append(choice.form.note)
    if cluster.internet.access == "no":
        said.append("Compute nodes have no internet: download models and data on a login node first.")
    return tuple(said)


def job_name(entry: str) -> str:
    """A plain word from the program's name."""
    word = re.sub(r"[^A-Za-z0-9_-]+", "-", PurePosixPath(entry).stem).strip("-")
    return word[:32] if word and word[0].isalpha() else "train"
