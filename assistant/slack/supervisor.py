"""Several workers on one computer: each a process of its own, started again when it dies.

They are forked from a process that has loaded what is slow (4 s), so that a worker is back within a second.
"""

from __future__ import annotations

import logging
import multiprocessing
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess

LOADED = ["assistant.slack.app", "graph.build"]
LOOK_EVERY_S = 0.25
# A worker that lived for a while is started again at once; one that dies again and again, ever later.
LIVED_S, LONGEST_PAUSE_S = 30.0, 60.0
# How a worker says that another start would end in the same way: a wrong token, a port that is taken.
USELESS = 2
logger = logging.getLogger("maple-slack")


class WorkerPlace:
    """The place of one worker. number: 0 for the first."""

    def __init__(self, context: ForkServerContext, work: Callable[[int], None], number: int) -> None:
        self.context, self.work, self.number = context, work, number
        self.pause, self.due = 0.5, 0.0
        self.process = self.start()

    def start(self) -> BaseProcess:
        process = self.context.Process(target=self.work, args=(self.number,))
        process.start()
        self.began = time.monotonic()
        return process

    def look(self) -> bool:
        """Start it again where it is dead and due; False: that is of no use."""
        if self.process.is_alive():
            return True
        if self.process.exitcode == USELESS:
            return False
        now = time.monotonic()
        if not self.due:
            self.pause = 0.5 if now - self.began > LIVED_S else min(self.pause * 2, LONGEST_PAUSE_S)
            self.due = now + self.pause
            logger.warning("worker %s ended with %s; another in %.0f s", self.number, self.process.exitcode, self.pause)
        if now > self.due:
            self.due, self.process = 0.0, self.start()
        return True


def supervise(work: Callable[[int], None], count: int, patience_s: float) -> int:
    """Run `work` (it must be picklable; it is told its number) in `count` processes until SIGTERM or SIGINT.

    Then they drain; what is not done after patience_s is killed. Gives the exit code.
    """
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LOADED)
    workers = [WorkerPlace(context, work, number) for number in range(count)]
    useful = True
    while useful and not ended.wait(LOOK_EVERY_S):
        for worker in workers:
            useful = worker.look() and useful
    drain([worker.process for worker in workers], patience_s)
    return 0 if useful else USELESS


def drain(processes: list[BaseProcess], patience_s: float) -> None:
    end = time.monotonic() + patience_s
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(max(0.0, end - time.monotonic()))
        if process.is_alive():
            logger.error("process %s did not end in %s s; killed", process.pid, patience_s)
            process.kill()
            process.join()
