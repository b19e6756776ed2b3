"""One message, read by itself: the values it gives and what it takes back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from graph.extraction.sentences import choose
from graph.extraction.sentences.asides import Aside, aside
from graph.extraction.sentences.choose import SaidValue
from graph.extraction.sentences.context import is_negated
from graph.extraction.sentences.counts import SaidCount, find_counts, of_other_runs
from graph.extraction.sentences.durations import find_durations, hms
from graph.extraction.sentences.flags import Flag, find_flags
from graph.extraction.sentences.layout import LaidOutMessage, take_apart
from graph.extraction.sentences.lexicon import fold
from graph.extraction.sentences.line import Line, NameSpan, make_line
from graph.extraction.sentences.names import find_names
from graph.extraction.sentences.programs import (
    find_arguments,
    find_container,
    find_environment,
    find_options,
)
from graph.extraction.sentences.roles import assign, is_move
from graph.reading.scope import wanted
from knowledge.types import JobRequest

# A machine that the catalogue has not, by its name.
CALLED = re.compile(
    r"\b(?:cluster|machine|system|supercomputer)\b[^.,;!?\n]{0,30}?\b(?:called|named) [\"'`]?([A-Za-z][\w-]{2,20})",
    re.I,
)
BOUND = re.compile(r"\b(?:max(?:imum)?|limit|longest|allow(?:s|ed)?)\b(?: (?:is|are|of|time|walltime))*\W*$", re.I)
COUNTED = ("nodes", "gpus_per_node", "total_gpus")
KINDS = ("strategy", "framework", "machine", "queue", "account", "entry", "model")


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """values: field -> what was said. counts are settled later, when the machine and the turns before are known.

    quoted: what commands and scripts in the message say; the person's own words go before it.
    """

    message: LaidOutMessage
    line: Line
    values: Mapping[str, SaidValue]
    counts: tuple[SaidCount, ...]
    quoted: Mapping[str, SaidValue]
    denied: Mapping[str, frozenset[str]] = field(default_factory=dict)
    move: bool = False


def read(text: str, before: JobRequest) -> SentenceReading:
    """Read one message. Pure; bounded by layout.MOST."""
    message = take_apart(text)
    flags = find_flags(message.said, prose=True)
    taken = [NameSpan("noise", "", f.start, f.end) for f in _apart(flags)]
    line = make_line(message.said, find_names(message.said, taken, before.machine))
    folded = fold(message.said)
    move = is_move(line, folded)
    counts = find_counts(line)
    others = of_other_runs(line, counts, before.nodes is not None)
    values = _values(line, message, move, before.strategy, others)
    values = {name: said for name, said in values.items() if not (getattr(before, name) and _is_elsewhere(line, name))}
    values |= {name: said for name, said in _flag_values(flags, message.said).items() if name not in values}
    return SentenceReading(
        message,
        line,
        values,
        _in_order([c for c in counts if aside(line, c.first) not in others], flags, line),
        _quoted(message),
        {kind: frozenset(choose.denied(line, kind)) for kind in KINDS},
        move,
    )


def _apart(flags: list[Flag]) -> list[Flag]:
    """Flags that do not overlap."""
    out: list[Flag] = []
    for flag in sorted(flags, key=lambda f: f.start):
        if not out or flag.start >= out[-1].end:
            out.append(flag)
    return out


def _values(
    line: Line, message: LaidOutMessage, move: bool, strategy_before: str | None, others: Set[Aside]
) -> dict[str, SaidValue]:
    roles = assign(line, move)
    found: dict[str, SaidValue | None] = {}
    for name, token in (("machine", roles.target), ("source_machine", roles.source)):
        mention = line.tokens[token].mention if token is not None else None
        found[name] = SaidValue(mention.value, line.words(token, token)) if mention and token is not None else None
    if not line.mentions("machine") and (called := CALLED.search(message.said)):
        found["machine"] = SaidValue(called[1].lower(), called[0])
    found["strategy"] = choose.strategy(line, strategy_before)
    found["framework"] = choose.framework(line)
    found["model"] = choose.model(line)
    found["entry"] = choose.entry(line, move)
    own = find_options(wanted(message.said), str(entry.value) if (entry := found["entry"]) else None, flags_of(message))
    found["args"] = SaidValue(own, own) if own else None
    for name in ("account", "queue"):
        left_behind = roles.source if roles.target is not None else None
        named = [p for p in choose.meant(line, name) if not _of(line, p[0], left_behind) and not _of_others(line, p[0])]
        found[name] = choose.last(line, named)
    found["walltime"] = _walltime(line, others)
    folded = fold(message.said)
    for name, finder in (("container", find_container), ("environment", find_environment)):
        value = finder(message.said, folded)
        found[name] = SaidValue(value, value) if value else None
    if choose.is_replaced(line, found["framework"], found["strategy"]):
        found["framework"] = None
    if found["strategy"] is None:
        found["strategy"] = choose.by_file_names(line, lambda kind: kind == "strategy")
    if not move and found["framework"] is None:
        found["framework"] = choose.horovod(found["strategy"])
    if choose.trains_beside(folded, found["framework"], found["entry"]):
        found["framework"] = None
    if served := choose.served(folded, found["framework"], found["model"], found["entry"]):
        found["entry"], found["args"] = served, None
        found["framework"] = found["framework"] or SaidValue(str(served.value).split()[0], served.words)
    return {name: said for name, said in found.items() if said is not None}


def flags_of(message: LaidOutMessage) -> list[int]:
    """Where options stand that say something about the job itself."""
    return [flag.start for flag in find_flags(message.said, prose=True)]


def _of(line: Line, token: int, machine: int | None) -> bool:
    """Whether the nearest machine named before this token is the one given."""
    named = [i for i, _ in line.mentions("machine") if i < token]
    return bool(named) and named[-1] == machine


def _is_elsewhere(line: Line, name: str) -> bool:
    """Whether all that names this field is told of another run, so that what stands is not changed."""
    told = [aside(line, token) for token, _ in line.mentions(name)]
    return bool(told) and all(a is not None and a.elsewhere for a in told)


def _of_others(line: Line, token: int) -> bool:
    """Whether somebody else runs with it: nobody charges another's account."""
    told = aside(line, token)
    return told is not None and told.others


def _walltime(line: Line, others: Set[Aside]) -> SaidValue | None:
    """The last length of time; one that words call a walltime goes before one that they do not.

    others: pieces about other runs, whose times say nothing of this one.
    """
    durations = [d for d in find_durations(line) if not is_negated(line, d.first)]
    durations = [d for d in durations if aside(line, d.first) not in others]
    durations = [d for d in durations if aside(line, d.first) is None] or durations
    durations = [d for d in durations if not _is_bound(line, d.first)] or durations
    cued = [d for d in durations if d.cued] or durations
    if not cued:
        return None
    chosen = durations[-1] if not durations[-1].cued and _corrects(line, durations[-1].first) else cued[-1]
    return SaidValue(hms(chosen.seconds), line.words(chosen.first, chosen.last))


def _is_bound(line: Line, token: int) -> bool:
    """Whether a time is what the site allows at most, rather than what is wanted: `max 2 days. put 1 day`."""
    start = line.tokens[token].start
    return BOUND.search(line.text[max(0, start - 24) : start]) is not None


def _corrects(line: Line, token: int) -> bool:
    return any(t.key in ("oops", "no", "so", "but", "or") for t in line.tokens[max(0, token - 3) : token])


def _flag_values(flags: list[Flag], text: str) -> dict[str, SaidValue]:
    out: dict[str, SaidValue] = {}
    for flag in sorted(flags, key=lambda f: not f.weak):
        if flag.field not in COUNTED:
            out[flag.field] = SaidValue(flag.value, text[flag.start : flag.end].strip())
    return out


def _in_order(counts: list[SaidCount], flags: list[Flag], line: Line) -> tuple[SaidCount, ...]:
    """All counts in the order of the text, so that the last word wins; those of weaker options first."""
    end = len(line.tokens) - 1
    given = [(f.weak, _token(line, f, end), f) for f in flags if f.field in COUNTED]
    weak, strong = (
        [SaidCount(f.field, int(f.value), at, at) for w, at, f in given if w == kind] for kind in (True, False)
    )
    return (*weak, *sorted((*counts, *strong), key=lambda c: c.first))


def _token(line: Line, flag: Flag, end: int) -> int:
    return next((i for i, t in enumerate(line.tokens) if t.start <= flag.start < max(t.end, t.start + 1)), max(end, 0))


def _quoted(message: LaidOutMessage) -> dict[str, SaidValue]:
    """What the commands in backquotes say. A whole pasted script is read elsewhere."""
    out: dict[str, SaidValue] = {}
    for command in message.quoted[: len(message.quoted) - message.has_script]:
        shown = " ".join(command.split())[:80]
        out |= {name: SaidValue(said.value, shown) for name, said in read_command(command).items()}
    return out


def read_command(command: str) -> dict[str, SaidValue]:
    """The fields that a quoted command line gives."""
    flags = find_flags(command, prose=False)
    line = make_line(command, find_names(command, [NameSpan("noise", "", f.start, f.end) for f in _apart(flags)]))
    found = {
        "strategy": choose.strategy(line) or choose.by_file_names(line, lambda kind: kind == "strategy"),
        "framework": choose.framework(line),
        "entry": choose.entry(line, port=True),
    }
    out = {name: said for name, said in found.items() if said is not None}
    for flag in sorted(flags, key=lambda f: not f.weak):
        out[flag.field] = SaidValue(flag.value, command[flag.start : flag.end].strip())
    arguments = find_arguments(command)
    if arguments and "entry" in out:
        out["args"] = SaidValue(arguments, arguments)
    return out
