"""The commands of the chat: one table, which runs them, completes them, fills the palette and makes the help."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.chat_commands import CHAT_COMMANDS, ChatCommand
from assistant.tui import completing
from assistant.tui.actions import looks, talk, tools
from assistant.tui.completing import CompletionItem

if TYPE_CHECKING:
    from assistant.tui.screens.chat import ChatScreen


@dataclass(frozen=True, slots=True)
class SlashCommand(ChatCommand):
    """A command with the function that does it on the screen."""

    run: Callable[[ChatScreen, str], Awaitable[None]] = looks.show_help

    @property
    def needs_more(self) -> bool:
        """Whether it cannot run without its argument; in brackets it is optional."""
        return bool(self.argument) and not self.argument.startswith("[")


# The command's name -> what it does.
DEEDS: dict[str, Callable[[ChatScreen, str], Awaitable[None]]] = {
    "script": looks.script, "check": tools.check, "rehearse": tools.rehearse, "why": tools.why, "log": tools.log,
    "watch": tools.watch, "diff": looks.diff, "save": talk.save, "copy": talk.copy, "attach": talk.attach_file,
    "new": talk.new, "open": talk.open_thread, "sessions": talk.sessions, "rename": talk.rename, "export": talk.export,
    "clusters": looks.clusters, "context": looks.context, "model": looks.model, "theme": looks.theme,
    "help": looks.show_help, "quit": talk.leave,
}  # fmt: skip
COMMANDS = {
    one.name: SlashCommand(one.name, one.argument, one.says, one.line, DEEDS[one.name]) for one in CHAT_COMMANDS
}


def find(text: str) -> tuple[SlashCommand | None, str] | None:
    """The command that a message calls and its argument; None where the message is no command.

    A path such as /home/me/job.log is not one.
    """
    word, _, argument = text.partition(" ")
    if not word.startswith("/") or "/" in word[1:] or "\n" in text:
        return None
    return COMMANDS.get(word[1:].lower()), argument.strip()


def complete(word: str) -> Sequence[CompletionItem]:
    """The commands that a begun word may become."""
    return completing.commands(word, {c.name: (c.argument, c.says, c.needs_more) for c in COMMANDS.values()})
