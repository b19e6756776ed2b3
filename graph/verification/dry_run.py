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
from graph.verification.checks.words import WORDS
from knowledge.types import Finding

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


# The message does not tell which of its options it is about.
ONE_OF_MANY = "node"
TABLE = tuple(
    RefusalMessage(pattern, rule, says, why, tuple(options)) for pattern, rule, says, why, *options in WORDS["refusals"]
)
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
    return lines[0] if lines and (len(set(lines)) == 1 or row.rule != ONE_OF_MANY) else 0
