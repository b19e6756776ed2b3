"""What a pass over the logs finds: folded messages, and what was seen of the logs as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field

from graph.debugging.headway import Headway
from graph.debugging.python_errors import PythonError
from graph.debugging.run_signs import Noted
from graph.debugging.texts import Look
from graph.debugging.trouble import Tail
from knowledge.signatures.model import Signature


@dataclass(slots=True)
class Event:
    """A folded message: the signature that speaks for it, where it stands first, and how often."""

    signature: Signature
    line: int
    text: str
    order: int
    run: int
    rank: int | None = None
    file: str | None = None
    time: int | None = None
    count: int = 1
    last_order: int = 0
    last_line: int = 0
    ranks: set[int] = field(default_factory=set)
    also: tuple[Signature, ...] = ()
    error: PythonError | None = None
    level: str = ""
    raw: bytes = b""
    beside: str = ""
    """What the line below says, and the one above where it announces this one."""
    announced: str = ""
    """The line that a logger put above the traceback of its exception."""
    progress_after: int = 0
    """How many lines of training progress were seen between this event and the next one, as far as looked."""
    progress_between: int = 0
    """How many were seen between the times that it came, if it came more than once."""
    headway: dict[int, int] = field(default_factory=dict)
    """How many lines of progress each of its ranks had printed when it came, the last time."""
    settled: bool = False
    """Whether other events have decided its cause."""
    own_progress: bool = False
    """Whether all of its ranks plainly went on after it."""


@dataclass(slots=True)
class Scan:
    """What a pass over all logs found."""

    events: list[Event] = field(default_factory=list)
    runs: int = 0
    lines: int = 0
    bytes: int = 0
    """How many were read, in blocks that are not blank."""
    dropped: int = 0
    failed_first: int | None = None
    """The rank that the elastic launcher's summary saw fail first, of the earliest summary."""
    failed_at: str = ""
    headways: dict[tuple[str | None, int, int], Headway] = field(default_factory=dict)
    """How far ranks came that had an event, by file, run and rank."""
    tails: dict[str | None, Tail] = field(default_factory=dict)
    """The last part of each log."""
    no_logs: dict[str | None, Look] = field(default_factory=dict)
    """Sources that read like prose or source code."""
    noted: Noted = field(default_factory=Noted)
    """Lines of the logs' beginnings that tell of network, step times and use."""
    no_texts: dict[str | None, str] = field(default_factory=dict)
    """Sources that are no text at all, and what they are."""
