"""The one way in which every door drives the graph: a message goes in, typed events come out.

LangGraph takes 1.7 s to import: it is loaded in a worker thread at the first turn, or ahead of it by `warm`.
A turn is written down, run, closed with its answer, and only then said: killed at any point, it is finished at the next
start, and nothing is said twice.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING, Any, cast

from filelock import FileLock, Timeout

from assistant.attachments import clean, is_long, keep
from assistant.errors import InputError, MapleError, UnavailableError
from assistant.events import Done, Error, Event, Known, Passing, Text, event_of, passing
from assistant.exporting import exported
from assistant.known import known
from assistant.settings import Settings
from assistant.turns import Turn, Turns
from knowledge.types import Attachment, JobRequest, Refusal, Working, Writing

if TYPE_CHECKING:
    from graph.build import Graph
    from graph.checkpoints import Checkpoints
    from graph.context import Context
    from graph.state import State

THREAD_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
MOST_TRIES = 2
GIVEN_UP = "The message before this one stopped the program twice, so I leave it. Say it in other words."
STOPPED = "Stopped. The request is as it was before this message."
logger = logging.getLogger("maple-chat")


@dataclass(frozen=True, slots=True)
class Engine:
    """What a turn runs on; costs the slow imports."""

    graph: Graph
    checkpoints: Checkpoints
    context: Context


LOADING = threading.Lock()


@cache
def _engine(settings: Settings) -> Engine:
    from assistant.stores import open_knowledge, open_library
    from graph.build import build
    from graph.checkpoints import Checkpoints
    from graph.context import Context

    checkpoints = Checkpoints(settings.conversations)
    context = Context(library=open_library(settings.data), knowledge=open_knowledge(settings.data))
    return Engine(build(checkpoints), checkpoints, context)


def load_engine(settings: Settings) -> Engine:
    """One engine for all conversations of a process, however many threads ask for it at once."""
    with LOADING:
        return _engine(settings)


async def streamed(events: Iterator[Event]) -> AsyncIterator[Event]:
    """What a worker thread makes, as it comes. The worker goes on to the end, listened to or not."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Event | None] = asyncio.Queue()

    def hand_over(event: Event | None) -> None:
        with suppress(RuntimeError):  # the listener's loop is closed: nobody is left to hear it
            loop.call_soon_threadsafe(queue.put_nowait, event)

    def work() -> None:
        try:
            for event in events:
                hand_over(event)
        finally:
            hand_over(None)

    working = loop.run_in_executor(None, work)
    while (event := await queue.get()) is not None:
        yield event
    await working


def known_of(state: State) -> Known:
    """The request as it stands; while something is open or refused, what the last script decided is not part of it."""
    undecided = state.get("question") or isinstance(state.get("outcome"), Refusal)
    plan = None if undecided else state.get("plan")
    return known(state.get("request") or JobRequest(), plan, tuple(state.get("left_to_us") or ()))


class Session:
    """One conversation, by the name of its thread."""

    def __init__(self, settings: Settings, thread: str) -> None:
        if not THREAD_NAME.fullmatch(thread):
            raise InputError(f"'{thread[:40]}' cannot name a thread; use letters, digits and . _ - (at most 64)")
        self.settings = settings
        self.thread = thread
        self.turns = Turns(settings.conversations)
        self.stopping = threading.Event()

    def history(self) -> tuple[Turn, ...]:
        """What was said so far."""
        return self.turns.history(self.thread)

    async def warm(self) -> None:
        """Load what is slow, without blocking a user interface."""
        await asyncio.to_thread(lambda: self.engine)

    async def send(self, text: str, attachments: Sequence[Attachment] = ()) -> AsyncIterator[Event]:
        """One turn: what passes by while it runs, then its answer; before it the answer of a turn that was left.

        Whoever stops listening does not stop the turn: it is finished and stored all the same.
        """
        self.stopping.clear()
        async for event in streamed(self._send(text, tuple(attachments))):
            yield event

    async def resume(self) -> AsyncIterator[Event]:
        """Finish the turn that a killed program left; nothing where there is none."""
        self.stopping.clear()
        async for event in streamed(self._resume()):
            yield event

    def stop(self) -> None:
        """End the running turn after the step that it is at. It is closed as stopped; the request before it stands."""
        self.stopping.set()

    def export(self) -> str:
        """The whole conversation in Markdown."""
        return exported(self.turns.title(self.thread) or self.thread, self.history())

    def forget(self) -> None:
        """Start this thread anew."""
        with self._alone():
            self.engine.checkpoints.delete_thread(self.thread)
            self.turns.forget(self.thread)

    @property
    def engine(self) -> Engine:
        return load_engine(self.settings)

    def _send(self, text: str, attachments: tuple[Attachment, ...]) -> Iterator[Event]:
        try:
            if is_long(text):
                text, attachments = "", (*attachments, keep(text, self.settings.pasted))
            with self._alone():
                yield from self._finish()
                yield from self._answer(self.turns.begin(self.thread, clean(text).strip(), attachments))
        except MapleError as error:
            yield Error(str(error))

    def _resume(self) -> Iterator[Event]:
        try:
            if self.turns.unfinished(self.thread) is not None:
                with self._alone():
                    yield from self._finish()
        except MapleError as error:
            yield Error(str(error))

    def _finish(self) -> Iterator[Event]:
        """Answer the turn that was left. One that stopped the program twice is given up."""
        turn = self.turns.unfinished(self.thread)
        if turn is None:
            return
        if turn.tries < MOST_TRIES:
            self.turns.try_again(self.thread, turn.number)
            yield from self._answer(turn)
            return
        given_up: list[Event] = [Error(GIVEN_UP), Done(turn.number)]
        self.turns.close(self.thread, turn.number, given_up)
        yield from given_up

    def _answer(self, turn: Turn) -> Iterator[Event]:
        """Run the graph and store what it said, before anybody hears it; only what passes by is said at once."""
        answer: list[Event] = []
        try:
            for event in self._run(turn):
                if isinstance(event, Passing):
                    yield event
                else:
                    answer.append(event)
        except MapleError as error:
            answer = [Error(str(error))]
        except Exception as error:
            self._log_trouble(turn)
            name = type(error).__name__
            answer = [
                Error(f"Something went wrong here ({name}): see {self.settings.log}; a new conversation may help.")
            ]
        answer.append(Done(turn.number))
        self.turns.close(self.thread, turn.number, answer)
        yield from answer

    def _run(self, turn: Turn) -> Iterator[Event]:
        from graph.state import new_turn

        engine = self.engine
        config: Any = {"configurable": {"thread_id": self.thread}}
        before = state = self._settled(engine, config)
        if before.get("turn") != turn.number:
            entry = new_turn(turn.number, turn.text, turn.attachments)
            for part in self._steps(engine, entry, config):
                if isinstance(part, Writing | Working):
                    yield passing(part)
                elif self.stopping.is_set():
                    yield Text(STOPPED)
                    yield known_of(before)
                    return
                else:
                    state = part
            engine.checkpoints.prune([self.thread])
        yield from map(event_of, state["said"])
        yield known_of(state)

    def _steps(self, engine: Engine, entry: State, config: Any) -> Iterator[State | Writing | Working]:
        """The state after each step of the graph, and what its nodes write meanwhile."""
        context = replace(engine.context, stopped=self.stopping.is_set)
        running = engine.graph.stream(
            entry, config, context=context, durability="exit", stream_mode=["custom", "values"]
        )
        for _, part in running:
            yield cast("State | Writing | Working", part)

    def _settled(self, engine: Engine, config: Any) -> State:
        """The conversation after its last whole turn. What a turn left half done when it broke off is dropped."""
        last = engine.graph.get_state(config)
        if last.next and not last.interrupts:
            parent = last.parent_config
            engine.checkpoints.rewind(self.thread, parent["configurable"]["checkpoint_id"] if parent else None)
            last = engine.graph.get_state(config)
        return cast("State", last.values)

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
