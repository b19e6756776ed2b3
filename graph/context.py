"""What is handed down to every node of a run and never stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from knowledge.catalogue import Catalogue, catalogue
from knowledge.cluster import Cluster
from knowledge.types import JobRequest, LaunchPlan, Passage, PassageKind, Said, Working, Writing

if TYPE_CHECKING:
    from graph.modelling.asking import Models
    from knowledge.schedulers.live import Ask
    from knowledge.web import Web
    from templates.library import Library


class PassageFinder(Protocol):
    """What finds passages of what was read in (knowledge/finding.py)."""

    def search(
        self,
        question: str,
        *,
        machine: str | None = None,
        scheduler: str | None = None,
        framework: str | None = None,
        kinds: Sequence[PassageKind] | None = None,
        limit: int = 5,
    ) -> list[Passage]: ...

    def related(
        self, lines: str, cause: str, *, machine: str = "", framework: str = "", limit: int = 2
    ) -> list[Passage]: ...

    def tell(self, progress: Callable[[str, int, int], None]) -> None: ...


@dataclass(frozen=True, slots=True)
class Lent:
    """What the doors lend a model that leads: the table of tools that clients get too, and answers as text."""

    tools: tuple[Callable[..., object], ...]
    as_text: Callable[[Said], str]


def never() -> bool:
    return False


def unheard(part: Writing | Working) -> None:
    pass


def _library() -> Library:
    from templates.library import Library

    return Library()


@dataclass(frozen=True, slots=True)
class Context:
    """The facts and templates that a run works with; a test hands in its own.

    knowledge None: nothing was read in. model None: rules only. web None: it is never searched. stopped: whether the
    person wants the turn to end; it is looked at between two steps, and what takes long inside a step asks it itself.
    tell hears what passes by, in the node's own thread (LangGraph's own stream costs two threads and 7 ms a turn).
    asking: gives what asks the scheduler's commands on this computer for one turn; None: none is asked.
    lent: loads what a model that leads works with.
    """

    catalogue: Catalogue = field(default_factory=catalogue)
    library: Library = field(default_factory=_library)
    knowledge: PassageFinder | None = None
    model: Models | None = None
    web: Web | None = None
    stopped: Callable[[], bool] = never
    tell: Callable[[Writing | Working], None] = unheard
    asking: Callable[[], Ask] | None = None
    lent: Callable[[], Lent] | None = None

    def leads(self) -> bool:
        """Whether a language model leads the conversation."""
        return self.lent is not None and self.model is not None and self.model.leads()

    def cluster(self, request: JobRequest) -> Cluster | None:
        """The machine that was asked for, or a stand-in for one that was only told of; None while none is."""
        known = self.catalogue.find(request.machine) if request.machine else None
        from graph.undescribed import stand_in

        return known or (stand_in(request) if request.machine and request.site_words else None)

    def title_of(self, request: JobRequest | None, plan: LaunchPlan | None = None) -> str:
        """The machine's name for a sentence: the plan's, else the request's, else none of its own."""
        cluster = self.cluster(request) if request and plan is None else None
        return plan.title if plan else cluster.title if cluster else "your machine"

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.catalogue.clusters))
