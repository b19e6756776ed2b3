"""`maple-chat why`: root cause, telling line, fix."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from assistant.errors import InputError
from graph.debugging.answer import as_json, as_text
from graph.debugging.diagnosis import diagnose
from graph.debugging.log import Source, from_paths

NO_FAILURE = "no-failure"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Why a job failed: root cause, telling line, fix. Exit: 0 no failure, 1 failure found, 2 bad input."
    )
    parser.add_argument("log", nargs="*", help="log files (one a rank, .gz too) or folders; - or none: standard input")
    parser.add_argument("--json", action="store_true", help="answer as JSON")
    parser.add_argument("--jsonl", action="store_true", help='read {"id", "log"} lines, answer one JSON line each')


def run(options: argparse.Namespace) -> int:
    if options.jsonl:
        return run_lines(options.log)
    paths = [word for word in options.log if word != "-"]
    sources = from_paths([Path(p) for p in paths]) if paths else [Source(None, stream=sys.stdin.buffer)]
    diagnosis = diagnose(sources)
    print(json.dumps(as_json(diagnosis), indent=2) if options.json else as_text(diagnosis))
    return 0 if diagnosis.cause == NO_FAILURE else 1


def run_lines(words: list[str]) -> int:
    """One JSON object a line in and out. A line that is no such object is an error."""
    if words and words[0] != "-":
        with Path(words[0]).open("rb") as stream:
            return answer_lines(stream)
    return answer_lines(sys.stdin.buffer)


def answer_lines(lines: Iterable[bytes]) -> int:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            case = json.loads(line)
            name, log = case["id"], case["log"]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f'line {number} is no JSON object with "id" and "log"; write one a line') from error
        print(json.dumps({"id": name, **as_json(diagnose(str(log)))}), flush=True)
    return 0
