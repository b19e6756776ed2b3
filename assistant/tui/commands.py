"""The commands of the chat: one table, which runs them, completes them and makes the help."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.attachments import attach
from assistant.cluster_text import describe
from assistant.errors import InputError
from knowledge.catalogue import catalogue

if TYPE_CHECKING:
    from assistant.tui.screens.chat import ChatScreen


@dataclass(frozen=True, slots=True)
class Command:
    """A word after the slash: what may follow it, what it does, and the function that does it."""

    name: str
    argument: str
    says: str
    run: Callable[[ChatScreen, str], Awaitable[None]]

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.argument}".strip()


async def script(screen: ChatScreen, argument: str) -> None:
    screen.action_script()


async def save(screen: ChatScreen, argument: str) -> None:
    screen.save(Path(argument or ".").expanduser())


async def copy(screen: ChatScreen, argument: str) -> None:
    await screen.action_copy()


async def attach_file(screen: ChatScreen, argument: str) -> None:
    screen.composer.attach(await asyncio.to_thread(attach, Path(argument)))


async def new(screen: ChatScreen, argument: str) -> None:
    await screen.open(argument or screen.unused_name())


async def open_thread(screen: ChatScreen, argument: str) -> None:
    if argument:
        await screen.open(argument)
    else:
        screen.choose_thread()


async def clusters(screen: ChatScreen, argument: str) -> None:
    known = catalogue()
    if argument:
        cluster = known.find(argument)
        if cluster is None:
            raise InputError(f"no machine '{argument[:40]}' is known; /clusters lists them")
        await screen.show_text(describe(cluster, known.files[cluster.id], date.today()))
        return
    listed = sorted(known.clusters.values(), key=lambda cluster: cluster.title.lower())
    await screen.show_text("\n".join(f"{c.id:<15} {c.title} ({c.scheduler})" for c in listed))


async def show_help(screen: ChatScreen, argument: str) -> None:
    screen.action_help()


async def leave(screen: ChatScreen, argument: str) -> None:
    screen.app.exit()


COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command("script", "", "show the script, or go back to the conversation", script),
        Command("save", "[FOLDER]", "save the script and the files beside it", save),
        Command("copy", "", "copy the script", copy),
        Command("attach", "FILE", "attach a log or a script to the next message", attach_file),
        Command("new", "[NAME]", "start a new conversation", new),
        Command("open", "[NAME]", "go back to another conversation", open_thread),
        Command("clusters", "[NAME]", "the machines that are known, or all about one", clusters),
        Command("help", "", "all keys and commands", show_help),
        Command("quit", "", "leave; the conversation is kept", leave),
    )
}


def find(text: str) -> tuple[Command | None, str] | None:
    """The command that a message calls and its argument; None where the message is no command.

    A path such as /home/me/job.log is not one.
    """
    word, _, argument = text.partition(" ")
    if not word.startswith("/") or "/" in word[1:] or "\n" in text:
        return None
    return COMMANDS.get(word[1:].lower()), argument.strip()
