"""Logs, the job's script and its machine in; why it failed, and the mended script, out."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from graph.debugging.advice import for_cluster
from graph.debugging.diagnosis import diagnose
from graph.debugging.log import LogSource
from graph.debugging.memory_sum import with_sum
from graph.debugging.remedies import request_of, revise
from graph.debugging.run_signs import with_signs
from graph.extraction.script_record import understand_script
from graph.usecases.mend_script import Mended, mend_script
from graph.waiting.ended import ended_state
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.schedulers.records import QueuedJob
from knowledge.types import NO_CAUSE, Diagnosis, Finding, JobRequest

# What did not fail, or cannot be told: nothing is mended for it.
Helping = Callable[[Diagnosis], Diagnosis]
# States that tell a cause which the output often does not say. FAILED and COMPLETED tell none.
TELLING = ("OUT_OF_MEMORY", "TIMEOUT", "NODE_FAIL", "CANCELLED", "PREEMPTED", "BOOT_FAIL", "DEADLINE")


@dataclass(frozen=True, slots=True)
class JobReport:
    """What is known of a failed job. mended: None where there is no script, or nothing failed."""

    diagnosis: Diagnosis
    mended: Mended | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.mended.findings if self.mended else ()


def diagnose_job(
    logs: Sequence[LogSource] | str,
    script: str = "",
    machine: Cluster | None = None,
    *,
    name: str = "script",
    helped: Helping = lambda found: found,
) -> JobReport:
    """The cause by the logs, with the machine's own steps, and the script without it.

    machine: None takes the one that the script's own marks tell. helped: what a model adds where the rules are not
    sure. Raises InputError where a log or the script cannot be read.
    """
    return report_of(helped(diagnose(logs)), script, machine, name=name)


def report_of(found: Diagnosis, script: str, machine: Cluster | None, *, name: str = "script") -> JobReport:
    """The report where the cause is known already. Raises InputError where the script cannot be read."""
    cluster = machine or machine_of(script)
    found = with_signs(found, cluster)
    if found.cause in NO_CAUSE:
        return JobReport(found)
    found = with_sum(found, script)
    if cluster is not None and cluster.title not in " ".join(found.fix):
        request = request_of(understand_script(script)) if script else JobRequest()
        found = revise(for_cluster(found, cluster), cluster, replace(request, machine=cluster.id))
    return JobReport(found, mend_script(script, found, cluster, name) if script else None)


def machine_of(script: str) -> Cluster | None:
    """The machine that a script's own marks tell; None where they do not."""
    try:
        name = understand_script(script).machine if script else None
    except InputError:
        return None
    return catalogue().find(name) if name else None


def source_of_state(job: QueuedJob) -> list[LogSource]:
    """The state in the scheduler's record as one more log, where it tells a cause (time limit, memory, node)."""
    state = ended_state(job)
    if state not in TELLING:
        return []
    line = f"JobState={state} ExitCode={job.exit_code}\n"
    return [LogSource(f"the scheduler's record of {job.id}", stream=io.BytesIO(line.encode()))]
