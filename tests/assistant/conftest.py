"""A data folder of its own for each test, and a session on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from assistant.events import Event
from assistant.session import Session
from assistant.settings import Settings, read_settings
from knowledge.types import Attachment

Say = Callable[..., list[Event]]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("MAPLE_CHAT_DATA", str(tmp_path / "data"))
    return read_settings()


@pytest.fixture
def whole() -> str:
    """A request that needs no question."""
    return "Train with PyTorch FSDP on Perlmutter, 4 nodes, 4 GPUs per node"


@pytest.fixture
def session(settings: Settings) -> Session:
    return Session(settings, "t")


@pytest.fixture
def say(session: Session) -> Say:
    """Say something on the thread `t` and get all events of the turn."""

    async def collect(text: str, attachments: Sequence[Attachment]) -> list[Event]:
        return [event async for event in session.send(text, attachments)]

    return lambda text, *attachments: asyncio.run(collect(text, attachments))
