"""`maple-chat feedback export`: what people said of answers, as labelled cases in JSON lines."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.errors import InputError, UnavailableError

if TYPE_CHECKING:
    from assistant.slack.feedback import Case

EXIT_FINE, EXIT_NO = 0, 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=["export"], help="print the cases, one JSON object a line")
    parser.add_argument("-o", "--output", metavar="FILE", help="write into FILE instead")
    parser.add_argument("--since", default="", metavar="YYYY-MM-DD", help="only what was said since that day")
    parser.add_argument("--verdict", choices=["helpful", "wrong"], default="", help="only such ones")


def run(options: argparse.Namespace) -> int:
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


def cases(since: str) -> Iterator[Case]:
    """What people said of the bot's answers."""
    from assistant.settings import read_settings
    from assistant.slack.database import open_store
    from assistant.slack.feedback import Feedback

    yield from Feedback(open_store(read_settings())).cases(since)
