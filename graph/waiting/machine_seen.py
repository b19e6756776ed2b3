"""Which machine a paste comes from: its name in a prompt, a server's or a node's name, or a queue that only it has."""

from __future__ import annotations

import re
from collections.abc import Sequence

from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.schedulers.records import QueuedJob, Scheduler


def machine_seen(text: str, jobs: Sequence[QueuedJob], scheduler: Scheduler | None) -> Cluster | None:
    """The one known machine of that scheduler whose name or queue stands there; None where it is none or several."""
    clusters = [c for c in catalogue().clusters.values() if scheduler in (None, c.scheduler)]
    words = text.lower()
    named = [c for c in clusters if any(name_stands(name.lower(), words) for name in (c.id, *c.names))]
    if len(named) == 1:
        return named[0]
    queues = {job.queue for job in jobs if len(job.queue) > 6}
    owners = [c for c in clusters if queues & {q.id for q in c.queues}]
    return owners[0] if len(owners) == 1 and not named else None


def name_stands(name: str, text: str) -> bool:
    """Whether a machine's name stands there, also as the begin of a host's (`lassen709`, `polaris-pbs-01`).

    Both in lower case: few of the names stand in a text, and only for those a pattern is made.
    """
    return len(name) > 3 and name in text and bool(re.search(rf"(?<![a-z0-9_]){re.escape(name)}(?![a-z])", text))
