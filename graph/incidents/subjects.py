"""What several failures may have in common: a node, a file system, a module, a queue, words, a signature, a cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from knowledge.job_record import JobRecord
from knowledge.types import NO_CAUSE

Kind = Literal[
    "node", "filesystem", "module", "on_filesystem", "in_queue", "queue", "mark", "news", "signature", "cause"
]
# The first ones name a place to look at: of two that show an incident equally well, they tell more. on_filesystem and
# in_queue are a cause there: rarer than either, so that fewer tickets tell of it. news is a cause, or a file system,
# told in words that nobody here had before: an outage has several, each of its own.
KINDS: tuple[Kind, ...] = get_args(Kind)
# A job that lists more nodes tells of none of them.
MOST_NODES = 8
# Causes for which a node may be to blame; a wrong argument fails on any.
OF_NODES = ("gpu-", "comm-", "env-d", "env-file-missing", "env-shared-library", "env-container", "sched-node-failure",
            "sched-host-oom", "fw-dataloader", "user-numerics", "unknown")  # fmt: skip
# Shorter words, such as `Killed`, are said by too many different failures.
SHORTEST_MARK = 12


@dataclass(frozen=True, slots=True)
class SharedSubject:
    """One thing that failures may share."""

    kind: Kind
    name: str


def subjects_of(record: JobRecord) -> tuple[SharedSubject, ...]:
    """All that a failed job may share with others; nothing for one that did not fail."""
    if not record.failed:
        return ()
    nodes = tuple(dict.fromkeys((*record.blamed, *record.ended_on, *record.nodes)))
    if len(nodes) > MOST_NODES or not record.cause.startswith(OF_NODES):
        nodes = ()
    named: list[tuple[Kind, str]] = [("node", node) for node in nodes]
    named += [("filesystem", record.filesystem), ("module", record.module)]
    cause = "" if record.cause in NO_CAUSE else record.cause
    queue = ":".join(filter(None, (record.machine, record.queue))) if record.queue else ""
    named += [("on_filesystem", f"{cause} on {record.filesystem}" if cause and record.filesystem else "")]
    named += [("in_queue", f"{cause} in {queue}" if cause and queue else ""), ("queue", queue)]
    named += [("mark", record.mark if len(record.mark) >= SHORTEST_MARK else ""), ("signature", record.signature)]
    named += [("cause", cause)]
    return tuple(SharedSubject(kind, name) for kind, name in named if name)


def news_of(record: JobRecord) -> tuple[SharedSubject, ...]:
    """What to count besides, where the words of the telling line are new."""
    cause = "" if record.cause in NO_CAUSE else record.cause
    return tuple(SharedSubject("news", name) for name in (cause, record.filesystem) if record.failed and name)


def titled(subject: SharedSubject) -> str:
    """The subject in words."""
    match subject.kind:
        case "node" | "module" | "queue":
            return f"{subject.kind} {subject.name}"
        case "filesystem":
            return f"file system {subject.name}"
        case "news":
            return f"{subject.name}, in words that are new here"
        case "mark":
            return f"“{subject.name}”"
        case _:
            return subject.name
