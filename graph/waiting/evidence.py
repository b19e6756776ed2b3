"""What stands beside a waiting job and says more than its reason: one function a kind of evidence, in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from graph.waiting import (
    asked_in_words,
    constraint_seen,
    elsewhere,
    licences_seen,
    limits_seen,
    limits_told,
    nodes_seen,
    others_seen,
    own_fields,
    own_lines,
    parents_seen,
    pbs_seen,
    room_seen,
)
from graph.waiting.case import Fact, WaitCase, WaitingNote
from graph.waiting.limit_sum import limit_sum
from graph.waiting.spoken import listed, time_to_end
from knowledge.data_file import read_facts
from knowledge.schedulers.reason_types import WaitKind
from knowledge.schedulers.records import Scheduler
from knowledge.schedulers.times import spoken_time
from knowledge.strict import Facts

Look = Callable[[WaitCase], WaitingNote | None]
# What each look tells: a part of an answer (good_answers.yaml says which parts a good answer holds, in which order).
LOOKS: tuple[tuple[str, Look], ...] = (
    ("cause", own_fields.hold_of_pbs),
    ("limit", pbs_seen.shortage),
    ("limit", pbs_seen.routed),
    ("limit", constraint_seen.missing_feature),
    ("", own_fields.place_seen),
    ("cause", own_fields.named_qos),
    ("cause", own_lines.own_line),
    ("cause", own_lines.announced),
    ("cause", own_lines.missing_path),
    ("history", own_fields.who_stopped),
    ("history", own_fields.restarts),
    ("history", own_fields.same_node_each_time),
    ("history", asked_in_words.reason_left_over),
    ("estimate", own_fields.begin_time),
    ("limit", own_fields.deadline),
    ("limit", own_fields.queue_hours),
    ("parents", parents_seen.parents),
    ("cause", others_seen.parts_of_one),
    ("cause", others_seen.put_aside_for),
    ("cause", own_fields.put_aside),
    ("place", others_seen.next_in_line),
    ("beside", others_seen.others_wait),
    ("beside", others_seen.refused_beside),
    ("limit", others_seen.array_tasks),
    ("holders", others_seen.running_jobs),
    ("limit", limits_told.limit_note),
    ("elsewhere", elsewhere.elsewhere),
    ("elsewhere", elsewhere.larger_account),
    ("limit", elsewhere.one_of_several),
    ("limit", limits_seen.partition_access),
    ("limit", limits_seen.machine_limits),
    ("limit", limits_seen.reservation_window),
    ("limit", limits_seen.maintenance),
    ("limit", licences_seen.licences),
    ("cause", nodes_seen.named_nodes),
    ("nodes", nodes_seen.usable_nodes),
    ("limit", limits_told.too_large_for_a_node),
    ("limit", limits_told.budget_beside),
    ("nodes", nodes_seen.whole_nodes),
    ("nodes", nodes_seen.out_reasons),
    ("nodes", nodes_seen.free_nodes),
    ("nodes", nodes_seen.one_switch),
    ("nodes", room_seen.room_on_nodes),
    ("nodes", room_seen.kept_or_lacking),
    ("nodes", nodes_seen.partition_state),
    ("nodes", nodes_seen.queue_state),
    ("cause", nodes_seen.own_host),
    ("limit", pbs_seen.reservation_in_the_way),
    ("nodes", nodes_seen.counted_hosts),
    ("limit", nodes_seen.asked_of_a_host),
    ("nodes", nodes_seen.hosts_of_lsf),
    ("place", own_fields.priority_parts),
    ("place", others_seen.ahead),
    ("estimate", own_fields.estimate),
    ("", own_fields.needed_time),
    ("history", own_fields.comments),
    ("since", own_fields.since),
)
PATH = Path(__file__).parent / "good_answers.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodAnswers(Facts):
    """The parts of an answer to each class in their order, and the command that tells a part, by scheduler."""

    as_of: object
    parts: Mapping[WaitKind, tuple[str, ...]]
    commands: Mapping[str, Mapping[Scheduler, str]]


@cache
def good_answers() -> GoodAnswers:
    """What a good answer holds. Raises FactsError on a wrong file."""
    return read_facts(PATH, GoodAnswers)


def not_told(case: WaitCase, notes: Iterable[WaitingNote], kind: WaitKind) -> list[str]:
    """The commands that tell those parts of a good answer which nothing in the paste told."""
    # What waits for its own date or throttle gains nothing by a look at nodes and estimates.
    if not (kind.startswith("limit") or case.found.reason.of == "node"):
        return []
    told, wanted = {note.part for note in notes if note.says or note.instead}, good_answers()
    missing = (part for part in wanted.parts.get(kind, ()) if part not in told)
    commands = (wanted.commands.get(part, {}).get(case.job.scheduler, "") for part in missing)
    return [command for command in commands if command]


def notes_of(case: WaitCase) -> list[WaitingNote]:
    """Everything that the evidence says of the case."""
    notes = [replace(note, part=part) for part, look in LOOKS for note in seen([look(case)])]
    notes = [replace(note, facts=note.facts or facts_of(case, note)) for note in notes]
    reason = case.found.reason
    kind = next((note.kind for note in notes if note.kind), reason.kind)
    starts = next((note.starts for note in notes if note.starts), reason.starts)
    if starts == "no":  # when others end changes nothing for it
        notes = [note for note in notes if note.part not in ("holders", "estimate", "place")]
    if kind == "config" and reason.kind != kind:  # it is no node that it waits for
        notes = [note for note in notes if note.part not in ("nodes", "place", "holders") or note.kind or note.instead]
    if starts == "no" and kind in ("wait", "node", "limit-aggregate"):
        kind = "limit-request"  # what is said of jobs that only wait is not true of it
    judged = replace(case, found=replace(case.found, reason=replace(reason, kind=kind, starts=starts)))
    order = good_answers().parts.get(kind, ())
    notes.sort(key=lambda note: order.index(note.part) if note.part in order else len(order))
    return [*seen([asked_in_words.answers(judged)]), *notes]  # what was asked comes first


def facts_of(case: WaitCase, note: WaitingNote) -> tuple[Fact, ...]:
    """What of a note stands in the case itself, for those looks that put only their sentence together."""
    if note.part == "holders":
        sums = limit_sum(case)
        ends = [f" (≤ {spoken_time(one.left)})" if one.left is not None else "" for one in sums.holders]
        whose = [f" {one.job.user}" if one.job.user not in ("", case.job.user) else "" for one in sums.holders]
        names = [f"{one.job.id}{who}{end}" for one, who, end in zip(sums.holders, whose, ends, strict=True)]
        return (Fact("running", listed(names, 8).replace(" and ", ", ")),) if names else (Fact("all-count"),)
    if note.part == "since":
        return (Fact("since", case.job.submitted),) if case.job.submitted else ()
    if note.part == "estimate" and (eta := case.found.named.get("eta")):
        return (Fact("planned", eta),)
    if note.part == "parents" and (found := parents_seen.parents_of(case, parents_seen.depends_told(case))):
        states = {one.id: one.job.reason.replace("None", "") or one.job.state for one in found if one.job}
        left = {one.id: time_to_end(one.job) for one in found if one.job and one.job.phase == "running"}
        until_end = {name: f", ≤ {spoken_time(most)}" for name, most in left.items() if most is not None}
        names = [
            f"{one.id} ({states[one.id]}{until_end.get(one.id, '')})" if states.get(one.id) else one.id for one in found
        ]
        wanted = {one.wanted for one in found if one.wanted != "unknown"}
        parts = ((f"to-{next(iter(wanted))}", ""),) if len(wanted) == 1 else ()
        return (Fact("waits-for", ", ".join(dict.fromkeys(names)), parts),)
    return ()


def seen(notes: Iterable[WaitingNote | None]) -> Iterable[WaitingNote]:
    return (note for note in notes if note is not None)
