"""The facts' lines with placeholders, filled in for one job."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping

from knowledge.cluster import Condition, DirectiveFact, Queue
from knowledge.types import Directive

Values = Mapping[str, str | int | None]


def fill(text: str, values: Values) -> str | None:
    """The text with its placeholders filled in; None where one of them has no value."""
    names = {name for _, name, _, _ in string.Formatter().parse(text) if name}
    if any(values.get(name) is None for name in names):
        return None
    return text.format(**values)


def fill_all(texts: Iterable[str], values: Values) -> tuple[str, ...]:
    return tuple(text for text in (fill(t, values) for t in texts) if text is not None)


def fill_directives(
    facts: Iterable[DirectiveFact], queue: Queue, node_type: str, holds: frozenset[Condition], values: Values
) -> tuple[Directive, ...]:
    """The directives of this job in the order of the facts, then the queue's own."""
    written = [
        Directive(text, fact.comment)
        for fact in facts
        if fact.when in holds
        and (not fact.node_types or node_type in fact.node_types)
        and (not fact.queues or queue.id in fact.queues)
        and (text := fill(fact.text, values)) is not None
    ]
    return (*written, *(Directive(text) for text in fill_all(queue.directives, values)))


def clock(seconds: int) -> str:
    """Hours:minutes, as LSF wants it; a started minute counts."""
    minutes = -(-seconds // 60)
    return f"{minutes // 60}:{minutes % 60:02d}"
