"""The commands of the chat: one table, which runs them, completes them, fills the palette and makes the help."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.tui import completing
from assistant.tui.actions import looks, talk, tools
from assistant.tui.completing import Candidate

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

    @property
    def needs_more(self) -> bool:
        """Whether it cannot run without its argument; in brackets it is optional."""
        return bool(self.argument) and not self.argument.startswith("[")


COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command("script", "", "show the script, then the files beside it", looks.script),
        Command("check", "[FILE] [MACHINE]", "findings on the script, or on any file", tools.check),
        Command("rehearse", "[FILE] [MACHINE]", "run it here on a stand-in cluster", tools.rehearse),
        Command("why", "[FILE ...]", "why a job failed: from its log files", tools.why),
        Command("log", "[FILE]", "show the log with the telling line", tools.log),
        Command("watch", "[FILE ...|JOBID|stop]", "follow a running job: loss, pace, end, trouble", tools.watch),
        Command("diff", "", "what the last revision changed", looks.diff),
        Command("save", "[FOLDER]", "save the script and the files beside it", talk.save),
        Command("copy", "", "copy the script", talk.copy),
        Command("attach", "FILE", "attach a log or a script to the next message", talk.attach_file),
        Command("new", "[NAME]", "start a new conversation", talk.new),
        Command("open", "[NAME]", "go back to another conversation", talk.open_thread),
        Command("sessions", "[WORDS]", "all conversations; search, open, rename", talk.sessions),
        Command("rename", "TITLE", "give this conversation a name", talk.rename),
        Command("export", "[FILE]", "write this conversation as Markdown", talk.export),
        Command("clusters", "[NAME]", "the machines that are known, or all about one", looks.clusters),
        Command("context", "", "what is known here: request, script, log, model", looks.context),
        Command("model", "", "which language model words the answers", looks.model),
        Command("theme", "[NAME]", "dark, light or contrast", looks.theme),
        Command("help", "", "all keys and commands", looks.show_help),
        Command("quit", "", "leave; the conversation is kept", talk.leave),
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


def complete(word: str) -> Sequence[Candidate]:
    """The commands that a begun word may become."""
    return completing.commands(word, {c.name: (c.argument, c.says, c.needs_more) for c in COMMANDS.values()})
