"""Attachments of turns that are not answered yet, in the database: another machine may have to answer them."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assistant.storage.database import Transaction
from knowledge.opening import read_plain
from knowledge.types import Attachment

# Bytes of a file that goes along. A larger one is not found elsewhere, and the answer then says so.
LARGEST = 16 << 20


def carry(talk: Transaction, thread: str, number: int, attachments: Sequence[Attachment]) -> None:
    """Pack the files of a turn that was just begun."""
    for attachment in attachments:
        try:
            content = read_plain(attachment.path, LARGEST)
        except OSError:
            continue
        packed = base64.b85encode(zlib.compress(content, 1)).decode()
        talk.execute(
            "INSERT INTO carried (thread, turn, path, packed) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (thread, number, attachment.path, packed),
        )


def fetch(
    talk: Transaction, thread: str, number: int, attachments: Sequence[Attachment], folder: Path
) -> tuple[Attachment, ...]:
    """The attachments as they are found here: those that are not are unpacked into the folder."""
    query = "SELECT path, packed FROM carried WHERE thread = ? AND turn = ?"
    packed = dict(talk.execute(query, (thread, number)).fetchall())
    here = []
    for place, attachment in enumerate(attachments):
        if attachment.path in packed and not Path(attachment.path).exists():
            copy = folder / f"{thread}-{number}-{place}.log"
            copy.write_bytes(zlib.decompress(base64.b85decode(packed[attachment.path])))
            attachment = replace(attachment, path=str(copy))
        here.append(attachment)
    return tuple(here)


def drop(talk: Transaction, thread: str, number: int) -> None:
    """The turn is answered."""
    talk.execute("DELETE FROM carried WHERE thread = ? AND turn = ?", (thread, number))
