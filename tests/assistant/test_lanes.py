"""The jobs of a lane, one after another."""

from __future__ import annotations

import threading

from assistant.lanes import Lanes


def test_a_listener_that_gives_up_does_not_stop_the_lane() -> None:
    lanes, began, goes_on = Lanes(1), threading.Event(), threading.Event()

    def job() -> None:
        began.set()
        goes_on.wait(10)

    first = lanes.submit("a", job)
    second = lanes.submit("a", lambda: None)
    assert began.wait(10) and not first.cancel()
    goes_on.set()
    second.result(10)
    first.result(10)


def test_the_jobs_of_a_lane_keep_their_order_and_an_error_is_the_jobs_own() -> None:
    lanes, done = Lanes(4), []

    def fail() -> None:
        done.append(-1)
        raise ZeroDivisionError

    jobs = [lanes.submit("a", lambda n=n: done.append(n) if n != 20 else fail()) for n in range(40)]  # type: ignore[misc]
    jobs[-1].result(10)
    assert done == [*range(20), -1, *range(21, 40)]
    assert isinstance(jobs[20].exception(10), ZeroDivisionError)
