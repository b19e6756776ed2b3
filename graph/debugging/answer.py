"""A diagnosis as JSON: the same values for every door."""

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
        "send_next": list(diagnosis.send_next) if _unsure(diagnosis) else [],
        "sources": list(diagnosis.sources),
        "captured": dict(diagnosis.captured),
        "facts": dict(diagnosis.facts),
        "noticed": list(diagnosis.noticed),
    }


def _evidence_json(evidence: LogEvidence) -> dict[str, Any]:
    shown: dict[str, Any] = {"line": evidence.line, "text": evidence.text, "count": evidence.count}
    if evidence.rank is not None:
        shown["rank"] = evidence.rank
    if evidence.file is not None:
        shown["file"] = evidence.file
    return shown


def _unsure(diagnosis: Diagnosis) -> bool:
    """Whether more of the log would help."""
    return diagnosis.cause == "unknown" or diagnosis.confidence < 0.6
