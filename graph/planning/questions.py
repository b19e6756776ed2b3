"""What still has to be asked before a script can be written, most telling first.

The machine's facts fill what they can: GPUs a node where the person left them out, nodes where a total was said.
"""

from __future__ import annotations

from collections.abc import Sequence

from graph.planning.strategies import RUNS, served
from knowledge.cluster import Cluster
from knowledge.types import FRAMEWORKS, JobRequest, Question, Strategy

ASKED_STRATEGIES: tuple[Strategy, ...] = ("ddp", "fsdp", "zero2", "zero3")


def still_missing(request: JobRequest, cluster: Cluster | None, names: Sequence[str] = ()) -> tuple[Question, ...]:
    """The open questions. names: the machines to offer while none is chosen."""
    questions = []
    if request.machine is None:
        questions.append(Question("machine", "Which machine do you want to run on?", tuple(names)))
    if request.framework is None and request.strategy is None:
        questions.append(Question("framework", "Which framework does your program use?", FRAMEWORKS))
    if request.strategy is None:
        questions.append(Question("strategy", "Which parallel strategy?", strategies_for(request)))
    if request.nodes is None and request.total_gpus is None:
        questions.append(Question("nodes", nodes_question(cluster), ()))
    return tuple(questions)


def strategies_for(request: JobRequest) -> tuple[str, ...]:
    framework = served(request.framework)
    if framework is None:
        return ASKED_STRATEGIES
    return tuple(strategy for strategy in RUNS[framework] if strategy not in ("none", "zero1"))


def nodes_question(cluster: Cluster | None) -> str:
    if cluster is None:
        return "How many nodes?"
    queue = cluster.default_queue
    gpus = cluster.node_type(queue.node_types[0]).gpus
    each = f"{gpus.devices_per_node} {gpus.model} devices each" if gpus.devices_per_node else f"{gpus.model} GPUs"
    most = f", at most {queue.max_nodes} in queue {queue.id}" if queue.max_nodes else ""
    return f"How many nodes? ({each}{most})"
