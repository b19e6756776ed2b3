"""`maple-chat feedback`: what people said of answers, as labelled cases; and what an answer should have been."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.errors import InputError, UnavailableError

if TYPE_CHECKING:
    from assistant.slack.feedback import LabelledCase

EXIT_FINE, EXIT_NO = 0, 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "export: print the cases, one JSON object a line. correct: say what an answer should have been."
    )
    parser.add_argument("action", choices=["export", "correct"])
    parser.add_argument("-o", "--output", metavar="FILE", help="write into FILE instead")
    parser.add_argument("--since", default="", metavar="YYYY-MM-DD", help="only what was said since that day")
    parser.add_argument("--verdict", choices=["helpful", "wrong"], default="", help="only such ones")
    said = parser.add_argument_group("for correct")
    said.add_argument("--thread", metavar="ID", default="", help="the conversation whose answer is meant")
    said.add_argument(
        "--turn", metavar="N", type=int, default=0, help="which of its answers (default: its newest cause)"
    )
    said.add_argument("--cause", metavar="C", default="", help="what it was: an id, as `why` prints them")
    said.add_argument("--fix", metavar="TEXT", default="", help="what cured it")
    said.add_argument("--line", metavar="TEXT", default="", help="the line of the log that shows it")
    said.add_argument("--helpful", action="store_true", help="the answer was right (and --fix says what cured it)")


def run(options: argparse.Namespace) -> int:
    return correct(options) if options.action == "correct" else export(options)


def correct(options: argparse.Namespace) -> int:
    """What one answer of a conversation should have been. Raises InputError."""
    from getpass import getuser

    from assistant.events import Diagnosed
    from assistant.session import Session
    from assistant.settings import read_settings
    from assistant.slack.database import open_store
    from assistant.slack.feedback import Correction, keep_correction
    from assistant.storage.diagnoses import Diagnoses
    from knowledge.signatures.loader import library

    if not options.thread or not (options.cause or options.fix or options.helpful):
        raise InputError("say which conversation and what it was: --thread ID --cause C, and --fix 'what cured it'")
    if options.cause and options.cause not in library().causes:
        raise InputError(f"no cause '{options.cause[:40]}'; known: {', '.join(sorted(library().causes))}")
    settings = read_settings()
    session = Session(settings, options.thread)
    turns = [t for t in session.history() if any(isinstance(one, Diagnosed) for one in t.answer or ())]
    turn = next((t for t in reversed(turns) if options.turn in (0, t.number)), None)
    if turn is None:
        raise InputError(
            f"no answer about a log in the conversation '{options.thread}'; name the one that you asked in"
        )
    said = Correction(options.cause, options.fix, options.line)
    verdict = "helpful" if options.helpful else "wrong"
    kept, store = Diagnoses(session.database), open_store(settings)
    answer = f"{options.thread}:{turn.number}"
    case = keep_correction(store, kept, answer, getuser(), options.thread, turn, said, verdict)
    print(f"kept: answered {case.cause}, {verdict}{f', it was {case.expected}' if case.expected else ''}")
    print("`maple-chat signatures review` shows what it would change")
    return EXIT_FINE


def export(options: argparse.Namespace) -> int:
    from assistant.slack.feedback import as_line

    if options.since and not re.fullmatch(r"\d{4}-\d\d-\d\d", options.since):
        raise InputError("--since takes a day, such as 2026-11-01")
    lines = [as_line(case) for case in cases(options.since) if options.verdict in ("", case.verdict)]
    text = "".join(f"{line}\n" for line in lines)
    if options.output:
        try:
            Path(options.output).write_text(text, encoding="utf-8")
        except OSError as error:
            raise UnavailableError(f"cannot write {options.output}: {error.strerror}; choose another file") from error
    else:
        print(text, end="")
    print(f"maple-chat: {len(lines)} case{'' if len(lines) == 1 else 's'}", file=sys.stderr)
    return EXIT_FINE if lines else EXIT_NO


def cases(since: str) -> Iterator[LabelledCase]:
    """What people said of the bot's answers."""
    from assistant.settings import read_settings
    from assistant.slack.database import open_store
    from assistant.slack.feedback import Feedback

    yield from Feedback(open_store(read_settings())).cases(since)
