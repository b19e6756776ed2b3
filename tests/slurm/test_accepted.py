"""Every golden script is accepted by a real Slurm of its machine's size, queues, nodes and GPUs."""

from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.catalogue import catalogue

GOLDEN = Path(__file__).parent.parent / "golden"
MACHINES = sorted(name for name, cluster in catalogue().clusters.items() if cluster.scheduler == "slurm")


@pytest.mark.parametrize("machine", MACHINES)
def test_slurm_takes_the_golden_scripts(whole_slurm, machine) -> None:  # type: ignore[no-untyped-def]
    slurm = whole_slurm(machine)
    # `--image` is an option of Shifter's plugin, which is not here.
    scripts = [one for one in sorted((GOLDEN / machine).glob("*.sh")) if "#SBATCH --image=" not in one.read_text()]
    assert scripts
    for script in scripts:
        said = slurm.run("sbatch", "--test-only", str(script))
        assert said.returncode == 0 and "to start at" in said.stderr, f"{script.name}: {said.stderr}"
