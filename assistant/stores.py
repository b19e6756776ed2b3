"""The template library and the documents read in, as this person's settings have them.

MAPLE_CHAT_CHROMA=http://HOST:PORT puts its vectors on a Chroma server; MAPLE_CHAT_CHROMA_TOKEN is sent to it as a
bearer token. Without it Chroma is embedded and its files lie in the data folder.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge.retrieval import Index
from knowledge.store import ChromaServer, server_at
from templates.library import Library

if TYPE_CHECKING:
    from knowledge.finding import Knowledge


def chroma_server() -> ChromaServer | None:
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


@cache
def open_knowledge(data: Path) -> Knowledge:
    """What finds passages of what is shipped and of the documents in a data folder, opened once a process.

    Cheap: the first search loads what it needs. Raises InputError.
    """
    from knowledge.documents import FILE, Documents
    from knowledge.finding import Knowledge

    return Knowledge(Documents(data / FILE), folder=data / "index", server=chroma_server())
