"""All templates of one moment, laid out for looking up by facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.catalogue import Catalogue, squash
from knowledge.retrieval import Entry
from templates.nearest import same_model, vendor_of
from templates.records import Cell, Template

Facts = dict[str, str]
LET_GO = ("node_type", "strategy", "framework")
"""Facts that are given up, in this order, when no template has them all."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """All templates of one moment, and where each fact stands."""

    templates: tuple[Template, ...]
    entries: tuple[Entry, ...]
    places: dict[tuple[str, str], frozenset[int]]
    names: dict[str, str]
    leaders: tuple[int, ...]
    """The best-backed, then newest template of each cell and node type."""

    def having(self, facts: Facts) -> frozenset[int]:
        """Positions of the templates that have all of the facts."""
        sets = sorted((self.places.get(fact, frozenset()) for fact in facts.items()), key=len)
        return sets[0].intersection(*sets[1:]) if sets else frozenset(range(len(self.templates)))

    def in_cell(self, cell: Cell) -> frozenset[int]:
        """Positions of the templates of one cell."""
        return self.having(dict(zip(("cluster", "framework", "strategy"), cell, strict=True)))


def fitting_gpu(shelf: Shelf, gpu: str) -> frozenset[int]:
    """Positions by GPU: of the model where the words name one (two digits or more), else of the vendor."""
    if not any(sum(letter.isdigit() for letter in word) >= 2 for word in gpu.split()):
        return shelf.places.get(("vendor", vendor_of(gpu)), frozenset())
    models = (value for kind, value in shelf.places if kind == "gpu" and same_model(value, gpu))
    return frozenset().union(*(shelf.places["gpu", model] for model in models))


def leading(templates: Sequence[Template]) -> tuple[int, ...]:
    """Positions of the best-backed, then newest of each cell and node type, in their order."""
    best: dict[tuple[str, ...], int] = {}
    for at, one in enumerate(templates):
        slot = (*one.cell, one.node_type)
        rival = templates[best.setdefault(slot, at)]
        if (one.standing, one.date) > (rival.standing, rival.date):
            best[slot] = at
    return tuple(sorted(best.values()))


def stack(templates: Sequence[Template], known: Catalogue) -> Shelf:
    """Lay the templates out for looking up."""
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at, one in enumerate(templates):
        for fact in (*facts_of(one).items(), ("node_type", one.node_type), ("vendor", one.gpu_vendor)):
            places[fact].append(at)
    entries = tuple(Entry(one.id, one.words, facts_of(one)) for one in templates)
    names = {squash(one.cluster): one.cluster for one in templates if one.cluster not in known.clusters}
    fixed = {fact: frozenset(found) for fact, found in places.items()}
    return Shelf(tuple(templates), entries, fixed, names, leading(templates))


def facts_of(template: Template) -> Facts:
    """The facts that filter."""
    return {
        "cluster": template.cluster,
        "framework": template.framework,
        "strategy": template.strategy,
        "scheduler": template.scheduler,
        "gpu": template.gpu_model,
    }


def relaxed(shelf: Shelf, facts: Facts) -> tuple[frozenset[int], list[str]]:
    """Positions with the facts, and what had to be let go (as values) for there to be any."""
    left, missing = dict(facts), list[str]()
    for key in (None, *LET_GO):
        if key in left:
            missing.append(left.pop(key))
        if key is None or missing:
            found = shelf.having(left)
            if found:
                return found, missing
    return frozenset(), missing
