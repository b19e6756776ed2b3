"""A run's share of its GPUs' peak: by hand, and where a machine has several kinds of them."""

from __future__ import annotations

import argparse

import pytest

from assistant.commands.watch import add_arguments, utilisation_of
from graph.planning.resources.speed import flops_per_token
from graph.watching.utilisation import Utilisation
from knowledge.errors import InputError


def of(*words: str) -> Utilisation:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    found = utilisation_of(parser.parse_args(["run.log", "--model", "7B", "--gpus", "4", *words]))
    assert found
    return found


def test_the_share_is_flops_over_peak() -> None:
    found = of("--machine", "polaris")
    speed = 4 * 0.5 * 312e12 / flops_per_token(found.model, 4096)  # half of the peak of four A100
    assert found.words(speed).startswith("MFU 50 % (published")


def test_each_kind_of_a_machine_is_told_until_one_is_named() -> None:
    several = of("--machine", "delta")
    speed = 4 * 0.4 * 312e12 / flops_per_token(several.model, 4096)
    assert "40 % (published 35 to 68 %) on A100" in several.words(speed) and "on H200" in several.words(speed)
    assert "--gpu" in several.words(speed)
    named = of("--machine", "delta", "--gpu", "H200").words(speed)
    assert named.startswith("MFU 13 %") and "A100" not in named
    with pytest.raises(InputError, match="one of"):
        of("--machine", "delta", "--gpu", "B200")
