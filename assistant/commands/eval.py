"""`maple-chat eval`: how often it is right, on labelled cases of anyone's."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from assistant.errors import InputError
from assistant.evaluating.case_types import TYPES
from assistant.evaluating.cases import read_sets
from assistant.evaluating.figures import compare
from assistant.evaluating.judging import Bench
from assistant.evaluating.printing import compared_text, misses_text, page, table_text
from assistant.evaluating.runs import RunResult, as_json, read_run, run_sets
from assistant.models.wanted import add_model_option, wanted_models
from assistant.printing.terminal import overwrite
from assistant.settings import Settings, read_settings

EXIT_FINE, EXIT_NO = 0, 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Runs labelled cases (requests, dialogues, sentences, scripts, logs, waiting jobs, questions, conversations) "
        "and tells how many come out right, with 95 % intervals. Nothing leaves this computer but what --model sends "
        "to the model that you set. Exit: 0 measured, 1 a case of --compare was lost, 2 bad input."
    )
    parser.add_argument("cases", nargs="+", type=Path, metavar="CASES", help="folders or files; or a run (RUN.json)")
    parser.add_argument("--only", choices=TYPES, default="", help="only cases of that type")
    parser.add_argument("--misses", action="store_true", help="each case that came out wrong, and what was wanted")
    parser.add_argument("--compare", type=Path, metavar="RUN.json", help="what changed since that run (of --json)")
    parser.add_argument("--json", action="store_true", help="figures and every case as JSON: a run to compare with")
    parser.add_argument("--markdown", action="store_true", help="the page that docs/accuracy.md is")
    add_model_option(parser)


def run(options: argparse.Namespace) -> int:
    result = measured(options)
    before = read_run(options.compare) if options.compare else None
    if options.markdown:
        print(page(result, options.cases[0]), end="")
        return EXIT_FINE
    found = compare(rights(before), rights(result)) if before else None
    if options.json:
        more = {"compared": asdict(found)} if found else {}
        print(json.dumps({**as_json(result), **more}, ensure_ascii=False))
    else:
        print(table_text(result))
        print(misses_text(result) if options.misses else "", end="")
        print(compared_text(found) if found else "", end="")
    return EXIT_NO if found and found.lost else EXIT_FINE


def measured(options: argparse.Namespace) -> RunResult:
    """The cases, run now; or the run that was given in their place."""
    if len(options.cases) == 1 and options.cases[0].suffix == ".json":
        return read_run(options.cases[0])
    if any(path.suffix == ".json" for path in options.cases):
        raise InputError("a run (RUN.json) is given alone; cases are folders, .jsonl, .txt or .log files")
    given, models = read_settings(), wanted_models(options)
    # A case has a data folder of its own, in which no test of the model is kept: what was measured goes with it.
    by = (
        {"model_leads": "always" if models.leads() else "never"}
        if models
        else {"model_small": "", "model_large": "", "model_backend": "none"}
    )
    bench = Bench(
        models,
        lambda folder: Settings.model_validate({**dict(given), **by, "data": folder, "database": "", "web": "never"}),
    )
    result = run_sets(read_sets(options.cases), bench, options.only, progress)
    progress("")
    return result


def progress(words: str) -> None:
    """In one line that is written over, where somebody watches."""
    if sys.stderr.isatty():
        overwrite(words)


def rights(result: RunResult) -> dict[tuple[str, str], bool]:
    return {case.key: case.right for case in result.cases}
