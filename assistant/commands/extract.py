"""The fields read from a request or from a script; a model only with --model."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from assistant.errors import InputError
from assistant.models.wanted import add_model_option, wanted_models
from assistant.reading import argument_text, shown_script
from knowledge.data_file import parse_json
from knowledge.types import JobRequest, Understood

if TYPE_CHECKING:
    from graph.modelling.asking import Models

Record = Mapping[str, Any]
HIDDEN = frozenset({"heard"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="?", metavar="TEXT", help="the request in your own words; - reads standard input")
    parser.add_argument(
        "--script", nargs="?", const="-", metavar="FILE", help="read a job script instead (- or none: standard input)"
    )
    parser.add_argument("--json", action="store_true", help="print the record as JSON")
    parser.add_argument(
        "--jsonl", action="store_true", help="read JSON lines with id and text, turns or script; answer in JSON lines"
    )
    add_model_option(parser)


def run(options: argparse.Namespace) -> int:
    models = wanted_models(options)
    if options.jsonl:
        return run_lines(sys.stdin, script_record if options.script else partial(message_record, models=models))
    if options.script:
        return run_script(options.script, options.json)
    return run_text(options.text, options.json, models)


def run_text(argument: str | None, as_json: bool, models: Models | None = None) -> int:
    text = argument_text(argument or "")
    if not text.strip():
        raise InputError("no text; say what to run and where, e.g. 'FSDP on Perlmutter, 4 nodes'")
    understood = understand_one(text, models=models)
    reading = reading_of(text, understood)
    print(json.dumps({**answer(understood), **reading}, ensure_ascii=False) if as_json else table(understood, reading))
    return 0


def run_script(argument: str, as_json: bool) -> int:
    record = script_answer(shown_script(argument))
    if as_json:
        print(json.dumps(record, ensure_ascii=False))
        return 0
    rows = [("intent", str(record["intent"]))]
    rows += [(name, str(value)) for name, value in record["fields"].items() if value is not None]
    width = max(len(name) for name, _ in rows)
    print("\n".join(f"{name:<{width}}  {value}".rstrip() for name, value in rows))
    if record["missing"]:
        print(f"missing: {', '.join(record['missing'])}")
    return 0


def run_lines(lines: Iterable[str], reader: Callable[[Record], Record]) -> int:
    """One JSON object a line in, one a line out, in order. Raises InputError on a line that is not an object."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            print(json.dumps(reader(parse_record(line, number)), ensure_ascii=False), flush=True)
    return 0


def parse_record(line: str, number: int) -> Record:
    try:
        record = parse_json(line)
    except ValueError as error:
        raise InputError(f"line {number} of standard input is not JSON: {error}") from error
    if not isinstance(record, dict):
        raise InputError(f'line {number} of standard input is not a JSON object; write {{"id": ..., "text": ...}}')
    return record


def script_record(record: Record) -> Record:
    """{"id", "script"} -> the fields; a text that is no script has none, and the reason in `error`."""
    try:
        return {"id": record.get("id"), **script_answer(str(record.get("script") or ""))}
    except InputError as error:
        return {"id": record.get("id"), "intent": "port", "fields": {}, "missing": [], "error": str(error)}


def script_answer(text: str) -> Record:
    from graph.extraction.script_record import missing_fields, understand_script

    record = understand_script(text)
    return {"intent": "port", "fields": asdict(record), "missing": list(missing_fields(record))}


def message_record(record: Record, models: Models | None = None) -> Record:
    """{"id", "text"} or {"id", "turns", "asked", "options"} -> the fields, for turns one answer a turn."""
    if "turns" in record:
        return {"id": record.get("id"), "turns": list(read_turns(record, models))}
    text = str(record.get("text") or "")
    understood = understand_one(text, models=models)
    return {"id": record.get("id"), **answer(understood), **reading_of(text, understood)}


def read_turns(record: Record, models: Models | None = None) -> Iterable[Record]:
    turns: Sequence[Any] = record["turns"]
    asked = list(record.get("asked") or []) + [None] * len(turns)
    offered = list(record.get("options") or []) + [None] * len(turns)
    before: JobRequest | None = None
    for text, field, options in zip(turns, asked, offered, strict=False):
        understood = understand_one(str(text or ""), before, field, options, models)
        before = understood.request
        yield answer(understood)


def understand_one(
    text: str,
    before: JobRequest | None = None,
    asked: str | None = None,
    options: Sequence[str] | None = None,
    models: Models | None = None,
) -> Understood:
    from graph.extraction.request import missing, understand

    understood = understand(text, before, asked, options)
    if models is None or understood.intent not in ("generate", "port"):
        return understood
    from graph.modelling.extracting import fill
    from knowledge.catalogue import catalogue

    request = fill(text, understood.request, catalogue(), models).request
    return replace(understood, request=request, missing=missing(request))


def answer(understood: Understood) -> Record:
    """The record that `--json` prints."""
    return {
        "intent": understood.intent,
        "fields": request_fields(understood.request),
        "missing": list(understood.missing),
        "unplaced": list(understood.left),
    }


def reading_of(text: str, understood: Understood) -> Record:
    """What the message is for, and where it can be read in two ways: the reading taken comes first."""
    from graph.reading.doubts import find_doubts
    from graph.reading.reader import read_as_one
    from graph.reading.utterance import ThreadView

    clause = read_as_one(text, ThreadView())
    return {
        "act": clause.act,
        "topic": clause.topic or None,
        "doubts": [{"field": d.field, "readings": list(d.readings)} for d in find_doubts(text, understood)],
    }


def request_fields(request: JobRequest) -> dict[str, Any]:
    found = {name: value for name, value in asdict(request).items() if name not in HIDDEN}
    found["entry"] = request.entry.removeprefix("-m ") if request.entry else None
    return found


def table(understood: Understood, reading: Record) -> str:
    """Field, value, the words it came from; then what is missing, and what can be read otherwise."""
    words = {heard.field: heard.words for heard in understood.request.heard}
    rows: list[tuple[str, str, str]] = [("intent", understood.intent, "")]
    rows += [
        (n, str(v), words.get(n, "")) for n, v in request_fields(understood.request).items() if v not in (None, ())
    ]
    widths = [max(len(row[i]) for row in rows) for i in (0, 1)]
    lines = [f"{n:<{widths[0]}}  {v:<{widths[1]}}  {w}".rstrip() for n, v, w in rows]
    if understood.missing:
        lines.append(f"missing: {', '.join(understood.missing)}")
    if understood.left:
        lines.append(f"not placed: {'; '.join(understood.left)}")
    for doubt in reading["doubts"]:
        lines.append(f"in doubt: {doubt['field']} ({' or '.join(map(str, doubt['readings']))})")
    return "\n".join(lines)
