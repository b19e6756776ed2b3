"""Pages and answers from other computers: the one place that opens a connection to read something.

Patient and bounded: a cut connection and a server's own fault are tried again with growing pauses, an answer has a
size and a time at most, and a redirect stays on its host unless it may leave. The proxy of the environment is used.

Where only public addresses are allowed, a name is looked up once and the connection goes to the address that was
checked: a name that answers differently the second time (DNS rebinding) leads nowhere. Behind a proxy the proxy looks
names up, and what it may reach is its own matter.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from knowledge.data_file import parse_json
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
MOST_ADDRESSES = 3
REDIRECTS = frozenset({301, 302, 303, 307, 308})
Pause = Callable[[float], None]


class UnreachableError(UnavailableError):
    """A server does not answer, however often it is asked."""


class OversizedResponseError(UnavailableError):
    """An answer is larger, or slower, than is reasonable."""


class StrayError(UnavailableError):
    """A redirect leads to another host."""


@dataclass(frozen=True, slots=True)
class Response:
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
            return parse_json(self.body)
        except ValueError as error:
            host = urlsplit(self.address).hostname
            raise UnavailableError(f"{host} sent something that is no JSON; check the address") from error


class Fetcher:
    """Asks servers, one question at a time. headers go only to `home`: its host, by its scheme (empty: to any)."""

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
        self.home = place_of(home)
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
    ) -> Response:
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

    def _follow(self, address: str, params: Mapping[str, str | int] | None, headers: Mapping[str, str]) -> Response:
        first = host_of(address)
        for _ in range(MOST_REDIRECTS + 1):
            answer = self._once(address, params, headers)
            if answer.status not in REDIRECTS or "location" not in answer.headers:
                return answer
            address, params = joined(address, answer.headers["location"]), None
            if self.stay and host_of(address) != first:
                raise StrayError(f"it leads away to {host_of(address) or 'no host'}; add that address itself")
        raise StrayError("it leads in a circle")

    def _once(self, address: str, params: Mapping[str, str | int] | None, headers: Mapping[str, str]) -> Response:
        import httpx

        host = host_of(address)
        own = {**(self.headers if not self.home or place_of(address) == self.home else {}), **headers}
        try:
            request = self._opened().build_request("GET", address, params=params, headers=own)
            with self._sent(request) as got:
                return Response(got.status_code, str(request.url), dict(got.headers.items()), self._body(got))
        except (httpx.UnsupportedProtocol, httpx.InvalidURL, ValueError) as error:
            raise UnavailableError(f"no address: {address[:80]}; it starts with https:// or http://") from error
        except httpx.DecodingError as error:
            raise UnavailableError(f"{host} sent an answer that cannot be unpacked") from error
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise UnreachableError(f"cannot reach {host}: {reason(error)}; check the network and its proxy") from error

    def _opened(self) -> httpx.Client:
        import httpx

        if self._client is None:
            agent = {"User-Agent": f"maple-chat/{version('maple-chat')}"}
            # A connection to an address is not shared: the next host there has another certificate.
            kept = httpx.Limits(max_keepalive_connections=0 if self.public_only else 5)
            limits = httpx.Timeout(READ_S, connect=CONNECT_S)
            self._client = httpx.Client(headers=agent, timeout=limits, limits=kept, follow_redirects=False)
        return self._client

    @contextmanager
    def _sent(self, request: httpx.Request) -> Iterator[httpx.Response]:
        """The answer, its body still to be read; from one of the addresses that were checked, where that is asked."""
        import httpx

        tries = pinned(request) if self.public_only else [request]
        for left, one in zip(reversed(range(len(tries))), tries, strict=True):
            try:
                got = self._opened().send(one, stream=True)
                break
            except httpx.ConnectError:
                if not left:
                    raise
        try:
            yield got
        finally:
            got.close()

    def _body(self, got: httpx.Response) -> bytes:
        parts, size, end = [], 0, time.monotonic() + WHOLE_S
        for part in got.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > self.most_bytes:
                raise OversizedResponseError(f"larger than {self.most_bytes // 1_000_000} MB")
            if time.monotonic() > end:
                raise OversizedResponseError(f"not whole after {WHOLE_S:.0f} s")
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


def place_of(address: str) -> str:
    """Scheme and host: where a token may go. The same host without encryption is another place."""
    return f"{urlsplit(address).scheme.lower()}://{host_of(address)}" if host_of(address) else ""


def joined(address: str, location: str) -> str:
    """Where a link leads. Raises StrayError for one that is no address."""
    try:
        return urljoin(address, location)
    except ValueError as error:
        raise StrayError("it leads to no address") from error


def pinned(request: httpx.Request) -> list[httpx.Request]:
    """The request, to each of the addresses that its host has now, all of them public. Raises StrayError.

    The name stays in the Host header and in TLS, which checks the certificate against it.
    """
    import httpx

    host = request.url.host
    found = addresses_of(host)
    if not host or not all(map(is_global, found)):
        raise StrayError(f"{host or str(request.url)[:60]} is no public address")
    if by_proxy(request.url.scheme, host):
        return [request]
    if not found:
        raise UnreachableError(f"cannot reach {host}: its name is not found; check the network and its proxy")
    return [
        httpx.Request(
            "GET",
            request.url.copy_with(host=one),
            headers=request.headers,
            extensions={**request.extensions, "sni_hostname": host},
        )
        for one in found[:MOST_ADDRESSES]
    ]


def by_proxy(scheme: str, host: str) -> bool:
    """Whether the environment sends such a request to a proxy."""
    proxies = getproxies()
    return bool(proxies.get(scheme) or proxies.get("all")) and not proxy_bypass(host)


def pause_of(answer: Response, otherwise: float) -> float:
    """The seconds that a server asks to wait, in reason; else those given."""
    said = answer.headers.get("retry-after", "")
    return min(float(said) if said.isdecimal() else otherwise, LONGEST_PAUSE_S)


def is_loopback(address: str) -> bool:
    """Whether it is this computer."""
    name = host_of(address).split(":")[0]
    return name == "localhost" or name.startswith("127.")


def is_public(host: str) -> bool:
    """Whether every address of a host is one of the internet; a name that is not found is left to the connection."""
    name = host.rsplit(":", 1)[0] if host.count(":") == 1 else host
    return bool(name) and all(map(is_global, addresses_of(name)))


def addresses_of(name: str) -> list[str]:
    """The addresses of a host, in the order in which to try them; none where the name is not found."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(one[4][0]) for one in found))


def is_global(address: str) -> bool:
    return ipaddress.ip_address(address.split("%")[0]).is_global
