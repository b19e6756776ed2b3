"""What a program of the user's finds out by itself: its rank from the launcher's variables, the address of rank 0.

PyTorch reads RANK and its like alone; the user's program may read any of these, and the rehearsal plays that program.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from graph.verification.simulator.config import StandIn

# (rank, number on the node, number of ranks) by who sets them, the first that is there counts. Slurm's come last: they
# stand in its batch script, too, and what mpirun starts there inherits them.
FAMILIES = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PALS_RANKID", "PALS_LOCAL_RANKID", "PMI_SIZE"),
    ("PMI_RANK", "PMI_LOCAL_RANK", "PMI_SIZE"),
    ("PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"),
    ("PMIX_RANK", "PMIX_LOCAL_RANK", "PMIX_SIZE"),
    ("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_SIZE"),
    ("FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID", "FLUX_JOB_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"),
)
PORT = "29500"
VISIBLE = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK")


def own_ranks(given: Mapping[str, str], stand_in: StandIn, in_step: bool) -> dict[str, str]:
    """The variables of env:// that are missing, as a program would fill them in. in_step: a launcher started it."""
    if "RANK" in given or "LOCAL_RANK" in given:
        return {}  # the script tells env://, or a part of it: what it forgets is missed as it would be
    found = told(given) if in_step else {}
    alone = {} if found else {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}
    found = found or alone
    if "LOCAL_RANK" in found:
        found["LOCAL_RANK"] = str(int(found["LOCAL_RANK"]) % devices(given, stand_in))
    found |= {"MASTER_ADDR": stand_in.running_nodes[0], "MASTER_PORT": PORT}
    # A program beside the launch is alone, whatever the script exports for its training.
    return {name: value for name, value in found.items() if name not in given} | alone


def told(given: Mapping[str, str]) -> dict[str, str]:
    """RANK, LOCAL_RANK and WORLD_SIZE by the launcher's own variables; empty where it sets none."""
    for rank, local, size in FAMILIES:
        if given.get(rank, "").isdigit() and given.get(size, "").isdigit():
            return {"RANK": given[rank], "LOCAL_RANK": given.get(local, "0"), "WORLD_SIZE": given[size]}
    return {}


def devices(given: Mapping[str, str], stand_in: StandIn) -> int:
    """How many devices the process sees; 1 at least."""
    shown = next((given[name] for name in VISIBLE if name in given), None)
    listed = [one for one in shown.split(",") if one] if shown is not None else []
    return max(1, len(listed) if shown is not None else stand_in.gpus_per_node)


def group_of(given: Mapping[str, str]) -> str:
    """Which processes belong together: those of one step, of one inner launcher, or one by itself."""
    step = given.get("MAPLE_REHEARSAL_STEP")
    return given.get("MAPLE_REHEARSAL_GROUP") or (f"step {step}" if step is not None else f"process {os.getpid()}")
