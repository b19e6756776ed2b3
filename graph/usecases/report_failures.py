"""Many jobs in; what failed, of what, where and at what cost, out. What was read before is not read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from graph.reporting.inputs import JobInput
from graph.reporting.kept import KeptRecords, lean
from graph.reporting.new_causes import WEEK
from graph.reporting.reading import Reading, read_jobs
from graph.reporting.report import FailureReport, make_report
from knowledge.job_record import JobRecord
from knowledge.signatures.loader import rules_mark

# Jobs in one piece of work: large enough that sending it costs little, small enough that a lost one does too.
PIECE = 32
# Part of what a kept record stands on: raise it when reading finds other things.
READ_FORMAT = "2"
Piece = Sequence[JobInput]
Read = Callable[[Sequence[Piece], Reading], Iterator[tuple[int, list[JobRecord]]]]
"""Reads pieces anywhere and in any order; gives each one's number with its records."""
Progress = Callable[[str, int, int], None]


def read_here(pieces: Sequence[Piece], how: Reading) -> Iterator[tuple[int, list[JobRecord]]]:
    """One after the other, in this process."""
    for number, piece in enumerate(pieces):
        yield number, read_jobs(piece, how)


def read_records(
    inputs: Sequence[JobInput],
    how: Reading,
    kept: KeptRecords,
    read: Read = read_here,
    progress: Progress | None = None,
) -> list[JobRecord]:
    """The record of each job, in the order of the inputs, whoever read it. What is read is kept at once.

    Raises sqlite3.Error where it cannot be kept.
    """
    rules = READ_FORMAT + rules_mark() + how.mark
    stamps = {one.key: one.stamp() + rules for one in inputs}
    texts: dict[object, object] = {}
    found = {key: lean(record, texts) for key, record in kept.known(stamps)}
    left = [one for one in inputs if one.key not in found]
    pieces = [left[at : at + PIECE] for at in range(0, len(left), PIECE)]
    done = len(inputs) - len(left)
    for number, records in read(pieces, how):
        piece = pieces[number]
        kept.keep([(one.key, stamps[one.key], record) for one, record in zip(piece, records, strict=True)])
        found |= {one.key: lean(record, texts) for one, record in zip(piece, records, strict=True)}
        done += len(piece)
        if progress:
            progress("jobs read", done, len(inputs))
    return [found[one.key] for one in inputs]


def report_failures(
    inputs: Sequence[JobInput],
    how: Reading,
    kept: KeptRecords,
    read: Read = read_here,
    progress: Progress | None = None,
) -> tuple[FailureReport, list[JobRecord]]:
    """The report, and the record of every job. What earlier reports kept of other jobs tells what is new."""
    records = read_records(inputs, how, kept, read, progress)
    ended = [one.ended for one in records if one.ended is not None]
    before = min((*ended, max(ended) - WEEK)) if ended else 0.0
    machines = {one.machine for one in records}
    earlier = kept.earlier({one.key: "" for one in inputs}, before)
    return make_report(records, (one for one in earlier if one.machine in machines)), records
