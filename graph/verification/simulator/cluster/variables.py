"""Which variables each launcher gives to each of its tasks: those that the real one sets, and no others.

Sources: srun(1); mpiexec of PALS as ALCF documents it; Open MPI's environment-var page; Intel MPI (ibrun at TACC);
Lightning's LSF environment (jsrun); flux-environment(7).
"""

from __future__ import annotations

from dataclasses import dataclass

from graph.verification.simulator.cluster.hostlist import compress
from graph.verification.simulator.cluster.layout import TaskLayout
from graph.verification.simulator.config import StandIn

Variables = dict[str, str]
DEVICE_VARIABLE = {"nvidia": "CUDA_VISIBLE_DEVICES", "amd": "ROCR_VISIBLE_DEVICES", "intel": "ZE_AFFINITY_MASK"}


@dataclass(frozen=True, slots=True)
class Seat:
    """One task's place: its rank, the number and name of its node, its number on that node."""

    rank: int
    node: int
    name: str
    local: int


def seats(layout: TaskLayout, cyclic: bool) -> list[Seat]:
    """All tasks in rank order: node by node, or dealt out one node after the other."""
    places = [(node, local) for node, count in enumerate(layout.counts) for local in range(count)]
    if cyclic:
        places.sort(key=lambda place: (place[1], place[0]))
    return [Seat(rank, node, layout.nodes[node], local) for rank, (node, local) in enumerate(places)]


def per_node_text(counts: tuple[int, ...]) -> str:
    """Slurm's `4(x2),1`."""
    parts: list[list[int]] = []
    for count in counts:
        if parts and parts[-1][0] == count:
            parts[-1][1] += 1
        else:
            parts.append([count, 1])
    return ",".join(f"{count}(x{times})" if times > 1 else str(count) for count, times in parts)


def srun(seat: Seat, layout: TaskLayout, job: StandIn, step: int) -> Variables:
    """What srun(1) lists, as far as programs read it."""
    size, nodes = str(layout.ntasks), str(len(layout.counts))
    names = compress(layout.nodes)
    return {
        "SLURM_PROCID": str(seat.rank), "SLURM_LOCALID": str(seat.local), "SLURM_NODEID": str(seat.node),
        "SLURM_NTASKS": size, "SLURM_NPROCS": size, "SLURM_NNODES": nodes, "SLURM_STEP_NUM_TASKS": size,
        "SLURM_STEP_NUM_NODES": nodes, "SLURM_STEP_ID": str(step), "SLURM_STEPID": str(step),
        "SLURM_STEP_NODELIST": names, "SLURM_STEP_TASKS_PER_NODE": per_node_text(layout.counts),
        "SLURM_TASKS_PER_NODE": per_node_text(layout.counts), "SLURMD_NODENAME": seat.name,
        "SLURM_TOPOLOGY_ADDR": seat.name, "SLURM_LAUNCH_NODE_IPADDR": job.nodes[0],
        "SLURM_SRUN_COMM_HOST": job.nodes[0], "SLURM_GTIDS": str(seat.rank),
    }  # fmt: skip


# What each other launcher (or the MPI behind it) sets for a task; see of_task for the names in braces.
BY_MPI: dict[str, Variables] = {
    "pals": {
        "PALS_RANKID": "{rank}", "PALS_NODEID": "{node}", "PALS_LOCAL_RANKID": "{local}",
        "PALS_APID": "stand-in-{step}", "PALS_SPOOL_DIR": "/tmp", "PMI_RANK": "{rank}", "PMI_SIZE": "{size}",
        "PMI_LOCAL_RANK": "{local}", "PMI_LOCAL_SIZE": "{local_size}", "PMI_UNIVERSE_SIZE": "{size}",
    },
    "openmpi": {
        "OMPI_COMM_WORLD_RANK": "{rank}", "OMPI_COMM_WORLD_SIZE": "{size}", "OMPI_COMM_WORLD_LOCAL_RANK": "{local}",
        "OMPI_COMM_WORLD_LOCAL_SIZE": "{local_size}", "OMPI_COMM_WORLD_NODE_RANK": "{local}",
        "OMPI_UNIVERSE_SIZE": "{size}", "PMIX_RANK": "{rank}", "PMIX_NAMESPACE": "standin.{step}",
    },
    "impi": {
        "PMI_RANK": "{rank}", "PMI_SIZE": "{size}", "MPI_LOCALRANKID": "{local}", "MPI_LOCALNRANKS": "{local_size}",
    },
    "mvapich2": {
        "MV2_COMM_WORLD_RANK": "{rank}", "MV2_COMM_WORLD_SIZE": "{size}", "MV2_COMM_WORLD_LOCAL_RANK": "{local}",
        "MV2_COMM_WORLD_LOCAL_SIZE": "{local_size}",
    },
    "jsrun": {
        "JSM_NAMESPACE_RANK": "{rank}", "JSM_NAMESPACE_SIZE": "{size}", "JSM_NAMESPACE_LOCAL_RANK": "{local}",
        "JSM_NAMESPACE_LOCAL_SIZE": "{local_size}", "OMPI_COMM_WORLD_RANK": "{rank}", "OMPI_COMM_WORLD_SIZE": "{size}",
        "OMPI_COMM_WORLD_LOCAL_RANK": "{local}", "OMPI_COMM_WORLD_LOCAL_SIZE": "{local_size}", "PMIX_RANK": "{rank}",
    },
    "flux": {
        "FLUX_TASK_RANK": "{rank}", "FLUX_TASK_LOCAL_ID": "{local}", "FLUX_JOB_SIZE": "{size}",
        "FLUX_JOB_NNODES": "{nodes}", "FLUX_JOB_ID": "f{step}StandIn", "PMI_RANK": "{rank}", "PMI_SIZE": "{size}",
        "FLUX_KVS_NAMESPACE": "job-{step}",
    },
}  # fmt: skip


def of_task(launcher: str, seat: Seat, layout: TaskLayout, job: StandIn, step: int) -> Variables:
    """What the launcher sets for a task: mpiexec and ibrun start it through whichever MPI is loaded."""
    if launcher == "srun":
        return srun(seat, layout, job, step)
    known = {
        "mpiexec": "impi" if job.mpi == "impi" else "pals", "mpirun": "openmpi", "jsrun": "jsrun", "lrun": "jsrun",
        "ibrun": job.mpi if job.mpi in ("impi", "mvapich2") else "openmpi", "flux run": "flux",
    }  # fmt: skip
    numbers = {
        "rank": seat.rank, "node": seat.node, "local": seat.local, "local_size": layout.counts[seat.node],
        "size": layout.ntasks, "nodes": len(layout.counts), "step": step,
    }  # fmt: skip
    return {name: text.format(**numbers) for name, text in BY_MPI[known[launcher]].items()}


def of_devices(launcher: str, seat: Seat, layout: TaskLayout, job: StandIn) -> Variables:
    """What limits a task to devices; empty where the launcher leaves visibility alone."""
    if layout.devices is None:
        return {}
    name = "CUDA_VISIBLE_DEVICES" if launcher == "flux run" else DEVICE_VARIABLE[job.vendor]
    shown = ",".join(str(n) for n in layout.devices[min(seat.local, len(layout.devices) - 1)])
    return {name: shown or ("-1" if launcher == "flux run" else "")}
