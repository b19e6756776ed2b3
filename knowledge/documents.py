"""What was read in: documents and their passages, in one SQLite file.

The store of record; the search index is made from it and may be lost. A document is known by its key, which is one
address or one absolute path, so that the same page added from two places is there once. No write-ahead logging: home
folders are network file systems and people change login nodes (https://sqlite.org/wal.html).
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from knowledge.errors import UnavailableError, database_words
from knowledge.file_locks import has_locks
from knowledge.ingest.page import visible
from knowledge.types import Passage, PassageKind

Collection = Literal["docs", "issues", "tickets"]
COLLECTIONS: tuple[Collection, ...] = ("docs", "issues", "tickets")
KINDS: dict[str, PassageKind] = {"docs": "doc", "issues": "issue", "tickets": "ticket"}
FILE = "documents.sqlite"
FORMAT = 1
WAIT_S = 30.0
SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS origins (
    origin TEXT PRIMARY KEY, kind TEXT NOT NULL, collection TEXT NOT NULL, options TEXT NOT NULL,
    cursor TEXT NOT NULL DEFAULT '{}', started TEXT NOT NULL, finished TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, origin TEXT NOT NULL, source TEXT NOT NULL,
    collection TEXT NOT NULL, title TEXT NOT NULL, date TEXT NOT NULL, machine TEXT NOT NULL, scheduler TEXT NOT NULL,
    framework TEXT NOT NULL, hash TEXT NOT NULL, etag TEXT NOT NULL, read TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS by_origin ON documents (origin);
CREATE TABLE IF NOT EXISTS passages (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE, place INTEGER NOT NULL,
    path TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (document, place)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document that is found and cited as one: its text, and the headings above it."""

    text: str
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """One page, issue or ticket, read.

    key: one address or absolute path, the same each time; source: what is cited; date: ISO, or empty; hash: of the
    content and of how it was read; etag: what a server said of it, for the next time. machine, scheduler and framework
    are empty where it holds for any.
    """

    key: str
    source: str
    collection: Collection
    title: str
    chunks: tuple[Chunk, ...]
    hash: str
    date: str = ""
    machine: str = ""
    scheduler: str = ""
    framework: str = ""
    etag: str = ""


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """What is remembered of a document to tell whether it changed, and when it was last looked at."""

    hash: str
    etag: str
    read: str


@dataclass(frozen=True, slots=True)
class Origin:
    """What was given to `knowledge add` or `sync`, and what came of it. finished is empty while it is under way.

    options: how it was read (machine, labels, ...), to read it the same way again; cursor: where a sync goes on.
    """

    origin: str
    kind: str
    collection: str
    options: Mapping[str, str] = field(default_factory=dict)
    cursor: Mapping[str, str] = field(default_factory=dict)
    started: str = ""
    finished: str = ""
    documents: int = 0
    passages: int = 0


class Documents:
    """The documents of one data folder. Safe with several threads and processes; nothing is made before a write."""

    def __init__(self, path: Path) -> None:
        """path: the SQLite file."""
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.RLock()

    def version(self) -> str:
        """Changes whenever a passage or its facts do; empty while nothing was ever read in."""
        rows = self._read("SELECT value FROM meta WHERE name IN ('store', 'count') ORDER BY name DESC")
        return "-".join(value for (value,) in rows)

    def passages(self) -> Sequence[Passage]:
        """All, always in the same order: by key, then by place in the document."""
        return tuple(self.each())

    def each(self, origin: str | None = None) -> Iterator[Passage]:
        """The passages one by one, of all documents or of one origin."""
        rows = self._read(
            "SELECT p.text, d.title, d.source, d.date, p.path, d.collection, d.machine, d.scheduler, d.framework"
            " FROM documents d JOIN passages p ON p.document = d.id"
            + (" WHERE d.origin = ?" if origin else "")
            + " ORDER BY d.key, p.place",
            (origin,) if origin else (),
        )
        for text, title, source, date, path, collection, *facts in rows:
            yield Passage(text, title, source, date, tuple(json.loads(path)), 0.0, KINDS[collection], *facts)

    def known(self, origin: str) -> dict[str, KnownDocument]:
        """What an origin gave before, by key."""
        rows = self._read("SELECT key, hash, etag, read FROM documents WHERE origin = ?", (origin,))
        return {key: KnownDocument(*facts) for key, *facts in rows}

    def origins(self) -> list[Origin]:
        """All that was added and not removed, the newest last."""
        rows = self._read(
            "SELECT o.origin, o.kind, o.collection, o.options, o.cursor, o.started, o.finished,"
            " (SELECT count(*) FROM documents d WHERE d.origin = o.origin),"
            " (SELECT count(*) FROM passages p JOIN documents d ON p.document = d.id WHERE d.origin = o.origin)"
            " FROM origins o ORDER BY o.started, o.origin"
        )
        return [
            Origin(origin, kind, collection, json.loads(options), json.loads(cursor), *rest)
            for origin, kind, collection, options, cursor, *rest in rows
        ]

    def origin(self, origin: str) -> Origin | None:
        """One of them; None when it was never added."""
        return next((one for one in self.origins() if one.origin == origin), None)

    def begin(self, origin: str, kind: str, collection: str, options: Mapping[str, str]) -> Origin:
        """Note that an origin is being read. Its cursor and documents stay; so does the time where it was cut short."""
        with self._write() as db:
            db.execute(
                "INSERT INTO origins (origin, kind, collection, options, started) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (origin) DO UPDATE SET kind = excluded.kind, collection = excluded.collection,"
                " options = excluded.options, finished = '',"
                " started = CASE finished WHEN '' THEN started ELSE excluded.started END",
                (origin, kind, collection, json.dumps(dict(options)), now()),
            )
        return next(one for one in self.origins() if one.origin == origin)

    def put(self, origin: str, documents: Iterable[SourceDocument], cursor: Mapping[str, str] | None = None) -> None:
        """Store documents, each in the place of the one of its key, and where to go on; all of it or nothing."""
        with self._write() as db:
            before = db.total_changes
            for document in documents:
                replace_one(db, origin, document)
            if db.total_changes > before:
                count_up(db)
            if cursor is not None:
                db.execute("UPDATE origins SET cursor = ? WHERE origin = ?", (json.dumps(dict(cursor)), origin))

    def touch(self, key: str, etag: str) -> None:
        """A server said something new of a document whose text is the same."""
        with self._write() as db:
            db.execute("UPDATE documents SET etag = ?, read = ? WHERE key = ?", (etag, now(), key))

    def remove(self, keys: Iterable[str]) -> int:
        """Forget documents by key. Returns how many there were."""
        with self._write() as db:
            gone = sum(db.execute("DELETE FROM documents WHERE key = ?", (key,)).rowcount for key in keys)
            if gone:
                count_up(db)
            return gone

    def finish(self, origin: str, cursor: Mapping[str, str] | None = None) -> None:
        """An origin was read to its end."""
        with self._write() as db:
            db.execute("UPDATE origins SET finished = ? WHERE origin = ?", (now(), origin))
            if cursor is not None:
                db.execute("UPDATE origins SET cursor = ? WHERE origin = ?", (json.dumps(dict(cursor)), origin))

    def forget(self, origin: str) -> int:
        """Remove an origin and all its documents at once. Returns how many documents went."""
        with self._write() as db:
            gone = db.execute("DELETE FROM documents WHERE origin = ?", (origin,)).rowcount
            db.execute("DELETE FROM origins WHERE origin = ?", (origin,))
            if gone:
                count_up(db)
            return gone

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        with self._lock:
            if self._connection:
                self._connection.close()
            self._connection = None

    def _read(self, query: str, values: Sequence[str] = ()) -> list[Any]:
        if not self.path.exists():
            return []
        with self._lock, said_plainly(self.path):
            return self._open().execute(query, values).fetchall()

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        with self._lock, said_plainly(self.path):
            db = self._open()
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                db.execute("ROLLBACK")
                raise

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Where no lock can be had, none is waited for.
            wait = WAIT_S if has_locks(self.path.parent) else 0
            db = sqlite3.connect(self.path, timeout=wait, check_same_thread=False, isolation_level=None)
            try:
                set_up(db, self.path)
            except BaseException:
                db.close()
                raise
            self._connection = db
        return self._connection


def set_up(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables, once; refuse the file of a newer program."""
    db.execute("PRAGMA journal_mode = TRUNCATE")
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA secure_delete = ON")  # who was named in a ticket is gone with it
    found = db.execute("PRAGMA user_version").fetchone()[0]
    if found > FORMAT:
        raise UnavailableError(
            f"{path} was made by a newer maple-chat; update this one, or set another MAPLE_CHAT_DATA"
        )
    if found < FORMAT:
        path.chmod(0o600)
        name = "INSERT OR IGNORE INTO meta VALUES ('store', lower(hex(randomblob(4))));"
        db.executescript(f"BEGIN IMMEDIATE; {SCHEMA} {name} PRAGMA user_version = {FORMAT}; COMMIT;")


@contextmanager
def said_plainly(path: Path) -> Iterator[None]:
    """SQLite's errors as one line. Raises UnavailableError."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise UnavailableError(
            f"cannot use {path}: {database_words(error, path)}; try again, or set another MAPLE_CHAT_DATA"
        ) from error
    except sqlite3.DatabaseError as error:
        raise UnavailableError(
            f"{path} is damaged ({database_words(error)}); move it away and add your documents again"
        ) from error


def replace_one(db: sqlite3.Connection, origin: str, document: SourceDocument) -> None:
    """One document in the place of the one with its key, fit to be shown. The caller holds the transaction."""
    db.execute("DELETE FROM documents WHERE key = ?", (document.key,))
    d = document
    shown, title = visible(d.source), visible(d.title)
    facts = (shown, d.collection, title, d.date, d.machine, d.scheduler, d.framework, d.hash, d.etag)
    added = db.execute(
        "INSERT INTO documents (key, origin, source, collection, title, date, machine, scheduler, framework, hash,"
        " etag, read) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (d.key, origin, *facts, now()),
    )
    db.executemany(
        "INSERT INTO passages (document, place, path, text) VALUES (?, ?, ?, ?)",
        [
            (added.lastrowid, place, json.dumps([visible(name) for name in c.path]), visible(c.text))
            for place, c in enumerate(document.chunks)
        ],
    )


def count_up(db: sqlite3.Connection) -> None:
    """Another version. The caller holds the transaction."""
    db.execute(
        "INSERT INTO meta VALUES ('count', '1') ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
    )


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
