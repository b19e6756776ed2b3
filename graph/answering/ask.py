"""One question with all that an answer may stand on: the words, their topic, and what the thread holds."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from graph.answering.job_values import ids_of_deed, jobs_named, other_than_named
from graph.answering.situation import ANY_JOB, Situation, named_scheduler
from graph.reading.utterance import Clause, Utterance
from knowledge.cluster import Cluster
from knowledge.resource_question import ResourceQuestion
from knowledge.schedulers.outputs import scheduler_output
from knowledge.types import Diagnosis, JobRequest, LaunchBundle, LaunchPlan, Paste, ToldStatement

# What is done with a job that waits; who pasted a running one beside it does not mean that one.
OF_ONE_THAT_WAITS = ("job.cancel", "job.change", "job.hold", "job.start", "job.priority", "job.dependency")
# `i saved it as birds.sh`
JOB_FILE = re.compile(r"(?<![\w/.-])[\w.-]*\w\.(?:sh|bash|sbatch|slurm|sbat|pbs|lsf|job)\b(?![\w/.-]*\w)")
# A job's number in the message before, and what points back at it.
NUMBER = re.compile(r"(?i)\b(?:job|id|jobb?id)\b\D{0,10}(\d{4,9})\b")
POINTS = re.compile(r"(?i)\b(?:it|that one|this one|that job|this job|ihn|den|le|lo|la|den)\b")


@dataclass(frozen=True, slots=True)
class Ask:
    """clause: what asks, with its topic; machine: named in it, else the thread's.

    script: the text in hand, the person's own or ours; report: the last diagnosis; logs: what it was read from; output:
    what a scheduler printed last; last_act, last_topic, before: what the message before was for, its topic and words;
    resources: what
    was asked of resources before. since: what was said since the diagnosis; tried: the steps against it that did not
    help; step: how far the way of a beginner was told; own_machines: ids of those that the person has; statements: what
    the last answers said, the newest first.
    """

    clause: Clause
    utterance: Utterance
    machine: Cluster | None = None
    request: JobRequest = field(default_factory=JobRequest)
    plan: LaunchPlan | None = None
    bundle: LaunchBundle | None = None
    script: Paste | None = None
    report: Diagnosis | None = None
    logs: tuple[Paste, ...] = ()
    output: str = ""
    last_topic: str = ""
    last_act: str = ""
    resources: ResourceQuestion | None = None
    before: str = ""
    since: str = ""
    tried: tuple[str, ...] = ()
    step: int = 0
    own_machines: tuple[str, ...] = ()
    statements: tuple[ToldStatement, ...] = ()

    @property
    def text(self) -> str:
        return self.clause.text

    @property
    def topic(self) -> str:
        return self.clause.topic

    @property
    def situation(self) -> Situation:
        """The same for answers about daily life."""
        printed = scheduler_output(self.output) if self.output else []
        seen = [job.id for output in printed for job in output.jobs if job.id]
        waits = [job.id for output in printed for job in output.jobs if job.id and job.phase == "waiting"]
        seen = waits if len(waits) == 1 and self.topic in OF_ONE_THAT_WAITS else seen
        said = self.ids_said or ([] if seen else self.id_before)
        job = (said or (seen if len(seen) == 1 else []) or [ANY_JOB])[0]
        called = JOB_FILE.search(self.utterance.text)
        name = self.script.name if self.script else self.bundle.name if self.bundle else "job.sh"
        name = called[0] if called else name
        told = named_scheduler(self.text, self.script.text if self.script else "")
        scheduler = told or next((output.scheduler for output in printed), None)
        by_hand = self.last_topic in ("site.interactive", "site.jupyter") and self.script is None
        mentions = self.utterance.mentions
        jobs = jobs_named(self.text, [one for output in printed for one in output.jobs]) if self.of_several else ()
        if self.of_several and not jobs and self.topic != "job.cancel":
            jobs = other_than_named(self.utterance.text, [one for output in printed for one in output.jobs])
        jobs = jobs or (tuple(said) if self.of_several and len(said) > 1 else ())
        return Situation(
            self.text, self.machine, self.request, name, job, scheduler, self.before, mentions, by_hand, jobs
        )

    @property
    def ids_said(self) -> list[str]:
        """The job numbers of this clause, else of the message; for a deed those that its verb is said of."""
        found = self.utterance.of_kind("JobId")
        ids = [one for one in found if self.clause.start <= one.start < self.clause.end] or list(found)
        if not self.of_several or len(ids) < 2:
            return [str(one.value) for one in ids]
        return list(ids_of_deed(self.utterance.text, [(one.start, one.end) for one in ids]))

    @property
    def id_before(self) -> list[str]:
        """The one job number of the message before or its answer, where the words only point at it (`kill it then`)."""
        answered = (one.text for one in self.statements[:1])
        told = list(dict.fromkeys(NUMBER.findall(" ".join((self.before, *answered)))))
        return told if len(told) == 1 and self.of_several and POINTS.search(self.text) else []

    @property
    def of_several(self) -> bool:
        """Whether it asks for a deed with jobs, of which several may be meant."""
        return self.topic in ("job.cancel", "job.change", "job.hold", "job.longer")


def is_of_resources(clause: Clause) -> bool:
    """Whether a clause asks of GPUs, memory, hours, splits or machines."""
    return clause.act == "plan" or clause.topic.startswith(("method.", "machine."))
