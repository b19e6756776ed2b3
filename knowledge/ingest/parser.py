"""Pages are read in a process of their own: a file that is made to be slow or large ends that process and nothing else.

The file's bytes lie in memory that both share; a request and its answer are one line of JSON each. What comes back is
built anew from plain text, so that nothing of the process but words gets in here.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import selectors
import subprocess
import sys
import threading
import time
from functools import cache
from typing import Any

from knowledge.errors import UnavailableError
from knowledge.ingest.page import Block, BlockKind, NoTextError, Page, UnreadableError

PATIENCE_S, PATIENCE_S_A_MB = 20.0, 2.0
# Python and its libraries, on a computer that is busy: no file is to blame for it.
START_S = 120.0
MOST_ANSWER = 256 << 20
CHUNK = 1 << 20
SLOW = "reading it took longer than {:.0f} s, so it was left out"
ENDED = "reading it needed more memory than it may have, or broke its reader, so it was left out"


class Parser:
    """The process, started when first needed and again after it was ended. Any thread may call."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self.patience_s = patience_s
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._shared = -1

    def read(self, data: bytes, form: str, name: str) -> Page:
        """The page in some bytes; form as `reading.form_of` names it. Raises UnreadableError, NoTextError."""
        return page_of(self.answer(data, form, name))

    def settings(self, data: bytes) -> dict[str, str]:
        """The plain values at the top of a YAML file. Raises UnreadableError."""
        found = self.answer(data, "settings", "").get("facts")
        return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}

    def plain_values(self, data: bytes) -> Any:
        """What a pickle of plain values holds, as JSON has it. Raises UnreadableError."""
        return self.answer(data, "pickle", "").get("value")

    def answer(self, data: bytes, form: str, name: str) -> dict[str, Any]:
        """What the process says. Raises UnreadableError where it was ended for its time, its memory, or by itself."""
        with self._lock:
            process = self._ready()
            os.ftruncate(self._shared, 0)
            os.pwrite(self._shared, data, 0)
            limit = self.patience_s + PATIENCE_S_A_MB * len(data) / 1e6
            try:
                ask(process, {"form": form, "name": name, "size": len(data), "seconds": int(limit) + 1})
                return listen(process, time.monotonic() + limit)
            except TimeoutError as error:
                self.stop()
                raise UnreadableError(SLOW.format(limit)) from error
            except (OSError, ValueError) as error:
                self.stop()
                raise UnreadableError(ENDED) from error

    def stop(self) -> None:
        """End the process; the next call starts another."""
        if self._process:
            self._process.kill()
            self._process.communicate()
            os.close(self._shared)
            self._process = None

    def _ready(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.stop()
            self._shared = os.memfd_create("page")
            self._process = start(self._shared)
            try:
                listen(self._process, time.monotonic() + START_S)
            except (OSError, ValueError) as error:  # TimeoutError is an OSError
                self.stop()
                raise UnavailableError("the reader of pages does not start; close some programs") from error
        return self._process


@cache
def parser() -> Parser:
    """The one of this process; it goes when this process does."""
    made = Parser()
    atexit.register(made.stop)
    return made


def start(shared: int) -> subprocess.Popen[bytes]:
    """Nothing of the folder that one stands in is imported (-P). Raises UnavailableError."""
    command = [sys.executable, "-P", "-m", "knowledge.ingest.parser_process", str(shared)]
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(shared,),
            start_new_session=True,  # Ctrl+C is for who started us; this one ends when its input does
        )
    except OSError as error:
        raise UnavailableError(f"cannot start the reader of pages: {error.strerror}; close some programs") from error


def ask(process: subprocess.Popen[bytes], request: dict[str, object]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()


def listen(process: subprocess.Popen[bytes], until: float) -> dict[str, Any]:
    """The next line as JSON. Raises TimeoutError, OSError where the process has ended, ValueError for no JSON."""
    assert process.stdout is not None
    descriptor, parts, size = process.stdout.fileno(), [], 0
    while True:
        # Not select(): a long-lived program may hold more than its 1,024 files.
        with selectors.DefaultSelector() as waiting:
            waiting.register(descriptor, selectors.EVENT_READ)
            if not waiting.select(max(0.0, until - time.monotonic())):
                raise TimeoutError
        block = os.read(descriptor, CHUNK)
        size += len(block)
        if not block or size > MOST_ANSWER:
            raise OSError("no answer")
        parts.append(block)
        if block.endswith(b"\n"):
            break
    answer = json.loads(b"".join(parts))
    if not isinstance(answer, dict):
        raise ValueError("no object")
    return answer


def page_of(answer: dict[str, Any]) -> Page:
    """The page, of words alone. Raises UnreadableError, NoTextError."""
    if "empty" in answer:
        raise NoTextError(str(answer["empty"]))
    if "unreadable" in answer:
        raise UnreadableError(str(answer["unreadable"])[:300])
    kinds: tuple[BlockKind, ...] = ("heading", "text", "code", "table")
    with contextlib.suppress(KeyError, TypeError, ValueError):
        blocks = tuple(Block(kinds[kinds.index(kind)], str(text), int(level)) for kind, text, level in answer["blocks"])
        return Page(str(answer["title"]), blocks, str(answer["date"]))
    raise UnreadableError(ENDED)
