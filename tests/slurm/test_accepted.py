"""Every script that planning writes is accepted by a real Slurm of its machine's size, queues, nodes and GPUs."""

from __future__ import annotations

import pytest

from knowledge.catalogue import catalogue
from tests.golden.make import scripts

MACHINES = sorted(name for name, cluster in catalogue().clusters.items() if cluster.scheduler == "slurm")


@pytest.mark.parametrize("machine", MACHINES)
def test_slurm_takes_the_scripts(whole_slurm, machine, tmp_path) -> None:  # type: ignore[no-untyped-def]
    slurm, script = whole_slurm(machine), tmp_path / "job.sh"
    texts = {name: one.script for name, one in scripts().items() if name.startswith(f"{machine}/")}
    assert texts
    for name, text in texts.items():
        if "#SBATCH --image=" not in text:  # an option of Shifter's plugin, which is not here
            script.write_text(text)
            said = slurm.run("sbatch", "--test-only", str(script))
            assert said.returncode == 0 and "to start at" in said.stderr, f"{name}: {said.stderr}"
