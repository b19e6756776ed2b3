"""Objects over a pipe between this program and its own child: a length, then a pickle. Never used with a stranger."""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class TaskCall:
    """A task of tasks.py and its arguments."""

    task: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """The task gave all it had."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The task raised. ours: the message is fit for a person; else it is an error of the program."""

    says: str
    ours: bool


def send(stream: BinaryIO, value: object) -> None:
    """Raises OSError where nobody listens any more."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """The next object. Raises EOFError where the other end has gone."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    size = LENGTH.unpack(head)[0]
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)
