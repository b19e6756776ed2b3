"""Queues that each group has of its own, named by a pattern in a machine's facts."""

from __future__ import annotations

import pytest

from graph.extraction.request import understand
from knowledge.catalogue import catalogue


@pytest.mark.parametrize(
    ("said", "queue"), [("acc_bscls", "acc_bscls"), ("acc_bsccs", "acc_bsccs"), ("acc_debg", "acc_debug")]
)
def test_a_groups_own_queue_is_no_slip_of_another_groups(said: str, queue: str) -> None:
    words = f"4 nodes on marenostrum 5, ddp, qos {said}, account bsc21, train.py, 10 hours"
    assert understand(words, None, None, None).request.queue == queue


def test_a_pattern_is_no_queue_itself() -> None:
    machine = catalogue().clusters["marenostrum5"]
    own = machine.queue("acc_bscls")
    assert own is not None and (own.id, own.max_nodes) == ("acc_bscls", 25)
    assert machine.queue("acc_bsc*") is None and machine.queue("gp_bscls") is None
