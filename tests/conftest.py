"""A web server of our own for tests: it says what it is told, and remembers what it was asked."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit
from zlib import crc32

import pytest

# A shell starts its background jobs with SIGINT ignored, and what these start inherits that: here it interrupts again.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Hundreds of tests start the program: where an image forbids to keep compiled code, each would compile all of it anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


@dataclass(frozen=True)
class Asked:
    """One request: its path, its query and its headers (names in lower case)."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]
    raw: str


@dataclass(frozen=True)
class Reply:
    """What is answered. cut: the connection ends in the middle of the body."""

    body: bytes | str = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False


@dataclass
class StandIn:
    """A server at `address`. Put functions or replies for paths into `pages`; `asked` grows with each request."""

    address: str = ""
    pages: dict[str, Reply | Callable[[Asked], Reply]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    def reply(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        found = self.pages.get(asked.path, Reply("not here", 404, {"Content-Type": "text/plain"}))
        return found(asked) if callable(found) else found

    def say(self, path: str, body: bytes | str, status: int = 200, **headers: str) -> None:
        """Answer a path like that from now on."""
        self.pages[path] = self.make(body, status, **headers)

    @staticmethod
    def make(body: bytes | str = b"", status: int = 200, cut: bool = False, **headers: str) -> Reply:
        return Reply(body, status, {name.replace("_", "-"): value for name, value in headers.items()}, cut)

    def paths(self) -> list[str]:
        return [one.path for one in self.asked]


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    stand = StandIn()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = stand.reply(Asked(parts.path, dict(parse_qsl(parts.query)), headers, self.path))
            body = reply.body.encode() if isinstance(reply.body, str) else reply.body
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body) + (100 if reply.cut else 0)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    stand.address = f"http://127.0.0.1:{server.server_port}"
    yield stand
    server.shutdown()
    server.server_close()
    thread.join()


# What starts processes, servers, terminals or rehearsals, or tries thousands of cases: not part of `-m quick`.
SLOW = (
    *("slurm", "ports", "golden", "assistant", "graph/verification", "knowledge/ingest", "knowledge/test_embedding"),
    *("knowledge/test_store", "knowledge/test_finding", "knowledge/test_masking", "templates", "graph/modelling"),
    *("graph/debugging/test_hostile_logs", "graph/porting", "graph/test_build", "graph/planning/test_coverage"),
    *("test_rule_data", "test_fuzz", "test_security_page", "test_supply", "knowledge/test_opening"),
    *("graph/watching/test_two_ranks", "graph/discovery/test_other_schedulers", "graph/reporting/test_dask_workers"),
    *("graph/debugging/test_flight_recorder", "graph/debugging/test_proposals", "knowledge/test_training_guide"),
)


# What mostly waits, for a scheduler, a terminal, a server or a rendezvous; and, in both groups, what takes longest.
WAITS = ("slurm", "assistant/tui", "assistant/slack", "assistant/mcp", "assistant/storage", "graph/watching")
LONG = (
    *("slurm/test_added_parts", "slurm/test_pending", "graph/verification/test_rehearsal_run", "assistant/evaluating"),
    *("graph/verification", "test_fuzz", "ports", "graph/conversing/test_turns", "assistant/tui/test_features"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the quick ones, and deals the files out so that what waits runs beside what computes, the longest first:
    `.ci/test` keeps to the order."""
    names = {item: item.path.relative_to(Path(__file__).parent).as_posix() for item in items}
    for item, name in names.items():
        if not name.startswith(SLOW):
            item.add_marker(pytest.mark.quick)
    files = sorted(set(names.values()), key=lambda name: (not name.startswith(LONG), crc32(name.encode())))
    place = {}
    for group in ([name for name in files if name.startswith(WAITS) is waits] for waits in (True, False)):
        place |= {name: (at + 0.5) / len(group) for at, name in enumerate(group)}
    items.sort(key=lambda item: place[names[item]])
