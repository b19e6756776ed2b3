"""The child process: it does what is slow, so that the terminal program only draws.

A scan of a large log and the loading of LangGraph hold Python's global lock for tenths of a second; in a process of
their own they cannot delay a key. SIGINT stops the task and the process with it; what the task had begun is tidied up
by its own `finally`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

from assistant.tui.work.wire import Ended, Failed, TaskCall, receive, send
from knowledge.errors import MapleError

TASKS = "assistant.tui.work.tasks"
STOPPED = 130


def main() -> None:
    """Serve calls until the other end goes away."""
    inward, outward = pipes()
    try:
        while True:
            serve(receive(inward), outward)
    except (EOFError, OSError):
        os._exit(0)
    except KeyboardInterrupt:
        os._exit(STOPPED)


def pipes() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for ourselves; whatever a library prints goes to standard error."""
    inward = os.fdopen(os.dup(0), "rb")
    outward = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return inward, outward


def serve(call: TaskCall, outward: BinaryIO) -> None:
    """Run one task and send what it tells, as it tells it. Raises OSError where nobody listens any more."""
    try:
        task: Callable[..., None] = getattr(importlib.import_module(TASKS), call.task)
        task(partial(send, outward), *call.arguments)
        send(outward, Ended())
    except MapleError as error:
        send(outward, Failed(str(error), True))
    except Exception as error:
        import traceback

        traceback.print_exc(file=sys.stderr)
        send(outward, Failed(f"{type(error).__name__}: {error}", False))
