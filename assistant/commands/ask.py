"""`maple-chat ask`: one turn of the conversation; the thread goes on next time."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from assistant.attachments import attach, named_files
from assistant.errors import InputError
from assistant.events import Diagnosed, Error, Event, Refused, to_json
from assistant.plain import tell
from assistant.reading import argument_text
from assistant.session import Session
from assistant.settings import read_settings
from knowledge.types import Attachment

DEFAULT_THREAD = "default"
LONG_AGO = timedelta(hours=8)
EXIT_FINE, EXIT_NO, EXIT_PROBLEM = 0, 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="what you want to say; - reads standard input")
    parser.add_argument(
        "--thread",
        default=DEFAULT_THREAD,
        metavar="ID",
        help="the conversation to go on with (default: '%(default)s'); `maple-chat` opens the one used last",
    )
    parser.add_argument("--new", action="store_true", help="forget what was said on this thread before")
    parser.add_argument(
        "--attach", action="append", default=[], metavar="FILE", help="a log or a script (also: @FILE in the text)"
    )
    parser.add_argument("--json", action="store_true", help="print the answer's events as JSON")
    parser.add_argument(
        "--show-prompt", action="store_true", help="print what a language model would be sent, masked; send nothing"
    )


def run(options: argparse.Namespace) -> int:
    text = argument_text(options.text)
    attachments = [*(attach(Path(name)) for name in options.attach), *named_files(text)]
    if not text.strip() and not attachments:
        raise InputError("nothing was said; try: maple-chat ask 'train ViT with FSDP on Perlmutter, 4 nodes'")
    session = Session(read_settings(), options.thread)
    if options.show_prompt:
        return show_prompts(session, text, attachments)
    if options.new:
        session.forget()
    tell_age(session)
    events = asyncio.run(collect(session, text, attachments))
    if options.json:
        print(json.dumps({"thread": options.thread, "events": json.loads(to_json(events))}, ensure_ascii=False))
    else:
        tell(events)
    return exit_code(events)


def show_prompts(session: Session, text: str, attachments: list[Attachment]) -> int:
    """Print the prompts of this message; the thread stays as it is."""
    from assistant.models.showing import prompts
    from graph.modelling.asking import as_text

    found = prompts(session.settings, session.thread, text, attachments)
    print("\n\n".join(map(as_text, found)) or "nothing would be sent: the rules read all of it")
    return EXIT_FINE


async def collect(session: Session, text: str, attachments: list[Attachment]) -> list[Event]:
    return [event async for event in session.send(text, attachments)]


def tell_age(session: Session) -> None:
    """Old words still count on this thread: say so when they are from another day."""
    history = session.history()
    if history and datetime.now(UTC) - history[-1].at > LONG_AGO:
        said = f"{history[-1].at.astimezone():%d %B, %H:%M}"
        print(f"maple-chat: going on with thread '{session.thread}' of {said}; --new begins anew", file=sys.stderr)


def exit_code(events: list[Event]) -> int:
    """By the contract: 2 for a problem, 1 where the answer is no (a refusal, a failure found), else 0."""
    if any(isinstance(event, Error) for event in events):
        return EXIT_PROBLEM
    failed = any(isinstance(e, Diagnosed) and e.diagnosis.cause != "no-failure" for e in events)
    return EXIT_NO if failed or any(isinstance(event, Refused) for event in events) else EXIT_FINE
