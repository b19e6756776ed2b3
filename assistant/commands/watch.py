"""`maple-chat watch`: follow a running job's output, and tell the first sign of trouble."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assistant.errors import InputError
from graph.debugging.diagnosis import diagnose
from graph.debugging.log import from_text
from graph.watching.run_watch import RunWatch, WatchNotice
from graph.watching.tail import FileTail
from knowledge.opening import open_plain
from knowledge.schedulers.asking import scheduler_here
from knowledge.schedulers.live import one_job, script_of
from knowledge.schedulers.output_files import output_files
from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.times import printed_seconds

# Seconds between looks at the files, status lines, and questions to the scheduler (it is not to be polled).
LOOK, STATUS, ASK = 2.0, 60.0, 120.0
# Only lines with one of these words are worth a diagnosis.
TROUBLE = re.compile(
    r"(?i)error|exception|traceback|killed|abort|segmentation|out of memory|oom|timeout|timed out|fatal"
)
NOTHING = ("no-failure", "unknown")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Follow a running job or growing log files: pace, loss, when it ends against its time "
        "limit, and the first sign "
        "of trouble, each once. Exit: 0 nothing was wrong, 1 trouble was told, 2 bad input."
    )
    parser.add_argument("job", nargs="+", help="a job id (on the cluster), or the log files of one run")
    parser.add_argument("--limit", metavar="HH:MM:SS", help="the time that is left until it is stopped")
    parser.add_argument("--for", dest="minutes", type=float, metavar="MINUTES", help="watch so long, then end")
    parser.add_argument("--notify", action="store_true", help="ring the terminal's bell with each sign of trouble")
    parser.add_argument("--json", action="store_true", help="a JSON line for each thing told")


@dataclass(slots=True)
class Watching:
    """What is followed: files, the run's state, and the job where it is known by its id."""

    files: list[FileTail]
    run: RunWatch
    job: QueuedJob | None = None
    tail: list[str] = field(default_factory=list)


def run(options: argparse.Namespace) -> int:
    watching = started(options.job, options.limit)
    until = time.monotonic() + options.minutes * 60 if options.minutes else None
    try:
        return follow(watching, lambda notice: tell(notice, options.json, options.notify), until, options.json)
    except KeyboardInterrupt:
        return int(bool(watching.run.told))


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
    asked = one_job(scheduler, word)
    if not asked.jobs:
        why = f" ({asked.failures[0].why})" if asked.failures else ""
        raise InputError(f"the scheduler tells of no job {word}{why}; give its log files")
    job = asked.jobs[0]
    if job.phase == "waiting":
        raise InputError(f"job {word} waits; `maple-chat pending {word}` tells why")
    if job.phase == "ended":
        raise InputError(f"job {word} has ended; `maple-chat why {word}` tells how")
    files = output_files(job, script_of(scheduler, job.id))
    if not files:
        raise InputError(f"no output file of job {word} is here yet; give the files that it writes")
    return job, files


def follow(watching: Watching, told: Callable[[WatchNotice], None], until: float | None, as_json: bool) -> int:
    """Look until the job is over, the time is up or somebody stops it; 1 where trouble was told."""
    shown = asked = time.monotonic()
    look(watching, told)
    print_status(watching, as_json)
    while until is None or time.monotonic() < until:
        time.sleep(LOOK if until is None else min(LOOK, max(0.05, until - time.monotonic())))
        look(watching, told)
        now = time.monotonic()
        if now - shown >= STATUS:
            print_status(watching, as_json)
            shown = now
        if watching.job and now - asked >= ASK:
            asked = now
            if over(watching.job):
                told(
                    WatchNotice("over", f"job {watching.job.id} is over; `maple-chat why {watching.job.id}` tells how")
                )
                break
    print_status(watching, as_json)
    return int(bool(watching.run.told - {"over"}))


def look(watching: Watching, told: Callable[[WatchNotice], None]) -> None:
    """One look at the files: progress, and a diagnosis where a line speaks of trouble."""
    now = time.monotonic()
    lines = [line for file in watching.files for line in file.read()]
    for notice in watching.run.feed(lines, now):
        told(notice)
    watching.tail = [*watching.tail, *lines][-400:]
    if any(TROUBLE.search(line) for line in lines):
        for notice in signs(watching):
            told(notice)


def signs(watching: Watching) -> list[WatchNotice]:
    """A known failure in the last lines, each cause once."""
    found = diagnose([from_text("\n".join(watching.tail))])
    if found.cause in NOTHING or not found.evidence:
        return []
    return watching.run.once(f"cause-{found.cause}", f"{found.says} ({found.cause}): {found.evidence[0].text[:200]}")


def over(job: QueuedJob) -> bool:
    """Whether the scheduler says that it has ended; no answer says nothing."""
    asked = one_job(job.scheduler, job.id)
    return bool(asked.jobs) and asked.jobs[0].phase in ("ended", "ending")


def tell(notice: WatchNotice, as_json: bool, bell: bool) -> None:
    at = time.strftime("%H:%M:%S")
    if as_json:
        print(json.dumps({"time": at, "key": notice.key, "says": notice.text}), flush=True)
    else:
        print(f"{at} ! {notice.text}", flush=True)
    if bell and sys.stderr.isatty():
        print("\a", end="", file=sys.stderr, flush=True)


def print_status(watching: Watching, as_json: bool) -> None:
    run = watching.run
    says = run.line(time.monotonic())
    if as_json:
        value = {"time": time.strftime("%H:%M:%S"), "key": "status", "says": says, "step": run.step, "total": run.total}
        print(json.dumps(value | {"loss": run.loss, "seconds_a_step": run.seconds_a_step}), flush=True)
    else:
        print(f"{time.strftime('%H:%M:%S')}   {says}", flush=True)
