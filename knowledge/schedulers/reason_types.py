"""A reason that a scheduler gives, with its meaning, and the files that hold reasons."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from knowledge.document import Step
from knowledge.strict import Facts

FOLDER = Path(__file__).parent / "reason_data"
WaitKind = Literal[
    "wait", "node", "dependency", "hold", "limit-aggregate", "limit-budget", "limit-request", "limit", "config",
    "ended", "not-waiting", "no-job", "client-error",
]  # fmt: skip
Starts = Literal["yes", "no", "depends"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitReason(Facts):
    """A reason with its meaning. says: a clause about the job; but: what would change the verdict."""

    word: str
    match: str = ""
    kind: WaitKind
    starts: Starts
    says: str
    look: tuple[str, ...] = ()
    do: tuple[Step, ...] = ()
    but: str = ""
    ask: str = ""
    freed_by: Literal["user", "staff"] = "user"
    of: str = ""
    """The resource whose limit it speaks of (`time`, `node`, `jobs`, `slot`, `mem`); empty: of none, or of any."""
    whose: Literal["", "user", "account", "qos", "queue", "system"] = ""
    """Whose running jobs the limit counts together, where the scheduler's own words tell it; empty: they do not."""
    per_host: bool = False
    """One of several reasons of LSF, each for some hosts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonFile(Facts):
    """One file of reason_data: words that stand alone, and patterns tried in order."""

    source: str
    as_of: object
    reasons: tuple[WaitReason, ...]
    sentences: tuple[WaitReason, ...]
