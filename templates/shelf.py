"""All templates of one moment, laid out for looking up by facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.catalogue import Catalogue, squash
from knowledge.retrieval import Entry
from templates.records import Template

Facts = dict[str, str]
LET_GO = ("node_type", "strategy", "framework")
"""Facts that are given up, in this order, when no template has them all."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """All templates of one moment, and where each fact stands."""

    templates: tuple[Template, ...]
    entries: tuple[Entry, ...]
    places: dict[tuple[str, str], list[int]]
    names: dict[str, str]

    def having(self, facts: Facts) -> list[int]:
        """Positions of the templates that have all of the facts, in order."""
        lists = sorted((self.places.get(fact, []) for fact in facts.items()), key=len)
        if not lists:
            return list(range(len(self.templates)))
        found = set(lists[0]).intersection(*lists[1:])
        return sorted(found)


def stack(templates: Sequence[Template], known: Catalogue) -> Shelf:
    """Lay the templates out for looking up."""
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at, one in enumerate(templates):
        for fact in (*facts_of(one).items(), ("node_type", one.node_type)):
            places[fact].append(at)
    entries = tuple(Entry(one.id, one.words, facts_of(one)) for one in templates)
    names = {squash(one.cluster): one.cluster for one in templates if one.cluster not in known.clusters}
    return Shelf(tuple(templates), entries, dict(places), names)


def facts_of(template: Template) -> Facts:
    """The facts that filter."""
    return {
        "cluster": template.cluster,
        "framework": template.framework,
        "strategy": template.strategy,
        "scheduler": template.scheduler,
        "gpu": template.gpu_model,
    }


def relaxed(shelf: Shelf, facts: Facts) -> tuple[list[int], list[str]]:
    """Positions with the facts, and what had to be let go (as values) for there to be any."""
    left, missing = dict(facts), list[str]()
    for key in (None, *LET_GO):
        if key in left:
            missing.append(left.pop(key))
        if key is None or missing:
            found = shelf.having(left)
            if found:
                return found, missing
    return [], missing
