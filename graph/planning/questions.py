"""What still has to be asked before a script can be written, most telling first.

The machine's facts fill what they can: GPUs a node where the person left them out, nodes where a total was said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.planning.gpus import kinds_named
from graph.planning.processors import without_gpus
from graph.planning.strategies import RUNS, served, with_own_strategy
from knowledge.cluster import Cluster
from knowledge.types import FRAMEWORKS, JobRequest, Question, Strategy

MACHINE_HELP = (
    "The one you have an account on, by its usual name; I need it because queues, GPUs and launch commands differ. "
    "Nobody has told you? Ask whoever gave you the login."
)
FRAMEWORK_HELP = (
    "It is what your program imports: `import torch` alone is pytorch (usual), `deepspeed`, `accelerate` or "
    "`lightning` by those names. Say *you choose* and I take pytorch."
)
NODES_HELP = "One node is usual for a first run and starts soonest; more later is one word. Say *you choose* for that."
# What a strategy means, in a clause.
MEANS = {
    "ddp": "the whole model on each GPU, the data shared out: usual where it fits on one GPU",
    "fsdp": "the model's states shared out over the GPUs: where it does not fit on one",
    "zero2": "DeepSpeed, gradients and optimizer states shared out",
    "zero3": "DeepSpeed, parameters too: for the largest models",
    "tp": "each layer split over the GPUs of a node",
    "pp": "the layers one after another on different GPUs",
    "3d": "tp, pp and data together: for pre-training very large models",
}
ASKED_STRATEGIES: tuple[Strategy, ...] = ("ddp", "fsdp", "zero2", "zero3")


def still_missing(request: JobRequest, cluster: Cluster | None, names: Sequence[str] = ()) -> tuple[Question, ...]:
    """The open questions. names: the machines to offer while none is chosen."""
    questions = []
    if request.machine is None:
        questions.append(Question("machine", "Which machine do you want to run on?", tuple(names), MACHINE_HELP))
    if without_gpus(request, cluster):
        return tuple(questions)
    told = with_own_strategy(request)
    if told.framework is None and told.strategy is None:
        questions.append(Question("framework", "Which framework does your program use?", FRAMEWORKS, FRAMEWORK_HELP))
    if told.strategy is None:
        questions.append(Question("strategy", "How is the model spread over the GPUs?", *strategies_with_help(request)))
    if request.nodes is None and request.total_gpus is None:
        questions.append(Question("nodes", nodes_question(cluster), (), NODES_HELP))
    return tuple(questions)


def machines_of_account(account: str, clusters: Sequence[Cluster]) -> tuple[Cluster, ...]:
    """The machines whose accounts look like that one: all of its shape, else those with the longest ending of it."""
    shaped = tuple(one for one in clusters if one.account.shape and re.fullmatch(one.account.shape, account.lower()))
    if shaped:
        return shaped
    ends = [(len(ending), one) for one in clusters if one.account.suffix_required for ending in one.account.endings
            if account.lower().endswith(ending.lower())]  # fmt: skip
    longest = max((length for length, _ in ends), default=0)
    return tuple({one.id: one for length, one in ends if length == longest}.values())


def machines_that_fit(request: JobRequest, clusters: Sequence[Cluster]) -> tuple[Cluster, ...]:
    """Those that have the queue and the kind of GPU that are told, as far as any of them has it."""
    queue, kind = request.queue, request.node_type
    having = [one for one in clusters if queue and one.queue(queue)] or clusters
    return tuple([one for one in having if kind and kinds_named(kind, one.node_types)] or having)


def strategies_with_help(request: JobRequest) -> tuple[tuple[str, ...], str]:
    """The choices, and what each means."""
    names = strategies_for(request)
    meanings = "; ".join(f"*{name}*: {MEANS[name]}" for name in names if name in MEANS)
    return names, f"{meanings}. Say *you choose* and I take {'ddp' if 'ddp' in names else names[0]}."


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
