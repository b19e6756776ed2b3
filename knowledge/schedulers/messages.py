"""Lines in which a scheduler's command speaks: refusals, estimates, and that there is no such job."""

from __future__ import annotations

import re

from knowledge.schedulers.records import Scheduler

SLURM = r"(?:sbatch|salloc|squeue|scontrol|scancel|sacct|sacctmgr|sinfo|sprio|sshare|scrontab)"
# The shell, where it knows no command of that name: bash, dash and tcsh, also of a script; zsh; fish; Ubuntu's bash.
SHELL = (
    r"(?:[^:]{1,200}: )?(?:(?:line )?\d+: )?(NAMES): (?:[Cc]ommand )?not found\.?",
    r"\S{0,40}sh: command not found: (NAMES)",
    r"fish: Unknown command:? '?(NAMES)'?",
    r"Command '(NAMES)' not found.*",
)
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
        *((form.replace("NAMES", names), scheduler, "") for names, scheduler in COMMANDS for form in SHELL),
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
