"""The slash commands of the chat, one table: what may follow each, what it does, and the doors that have it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChatCommand:
    """says: what it does; line: whether the line mode, which has no screen, has it too."""

    name: str
    argument: str
    says: str
    line: bool = True

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.argument}".strip()


CHAT_COMMANDS = (
    ChatCommand("script", "", "show the script, then the files beside it"),
    ChatCommand("check", "[FILE] [MACHINE]", "findings on the script, or on any file"),
    ChatCommand("rehearse", "[FILE] [MACHINE]", "run it here on a stand-in cluster"),
    ChatCommand("why", "[FILE ...]", "why a job failed: from its log files"),
    ChatCommand("log", "[FILE]", "show the log with the telling line", line=False),
    ChatCommand("watch", "[FILE ...|JOBID|stop]", "follow a running job: loss, pace, end, trouble", line=False),
    ChatCommand("diff", "", "what the last revision changed", line=False),
    ChatCommand("save", "[FOLDER]", "save the script and the files beside it"),
    ChatCommand("copy", "", "copy the script", line=False),
    ChatCommand("attach", "FILE", "attach a log or a script to the next message", line=False),
    ChatCommand("new", "[NAME]", "start a new conversation"),
    ChatCommand("open", "[NAME]", "go back to another conversation"),
    ChatCommand("sessions", "[WORDS]", "all conversations, or those with WORDS"),
    ChatCommand("rename", "TITLE", "give this conversation a name"),
    ChatCommand("export", "[FILE]", "write this conversation as Markdown"),
    ChatCommand("clusters", "[NAME]", "the machines that are known, or all about one"),
    ChatCommand("context", "", "what is known here: request, script, log, model"),
    ChatCommand("model", "", "which language model words the answers"),
    ChatCommand("theme", "[NAME]", "dark, light or contrast", line=False),
    ChatCommand("help", "", "all commands"),
    ChatCommand("quit", "", "leave; the conversation is kept", line=False),
)
