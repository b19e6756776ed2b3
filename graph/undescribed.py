"""A machine that nobody described: what to ask about it, and which known machine may stand in for it."""

from __future__ import annotations

import re

from rapidfuzz.distance import OSA

from knowledge.catalogue import Catalogue, squash
from knowledge.cluster import Cluster
from knowledge.types import SCHEDULERS, Alternative, JobRequest, Question, Refusal, Scheduler
from templates.library import Library
from templates.nearest import Undescribed, questions, vendor_of

# What decides which machine is nearest; the other questions are listed, not asked.
DECIDING = ("scheduler", "gpu")
MOST_OFFERED = 3
MOST_OFF = 2


def slips(name: str, catalogue: Catalogue) -> tuple[str, ...]:
    """The machines that a name may be a slip of the pen for: two letters off at most, the names being alike."""
    near = catalogue.nearest(name)
    return tuple(
        one for one in near if any(off(name, other) <= MOST_OFF for other in names_of(catalogue.clusters[one]))
    )


def off(one: str, other: str) -> int:
    return OSA.distance(squash(one), squash(other))


def names_of(cluster: Cluster) -> tuple[str, ...]:
    return (cluster.id, cluster.title, *cluster.names)


def described(name: str, words: str, gpus_per_node: int | None) -> Undescribed:
    """What the person's words tell of the machine; `A100s` are A100."""
    words = re.sub(r"(\d)s\b", r"\1", words)
    return Undescribed(name, scheduler_in(words), words if vendor_of(words) else "", gpus_per_node)


def scheduler_in(words: str) -> Scheduler | None:
    return next((name for name in SCHEDULERS if re.search(rf"\b{name}", words, re.I)), None)


def next_question(request: JobRequest, words: str, asked: Question | None) -> Question | None:
    """What to ask about the machine; a thing that was just asked is not asked again, read or not."""
    done = DECIDING[: DECIDING.index(asked.field) + 1] if asked and asked.field in DECIDING else ()
    machine = described(request.machine or "", words, request.gpus_per_node)
    return next((q for q in questions(machine) if q.field in DECIDING and q.field not in done), None)


def stand_ins(request: JobRequest, words: str, library: Library) -> Refusal:
    """No script yet: the nearest machines by what is known, and what would make it certain."""
    name = request.machine or ""
    machine = described(name, words, request.gpus_per_node)
    matches = library.find(
        cluster=name,
        scheduler=machine.scheduler,
        gpu=machine.gpu,
        gpus_per_node=machine.gpus_per_node,
        limit=MOST_OFFERED,
    )
    open_questions = " ".join(q.text for q in questions(machine) if q.field not in DECIDING)
    return Refusal(
        f"Nobody described {name} here, so I cannot write a script that is sure to run there.",
        f"A file with its facts makes it certain (docs/add-a-cluster.md). It answers: {open_questions}",
        instead=tuple(
            Alternative(f"start from {match.template.cluster} ({match.why})", (("machine", match.template.cluster),))
            for match in matches
        ),
    )
