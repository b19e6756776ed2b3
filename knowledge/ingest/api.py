"""What the readers of GitHub and Stack Exchange have in common: limits on how often they may ask, and long posts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from knowledge.errors import UnavailableError
from knowledge.fetching import Pause, Response
from knowledge.ingest.chunking import cut, tokens
from knowledge.ingest.page import Block

LONGEST_WAIT_S = 2 * 3600.0
MOST_TEXT = 600
HEAD_LINES, TAIL_LINES = 12, 24
WIDEST_LINE = 60


class LimitError(UnavailableError):
    """A server wants to be asked again later."""


@dataclass(frozen=True, slots=True)
class Patience:
    """What to do at a limit: wait for its end, or say when that is. pause and now: the clock."""

    wait: bool = False
    pause: Pause = time.sleep
    now: Callable[[], float] = time.time


def within_limits(
    ask: Callable[[], Response],
    limit_of: Callable[[Response, float], float],
    who: str,
    patience: Patience,
    hint: str = "",
) -> Response:
    """The answer, after waiting where that is wished. limit_of: the seconds to wait, 0 for none. Raises LimitError."""
    while True:
        answer = ask()
        seconds = limit_of(answer, patience.now())
        if not seconds:
            return answer
        if not patience.wait or seconds > LONGEST_WAIT_S:
            when = until(seconds, patience.now())
            raise LimitError(
                f"{who} allows no more {when}; what came is kept. Give the same command then, or add --wait{hint}"
            )
        patience.pause(seconds)


def until(seconds: float, now: float) -> str:
    """`until 21:40 (in 12 min)` in the time of this computer."""
    at = datetime.fromtimestamp(now + seconds).astimezone()
    day = f" of {at:%d %B}" if seconds > 43_200 else ""
    return f"until {at:%H:%M}{day} (in {max(1, round(seconds / 60))} min)"


def shortened(blocks: Iterable[Block]) -> list[Block]:
    """The beginning of a long post, without its headings. A long listing keeps its first and last lines."""
    kept: list[Block] = []
    size = 0
    for block in blocks:
        if block.kind == "code":
            block = Block("code", "\n".join(both_ends(block.text.split("\n"))))
        elif block.kind == "heading":
            block = Block("text", f"{block.text}:")
        size += tokens(block.text)
        if kept and size > MOST_TEXT:
            break
        kept.append(block)
    return kept


def both_ends(lines: list[str]) -> list[str]:
    """The first and the last lines, none endless: an error stands at the end of a listing, its command at the start."""
    if len(lines) > HEAD_LINES + TAIL_LINES + 1:
        lines = [*lines[:HEAD_LINES], "...", *lines[-TAIL_LINES:]]
    return [next(cut(line, WIDEST_LINE), "") for line in lines]
