"""When no topic fits: the gotcha, note or remark whose words match the question best, or nothing.

Words are weighed by how rare they are in this machine's texts (as in BM25). What does not cover the better part of
the question's weight is no answer: silence is better than a text about something else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from graph.answering.asking import Ask
from graph.answering.fact_answer import FactAnswer, say
from knowledge.cluster import Cluster

WORD = re.compile(r"[a-z0-9][a-z0-9_+.]*[a-z0-9_]|[a-z]")
ENOUGH = 0.55
NEARLY_AS_GOOD = 0.85
FILLER_WORDS = """
a about after again all also always an and any are as at be because been before but by can cannot could did do does
doing else ever find for from get gets getting give go goes going good happen happens had has have help here hi how
i if in into is it its job jobs just know let like machine make many may me mean means more most much must my need
needs no not now of on one only or other our out over own please possible put really run runs running say see seem
set should so some still tell than that the their them then there these they thing this those to try trying up us
use used using very want was we well were what when where which while who why will with without work working works
would yes you your cluster system supercomputer hpc keep keeps come comes
"""
FILLER = frozenset(FILLER_WORDS.split())
ENDINGS = ("ations", "ation", "ings", "ing", "ers", "er", "ied", "ies", "ed", "es", "s", "e")


def matching(ask: Ask) -> FactAnswer | None:
    """The text that answers best, perhaps with a second that is nearly as good."""
    own = stems(" ".join((ask.cluster.id, ask.cluster.title, *ask.cluster.names)))
    query = stems(ask.text) - own
    if not query:
        return None
    texts = list(passages(ask.cluster))
    bags = [stems(text) for text in texts]
    weights = {word: weight(word, bags) for word in query}
    whole = sum(weights.values())
    scores = [covered(query, bag, weights) / whole for bag in bags]
    order = sorted(range(len(texts)), key=lambda at: (-scores[at], len(texts[at])))
    best = order[0]
    shared = len(query & bags[best])
    if scores[best] < ENOUGH or (shared < 2 and len(query) > 1):
        return None
    second = [texts[at] for at in order[1:2] if scores[at] >= NEARLY_AS_GOOD * scores[best]]
    return say(ask.cluster, [texts[best], *second])


def covered(query: set[str], bag: set[str], weights: dict[str, float]) -> float:
    return sum(weights[word] for word in query & bag)


def weight(word: str, bags: list[set[str]]) -> float:
    """The rarer among the texts, the more; a word that no text has weighs as one that a single text has."""
    having = max(1, sum(word in bag for bag in bags))
    return math.log(1 + (len(bags) - having + 0.5) / (having + 0.5))


def stems(text: str) -> set[str]:
    """The telling words, without their endings. An address is no word."""
    words = WORD.findall(re.sub(r"https?://\S+", " ", text.lower()))
    return {stem(word) for word in words if word not in FILLER and not word.isdigit()}


def stem(word: str) -> str:
    if not word.isalpha():
        return word
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


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
