"""Slurm's options as data: well formed, and the same for all who read them."""

from __future__ import annotations

import re

import pytest

from graph.extraction.directives import read_directives
from graph.verification.checks import check
from knowledge.launcher_options import launcher_table
from knowledge.slurm_options import slurm_options


def test_every_entry_is_well_formed() -> None:
    for name, one in slurm_options().options.items():
        assert re.fullmatch(r"[a-z0-9][a-z0-9_-]+", name)
        assert one.takes in ("value", "optional", "nothing") and set(one.commands) <= {"sbatch", "srun", "salloc"}
        assert re.fullmatch(r"[A-Za-z]?", one.letter), name
        assert all(re.fullmatch(r"(\d\d\.\d\d)?", release) for release in (one.since, one.until))


def test_what_the_rehearsals_srun_takes_is_sruns() -> None:
    read = slurm_options()
    known = {f"--{name}" for name in (*read.of("srun"), *read.plugins, *read.aliases)}
    srun = launcher_table().sets["srun"]
    ours = srun.values | srun.flags | srun.optional
    assert {word for word in ours if word.startswith("--")} <= known


def test_directives_are_read_by_the_same_table() -> None:
    found = read_directives("#SBATCH --threads-per-core 1 --spread-job -N 2\n")
    assert [(one.option, one.value) for one in found] == [("threads-per-core", "1"), ("spread-job", ""), ("nodes", "2")]


@pytest.mark.parametrize(
    ("directive", "says", "severity"),
    [
        ("--cpu-bind=cores", "srun's", "error"),
        ("--power=level", "up to Slurm 23.11", "warning"),
        ("--gpu=4", "ambiguous", "error"),
        ("--oom-kill-step", "needs Slurm 24.11", "info"),
    ],
)
def test_what_a_release_or_a_command_does_not_take_is_said(directive: str, says: str, severity: str) -> None:
    text = f"#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH {directive}\npython train.py\n"
    found = [one for one in check(text, None) if one.rule == "directive-unknown-option"]
    assert [(says in one.says, one.severity) for one in found] == [(True, severity)]
