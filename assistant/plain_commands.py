"""The commands of the line mode: those of the chat that need no screen, through the same functions."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from assistant.drawing import files
from assistant.errors import InputError
from assistant.events import Diagnosed, Known, Script
from assistant.saving import save as write
from assistant.session import Session
from assistant.tui.work import tasks
from assistant.tui.work.found import CheckReport, LogReport, RehearsalReport
from knowledge.types import LaunchBundle, Working


@dataclass(slots=True)
class Talk:
    """The conversation that is open; /new and /open change it."""

    session: Session

    def events(self) -> list[object]:
        return [event for turn in self.session.history() for event in turn.answer or ()]

    @property
    def bundle(self) -> LaunchBundle:
        """The newest script. Raises InputError where there is none."""
        scripts = [event.made.bundle for event in self.events() if isinstance(event, Script)]
        if not scripts:
            raise InputError("no script yet; say what to run and where, or name a file")
        return scripts[-1]

    @property
    def machine(self) -> str | None:
        known = [event for event in self.events() if isinstance(event, Known)]
        chips = known[-1].chips if known else ()
        return next((chip.value for chip in chips if chip.field == "machine" and chip.value), None)


def tell(value: object) -> None:
    """What a task finds, as text; its progress to stderr."""
    from assistant.plain import tell as say

    if isinstance(value, Working):
        if sys.stderr.isatty():
            print(f"  {value.what} …", file=sys.stderr, flush=True)
    elif isinstance(value, LogReport):
        say([Diagnosed(value.diagnosis)])
    elif isinstance(value, CheckReport | RehearsalReport):
        print(f"\n{value.text}")


def subject(talk: Talk, argument: str) -> tuple[LaunchBundle, str, str | None]:
    """The script that is meant with the files beside it, where it lies (- for nowhere), and its machine."""
    given = shlex.split(argument)
    if not given:
        return talk.bundle, "-", talk.machine
    from assistant.commands.rehearse import read_script

    text, beside = read_script(str(Path(given[0]).expanduser()))
    return LaunchBundle(given[0], text, beside, ""), given[0], given[1] if len(given) > 1 else None


def check(talk: Talk, argument: str) -> None:
    bundle, file, machine = subject(talk, argument)
    tasks.check(tell, bundle.script, file, machine)


def rehearse(talk: Talk, argument: str) -> None:
    bundle, _, machine = subject(talk, argument)
    tasks.rehearse(tell, bundle.script, bundle.files, machine)


def why(talk: Talk, argument: str) -> None:
    paths = tuple(str(Path(word).expanduser()) for word in shlex.split(argument))
    if not paths:
        raise InputError("name the log: /why slurm-123.out")
    tasks.why(tell, paths, talk.machine)


def script(talk: Talk, argument: str) -> None:
    for name, text in files(talk.bundle):
        print(f"\n{name}:\n\n{text}")


def save(talk: Talk, argument: str) -> None:
    paths = write(talk.bundle, Path(argument or ".").expanduser())
    print(f"saved {', '.join(map(str, paths))}")


def new(talk: Talk, argument: str) -> None:
    talk.session = Session(talk.session.settings, argument or time.strftime("%Y-%m-%d-%H%M%S"))
    print(f"conversation '{talk.session.thread}'")


def open_thread(talk: Talk, argument: str) -> None:
    if not argument:
        sessions(talk, "")
        return
    known = talk.session.turns.threads()
    named = [thread.name for thread in known if argument.lower() in (thread.name.lower(), thread.title.lower())]
    if not named:
        raise InputError(f"no conversation '{argument[:40]}'; /sessions lists them")
    talk.session = Session(talk.session.settings, named[0])
    print(f"conversation '{named[0]}'")


def sessions(talk: Talk, argument: str) -> None:
    for thread in talk.session.turns.threads(argument):
        begins = thread.title or " ".join(thread.begins.split())[:50] or "(a log)"
        print(f"{thread.at.astimezone():%Y-%m-%d %H:%M}  {thread.name}  {begins}")


def rename(talk: Talk, argument: str) -> None:
    if not argument:
        raise InputError("say the name: /rename ViT on Perlmutter")
    talk.session.turns.entitle(talk.session.thread, argument)


def export(talk: Talk, argument: str) -> None:
    path = Path(argument or f"{talk.session.thread}.md").expanduser()
    if path.exists():
        raise InputError(f"{path} is there already; give another file")
    try:
        path.write_text(talk.session.export(), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; give another file") from error
    print(f"wrote {path.resolve()}")


def clusters(talk: Talk, argument: str) -> None:
    from assistant.cluster_text import describe
    from knowledge.catalogue import catalogue

    known = catalogue()
    if not argument:
        print("\n".join(f"{c.id:<15} {c.title} ({c.scheduler})" for c in known.clusters.values()))
        return
    cluster = known.find(argument)
    if cluster is None:
        raise InputError(f"no machine '{argument[:40]}' is known; /clusters lists them")
    print(describe(cluster, known.files[cluster.id], date.today()))


def context(talk: Talk, argument: str) -> None:
    from assistant.drawing import so_far

    known = [event for event in talk.events() if isinstance(event, Known)]
    print(f"conversation '{talk.session.thread}': {so_far(known[-1]) if known else 'nothing is decided yet'}")


def model(talk: Talk, argument: str) -> None:
    from assistant.models import in_words

    print(in_words(talk.session.settings))


def show_help(talk: Talk, argument: str) -> None:
    print("\n".join(f"{f'/{name} {takes}'.strip():<30} {says}" for name, (takes, says, _) in COMMANDS.items()))
    print("/quit                          leave; the conversation is kept\n@FILE in a message attaches it.")


# name -> what may follow, what it does, the function.
COMMANDS: dict[str, tuple[str, str, Callable[[Talk, str], None]]] = {
    "script": ("", "show the script and the files beside it", script),
    "check": ("[FILE] [MACHINE]", "findings on the script, or on any file", check),
    "rehearse": ("[FILE] [MACHINE]", "run it here on a stand-in cluster", rehearse),
    "why": ("FILE ...", "why a job failed: from its log files", why),
    "save": ("[FOLDER]", "save the script and the files beside it", save),
    "new": ("[NAME]", "start a new conversation", new),
    "open": ("[NAME]", "go back to another conversation", open_thread),
    "sessions": ("[WORDS]", "all conversations, or those with the words", sessions),
    "rename": ("TITLE", "give this conversation a name", rename),
    "export": ("[FILE]", "write this conversation as Markdown", export),
    "clusters": ("[NAME]", "the machines that are known, or all about one", clusters),
    "context": ("", "what is known here", context),
    "model": ("", "which language model words the answers", model),
    "help": ("", "all commands", show_help),
}


def called(line: str) -> Sequence[str] | None:
    """The command's name and its argument; None where the line is a message or a path."""
    word, _, argument = line.strip().partition(" ")
    if not word.startswith("/") or "/" in word[1:]:
        return None
    return word[1:].lower(), argument.strip()


def run(talk: Talk, name: str, argument: str) -> None:
    """Raises MapleError with what to do."""
    if name not in COMMANDS:
        raise InputError(f"no command /{name[:20]} in the line mode; /help lists them")
    try:
        COMMANDS[name][2](talk, argument)
    except ValueError as error:
        raise InputError(f"'{argument[:40]}' cannot be read ({error}); close the quotes") from error
