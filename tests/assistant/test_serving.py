"""The chat in a browser: the real server, asked with and without its token."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.commands.serve import free_port, is_loopback
from assistant.errors import InputError, UnavailableError

aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("textual_serve")
CODE = "import sys; from assistant.cli import main; sys.exit(main())"


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where a server is, with its token."""
    monkeypatch.setenv("MAPLE_CHAT_DATA", str(tmp_path / "data"))
    with subprocess.Popen(
        [sys.executable, "-c", CODE, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        address = server.stdout.readline().split()[-1]
        port = int(address.partition("/?")[0].rpartition(":")[2])
        while not listens(port):
            time.sleep(0.05)
        yield address
        server.terminate()


def listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


async def test_nothing_is_served_without_the_token(address: str) -> None:
    bare = address.partition("?")[0]
    jar = aiohttp.CookieJar(unsafe=True)  # an address of numbers may keep cookies
    async with aiohttp.ClientSession(cookie_jar=jar) as browser:
        for url in (bare, f"{bare}?token=wrong", f"{bare}static/js/textual.js", f"{bare}ws", f"{bare}download/x"):
            async with browser.get(url) as answer:
                assert answer.status == 403
        async with browser.get(address) as answer:
            page = await answer.text()
            assert answer.status == 200 and "token" not in str(answer.url) and "token=" not in page
            assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
        async with browser.get(f"{bare}static/js/textual.js") as answer:
            assert answer.status == 200
        async with browser.get(f"{bare}ws", headers={"Origin": "http://other.example"}) as answer:
            assert answer.status == 403
        async with browser.ws_connect(f"{bare}ws?width=80&height=24") as wire:
            await asyncio.wait_for(painted(wire), 60)


async def painted(wire: object) -> None:
    """The program draws itself for the browser."""
    seen = b""
    while b"Say what to run" not in seen:
        message = await wire.receive()  # type: ignore[attr-defined]
        seen += message.data if isinstance(message.data, bytes) else b""


def test_only_this_computer_is_loopback() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "login01", "10.0.0.1")))


def test_a_port_that_cannot_be_had_is_refused() -> None:
    with pytest.raises(InputError, match="65535"):
        free_port("127.0.0.1", 70_000)
    with pytest.raises(UnavailableError, match="another --port"):
        free_port("192.0.2.1", 8000)
    assert free_port("127.0.0.1", 0) > 0
