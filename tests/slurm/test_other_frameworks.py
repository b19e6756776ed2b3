"""JAX and Ray for real, on processors, under a real Slurm of two nodes: they form their group by our script."""

from __future__ import annotations

from pathlib import Path

from test_added_parts import bundle_in
from test_runs import have, printed, run_job
from virtual_site import environment

JAX = """\
import os
import jax
jax.config.update("jax_platforms", "cpu")
jax.distributed.initialize(
    f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}", int(os.environ["WORLD_SIZE"]), int(os.environ["RANK"])
)
here, world = jax.process_index(), jax.process_count()
open(f"jax-{here}", "w").write(f"{world} {len(jax.devices())}")
"""
RAY = """\
import ray
ray.init()
@ray.remote(num_gpus=1)
def where():
    return ray.get_runtime_context().get_node_id()
nodes = set(ray.get([where.options(scheduling_strategy="SPREAD").remote() for _ in range(4)]))
open("ray-nodes", "w").write(f"{len(ray.nodes())} {len(nodes)} {ray.cluster_resources()['GPU']:.0f}")
"""


def ended(small_slurm, folder: Path, program: str, **fields: object) -> None:  # type: ignore[no-untyped-def]
    script = bundle_in(folder, program, nodes=2, gpus_per_node=2, queue="regular", **fields)
    state = run_job(small_slurm("perlmutter"), script, environment(folder, 2))
    assert state == "COMPLETED", printed(folder)


@have("jax")
def test_jax_knows_all_of_its_processes(small_slurm, tmp_path) -> None:  # type: ignore[no-untyped-def]
    ended(small_slurm, tmp_path, JAX, framework="jax")
    assert {path.name: path.read_text() for path in tmp_path.glob("jax-*")} == {f"jax-{n}": "4 4" for n in range(4)}


@have("ray")
def test_ray_has_the_gpus_of_both_nodes(small_slurm, tmp_path) -> None:  # type: ignore[no-untyped-def]
    ended(small_slurm, tmp_path, RAY, framework="ray")
    assert (tmp_path / "ray-nodes").read_text() == "2 2 4"
