"""Directives in all their forms, dead ones too, and times as each batch system writes them."""

from __future__ import annotations

import pytest

from graph.extraction.directives import in_force, is_placeholder, mark_overridden, read_directives
from graph.extraction.walltime import walltime_of


def values(text: str) -> dict[str, str]:
    return {name: one.value for name, one in in_force(read_directives(text)).items()}


def test_several_options_on_a_line_with_tabs_and_a_comment() -> None:
    found = values("#!/bin/bash\n#SBATCH\t--nodes=2 --ntasks-per-node 4\t-t 1:00 --exclusive  # --nodes=9\n")
    assert found == {"nodes": "2", "ntasks-per-node": "4", "time": "1:00", "exclusive": ""}


def test_short_options_with_the_value_attached_and_an_abbreviated_long_one() -> None:
    assert values("#SBATCH -N3 -pgpu\n#SBATCH --gpus-per-nod=8\n") == {
        "nodes": "3",
        "partition": "gpu",
        "gpus-per-node": "8",
    }


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("##SBATCH --nodes=2", "commented out"),
        ("# SBATCH --nodes=2", "commented out"),
        ("#SBTACH --nodes=2", "misspelt"),
        ("##PBS -l select=2", "commented out"),
    ],
)
def test_dead_directives_are_kept_with_the_reason(line: str, why: str) -> None:
    (found,) = read_directives(line)
    assert not found.active
    assert why in found.why_not


def test_a_directive_behind_the_first_command_does_not_count() -> None:
    found = read_directives("#SBATCH -N 2\necho hello\n#SBATCH -N 4\n")
    assert [(one.value, one.active) for one in found] == [("2", True), ("4", False)]
    assert "first command" in found[1].why_not


def test_the_last_of_several_wins_but_a_variable_does_not() -> None:
    assert values("#SBATCH -N 2\n#SBATCH -N 4\n#SBATCH -N $NODES\n")["nodes"] == "4"
    first, second = mark_overridden(read_directives("#SBATCH -N 2\n#SBATCH -N 4\n"))
    assert (first.active, second.active) == (False, True)
    assert first.why_not == "line 2 says it again"


def test_pbs_resources_are_options_of_their_own() -> None:
    found = values("#PBS -l select=4:ngpus=2:mem=10gb,walltime=2:00:00 -l place=scatter:excl\n#PBS -A lab\n")
    assert found == {
        "select": "4:ngpus=2:mem=10gb",
        "walltime": "2:00:00",
        "place": "scatter:excl",
        "account": "lab",
    }


def test_lsf_and_flux() -> None:
    assert values('#BSUB -nnodes 4 -W 1:30\n#BSUB -alloc_flags "smt1 nvme"\n') == {
        "nodes": "4",
        "time": "1:30",
        "alloc-flags": "smt1 nvme",
    }
    assert values("# flux: -N 2 -t 1h\n#FLUX: --setattr=bank=lab\n") == {
        "nodes": "2",
        "time-limit": "1h",
        "bank": "lab",
    }


@pytest.mark.parametrize(
    "text", ["<account>", "project_xxxxxxxxx", "{ partition }", "your_account", "$GROUP", "grpname"]
)
def test_placeholders(text: str) -> None:
    assert is_placeholder(text)


@pytest.mark.parametrize(
    "text", ["m1234_g", "project_465000001", "gpu", "a-a12", "boost_usr_prod", "gpuA100x4,gpuA40x4"]
)
def test_real_values_are_no_placeholders(text: str) -> None:
    assert not is_placeholder(text)


@pytest.mark.parametrize(
    ("scheduler", "text", "clock"),
    [
        ("slurm", "45", "00:45:00"),
        ("slurm", "45:30", "00:45:30"),
        ("slurm", "2-3", "51:00:00"),
        ("slurm", "1-02:30", "26:30:00"),
        ("slurm", "UNLIMITED", None),
        ("pbs", "3600", "01:00:00"),
        ("pbs", "90:00", "01:30:00"),
        ("lsf", "90", "01:30:00"),
        ("lsf", "2:15", "02:15:00"),
        ("sge", "5:00:00:00", "120:00:00"),
        ("sge", "5:00:00", "05:00:00"),
        ("flux", "90", "01:30:00"),
        ("flux", "1.5h", "01:30:00"),
        ("flux", "2d", "48:00:00"),
    ],
)
def test_times(scheduler: str, text: str, clock: str | None) -> None:
    assert walltime_of(scheduler, text) == clock


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("-p cpu -N 1 -A lab", "-p gpu -N 2 --gres=gpu:4", {"partition": "gpu", "nodes": "2", "account": "lab"}),
        ("-N 16 --gpus-per-node=8", "-N 2 --gpus-per-node=8", {"nodes": "16", "gpus-per-node": "8"}),
        ("-N 3", "-N 5", {"nodes": "3"}),
    ],
)
def test_the_part_with_gpus_of_a_heterogeneous_job_counts(first: str, second: str, expected: dict[str, str]) -> None:
    directives = mark_overridden(read_directives(f"#SBATCH {first}\n#SBATCH hetjob\n#SBATCH {second}\n"))
    found = {name: one.value for name, one in in_force(directives).items()}
    assert {name: found[name] for name in expected} == expected
