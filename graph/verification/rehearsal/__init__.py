"""The rehearsal: a launch script runs here, on a stand-in cluster, before a node hour is spent.

The programs in the jail import this package with the standard library alone, so its door opens on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graph.verification.rehearsal.rehearsing import rehearse
    from graph.verification.rehearsal.types import Rank, Rehearsal

__all__ = ["Rank", "Rehearsal", "rehearse"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    homes = {"rehearse": "rehearsing", "Rehearsal": "types", "Rank": "types"}
    if name not in homes:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{homes[name]}"), name)
