"""The variables that each scheduler gives to a batch script, and no others.

Sources: sbatch(1) output environment variables; PBS Professional's user guide; LSF's environment variable reference;
flux-environment(7).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from graph.verification.simulator.cluster.layout import blocks
from graph.verification.simulator.cluster.variables import per_node_text
from graph.verification.simulator.config import StandIn

Where = Mapping[str, str]
LONGEST_LIST = 4096
"""Characters of LSB_HOSTS beyond which LSF leaves it out."""


def slurm(job: StandIn, inside: str, where: Where, names: str) -> dict[str, str]:
    """ntasks and tasks a node only where they were asked for, as sbatch does."""
    nodes = len(job.nodes)
    counts = blocks(job.ntasks or nodes, nodes)
    found = {
        "SLURM_JOB_ID": job.job_id, "SLURM_JOBID": job.job_id, "SLURM_JOB_NAME": job.job_name,
        "SLURM_JOB_NODELIST": names, "SLURM_NODELIST": names, "SLURM_JOB_NUM_NODES": str(nodes),
        "SLURM_NNODES": str(nodes), "SLURM_JOB_PARTITION": job.queue, "SLURM_JOB_ACCOUNT": job.account,
        "SLURM_SUBMIT_DIR": where["work"], "SLURM_SUBMIT_HOST": "login01", "SLURM_CLUSTER_NAME": job.cluster,
        "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0", "SLURM_TASK_PID": "1",
        "SLURMD_NODENAME": job.nodes[0], "SLURM_TASKS_PER_NODE": per_node_text(counts), "SLURM_JOB_USER": "user",
        "SLURM_CPUS_ON_NODE": str(job.cpus_per_node), "SLURM_GTIDS": "0", "SLURM_NODE_ALIASES": "(null)",
        "SLURM_JOB_CPUS_PER_NODE": per_node_text((job.cpus_per_node,) * nodes), "SLURM_JOB_QOS": "normal",
    }  # fmt: skip
    optional = {
        "SLURM_NTASKS": job.ntasks, "SLURM_NPROCS": job.ntasks, "SLURM_NTASKS_PER_NODE": job.tasks_per_node,
        "SLURM_CPUS_PER_TASK": job.cpus_per_task, "SLURM_GPUS_PER_TASK": job.gpus_per_task,
        "SLURM_GPUS_ON_NODE": job.gpus_per_node if job.gpu_option else None,
        "SLURM_GPUS_PER_NODE": job.gpus_per_node if job.gpu_option == "gpus-per-node" else None,
        "SLURM_GPUS": job.gpus_per_node * nodes if job.gpu_option == "gpus" else None,
        "SLURM_GPU_BIND": job.gpu_bind or None,
    }  # fmt: skip
    if job.gpu_option:
        found["SLURM_JOB_GPUS"] = ",".join(str(n) for n in range(job.gpus_per_node))
    return found | {name: str(value) for name, value in optional.items() if value is not None}


def of_array(job: StandIn, asked: str) -> dict[str, str]:
    """The variables of an array's first task; asked: the directive's value. Empty where it asks for no array."""
    value = asked.partition("[")[2] if job.scheduler == "lsf" else asked
    numbers = [int(one) for one in re.findall(r"\d+", re.sub(r"[:%\]].*", "", value))]
    first = str(numbers[0]) if numbers else ""
    found = {
        "slurm": {
            "SLURM_ARRAY_TASK_ID": first, "SLURM_ARRAY_JOB_ID": job.job_id,
            "SLURM_ARRAY_TASK_MIN": str(min(numbers, default=0)), "SLURM_ARRAY_TASK_MAX": str(max(numbers, default=0)),
            "SLURM_ARRAY_TASK_COUNT": str(max(numbers, default=0) - min(numbers, default=0) + 1),
        },
        "pbs": {"PBS_ARRAY_INDEX": first, "PBS_ARRAYID": first, "PBS_ARRAY_ID": f"{job.job_id}[].pbs-server"},
        "lsf": {"LSB_JOBINDEX": first},
    }  # fmt: skip
    return found.get(job.scheduler, {}) if numbers else {}


def pbs(job: StandIn, inside: str, where: Where, names: str) -> dict[str, str]:
    return {
        "PBS_JOBID": f"{job.job_id}.pbs-server", "PBS_JOBNAME": job.job_name, "PBS_NODEFILE": f"{inside}/nodefile",
        "PBS_O_WORKDIR": where["work"], "PBS_O_HOME": where["home"], "PBS_O_HOST": "login01", "PBS_O_LOGNAME": "user",
        "PBS_O_QUEUE": job.queue, "PBS_QUEUE": job.queue, "PBS_ENVIRONMENT": "PBS_BATCH", "PBS_NODENUM": "0",
        "PBS_TASKNUM": "1", "PBS_O_SHELL": "/bin/bash", "PBS_O_SYSTEM": "Linux", "PBS_JOBDIR": where["home"],
        "NCPUS": str(job.cpus_per_node),
    }  # fmt: skip


def lsf(job: StandIn, inside: str, where: Where, names: str) -> dict[str, str]:
    """The launch node comes first in every list, with one slot. LSF leaves LSB_HOSTS out where it gets long."""
    first = [job.launch_node] if job.launch_node else []
    slots = max(1, job.cpus_per_node)
    hosts = [*first, *(name for name in job.nodes for _ in range(slots))]
    pairs = [*(f"{name} 1" for name in first), *(f"{name} {slots}" for name in job.nodes)]
    found = {
        "LSB_JOBID": job.job_id, "LSB_BATCH_JID": job.job_id, "LSB_JOBNAME": job.job_name, "LSB_QUEUE": job.queue,
        "LSB_MCPU_HOSTS": " ".join(pairs), "LSB_DJOB_HOSTFILE": f"{inside}/hostfile",
        "LSB_DJOB_RANKFILE": f"{inside}/hostfile", "LSB_DJOB_NUMPROC": str(len(hosts)), "LS_SUBCWD": where["work"],
        "LSB_SUB_HOST": "login01", "LSB_PROJECT_NAME": job.account, "LSB_MAX_NUM_PROCESSORS": str(len(hosts)),
        "LS_JOBPID": "1", "LSB_EXIT_PRE_ABORT": "99",
    }  # fmt: skip
    listed = " ".join(hosts)
    return found | ({"LSB_HOSTS": listed} if len(listed) < LONGEST_LIST else {})


def flux(job: StandIn, inside: str, where: Where, names: str) -> dict[str, str]:
    """A batch script is the first program of an instance of its own: task variables are not set in it."""
    return {
        "FLUX_URI": "local:///run/flux/local",
        "FLUX_ENCLOSING_ID": "f2uZ4Xh9",
        "FLUX_EXEC_PATH": "/usr/libexec/flux",
    }


BATCH: dict[str, Callable[[StandIn, str, Where, str], dict[str, str]]] = {
    "slurm": slurm, "pbs": pbs, "lsf": lsf, "flux": flux,
}  # fmt: skip


def batch_variables(job: StandIn, inside: str, where: Where, names: str) -> dict[str, str]:
    return BATCH[job.scheduler](job, inside, where, names)
