"""What was read of jobs, kept in one SQLite file: a stopped report goes on, and the next one reads only what is new."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from knowledge.checked_file import read_stored
from knowledge.job_record import JobRecord

SCHEMA = "create table if not exists read (key text primary key, stamp text, seen real, record text) without rowid"


class KeptRecords:
    """Records by the key of their job; one counts only while the stamp of what was read is the same."""

    def __init__(self, path: Path) -> None:
        """Opens the file, or makes it. Raises sqlite3.Error, OSError."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path, timeout=30)
        self._database.execute("pragma journal_mode=delete")  # works on network file systems too
        self._database.execute(SCHEMA)
        self._database.commit()

    def close(self) -> None:
        self._database.close()

    def known(self, stamps: Mapping[str, str]) -> Iterator[tuple[str, JobRecord]]:
        """Of the jobs with these stamps, the key and record of those that still hold."""
        with closing(self._database.execute("select key, stamp, record from read")) as rows:
            read = ((key, read_stored(record, JobRecord)) for key, stamp, record in rows if stamps.get(key) == stamp)
            yield from ((key, record) for key, record in read if record)

    def forget(self, keys: Iterable[str]) -> None:
        """These jobs are read again, whatever their stamps."""
        with self._database:
            self._database.executemany("delete from read where key = ?", [(key,) for key in keys])

    def earlier(self, besides: Mapping[str, str], before: float) -> Iterator[JobRecord]:
        """Records of other jobs, kept by earlier reports, that ended before a moment."""
        with closing(self._database.execute("select key, record from read where seen < ?", (before,))) as rows:
            read = (read_stored(record, JobRecord) for key, record in rows if key not in besides)
            yield from (record for record in read if record)

    def keep(self, read: Iterable[tuple[str, str, JobRecord]]) -> None:
        """Key, stamp and record of each job, all or none of them."""
        rows = [(key, stamp, record.ended or record.started or 0.0, to_json(record)) for key, stamp, record in read]
        with self._database:
            self._database.executemany("insert or replace into read values (?, ?, ?, ?)", rows)


def lean(record: JobRecord, texts: dict[Any, Any]) -> JobRecord:
    """The record with each text that others have, too, kept once for all of them: users, nodes, queues, lines."""
    values = (getattr(record, name) for name in JobRecord.__slots__)
    return JobRecord(*(texts.setdefault(one, one) if isinstance(one, str | tuple) else one for one in values))


def to_json(record: JobRecord) -> str:
    return json.dumps({key: value for key, value in asdict(record).items() if value not in ("", None, ())})
