"""One job read: its logs diagnosed, its row, and what the logs tell of nodes, times and framework. Runs anywhere."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path

import re2

from graph.debugging.lines import PROGRESS
from graph.debugging.log import cleaned, from_paths, message, printable
from graph.reporting.inputs import JobInput
from graph.reporting.record import record_of
from graph.usecases.diagnose_job import diagnose_job, source_of_state
from graph.verification.checks.run import check
from graph.verification.script_machine import script_machine
from graph.waiting.ended import ended_state
from knowledge.catalogue import catalogue
from knowledge.errors import InputError
from knowledge.job_record import JobRecord
from knowledge.masking import hide
from knowledge.opening import open_plain, read_plain
from knowledge.schedulers.accounting import end_of, gpus_of, host_names, nodes_of, start_of, submit_of
from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.submitted import LONGEST_SCRIPT, as_submitted
from knowledge.signatures.matcher import options
from knowledge.types import Diagnosis, LogEvidence

EDGE = 64 << 10
"""Bytes of each end of a log in which nodes, times and framework are looked for."""
MOST_FILES = 64
LAST_LINES = 40
FINE = ("COMPLETED", "DONE")
# A job that its scheduler calls well ended failed all the same only where its log says so plainly.
PLAINLY = 0.75
NODES = re2.compile(rb"SLURM_(?:JOB_)?NODELIST[=: ]+['\"]?([\w.,\[\]-]+)", options())
HOSTS = re2.compile(
    rb"(?m)^(?:\[\w+\]: ?)?(?:([a-z][\w.-]*\d[\w.-]*):\d+:\d+ \[\d+\] NCCL |\[([a-z][\w.-]*\d[\w.-]*):\d+\] )"
    rb"|^(?:srun|slurmstepd): error: ([a-z][\w.-]*\d): ",
    options(),
)
WORLD = re2.compile(rb"(?i)\bworld[_ ]?size['\"]?[=: ]+(\d{1,6})\b|\bnranks (\d{1,6})\b", options())
VALUES = {
    name: re2.compile(rb"\bSLURM_JOB_" + word + rb"[=: ]+['\"]?([\w.@-]+)", options())
    for name, word in (
        ("queue", b"PARTITION"),
        ("account", b"ACCOUNT"),
        ("user", b"USER"),
    )
}
# Lines that tell that a process ended, and nothing of why.
ENDED = re.compile(
    r"(?i)exited with (?:exit )?code|failed \(exitcode|task [\d,-]+: |JobState=|ChildFailedError|exit status"
)
STAMP = re.compile(rb"\b(20\d\d)[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)")
# The first that is found names the framework; the plain ones stand last, as the others are built on them.
FRAMEWORKS = tuple(
    (name, re2.compile(words, options()))
    for name, words in (
        ("megatron", rb"(?i)\bmegatron"),
        ("deepspeed", rb"(?i)\bdeepspeed\b"),
        ("vllm", rb"\bvllm\b"),
        ("lightning", rb"(?i)\b(?:pytorch_)?lightning\b"),
        ("hf-trainer", rb"\btransformers/|\bTrainer\b.{0,40}transformers|huggingface"),
        ("accelerate", rb"\baccelerate\b"),
        ("ray", rb"\bray::|\bray\.exceptions"),
        ("horovod", rb"(?i)\bhorovod\b"),
        ("jax", rb"\bjax(?:lib)?[./]|\bXlaRuntimeError"),
        ("tensorflow", rb"\btensorflow\b"),
        ("pytorch", rb"\btorch(?:run|\.|/)|ProcessGroupNCCL|\bNCCL "),
    )
)


@dataclass(frozen=True, slots=True)
class Reading:
    """How jobs are read.

    secret: the key of the pseudonyms; names: whether people's names stay; machine: whose facts `check` takes, empty for
    the one that the script tells.
    """

    secret: bytes
    names: bool = False
    machine: str = ""

    @property
    def mark(self) -> str:
        """What is kept was read in this way."""
        return hashlib.blake2b(self.secret + bytes([self.names]) + self.machine.encode(), digest_size=8).hexdigest()


def read_jobs(inputs: Sequence[JobInput], how: Reading) -> list[JobRecord]:
    """Each job's record, in order. A job that cannot be read has one that says so; nothing is left out."""
    return [read_job(one, how) for one in inputs]


def read_job(job: JobInput, how: Reading) -> JobRecord:
    try:
        return _read(job, how)
    except (InputError, OSError) as error:
        return JobRecord(job.name, "unknown", line=f"not read: {error}"[:200], mark="not read", source=job.shown)


def _read(job: JobInput, how: Reading) -> JobRecord:
    row, told = job.accounted, edges(job.logs)
    logs = [path for path in job.logs if path.is_file()]
    sources = [*(from_paths(logs) if logs else ()), *(source_of_state(row) if row else ())]
    state = ended_state(row) if row else ""
    found = by_state(diagnose_job(sources).diagnosis if sources else Diagnosis("no-failure", "", 0.5), state)
    found = with_last_words(found, told)
    times = moments(row, told, logs)
    record = record_of(
        found,
        job.name,
        names=how.names,
        state=state,
        submitted=submit_of(row) if row else None,
        started=times[0],
        ended=times[1],
        nodes=(nodes_of(row) if row else ()) or nodes_told(told),
        gpus=gpus_of(row) if row else world_told(told),
        framework=framework_of(told),
        machine=how.machine or (row.printed("Cluster") if row else ""),
        source=job.shown,
    )
    return with_person(with_checks(record, job, how), row, told, logs, how)


def by_state(found: Diagnosis, state: str) -> Diagnosis:
    """The scheduler's word on whether it failed, where the log does not speak plainly."""
    if state in FINE and found.cause != "no-failure" and found.confidence < PLAINLY:
        return Diagnosis("no-failure", "", found.confidence)
    if state and state not in FINE and found.cause == "no-failure":
        return Diagnosis("unknown", "", found.confidence, found.evidence)
    return found


def with_last_words(found: Diagnosis, told: bytes) -> Diagnosis:
    """Of an unknown failure that only says that it ended, the last line before the end that says something."""
    if found.cause != "unknown" or (found.evidence and not ENDED.search(found.evidence[0].text)):
        return found
    for raw in reversed(told.splitlines()[-LAST_LINES:]):
        text = message(printable(cleaned(raw).decode("utf-8", "replace")))[0]
        if text and not ENDED.search(text) and not PROGRESS.search(raw):
            return replace(found, evidence=(LogEvidence(0, hide(text)), *found.evidence))
    return found


def edges(logs: Iterable[Path]) -> bytes:
    """The first and the last EDGE bytes of each log, gone and packed ones left out."""
    parts = []
    for path in list(logs)[:MOST_FILES]:
        try:
            with open_plain(path) as file:
                parts.append(file.read(EDGE))
                size = os.fstat(file.fileno()).st_size
                if size > EDGE:
                    file.seek(max(EDGE, size - EDGE))
                    parts.append(file.read(EDGE))
        except OSError:
            continue
    return b"\n".join(parts)


def moments(row: QueuedJob | None, told: bytes, logs: Sequence[Path]) -> tuple[float | None, float | None]:
    """Start and end: by the row, else by the first and the last time that the log prints; the file's time ends it."""
    if row and (end_of(row) or start_of(row)):
        return start_of(row), end_of(row)
    stamps = [found for match in STAMP.finditer(told) if (found := _moment(match)) is not None]
    if stamps:
        return min(stamps), max(stamps)
    return None, max((path.stat().st_mtime for path in logs), default=None)


def _moment(found: re.Match[bytes]) -> float | None:
    try:
        return datetime(*(int(part) for part in found.groups())).timestamp()  # type: ignore[arg-type]
    except ValueError:
        return None


def nodes_told(told: bytes) -> tuple[str, ...]:
    if found := NODES.search(told):
        return tuple(dict.fromkeys(host_names(found[1].decode("ascii", "replace"))))
    names = (next(filter(None, match.groups())) for match in HOSTS.finditer(told))
    return tuple(dict.fromkeys(name.decode("ascii", "replace") for name in names))


def world_told(told: bytes) -> int | None:
    found = WORLD.search(told)
    return int(found[1] or found[2]) if found else None


def framework_of(told: bytes) -> str:
    return next((name for name, words in FRAMEWORKS if words.search(told)), "")


def with_checks(record: JobRecord, job: JobInput, how: Reading) -> JobRecord:
    """With the rules of `check` that the script of a failed job breaks."""
    text = job.script
    if record.failed and not text and job.scripts:
        text = read_plain(job.scripts[0], LONGEST_SCRIPT).decode("utf-8", "replace")
    if record.failed and job.accounted:
        text = as_submitted(job.accounted, text)
    return replace(record, checks=rules_broken(text, how.machine)) if record.failed and text else record


@lru_cache(maxsize=4096)
def rules_broken(script: str, machine: str) -> tuple[str, ...]:
    """The rules that find an error in the script. Jobs of a sweep share their script, so it is kept."""
    cluster = catalogue().find(machine) if machine else script_machine(script).cluster
    return tuple(dict.fromkeys(one.rule for one in check(script, cluster) if one.severity == "error"))


def with_person(record: JobRecord, row: QueuedJob | None, told: bytes, logs: Sequence[Path], how: Reading) -> JobRecord:
    """With the queue, the account and the user, the last by a pseudonym and nowhere else in the record."""
    said = {
        name: match[1].decode("ascii", "replace") for name, words in VALUES.items() if (match := words.search(told))
    }
    user = (row.user if row else "") or said.get("user", "") or owner_of(logs)
    account = (row.account if row else "") or said.get("account", "")
    queue = (row.queue if row else "") or said.get("queue", "")
    if how.names:
        return replace(record, user=user, account=account, queue=queue)
    hidden = pseudonym(user, how.secret)
    texts = {
        name: re.sub(rf"(?<![A-Za-z0-9]){re.escape(user)}(?![A-Za-z0-9])", hidden, value) if user else value
        for name, value in (("account", account), ("source", record.source), ("line", record.line), ("job", record.job))
    }
    return replace(record, user=hidden, queue=queue, **texts)  # type: ignore[arg-type]


def owner_of(logs: Sequence[Path]) -> str:
    """The owner's number of the first log, as the system knows it; no directory of people is asked for names."""
    try:
        return f"uid {logs[0].stat().st_uid}" if logs else ""
    except OSError:
        return ""


def pseudonym(user: str, secret: bytes) -> str:
    """The same for the same user wherever this site's key is used; without the key no way back."""
    return "user-" + hmac.new(secret, user.encode(), "sha256").hexdigest()[:6] if user else ""
