"""How commands and launchers talk to the nodes: one Unix socket a node, file descriptors passed along.

Read by every command that a script starts, so it imports little.
"""

from __future__ import annotations

import array
import json
import os
import socket
import struct
from collections.abc import Iterator
from typing import NamedTuple


class Task(NamedTuple):
    """One process to start on a node: its number in the step, its words, its environment, its folder."""

    number: int
    words: tuple[str, ...]
    variables: dict[str, str]
    folder: str


def socket_path(stage: str | os.PathLike[str], node: str) -> str:
    return f"{os.fspath(stage)}/run/{node}"


def ask(
    stage: str | os.PathLike[str], node: str, kind: str, tasks: list[Task], descriptors: tuple[int, int, int]
) -> socket.socket:
    """Send a request to a node: `exec` a program, or `call` a command of the cluster.

    The open socket is the request: closing it stops the processes. Raises OSError where the node does not answer.
    """
    wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    wire.connect(socket_path(stage, node))
    body = json.dumps({"kind": kind, "tasks": tasks}).encode()
    passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
    wire.sendmsg([struct.pack("I", len(body))], passed)
    wire.sendall(body)
    return wire


def receive(wire: socket.socket) -> tuple[str, list[Task], list[int]]:
    """The other end of `ask`. Raises ConnectionError when the asker went away."""
    descriptors = array.array("i")
    head, passed, _, _ = wire.recvmsg(4, socket.CMSG_LEN(3 * descriptors.itemsize))
    for level, kind, data in passed:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
    if len(head) < 4 or len(descriptors) != 3:
        raise ConnectionError("no request")
    left, parts = struct.unpack("I", head)[0], []
    while left:
        part = wire.recv(min(left, 1 << 20))
        if not part:
            raise ConnectionError("half a request")
        parts.append(part)
        left -= len(part)
    message = json.loads(b"".join(parts))
    tasks = [Task(number, tuple(words), variables, folder) for number, words, variables, folder in message["tasks"]]
    return message["kind"], tasks, list(descriptors)


def answer(wire: socket.socket, number: int, code: int) -> None:
    wire.sendall(json.dumps([number, code]).encode() + b"\n")


def answers(wire: socket.socket) -> Iterator[tuple[int, int]]:
    """(task number, exit code) as tasks end; stops when the node closes."""
    with wire.makefile("rb") as lines:
        for line in lines:
            number, code = json.loads(line)
            yield number, code
