"""What a job of PBS that insists on one host is told to ask for instead."""

from __future__ import annotations

import pytest

from graph.waiting.nodes_seen import without_host


@pytest.mark.parametrize(
    ("select", "host", "left"),
    [
        ("1:ncpus=4:host=n1+1:ncpus=8:host=n12", "n1", "1:ncpus=4+1:ncpus=8:host=n12"),
        ("host=n1:ncpus=4", "n1", "ncpus=4"),
        ("2:ngpus=4:vnode=x3001:mem=10gb", "x3001", "2:ngpus=4:mem=10gb"),
        ("1:ncpus=4+host=n1", "n1", "1:ncpus=4+1"),
        ("host=n1", "n1", "1"),
        ("1:note=$(rm x):host=n1", "n1", "'1:note=$(rm x)'"),
    ],
)
def test_the_host_alone_is_left_out(select: str, host: str, left: str) -> None:
    assert without_host(select, host) == left
