"""Commands that take time: check, rehearse, why. They run in a child process through what the command line calls.

What they find is a turn of the conversation in which they were called, whichever one is in sight when they end.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.errors import InputError, MapleError
from assistant.events import Error, Kept
from assistant.subject import absolute, as_events, logs, subject, words
from assistant.tui.work.found import CheckReport, LogReport
from assistant.watching import started
from knowledge.types import Attachment

if TYPE_CHECKING:
    from assistant.tui.screens.chat import ChatScreen


async def check(screen: ChatScreen, argument: str) -> None:
    """Findings beside the lines of the thread's script; those of another file only in words."""
    one = await asyncio.to_thread(subject, argument, screen.bundle, screen.machine or None)
    said = f"/check {argument}".strip()
    report = await found(screen, said, (), one.name, f"Checking {one.name}", "check", one.text, one.place, one.machine)
    if isinstance(report, CheckReport) and screen.bundle and screen.bundle.script == one.text:
        screen.script_pane.tell(report.findings)


async def rehearse(screen: ChatScreen, argument: str) -> None:
    one = await asyncio.to_thread(subject, argument, screen.bundle, screen.machine or None)
    said = f"/rehearse {argument}".strip()
    await found(screen, said, (), one.name, f"Rehearsing {one.name}", "rehearse", one.text, one.files, one.machine)


async def why(screen: ChatScreen, argument: str) -> None:
    """The diagnosis in the conversation, the log beside it."""
    given = await asyncio.to_thread(logs, argument or shlex.join(screen.log_paths))
    if not given:
        raise InputError("name the log: /why slurm-123.out; or paste it")
    name, paths, said = given[0].name, tuple(one.path for one in given), f"/why {argument}".strip()
    report = await found(screen, said, given, name, f"Reading {name}", "why", paths, screen.machine or None)
    if isinstance(report, LogReport):
        await screen.logs.keep(paths, report.diagnosis, report.hits)


async def found(
    screen: ChatScreen, said: str, given: Sequence[Attachment], name: str, what: str, task: str, *arguments: Any
) -> object:
    """Say the command, do its task, draw and keep what it found. None where there is nothing to draw any more."""
    session = screen.session
    if screen.answering.is_taken("tool"):
        return None
    await screen.conversation.ask(said, given)
    reports: list[Any] = []
    events: Sequence[Kept] = ()
    try:
        reports = [report async for report in screen.work("tool", what, task, *arguments)]
    except MapleError as error:
        events = [Error(str(error))]
    if reports:
        events = as_events(name, reports[-1])
    if not events:
        return None
    await asyncio.to_thread(session.turns.add, session.thread, said, given, events)
    if screen.session is not session:
        screen.status(f"{said}: what it found is in the conversation '{session.thread}'.")
        return None
    await screen.show_events(events)
    return reports[-1] if reports else None


async def watch(screen: ChatScreen, argument: str) -> None:
    """Follow a run in the pane beside the conversation; without a name show or hide the one that is followed."""
    pane = screen.watch_pane
    if argument == "stop":
        pane.stop()
        screen.status("It is watched no more; what was seen stays in the pane.")
        return
    if argument:
        given = [path if Path(path := absolute(word)).exists() else word for word in words(argument)]
        await pane.show(await asyncio.to_thread(started, given, None))
    elif pane.watching is None:
        raise InputError("name what to watch: /watch slurm-123.out, or /watch 123 on the login node")
    screen.show_view("chat" if screen.view == "watch" and not argument else "watch")
    screen.status("F2 is the conversation; /watch shows this again, /watch stop ends it.")


async def log(screen: ChatScreen, argument: str) -> None:
    """Show the log of the newest diagnosis, or any file."""
    if argument:
        await screen.logs.keep([absolute(word) for word in words(argument)], None, ())
    await screen.logs.open()
