"""The variables that a job exports: what its machine, launch and framework need there."""

from __future__ import annotations

import re
from dataclasses import replace

from graph.planning.counting import Count
from graph.planning.launching import LaunchChoice
from graph.planning.strategies import Style
from knowledge.cluster import Cluster, NodeType
from knowledge.types import SERVERS, JobRequest, LaunchPlan, Variable


def variables(
    cluster: Cluster, node: NodeType, style: Style, counted: Count, choice: LaunchChoice
) -> tuple[Variable, ...]:
    """The variables that jobs like this one need there. Advice is left to `maple-chat clusters NAME`."""
    when = {"always", "multi_node" if counted.nodes > 1 else "one_node"}
    return tuple(
        Variable(fact.name, of_job(fact.name, fact.value, counted), fact.why, fact.expand)
        for fact in cluster.environment
        if fact.apply in when
        and (not fact.workers or choice.form.workers in fact.workers)
        and (not fact.node_types or node.id in fact.node_types)
        and (not fact.frameworks or style.framework in fact.frameworks)
        and not (style.framework in SERVERS and "training" in fact.when)  # a server's processes find each other alone
    ) + proxies(cluster)


def of_job(name: str, value: str, counted: Count) -> str:
    """A variable's value; of a list of a node's devices those that the job has."""
    numbers = value.split(",")
    if not name.endswith("VISIBLE_DEVICES") or not all(map(str.isdigit, numbers)):
        return value
    return ",".join(numbers[: counted.ranks_per_node])


def overlapping(style: Style, node: NodeType, tensor: int, request: JobRequest) -> tuple[Variable, ...]:
    """What Megatron asserts with tensor (sequence) or context parallelism where a device's major version is below 10:
    NVIDIA's before Blackwell, and AMD's, which PyTorch calls 9.

    Source: https://github.com/NVIDIA/Megatron-LM/blob/main/megatron/training/arguments.py
    """
    older = node.gpus.vendor != "intel" and not (node.gpus.arch or "").startswith(("sm_10", "sm_12"))
    if style.framework != "megatron" or not older or (tensor == 1 and (request.context_parallel or 1) == 1):
        return ()
    why = "Megatron asks for it with tensor or context parallelism: it queues communication before compute"
    return (Variable("CUDA_DEVICE_MAX_CONNECTIONS", "1", why),)


def all_devices(style: Style, counted: Count, request: JobRequest) -> tuple[Variable, ...]:
    """JAX takes one device a process under Slurm and Open MPI unless it is told of more.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.distributed.initialize.html
    """
    if style.framework != "jax" or request.processes_per_node != 1 or counted.ranks_per_node == 1:
        return ()
    numbers = ",".join(str(number) for number in range(counted.ranks_per_node))
    return (Variable("JAX_LOCAL_DEVICE_IDS", numbers, "one process has all GPUs of its node"),)


def proxies(cluster: Cluster) -> tuple[Variable, ...]:
    if cluster.internet.access != "proxy":
        return ()
    return tuple(
        Variable(name, value, "the way out of a compute node") for name, value in cluster.internet.proxy.items()
    )


def with_theirs_alone(decided: LaunchPlan) -> LaunchPlan:
    """The plan without its own values of variables that the person sets: an export further down would win over theirs.

    A value that goes on from the one before (`PATH=/own:$PATH`) needs that one.
    """
    theirs = {one.name for one in decided.user_variables if not re.search(rf"\$\{{?{re.escape(one.name)}\b", one.value)}
    return replace(
        decided,
        settings=tuple(one for one in decided.settings if one.name not in theirs),
        variables=tuple(one for one in decided.variables if one.name not in theirs),
        assumptions=tuple(one for one in decided.assumptions if one.field not in theirs),
    )
