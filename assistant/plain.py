"""Line mode: the same answers on a pipe, a dumb terminal or a screen reader."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from typing import TextIO

from assistant.attachments import named_files
from assistant.drawing import markdown, so_far
from assistant.errors import MapleError
from assistant.events import Asked, Error, Event, Known
from assistant.plain_commands import OpenConversation, called, run
from assistant.printing.plain import emphasis
from assistant.session import Session
from assistant.tui.memory import OPEN, remember


def show(events: Sequence[Event], out: TextIO) -> None:
    """Print the answers of a turn; while a question is open, also what is known so far."""
    asking = any(isinstance(event, Asked) for event in events)
    for event in events:
        if isinstance(event, Known) and asking and any(chip.value for chip in event.chips):
            print(f"\n(so far: {so_far(event)})", file=out)
        elif not isinstance(event, Error | Known) and (text := markdown(event)):
            print(f"\n{emphasis(text, styled(out))}", file=out)
    out.flush()


def tell(events: Sequence[Event]) -> None:
    """Answers to stdout, problems to stderr."""
    for event in events:
        if isinstance(event, Error):
            print(f"maple-chat: {event.text}", file=sys.stderr)
    show(events, sys.stdout)


def styled(out: TextIO) -> bool:
    return out.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM", "dumb") != "dumb"


def converse(session: Session) -> int:
    """Read a line, answer it, until the input ends or /quit is said. Ctrl+C stops an answer, or else the program."""
    talk, prompted = OpenConversation(session), sys.stdin.isatty()
    if prompted:
        greet(session)
    tell(heard(session.resume()))
    while True:
        print("> " if prompted else "", end="", flush=True)
        line = sys.stdin.readline() or "/quit"
        command = called(line)
        if command and command[0] in ("quit", "exit"):
            return 0
        try:
            answer(talk, line, command)
        except MapleError as error:
            print(f"maple-chat: {error}", file=sys.stderr)
        except KeyboardInterrupt:
            talk.session.stop()
            print("\nmaple-chat: stopped; Ctrl+C once more ends the program", file=sys.stderr)


def answer(talk: OpenConversation, line: str, command: tuple[str, str] | None) -> None:
    """One line, a command or a message."""
    if command:
        run(talk, *command)
        remember(talk.session.settings.data, OPEN, talk.session.thread)
    elif line.strip():
        remember(talk.session.settings.data, OPEN, talk.session.thread)
        tell(heard(talk.session.send(line, named_files(line))))


def heard(events: AsyncIterator[Event]) -> list[Event]:
    """All of a turn. The line is read outside of any event loop, where Ctrl+C would wait for its end."""

    async def collect() -> list[Event]:
        return [event async for event in events]

    return asyncio.run(collect())


def greet(session: Session) -> None:
    """What this is and how to leave it; the question that is still open is asked again."""
    print(f"maple-chat, conversation '{session.thread}'. Say what to run and where; /help, /quit.")
    history = session.history()
    if history and history[-1].answer:
        show([event for event in history[-1].answer if isinstance(event, Asked | Known)], sys.stdout)
