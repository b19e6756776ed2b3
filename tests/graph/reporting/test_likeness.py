"""Unknown failures that say nearly the same are one group; what differs stays apart."""

from __future__ import annotations

from graph.reporting.record import mark_of
from graph.reporting.report import alike
from knowledge.job_record import JobRecord


def unknown(job: int, line: str) -> JobRecord:
    return JobRecord(str(job), "unknown", line=line, mark=mark_of(line))


def test_groups_by_likeness() -> None:
    lines = [
        *(f"flurb[{n}]: shard {n} gave up its lease, the coordinator left" for n in range(8)),
        *(f"flurb: the shard {n} gave up its lease: the coordinator has left" for n in range(3)),
        *(f"palisade refuses: ledger epoch {n} behind quorum" for n in range(4)),
        "",
        "",
    ]
    groups = alike(unknown(n, line) for n, line in enumerate(lines))
    assert [len(group.jobs) for group in groups] == [11, 4, 2]
    assert groups[0].jobs[0].line.startswith("flurb[0]")
