"""What is handed down to every node of a run and never stored."""

from __future__ import annotations

from dataclasses import dataclass, field

from knowledge.catalogue import Catalogue, catalogue
from knowledge.cluster import Cluster
from knowledge.types import JobRequest
from templates.library import Library


@dataclass(frozen=True, slots=True)
class Context:
    """The facts and templates that a run works with; a test hands in its own."""

    catalogue: Catalogue = field(default_factory=catalogue)
    library: Library = field(default_factory=Library)

    def cluster(self, request: JobRequest) -> Cluster | None:
        """The machine that was asked for; None while none is, or where the catalogue has none of that name."""
        return self.catalogue.find(request.machine) if request.machine else None

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.catalogue.clusters))
