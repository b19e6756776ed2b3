"""Vectors in Chroma: the only place that knows it. Importing it costs 1.2 s, so that happens in `open_*`.

Embedded by default; a Chroma server by setting. Our own vectors, no telemetry, and no embedding function: Chroma must
neither load a model nor fetch one. Never offer the server to an open network (CVE-2026-45829: code runs before the
authentication check), and open no index that somebody else could have written (knowledge/generations.py checks).

Filters: Chroma's own `where` and `ids` filters walk the whole graph (40 to 80 ms over 100,000 entries, against 1 ms
unfiltered). So a search in a folder compares rows (knowledge/rows.py), and a server is asked by `near` for more than is
needed; the caller drops what does not fit. The facts still travel as metadata, for whoever looks into a collection.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from platformdirs import user_data_path

from knowledge.errors import InputError, UnavailableError

if TYPE_CHECKING:
    import numpy as np
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection
    from chromadb.config import Settings
    from numpy.typing import NDArray

BATCH = 5000
"""Chroma takes at most 5,461 at a time."""
SYNC = 200_000
"""So many additions Chroma keeps in its log before it writes its graph. By its default of 1,000 it writes the whole
graph for each thousand; a search in a folder compares rows (rows.py) and asks only a server for its graph."""
COLLECTION = "passages"


class DamagedIndexError(UnavailableError):
    """Chroma cannot read its own files."""


@dataclass(frozen=True, slots=True)
class ChromaServer:
    """A Chroma server on a network that only its users reach."""

    host: str
    port: int = 8000
    tls: bool = False
    token: str = field(default="", repr=False)


def server_at(address: str) -> ChromaServer:
    """A server from `http://host:8000`, `https://host` or `host:port`. Raises InputError."""
    parts = urlsplit(address if "://" in address else f"http://{address}")
    try:
        port = parts.port
    except ValueError as error:
        raise InputError(f"'{address}' is no address of a Chroma server; write http://HOST:PORT") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise InputError(f"'{address}' is no address of a Chroma server; write http://HOST:PORT")
    tls = parts.scheme == "https"
    return ChromaServer(parts.hostname, port or (443 if tls else 8000), tls)


def data_folder() -> Path:
    """Where indexes and saved templates lie: $XDG_DATA_HOME/maple-chat."""
    return user_data_path("maple-chat")


class Vectors:
    """One collection. Keys are content-addressed: a key's vector never changes, so adding twice does no harm."""

    def __init__(self, client: Client, collection: Collection, where: str, failure: type[UnavailableError]) -> None:
        self._client = client
        self._collection = collection
        self._where = where
        self._failure = failure

    def missing(self, keys: Sequence[str]) -> list[str]:
        """Those of the keys that have no vector here, in their order."""
        there: set[str] = set()
        for start in range(0, len(keys), BATCH):
            with self._translated():
                there.update(self._collection.get(ids=list(keys[start : start + BATCH]), include=[])["ids"])
        return [key for key in keys if key not in there]

    def add(self, keys: Sequence[str], vectors: NDArray[np.float32], facts: Sequence[Mapping[str, str]]) -> None:
        """Add or replace."""
        for start in range(0, len(keys), BATCH):
            part = slice(start, start + BATCH)
            metadata: Any = [dict(one) or None for one in facts[part]]
            with self._translated():
                self._collection.upsert(ids=list(keys[part]), embeddings=vectors[part], metadatas=metadata)

    def remove(self, keys: Sequence[str]) -> None:
        """Remove those that are there."""
        for start in range(0, len(keys), BATCH):
            with self._translated():
                self._collection.delete(ids=list(keys[start : start + BATCH]))

    def near(self, vector: NDArray[np.float32], count: int) -> list[str]:
        """The keys nearest to it (cosine), nearest first, from the approximate index."""
        with self._translated():
            found = self._collection.query(query_embeddings=vector.reshape(1, -1), n_results=count, include=[])
        return found["ids"][0]

    def of(self, keys: Sequence[str]) -> tuple[list[str], NDArray[np.float32]]:
        """The keys that are there, and their vectors row by row."""
        import numpy as np

        with self._translated():
            found = self._collection.get(ids=list(keys), include=["embeddings"])
        return found["ids"], np.asarray(found["embeddings"], dtype=np.float32)

    def close(self) -> None:
        """Let go of the files. Needed before a folder is renamed."""
        with self._translated():
            self._client.close()

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self._where, self._failure)


@contextmanager
def translated(where: str, failure: type[UnavailableError], *also: type[Exception]) -> Iterator[None]:
    """Chroma's errors and its HTTP client's as one of ours. also: a client that cannot open raises ValueError."""
    import httpx
    from chromadb.errors import ChromaError

    expected: tuple[type[Exception], ...] = (ChromaError, httpx.HTTPError, OSError, *also)
    try:
        yield
    except expected as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise failure(f"{where}: {reason}") from error


def imported() -> ModuleType:
    """Chroma. Raises UnavailableError."""
    try:
        import chromadb
    except RuntimeError as error:  # how it refuses the SQLite that older systems give their Python
        reason = f"Chroma needs SQLite 3.35 or newer, this Python has {sqlite3.sqlite_version}"
        raise UnavailableError(f"{reason}; install maple-chat with `uv tool install --managed-python`") from error
    except ImportError as error:
        raise UnavailableError(f"Chroma cannot be loaded ({error}); install maple-chat anew") from error
    except ValueError as error:  # it reads settings when it is imported, from the environment and from .env
        reason = "its settings in the environment, or in the file .env of this folder, are wrong"
        raise UnavailableError(f"Chroma cannot be loaded: {reason}; start maple-chat in another folder") from error
    return chromadb


def settings() -> Settings:
    """No telemetry, no traces, and nothing from an .env: the folder that one works in may be a stranger's checkout."""
    from chromadb.config import Settings

    return Settings(_env_file=None, anonymized_telemetry=False, chroma_otel_collection_endpoint="")


def open_folder(folder: Path) -> Vectors:
    """The collection in a folder, made when it is not there. Raises DamagedIndexError.

    One process at a time may open (opening runs Chroma's migrations; a second opener can wait for minutes,
    https://github.com/chroma-core/chroma/issues/7040): the caller holds the generations' lock.
    """
    chromadb = imported()
    with translated(str(folder), DamagedIndexError, ValueError):
        client = cast("Client", chromadb.PersistentClient(folder, settings=settings()))
        return Vectors(client, collection(client, COLLECTION, SYNC), str(folder), DamagedIndexError)


def open_server(server: ChromaServer, name: str) -> Vectors:
    """The collection of that name on a server. Raises UnavailableError when it does not answer."""
    chromadb = imported()
    where = f"the Chroma server at {server.host}:{server.port}"
    with translated(where, UnavailableError, ValueError):
        remote = chromadb.HttpClient(
            host=server.host,
            port=server.port,
            ssl=server.tls,
            headers={"Authorization": f"Bearer {server.token}"} if server.token else None,
            settings=settings(),
        )
        client = cast("Client", remote)
        return Vectors(client, collection(client, name), where, UnavailableError)


def collection(client: Client, name: str, sync: int = 0) -> Collection:
    """sync: after so many additions the graph is written (0: Chroma's own choice)."""
    graph: Any = {"space": "cosine", "ef_construction": 100}
    if sync:
        graph["sync_threshold"] = sync
    return client.get_or_create_collection(name, embedding_function=None, configuration={"hnsw": graph})
