"""The marks of machines: the shipped file is right, a wrong one is refused with its place."""

from __future__ import annotations

import pytest

from graph.extraction.machine import checked_marks, guess_machine, marks
from graph.extraction.script import read_script
from graph.extraction.script_record import understand_script
from knowledge.catalogue import catalogue
from knowledge.errors import FactsError


def test_every_machine_of_the_catalogue_has_marks() -> None:
    assert set(catalogue().clusters) <= set(marks())


def test_marks_agree_with_the_catalogue_on_the_scheduler() -> None:
    for name, cluster in catalogue().clusters.items():
        assert marks()[name].scheduler in (None, cluster.scheduler)


@pytest.mark.parametrize(
    "data", [{"paths": {"x": 1}}, {"text": {"x": "much"}}, {"text": {"(": 1}}, "text", {"text": ["x"]}]
)
def test_wrong_marks_are_refused_in_one_line(data: object) -> None:
    with pytest.raises(FactsError, match="somewhere") as error:
        checked_marks("somewhere", data)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        ("#$ -l rt_F=2\npython fit.py\n", "abci"),
        ("#$ -l node_q=1\n#$ -g tga-lab\npython fit.py\n", "tsubame"),
        ("#SBATCH -C gpu -A m1234_g\npython fit.py --lib nersc\n", "perlmutter"),
        ("#PBS -q main\npython fit.py --out /glade/derecho/scratch/x\n", "derecho"),
        ("#SBATCH -C knl\n#SBATCH -q regular\nsrun python fit.py\n", "cori"),
        ("#SBATCH -p gpu\n# runs on Delta\npython fit.py\n", "delta"),
        ("#SBATCH -p gpu\n# with a gated delta net\npython fit.py\n", None),
        ("#SBATCH -p gpu\n# scored as frontier models are\npython fit.py\n", None),
        ("#SBATCH -p long\nprintf 'format = nersc'\npython fit.py\n", None),
    ],
)
def test_machines_by_their_marks(text: str, machine: str | None) -> None:
    assert understand_script(text).machine == machine


def test_a_cards_name_as_a_queue_is_a_weak_mark() -> None:
    script = read_script("#!/bin/bash\n#SBATCH -p pvc\n#SBATCH -N 1\nsrun python train.py\n")
    guess = guess_machine(script, "slurm")
    assert guess is not None and not guess.strong


def test_a_machine_that_only_a_comment_names_is_a_weak_mark() -> None:
    script = read_script("#!/bin/bash\n#SBATCH -N 1\n# LUMI\nsrun python train.py\n")
    guess = guess_machine(script, "slurm")
    assert guess is not None and (guess.machine, guess.strong) == ("lumi", False)
