"""Which of the machines named is the target, and which the source of a job that moves."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph.extraction.sentences.context import is_negated, is_past
from graph.extraction.sentences.line import Line, Mention

WORDS = r"(?:(?:a|un|my|our|your|this|that|existing|current|old|working|good|mein\w*|unser\w*|mi|mis|mon|ma|nos|notre|mio|mia|meu|minha|nuestro|script|run|have|machine|cluster|system|now|code|have|one|same|of|works|fine|well|already|it|them|version|place|over) )"
SOURCE_LEFT = re.compile(rf" from {WORDS}{{0,4}}$")
TARGET_LEFT = re.compile(rf" (?:to|arrow|for|port) {WORDS}{{0,3}}$")
TARGET_ON = re.compile(
    r" (?:(?:run|start|work|going|use|it|that|this|script|same|job|time|so|them|target|be|launch|works) (?:now )?|now )on $"
)
SOURCE_ON = re.compile(
    r" (?:works|had|have|used|written|wrote|made|tested|use|was|were|been|developed)(?: (?:it|fine|well|just|already|all|good|great|perfectly|script|code|run|this|that|a|un|my|one|time|ok|okay|nicely|without|problems|flawlessly|is|<\w+>))* (?:on|for|to|with|at)?\s?$"
)
POSSESSED = re.compile(
    r"^ (?:-|'|s )?\s?(?:s )?(?:<[SFLE]> |batch |old |existing |training |jsrun |submit )*(?:script|code|run|setup|version of|workflow|config|launch|write|sh|directives|header)\b"
)
OWNED = re.compile(
    r" (?:my|our|this|that|an|a|un|existing|old|working|current|mein\w*|unser\w*|mi|mon|notre|mio|meu|的|following|below|attached|same) $"
)
VERSION = re.compile(r"^ (?:' ?s |- )?(?:version|port|flavou?r|counterpart|edition|variant|style)\b")
STRAIGHT = re.compile(r"^ (?:script |run )?(?:arrow|to|a) (?:the |my )?<M>")
NOW_AWAY = re.compile(r"^ (?:is gone|not_after|is (?:being )?(?:retired|decommissioned|shut))")


@dataclass(frozen=True, slots=True)
class Roles:
    """The tokens of target and source; None where none is named."""

    target: int | None = None
    source: int | None = None


def machine_tokens(line: Line) -> list[tuple[int, Mention]]:
    """Machines meant, in order. A site's acronym counts only where no machine is named."""
    named = [(i, m) for i, m in line.mentions("machine") if not is_negated(line, i)]
    return [(i, m) for i, m in named if not m.weak] or named


def assign(line: Line, port: bool) -> Roles:
    """Target and source. Without a move there is a target only: the last machine named that is not of the past."""
    named = machine_tokens(line)
    if not named:
        return Roles(source=_instead(line)) if port else Roles()
    if not port:
        now = [i for i, _ in named if not is_past(line, i) and not _is_source(line, i)] or [i for i, _ in named]
        return Roles(now[-1])
    sources = [i for i, _ in named if _is_source(line, i) or (is_past(line, i) and len(named) > 1)]
    targets = [i for i, _ in named if i not in sources and _is_target(line, i)]
    return _complete(line, named, sources, targets)


def _complete(line: Line, named: list[tuple[int, Mention]], sources: list[int], targets: list[int]) -> Roles:
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
    if VERSION.match(right):
        return False
    if SOURCE_ON.search(left) or STRAIGHT.match(right):
        return True
    if TARGET_LEFT.search(left):
        return False
    owned = POSSESSED.match(right) and (OWNED.search(left) or not re.search(r" (?:to|on|for|a|un|write|one) $", left))
    return bool(SOURCE_LEFT.search(left) or STRAIGHT.match(right) or owned or NOW_AWAY.match(right))


def _is_target(line: Line, token: int) -> bool:
    left, right = line.left(token), line.right(token)
    return bool(TARGET_LEFT.search(left) or VERSION.match(right) or TARGET_ON.search(left))


PORT_WORD = re.compile(r" port (?!\d|already|is |in |number|=)")
MOVES = (
    re.compile(r" from (?:\S+ ){0,4}?<M> (?:(?!\. |; )\S+ ){0,16}?(?:to|arrow|a) (?:\S+ ){0,2}?<M> "),
    re.compile(r" <M> (?:script |run )?(?:arrow|to) (?:the |my )?<M> "),
    re.compile(r" <M> (?:(?!\. )\S+ ){0,12}?arrow (?:\S+ ){0,2}?<M> "),
    re.compile(r" (?:of|from) <M> (?:a|to|arrow|on) <M> "),
    re.compile(r" <M> (?:script|run) (?:oops|to|->) (?:\S+ ){0,2}<M> "),
    re.compile(
        r" (?:works|had|have)\b(?: \S+){0,8} (?:on|for|from|at) (?:a |un |my |our )?<M> .* (?:on|to|for) (?:a |un |the )?<M> "
    ),
    re.compile(r" (?:my|our|mein\w*|mi|mon) <M> (?:\S+ )(?:on|to|for) (?:\S+ ){0,2}?<M> "),
    re.compile(r" works (?:\S+ ){0,3}on <M> .*(?:now|want|do|same|please|then) (?:\S+ ){0,6}<M> "),
    re.compile(r" same (?:\S+ ){0,4}?(?:for|on|to|at) (?:\S+ ){0,2}?<M> "),
    re.compile(
        r" (?:<M>|version) (?:version|script|run|edition|variant)? ?(?:of|for) (?:\S+ ){0,3}<M> (?:\S+ ){0,2}(?:script|run|code)"
    ),
    re.compile(
        r" (?:my|our|this|a|un|mein\w*|mi|mon) (?:<\S> )?<M> (?:\S+ ){0,3}?(?:script|run|code)\b.*? (?:on|to|for) (?:\S+ ){0,2}?<M> "
    ),
    re.compile(r" (?:run|works?|use|used|start) (?:\S+ ){0,6}?on <M> not (?:\S+ ){0,2}?<M> "),
    re.compile(r" on <M> (?:what|the same|same) (?:\S+ ){0,4}(?:on|for) <M> "),
)
ELSEWHERE = re.compile(
    r"\b(?:instead\s+of|anstatt|statt|en\s+vez\s+de|en\s+lugar\s+de|au\s+lieu\s+de|invece\s+di|em\s+vez\s+de)\s+(?:on\s+|at\s+|the\s+|auf\s+|en\s+|sur\s+|su\s+)?$"
)
HOME = re.compile(
    r"\b(?:my|our|the|a|local|lab|group'?s?)\s+(?:\w+\s+)?(?:laptop|workstation|lab\s+server|server|desktop|box|local\s+machine|own\s+machine|colab|notebook|pc)\b|\bcolab\b|\blocally\b"
)


def is_move(line: Line, folded: str) -> bool:
    """Whether the words tell of a job that moves from one machine to another."""
    machines = {m.value for _, m in line.mentions("machine")}
    if PORT_WORD.search(line.canon):
        return bool(machines) or " script " in line.canon or "<command>" in folded
    if any(pattern.search(line.canon) for pattern in MOVES[:5]):
        return len(machines) > 1
    if len(machines) > 1 and any(pattern.search(line.canon) for pattern in MOVES[5:]):
        return True
    if re.search(
        r"\b(?:turn|make|get|change)\s+(?:this|it|that|the\s+following|my)\b[^.?!\n]{0,60}\b(?:into|for|(?:work|run|go|going|running)\s+on|to)\b",
        folded,
    ):
        return len(machines) > 1 or (bool(machines) and "<command>" in folded and "same" in folded)
    return _left(line, folded) or bool(
        HOME.search(folded)
        and machines
        and re.search(r"\bworking|works|runs?\b", folded)
        and re.search(r"\bwant|need|now\b", folded)
    )


def _left(line: Line, folded: str) -> bool:
    """A machine named after "instead of", or two of which one is."""
    for _, mention in line.mentions("machine"):
        before = folded[max(0, mention.start - 30) : mention.start]
        if ELSEWHERE.search(before) and re.search(r"\b(?:run|job|script|laufen|correr|tourner)", folded):
            return True
    return (
        bool(re.search(r"\binstead\s+of\s+(?:on\s+|at\s+)?[a-z]{3,6}\b", folded)) and len(line.mentions("machine")) > 1
    )
