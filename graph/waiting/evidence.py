"""What stands beside a waiting job and says more than its reason: one function a kind of evidence, in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from graph.waiting import (
    asked_in_words,
    elsewhere,
    limits_seen,
    limits_told,
    nodes_seen,
    others_seen,
    own_fields,
    pbs_seen,
)
from graph.waiting.case import WaitCase, WaitingNote

Look = Callable[[WaitCase], WaitingNote | None]
# In the order in which their sentences are read.
LOOKS: tuple[Look, ...] = (
    own_fields.hold_of_pbs,
    pbs_seen.shortage,
    own_fields.missing_feature,
    own_fields.restarts,
    own_fields.begin_time,
    own_fields.deadline,
    others_seen.parents,
    others_seen.array_tasks,
    others_seen.running_jobs,
    limits_told.limit_note,
    elsewhere.elsewhere,
    limits_seen.partition_access,
    limits_seen.machine_limits,
    limits_seen.reservation_window,
    limits_seen.maintenance,
    limits_seen.licences,
    nodes_seen.usable_nodes,
    limits_told.too_large_for_a_node,
    nodes_seen.out_reasons,
    nodes_seen.free_nodes,
    nodes_seen.named_nodes,
    nodes_seen.partition_state,
    nodes_seen.queue_state,
    nodes_seen.own_host,
    nodes_seen.reservation_of_pbs,
    nodes_seen.hosts_of_lsf,
    own_fields.priority_parts,
    others_seen.ahead,
    own_fields.estimate,
    own_fields.comments,
    own_fields.since,
    asked_in_words.answers,
)


def notes_of(case: WaitCase) -> list[WaitingNote]:
    """Everything that the evidence says of the case."""
    return list(seen(look(case) for look in LOOKS))


def seen(notes: Iterable[WaitingNote | None]) -> Iterable[WaitingNote]:
    return (note for note in notes if note is not None)
