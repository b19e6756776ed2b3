"""The commands of commands.py in Textual's command palette."""

from __future__ import annotations

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from assistant.tui.commands import COMMANDS, SlashCommand
from assistant.tui.screens.chat import ChatScreen


class ChatCommands(Provider):
    """Each command of the table; one that needs an argument is put into the box."""

    async def discover(self) -> Hits:
        for command in COMMANDS.values():
            yield DiscoveryHit(command.usage, partial(self.call, command), help=command.says)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command in COMMANDS.values():
            text = f"{command.usage}  {command.says}"
            if (score := matcher.match(text)) > 0:
                yield Hit(score, matcher.highlight(text), partial(self.call, command))

    async def call(self, command: SlashCommand) -> None:
        screen = next(one for one in self.app.screen_stack if isinstance(one, ChatScreen))
        await screen.call_command(command)
