"""Virtual Slurms for this folder's tests. One is shared by all tests of a module that name the same machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from virtual_slurm import VirtualSlurm, missing, small, whole

from knowledge.catalogue import catalogue


@pytest.fixture(scope="module")
def whole_slurm() -> Iterator[Callable[[str], VirtualSlurm]]:
    """Machine -> a Slurm of its real size that judges jobs and runs none."""
    yield from started(whole)


@pytest.fixture(scope="module")
def small_slurm() -> Iterator[Callable[[str], VirtualSlurm]]:
    """Machine -> a Slurm of two of its nodes that runs jobs."""
    yield from started(small)


def started(kind: Callable[..., object]) -> Iterator[Callable[[str], VirtualSlurm]]:
    """Starts a machine when it is first named; ends all of them after the module."""
    if reason := missing():
        pytest.skip(reason)
    running: dict[str, VirtualSlurm] = {}
    with ExitStack() as stack:

        def of(name: str) -> VirtualSlurm:
            if name not in running:
                running[name] = stack.enter_context(kind(catalogue().clusters[name]))  # type: ignore[arg-type]
            return running[name]

        yield of
