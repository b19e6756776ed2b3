"""What may be meant by a word that is begun: a command after `/`, a file after `@`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from assistant.paths import expanded

MOST = 8
MOST_ENTRIES = 2_000


@dataclass(frozen=True, slots=True)
class CompletionItem:
    """What takes the place of the word, a few words on it, and whether more may follow it."""

    value: str
    note: str = ""
    goes_on: bool = False


def begun(before: str) -> tuple[str, int] | None:
    """The word that can be completed and where it begins, from the text before the cursor. None: there is none."""
    if before.startswith("/") and not any(c in before for c in " \n") and "/" not in before[1:]:
        return before, 0
    start = max(before.rfind(blank) for blank in " \n\t") + 1
    word = before[start:]
    return (word, start) if word.startswith("@") else None


def commands(word: str, table: Mapping[str, tuple[str, str, bool]]) -> tuple[CompletionItem, ...]:
    """The commands that begin so, then those that hold the letters.

    table: name -> what may follow, what it does, whether something must follow.
    """
    wanted = word[1:].lower()
    first = [name for name in table if name.startswith(wanted)]
    rest = [name for name in table if wanted and wanted in name and name not in first]
    return tuple(
        CompletionItem(f"/{name}", f"{argument}  {says}".strip(), more)
        for name in (*first, *rest)
        for argument, says, more in (table[name],)
    )


def files(word: str) -> tuple[CompletionItem, ...]:
    """The files and folders that begin so; hidden ones only where a dot was typed."""
    written = word[1:]
    folder, _, begins = written.rpartition("/")
    place = expanded(f"{folder}/" if "/" in written else ".")
    found: list[tuple[str, bool]] = []
    try:
        with os.scandir(place) as entries:
            for count, entry in enumerate(entries):
                if count > MOST_ENTRIES:
                    break
                if entry.name.startswith(begins) and (begins.startswith(".") or not entry.name.startswith(".")):
                    found.append((entry.name, entry.is_dir()))
    except OSError:
        return ()
    head = f"@{folder}/" if "/" in written else "@"
    return tuple(
        CompletionItem(f"{head}{name}{'/' if is_folder else ''}", "" if not is_folder else "folder", is_folder)
        for name, is_folder in sorted(found, key=lambda one: (one[1], one[0]))[:MOST]
    )
