"""What only shows over a real transport: roots, progress, and what a cancelled call leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")
import anyio
import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ListRootsResult, Root

SERVER = ("-c", "import sys; from assistant.cli import main; sys.exit(main())", "mcp")
TOKEN = "a-token-of-the-tests-0123456789"
SLEEPS = """#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=1
#SBATCH --time=00:10:00
sleep 611
"""
Connect = Callable[..., AbstractAsyncContextManager[Client]]


@asynccontextmanager
async def over_stdio(**client: Any) -> AsyncIterator[Client]:
    asked = StdioServerParameters(command=sys.executable, args=list(SERVER), env=dict(os.environ))
    async with Client(stdio_client(asked), **client) as connected:
        yield connected


@asynccontextmanager
async def over_http(**client: Any) -> AsyncIterator[Client]:
    words = [sys.executable, *SERVER, "--http", "0"]
    with subprocess.Popen(words, env=dict(os.environ), stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            address = server.stderr.readline().split()[-1]
            headers = {"Authorization": f"Bearer {TOKEN}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60) as http,
                Client(streamable_http_client(address, http_client=http), **client) as connected,
            ):
                yield connected
        finally:
            server.terminate()


@pytest.fixture(params=[over_stdio, over_http])
def connect(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Connect:
    monkeypatch.setenv("MAPLE_CHAT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MAPLE_CHAT_MCP_TOKEN", TOKEN)
    chosen: Connect = request.param
    return chosen


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_big_log_below_the_clients_root_is_told_as_it_is_read(
    connect: Connect, mode: str, tmp_path: Path
) -> None:
    inside, outside = tmp_path / "logs", tmp_path / "elsewhere"
    for folder in (inside, outside):
        folder.mkdir()
    log = b"".join(b"step %d loss 2.1 lr 3e-4 tokens/s 41000\n" % n for n in range(400_000))
    (inside / "job.out").write_bytes(log + b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")
    (outside / "job.out").write_bytes(b"torch.OutOfMemoryError: CUDA out of memory.\n")
    told: list[float] = []

    async def roots(_: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=inside.as_uri())])

    async def heard(done: float, total: float | None, words: str | None) -> None:
        told.append(done)
        assert total and done <= total and words

    async with connect(mode=mode, list_roots_callback=roots) as client:
        found = await client.call_tool("diagnose_log", {"file": str(inside / "job.out")}, progress_callback=heard)
        assert found.structured_content and found.structured_content["cause"] == "gpu-oom"
        assert found.structured_content["evidence"][0]["line"] == 400_001
        assert told == sorted(told) and len(told) > 3
        refused = await client.call_tool("diagnose_log", {"file": str(outside / "job.out")})
        assert refused.is_error and "below a granted folder" in str(refused.content)


async def test_a_cancelled_rehearsal_leaves_nothing_running(connect: Connect) -> None:
    async with connect(mode="legacy") as client:
        given = {"script": SLEEPS, "machine": "delta", "nodes": 1, "gpus_per_node": 1}
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: client.call_tool("rehearse_script", given))
            for _ in range(300):
                if sleepers():
                    break
                await asyncio.sleep(0.1)
            assert sleepers()
            group.cancel_scope.cancel()
        for _ in range(200):
            if not sleepers():
                break
            await asyncio.sleep(0.1)
        assert not sleepers()
        answer = await client.call_tool("list_clusters", {})
        assert not answer.is_error


def sleepers() -> list[str]:
    """The processes of the script that is rehearsed."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", b"611"]:
            found.append(path.parent.name)
    return found


async def test_the_printed_entry_starts_the_server(tmp_path: Path) -> None:
    """What `--config` prints is all that a client needs, with nothing of ours on its PATH."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "MAPLE_CHAT_DATA": str(tmp_path / "data")}
    words = [str(Path(sys.executable).parent / "maple-chat"), "mcp", "--config", "claude", "--root", str(tmp_path)]
    printed = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    entry = json.loads(printed.stdout)["mcpServers"]["maple-chat"]
    (tmp_path / "job.out").write_text("torch.OutOfMemoryError: CUDA out of memory.\n")
    asked = StdioServerParameters(command=entry["command"], args=entry["args"], env=environment, cwd=tmp_path)
    async with Client(stdio_client(asked)) as client:
        found = await client.call_tool("diagnose_log", {"file": str(tmp_path / "job.out")})
    assert found.structured_content and found.structured_content["cause"] == "gpu-oom"


async def test_a_cancelled_reading_of_a_log_ends(connect: Connect, tmp_path: Path) -> None:
    """The rest of a big log is not read once the call is cancelled."""
    log = tmp_path / "job.out"
    with log.open("wb") as file:
        for _ in range(20):
            file.write(b"".join(b"step %d loss 2.1 lr 3e-4 tokens/s 41000\n" % n for n in range(200_000)))

    async def roots(_: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=tmp_path.as_uri())])

    begun = anyio.Event()

    async def heard(done: float, total: float | None, words: str | None) -> None:
        begun.set()

    async with connect(mode="legacy", list_roots_callback=roots) as client:
        async with anyio.create_task_group() as group:
            given = {"file": str(log)}
            group.start_soon(lambda: client.call_tool("diagnose_log", given, progress_callback=heard))
            with anyio.fail_after(20):
                await begun.wait()
            assert read_of(log)
            group.cancel_scope.cancel()
        furthest = 0
        for _ in range(2000):
            now = read_of(log)
            furthest = max(furthest, now)
            if not now:
                break
            await asyncio.sleep(0.005)
        assert furthest < 0.8 * log.stat().st_size


def read_of(path: Path) -> int:
    """How far a process that has the file open has read it; 0: none has."""
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if link.readlink() == path:
                return int((link.parents[1] / "fdinfo" / link.name).read_text().split()[1])
    return 0
