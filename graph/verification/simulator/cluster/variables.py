"""Which variables each launcher gives to each of its tasks: those that the real one sets, and no others.

Sources: srun(1); mpiexec of PALS as ALCF documents it; Open MPI's environment-var page; Intel MPI (ibrun at TACC);
Lightning's LSF environment (jsrun); flux-environment(7).
"""

from __future__ import annotations

from collections.abc import Callable
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


def pals(seat: Seat, layout: TaskLayout, job: StandIn, step: int) -> Variables:
    return {
        "PALS_RANKID": str(seat.rank), "PALS_NODEID": str(seat.node), "PALS_LOCAL_RANKID": str(seat.local),
        "PALS_APID": f"stand-in-{step}", "PALS_SPOOL_DIR": "/tmp", "PMI_RANK": str(seat.rank),
        "PMI_SIZE": str(layout.ntasks), "PMI_LOCAL_RANK": str(seat.local),
        "PMI_LOCAL_SIZE": str(layout.counts[seat.node]), "PMI_UNIVERSE_SIZE": str(layout.ntasks),
    }  # fmt: skip


def open_mpi(seat: Seat, layout: TaskLayout, job: StandIn, step: int) -> Variables:
    rank, size, local = str(seat.rank), str(layout.ntasks), str(seat.local)
    return {
        "OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": size, "OMPI_COMM_WORLD_LOCAL_RANK": local,
        "OMPI_COMM_WORLD_LOCAL_SIZE": str(layout.counts[seat.node]), "OMPI_COMM_WORLD_NODE_RANK": local,
        "OMPI_UNIVERSE_SIZE": size, "PMIX_RANK": rank, "PMIX_NAMESPACE": f"standin.{step}",
    }  # fmt: skip


def intel_mpi(seat: Seat, layout: TaskLayout, job: StandIn, step: int) -> Variables:
    return {
        "PMI_RANK": str(seat.rank), "PMI_SIZE": str(layout.ntasks), "MPI_LOCALRANKID": str(seat.local),
        "MPI_LOCALNRANKS": str(layout.counts[seat.node]),
    }  # fmt: skip


def mvapich(seat: Seat, layout: TaskLayout, job: StandIn, step: int) -> Variables:
    local_size = str(layout.counts[seat.node])
    return {
        "MV2_COMM_WORLD_RANK": str(seat.rank), "MV2_COMM_WORLD_SIZE": str(layout.ntasks),
        "MV2_COMM_WORLD_LOCAL_RANK": str(seat.local), "MV2_COMM_WORLD_LOCAL_SIZE": local_size,
    }  # fmt: skip


def mpiexec(seat: Seat, layout: TaskLayout, job: StandIn, step: int) -> Variables:
    """Hydra's launcher of Intel MPI has PALS's options and variables of its own."""
    return (intel_mpi if job.mpi == "impi" else pals)(seat, layout, job, step)


def ibrun(seat: Seat, layout: TaskLayout, job: StandIn, step: int) -> Variables:
    """ibrun starts the tasks through whichever MPI is loaded."""
    by_mpi = {"impi": intel_mpi, "mvapich2": mvapich}
    return by_mpi.get(job.mpi, open_mpi)(seat, layout, job, step)


def jsrun(seat: Seat, layout: TaskLayout, job: StandIn, step: int) -> Variables:
    rank, size, local = str(seat.rank), str(layout.ntasks), str(seat.local)
    return {
        "JSM_NAMESPACE_RANK": rank, "JSM_NAMESPACE_SIZE": size, "JSM_NAMESPACE_LOCAL_RANK": local,
        "JSM_NAMESPACE_LOCAL_SIZE": str(layout.counts[seat.node]),
        "OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": size, "OMPI_COMM_WORLD_LOCAL_RANK": local,
        "OMPI_COMM_WORLD_LOCAL_SIZE": str(layout.counts[seat.node]), "PMIX_RANK": rank,
    }  # fmt: skip


def flux_run(seat: Seat, layout: TaskLayout, job: StandIn, step: int) -> Variables:
    return {
        "FLUX_TASK_RANK": str(seat.rank), "FLUX_TASK_LOCAL_ID": str(seat.local), "FLUX_JOB_SIZE": str(layout.ntasks),
        "FLUX_JOB_NNODES": str(len(layout.counts)), "FLUX_JOB_ID": f"f{step}StandIn", "PMI_RANK": str(seat.rank),
        "PMI_SIZE": str(layout.ntasks), "FLUX_KVS_NAMESPACE": f"job-{step}",
    }  # fmt: skip


OF_TASK: dict[str, Callable[[Seat, TaskLayout, StandIn, int], Variables]] = {
    "srun": srun, "mpiexec": mpiexec, "mpirun": open_mpi, "ibrun": ibrun, "jsrun": jsrun, "lrun": jsrun,
    "flux run": flux_run,
}  # fmt: skip


def of_devices(launcher: str, seat: Seat, layout: TaskLayout, job: StandIn) -> Variables:
    """What limits a task to devices; empty where the launcher leaves visibility alone."""
    if layout.devices is None:
        return {}
    name = "CUDA_VISIBLE_DEVICES" if launcher == "flux run" else DEVICE_VARIABLE[job.vendor]
    shown = ",".join(str(n) for n in layout.devices[min(seat.local, len(layout.devices) - 1)])
    return {name: shown or ("-1" if launcher == "flux run" else "")}
