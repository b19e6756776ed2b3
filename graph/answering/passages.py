"""When no topic fits: the gotcha, note or remark whose words match the question best, or nothing.

Words are weighed by how rare they are in this machine's texts (as in BM25). What does not cover the better part of
the question's weight is no answer: silence is better than a text about something else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from graph.answering.asking import Ask
from graph.answering.fact_answer import FactAnswer, say
from knowledge.cluster import Cluster
from knowledge.wording import covered, rarity, stems

ENOUGH = 0.55
NEARLY_AS_GOOD = 0.85


def matching(ask: Ask) -> FactAnswer | None:
    """The text that answers best, perhaps with a second that is nearly as good."""
    own = stems(" ".join((ask.cluster.id, ask.cluster.title, *ask.cluster.names)))
    query = stems(ask.text) - own
    if not query:
        return None
    texts = list(passages(ask.cluster))
    bags = [stems(text) for text in texts]
    weights = {word: rarity(sum(word in bag for bag in bags), len(bags)) for word in query}
    scores = [covered(weights, bag) for bag in bags]
    order = sorted(range(len(texts)), key=lambda at: (-scores[at], len(texts[at])))
    best = order[0]
    shared = len(query & bags[best])
    if scores[best] < ENOUGH or (shared < 2 and len(query) > 1):
        return None
    second = [texts[at] for at in order[1:2] if scores[at] >= NEARLY_AS_GOOD * scores[best]]
    return replace(say(ask.cluster, [texts[best], *second]), typed=False)


def passages(cluster: Cluster) -> Iterable[str]:
    """Every text of a machine that can stand alone."""
    yield from cluster.gotchas
    yield from cluster.notes
    yield from cluster.containers
    yield from (note for node in cluster.node_types for note in node.notes)
    yield from (f"Queue {queue.id}: {queue.note}" for queue in cluster.queues if queue.note)
    yield from (
        f"{fact.name}={fact.value} ({fact.when or 'always'}): {fact.why}" for fact in cluster.environment if fact.why
    )
    yield from (f"{ban.option} is {ban.effect}: {ban.why}" for ban in cluster.forbidden)
    yield from (f"{refusal.says}. {refusal.why}. {refusal.instead}" for refusal in cluster.refusals)
    yield from (software.note for software in cluster.software.values() if software.note)
    yield from (f"{key}: {text}" for key, text in cluster.filesystems.items())
    yield from (
        text for text in (cluster.account.note, cluster.internet.note, cluster.rendezvous.note, cluster.status) if text
    )
    yield from (f"Not known: {text}" for text in cluster.unknown)
