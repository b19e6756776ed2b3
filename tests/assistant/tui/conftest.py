"""The chat in a terminal of Textual's own, and one pair of child processes for all tests: loading takes long."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Markdown, Static

from assistant.settings import Settings
from assistant.tui.app import MapleApp
from assistant.tui.screens.chat import ChatScreen
from assistant.tui.widgets.conversation import Conversation, Note
from assistant.tui.work.engine import ChildEngine

NARROW, WIDE = (80, 24), (160, 48)


class Chat:
    """What a person does and sees."""

    def __init__(self, app: MapleApp, pilot: Pilot[int]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def screen(self) -> ChatScreen:
        return next(screen for screen in self.app.screen_stack if isinstance(screen, ChatScreen))

    async def started(self) -> None:
        """Wait until the conversation is there."""
        while self.app.chat is None or not self.app.chat.is_mounted:
            await self.pilot.pause(0.01)
        await self.settled()

    async def settled(self) -> ChatScreen:
        """Wait for the answer: nothing is being worked on but what waits for the person, and everything is drawn."""
        for _ in range(3):
            await self.pilot.pause()
            while self.app.screen is self.screen and any(worker.is_running for worker in self.app.workers):
                await self.pilot.pause(0.01)
        await self.pilot.pause()
        return self.screen

    async def say(self, text: str) -> ChatScreen:
        """Type (at once) and send."""
        await self.send(text)
        return await self.settled()

    async def send(self, text: str) -> None:
        """The same, and do not wait for the answer."""
        screen = await self.settled()
        screen.composer.focus()
        screen.composer.text = text
        await self.pilot.pause()
        screen.composer.completions.offer(())
        await self.pilot.press("enter")

    async def press(self, *keys: str) -> ChatScreen:
        await self.pilot.press(*keys)
        return await self.settled()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something is so."""
        for _ in range(1_500):
            await self.pilot.pause(0.02)
            if holds():
                return
        raise AssertionError(f"{self.status}\n{self.shown}")

    @property
    def status(self) -> str:
        return str(self.screen.query_one("#status", Static).content)

    @property
    def answers(self) -> list[str]:
        return [markdown.source for markdown in self.screen.query_one(Conversation).query(Markdown)]

    @property
    def notes(self) -> str:
        return "\n".join(str(note.content) for note in self.screen.query(Note))

    @property
    def shown(self) -> str:
        """The screen's text, line by line."""
        return "\n".join(
            "".join(segment.text for segment in strip) for strip in self.app.screen._compositor.render_strips()
        )


Open = Callable[..., AbstractAsyncContextManager[Chat]]


@pytest.fixture(scope="session")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ChildEngine, ChildEngine]]:
    log = tmp_path_factory.mktemp("engines") / "engine.log"
    pair = ChildEngine(log), ChildEngine(log)
    yield pair
    for engine in pair:
        engine.close()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Scripts are saved into the current folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def chat(settings: Settings, engines: tuple[ChildEngine, ChildEngine]) -> Open:
    """`async with chat() as it:` the program on a thread, narrow unless told. own: with children of its own."""

    @asynccontextmanager
    async def run(size: tuple[int, int] = NARROW, thread: str = "t", own: bool = False) -> AsyncIterator[Chat]:
        app = MapleApp(lambda: (settings, thread), None if own else engines)
        async with app.run_test(size=size) as pilot:
            it = Chat(app, pilot)
            await it.started()
            yield it

    return run
