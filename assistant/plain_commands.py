"""The commands of the line mode: those of the chat that need no screen, through the same functions."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from assistant.chat_commands import CHAT_COMMANDS
from assistant.errors import InputError
from assistant.events import Known, Script
from assistant.paths import exists, expanded
from assistant.saving import files
from assistant.saving import save as write
from assistant.session import Session
from assistant.subject import as_events, logs, subject
from assistant.tui.work import tasks
from knowledge.types import Attachment, LaunchBundle, Working


@dataclass(slots=True)
class OpenConversation:
    """The conversation that is open; /new and /open change it."""

    session: Session

    def events(self) -> list[object]:
        return [event for turn in self.session.history() for event in turn.answer or ()]

    @property
    def bundle(self) -> LaunchBundle | None:
        """The newest script."""
        return next((event.made.bundle for event in reversed(self.events()) if isinstance(event, Script)), None)

    @property
    def script(self) -> LaunchBundle:
        """The same. Raises InputError where there is none."""
        if self.bundle is None:
            raise InputError("no script yet; say what to run and where")
        return self.bundle

    @property
    def machine(self) -> str | None:
        known = [event for event in self.events() if isinstance(event, Known)]
        chips = known[-1].chips if known else ()
        return next((chip.value for chip in chips if chip.field == "machine" and chip.value), None)


def found(
    talk: OpenConversation, said: str, given: Sequence[Attachment], name: str, task: Callable[..., None], *rest: Any
) -> None:
    """Do a task of the chat, its progress to stderr; print what it found, and keep it as a turn."""
    from assistant.plain import tell as say

    reports = []

    def tell(value: Any) -> None:
        if not isinstance(value, Working):
            reports.append(value)
        elif sys.stderr.isatty():
            print(f"  {value.what} …", file=sys.stderr, flush=True)

    task(tell, *rest)
    for report in reports:
        events = as_events(name, report)
        talk.session.turns.add(talk.session.thread, said, given, events)
        say(events)


def check(talk: OpenConversation, argument: str) -> None:
    one = subject(argument, talk.bundle, talk.machine)
    found(talk, f"/check {argument}".strip(), (), one.name, tasks.check, one.text, one.place, one.machine)


def rehearse(talk: OpenConversation, argument: str) -> None:
    one = subject(argument, talk.bundle, talk.machine)
    found(talk, f"/rehearse {argument}".strip(), (), one.name, tasks.rehearse, one.text, one.files, one.machine)


def why(talk: OpenConversation, argument: str) -> None:
    turns = talk.session.history()
    given = logs(argument) or next((turn.attachments for turn in reversed(turns) if turn.attachments), ())
    if not given:
        raise InputError("name the log: /why slurm-123.out")
    paths = tuple(one.path for one in given)
    found(talk, f"/why {argument}".strip(), given, given[0].name, tasks.why, paths, talk.machine)


def script(talk: OpenConversation, argument: str) -> None:
    for name, text in files(talk.script):
        print(f"\n{name}:\n\n{text}")


def save(talk: OpenConversation, argument: str) -> None:
    paths = write(talk.script, expanded(argument or "."))
    print(f"saved {', '.join(map(str, paths))}")


def new(talk: OpenConversation, argument: str) -> None:
    talk.session = Session(talk.session.settings, argument or time.strftime("%Y-%m-%d-%H%M%S"))
    print(f"conversation '{talk.session.thread}'")


def open_thread(talk: OpenConversation, argument: str) -> None:
    if not argument:
        sessions(talk, "")
        return
    known = talk.session.turns.threads()
    named = [thread.name for thread in known if argument.lower() in (thread.name.lower(), thread.title.lower())]
    if not named:
        raise InputError(f"no conversation '{argument[:40]}'; /sessions lists them")
    talk.session = Session(talk.session.settings, named[0])
    print(f"conversation '{named[0]}'")


def sessions(talk: OpenConversation, argument: str) -> None:
    for thread in talk.session.turns.threads(argument):
        begins = thread.title or " ".join(thread.begins.split())[:50] or "(a log)"
        print(f"{thread.at.astimezone():%Y-%m-%d %H:%M}  {thread.name}  {begins}")


def rename(talk: OpenConversation, argument: str) -> None:
    if not argument:
        raise InputError("say the name: /rename ViT on Perlmutter")
    talk.session.turns.entitle(talk.session.thread, argument)


def export(talk: OpenConversation, argument: str) -> None:
    path = expanded(argument or f"{talk.session.thread}.md")
    if exists(path):
        raise InputError(f"{path} is there already; give another file")
    try:
        path.write_text(talk.session.export(), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; give another file") from error
    print(f"wrote {path.resolve()}")


def clusters(talk: OpenConversation, argument: str) -> None:
    from assistant.cluster_text import describe
    from knowledge.catalogue import catalogue

    known = catalogue()
    if not argument:
        print("\n".join(f"{c.id:<15} {c.title} ({c.scheduler})" for c in known.clusters.values()))
        return
    cluster = known.named(argument, "/clusters")
    print(describe(cluster, known.files[cluster.id], date.today()))


def context(talk: OpenConversation, argument: str) -> None:
    from assistant.drawing import so_far

    known = [event for event in talk.events() if isinstance(event, Known)]
    print(f"conversation '{talk.session.thread}': {so_far(known[-1]) if known else 'nothing is decided yet'}")


def model(talk: OpenConversation, argument: str) -> None:
    from assistant.models import in_words

    print(in_words(talk.session.settings))


def show_help(talk: OpenConversation, argument: str) -> None:
    print("\n".join(f"{f'/{name} {takes}'.strip():<30} {says}" for name, (takes, says, _) in COMMANDS.items()))
    print("/quit                          leave; the conversation is kept\n@FILE in a message attaches it.")


# The command's name -> what it does.
DEEDS: dict[str, Callable[[OpenConversation, str], None]] = {
    "script": script, "check": check, "rehearse": rehearse, "why": why, "save": save, "new": new, "open": open_thread,
    "sessions": sessions, "rename": rename, "export": export, "clusters": clusters, "context": context, "model": model,
    "help": show_help,
}  # fmt: skip
# name -> what may follow, what it does, the function; the commands of the line mode in their order.
COMMANDS = {one.name: (one.argument, one.says, DEEDS[one.name]) for one in CHAT_COMMANDS if one.line}


def called(line: str) -> tuple[str, str] | None:
    """The command's name and its argument; None where the line is a message or a path."""
    word, _, argument = line.strip().partition(" ")
    if not word.startswith("/") or "/" in word[1:]:
        return None
    return word[1:].lower(), argument.strip()


def run(talk: OpenConversation, name: str, argument: str) -> None:
    """Raises MapleError with what to do."""
    if name not in COMMANDS:
        raise InputError(f"no command /{name[:20]} in the line mode; /help lists them")
    COMMANDS[name][2](talk, argument)
