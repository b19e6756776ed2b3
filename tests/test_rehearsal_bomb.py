"""A rehearsal of a fork bomb. Alone in the last file: for some seconds it slows whatever runs beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.extraction.script import read_script
from graph.verification.rehearsal import isolation, stage
from graph.verification.rehearsal.allocation import allocation
from graph.verification.rehearsal.rehearsing import folder, run
from knowledge.catalogue import catalogue

BOMB = "#!/bin/bash\n#SBATCH -N 2\n#SBATCH -C gpu\n#SBATCH --gpus-per-node=4\n:(){ :|:& };:\nsleep 5\n"


def test_a_fork_bomb_goes_off_inside() -> None:
    """It is ended by the count of processes or, where the limit on processes stifles it first, by the clock."""
    if isolation.available() != "namespaces":
        pytest.skip("no namespaces on this computer")
    cluster = catalogue().find("perlmutter")
    assert cluster
    script = read_script(BOMB)
    job = allocation(script, cluster)
    facts = stage.stand_in(cluster, script, job, "pytorch", "ddp", 2, None, "namespaces", (), frozenset())
    with folder() as place:
        stage.fill(place, stage.IN_NAMESPACES, BOMB, "job.sh", (), replace(facts, preload=(), max_processes=150))
        ran = run(place, "namespaces", 10, lambda _: None)
    assert ran.code != 0
