"""The template library as this person's settings have it.

MAPLE_CHAT_CHROMA=http://HOST:PORT puts its vectors on a Chroma server; MAPLE_CHAT_CHROMA_TOKEN is sent to it as a
bearer token. Without it Chroma is embedded and its files lie in the data folder.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

from knowledge.retrieval import Index
from knowledge.store import Server, server_at
from templates.library import Library


def chroma_server() -> Server | None:
    """The server of the setting, or None: embedded. Raises InputError."""
    address = os.environ.get("MAPLE_CHAT_CHROMA")
    if not address:
        return None
    return replace(server_at(address), token=os.environ.get("MAPLE_CHAT_CHROMA_TOKEN", ""))


@cache
def open_library(data: Path) -> Library:
    """The library in a data folder, opened once a process. Raises FactsError, InputError."""
    index = Index("templates", folder=data / "index", server=chroma_server())
    return Library(folder=data / "templates", index=index)
