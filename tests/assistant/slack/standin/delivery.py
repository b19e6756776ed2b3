"""How events reach the app: over Socket Mode, or over HTTP with signatures; not answered in time, they come again.

Slack waits three seconds and comes again at once, after a minute and after five; here all times are short by setting.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import time
import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import aiohttp
from aiohttp import WSMsgType, web

from tests.assistant.slack.standin.workspace import APP, SIGNING_SECRET

if TYPE_CHECKING:
    from tests.assistant.slack.standin.server import Slack

Body = dict[str, Any]
FORM_KINDS = {"slash_commands", "interactive"}


class Delivery:
    """Sends bodies to the app. targets: HTTP addresses behind a balancer; empty: Socket Mode."""

    def __init__(self, slack: Slack) -> None:
        self.slack = slack
        self.socket = Socket(slack)
        self.targets: list[str] = []
        self.answer_within = 3.0
        self.again_after = (0.05, 0.5, 2.0, 2.0, 2.0)
        self.secret = SIGNING_SECRET
        self.turn = 0
        self.undelivered: list[Body] = []
        self._client: aiohttp.ClientSession | None = None

    async def send(self, kind: str, body: Body) -> Body | None:
        """Deliver one body until it is answered: its answer, if any. After the last try it counts as `undelivered`."""
        for attempt, pause in enumerate((*self.again_after, None)):
            reason = "timeout" if attempt else ""
            answered, answer = await (self._post if self.targets else self.socket.send)(kind, body, attempt, reason)
            if answered:
                return answer
            if pause is None:
                break
            await asyncio.sleep(pause)
        self.undelivered.append(body)
        return None

    async def _post(self, kind: str, body: Body, attempt: int, reason: str) -> tuple[bool, Body | None]:
        """The balancer: the next worker in turn; one that does not take the connection is passed over."""
        if self._client is None:
            self._client = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=self.answer_within))
        data, content = encoded(kind, body)
        headers = signed(data, self.secret) | {"Content-Type": content}
        if attempt:
            headers |= {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": "http_timeout"}
        for _ in self.targets:
            self.turn += 1
            target = self.targets[self.turn % len(self.targets)]
            try:
                async with self._client.post(target, data=data, headers=headers) as response:
                    text = await response.text()
                    answer = json.loads(text) if text.startswith("{") else ({"text": text} if text else None)
                    return response.status == 200, answer
            except aiohttp.ClientConnectorError:
                continue
            except (aiohttp.ClientError, TimeoutError):
                return False, None
        return False, None

    async def close(self) -> None:
        await self.socket.close()
        if self._client is not None:
            await self._client.close()


def encoded(kind: str, body: Body) -> tuple[bytes, str]:
    """A body as Slack sends it over HTTP."""
    if kind == "interactive":
        return urlencode({"payload": json.dumps(body)}).encode(), "application/x-www-form-urlencoded"
    if kind == "slash_commands":
        return urlencode(body).encode(), "application/x-www-form-urlencoded"
    return json.dumps(body).encode(), "application/json"


def signed(data: bytes, secret: str, at: int | None = None) -> dict[str, str]:
    """The two headers by which an app knows that a request is Slack's."""
    stamp = str(at if at is not None else int(time.time()))
    digest = hmac.new(secret.encode(), b"v0:" + stamp.encode() + b":" + data, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}


class Socket:
    """Socket Mode: apps.connections.open gives a ticket, the WebSocket says hello, envelopes want an answer."""

    def __init__(self, slack: Slack) -> None:
        self.slack = slack
        self.tickets: set[str] = set()
        self.open_sockets: list[web.WebSocketResponse] = []
        self.waiting: dict[str, asyncio.Future[Body | None]] = {}
        self.connected = asyncio.Event()
        self.connections = 0
        self.answer_within = 3.0
        self.turn = 0

    def open(self, args: Body, app_token: str) -> Body:
        if args.get("token") != app_token:
            kind = "not_allowed_token_type" if str(args.get("token")).startswith("xoxb") else "invalid_auth"
            return {"ok": False, "error": kind}
        ticket = uuid.uuid4().hex
        self.tickets.add(ticket)
        return {"ok": True, "url": f"{self.slack.base.replace('http', 'ws')}/link?ticket={ticket}"}

    async def connect(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("ticket") not in self.tickets:
            return web.Response(status=403)
        self.tickets.discard(request.query["ticket"])
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.open_sockets.append(socket)
        self.connections += 1
        info = {"host": "standin", "approximate_connection_time": 18060}
        count = len(self.open_sockets)
        hello = {"type": "hello", "num_connections": count, "debug_info": info, "connection_info": {"app_id": APP}}
        await socket.send_json(hello)
        self.connected.set()
        self.slack.tell()
        try:
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    self.acknowledged(json.loads(message.data))
        finally:
            self.open_sockets.remove(socket)
            if not self.open_sockets:
                self.connected.clear()
        return socket

    def acknowledged(self, reply: Body) -> None:
        future = self.waiting.pop(reply.get("envelope_id", ""), None)
        if future and not future.done():
            future.set_result(reply.get("payload"))

    async def send(self, kind: str, body: Body, attempt: int, reason: str) -> tuple[bool, Body | None]:
        """One envelope to one of the open sockets; while there is none, wait for one."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.connected.wait(), self.answer_within)
        if not self.open_sockets:
            return False, None
        self.turn += 1
        socket = self.open_sockets[self.turn % len(self.open_sockets)]
        envelope: Body = {"envelope_id": str(uuid.uuid4()), "type": kind, "payload": body}
        envelope["accepts_response_payload"] = kind in FORM_KINDS
        if attempt:
            envelope |= {"retry_attempt": attempt, "retry_reason": reason}
        future: asyncio.Future[Body | None] = asyncio.get_running_loop().create_future()
        self.waiting[envelope["envelope_id"]] = future
        try:
            await socket.send_json(envelope)
            return True, await asyncio.wait_for(future, self.answer_within)
        except (TimeoutError, ConnectionError, RuntimeError):
            return False, None

    async def refresh(self) -> None:
        """Slack tells its sockets to reconnect, and closes the old ones a moment later."""
        old = list(self.open_sockets)
        for socket in old:
            await socket.send_json({"type": "disconnect", "reason": "refresh_requested"})
        await asyncio.sleep(0.2)
        for socket in old:
            await socket.close()

    def cut(self) -> None:
        """The network goes away: no close frame, nothing."""
        for socket in list(self.open_sockets):
            transport = socket._req.transport if socket._req else None
            if transport is not None:
                transport.abort()

    async def close(self) -> None:
        for socket in list(self.open_sockets):
            await socket.close()
