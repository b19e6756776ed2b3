"""What a word means, and what sets two of them apart: from the glossary."""

from __future__ import annotations

import re
from functools import cache

from graph.answering.situation import Situation, write_document
from knowledge.document import Document
from knowledge.glossary import difference, glossary, term_names

MOST = 3


@cache
def name_pattern() -> re.Pattern[str]:
    """All names, the longest first, as whole words."""
    names = sorted(term_names(), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})(?![\w-])")


def find_terms(text: str) -> tuple[str, ...]:
    """The ids of the terms that the words name, in their order, each once."""
    return tuple(dict.fromkeys(term_names()[found[0]] for found in name_pattern().finditer(text.lower())))


def explain_terms(situation: Situation) -> Document | None:
    """What the words of the question mean; for two of them what sets them apart as well. None: no term is named."""
    terms = find_terms(situation.text)[:MOST]
    if not terms:
        return None
    apart = difference(terms[0], terms[1]) if len(terms) > 1 else ""
    texts = [apart] if apart else [glossary()[term].text for term in terms]
    return write_document(*texts, of_this_machine(terms[0], situation))


def of_this_machine(term: str, situation: Situation) -> str:
    """The same word in numbers, on the machine that is spoken of."""
    cluster = situation.cluster
    if cluster is None:
        return ""
    kinds = cluster.node_types
    match term:
        case "node" | "gpu":
            cards = "; ".join(f"{k.gpus.per_node} x {k.gpus.model}" for k in kinds if k.gpus.per_node)
            return f"A GPU node of {cluster.title} has {cards}." if cards else ""
        case "queue" | "qos":
            return f"On {cluster.title} they are: {', '.join(queue.id for queue in cluster.queues)}."
        case "scheduler":
            return f"{cluster.title} runs {cluster.scheduler.upper() if cluster.scheduler != 'slurm' else 'Slurm'}."
    return ""
