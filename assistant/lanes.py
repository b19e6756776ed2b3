"""Worker threads with lanes: the jobs of a lane run one after another, in order, and hold no thread while they wait."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

Job = Callable[[], None]


class Lanes:
    """A conversation is a lane. Lanes share the threads fairly: after each job the next lane comes."""

    def __init__(self, workers: int) -> None:
        self.threads = ThreadPoolExecutor(workers, "turn")
        self.waiting: dict[Hashable, deque[tuple[Job, Future[None]]]] = {}
        self.guard = threading.Lock()

    def submit(self, lane: Hashable, job: Job) -> Future[None]:
        """Run the job after those that were handed in before it on the same lane."""
        done: Future[None] = Future()
        with self.guard:
            line = self.waiting.setdefault(lane, deque())
            line.append((job, done))
            first = len(line) == 1
        if first:
            self.threads.submit(self._next, lane)
        return done

    def busy(self) -> bool:
        """Whether a job is being done or waits."""
        with self.guard:
            return bool(self.waiting)

    def _next(self, lane: Hashable) -> None:
        """Run the first job of the lane; then let other lanes go before its second one."""
        while True:
            job, done = self.waiting[lane][0]
            run(job, done)
            with self.guard:
                line = self.waiting[lane]
                line.popleft()
                if not line:
                    del self.waiting[lane]
                    return
            try:
                self.threads.submit(self._next, lane)
                return
            except RuntimeError:
                continue  # the program is ending: what was handed in is still done, here


def run(job: Job, done: Future[None]) -> None:
    """A listener that gives up cancels the future: from here on that must not stop the lane."""
    done.set_running_or_notify_cancel()
    try:
        job()
    except BaseException as error:
        done.set_exception(error)
    else:
        done.set_result(None)


@cache
def lanes(workers: int) -> Lanes:
    """The worker threads of this process."""
    return Lanes(workers)
