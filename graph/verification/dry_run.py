# ruff: noqa: E501
"""The scheduler's own dry run: `sbatch --test-only`, where a Slurm answers. PBS, LSF and Flux have none that fits.

Messages are those of Slurm 22.05 to 25.05 (slurm_errno.c, sbatch's option parser).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from graph.extraction.directives import DirectiveLine, read_directives
from graph.verification.checks.sources import SBATCH
from knowledge.types import Finding
from knowledge.word_lists import in_order

SECONDS = 30
NONE_THERE = {
    "pbs": "PBS has no dry run: qsub either takes a job or refuses it",
    "lsf": "LSF has no dry run: bsub either takes a job or refuses it",
    "flux": "flux batch --dry-run prints the job and does not ask the scheduler, so it was not called",
}


@dataclass(frozen=True, slots=True)
class RefusalMessage:
    """A message of Slurm: what it means, what to do, and the options that it is about."""

    pattern: str
    rule: str
    says: str
    why: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DryRun:
    """asked: whether a scheduler answered. says: one line for a person."""

    asked: bool
    says: str
    findings: tuple[Finding, ...] = ()


# The message does not tell which of them it is about.
BY_NODE = in_order(
    "gpus-per-node gres gpus gpus-per-task cpus-per-task cpus-per-gpu ntasks-per-node mem mem-per-cpu "
    "mem-per-gpu constraint"
)
TABLE: tuple[RefusalMessage, ...] = (
    RefusalMessage(r"unrecognized option '(?P<word>[^']*)'", "option", "sbatch does not know the option {word}", "it is misspelt, or belongs to another tool"),
    RefusalMessage(r"option '(?P<word>[^']*)' is ambiguous", "option", "the option {word} is short for several", "write it out"),
    RefusalMessage(r"invalid option -- '(?P<word>.)'", "option", "sbatch has no option -{word}", "it belongs to another tool"),
    RefusalMessage(r"option '?(?P<word>\S+?)'? requires an argument", "option", "the option {word} has no value", "write one behind it"),
    RefusalMessage(r"Invalid --?(?P<word>[\w-]+) specification", "value", "the value of --{word} cannot be read", "see sbatch's page for its form"),
    RefusalMessage(r"\"(?P<word>[^\"]*)\" is not a valid node count", "nodes", "'{word}' is no number of nodes", "write a number, or MIN-MAX", ("nodes",)),
    RefusalMessage(r"Maximum node count (?P<word>\d+ is less than minimum node count \d+)", "nodes", "the most nodes are fewer than the fewest: {word}", "write MIN-MAX", ("nodes",)),
    RefusalMessage(r"Invalid numeric value \"(?P<value>[^\"]*)\" for --?(?P<word>[\w-]+)", "value", "the value of --{word} is no number", "write a whole number"),
    RefusalMessage(r"Invalid job array specification", "array", "the list of task numbers cannot be read, or is beyond the site's MaxArraySize", "write 1-4, 1,3,5 or 0-15:4; `scontrol show config | grep MaxArraySize` shows the limit", ("array",)),
    RefusalMessage(r"DOS line breaks", "line-ends", "the script has Windows line ends", "save it with Unix line ends: sed -i 's/\\r$//'"),
    RefusalMessage(r"does not look like a batch script", "shebang", "the first line is no #! line", "write #!/bin/bash there"),
    RefusalMessage(r"Unable to open file (?P<word>\S+)", "file", "sbatch cannot open {word}", "look at its path and rights"),
    RefusalMessage(r"[Ii]nvalid partition specified: (?P<word>\S+)", "queue", "there is no partition '{word}'", "`sinfo -s` lists them", ("partition",)),
    RefusalMessage(r"Invalid partition name specified", "queue", "there is no such partition", "`sinfo -s` lists them", ("partition",)),
    RefusalMessage(r"Invalid qos specification", "qos", "there is no such QOS for you", "`sacctmgr show assoc user=$USER format=account,qos` lists yours", ("qos",)),
    RefusalMessage(r"Invalid account or account/partition combination", "account", "the account is not yours, or not allowed on this partition", "`sacctmgr show assoc user=$USER format=account,partition` lists yours", ("account", "partition")),
    RefusalMessage(r"Requested time limit is invalid", "walltime", "the walltime is missing or longer than the partition gives", "`sinfo -o '%P %l'` shows the limits", ("time",)),
    RefusalMessage(r"More processors requested than permitted", "nodes", "the nodes or tasks are more than the partition has", "`sinfo -s` shows how many nodes there are", ("nodes", "ntasks")),
    RefusalMessage(r"Node count specification invalid|More nodes requested than", "nodes", "the partition does not give that many nodes", "`scontrol show partition` shows MinNodes and MaxNodes", ("nodes",)),
    RefusalMessage(r"Invalid feature specification", "constraint", "no node has such a feature", "`sinfo -o '%P %f'` lists them", ("constraint",)),
    RefusalMessage(r"Invalid generic resource", "gpus", "there is no such generic resource", "`sinfo -o '%P %G'` lists them", ("gres", "gpus", "gpus-per-node")),
    RefusalMessage(r"with and without type identification", "gpus", "GPUs are asked for once with and once without their type", "name the type in all options or in none", ("gpus", "gpus-per-node", "gres")),
    RefusalMessage(r"Memory specification can not be satisfied|Requested memory", "memory", "no node has that much memory", "`sinfo -o '%P %m'` shows it in MB", ("mem", "mem-per-cpu")),
    RefusalMessage(r"CPU count per (node|task) can not be satisfied", "cpus", "no node has that many CPUs", "`sinfo -o '%P %c'` shows them", ("cpus-per-task",)),
    RefusalMessage(r"Requested node configuration is not available", "node", "no node can serve what is asked for a node", "GPUs, CPUs or memory a node are more than a node has, or of a type that is not there", BY_NODE),
    RefusalMessage(r"Requested reservation is invalid", "reservation", "there is no such reservation for you", "`scontrol show reservation` lists them", ("reservation",)),
    RefusalMessage(r"Invalid node name specified", "nodelist", "there is no such node", "leave the choice of nodes to the scheduler", ("nodelist",)),
    RefusalMessage(r"(QOS|Assoc)MaxWall\w*PerJob\w*", "walltime", "the walltime is longer than the QOS or the account gives", "`sacctmgr show qos format=name,maxwall` shows the limits: a shorter walltime, or another QOS", ("time", "qos")),
    RefusalMessage(r"(QOS|Assoc)MaxNodePerJob\w*", "nodes", "the nodes are more than the QOS or the account gives", "`sacctmgr show qos format=name,maxtres` shows the limits: fewer nodes, or another QOS", ("nodes", "qos")),
    RefusalMessage(r"Job violates accounting/QOS policy", "policy", "the job is outside the limits of your account or QOS", "walltime, nodes or number of jobs: `sacctmgr show qos` shows the limits", ("qos", "account")),
    RefusalMessage(r"Access/permission denied|User's group not permitted", "access", "you may not use this partition", "ask the site's support, or take another one", ("partition",)),
    RefusalMessage(r"Invalid dependency|Job dependency", "dependency", "the job that this one waits for is not known", "look at its number", ("dependency",)),
    RefusalMessage(r"Invalid license specification", "licenses", "there is no such licence", "`scontrol show lic` lists them", ("licenses",)),
    RefusalMessage(r"does not match any supported policy", "policy", "the site's own rules refuse the job", "account, QOS and constraint must fit together", ("qos", "constraint")),
)  # fmt: skip
NO_ANSWER = re.compile(r"Unable to contact slurm controller|Connection refused|Could not establish a configuration|Unable to process configuration|"
                       r"Socket timed out|fatal: .*(slurm\.conf|configuration|munge)|Unable to resolve|auth.*munge|error: .*slurm_set_addr", re.I)  # fmt: skip
Run = Callable[[str], tuple[int, str]]


def dry_run(text: str, scheduler: str, run: Run | None = None) -> DryRun:
    """Ask this computer's scheduler about the script, without submitting it."""
    if scheduler in NONE_THERE:
        return DryRun(False, NONE_THERE[scheduler])
    if run is None and shutil.which("sbatch") is None:
        return DryRun(False, "there is no sbatch on this computer: run the check on a login node for the dry run")
    code, output = (run or sbatch)(text)
    if NO_ANSWER.search(output) or code in (126, 127):
        return DryRun(False, f"this computer's Slurm does not answer: {first_line(output)}")
    if code == 0:
        return DryRun(True, f"this computer's sbatch would take the job: {first_line(output)}")
    findings = tuple(understood(text, output))
    return DryRun(True, "this computer's sbatch refuses the job", findings)


def sbatch(text: str) -> tuple[int, str]:
    """(exit code, output) of `sbatch --test-only`. Variables of a job that this may run in are left out."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_") or name == "SLURM_CONF"}
    try:
        done = subprocess.run(
            ["sbatch", "--test-only"], input=text.encode("utf-8", "surrogateescape"), capture_output=True, timeout=SECONDS,
            env=kept | {"LC_ALL": "C"}, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return 127, f"no answer within {SECONDS} s"
    except OSError as error:
        return 127, str(error)
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")


def first_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return re.sub(r"^sbatch: (error: )?", "", lines[0])[:200] if lines else "no words"


def understood(text: str, output: str) -> list[Finding]:
    """Findings out of sbatch's words; a message that is not in the table is passed on as it is."""
    directives = [one for one in read_directives(text) if one.active and one.scheduler == "slurm"]
    found: list[Finding] = []
    for row in TABLE:
        match = re.search(row.pattern, output)
        if match and row.rule not in {one.rule.removeprefix("dry-run-") for one in found}:
            word = match.groupdict().get("word") or ""
            says = f"sbatch refuses: {row.says.format(word=word)}"
            found.append(Finding(f"dry-run-{row.rule}", "error", line_of(directives, row, word), says, row.why, SBATCH))
    vague = ("dry-run-node", "dry-run-queue", "dry-run-policy")
    specific = [one for one in found if one.rule not in vague or len(found) == 1]
    return (
        specific
        or found
        or [Finding("dry-run-refused", "error", 0, f"sbatch refuses: {first_line(output)}", "its own words", SBATCH)]
    )


def line_of(directives: list[DirectiveLine], row: RefusalMessage, word: str) -> int:
    """The directive that the message is about; 0 where it names none, or where several lines may be meant."""
    if row.rule in ("option", "value"):
        name = word.split("=")[0].lstrip("-")
        return next((one.line for one in directives if name and name in (one.written.lstrip("-"), one.option)), 0)
    lines = [one.line for name in row.options for one in directives if one.option == name and one.value != "0"]
    return lines[0] if lines and (len(set(lines)) == 1 or row.options is not BY_NODE) else 0
