"""What a word means, and what sets two of them apart: from the glossary."""

from __future__ import annotations

from graph.answering.situation import Situation, cite, write_document
from graph.reading.defining import find_terms, words_asked
from knowledge.document import Document
from knowledge.glossary import difference, glossary

MOST = 3


def explain_terms(situation: Situation) -> Document | None:
    """What the words of the question mean; for two of them what sets them apart as well. None: no term is named."""
    terms = find_terms(situation.text)[:MOST]
    if not terms:
        return None
    apart = difference(terms[0], terms[1]) if len(terms) > 1 and len(words_asked(situation.text)) != MOST else ""
    texts = [apart] if apart else [glossary()[term].text for term in terms]
    told = [glossary()[term] for term in (terms[:2] if apart else terms)]
    pages = cite([term.source for term in told if term.source], max(term.as_of for term in told))
    return write_document(*texts, of_this_machine(terms[0], situation), pages)


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
