"""What the graph says, as a document: the one account of a diagnosis that every door prints."""

from __future__ import annotations

from knowledge.document import Document, Paragraph, Part, Quote, Source, Sources, Step, Steps
from knowledge.types import Diagnosis, LogEvidence

SURE, UNKNOWN = 0.6, "unknown"
MOST_EVIDENCE = 5


def diagnosis_document(diagnosis: Diagnosis) -> Document:
    """The cause, the lines that show it, the fix, what else it could be; below the threshold, what to send next."""
    sure = diagnosis.confidence >= SURE or diagnosis.cause == UNKNOWN
    how = "" if sure else " (not certain)"
    parts: list[Part] = [Paragraph(f"**{diagnosis.says}**{how}"), Paragraph(f"cause: `{diagnosis.cause}`")]
    parts += [Quote(line.text, place(line)) for line in diagnosis.evidence[:MOST_EVIDENCE]]
    if diagnosis.fix:
        parts += [Paragraph("What to change:"), Steps(tuple(Step(text) for text in diagnosis.fix))]
    parts += [Paragraph(f"Noticed: {one}") for one in diagnosis.noticed]
    parts += [
        Paragraph(f"Less likely: {one.cause}{at(one.evidence)}, {one.why_not}.") for one in diagnosis.considered[:2]
    ]
    if diagnosis.send_next and (diagnosis.cause == UNKNOWN or not sure):
        parts.append(Paragraph("To be sure, send:\n\n" + "\n".join(f"- {item}" for item in diagnosis.send_next)))
    parts.append(Sources(tuple(Source("", address) for address in diagnosis.sources)))
    return Document(tuple(parts))


def place(line: LogEvidence) -> str:
    where = f"{line.file}:{line.line}" if line.file else f"line {line.line}"
    rank = f", rank {line.rank}" if line.rank is not None else ""
    times = f", {line.count} times" if line.count > 1 else ""
    return f"{where}{rank}{times}"


def at(evidence: LogEvidence | None) -> str:
    return f" ({place(evidence)})" if evidence else ""
