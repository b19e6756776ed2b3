"""Pages and answers from other computers: the one place that opens a connection to read something.

Patient and bounded: a cut connection and a server's own fault are tried again with growing pauses, an answer has a
size and a time at most, and a redirect stays on its host unless it may leave. The proxy of the environment is used.
"""

from __future__ import annotations

import ipaddress
import json
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from knowledge.errors import UnavailableError

if TYPE_CHECKING:
    import httpx

TRIES = 4
PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0
CONNECT_S = 10.0
READ_S = 30.0
WHOLE_S = 120.0
MOST_BYTES = 100_000_000
MOST_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
Pause = Callable[[float], None]


class UnreachableError(UnavailableError):
    """A server does not answer, however often it is asked."""


class TooLargeError(UnavailableError):
    """An answer is larger, or slower, than is reasonable."""


class StrayError(UnavailableError):
    """A redirect leads to another host."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said. headers have names in lower case; address is where it came from after redirects."""

    status: int
    address: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").split(";")[0].strip().lower()

    def json(self) -> Any:
        """The body as JSON. Raises UnavailableError."""
        try:
            return json.loads(self.body)
        except ValueError as error:
            host = urlsplit(self.address).hostname
            raise UnavailableError(f"{host} sent something that is no JSON; check the address") from error


class Fetcher:
    """Asks servers, one question at a time. headers go only to the host of `home` (or to any where it is empty)."""

    def __init__(
        self,
        headers: Mapping[str, str] | None = None,
        *,
        home: str = "",
        stay: bool = True,
        public_only: bool = False,
        most_bytes: int = MOST_BYTES,
        tries: int = TRIES,
        pause: Pause = time.sleep,
    ) -> None:
        """stay: refuse redirects to other hosts; public_only: refuse addresses inside a private network."""
        self.headers = dict(headers or {})
        self.home = host_of(home)
        self.stay = stay
        self.public_only = public_only
        self.most_bytes = most_bytes
        self.tries = tries
        self.pause = pause
        self._client: httpx.Client | None = None

    def __enter__(self) -> Fetcher:
        return self

    def __exit__(self, *_: object) -> None:
        if self._client:
            self._client.close()

    def get(
        self, address: str, params: Mapping[str, str | int] | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Any answer but a server's fault (5xx), that being tried again. Raises UnavailableError and its kinds."""
        for left in reversed(range(self.tries)):
            try:
                answer = self._follow(address, params, headers or {})
            except UnreachableError:
                if not left:
                    raise
                self.pause(min(PAUSE_S * 2 ** (self.tries - 1 - left), LONGEST_PAUSE_S))
                continue
            if answer.status < 500 or not left:
                return answer
            self.pause(pause_of(answer, PAUSE_S * 2 ** (self.tries - 1 - left)))
        raise AssertionError("tries is at least 1")

    def _follow(self, address: str, params: Mapping[str, str | int] | None, headers: Mapping[str, str]) -> Answer:
        first = host_of(address)
        for _ in range(MOST_REDIRECTS + 1):
            answer = self._once(address, params, headers)
            if answer.status not in REDIRECTS or "location" not in answer.headers:
                return answer
            address, params = urljoin(address, answer.headers["location"]), None
            if self.stay and host_of(address) != first:
                raise StrayError(f"it leads away to {host_of(address) or 'no host'}; add that address itself")
        raise StrayError("it leads in a circle")

    def _once(self, address: str, params: Mapping[str, str | int] | None, headers: Mapping[str, str]) -> Answer:
        import httpx

        host = host_of(address)
        if self.public_only and not is_public(host):
            raise StrayError(f"{host or address[:60]} is no public address")
        if self._client is None:
            limits = httpx.Timeout(READ_S, connect=CONNECT_S)
            agent = {"User-Agent": f"maple-chat/{version('maple-chat')}"}
            self._client = httpx.Client(headers=agent, timeout=limits, follow_redirects=False)
        own = self.headers if not self.home or host == self.home else {}
        try:
            with self._client.stream("GET", address, params=params, headers={**own, **headers}) as got:
                return Answer(got.status_code, str(got.url), dict(got.headers.items()), self._body(got))
        except (httpx.UnsupportedProtocol, httpx.InvalidURL, ValueError) as error:
            raise UnavailableError(f"no address: {address[:80]}; it starts with https:// or http://") from error
        except httpx.DecodingError as error:
            raise UnavailableError(f"{host} sent an answer that cannot be unpacked") from error
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise UnreachableError(f"cannot reach {host}: {reason(error)}; check the network and its proxy") from error

    def _body(self, got: httpx.Response) -> bytes:
        parts, size, end = [], 0, time.monotonic() + WHOLE_S
        for part in got.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > self.most_bytes:
                raise TooLargeError(f"larger than {self.most_bytes // 1_000_000} MB")
            if time.monotonic() > end:
                raise TooLargeError(f"not whole after {WHOLE_S:.0f} s")
        return b"".join(parts)


def reason(error: Exception) -> str:
    """Why, in a few words and on one line."""
    return " ".join(str(error).split())[:100] or type(error).__name__


def host_of(address: str) -> str:
    """Host and port, as they decide who is asked; empty where it is no address."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return ""
    usual = {"https": 443, "http": 80}.get(parts.scheme)
    return (parts.hostname or "") + (f":{port}" if port and port != usual else "")


def pause_of(answer: Answer, otherwise: float) -> float:
    """The seconds that a server asks to wait, in reason; else those given."""
    said = answer.headers.get("retry-after", "")
    return min(float(said) if said.isdigit() else otherwise, LONGEST_PAUSE_S)


def is_loopback(address: str) -> bool:
    """Whether it is this computer."""
    name = host_of(address).split(":")[0]
    return name == "localhost" or name.startswith("127.")


def is_public(host: str) -> bool:
    """Whether every address of a host is one of the internet; a name that is not found is left to the connection."""
    name = host.rsplit(":", 1)[0] if host.count(":") == 1 else host
    if not name:
        return False
    try:
        found = socket.getaddrinfo(name, None)
    except OSError:
        return True
    return all(ipaddress.ip_address(str(one[4][0]).split("%")[0]).is_global for one in found)
