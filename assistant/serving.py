"""The terminal program in a browser: textual-serve, with the token that it lacks.

Without a token any user of a login node could open the port and have a shell's worth of our program. The token comes
once in the address, becomes a cookie that scripts cannot read, and is asked for by every page, file and socket. The
page that textual-serve ships names a font on another server; the content policy keeps the browser from asking there.
"""

from __future__ import annotations

import logging
import secrets
import shlex
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp_jinja2
from aiohttp import web
from textual_serve.server import Server, to_int

# -P: a folder that holds a graph.py of its own must not take our place.
PROGRAM = (sys.executable, "-P", "-c", "import sys; from assistant.cli import main; sys.exit(main())")
DENIED = "This page needs the address with its token, as `maple-chat serve` printed it."
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self' ws: wss:; frame-ancestors 'none'"
)
HEADERS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class TokenServer(Server):
    """Serves the program to those who know the token; each browser tab has a process of its own."""

    def __init__(self, host: str, port: int, arguments: tuple[str, ...] = ()) -> None:
        super().__init__(shlex.join((*PROGRAM, *arguments)), host=host, port=port, title="maple-chat")
        self.token = secrets.token_urlsafe(24)
        self.cookie = f"maple-{port}"

    @property
    def address(self) -> str:
        """What a person opens. An IPv6 host stands in brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/?token={self.token}"

    def initialize_logging(self) -> None:
        """Warnings only: a log of requests would hold the token."""
        logging.basicConfig(level=logging.WARNING)

    async def on_startup(self, app: web.Application) -> None:
        print(
            f"maple-chat is at {self.address}\nThe address is a key: who has it can use this program as you.",
            flush=True,
        )
        print("Ctrl+C ends it.", flush=True)

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self.guard(request, handler)

        app.middlewares.append(guard)
        return app

    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The token in the address becomes a cookie; everything else needs the cookie, a socket its own page too."""
        given = request.query.get("token")
        if given is not None and request.path == "/" and self.knows(given):
            answer = web.HTTPFound("/")
            answer.set_cookie(self.cookie, self.token, httponly=True, samesite="Strict")
            answer.headers.update(HEADERS)
            return answer
        if not self.knows(request.cookies.get(self.cookie, "")) or not same_origin(request):
            return web.Response(status=403, text=DENIED, headers=HEADERS)
        response = await handler(request)
        if not response.prepared:
            response.headers.update(HEADERS)
        return response

    def knows(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.token.encode())

    @aiohttp_jinja2.template("app_index.html")
    async def handle_index(self, request: web.Request) -> dict[str, Any]:
        """As textual-serve's, by the address that the browser used: through an SSH tunnel that is not ours."""
        page = f"{request.scheme}://{request.host}"
        return {
            "font_size": to_int(request.query.get("fontsize", "16"), 16),
            "app_websocket_url": f"{'wss' if request.secure else 'ws'}://{request.host}/ws",
            "config": {"static": {"url": f"{page}/static/"}},
            "application": {"name": self.title},
        }


def same_origin(request: web.Request) -> bool:
    """Whether the page that asks is ours; a browser names it where it may be another."""
    origin = request.headers.get("Origin")
    return origin is None or origin.partition("://")[2] == request.host
