"""What holds on any machine of a scheduler: how a job asks for GPUs there, and how one launcher a node is started."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.schedulers.records import Scheduler


@dataclass(frozen=True, slots=True)
class SchedulerForm:
    """Directives with placeholders (knowledge/cluster.py), the launcher, and where the workers meet.

    `unknown` is what the scheduler cannot tell and a person has to add, beside what holds everywhere.
    """

    submit: str
    directives: tuple[str, ...]
    launcher: str
    options: tuple[str, ...]
    host: str
    port: str
    unknown: tuple[str, ...] = ()
    preamble: tuple[str, ...] = ()
    """Lines at the script's beginning: PBS starts a job in the home folder."""
    whole_nodes: bool = False
    """Whether its directives ask for whole nodes in any case."""


# One MPI task a node starts torchrun; which MPI a machine has, no scheduler tells.
MPI = "launcher: mpirun of Open MPI is written; another MPI (mpiexec of MPICH, PALS) takes other options"
FORMS: dict[Scheduler, SchedulerForm] = {
    "slurm": SchedulerForm(
        "sbatch",
        (
            "--account={account}",
            "--partition={queue}",
            "--nodes={nodes}",
            "--ntasks-per-node={tasks_per_node}",
            "--cpus-per-task={cpus_per_task}",
            "--gpus-per-node={gpus_per_node}",
            "--time={walltime}",
        ),
        "srun",
        ("--cpus-per-task={cpus_per_task}",),
        '$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)',
        "$((10000 + SLURM_JOB_ID % 50000))",
    ),
    "pbs": SchedulerForm(
        "qsub",
        (
            "-A {account}",
            "-q {queue}",
            "-l select={nodes}:ncpus={cpus_per_task}:ngpus={gpus_per_node}:mpiprocs={tasks_per_node}",
            "-l place=scatter",
            "-l walltime={walltime}",
            "-j oe",
        ),
        "mpirun",
        (),
        '$(head -n 1 "$PBS_NODEFILE")',
        "$((10000 + ${PBS_JOBID%%.*} % 50000))",
        (MPI, "what the site's hooks demand beside the queue's limits (filesystems, a project by -P instead of -A)"),
        ('cd "$PBS_O_WORKDIR"',),
    ),
    "lsf": SchedulerForm(
        "bsub",
        (
            "-P {account}",
            "-q {queue}",
            "-n {total_cpus}",
            '-R "span[ptile={cpus_per_task}]"',
            '-gpu "num={gpus_per_node}:j_exclusive=yes"',
            "-W {walltime_hm}",
        ),
        "mpirun",
        (),
        '$(head -n 1 "$LSB_DJOB_HOSTFILE")',
        "$((10000 + LSB_JOBID % 50000))",
        (MPI, "whether jobs are charged by -P (project) or -G (user group)"),
    ),
    "flux": SchedulerForm(
        "flux batch",
        (
            "--bank={account}",
            "--queue={queue}",
            "--nodes={nodes}",
            "--exclusive",
            "--time-limit={minutes}m",
        ),
        "flux",
        ("--exclusive", "--gpus-per-task={gpus_per_node}"),
        "$(flux hostlist -n 0 local)",
        "29500",
        ("GPU: its name, and the memory of a node (Flux counts GPUs and cores only)",),
        whole_nodes=True,
    ),
}
