"""One shape of a job for the check, the record and the rehearsal."""

from __future__ import annotations

import pytest

from graph.extraction.job_shape import job_shape
from graph.extraction.script import read_script
from graph.extraction.script_record import understand_script
from graph.verification.checks.subject import read_subject
from graph.verification.simulator.allocation import allocation
from knowledge.catalogue import catalogue

RANGE = "#!/bin/bash\n#SBATCH --nodes=2-4\n#SBATCH --ntasks-per-node=4\nsrun python train.py\n"


def test_a_range_of_nodes_is_one_range_to_every_reader() -> None:
    machine = catalogue().find("perlmutter")
    assert machine
    assert understand_script(RANGE).nodes == 2
    assert read_subject(RANGE, machine).job.nodes is None
    assert allocation(read_script(RANGE), machine).nodes == 4


@pytest.mark.parametrize(
    ("scheduler", "directives", "nodes", "gpus"),
    [
        ("slurm", ("#SBATCH --gpus=8", "#SBATCH --gpus-per-node=4"), 2, 4),
        ("slurm", ("#SBATCH --gres=nvme:1,gpu:2080ti:4", "#SBATCH -N 1"), 1, 4),
        ("lsf", ("#BSUB -n 8", '#BSUB -R "span[ptile=4]"', '#BSUB -R "rusage[mem=8]"'), 2, None),
        ("pbs", ("#PBS -l select=ncpus=8:ngpus=2",), 1, 2),
        ("pbs", ("#PBS -l select=$N:ngpus=2",), None, 2),
        ("flux", ("# flux: -N 2", "# flux: -n 8", "# flux: -g 1"), 2, 4),
    ],
)
def test_the_shape_by_scheduler(
    scheduler: str, directives: tuple[str, ...], nodes: int | None, gpus: int | None
) -> None:
    shape = job_shape(read_script("\n".join(("#!/bin/bash", *directives, "true"))), scheduler)
    assert (shape.nodes, shape.gpus_per_node or shape.gpus_of_tasks) == (nodes, gpus)
