"""A tiny real model, a stand-in server, and settings that point to them."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from aiohttp import web

sys.path.insert(0, str(Path(__file__).parent))

import tiny_model
from stand_in import StandIn

from assistant.settings import Settings


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GGUF file with random weights."""
    return tiny_model.make(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


@pytest.fixture
def serve() -> Iterator[Callable[[str], tuple[StandIn, str]]]:
    """Starts stand-ins on ports of their own: behaviour -> the stand-in and its address."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    runners: list[web.AppRunner] = []

    async def start(stand_in: StandIn) -> int:
        runner = web.AppRunner(stand_in.app(), shutdown_timeout=0.1)
        await runner.setup()
        runners.append(runner)
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return int(runner.addresses[0][1])

    def serving(behaviour: str) -> tuple[StandIn, str]:
        stand_in = StandIn(behaviour)
        port = asyncio.run_coroutine_threadsafe(start(stand_in), loop).result(20)
        return stand_in, f"http://127.0.0.1:{port}/v1"

    yield serving
    for runner in runners:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(20)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(5)


@pytest.fixture
def at(tmp_path: Path) -> Callable[..., Settings]:
    """Settings with a data folder of the test."""

    def made(**values: object) -> Settings:
        (tmp_path / "data" / "pasted").mkdir(parents=True, exist_ok=True)
        return Settings(**({"data": tmp_path / "data", "model_small": "m"} | values))  # type: ignore[arg-type]

    return made
