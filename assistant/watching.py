"""What every door of `watch` does: find the files and the time limit, look at them, ask whether the job is over."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assistant.errors import InputError
from graph.debugging.diagnosis import diagnose
from graph.debugging.log import from_text
from graph.watching.run_watch import RunWatch, WatchNotice
from graph.watching.tail import FileTail
from knowledge.opening import open_plain
from knowledge.schedulers.asking import BoundedAsking, scheduler_here
from knowledge.schedulers.live import one_job, script_of
from knowledge.schedulers.output_files import output_files
from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.times import printed_seconds

# Seconds between looks at the files, and between questions to the scheduler (it is not to be polled).
LOOK, ASK = 2.0, 120.0
# Only lines with one of these words are worth a diagnosis.
TROUBLE = re.compile(
    r"(?i)error|exception|traceback|killed|abort|segmentation|out of memory|oom|timeout|timed out|fatal"
)
NOTHING = ("no-failure", "unknown")


@dataclass(slots=True)
class Watching:
    """What is followed: files, the run's state, and the job where it is known by its id."""

    files: list[FileTail]
    run: RunWatch
    job: QueuedJob | None = None
    tail: list[str] = field(default_factory=list)
    asked: float = field(default_factory=time.monotonic)

    @property
    def name(self) -> str:
        return f"job {self.job.id}" if self.job else ", ".join(file.path.name for file in self.files)

    def look(self, now: float) -> list[WatchNotice]:
        """One look at the files: progress, and a diagnosis where a line speaks of trouble."""
        lines = [line for file in self.files for line in file.read()]
        found = self.run.feed(lines, now)
        self.tail = [*self.tail, *lines][-400:]
        return [*found, *(self.signs() if any(TROUBLE.search(line) for line in lines) else ())]

    def signs(self) -> list[WatchNotice]:
        """A known failure in the last lines, each cause once."""
        found = diagnose([from_text("\n".join(self.tail))])
        if found.cause in NOTHING or not found.evidence:
            return []
        return self.run.once(f"cause-{found.cause}", f"{found.says} ({found.cause}): {found.evidence[0].text[:200]}")

    def over(self, now: float) -> WatchNotice | None:
        """That the job has ended, asked of its scheduler every two minutes; no answer says nothing."""
        if self.job is None or now - self.asked < ASK:
            return None
        self.asked = now
        told = one_job(self.job.scheduler, self.job.id)
        if not told.jobs or told.jobs[0].phase not in ("ended", "ending"):
            return None
        return WatchNotice("over", f"job {self.job.id} is over; `maple-chat why {self.job.id}` tells how")


def started(words: Sequence[str], limit: str | None) -> Watching:
    """The files and the time limit of what is to be watched. Raises InputError."""
    now = time.monotonic()
    left = printed_seconds(limit) if limit else None
    if limit and left is None:
        raise InputError(f"--limit {limit[:20]} is no time; write HH:MM:SS, what is left until the job is stopped")
    paths = [Path(word) for word in words]
    if all(path.exists() for path in paths):
        for path in paths:
            readable(path)
        return Watching([FileTail(path) for path in paths], RunWatch(now + left if left else None))
    if len(words) > 1:
        missing = next(path for path in paths if not path.is_file())
        raise InputError(f"{missing} is no file; give a job id, or log files that are there")
    job, files = job_and_files(words[0])
    if left is None and job.limit and job.elapsed is not None:
        left = job.limit - job.elapsed
    return Watching([FileTail(path) for path in files], RunWatch(now + left if left else None), job)


def readable(path: Path) -> None:
    """Raises InputError where a file cannot be followed: later, one that cannot be read is one that is not there."""
    try:
        open_plain(path).close()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; give a log file") from error


def job_and_files(word: str) -> tuple[QueuedJob, tuple[Path, ...]]:
    """A running job and its output files. Raises InputError where there is none to watch."""
    scheduler = scheduler_here()
    if scheduler is None:
        raise InputError(f"no file {word} is here and no scheduler; give log files, or run this on the login node")
    ask = BoundedAsking()
    asked = one_job(scheduler, word, ask)
    if not asked.jobs and asked.failures:
        raise InputError(f"{asked.failures[0].says}; that says nothing of the job: give its log files, or try later")
    if not asked.jobs:
        raise InputError(f"the scheduler knows no job {word}: mistyped, or purged; give its log files")
    job = asked.jobs[0]
    if job.phase == "waiting":
        raise InputError(f"job {word} waits; `maple-chat pending {word}` tells why")
    if job.phase == "ended":
        raise InputError(f"job {word} has ended; `maple-chat why {word}` tells how")
    files = output_files(job, script_of(scheduler, job.id, ask, told=job))
    if not files:
        raise InputError(f"no output file of job {word} is here yet; give the files that it writes")
    return job, files
