"""About the assistant itself, what it stands on and keeps; and what it does not do, with the proper way."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from graph.answering.ask import Ask
from graph.answering.model_size import named_kinds
from graph.answering.situation import cite, write_document
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster, NodeType
from knowledge.data_file import read_data
from knowledge.document import Document

CAN = (
    "I write, change, check and carry over launch scripts for deep learning, tell why a job failed or does not start, "
    "and "
    "answer questions about {count} machines. Try *train.py with FSDP on Perlmutter, 4 nodes*, or paste a script or a "
    "log."
)
FRIENDLY = "That is not my field. {can}"


@cache
def declined() -> tuple[tuple[str, str], ...]:
    """Words of a message, and the no with its proper way. The first that fits is said."""
    rows = read_data(Path(__file__).with_name("declined.yaml"))
    return tuple((row["asked"], row["said"]) for row in rows)


def tell_what(ask: Ask) -> Document:
    """What the assistant is and can do."""
    return write_document(f"A program for launch scripts on supercomputers, no person. {can()}")


def can() -> str:
    return CAN.format(count=len(catalogue().clusters))


def tell_privacy(ask: Ask) -> Document:
    """What is kept and sent."""
    return write_document(
        "The conversation and what you paste are kept in the data folder of whoever runs me: your own computer on the "
        "command line, the server in Slack; `ask --new` and /new begin afresh "
        "and forget what was said; deleting that folder (`$XDG_DATA_HOME/maple-chat`) deletes all of it. "
        "Nothing goes to a language model "
        "unless one "
        "was set up (`ask --show-prompt TEXT` prints what would be sent), and nothing is searched on the web without "
        "your "
        "yes. Leave passwords and keys out of what you paste."
    )


def tell_sources(ask: Ask) -> Document:
    """Where the facts come from; of the machine that is spoken of, which pages, of which date, with its nodes."""
    machine = ask.machine
    if machine is None:
        return write_document(
            "Facts about machines come from the sites' own pages, each with its address and date; failures from public "
            "issue threads and the libraries' sources; where a fact is second-hand I say so. `maple-chat clusters "
            "MACHINE` "
            "prints all of a machine with its pages."
        )
    kinds = named_kinds(ask, machine) or machine.node_types
    nodes = "; ".join(node_in_words(kind) for kind in kinds[:4])
    from knowledge.site import site_of

    site = site_of(machine.id)
    pages = [
        *(kind.source or "" for kind in kinds),
        *(queue.source or "" for queue in machine.queues),
        *machine.sources,
    ]
    more = f" {site.read_from}" if site and site.read_from else ""
    return write_document(
        f"From the pages below, as of {machine.as_of}. Nodes of {machine.title} by them: {nodes}.{more}",
        cite([*dict.fromkeys(page for page in pages if page)][:4], machine.as_of),
    )


def node_in_words(kind: NodeType) -> str:
    gpus = kind.gpus
    count = f"{kind.count} nodes with " if kind.count else ""
    memory = f" {gpus.memory_gb:g} GB" if gpus.memory_gb else ""
    return f"{count}{gpus.per_node} x {gpus.model}{memory} ({kind.id})" if gpus.per_node else f"{kind.id}"


def decline(text: str, machine: Cluster | None = None) -> Document:
    """What is not done here: no, and the proper way; what is not our field: one friendly line and what we do."""
    from knowledge.site import site_of

    for pattern, answer in declined():
        if re.search(pattern, text, re.I | re.S):
            support = site_of(machine.id) if machine else None
            return write_document(answer, f"Support: {support.support.text}" if support else "")
    return write_document(FRIENDLY.format(can=can()))


def is_declined(text: str) -> bool:
    """Whether it is something that is refused for a reason, rather than only not our field."""
    return any(re.search(pattern, text, re.I | re.S) for pattern, _ in declined())
