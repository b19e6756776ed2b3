"""Which of the machines named is the target, and which the source of a job that moves."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph.extraction.sentences.asides import aside
from graph.extraction.sentences.context import is_negated, is_past
from graph.extraction.sentences.line import Line, NameSpan
from graph.extraction.sentences.patterns import pattern, pattern_list


def _role(name: str) -> re.Pattern[str]:
    return pattern("grammar.yaml", "roles", name)


def _moving(name: str) -> re.Pattern[str]:
    return pattern("intents.yaml", "moving", name)


@dataclass(frozen=True, slots=True)
class Roles:
    """The tokens of target and source; None where none is named."""

    target: int | None = None
    source: int | None = None


def machine_tokens(line: Line) -> list[tuple[int, NameSpan]]:
    """Machines meant, in order. A site's acronym counts only where no machine is named."""
    named = [(i, m) for i, m in line.mentions("machine") if not is_negated(line, i)]
    return [(i, m) for i, m in named if not m.weak] or named


def assign(line: Line, port: bool) -> Roles:
    """Target and source. Without a move there is a target only: the last machine named that is not of the past."""
    named = machine_tokens(line)
    if not named:
        return Roles(source=_instead(line)) if port else Roles()
    if not port:
        chosen = [i for i, _ in named if _role("chosen").search(line.left(i))]
        now = [i for i, _ in named if not is_past(line, i) and not _is_source(line, i)] or [i for i, _ in named]
        of_this_run = [i for i in now if aside(line, i) is None]
        return Roles((chosen or of_this_run or now)[-1])
    sources = [i for i, _ in named if _is_source(line, i) or (is_past(line, i) and len(named) > 1)]
    targets = [i for i, _ in named if i not in sources and _is_target(line, i)]
    return _complete(line, named, sources, targets)


def _complete(line: Line, named: list[tuple[int, NameSpan]], sources: list[int], targets: list[int]) -> Roles:
    """Fill in what the words leave open: of two machines, the first is left and the last is gone to."""
    value = {i: m.value for i, m in named}
    rest = [i for i in value if i not in sources and i not in targets]
    away = {value[i] for i in sources}
    target = targets[-1] if targets else next((i for i in reversed(rest) if value[i] not in away), None)
    if target is None and len(set(value.values())) > 1:
        target = named[-1][0]
    taken = value[target] if target is not None else None
    source = next((i for i in (*sources, *rest, *targets) if value[i] != taken), None)
    return Roles(target, source if source is not None else _instead(line))


def _instead(line: Line) -> int | None:
    """A machine that is given up: "at NERSC instead of Polaris"."""
    return next((i for i, m in line.mentions("machine") if is_negated(line, i) and not m.weak), None)


def _is_source(line: Line, token: int) -> bool:
    left, right = line.left(token), line.right(token)
    if _role("version").match(right) or _reached(left, right):
        return False
    if _role("source_on").search(left) or _role("straight").match(right):
        return True
    if _role("target_left").search(left):
        return False
    owned = _role("possessed").match(right) and (_role("owned").search(left) or not _role("not_owned").search(left))
    return bool(
        _role("source_left").search(left) or _role("straight").match(right) or owned or _role("away").match(right)
    )


def _reached(left: str, right: str) -> bool:
    """Whether what stands before a machine leads to it, though it looks like where the job comes from."""
    found = _role("reached").search(left)
    return found is not None and ("from" not in found[0] or right.startswith(" to "))


def _is_target(line: Line, token: int) -> bool:
    left, right = line.left(token), line.right(token)
    return _reached(left, right) or bool(
        _role("target_left").search(left) or _role("version").match(right) or _role("target_on").search(left)
    )


def is_move(line: Line, folded: str) -> bool:
    """Whether the words tell of a job that moves from one machine to another."""
    machines = {m.value for _, m in line.mentions("machine")}
    if any(aside(line, line.at(found.start() + 1)) is None for found in _role("port_word").finditer(line.canon)):
        return bool(machines) or " script " in line.canon or "<command>" in folded
    if len(machines) > 1 and any(p.search(line.canon) for name in ("moves", "moves_of_two") for p in _moves(name)):
        return True
    if _moving("made_over").search(folded):
        quoted = "<command>" in folded and ("same" in folded or _moving("command_over").search(folded) is not None)
        return len(machines) > 1 or (bool(machines) and quoted)
    return _given_up(line, folded) or (bool(machines) and _from_home(folded))


def _moves(name: str) -> tuple[re.Pattern[str], ...]:
    return pattern_list("grammar.yaml", name)


def _from_home(folded: str) -> bool:
    """A job that works on a laptop or a server of one's own, and is wanted elsewhere."""
    return all(_moving(name).search(folded) for name in ("home", "works", "wanted"))


def _given_up(line: Line, folded: str) -> bool:
    """A machine named after "instead of", or two machines with those words between them."""
    for _, mention in line.mentions("machine"):
        before = folded[max(0, mention.start - 30) : mention.start]
        if _moving("instead").search(before) and _moving("runs").search(folded):
            return True
    return len(line.mentions("machine")) > 1 and _moving("instead_of_site").search(folded) is not None
