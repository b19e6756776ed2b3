"""What the commands of the chat work on, and what they found as events; the same for the screen and the line mode."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from assistant.attachments import attach, clean
from assistant.errors import InputError
from assistant.events import Diagnosed, Kept, Report
from assistant.paths import expanded
from assistant.reading import files_beside, script_text
from assistant.tui.work.found import CheckReport, LogReport, RehearsalReport
from knowledge.types import Attachment, LaunchBundle, SideFile


@dataclass(frozen=True, slots=True)
class NamedScript:
    """A script that is meant: its name, where it lies (- for nowhere), the files beside it, its machine if known."""

    name: str
    place: str
    text: str
    files: tuple[SideFile, ...]
    machine: str | None


def words(argument: str) -> list[str]:
    """The words of an argument, as a shell splits them. Raises InputError."""
    try:
        return shlex.split(argument)
    except ValueError as error:
        raise InputError(f"'{argument[:40]}' cannot be read ({error}); close the quotes") from error


def absolute(word: str) -> str:
    """A path for a child process, whose current folder is another one where ours has changed."""
    return str(expanded(word).absolute())


def subject(argument: str, bundle: LaunchBundle | None, machine: str | None) -> NamedScript:
    """The file and the machine that the argument names, else the conversation's own. Raises InputError."""
    given = words(argument)
    if given:
        place = absolute(given[0])
        text = script_text(place)
        return NamedScript(given[0], place, text, files_beside(place), given[1] if len(given) > 1 else None)
    if bundle is None:
        raise InputError("no script yet; say what to run and where, or name a file")
    return NamedScript(bundle.name, "-", bundle.script, bundle.files, machine)


def logs(argument: str) -> tuple[Attachment, ...]:
    """The logs that the argument names; of a folder the name ends in a slash. Raises InputError."""
    paths = [expanded(word).absolute() for word in words(argument)]
    return tuple(Attachment(f"{p.name}/", str(p), 0) if p.is_dir() else attach(p) for p in paths)


def as_events(name: str, found: CheckReport | RehearsalReport | LogReport) -> list[Kept]:
    """What is said of it, and kept."""
    if isinstance(found, LogReport):
        return [Diagnosed(found.diagnosis)]
    return [Report(clean(f"{name}\n\n{found.text}"))]
