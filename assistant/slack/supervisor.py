"""Several workers on one computer: each a process of its own, started again when it dies."""

from __future__ import annotations

import logging
import multiprocessing
import signal
import threading
from collections.abc import Callable
from multiprocessing.process import BaseProcess

AGAIN_S, PATIENCE_S = 1.0, 40.0
logger = logging.getLogger("maple-chat.slack")


def supervise(work: Callable[[], None], count: int) -> int:
    """Run `count` processes of `work` (it must be picklable) until SIGTERM or SIGINT; then let them drain."""
    context = multiprocessing.get_context("spawn")
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    workers: list[BaseProcess] = [start(context, work) for _ in range(count)]
    while not ended.wait(AGAIN_S):
        for place, worker in enumerate(workers):
            if not worker.is_alive():
                logger.warning("a worker ended with %s; starting another", worker.exitcode)
                workers[place] = start(context, work)
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join(PATIENCE_S)
    return 0


def start(context: multiprocessing.context.SpawnContext, work: Callable[[], None]) -> BaseProcess:
    worker = context.Process(target=work)
    worker.start()
    return worker
