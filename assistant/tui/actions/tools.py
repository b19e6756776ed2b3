"""Commands that take time: check, rehearse, why. They run in a child process through what the command line calls."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.attachments import attach
from assistant.drawing import markdown
from assistant.errors import InputError
from assistant.events import Diagnosed
from assistant.tui.work.found import CheckReport, LogReport, RehearsalReport
from knowledge.types import SideFile

if TYPE_CHECKING:
    from assistant.tui.screens.chat import ChatScreen


def words(argument: str) -> list[str]:
    """The words of an argument, as a shell splits them. Raises InputError."""
    try:
        return shlex.split(argument)
    except ValueError as error:
        raise InputError(f"'{argument[:40]}' cannot be read ({error}); close the quotes") from error


def absolute(word: str) -> str:
    """A path for the child, whose current folder is another one where ours has changed."""
    return str(Path(word).expanduser().absolute())


def subject(screen: ChatScreen, given: Sequence[str]) -> tuple[str, str, tuple[SideFile, ...], str | None]:
    """Name, text and files beside it of the script that is meant, and its machine. Raises InputError."""
    from assistant.commands.rehearse import read_script

    if given:
        text, files = read_script(str(Path(given[0]).expanduser()))
        return given[0], text, files, given[1] if len(given) > 1 else None
    bundle = screen.bundle
    if bundle is None:
        raise InputError("no script yet; say what to run and where, or name a file")
    return bundle.name, bundle.script, bundle.files, screen.machine or None


async def check(screen: ChatScreen, argument: str) -> None:
    """Findings beside the lines of the thread's script; those of another file only in words."""
    given = words(argument)
    name, text, _, machine = await asyncio.to_thread(subject, screen, given)
    await screen.conversation.ask(f"/check {argument}".strip(), ())
    async for report in screen.work(
        "tool", f"Checking {name}", "check", text, absolute(given[0]) if given else "-", machine
    ):
        if isinstance(report, CheckReport):
            await screen.show_report(f"{name}\n\n{report.text}")
            if not given:
                screen.script_pane.tell(report.findings)


async def rehearse(screen: ChatScreen, argument: str) -> None:
    name, text, files, machine = await asyncio.to_thread(subject, screen, words(argument))
    await screen.conversation.ask(f"/rehearse {argument}".strip(), ())
    async for report in screen.work("tool", f"Rehearsing {name}", "rehearse", text, files, machine):
        if isinstance(report, RehearsalReport):
            await screen.show_report(f"{name}\n\n{report.text}")


async def why(screen: ChatScreen, argument: str) -> None:
    """The diagnosis in the conversation, the log beside it."""
    paths = [absolute(word) for word in words(argument)] or list(screen.log_paths)
    if not paths:
        raise InputError("name the log: /why slurm-123.out; or paste it")
    for path in paths:
        if not Path(path).is_dir():
            await asyncio.to_thread(attach, Path(path))
    await screen.conversation.ask(f"/why {argument}".strip(), ())
    async for report in screen.work(
        "tool", f"Reading {Path(paths[0]).name}", "why", tuple(paths), screen.machine or None
    ):
        if isinstance(report, LogReport):
            await screen.show_answer(markdown(Diagnosed(report.diagnosis)))
            await screen.logs.keep(paths, report.diagnosis, report.hits)


async def log(screen: ChatScreen, argument: str) -> None:
    """Show the log of the newest diagnosis, or any file."""
    if argument:
        await screen.logs.keep([absolute(word) for word in words(argument)], None, ())
    await screen.logs.open()
