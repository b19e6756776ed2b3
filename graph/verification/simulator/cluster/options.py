"""One parser for the options of all launchers; the tables are in knowledge/launchers/programs.yaml."""

from __future__ import annotations

import difflib
import shutil
from dataclasses import dataclass

from knowledge.launcher_options import OptionSet, launcher_table

# The launchers that are stood in for, and whose options each takes.
LAUNCHERS: dict[str, OptionSet] = {
    name: launcher_table().sets[taken]
    for name, taken in {
        "srun": "srun", "mpiexec": "pals", "mpirun": "open_mpi", "ibrun": "ibrun", "jsrun": "jsrun", "lrun": "lrun",
        "flux run": "flux",
    }.items()
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parsed:
    """What was given: option name -> its values in order (a flag: an empty text), and the command after them."""

    options: dict[str, list[str]]
    command: tuple[str, ...]
    not_modelled: tuple[str, ...] = ()

    def last(self, name: str) -> str | None:
        return self.options[name][-1] if name in self.options else None

    def count(self, name: str) -> int | None:
        """The option as a whole number. Raises LayoutRefusedError when it is none."""
        text = self.last(name)
        if text is None:
            return None
        if not text.isdigit() or int(text) < 1:
            raise LayoutRefusedError(f'error: Invalid numeric value "{text}" for {name}.')
        return int(text)


class LayoutRefusedError(Exception):
    """The launcher refuses; the text is what it prints after its own name."""


def key(accepts: OptionSet, option: str) -> str:
    """What an option is asked for by: what it tells, or its own name."""
    return accepts.means.get(option) or option.lstrip("-")


def parse(program: str, accepts: OptionSet, words: list[str], real: tuple[str, ...] = ()) -> Parsed:
    """Read a launcher's own options, up to the first word that is none. Raises LayoutRefusedError on an unknown one."""
    known = [*accepts.values, *accepts.pairs, *accepts.optional, *accepts.flags]
    found: dict[str, list[str]] = {}
    strange: list[str] = []
    left = list(words)
    while left and left[0].startswith("-") and left[0] not in ("-", "--"):
        word = left.pop(0)
        name, equals, attached = word.partition("=") if word.startswith("--") or accepts.one_dash else (word, "", "")
        name = full_name(name, known)
        given = found.setdefault(key(accepts, name), []) if name in known else []
        if name in accepts.pairs:
            given.append(" ".join(left[:2]))
            left = left[2:]
        elif name in accepts.values:
            if not equals and not left:
                raise LayoutRefusedError(f"option '{word}' requires an argument")
            given.append(attached if equals else left.pop(0))
        elif name in accepts.optional:
            given.append(attached)
        elif name in accepts.flags:
            given.append("")
        elif word.startswith("--") and (name in real or not is_slip(name, known)):
            strange.append(word)
            if not equals and len(left) > 1 and is_value(left):
                left.pop(0)
        else:
            short(program, accepts, word, left, found)
    return Parsed(found, tuple(left[1:] if left[:1] == ["--"] else left), tuple(strange))


def is_slip(name: str, known: list[str]) -> bool:
    """Whether an option is nearly one that there is: the real launcher refuses it. Else it may be a plug-in's."""
    return bool(difflib.get_close_matches(name, [word for word in known if word.startswith("--")], 1, 0.72))


def is_value(left: list[str]) -> bool:
    """Whether the next word belongs to an option that we do not know: a program follows behind it."""
    return (
        not left[0].startswith("-")
        and shutil.which(left[0]) is None
        and (left[1].startswith("-") or shutil.which(left[1]) is not None)
    )


def full_name(name: str, known: list[str]) -> str:
    """A long option may be cut short where that is unambiguous, as getopt_long has it."""
    if not name.startswith("--") or name in known:
        return name
    longer = {word for word in known if word.startswith(name)}
    return longer.pop() if len(longer) == 1 else name


def short(program: str, accepts: OptionSet, word: str, left: list[str], found: dict[str, list[str]]) -> None:
    """Short options written together (`-n8`, `-lu`, `-ulN2`). Raises LayoutRefusedError when one is unknown."""
    if word.startswith("--"):
        raise LayoutRefusedError(accepts.refusal.format(program=program, word=word))
    rest = word[1:]
    while rest:
        letter, rest = "-" + rest[0], rest[1:]
        if letter in accepts.values | accepts.optional:
            value = rest or (left.pop(0) if left and letter in accepts.values else "")
            found.setdefault(key(accepts, letter), []).append(value)
            return
        if letter not in accepts.flags:
            raise LayoutRefusedError(accepts.refusal.format(program=program, word=word))
        found.setdefault(key(accepts, letter), []).append("")
