"""The one way in which every door drives the graph: a message goes in, typed events come out.

LangGraph takes 1.7 s to import: it is loaded in a worker thread at the first turn, or ahead of it by `warm`.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

from assistant.attachments import clean, is_long, keep, worded
from assistant.drawing import fenced, markdown
from assistant.errors import InputError, MapleError
from assistant.events import Error, Event
from assistant.lanes import lanes
from assistant.running import Engine, Run, SentMessage, load_engine, warm_up
from assistant.settings import Settings
from assistant.storage.database import open_database
from assistant.storage.diagnoses import Asker
from assistant.turns import Turn, Turns
from knowledge.types import Attachment

Hear = Callable[[Event], None]
ALONE = Asker()
THREAD_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Session:
    """One conversation, by the name of its thread."""

    def __init__(self, settings: Settings, thread: str, asker: Asker = ALONE) -> None:
        """asker: whose conversation it is and where, where others have theirs in the same database."""
        if not THREAD_NAME.fullmatch(thread):
            raise InputError(f"'{thread[:40]}' cannot name a thread; use letters, digits and . _ - (at most 64)")
        self.settings = settings
        self.thread = thread
        self.asker = asker
        self.database = open_database(settings)
        self.turns = Turns(self.database)
        self.running: set[threading.Event] = set()

    def history(self) -> tuple[Turn, ...]:
        """What was said so far."""
        return self.turns.history(self.thread)

    async def warm(self) -> None:
        """Do what is slow the first time, without blocking a user interface."""
        await asyncio.to_thread(warm_up, self.settings)

    async def send(self, text: str, attachments: Sequence[Attachment] = ()) -> AsyncIterator[Event]:
        """One turn: what passes by while it runs, then its answer; before it the answer of a turn that was left.

        Messages of a thread are answered in the order in which they were sent. Whoever stops listening does not stop
        the turn: it is finished and stored all the same.
        """
        stopping = threading.Event()
        async for event in self._streamed(partial(self._send, text, tuple(attachments), stopping), stopping):
            yield event

    def note(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Write a message down before anything is loaded that could answer it; `resume` does, in any process."""
        self.turns.begin(self.thread, *self._written(text, tuple(attachments)), tries=0)

    async def resume(self) -> AsyncIterator[Event]:
        """Answer what was noted, or left by a killed program; nothing where there is none."""
        stopping = threading.Event()
        async for event in self._streamed(partial(self._resume, stopping), stopping):
            yield event

    def stop(self) -> None:
        """End the running turn after the step that it is at. It is closed as stopped; the request before it stands."""
        for stopping in tuple(self.running):
            stopping.set()

    def forget(self) -> None:
        """Start this thread anew."""
        with self.database.alone(self.thread, self.settings.wait_s) as hold:
            hold.saver().delete_thread(self.thread)
            with hold.transaction() as talk:
                self.turns.forget(talk, self.thread)

    def export(self) -> str:
        """The whole conversation in Markdown."""
        return exported(self.turns.title(self.thread) or self.thread, self.history())

    @property
    def engine(self) -> Engine:
        return load_engine(self.settings)

    def _send(
        self, text: str, attachments: tuple[Attachment, ...], stopping: threading.Event, hear: Hear
    ) -> Iterator[Event]:
        try:
            message = SentMessage(*self._written(text, attachments), datetime.now(UTC))
            yield from self._run(message, stopping, hear).events()
        except MapleError as error:
            yield Error(str(error))

    def _written(self, text: str, attachments: tuple[Attachment, ...]) -> tuple[str, tuple[Attachment, ...]]:
        """A message as it is kept: a long one as a file."""
        if is_long(text):
            text, attachments = "", (*attachments, keep(text, self.settings.pasted))
        return clean(text).strip(), attachments

    def _resume(self, stopping: threading.Event, hear: Hear) -> Iterator[Event]:
        try:
            if self.turns.unfinished(self.thread) is not None:
                yield from self._run(None, stopping, hear).events()
        except MapleError as error:
            yield Error(str(error))

    def _run(self, message: SentMessage | None, stopping: threading.Event, hear: Hear) -> Run:
        return Run(self.settings, self.database, self.thread, message, stopping, hear, self.asker)

    async def _streamed(
        self, run: Callable[[Hear], Iterator[Event]], stopping: threading.Event
    ) -> AsyncIterator[Event]:
        """What a worker thread makes, as it comes. The worker goes on to the end, listened to or not."""
        loop = asyncio.get_running_loop()
        heard: asyncio.Queue[Event | None] = asyncio.Queue()

        def hand_over(event: Event | None) -> None:
            with suppress(RuntimeError):  # the listener's loop is closed: nobody is left to hear it
                loop.call_soon_threadsafe(heard.put_nowait, event)

        def work() -> None:
            try:
                for event in run(hand_over):
                    hand_over(event)
            finally:
                self.running.discard(stopping)
                hand_over(None)

        self.running.add(stopping)
        working = lanes(self.settings.workers).submit((self.settings, self.thread), work)
        while (event := await heard.get()) is not None:
            yield event
        await asyncio.wrap_future(working)


# A conversation as one Markdown file: what was said, what was answered, when.


def exported(title: str, turns: Sequence[Turn]) -> str:
    """The whole conversation, its scripts with it. An unfinished turn is said to be one."""
    return "\n\n".join([f"# {title}", *(part for turn in turns for part in parts(turn))]) + "\n"


def parts(turn: Turn) -> Iterable[str]:
    """One turn; the person's words are a block of their own, so that no sign in them is taken for a heading."""
    yield f"## {turn.at.astimezone():%Y-%m-%d %H:%M}"
    if turn.text:
        yield fenced("", turn.text, "text")
    yield from (f"Attached: {worded(attachment)} (`{attachment.path}`)" for attachment in turn.attachments)
    if turn.answer is None:
        yield "(not answered yet)"
    yield from filter(None, map(markdown, turn.answer or ()))
