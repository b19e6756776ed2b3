"""After a diagnosis: known issues and pages that speak of the same lines, where there are any. At most two."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from graph.answering.telling import excerpt, source_of
from graph.context import Context
from knowledge.types import Diagnosis, JobRequest, Passage

MOST = 2
LINES = 3
SILENT = frozenset({"no-failure", "unknown"})


def related(diagnosis: Diagnosis, request: JobRequest, context: Context) -> list[Passage]:
    """What adds to the diagnosis; nothing where there is no knowledge, no cause or no line."""
    if context.knowledge is None or diagnosis.cause in SILENT or not diagnosis.evidence:
        return []
    lines = "\n".join(evidence.text for evidence in diagnosis.evidence[:LINES])
    about = context.cluster(request)
    return context.knowledge.related(
        lines,
        diagnosis.cause,
        machine=about.id if about else "",
        framework=request.framework or "",
        limit=MOST,
    )


def in_words(passages: Sequence[Passage], lines: str, today: date) -> str:
    """`Known issue: title. What happens and the way round. See address (checked 2026-11-21).`"""
    told = []
    for passage in passages:
        what = "Known issue" if passage.kind == "card" else "From what was read in"
        text = passage.text if passage.kind == "card" else excerpt(passage.text, lines)
        told.append(f"{what}: *{passage.title}*. {text} See {source_of(passage, today)}.")
    return "\n\n".join(told)
