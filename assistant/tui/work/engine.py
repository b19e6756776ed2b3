"""A child process from the terminal program's side: ask it for a task, hear what it yields, stop it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, cast

from assistant.errors import InputError, UnavailableError
from assistant.tui.work.wire import Ended, Failed, TaskCall, receive, send

# -P: a folder that holds a graph.py of its own must not take our place.
CHILD = (sys.executable, "-P", "-c", "from assistant.tui.work.child import main; main()")
PATIENCE_S = 6.0
Put = Callable[[object], None]


class StoppedError(UnavailableError):
    """The task was stopped by the person."""


class EndedError(UnavailableError):
    """The child ended in the middle: killed for lack of memory, for example."""


class ChildEngine:
    """One child; its tasks run one after another. It starts at the first task, and anew after a stop.

    log: what the child writes to standard error.
    """

    def __init__(self, log: Path | None = None) -> None:
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._talker = ThreadPoolExecutor(1, "engine")
        self._stopping = False
        self._idle = threading.Event()
        self._idle.set()

    async def run(self, task: str, *arguments: Any) -> AsyncIterator[Any]:
        """What the task yields, as it comes. Raises StoppedError, EndedError, InputError, UnavailableError."""
        loop = asyncio.get_running_loop()
        heard: asyncio.Queue[object] = asyncio.Queue()

        def put(value: object) -> None:
            with contextlib.suppress(RuntimeError):  # the program has ended meanwhile
                loop.call_soon_threadsafe(heard.put_nowait, value)

        self._talker.submit(self._talk, TaskCall(task, arguments), put)
        while True:
            value = await heard.get()
            if isinstance(value, Ended):
                return
            if isinstance(value, Exception):
                raise value
            if isinstance(value, Failed):
                raise (InputError if value.ours else UnavailableError)(value.says)
            yield value

    def stop(self, patience_s: float = PATIENCE_S) -> None:
        """End the running task: asked first, so that it tidies up; killed after patience_s. Blocks that long."""
        process = self._process
        if process is None or process.poll() is not None or self._idle.is_set():
            return
        self._stopping = True
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        if not self._idle.wait(patience_s):
            process.kill()

    def close(self) -> None:
        """End the child, with the program."""
        process = self._process
        if process is not None and process.poll() is None:
            process.kill()
        self._talker.shutdown(wait=False, cancel_futures=True)

    def _talk(self, call: TaskCall, put: Put) -> None:
        self._idle.clear()
        self._stopping = False
        try:
            process = self._started()
            send(cast("BinaryIO", process.stdin), call)
            while True:
                value = receive(cast("BinaryIO", process.stdout))
                put(value)
                if isinstance(value, Ended | Failed):
                    return
        except (EOFError, OSError):
            put(self._gone())
        except Exception as error:
            put(UnavailableError(f"the engine cannot be reached ({type(error).__name__}: {error}); try it again"))
        finally:
            self._idle.set()

    def _gone(self) -> Exception:
        code = self._process.wait() if self._process else 0
        self._process = None
        if self._stopping:
            self._stopping = False
            return StoppedError("Stopped.")
        where = f"; {self.log} tells why" if self.log else ""
        return EndedError(f"the engine ended (code {code}){where}; try it again")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            with Path(self.log or os.devnull).open("ab") as errors:
                self._process = subprocess.Popen(
                    CHILD, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
                )
        return self._process
