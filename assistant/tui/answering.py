"""A turn of the conversation, from the message to what is drawn; and the talk with the child that answers it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from assistant.errors import MapleError
from assistant.events import Diagnosed, Done, Event, Known, Progress, Script, Streaming, Text
from assistant.running import STOPPED
from assistant.session import Session
from assistant.tui.work.engine import ChildEngine, EndedError, StoppedError
from assistant.tui.work.found import CheckReport
from assistant.turns import Turn
from knowledge.types import Attachment, Working

if TYPE_CHECKING:
    from assistant.tui.screens.chat import ChatScreen

TURN = "turn"
PATIENCE_S = 2.5


class TurnTaker:
    """Takes turns for one screen. `turns` answers, `tools` does the rest, each in a process of its own."""

    def __init__(self, screen: ChatScreen, turns: ChildEngine, tools: ChildEngine) -> None:
        self.screen = screen
        self.engines = {TURN: turns, "tool": tools}
        self.running: dict[str, str] = {}

    @property
    def busy(self) -> bool:
        return TURN in self.running

    async def work(self, kind: str, what: str, task: str, *arguments: Any) -> AsyncIterator[Any]:
        """What a task finds, with its progress drawn. kind: which child. Nothing where the person stopped it."""
        if self.is_taken(kind):
            return
        self.running[kind] = what
        self.screen.working.begin(kind, what)
        try:
            async for value in self.engines[kind].run(task, *arguments):
                if isinstance(value, Working | Progress):
                    self.screen.working.tell(kind, value.what, value.done, value.total)
                else:
                    yield value
        except StoppedError:
            self.screen.status("Stopped.")
            if kind == TURN:
                await self.close_stopped()
        finally:
            self.running.pop(kind, None)
            self.screen.working.end(kind)
            self.screen.answered()

    def is_taken(self, kind: str) -> bool:
        """Whether that child works already; then it is said."""
        if kind in self.running:
            self.screen.status(f"{self.running[kind]} still goes on; Esc stops it.")
        return kind in self.running

    async def stop(self) -> bool:
        """Stop the newest piece of work; False where nothing runs."""
        if not self.running:
            return False
        kind = next(reversed(self.running))
        self.screen.working.tell(kind, "Stopping", 0, 0)
        await asyncio.to_thread(self.engines[kind].stop, PATIENCE_S)
        return True

    async def close_stopped(self) -> None:
        """A turn whose process had to be killed is closed, so that the next start does not take it up again."""
        session = self.screen.session
        turn = await asyncio.to_thread(session.turns.unfinished, session.thread)
        if turn:
            await asyncio.to_thread(close, session, turn)
        await self.screen.conversation.answer([Text(STOPPED)])

    async def say(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Send a message and draw its answer."""
        screen = self.screen
        await screen.conversation.ask(text, attachments)
        screen.logs.said(text, attachments)
        session = screen.session
        # Written down here: until the child has loaded what it answers with, the program may be killed.
        await asyncio.to_thread(session.note, text, attachments)
        try:
            await self.resume(session, "Working")
        except EndedError:
            if not screen.is_attached or not await self.resume(session):
                raise

    async def resume(self, session: Session, what: str = "Finishing the last answer") -> bool:
        """Answer what was said, or left by a killed program or a killed child; whether there was anything."""
        task = self.work(TURN, what, "resume", session.settings, session.thread)
        return bool(await self.take(task))

    async def take(self, answers: AsyncIterator[Event]) -> list[Event]:
        """Draw what comes: what passes by at once, the answer when it is whole. Raises MapleError after that."""
        events: list[Event] = []
        trouble: MapleError | None = None
        try:
            async for event in answers:
                if isinstance(event, Streaming):
                    await self.screen.conversation.stream(event.text)
                else:
                    events.append(event)
        except MapleError as error:
            trouble = error
        for event in (one for one in events if isinstance(one, Known)):
            await self.screen.chips.show(event)
        await self.screen.conversation.answer(events)
        for event in events:
            await self.draw(event)
        if trouble:
            raise trouble
        return events

    async def draw(self, event: Event) -> None:
        """What an event changes beside the conversation."""
        screen = self.screen
        if isinstance(event, Script):
            await screen.script_pane.show(event.made.bundle, screen.bundle)
            screen.has_script(True)
            where = "F3 shows it, " if screen.narrow else ""
            screen.status(f"The script is ready: {where}Ctrl+S saves it here.")
            screen.run_worker(self.judge(), group="judge", exclusive=True)
        elif isinstance(event, Diagnosed):
            await screen.logs.diagnosed(event.diagnosis)
            if event.diagnosis.evidence:
                screen.status("F4 shows the log with the telling line.")

    async def judge(self) -> None:
        """What the checks say, beside the lines of the script. Without a word in the conversation."""
        screen = self.screen
        bundle = screen.bundle
        if bundle is None:
            return
        try:
            async for report in self.engines[TURN].run("check", bundle.script, "-", screen.machine or None):
                if isinstance(report, CheckReport) and screen.bundle is bundle:
                    screen.script_pane.tell(report.findings)
        except MapleError as error:
            screen.status(str(error), problem=True)


def close(session: Session, turn: Turn) -> None:
    """Store that a turn was stopped."""
    with session.database.transaction() as talk:
        session.turns.close(talk, session.thread, turn, [Text(STOPPED), Done(turn.number)])
