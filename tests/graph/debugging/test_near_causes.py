"""Two causes that are about as likely: the one look that decides between them is told first."""

from __future__ import annotations

from graph.debugging.diagnosis import diagnose
from graph.debugging.events import Event
from graph.debugging.ranking import NEAR_SUM, nearest
from knowledge.signatures.loader import library


def event(cause: str, line: int) -> Event:
    said = next(one for one in library().signatures if one.cause == cause and one.kind == "cause")
    return Event(said, line, "", line, 0)


def test_a_cause_that_is_nearly_as_likely_is_told_unless_it_follows() -> None:
    causes = library().causes
    first, other, after = event("gpu-oom", 3), event("env-disk", 9), event("comm-nccl-system", 12)
    assert nearest([(9.0, first), (9.0 - NEAR_SUM / 2, other)], causes) is other
    assert nearest([(9.0, first), (9.0 - 2 * NEAR_SUM, other)], causes) is None
    assert nearest([(9.0, first), (9.0, after)], causes) is None


def test_a_plain_log_is_not_put_in_doubt() -> None:
    found = diagnose("step 1\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n")
    assert not [step for step in found.fix if "another cause" in step]
