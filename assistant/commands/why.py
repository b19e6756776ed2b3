"""`maple-chat why`: root cause, telling line, fix."""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.errors import InputError
from assistant.models.wanted import add_model_option, wanted_models
from assistant.printing.plain import as_text
from assistant.reading import json_cases, left_out, listed, shown_script
from graph.debugging.answer import SCHEMA_VERSION, as_json
from graph.debugging.diagnosis import diagnose
from graph.debugging.flight_recorder import Dump, find_hang, take_dumps
from graph.debugging.jobs import JobFiles, jobs
from graph.debugging.log import LogSource, from_paths, from_text
from knowledge.opening import open_plain
from knowledge.schedulers.asking import scheduler_here
from knowledge.types import Diagnosis, Finding

if TYPE_CHECKING:
    from graph.modelling.asking import Models
    from graph.usecases.mend_script import Mended

NO_FAILURE = "no-failure"
# So many jobs are answered in full, more in a line each.
FEW_JOBS = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Why a job failed: root cause, telling line, fix. Exit: 0 no failure, 1 failure found, 2 bad input."
    )
    parser.add_argument(
        "log",
        nargs="*",
        help="log files (one a rank, .gz too) or folders; several jobs are told apart; the "
        "flight recorder's dumps, or their folder; a job id, on the cluster; none there: my last failed job; "
        "- (elsewhere none): standard input",
    )
    parser.add_argument("--json", action="store_true", help="answer as JSON")
    parser.add_argument("--jsonl", action="store_true", help='read {"id", "log"} lines, answer one JSON line each')
    parser.add_argument("--machine", metavar="M", help="the machine it ran on: steps and sources for it")
    parser.add_argument("--script", metavar="FILE", type=Path, help="the job's script: corrected where that is safe")
    add_model_option(parser)


def run(options: argparse.Namespace) -> int:
    models = wanted_models(options)
    if options.jsonl:
        return run_lines(options.log, models)
    if len(options.log) == 1 and is_job_id(options.log[0]):
        from assistant.job_report import why_job

        return why_job(options.log[0], options, models)
    if not options.log and sys.stdin.isatty() and scheduler_here():
        from assistant.job_report import why_last

        return why_last(options, models)
    paths = [word for word in options.log if word != "-"]
    dumps, logs = take_dumps([Path(word) for word in paths])
    if dumps:
        return answer_hang(dumps, logs, options.json)
    script = shown_script(str(options.script)) if options.script else ""
    found = listed(lambda: jobs([Path(p) for p in paths])) if paths else [JobFiles("", ())]
    if len(found) > 1 and (options.machine or script):
        raise InputError(f"the files are of {len(found)} jobs; give those of one job with --machine or --script")
    if len(found) > 1:
        return answer_jobs(found, options.json, models)
    diagnosis = of_job(found[0], models) if paths else diagnosed([LogSource(None, stream=sys.stdin.buffer)], models)
    words, value = as_text(diagnosis), as_json(diagnosis)
    if options.machine or script:
        words, value = with_facts(diagnosis, options.machine, script, options.script)
    print(json.dumps(value, indent=2) if options.json else words)
    return 0 if diagnosis.cause == NO_FAILURE else 1


def answer_hang(dumps: Sequence[Dump], logs: Sequence[Path], as_values: bool) -> int:
    """What dumps of the flight recorder show. Raises InputError where they are of one rank only, or logs came too."""
    found = find_hang(dumps)
    if found is None:
        raise InputError("one rank's dump tells nothing; give those of all ranks, or their folder")
    if logs:
        raise InputError(f"give the dumps and the logs apart: {logs[0]} is no dump")
    words = "\n".join(found.says)
    value = {"behind": {str(rank): by for rank, by in found.behind.items()}, "without_dump": list(found.without)}
    print(json.dumps({**value, "says": list(found.says)}, indent=2) if as_values else words)
    return 1


def is_job_id(word: str) -> bool:
    """Whether the word is a job's id, and no file of that name is here."""
    return bool(re.fullmatch(r"\d+(?:[_.\[]\S*)?|[ƒf][1-9A-HJ-NP-Za-km-z]{6,}", word)) and not Path(word).exists()


def answer_jobs(found: Sequence[JobFiles], as_values: bool, models: Models | None) -> int:
    """Several jobs, each judged by its own files: a line for each, and the whole answer where they are few."""
    judged = list(of_jobs(found, models))
    failed = any(diagnosis.cause != NO_FAILURE for _, diagnosis in judged)
    if as_values:
        each = [{"job": job.name, "files": [str(p) for p in job.paths], **as_json(d)} for job, d in judged]
        print(json.dumps({"schema": SCHEMA_VERSION, "jobs": each}, indent=2))
        return int(failed)
    print(f"{len(judged)} jobs, each judged by its own files")
    for job, diagnosis in judged:
        files = str(job.paths[0]) if len(job.paths) == 1 else f"{len(job.paths)} files"
        print(f"  {job.name} ({files}): {diagnosis.cause}")
    if len(judged) > FEW_JOBS:
        print("\nMore about one job: `maple-chat why FILE ...` with its files.")
        return int(failed)
    for job, diagnosis in judged:
        print(f"\n== {job.name} ==\n{as_text(diagnosis)}")
    return int(failed)


def of_jobs(found: Sequence[JobFiles], models: Models | None) -> Iterator[tuple[JobFiles, Diagnosis]]:
    """Each by its own files; one whose files are all gone by then is left out."""
    for job in found:
        try:
            yield job, of_job(job, models)
        except InputError as error:
            if any(path.exists() for path in job.paths):
                raise
            print(f"maple-chat: {job.name} is left out: {error}", file=sys.stderr)


def of_job(job: JobFiles, models: Models | None) -> Diagnosis:
    """By the files of the job that are still there when they are read."""
    diagnosis, gone = left_out(job.paths, lambda paths: diagnosed(from_paths(paths), models))
    if gone:
        print(f"maple-chat: {gone} of {len(job.paths)} files went away while they were read", file=sys.stderr)
    return diagnosis


def diagnosed(sources: Sequence[LogSource], models: Models | None) -> Diagnosis:
    """What the rules find; where they are not sure, with what the model reads in it."""
    if models is None:
        return diagnose(sources)
    from graph.modelling.diagnosing import help_with

    kept = [(source, source.stream.read() if source.stream else b"") for source in sources]
    first, second = (
        [LogSource(s.name, s.path, io.BytesIO(data) if s.stream else None) for s, data in kept] for _ in "12"
    )
    helped = help_with(diagnose(first), second, models)
    if helped.trouble:
        print(f"maple-chat: {helped.trouble}", file=sys.stderr)
    return helped.diagnosis


def with_facts(
    diagnosis: Diagnosis, machine: str | None, script: str, path: Path | None
) -> tuple[str, dict[str, object]]:
    """The answer for a machine and a script. Loaded only here: the facts and the reader of scripts cost 50 ms."""
    from graph.usecases.diagnose_job import report_of
    from knowledge.catalogue import catalogue

    cluster = catalogue().named(machine) if machine else None
    report = report_of(diagnosis, script, cluster, name=path.name if path else "script")
    value: dict[str, object] = as_json(report.diagnosis)
    words, cured = as_text(report.diagnosis), report.mended
    if script and cured:
        offers = [{"says": o.says, "price": o.price, "diff": difference(script, o.script)} for o in cured.offers]
        value["correction"] = mended_json(cured) if cured.diff else None
        value["offers"] = offers
        words += mended_words(cured) + "".join(offered_words(one) for one in offers)
    elif script:
        value["correction"] = None
    return words, value


def mended_json(cured: Mended) -> dict[str, object]:
    return {"says": cured.says, "diff": cured.diff, "findings": [asdict(one) for one in cured.findings]}


def mended_words(cured: Mended) -> str:
    """The cure in a sentence, the difference, and what the checks say of the script."""
    if not cured.diff:
        return "" if cured.offers else NOT_CORRECTED
    return f"\n\nthe script, corrected: {cured.says}\n{cured.diff}" + checked_words(cured.findings)


def offered_words(offer: dict[str, str]) -> str:
    """A cure that costs is shown and not done."""
    price = f" (costs: {offer['price']})" if offer["price"] else ""
    return f"\n\nwhat would help, if you want it: {offer['says']}{price}\n{offer['diff']}".rstrip()


def difference(before: str, after: str) -> str:
    from graph.usecases.mend_script import difference as lines

    return lines(before, after, "script") if after else ""


def checked_words(left: Sequence[Finding]) -> str:
    """What the checks say of the corrected script."""
    if not left:
        return "\n\nchecked: no error is left that its text shows (`maple-chat rehearse` runs it here)"
    return "\n\nthe check still finds:" + "".join(f"\n  line {one.line}: {one.says}" for one in left)


NOT_CORRECTED = "\n\nthe script is left as it is: what to change there needs your decision"


def run_lines(words: list[str], models: Models | None = None) -> int:
    """One JSON object a line in and out. A line that is no such object is an error."""
    if words and words[0] != "-":
        try:
            with open_plain(words[0]) as stream:
                return answer_lines(stream, models)
        except OSError as error:
            raise InputError(f"cannot read {words[0]}: {error.strerror}; give a file of JSON lines") from error
    return answer_lines(sys.stdin.buffer, models)


def answer_lines(lines: Iterable[bytes], models: Models | None = None) -> int:
    for name, log in json_cases(lines, "log"):
        print(json.dumps({"id": name, **as_json(diagnosed([from_text(log)], models))}), flush=True)
    return 0
