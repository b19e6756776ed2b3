"""Lines in which a scheduler's command speaks: refusals, estimates, and that there is no such job."""

from __future__ import annotations

import re

from knowledge.schedulers.records import Scheduler

SLURM = r"(?:sbatch|salloc|squeue|scontrol|scancel|sacct|sacctmgr|sinfo|sprio|sshare|scrontab)"
# The shell, where it knows no such command: `bash: squeue: command not found`, `zsh: command not found: bjobs`.
SHELL = r"-?(?:\S{0,40}/)?[a-z]{0,4}sh: (?:(?:line )?\d+: )?"
COMMANDS = (
    ("squeue|sbatch|salloc|srun|scontrol|scancel|sacct|sacctmgr|sinfo|sprio|sshare", "slurm"),
    ("qstat|qsub|qdel|qalter|pbsnodes", "pbs"),
    ("bjobs|bsub|bkill|bqueues|bhosts", "lsf"),
    ("flux", "flux"),
)
# srun also speaks for the tasks that it runs (`srun: error: nid01: task 3: Killed`) and for steps of a running job:
# only its words about an allocation.
SRUN = (
    r"srun: (?:error: )?(?:Unable to (?:allocate|confirm|contact)|Requested|Required|Job violates|Job submit/allocate|"
    r"job \d+ (?:queued|has been)|Job (?:allocation \d+ )?has been|"
    r"QOS[A-Z]|Assoc[A-Z]|Batch job|Access/permission|User's group|"
    r"Invalid (?:account|partition|qos|feature|generic|node name|job))"
)
MESSAGES: tuple[tuple[re.Pattern[str], Scheduler, str], ...] = tuple(
    (re.compile(pattern), scheduler, command)  # type: ignore[misc]
    for pattern, scheduler, command in (
        (rf"({SLURM}): (?:error: |fatal: |info: |warning: )?\S.*", "slurm", ""),
        *(
            (rf"{SHELL}(?:({names}): (?:command )?not found|command not found: ({names}))", scheduler, "")
            for names, scheduler in COMMANDS
        ),
        (rf"{SRUN}.*", "slurm", "srun"),
        (r"srun: (?:error: )?Job \d+ step creation .*", "slurm", "srun"),
        (r"slurm_[a-z_]+ error: .*", "slurm", "squeue"),
        (r"slurm_[a-z_]+: error: .*", "slurm", "squeue"),
        (r"allocation failure: .*", "slurm", "sbatch --test-only"),
        (r"Submitted batch job \d+.*", "slurm", "sbatch"),
        (r"(qsub|qstat|qdel|qalter|qrls|qhold|qmove|tracejob|pbsnodes|pbs_rstat): \S.*", "pbs", ""),
        (r"(?:bsub|bjobs|bkill|bmod|bhist|bqueues): \S.*", "lsf", "bsub"),
        (
            r"(?:Job <[^>]+> is (?:submitted to|not found)|No (?:unfinished|pending|matching|running|such) job).*",
            "lsf",
            "bjobs",
        ),
        (r"Request aborted by esub.*|.*\. Job not submitted\.?", "lsf", "bsub"),
        (r"LSF is down.*|Failed in an LSF library call.*|batch (?:system )?daemon not responding.*", "lsf", "bjobs"),
        (
            r"flux(?:[ -][a-z-]+)*: (?:ERROR|WARNING|error|[Uu]n|[Ii]nv|[Cc]ould|[Cc]annot|[Nn]o |command not).*",
            "flux",
            "flux",
        ),
        (r"\[Errno \d+\] (?:job submission|[Uu]nsatisfiable).*", "flux", "flux"),
        (r"(?:jobs|batch|submit|run|alloc)\.(?:ERROR|WARNING).*", "flux", "flux"),
    )
)


def message_at(line: str) -> tuple[Scheduler, str] | None:
    """The scheduler and the command that said this line; None where no scheduler did."""
    said = line.strip().lstrip("> ").strip("`")
    for pattern, scheduler, command in MESSAGES:
        if found := pattern.fullmatch(said):
            return scheduler, command or str(next(filter(None, found.groups())))
    return None
