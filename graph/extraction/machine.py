"""Which machine a script was written for: marks of modules, paths, partitions, accounts and comments, weighed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from pathlib import Path

from graph.extraction.script import ReadScript
from knowledge.catalogue import catalogue
from knowledge.data_file import read_data
from knowledge.errors import FactsError

MARKS = Path(__file__).parent / "machine_marks.yaml"
ENOUGH = 3
# A shorter word (`gh`, `pvc`) is the name of a card, and of a queue on many machines.
DISTINCT = 4
# What hints in the code must add up to beside a comment that names the machine.
TELLING = 2
# A comment that names a machine in order to say that it is another one.
DENIED = re.compile(r"\?|\b(not|no|nicht|unlike|instead of|from|ported|adapted|based on|was|old|formerly|than)\b", re.I)

# The headline of the scripts that are written here: it names the machine.
OWN_HEADLINE = re.compile(r"^# ([^:\n]+): .* ranks \((?:.|\n# )*?\n# Facts of ", re.M)

Weights = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one machine: regular expression -> weight, by where it is looked for."""

    scheduler: str | None = None
    text: Weights = field(default_factory=dict)
    comments: Weights = field(default_factory=dict)
    accounts: Weights = field(default_factory=dict)
    constraints: Weights = field(default_factory=dict)
    queues: Weights = field(default_factory=dict)
    modules: Weights = field(default_factory=dict)
    queue_gpus: Mapping[str, int] = field(default_factory=dict)


def checked_marks(name: str, data: object) -> Marks:
    """One machine's marks as read. Raises FactsError with file, key and reason."""
    known = {one.name for one in fields(Marks)}
    if not isinstance(data, dict) or not set(data) <= known:
        raise FactsError(f"{MARKS}: {name}: keys are {', '.join(sorted(known))}")
    for key, weights in data.items():
        if key != "scheduler" and not (isinstance(weights, dict) and all(isinstance(w, int) for w in weights.values())):
            raise FactsError(f"{MARKS}: {name}.{key}: is not a mapping to whole numbers")
        for pattern in weights if key not in ("scheduler", "queue_gpus") else ():
            try:
                re.compile(pattern)
            except re.error as error:
                raise FactsError(f"{MARKS}: {name}.{key}: '{pattern}' is no regular expression: {error}") from error
    return Marks(**data)


@cache
def marks() -> Mapping[str, Marks]:
    """The marks by machine id, those of the catalogue's other machines made from their names and queues.

    Raises FactsError where the file is wrong.
    """
    found = {name: checked_marks(name, value) for name, value in read_data(MARKS).items()}
    for cluster in catalogue().clusters.values():
        if cluster.id not in found:
            names = "|".join(re.escape(n) for n in (cluster.id, *cluster.names) if len(n) > 4)
            queues = "|".join(re.escape(q.id) for q in cluster.queues if len(q.id) > 7)
            found[cluster.id] = Marks(
                scheduler=cluster.scheduler,
                text={rf"\b({names})\b": 3} if names else {},
                comments={rf"\b({names})\b": 3} if names else {},
                queues={queues: 2} if queues else {},
            )
    return found


@dataclass(frozen=True, slots=True)
class MachineMark:
    """A mark that was found: its weight, its text, and whether it only stands in a comment."""

    points: int
    text: str
    remark: bool = False


@dataclass(frozen=True, slots=True)
class MachineGuess:
    """The machine that a script was written for, by its heaviest mark: the text found, and its line (0: not in one).

    strong: one mark alone is found nowhere else; else several hints add up, on which no error may rest.
    """

    machine: str
    mark: str
    line: int
    strong: bool


def guess_machine(script: ReadScript, scheduler: str) -> MachineGuess | None:
    """The machine with most weight; None where the marks do not suffice or two machines have as many.

    A script that was written here says in its headline which machine it is for.
    """
    own = OWN_HEADLINE.search(script.text)
    cluster = catalogue().find(own[1]) if own else None
    if own and cluster:
        return MachineGuess(cluster.id, own[1], script.text[: own.start()].count("\n") + 1, True)
    seen = ScriptMarks(script)
    hits = {
        name: list(seen.hits(one))
        for name, one in marks().items()
        if one.scheduler is None or scheduler in ("none", one.scheduler)
    }
    weights = {name: sum(mark.points for mark in found) for name, found in hits.items()}
    best = max(weights.values(), default=0)
    found = [name for name, weight in weights.items() if weight == best]
    if best < ENOUGH or len(found) != 1:
        return None
    of_code = [mark for mark in hits[found[0]] if not mark.remark]
    named = len(of_code) < len(hits[found[0]])
    strong = any(mark.points >= ENOUGH and len(mark.text) >= DISTINCT for mark in of_code)
    strong = strong or (named and sum(mark.points for mark in of_code) >= TELLING)
    mark = max(of_code if strong and of_code else hits[found[0]], key=lambda mark: mark.points)
    lines = script.text.splitlines()
    line = next((number for number, text in enumerate(lines, 1) if mark.text and mark.text in text), 0)
    return MachineGuess(found[0], mark.text, line, strong)


def machine_of(script: ReadScript, scheduler: str) -> str | None:
    """The guessed machine's id, from weak marks too: good enough to ask about, not to judge by."""
    found = guess_machine(script, scheduler)
    return found.machine if found else None


# Characters and comments in which some hundred patterns are looked for.
MOST_CODE, MOST_COMMENTS = 60_000, 500


class ScriptMarks:
    """The parts of a script that marks are looked for in."""

    def __init__(self, script: ReadScript) -> None:
        active = {one.option: one.value for one in script.active.values()}
        comment_lines = dict(script.comments)
        lines = script.text.splitlines()
        dead = {one.line for one in script.directives if not one.active}
        self.code = "\n".join(
            line.removesuffix(comment_lines.get(number, ""))
            for number, line in enumerate(lines, 1)
            if number not in dead
        )[:MOST_CODE]
        self.comments = [c for number, c in script.comments if number not in dead][:MOST_COMMENTS]
        self.accounts = values(active, "account", "project", "group", "bank")
        self.queues = values(active, "partition", "queue", "qos")
        self.constraints = values(active, "constraint")
        self.modules = [name for _, name in script.modules]

    def hits(self, one: Marks) -> Iterator[MachineMark]:
        """Each mark of a machine that is here."""
        for pattern, points in one.text.items():
            # Names of variables differ by their case.
            if found := re.search(pattern, self.code, 0 if r"\$" in pattern else re.I):
                yield MachineMark(points, found[0])
        for pattern, points in one.comments.items():
            if commented := self.commented(pattern):
                yield MachineMark(points, commented, True)
        for patterns, texts in (
            (one.accounts, self.accounts),
            (one.queues, self.queues),
            (one.constraints, self.constraints),
            (one.modules, self.modules),
        ):
            yield from matches(patterns, texts)

    def commented(self, pattern: str) -> str:
        """What a comment says of it, where the comment does not deny it."""
        found = (re.search(pattern, comment, re.I) for comment in self.comments if not DENIED.search(comment))
        return next((one[0] for one in found if one), "")


def values(active: Mapping[str, str], *options: str) -> list[str]:
    return [active[name] for name in options if active.get(name)]


def matches(patterns: Weights, texts: Iterable[str]) -> Iterator[MachineMark]:
    """The mark of each pattern that one whole text matches."""
    listed = list(texts)
    for pattern, points in patterns.items():
        found = next((text for text in listed if re.fullmatch(pattern, text)), None)
        if found is not None:
            yield MachineMark(points, found)


def gpus_of_queue(machine: str | None, queue: str | None) -> int | None:
    """GPUs that a queue hands out by itself, where the machine has such queues."""
    return marks()[machine].queue_gpus.get(queue) if machine in marks() and machine and queue else None


# Characters and words of a printed text that are looked at.
MOST_PRINTED, MOST_WORDS = 20_000, 600
# A name by itself may be a person's or a model's; in a path of the machine or an address it is the machine's.
PLACE = re.compile(r"""(?<![\w.~$/-])/(?!(?:home|users?)/)[^\s"'`,;()<>=]+|(?<![\w-])[\w-]+(?:\.[a-z][\w-]*){2,}""")
PRINTED_WORD = re.compile(r"[A-Za-z][\w-]{3,}")


def machine_shown(texts: Iterable[str]) -> tuple[str | None, bool]:
    """The described machine whose own marks stand in what programs or a scheduler printed, and whether they are paths
    or hosts of it; else they are queues or accounts that are found nowhere else. None where none or several are."""
    return shown_by("\n".join(text[:MOST_PRINTED] for text in texts)[:MOST_PRINTED])


@lru_cache(32)
def shown_by(text: str) -> tuple[str | None, bool]:
    """The same for a text that is short enough to be kept."""
    places = "\n".join(dict.fromkeys(one[0] for one in PLACE.finditer(text)))
    here = {name for name in described_marks() if has_place(marks()[name], places)}
    if len(here) == 1:
        return here.pop(), True
    words = list(dict.fromkeys(PRINTED_WORD.findall(text)))[:MOST_WORDS]
    named = {name for name in described_marks() if has_name(marks()[name], words)} if not here else set()
    return (named.pop() if len(named) == 1 else None), False


def described_marks() -> list[str]:
    return [name for name in marks() if catalogue().find(name)]


def has_place(one: Marks, places: str) -> bool:
    sure = (pattern for pattern, points in one.text.items() if points >= ENOUGH and r"\$" not in pattern)
    return any(len(found[0]) >= DISTINCT for pattern in sure for found in re.finditer(pattern, places, re.I))


def has_name(one: Marks, words: Iterable[str]) -> bool:
    sure = {pattern: n for names in (one.accounts, one.queues) for pattern, n in names.items() if n >= ENOUGH}
    return any(len(mark.text) >= DISTINCT for mark in matches(sure, words))
