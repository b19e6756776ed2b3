"""Commands that show something: the script, the machines, what is known, the theme, the help."""

from __future__ import annotations

import asyncio
from datetime import date
from typing import TYPE_CHECKING

from assistant.errors import InputError
from assistant.tui.answering import TURN
from assistant.tui.memory import THEME, remember
from assistant.tui.themes import NAMES
from assistant.tui.widgets.chips import why

if TYPE_CHECKING:
    from assistant.tui.screens.chat import ChatScreen


async def script(screen: ChatScreen, argument: str) -> None:
    screen.action_script()


async def diff(screen: ChatScreen, argument: str) -> None:
    screen.action_changes()


async def clusters(screen: ChatScreen, argument: str) -> None:
    from assistant.cluster_text import describe
    from knowledge.catalogue import catalogue

    known = await asyncio.to_thread(catalogue)
    if argument:
        cluster = known.named(argument, "/clusters")
        await screen.show_text(describe(cluster, known.files[cluster.id], date.today()))
        return
    listed = sorted(known.clusters.values(), key=lambda cluster: cluster.title.lower())
    rows = [f"{c.id:<15} {c.title} ({c.scheduler})" for c in listed]
    await screen.show_text("\n".join([*rows, "", "/clusters NAME tells all about one."]))


async def context(screen: ChatScreen, argument: str) -> None:
    """What the next answer starts from."""
    title = await asyncio.to_thread(screen.session.turns.title, screen.session.thread)
    chips = [
        f"  {why(chip).removesuffix(' Enter picks another.').removesuffix(' Enter picks one.')}"
        for chip in screen.chips.known
    ]
    bundle = screen.bundle
    rows = [
        f"conversation  {title or screen.session.thread}",
        *(["request", *chips] if chips else ["request       nothing is decided yet"]),
        f"script        {bundle.name if bundle else 'none yet'}",
        f"log           {', '.join(screen.log_paths) or 'none yet'}",
        f"model         {await model_line(screen)}",
        f"kept in       {screen.settings.data}",
    ]
    await screen.show_text("\n".join(rows))


async def model(screen: ChatScreen, argument: str) -> None:
    await screen.show_text(await model_line(screen))


async def model_line(screen: ChatScreen) -> str:
    """Which model is set and what it was asked: the child that answers knows."""
    return "\n".join([line async for line in screen.answering.engines[TURN].run("model", screen.settings)])


async def theme(screen: ChatScreen, argument: str) -> None:
    """Change the colours; the choice is kept."""
    from assistant.tui.offers import OfferedValue, Picking
    from assistant.tui.screens.picker import PickerScreen

    chosen = argument.lower()
    if not chosen:
        now = next((name for name, full in NAMES.items() if full == screen.app.theme), "")
        offers = tuple(OfferedValue(name, "", name) for name in NAMES)
        picked = await screen.app.push_screen_wait(PickerScreen(Picking("theme", offers, "{}"), now, ""))
        chosen = picked or now
    if chosen not in NAMES:
        raise InputError(f"no theme '{chosen[:20]}'; there are {', '.join(NAMES)}")
    screen.app.theme = NAMES[chosen]
    await asyncio.to_thread(remember, screen.settings.data, THEME, chosen)
    screen.status(f"Theme {chosen}.")


async def show_help(screen: ChatScreen, argument: str) -> None:
    screen.action_help()
