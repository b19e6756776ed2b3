"""Finding a template: exact facts filter, wording ranks, and saved scripts compete with shipped ones.

The rank rule of `Library.find`:
1. Only templates of the facts asked for (machine, framework, strategy, node type, scheduler, GPU). Where none has them
   all, node type, then strategy, then framework is let go, and the match says so (`exact` is False).
2. Cells (machine, framework, strategy) in the order of their best member's wording; the framework that a strategy is
   usually run with has a little more, for people who name none.
3. Within a cell by standing: saved with evidence, then shipped as a page of the site shows it, then shipped as our
   reading of the facts, then saved without evidence. A run beats a page; a page beats a script nobody vouches for.
4. Then by wording, then newer above older.
5. Unless the cell itself was asked for, only the first of each cell is shown.
A machine that nobody described: templates/nearest.py.

Chroma and MiniLM are loaded only when wording has to rank: a lookup of an exact cell takes microseconds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from knowledge.catalogue import Catalogue, catalogue, squash
from knowledge.errors import FactsError, InputError
from knowledge.retrieval import Index
from knowledge.store import data_folder
from knowledge.types import FRAMEWORKS, Framework, Question, Scheduler, Strategy
from templates.nearest import Undescribed, order, questions, why_near
from templates.records import FRAMEWORK_OF, Cell, Saved, Template, shipped
from templates.shelf import Facts, Shelf, fitting_gpu, relaxed, stack

if TYPE_CHECKING:
    from templates import saved

T = TypeVar("T")
RANKED = 100
"""How many templates wording puts in order."""
USUAL_LIFT = 0.15
"""What the usual framework of a strategy gains: some ten places of one ranking."""


@dataclass(frozen=True, slots=True)
class Match:
    """A template found. verified: it is for the machine asked for, not borrowed from another."""

    template: Template
    exact: bool
    verified: bool
    score: float
    why: str
    questions: tuple[Question, ...] = ()


class Library:
    """Shipped and saved templates. Threads may share it."""

    def __init__(
        self, known: Catalogue | None = None, *, folder: Path | None = None, index: Index | None = None
    ) -> None:
        self.folder = folder or data_folder() / "templates"
        self.file_notices: list[str] = []
        self._known = known or catalogue()
        self._shipped = tuple(shipped(self._known))
        self.index = index or Index("templates")
        self._lock = threading.RLock()
        self._read: dict[Path, tuple[tuple[int, int], Template]] = {}
        self._seen: int | None = None
        self._shelf: Shelf | None = None

    @property
    def notices(self) -> list[str]:
        """What a person should hear: files left out, search by words alone, an index built again."""
        return [*self.file_notices, *self.index.notices]

    def shelf(self) -> Shelf:
        """What there is now. Files that came or went, by another process too, are noticed; one that was changed in
        place is not till the next start, since only the folder's time is looked at.
        """
        with self._lock:
            seen = self.folder.stat().st_mtime_ns if self.folder.is_dir() else 0
            if self._shelf is None or seen != self._seen:
                self._shelf = stack((*self._shipped, *self._saved()), self._known)
                self._seen = seen
            return self._shelf

    def _saved(self) -> list[Template]:
        """Read the files that are new or changed."""
        from templates import saved

        self.file_notices.clear()
        kept: dict[Path, tuple[tuple[int, int], Template]] = {}
        for path in sorted(self.folder.glob(f"*{saved.SUFFIX}")):
            try:
                facts = path.stat()
                mark = (facts.st_mtime_ns, facts.st_size)
                before = self._read.get(path)
                kept[path] = before if before and before[0] == mark else (mark, saved.read(path))
            except (FactsError, OSError) as error:
                self.file_notices.append(f"left out: {error}")
        self._read = kept
        return [one for _, one in kept.values()]

    def get(self, name: str) -> Template:
        """The template of that id. Raises InputError."""
        for template in self.shelf().templates:
            if template.id == name:
                return template
        raise InputError(f"no template '{name[:80]}'; `maple-chat templates list` shows them")

    def script(self, template: Template) -> str | None:
        """The saved script; None for a shipped template, which is rendered from a plan. Raises FactsError."""
        from templates import saved

        return saved.split(template.provenance.path)[1] if isinstance(template.provenance, Saved) else None

    def add(self, wish: saved.SavingWish, script: str) -> Template:
        """Save a script. Raises InputError."""
        from templates import saved

        added = saved.write(self.folder, saved.head_for(wish, script, self._known), script)
        self._forget()
        return added

    def remove(self, name: str) -> Template:
        """Remove a saved template. Raises InputError on a shipped one."""
        template = self.get(name)
        if not isinstance(template.provenance, Saved):
            raise InputError(f"'{name}' is shipped and stays; only saved templates are removed")
        try:
            template.provenance.path.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"cannot remove {template.provenance.path}: {error.strerror or error}") from error
        self._forget()
        return template

    def _forget(self) -> None:
        with self._lock:
            self._shelf = None

    def machine(self, name: str) -> str | None:
        """The id of a machine by any of its names: described in the catalogue, or with saved templates."""
        described = self._known.find(name)
        return described.id if described else self.shelf().names.get(squash(name))

    def find(
        self,
        *,
        cluster: str | None = None,
        framework: Framework | None = None,
        strategy: Strategy | None = None,
        node_type: str | None = None,
        scheduler: Scheduler | None = None,
        gpu: str | None = None,
        gpus_per_node: int | None = None,
        words: str = "",
        limit: int = 5,
    ) -> tuple[Match, ...]:
        """The best templates, best first (the rank rule stands above). Empty only where nothing at all fits.

        cluster: an id or any name; one that is neither described nor saved for is answered with the nearest machine's.
        gpu: vendor or model in any words. words: what the person wrote; empty: facts alone decide, and nothing heavy
        is loaded.
        """
        shelf = self.shelf()
        facts = given(framework=framework, strategy=strategy, node_type=node_type)
        known = self.machine(cluster) if cluster else None
        if cluster and known is None:
            machine = Undescribed(cluster, scheduler, gpu or "", gpus_per_node)
            return self._nearest(shelf, machine, facts, limit)
        facts |= given(cluster=known, scheduler=scheduler)
        places, missing = relaxed(shelf, facts)
        if gpu:
            places &= fitting_gpu(shelf, gpu)
        one_cell = not missing and {"cluster", "framework", "strategy"} <= facts.keys()
        scores = self._scores(shelf, places, words)
        ranked = rank(shelf, places, scores, lift(words), None if one_cell else limit)
        return tuple(
            Match(shelf.templates[at], not missing, known is not None, scores.get(at, 0.0), why(shelf, at, missing))
            for at in ranked[:limit]
        )

    def choose(
        self,
        *,
        cluster: str | None = None,
        framework: Framework | None = None,
        strategy: Strategy | None = None,
        scheduler: Scheduler | None = None,
        gpu: str | None = None,
        saved_only: bool = False,
    ) -> list[Template]:
        """All templates that have these facts, none let go, in their own order."""
        shelf = self.shelf()
        machine = (self.machine(cluster) or cluster) if cluster else None
        facts = given(cluster=machine, framework=framework, strategy=strategy, scheduler=scheduler)
        fitting = fitting_gpu(shelf, gpu) if gpu else None
        places = sorted(shelf.having(facts) if fitting is None else shelf.having(facts) & fitting)
        chosen = [shelf.templates[at] for at in places]
        return [one for one in chosen if not saved_only or isinstance(one.provenance, Saved)]

    def _scores(self, shelf: Shelf, places: frozenset[int], words: str) -> dict[int, float]:
        """What wording says of the best of these positions; nothing where it has nothing to decide."""
        if not words.strip() or len(places) < 2:
            return {}
        self.index.refresh(shelf.entries)
        among = None if len(places) == len(shelf.templates) else sorted(places)
        return {hit.position: hit.score for hit in self.index.search(words, RANKED, among)}

    def _nearest(self, shelf: Shelf, machine: Undescribed, facts: Facts, limit: int) -> tuple[Match, ...]:
        if machine.scheduler:
            facts = {**facts, "scheduler": machine.scheduler}
        facts.pop("node_type", None)
        places, missing = relaxed(shelf, facts)
        leaders = [shelf.templates[at] for at in sorted(places.intersection(shelf.leaders))]
        ranked = firsts(order(leaders, machine), lambda one: one.cluster)
        asked = questions(machine)
        lacks = f"; no template for {' '.join(missing)}" if missing else ""
        return tuple(
            Match(one, not missing, False, 0.0, why_near(one, machine) + lacks, asked) for one in ranked[:limit]
        )


def lift(words: str) -> float:
    """What the usual framework gains: nothing where the words name a framework."""
    return 0.0 if any(name in words.lower() for name in FRAMEWORKS) else USUAL_LIFT


def rank(shelf: Shelf, places: frozenset[int], scores: dict[int, float], usual: float, cells: int | None) -> list[int]:
    """Positions by the rank rule. cells: of so many cells the first; None: all, which are of one cell."""
    best: dict[Cell, tuple[float, int]] = {}
    for at in sorted(scores or places):
        cell = shelf.templates[at].cell
        score, first = best.get(cell, (0.0, -at))
        gain = usual if FRAMEWORK_OF[cell[2]] == cell[1] else 0.0
        best[cell] = max(score, scores.get(at, 0.0) + gain), first

    def within(at: int) -> tuple[int, float, str, int]:
        one = shelf.templates[at]
        return one.standing, scores.get(at, 0.0), one.date, -at

    if cells is None:
        return sorted(places, key=within, reverse=True)
    chosen = sorted(best, key=lambda cell: best[cell], reverse=True)[:cells]
    return [max(places & shelf.in_cell(cell), key=within) for cell in chosen]


def given(**facts: str | None) -> Facts:
    """The facts that were given."""
    return {name: value for name, value in facts.items() if value}


def firsts(items: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    """The first of each key, in order: what is left open shows its variety, not ten node types of one machine."""
    seen: dict[Hashable, T] = {}
    for item in items:
        seen.setdefault(key(item), item)
    return list(seen.values())


def why(shelf: Shelf, at: int, missing: Iterable[str]) -> str:
    """Where the template comes from and how well it is backed."""
    one = shelf.templates[at]
    lacks = f"no template for {' '.join(missing)} there; " if missing else ""
    if isinstance(one.provenance, Saved):
        backed = one.provenance.evidence or "saved without evidence"
        return f"{lacks}saved by {one.provenance.who} on {one.provenance.when}: {backed}"
    page = "as its site's pages show it" if one.provenance.documented else "our reading of the facts; no page shows it"
    return f"{lacks}shipped, facts of {one.provenance.as_of}, {page}"
