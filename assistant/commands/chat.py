"""`maple-chat` with no command: the chat in the terminal, or line by line where there is none."""

from __future__ import annotations

import argparse
import os
import sys

from assistant.plain import converse
from assistant.session import THREAD_NAME, Session
from assistant.settings import Settings, read_settings
from assistant.tui.memory import OPEN, recall

FIRST_THREAD = "chat"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.prog = "maple-chat"
    parser.add_argument("--thread", metavar="ID", help="the conversation to open (default: the one left open)")
    parser.add_argument("--plain", action="store_true", help="line by line, for screen readers and pipes")


def run(options: argparse.Namespace) -> int:
    settings = read_settings()
    thread = options.thread or left_open(settings)
    if options.plain or not has_screen():
        return converse(Session(settings, thread))
    from assistant.tui.app import MapleApp

    return MapleApp(settings, thread).run() or 0


def left_open(settings: Settings) -> str:
    """The conversation that was left open here. `maple-chat ask` has a thread of its own, which does not count."""
    name = recall(settings.data, OPEN)
    return name if THREAD_NAME.fullmatch(name) else FIRST_THREAD


def has_screen() -> bool:
    """Textual reads from stdin and draws on stderr; with either one redirected there is nothing to see.

    A driver that was set by `maple-chat serve` draws in a browser.
    """
    if "TEXTUAL_DRIVER" in os.environ:
        return True
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return all(stream.isatty() for stream in streams) and os.environ.get("TERM", "dumb") != "dumb"
