"""Language models: which are set, their back ends, and what was used of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assistant.settings import Settings


def in_words(settings: Settings) -> str:
    """Which models are set and what was used of them so far; for `/context` and `/model`."""
    from assistant.models.showing import used
    from assistant.models.table import backend, names
    from assistant.running import load_engine

    chosen = ", ".join(f"{name} ({role}, {backend(name, settings)})" for role, name in names(settings).items())
    told = used(load_engine(settings).context.model)
    return f"{chosen}. {told}" if chosen else told
