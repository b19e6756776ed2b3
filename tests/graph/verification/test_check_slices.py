"""A slice of a GPU that a site's page names, and nodes that a constraint chooses beside a queue."""

from __future__ import annotations

from graph.verification.checks import check
from knowledge.catalogue import catalogue

JOB = "#!/bin/bash\n#SBATCH --account=def-x\n#SBATCH --time=1:00:00\n{}\nsrun python train.py\n"


def said(machine: str, *rows: str) -> dict[str, str]:
    found = check(JOB.format("\n".join(f"#SBATCH {row}" for row in rows)), catalogue().clusters[machine])
    return {one.rule: one.says for one in found}


def test_a_slice_is_a_gpu_of_the_machine_where_its_pages_name_it() -> None:
    assert "node-gpu-type" not in said("nibi", "--gpus=h100_2g.20gb:1")
    assert "node-gpu-type" in said("nibi", "--gpus=h100_7g.99gb:1")
    assert "node-gpu-type" in said("nibi", "--gpus=v100:1")


def test_a_constraint_for_other_nodes_than_the_queues_is_told_as_that() -> None:
    told = said("jean-zay", "--qos=qos_gpu-t3", "-C h100", "--gres=gpu:4", "--nodes=1")
    assert "chooses other nodes than 'qos_gpu-t3' has" in told["node-constraint"]
