"""`maple-chat report`: what failed, of what, where and at what cost; over folders of logs or the accounting."""

from __future__ import annotations

import argparse
import json
import re
import secrets
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path

from assistant.errors import InputError, UnavailableError
from assistant.printing.report_page import numbers, page, span_of
from assistant.progress import ProgressCallback
from assistant.reading import listed
from assistant.settings import read_settings
from graph.debugging.log import printable
from graph.reporting.dask_workers import DaskReader, DaskWanted, dask_client, has_dask
from graph.reporting.inputs import JobInput, from_accounting, from_folders
from graph.reporting.kept import KeptRecords
from graph.reporting.reading import FINE, Reading
from graph.reporting.report import FailureReport
from graph.reporting.table_file import usual_ending, write_table
from graph.usecases.report_failures import Read, read_here, report_failures
from graph.waiting.ended import ended_state
from knowledge.errors import database_words
from knowledge.opening import read_plain
from knowledge.schedulers.accounting import Accounted, end_of, ended_since, read_accounting, scripts_of
from knowledge.schedulers.asking import scheduler_here
from knowledge.schedulers.records import QueuedJob

UNITS = {"h": 3600, "d": 86_400, "w": 7 * 86_400}
# With fewer jobs the start of a local cluster costs more than it saves.
LARGE = 2_000
LARGEST_ACCOUNTING = 2_000_000_000
SHOWN = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "The failures of many jobs: by cause, day, node, queue, framework, account and user, with the GPU hours in "
        "them, the nodes that chance does not explain, what is new, and what `check` would have named. Writes one HTML "
        "page and a table of all jobs; reads only what it has not read before. Exit: 0 written, 2 bad input."
    )
    parser.add_argument("folder", nargs="*", type=Path, help="folders of logs; none: the accounting of the scheduler")
    parser.add_argument("--since", metavar="7d", help="jobs that ended since: 12h, 7d, 4w or a date (with none: 7d)")
    parser.add_argument("--accounting", metavar="FILE", type=Path, help="what `sacct -P` printed, to join with folders")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, default=Path("failures.html"), help="the page")
    parser.add_argument("--table", metavar="FILE", type=Path, help="all jobs, .parquet or .csv (default: beside it)")
    parser.add_argument("--names", action="store_true", help="people's names as they are; without it pseudonyms")
    parser.add_argument("--machine", metavar="M", default="", help="whose facts `check` takes for the scripts")
    parser.add_argument("--again", action="store_true", help="read all logs anew, also those that did not change")
    parser.add_argument("--slack", metavar="CHANNEL", help="post the digest there too (SLACK_BOT_TOKEN, extra `slack`)")
    parser.add_argument("--keep", action="store_true", help="put the failures where the bot looks for incidents")
    parser.add_argument("--json", action="store_true", help="the counts as JSON on stdout")
    more = parser.add_argument_group("on more than one processor (extra `report`)")
    more.add_argument(
        "--dask", metavar="WHERE", help="local (usual for many jobs), no, slurm, pbs, lsf, or a scheduler's address"
    )
    more.add_argument("--workers", metavar="N", type=int, default=0, help="how many (processors here; 4 batch jobs)")
    more.add_argument("--queue", default="", help="the queue of the workers' jobs")
    more.add_argument("--account", default="", help="the account of the workers' jobs")
    more.add_argument("--walltime", default="", metavar="HH:MM:SS", help="of the workers' jobs")


def run(options: argparse.Namespace) -> int:
    settings = read_settings()
    if options.keep and options.names:
        raise InputError("--keep takes no names: leave --names out, or make a second report")
    table = options.table or options.output.with_suffix(usual_ending())
    for path in (options.output, table):  # reading takes minutes: what cannot be written is said before
        if not path.parent.is_dir():
            raise InputError(f"there is no folder {path.parent}; make it, or give another -o or --table")
    inputs = wanted_jobs(options)
    if not inputs:
        raise InputError("no job is in what was given; give folders of logs, or a longer --since")
    how = Reading(pseudonym_key(settings.data / "report.key"), options.names, options.machine)
    try:
        with closing(KeptRecords(settings.data / "report.sqlite")) as kept:
            if options.again:
                kept.forget(one.key for one in inputs)
            with reader(options, len(inputs)) as read, ProgressCallback() as progress:
                report, records = report_failures(inputs, how, kept, read, progress)
    except sqlite3.Error as error:
        raise UnavailableError(
            f"what was read cannot be kept in {settings.data} ({database_words(error)}); free space there"
        ) from error
    try:
        options.output.write_text(page(report), encoding="utf-8")
        write_table(records, table)
    except OSError as error:
        raise InputError(f"cannot write {error.filename} ({error.strerror}); give another -o or --table") from error
    except ImportError as error:
        raise UnavailableError("Parquet needs the extra `report` (pyarrow); give --table NAME.csv") from error
    if options.keep:
        from assistant.past import keep_jobs

        print(f"maple-chat: {keep_jobs(settings, records)} failures are kept for incidents", file=sys.stderr)
    trouble = digest_of(report, settings.data, options.slack)
    print(json.dumps(as_json(report), indent=2) if options.json else words(report, options.output, table))
    if trouble:
        raise UnavailableError(f"the report is written, its digest is not posted: {trouble}")
    return 0


def digest_of(report: FailureReport, data: Path, channel: str | None) -> str:
    """Keep the digest for `/maple report`, and post it where that was asked; why it was not posted, or empty."""
    if find_spec("slack_sdk") is None:
        return "it needs the extra `slack`" if channel else ""
    from assistant.slack.digest import keep_digest, make_digest, post_from_here
    from assistant.slack.settings import read_slack_settings

    digest = make_digest(report)
    keep_digest(digest, data)
    if not channel:
        return ""
    slack = read_slack_settings()
    token = slack.bot_token.get_secret_value()
    return post_from_here(slack.api, token, channel, digest) if token else "set SLACK_BOT_TOKEN"


def wanted_jobs(options: argparse.Namespace) -> list[JobInput]:
    """The jobs of the folders, of the accounting, or of both joined. Raises InputError, UnavailableError."""
    since = moment_since(options.since)
    if options.folder:
        rows: tuple[QueuedJob, ...] = accounting_file(options.accounting) if options.accounting else ()
        found = listed(lambda: from_folders(options.folder, rows))
        return [one for one in found if since is None or ended(one) >= since]
    if options.accounting:
        rows = tuple(job for job in accounting_file(options.accounting) if since is None or (end_of(job) or 0) >= since)
        return from_accounting(rows, {})
    asked = asked_accounting(since if since is not None else time.time() - 7 * UNITS["d"])
    # A script tells where the output is, where the scheduler does not; and what `check` says of a failed job.
    needed = [job for job in asked.jobs if ended_state(job) not in FINE or not job.printed("StdOut")]
    return from_accounting(asked.jobs, scripts_of(needed))


def asked_accounting(since: float) -> Accounted:
    scheduler = scheduler_here()
    if scheduler is None:
        raise InputError("no scheduler is here to ask; give folders of logs, or run this on the login node")
    asked = ended_since(scheduler, since)
    for failure in asked.failures:
        raise UnavailableError(
            f"`{printable(failure.command)[:60]}` could not be asked ({failure.why}); give folders of logs"
        )
    return asked


def accounting_file(path: Path) -> tuple[QueuedJob, ...]:
    try:
        rows = read_accounting(read_plain(path, LARGEST_ACCOUNTING).decode("utf-8", "replace"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; give what `sacct -P` printed") from error
    if not rows:
        raise InputError(f"{path} holds no jobs of an accounting; give what `sacct -a -X -P -o ...` printed")
    return rows


def ended(job: JobInput) -> float:
    """When a job ended, before its logs are read: by its row, else by the time of its files."""
    told = end_of(job.accounted) if job.accounted else None
    return told if told is not None else max((path.stat().st_mtime for path in job.logs if path.exists()), default=0.0)


def moment_since(text: str | None) -> float | None:
    if not text:
        return None
    if found := re.fullmatch(r"(\d+)([hdw])", text):
        return time.time() - int(found[1]) * UNITS[found[2]]
    try:
        return time.mktime(time.strptime(text, "%Y-%m-%d"))
    except ValueError as error:
        raise InputError(f"--since {text[:40]}: give 12h, 7d, 4w or a date such as 2026-11-13") from error


@contextmanager
def reader(options: argparse.Namespace, jobs: int) -> Iterator[Read]:
    """How the logs are read: here, or by the workers that were asked for; what their jobs print lies by the page."""
    where = options.dask or ("local" if jobs >= LARGE and has_dask() else "no")
    if where == "no":
        yield read_here
        return
    print(f"maple-chat: reading {jobs} jobs with Dask ({where})", file=sys.stderr)
    outputs = options.output.resolve().parent / "dask-workers"
    wanted = DaskWanted(where, options.workers, options.queue, options.account, options.walltime, outputs)
    with dask_client(wanted) as client:
        yield DaskReader(client)


def pseudonym_key(path: Path) -> bytes:
    """The site's own key, made once: the same person has the same pseudonym in every report."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        path.touch(mode=0o600)
        path.write_bytes(secrets.token_bytes(16))
        return path.read_bytes()


def words(report: FailureReport, where: Path, table: Path) -> str:
    """The first screen of the report, for a terminal."""
    lines = [span_of(report)]
    lines.append(", ".join(f"{value} {what}" for value, what in numbers(report)))
    lines += [f"- {printable(says)}" for says, _ in report.findings]
    causes = next((one for one in report.tables if one.id == "causes"), None)
    for row in causes.rows[:SHOWN] if causes else ():
        lines.append(f"  {row.cells[0]:<26} {row.cells[1]:>6,} failed {row.cells[3]:>10,} GPU hours")
    lines += [f"note: {note}" for note in report.notes]
    lines.append(f"written: {where} (open it in a browser), {table} (every job)")
    return "\n".join(lines)


def as_json(report: FailureReport) -> dict[str, object]:
    tables = {
        one.id: {"columns": list(one.columns), "rows": [list(row.cells) for row in one.rows]} for one in report.tables
    }
    return {
        "schema": 1,
        "jobs": report.jobs,
        "failed": len(report.failed),
        "cancelled": report.cancelled,
        "gpu_hours": round(report.gpu_hours, 1),
        "gpu_hours_lost": round(report.gpu_hours_lost, 1),
        "findings": [says for says, _ in report.findings],
        "notes": list(report.notes),
        "tables": tables,
    }
