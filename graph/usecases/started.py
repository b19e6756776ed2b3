"""The commands of a person's script before and after a change, so that no change of one touches another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from graph.extraction.script import read_script
from graph.extraction.shell_words import plain
from graph.extraction.training import weigh

# What is no value of the option before it: a further option, or a list of arguments.
NO_VALUE = re.compile(r"-+[A-Za-z]|.*\$(?:[@*]|\{\w+\[[@*])")


@dataclass(frozen=True, slots=True)
class OneCommand:
    """A command: what it is but for the arguments of the program that it starts, and these, word by word.

    argv: all its words; none where it starts no program.
    """

    head: object = None
    words: tuple[str, ...] = ()
    argv: tuple[str, ...] = field(default=(), compare=False)
    is_training: bool = field(default=False, compare=False)

    def without(self, name: str, now: OneCommand) -> bool:
        """Whether it is now without the option and its value."""
        gone = len(self.words) - len(now.words)
        at = [n for n in places_of(self.words, name) if self.words[:n] + self.words[n + gone :] == now.words]
        values = self.words[at[0] + 1 : at[0] + gone] if at else ()
        return self.head == now.head and bool(at) and not any(map(NO_VALUE.match, values))

    def goes_on(self, now: OneCommand) -> bool:
        """Whether its program gets all that it got, and more behind it."""
        return self.head == now.head and now.words[: len(self.words)] == self.words


def places_of(words: Sequence[str], name: str) -> list[int]:
    """Where an option stands among words."""
    return [n for n, word in enumerate(words) if word == name or word.startswith(f"{name}=")]


def started(text: str) -> list[OneCommand]:
    """Each command of the script, in its order. What starts no program is told by its words as they are written."""
    script, found = read_script(text), list[OneCommand]()
    for one in script.commands:
        program = one.chain.program if weigh(one) else None
        known = program or one.chain.shell_text is not None  # the text that a shell runs is read as commands too
        words = " ".join(map(plain, program.args)).split() if program else []
        what = (one.chain.layers, program and program.entry) if known else one.written
        head, argv = (what, one.redirects, one.background), one.argv if known else ()
        found.append(OneCommand(head, tuple(words), argv, one is script.training))
    return found


def changes(before: Sequence[OneCommand], text: str) -> list[tuple[OneCommand, OneCommand]]:
    """The commands that are others in the changed text, with what they are there."""
    both = zip_longest(before, started(text), fillvalue=OneCommand())
    return [(was, now) for was, now in both if was != now]
