"""All names in a text, each piece of text claimed once: files before accounts, accounts before machines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from graph.extraction.sentences.durations import CLOCK, DAYS_HOURS
from graph.extraction.sentences.labels import find_accounts, find_queues
from graph.extraction.sentences.lexicon import fold, read_yaml
from graph.extraction.sentences.line import NameSpan
from graph.extraction.sentences.machines import find_machines, guess_machines
from graph.extraction.sentences.methods import find_methods, guess_methods
from graph.extraction.sentences.models import find_models
from graph.extraction.sentences.programs import find_programs
from graph.extraction.sentences.taken import Taken


@cache
def _noise() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in read_yaml("labels.yaml")["noise"])


def find_names(text: str, taken: Iterable[NameSpan] = (), machine_before: str | None = None) -> list[NameSpan]:
    """Every name, none overlapping another; taken are pieces that are spoken for already.

    machine_before: the machine of the turns before, whose queues are meant where no machine is named.
    """
    folded = fold(text)
    claims = Claims(taken)
    claims.add(find_programs(text, folded))
    claims.add(find_accounts(text, folded))
    machines = claims.free(find_machines(text, folded))
    guessed = machines or claims.free(guess_machines(folded, []))
    known = frozenset((machine_before,)) if machine_before else frozenset()
    claims.add(find_queues(text, folded, frozenset(m.value for m in guessed) or known))
    claims.add(NameSpan("noise", m[0], *m.span()) for pattern in _noise() for m in pattern.finditer(folded))
    claims.add(NameSpan("clock", text[m.start() : m.end()], *m.span()) for m in CLOCK.finditer(folded))
    claims.add(NameSpan("clock", m["value"], *m.span("value")) for m in DAYS_HOURS.finditer(folded))
    claims.add(find_models(text, folded))
    claims.add(find_methods(text, folded))
    claims.add(guess_methods(folded))
    claims.add(machines)
    claims.add(find_machines(text, _without(folded, claims.found)))
    if len({m.value for m in machines}) < 2:
        claims.add(guess_machines(folded, list(claims.found)))
    return claims.found


def _without(folded: str, taken: Iterable[NameSpan]) -> str:
    """The text with taken pieces blanked: a shorter name may stand beside them (`mn5` in "mn5 acc partition")."""
    letters = list(folded)
    for mention in taken:
        letters[mention.start : mention.end] = " " * (mention.end - mention.start)
    return "".join(letters)


class Claims:
    """Mentions taken so far; a later one that overlaps an earlier one is dropped."""

    def __init__(self, taken: Iterable[NameSpan]) -> None:
        self.found: list[NameSpan] = []
        self._taken = Taken()
        self.add(taken)

    def free(self, mentions: Iterable[NameSpan]) -> list[NameSpan]:
        return [m for m in mentions if self._taken.is_free(m.start, m.end)]

    def add(self, mentions: Iterable[NameSpan]) -> None:
        for mention in mentions:
            if mention.end > mention.start and self._taken.is_free(mention.start, mention.end):
                self.found.append(mention)
                self._taken.add(mention.start, mention.end)
