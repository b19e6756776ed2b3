"""The one way in which every door drives the graph: a message goes in, typed events come out.

LangGraph takes 1.7 s to import: it is loaded in a worker thread at the first turn, or ahead of it by `warm`.
A turn is written down, run, closed with its answer, and only then said: killed at any point, it is finished at the next
start, and nothing is said twice.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from logging.handlers import RotatingFileHandler
from threading import Lock
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from assistant.attachments import clean, is_long, keep
from assistant.errors import InputError, MapleError, UnavailableError
from assistant.events import Done, Error, Event, event_of
from assistant.known import known
from assistant.settings import Settings
from assistant.turns import Turn, Turns
from knowledge.types import Attachment, JobRequest, Refusal

if TYPE_CHECKING:
    from graph.build import Graph
    from graph.checkpoints import Checkpoints
    from graph.context import Context

THREAD_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
MOST_TRIES = 2
logger = logging.getLogger("maple-chat")


@dataclass(frozen=True, slots=True)
class Engine:
    """What a turn runs on; costs the slow imports."""

    graph: Graph
    checkpoints: Checkpoints
    context: Context


LOADING = Lock()


@cache
def _engine(settings: Settings) -> Engine:
    from assistant.stores import open_library
    from graph.build import build
    from graph.checkpoints import Checkpoints
    from graph.context import Context

    checkpoints = Checkpoints(settings.conversations)
    return Engine(build(checkpoints), checkpoints, Context(library=open_library(settings.data)))


def load_engine(settings: Settings) -> Engine:
    """One engine for all conversations of a process, however many threads ask for it at once."""
    with LOADING:
        return _engine(settings)


class Session:
    """One conversation, by the name of its thread."""

    def __init__(self, settings: Settings, thread: str) -> None:
        if not THREAD_NAME.fullmatch(thread):
            raise InputError(f"'{thread[:40]}' cannot name a thread; use letters, digits and . _ - (at most 64)")
        self.settings = settings
        self.thread = thread
        self.turns = Turns(settings.conversations)

    def history(self) -> tuple[Turn, ...]:
        """What was said so far."""
        return self.turns.history(self.thread)

    async def warm(self) -> None:
        """Load what is slow, without blocking a user interface."""
        await asyncio.to_thread(lambda: self.engine)

    async def send(self, text: str, attachments: Sequence[Attachment] = ()) -> AsyncIterator[Event]:
        """One turn: the message's answer, after the answer of a turn that a killed program left."""
        for event in await asyncio.to_thread(self._send, text, tuple(attachments)):
            yield event

    async def resume(self) -> AsyncIterator[Event]:
        """Finish the turn that a killed program left; nothing where there is none."""
        for event in await asyncio.to_thread(self._resume):
            yield event

    def forget(self) -> None:
        """Start this thread anew."""
        with self._alone():
            self.engine.checkpoints.delete_thread(self.thread)
            self.turns.forget(self.thread)

    @property
    def engine(self) -> Engine:
        return load_engine(self.settings)

    def _send(self, text: str, attachments: tuple[Attachment, ...]) -> list[Event]:
        try:
            if is_long(text):
                text, attachments = "", (*attachments, keep(text, self.settings.pasted))
            with self._alone():
                earlier = self._finish()
                return earlier + self._answer(self.turns.begin(self.thread, clean(text).strip(), attachments))
        except MapleError as error:
            return [Error(str(error))]

    def _resume(self) -> list[Event]:
        if self.turns.unfinished(self.thread) is None:
            return []
        try:
            with self._alone():
                return self._finish()
        except MapleError as error:
            return [Error(str(error))]

    def _finish(self) -> list[Event]:
        """Answer the turn that was left. One that stopped the program twice is given up."""
        turn = self.turns.unfinished(self.thread)
        if turn is None:
            return []
        if turn.tries >= MOST_TRIES:
            error = Error(
                "The message before this one stopped the program twice, so I leave it. Say it in other words."
            )
            given_up: list[Event] = [error, Done(turn.number)]
            self.turns.close(self.thread, turn.number, given_up)
            return given_up
        self.turns.try_again(self.thread, turn.number)
        return self._answer(turn)

    def _answer(self, turn: Turn) -> list[Event]:
        """Run the graph and store what it said, before anybody hears it."""
        try:
            events = self._run(turn)
        except MapleError as error:
            events = [Error(str(error))]
        except Exception as error:
            self._log_trouble(turn)
            name = type(error).__name__
            events = [
                Error(f"Something went wrong here ({name}): see {self.settings.log}; a new conversation may help.")
            ]
        events.append(Done(turn.number))
        self.turns.close(self.thread, turn.number, events)
        return events

    def _run(self, turn: Turn) -> list[Event]:
        from graph.state import new_turn

        engine = self.engine
        config: Any = {"configurable": {"thread_id": self.thread}}
        state = engine.graph.get_state(config).values
        if state.get("turn") != turn.number:
            entry = new_turn(turn.number, turn.text, turn.attachments)
            state = engine.graph.invoke(entry, config, context=engine.context, durability="exit")
            engine.checkpoints.prune([self.thread])
        undecided = state.get("question") or isinstance(state.get("outcome"), Refusal)
        plan = None if undecided else state.get("plan")
        now = known(state.get("request") or JobRequest(), plan, tuple(state.get("left_to_us") or ()))
        return [*map(event_of, state["said"]), now]

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One turn at a time on a thread, over all processes. Raises UnavailableError after the waiting time."""
        lock = FileLock(self.settings.data / f"{self.thread}.lock", timeout=self.settings.wait_s)
        try:
            lock.acquire()
        except Timeout as error:
            raise UnavailableError(
                f"another maple-chat is still answering on thread '{self.thread}'; wait for it or take another thread"
            ) from error
        except (NotImplementedError, OSError):
            # Some parallel file systems are mounted without locks: better to answer than to refuse.
            yield
            return
        try:
            yield
        finally:
            lock.release()

    def _log_trouble(self, turn: Turn) -> None:
        if not logger.handlers:
            handler = RotatingFileHandler(self.settings.log, maxBytes=1_000_000, backupCount=1, delay=True)
            handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
            logger.addHandler(handler)
            logger.propagate = False
        logger.exception("thread %s, turn %d", self.thread, turn.number)
