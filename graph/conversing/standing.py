"""What an answer of this turn may stand on, before any tool was asked and after one answered."""

from __future__ import annotations

import re
from collections.abc import Callable

from graph.conversing.briefing import rules
from graph.conversing.ground import Ground
from graph.conversing.hand import Hand
from graph.conversing.numbers import times_in
from graph.state import State
from knowledge.cluster import Cluster
from knowledge.types import Diagnosis, Grounds, Said

COMMENT = re.compile(r"^\s*#(?!\s?(?:SBATCH|PBS|BSUB|flux:|!))")
MOST_RULES, MOST_LOG = 20_000, 40_000


def stand_on(ground: Ground, hand: Hand, ruled: State, as_text: Callable[[Said], str]) -> None:
    """Facts of the job's machine, the script in hand, the rules' answer, the log and its diagnosis, earlier turns."""
    state, message, plan = hand.state, hand.turn.message, hand.state.get("plan")
    ground.words = hand.words
    ground.go_on(state.get("grounds") or Grounds())
    if cluster := hand.context.cluster(hand.request):
        ground.add(*facts_of(cluster))
    counts = (plan.nodes, plan.ranks_per_node) if plan else (hand.request.nodes, hand.request.gpus_per_node)
    times = times_in((plan.walltime if plan else hand.request.walltime) or "")
    ground.sizes = (*(float(one) for one in counts if one), *times)
    ground.job = [f"{one} {what}" for one, what in zip(counts, ("nodes", "GPUs"), strict=True) if one]
    ground.job += [f"{counts[1]} ranks"] if counts[1] else []
    bundle, own = state.get("bundle"), state.get("own")
    rows = (own.text if own else bundle.script if bundle else "").splitlines()
    ground.job += [row for row in rows if not (own and COMMENT.match(row))]
    ground.job += [f"{one.value} {one.why}" for one in (plan.assumptions if plan else ())]
    ground.add(*([] if message.logs else [rules(ruled, as_text, MOST_RULES, MOST_RULES)]))
    outputs = [one.text for one in message.outputs] or [state.get("output", "")]
    ground.add(*outputs)
    drafted = hand.request.site_words or hand.read.site_words
    ground.printed = [*outputs, *([ground.words] if drafted else [])]
    ground.pasted += [row for row in rows if own and COMMENT.match(row)]
    ground.pasted += [one.text[:MOST_LOG] for one in (*message.scripts[1:], *message.logs, *state.get("logs", ()))]
    found = [part for part in ruled.get("said", ()) if isinstance(part, Diagnosis)]
    for one in (*found, *filter(None, [state.get("diagnosed")])):
        ground.add(one.says, *one.fix, *(value for _, value in one.facts))
        ground.pasted += [line.text for line in one.evidence]


def facts_of(cluster: Cluster) -> list[str]:
    """The queues with their limits and the nodes of a machine, in short."""
    queues = [f"{one.id} {one.max_walltime or ''} {one.max_nodes or ''} nodes" for one in cluster.queues]
    nodes = [
        f"{one.id} {one.gpus.per_node} x {one.gpus.model} {one.gpus.devices_per_node} {one.gpus.memory_gb or ''} GB"
        for one in cluster.node_types
    ]
    return [*queues, *nodes]


def stand_on_result(ground: Ground, tool: str, text: str) -> None:
    """What a tool answered: of a log it proves nothing, of a page that somebody read in it has to be cited."""
    if tool == "diagnose_log":
        ground.pasted.append(text)
    elif tool == "search_knowledge":
        shipped, read_in = apart(text)
        ground.add(*shipped)
        ground.pages += read_in
    elif tool != "log_lines":
        ground.add(text)


def apart(text: str) -> tuple[list[str], list[str]]:
    """The passages of a search: those that are shipped, and those that somebody read in."""
    passages = re.split(r"(?m)^(?=\s*- title:)", text)
    shipped = [one for one in passages if re.search(r"(?m)^\s*kind: (?:fact|card)$", one)]
    return shipped, [one for one in passages if one not in shipped]
