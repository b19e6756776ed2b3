"""The directive syntax of each batch system, as tables: its mark, its options, which of them take no value."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.slurm_options import slurm_options
from knowledge.word_lists import word_set


@dataclass(frozen=True, slots=True)
class Syntax:
    """How one batch system writes directives. short maps an option as written to the name used here."""

    scheduler: str
    mark: re.Pattern[str]
    dead: re.Pattern[str]
    short: dict[str, str]
    flags: frozenset[str]
    long: frozenset[str] = frozenset()
    stops_at_command: bool = True


SBATCH = slurm_options().of("sbatch")
SLURM_SHORT = {
    **{f"-{one.letter}": name for name, one in SBATCH.items() if one.letter},
    **slurm_options().aliases,
}
SLURM_FLAGS = frozenset(name for name, one in SBATCH.items() if one.takes != "value")
SLURM_LONG = frozenset(
    {name for name, one in SBATCH.items() if one.takes == "value"}
    | {name for name, takes in slurm_options().plugins.items() if takes == "value"}
)
PBS_SHORT = {
    "-A": "account", "-P": "project", "-q": "queue", "-N": "job-name", "-l": "resource", "-o": "output", "-e": "error",
    "-j": "join", "-k": "keep", "-m": "mail", "-M": "mail-user", "-S": "shell", "-v": "variables", "-V": "export",
    "-W": "attributes", "-r": "rerun", "-J": "array", "-t": "array", "-I": "interactive", "-X": "x11", "-d": "chdir",
    "-p": "priority", "-a": "begin", "-c": "checkpoint", "-h": "hold", "-z": "quiet",
}  # fmt: skip
LSF_SHORT = {
    "-nnodes": "nodes", "-n": "slots", "-W": "time", "-q": "queue", "-P": "project", "-G": "group", "-J": "job-name",
    "-o": "output", "-e": "error", "-oo": "output", "-eo": "error", "-R": "resource", "-gpu": "gpu", "-cwd": "chdir",
    "-x": "exclusive", "-B": "mail-begin", "-N": "mail-end", "-u": "mail-user", "-M": "memory", "-m": "hosts",
    "-w": "dependency", "-U": "reservation", "-app": "application", "-env": "environment", "-L": "shell", "-r": "rerun",
    "-alloc_flags": "alloc-flags", "-K": "wait", "-I": "interactive", "-Is": "interactive", "-H": "hold",
}  # fmt: skip
# https://flux-framework.readthedocs.io/projects/flux-core/en/latest/man1/flux-batch.html
FLUX_SHORT = {
    "-N": "nodes", "-n": "nslots", "-c": "cores-per-slot", "-g": "gpus-per-slot", "-t": "time-limit", "-q": "queue",
    "-B": "bank", "-x": "exclusive", "-o": "setopt", "-S": "setattr", "-O": "broker-opts", "-u": "unbuffered",
    "-l": "label-io", "ntasks": "nslots", "gpus-per-task": "gpus-per-slot", "cores-per-task": "cores-per-slot",
    "slots": "nslots", "name": "job-name",
}  # fmt: skip
COBALT_SHORT = {
    "-n": "nodes", "-t": "time", "-q": "queue", "-A": "account", "-O": "output", "-o": "output", "-e": "error",
    "-M": "mail-user", "-N": "job-name",
}  # fmt: skip
SGE_SHORT = {
    "-l": "resource", "-N": "job-name", "-q": "queue", "-P": "project", "-A": "account", "-g": "group", "-o": "output",
    "-e": "error", "-j": "join", "-pe": "parallel", "-cwd": "chdir", "-V": "export", "-S": "shell", "-t": "array",
    "-m": "mail", "-M": "mail-user",
}  # fmt: skip

SYNTAXES: tuple[Syntax, ...] = (
    Syntax("slurm", re.compile(r"#SBATCH(?=\s|-|$)"), re.compile(r"#[#\s]+SBATCH\b|#\s*S(?!BATCH\b)[BATCH]{4,6}\s+-"),
           SLURM_SHORT, SLURM_FLAGS, SLURM_LONG),
    Syntax("pbs", re.compile(r"#(PBS|MSUB)(?=\s)"), re.compile(r"#[#\s]+PBS\b"), PBS_SHORT,
           word_set("export interactive x11 hold quiet")),
    Syntax("lsf", re.compile(r"#BSUB(?=\s)"), re.compile(r"#[#\s]+BSUB\b"), LSF_SHORT,
           word_set("exclusive mail-begin mail-end wait interactive hold rerun"), stops_at_command=False),
    Syntax("flux", re.compile(r"#\s?(flux|FLUX):"), re.compile(r"##\s*(flux|FLUX):"), FLUX_SHORT,
           word_set("exclusive unbuffered label-io")),
    Syntax("cobalt", re.compile(r"#COBALT(?=\s)"), re.compile(r"#[#\s]+COBALT\b"), COBALT_SHORT, frozenset()),
    Syntax("sge", re.compile(r"#\$(?=\s*-)"), re.compile(r"#[#\s]+\$\s+-"), SGE_SHORT, word_set("export chdir")),
)  # fmt: skip
BY_SCHEDULER = {syntax.scheduler: syntax for syntax in SYNTAXES}
