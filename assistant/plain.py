"""Line mode: the same answers on a pipe, a dumb terminal or a screen reader."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Sequence
from typing import TextIO

from assistant.drawing import markdown, so_far
from assistant.events import Asked, Error, Event, Known
from assistant.session import Session

STRONG = re.compile(r"\*\*(.+?)\*\*", re.S)
LINK = re.compile(r"\[[^\]\n]+\]\((https?://[^)\s]+)\)")
FENCE = re.compile(r"^(`{3,}).*?^\1$", re.M | re.S)
BOLD, NORMAL = "\x1b[1m", "\x1b[0m"


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


def emphasis(text: str, bold: bool) -> str:
    """Strong words in bold where the terminal can, plain elsewhere; blocks of code as they are, without fences."""
    parts, place = [], 0
    for block in FENCE.finditer(text):
        parts.append(words(text[place : block.start()], bold))
        parts.append(block[0].split("\n", 1)[1].rsplit("\n", 1)[0])
        place = block.end()
    return "".join([*parts, words(text[place:], bold)])


def words(text: str, bold: bool) -> str:
    text = LINK.sub(r"\1", text)
    text = STRONG.sub(rf"{BOLD}\1{NORMAL}" if bold else r"\1", text)
    return re.sub(r"(?<![\w*])\*([^*\n]+)\*(?!\w)", r"'\1'", text).replace("`", "")


def converse(session: Session, prompt: str = "> ") -> int:
    """Read a line, answer it, until the input ends or /quit is said."""
    asyncio.run(_converse(session, prompt if sys.stdin.isatty() else ""))
    return 0


async def _converse(session: Session, prompt: str) -> None:
    tell([event async for event in session.resume()])
    while True:
        print(prompt, end="", flush=True)
        line = await asyncio.to_thread(sys.stdin.readline)
        if not line or line.strip() in ("/quit", "/exit"):
            return
        if line.strip():
            tell([event async for event in session.send(line)])
