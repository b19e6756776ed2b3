"""Asking a person to pick: a value of the request, which is then said as a turn, or the rank whose lines are shown."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from assistant.events import Chip

if TYPE_CHECKING:
    from assistant.tui.screens.chat import ChatScreen

ALL = "all"


async def pick(screen: ChatScreen, chip: Chip) -> None:
    """Ask what a field shall be, from what the machine offers, and say it."""
    from assistant.tui.offers import pick as offered
    from assistant.tui.screens.picker import PickerScreen

    picking = await asyncio.to_thread(offered, chip.field, screen.chips.known)
    sentence = await screen.app.push_screen_wait(PickerScreen(picking, chip.value, chip.why))
    screen.composer.focus()
    if sentence:
        await screen.say(sentence)


async def pick_rank(screen: ChatScreen) -> None:
    """Ask whose lines to show: the ranks that showed signs of trouble are offered, any other can be typed."""
    from assistant.tui.offers import OfferedValue, Picking
    from assistant.tui.screens.picker import PickerScreen

    pane = screen.log_pane
    ranks = tuple(OfferedValue(str(rank), "shows signs of trouble", str(rank)) for rank in pane.ranks)
    picking = Picking("rank", (OfferedValue(ALL, "every line", ALL), *ranks), "{}")
    now = ALL if pane.rank is None else str(pane.rank)
    chosen = await screen.app.push_screen_wait(PickerScreen(picking, now, ""))
    if chosen and (chosen == ALL or chosen.isdigit()):
        await screen.logs.filter(None if chosen == ALL else int(chosen))
