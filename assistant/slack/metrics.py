"""Counts for Prometheus, and whether the bot is well. Numbers only: no names, no words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

SECONDS = (0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30, 60, 120)


class Metrics:
    """What is counted. One registry for each, so that tests and workers do not share."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.received = Counter("maple_slack_received", "Requests written down", ["way"], registry=registry)
        self.repeated = Counter("maple_slack_repeated", "Deliveries that were known already", registry=registry)
        self.refused = Counter("maple_slack_refused", "Requests outside the allow-list", registry=registry)
        self.answered = Counter("maple_slack_answered", "Requests answered", ["kind"], registry=registry)
        self.failed = Counter("maple_slack_failed", "Requests not answered, by reason", ["why"], registry=registry)
        self.retried = Counter("maple_slack_retried", "Requests put off, by reason", ["why"], registry=registry)
        self.feedback = Counter("maple_slack_feedback", "Feedback", ["verdict"], registry=registry)
        self.seconds = Histogram(
            "maple_slack_answer_seconds", "From received to answered", buckets=SECONDS, registry=registry
        )
        self.waiting = Gauge("maple_slack_waiting", "Requests not done yet", registry=registry)
        self.connected = Gauge("maple_slack_connected", "1 while Slack can reach the bot", registry=registry)


def health_routes(well: Callable[[], bool]) -> list[web.RouteDef]:
    """`/health`: 200 while Slack can reach the bot, else 503."""

    async def health(request: web.Request) -> web.Response:
        fine = well()
        return web.json_response({"connected": fine}, status=200 if fine else 503)

    return [web.get("/health", health)]


def metrics_routes(metrics: Metrics, waiting: Callable[[], int], well: Callable[[], bool]) -> list[web.RouteDef]:
    """`/metrics`, in Prometheus' text format."""

    async def show(request: web.Request) -> web.Response:
        metrics.waiting.set(await asyncio.to_thread(waiting))
        metrics.connected.set(well())
        return web.Response(body=generate_latest(metrics.registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    return [web.get("/metrics", show)]
