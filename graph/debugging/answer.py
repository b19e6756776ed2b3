"""A diagnosis in words and as JSON. The same text for every door that shows plain text."""

from __future__ import annotations

from typing import Any

from knowledge.types import Diagnosis, LogEvidence

SCHEMA_VERSION = 1


def as_json(diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis as plain JSON values, with a schema version."""
    return {
        "schema": SCHEMA_VERSION,
        "cause": diagnosis.cause,
        "says": diagnosis.says,
        "confidence": round(diagnosis.confidence, 2),
        "evidence": [_evidence_json(e) for e in diagnosis.evidence],
        "fix": list(diagnosis.fix),
        "change": dict(diagnosis.change),
        "considered": [
            {
                "cause": c.cause,
                "why_not": c.why_not,
                "evidence": _evidence_json(c.evidence) if c.evidence else None,
            }
            for c in diagnosis.considered
        ],
        "send_next": list(diagnosis.send_next) if diagnosis.cause == "unknown" else [],
        "sources": list(diagnosis.sources),
        "captured": dict(diagnosis.captured),
    }


def _evidence_json(evidence: LogEvidence) -> dict[str, Any]:
    shown: dict[str, Any] = {"line": evidence.line, "text": evidence.text, "count": evidence.count}
    if evidence.rank is not None:
        shown["rank"] = evidence.rank
    if evidence.file is not None:
        shown["file"] = evidence.file
    return shown


def as_text(diagnosis: Diagnosis) -> str:
    """What a person reads: cause, evidence, what to change, what else it could be, sources."""
    sure = {True: "", False: " (not certain)"}[diagnosis.confidence >= 0.6 or diagnosis.cause == "unknown"]
    parts = [f"{diagnosis.says}{sure}\n  cause: {diagnosis.cause}"]
    if diagnosis.evidence:
        parts.append("evidence\n" + "\n".join(f"  {_evidence_line(e)}" for e in diagnosis.evidence))
    if diagnosis.fix:
        parts.append("what to change\n" + "\n".join(f"  {n}. {step}" for n, step in enumerate(diagnosis.fix, 1)))
    if diagnosis.considered:
        parts.append("what else it could be\n" + "\n".join(_considered_line(c) for c in diagnosis.considered))
    if diagnosis.send_next and (diagnosis.cause == "unknown" or diagnosis.confidence < 0.6):
        parts.append("to be sure, send\n" + "\n".join(f"  - {what}" for what in diagnosis.send_next))
    if diagnosis.sources:
        parts.append("sources\n" + "\n".join(f"  {address}" for address in diagnosis.sources))
    return "\n\n".join(parts)


def _considered_line(considered: Any) -> str:
    where = f" (line {considered.evidence.line})" if considered.evidence else ""
    return f"  {considered.cause}{where}: {considered.why_not}"


def _evidence_line(evidence: LogEvidence) -> str:
    where = f"{evidence.file}:{evidence.line}" if evidence.file else f"line {evidence.line}"
    rank = f", rank {evidence.rank}" if evidence.rank is not None else ""
    times = f", {evidence.count} times" if evidence.count > 1 else ""
    return f"{where}{rank}{times}: {evidence.text}"
