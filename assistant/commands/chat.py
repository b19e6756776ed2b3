"""`maple-chat` with no command: the chat in the terminal, or line by line where there is none."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from assistant.tui.memory import OPEN, recall

if TYPE_CHECKING:
    from assistant.settings import Settings

FIRST_THREAD = "chat"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.prog = "maple-chat"
    parser.add_argument("--thread", metavar="ID", help="the conversation to open (default: the one left open)")
    parser.add_argument("--plain", action="store_true", help="line by line, for screen readers and pipes")


def run(options: argparse.Namespace) -> int:
    """The settings are read behind the first frame: pydantic takes a third of the time to it."""
    if options.plain or not has_screen():
        from assistant.plain import converse
        from assistant.session import Session

        return converse(Session(*prepare(options.thread)))
    from assistant.tui.app import MapleApp

    app = MapleApp(lambda: prepare(options.thread))
    code = app.run() or 0
    if app.trouble:
        raise app.trouble
    return code


def prepare(thread: str | None) -> tuple[Settings, str]:
    """The settings, and the conversation to open. Raises InputError, UnavailableError."""
    from assistant.session import Session
    from assistant.settings import read_settings

    settings = read_settings()
    chosen = thread or left_open(settings)
    Session(settings, chosen)
    return settings, chosen


def left_open(settings: Settings) -> str:
    """The conversation that was left open here. `maple-chat ask` has a thread of its own, which does not count."""
    return recall(settings.data, OPEN) or FIRST_THREAD


def has_screen() -> bool:
    """Textual reads from stdin and draws on stderr; with either one redirected there is nothing to see.

    A driver that was set by `maple-chat serve` draws in a browser.
    """
    if "TEXTUAL_DRIVER" in os.environ:
        return True
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return all(stream.isatty() for stream in streams) and os.environ.get("TERM", "dumb") != "dumb"
