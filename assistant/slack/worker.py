"""The worker: takes requests, each thread's in order, has them answered and sent, and owns up to failures."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from dataclasses import dataclass, field

from assistant.errors import UnavailableError
from assistant.slack.alive import Alive
from assistant.slack.answering import Responder, StuckError
from assistant.slack.blocks import posts, section
from assistant.slack.inbox import Inbox, TakenOverError, TakenRequest
from assistant.slack.metrics import Metrics
from assistant.slack.sending import NETWORK, LaterError, Sender, UndeliverableError
from assistant.slack.settings import SlackSettings

POLL_S, TIDY_EVERY_S = 1.0, 3_600.0
# Requests in the works: many may wait for Slack while few are worked on.
MOST_JOBS = 64
# So many are taken at once: workers take turns at that, and each look for them costs some ms.
AT_A_TIME = 8
MOST_TRIES = 6
AGAIN_AFTER_S = (1.0, 3.0, 10.0, 30.0, 60.0)
OWNED_UP = (
    "I could not finish this answer: something broke here {tries} times ({why}). "
    "Please ask again, or ask your support team; they find the reason in the bot's log."
)
logger = logging.getLogger("maple-slack")


@dataclass(eq=False)
class Worker:
    """Runs until it is told to drain; `wake` tells it that something came in."""

    inbox: Inbox
    alive: Alive
    answering: Responder
    sender: Sender
    metrics: Metrics
    settings: SlackSettings
    _awake: asyncio.Event = field(default_factory=asyncio.Event)
    _jobs: set[asyncio.Task[None]] = field(default_factory=set)
    _held: set[str] = field(default_factory=set)
    # What could not be given back, since the database was away.
    _left: set[str] = field(default_factory=set)
    _draining: bool = False

    def __post_init__(self) -> None:
        self._turns = asyncio.Semaphore(self.settings.at_once)

    def wake(self) -> None:
        self._awake.set()

    async def run(self) -> None:
        """Take what there is; look again when something comes in or is done, and every second for what others left."""
        tidy_at = look_at = 0.0
        looking: asyncio.Task[None] | None = None
        while not self._draining:
            self._awake.clear()
            try:
                if time.monotonic() > look_at:
                    look_at = time.monotonic() + POLL_S
                    await self._give_back_the_left()
                    await asyncio.to_thread(self._free_the_dead)
                    if looking is None or looking.done():
                        looking = asyncio.create_task(self._look())
                await self._take_all()
                if time.monotonic() > tidy_at:
                    tidy_at = time.monotonic() + TIDY_EVERY_S
                    await asyncio.to_thread(self._tidy)
            except Exception:
                logger.exception("the inbox cannot be read; trying again")
                await asyncio.sleep(POLL_S)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._awake.wait(), POLL_S)

    async def _look(self) -> None:
        """Look for incidents, beside the answers: a report may have brought many jobs."""
        try:
            if await asyncio.to_thread(self.answering.team_channel.look):
                self._awake.set()
        except Exception:
            logger.exception("incidents cannot be looked for; trying again")

    def _free_the_dead(self) -> None:
        for name in self.inbox.others():
            if not self.alive.is_alive(name):
                logger.warning("worker %s died; %s of its requests go on here", name, self.inbox.free(name))

    async def _give_back_the_left(self) -> None:
        for key in tuple(self._left):
            await self._release(key)
            self._left.discard(key)

    async def _release(self, key: str) -> None:
        with contextlib.suppress(TakenOverError):
            await asyncio.to_thread(self.inbox.release, key, 0)

    async def _take_all(self) -> None:
        while (room := min(MOST_JOBS - len(self._jobs), AT_A_TIME)) > 0 and not self._draining:
            jobs = await asyncio.to_thread(self.inbox.claim, room)
            for job in jobs:
                self._held.add(job.key)
                task = asyncio.create_task(self._handled(job))
                self._jobs.add(task)
                task.add_done_callback(self._over)
            if len(jobs) < room:
                return

    def _over(self, task: asyncio.Task[None]) -> None:
        self._jobs.discard(task)
        self._awake.set()

    async def drain(self, seconds: float) -> None:
        """Take nothing more, finish what is in the works, and give back what is not done in time."""
        self._draining = True
        self._awake.set()
        if self._jobs:
            await asyncio.wait(self._jobs, timeout=seconds)
        for task in list(self._jobs):
            task.cancel()
        for key in list(self._held):
            await self._release(key)

    async def _handled(self, job: TakenRequest) -> None:
        """Handle it; where not even the failure can be written down, try that later."""
        try:
            await self._handle(job)
        except TakenOverError:
            logger.warning("request %s goes on with another worker", job.key)
            self._held.discard(job.key)
        except Exception:
            logger.exception("request %s can be neither closed nor put off now", job.key)
            self._left.add(job.key)

    async def _handle(self, job: TakenRequest) -> None:
        began = time.monotonic()
        if job.tries > MOST_TRIES:
            await self._later(job, "the program was stopped each time")
            return
        try:
            await self._work(job)
            self.metrics.answered.labels(job.incoming.kind).inc()
            self.metrics.seconds.observe(time.monotonic() - began)
            self._held.discard(job.key)
        except TakenOverError:
            raise
        except UndeliverableError as error:
            await self._undeliverable(job, str(error))
        except LaterError as error:
            await self._later(job, str(error))
        except StuckError as error:
            await self._stuck(job, str(error))
        except (UnavailableError, *NETWORK) as error:
            # Its words may name hosts and files: they are for the log, not for the thread and the metrics.
            logger.warning("request %s: %s", job.key, error)
            await self._later(job, type(error).__name__)
        except Exception as error:
            logger.exception("request %s", job.key)
            await self._later(job, type(error).__name__)

    async def _work(self, job: TakenRequest) -> None:
        if not job.answered:
            async with self._turns:
                job = await self.answering.answer(job)
        ts = await self.sender.deliver(job)
        if job.incoming.kind == "incident":
            await asyncio.to_thread(self.answering.team_channel.shown, job.incoming, ts)
        await asyncio.to_thread(self.inbox.finish, job)

    async def _stuck(self, job: TakenRequest, says: str) -> None:
        """A turn that cannot be stopped: say so, and where no thread is left to work, end, so that another starts."""
        logger.error("request %s does not end", job.key)
        self.metrics.failed.labels("stuck").inc()
        with contextlib.suppress(LaterError, UndeliverableError, *NETWORK):
            await self.sender.say(job.incoming, posts([section(says)], says)[0])
        await self._close(job)
        if self.answering.is_stuck():
            logger.critical("every worker thread is stuck; this worker ends")
            logging.shutdown()
            os._exit(1)

    async def _undeliverable(self, job: TakenRequest, why: str) -> None:
        """Slack will never take it: tell the person by the other way, if the request brought one."""
        logger.warning("request %s cannot be answered: %s", job.key, why)
        self.metrics.failed.labels(why).inc()
        await self.answering.say_elsewhere(job.incoming, why)
        await self._close(job)

    async def _later(self, job: TakenRequest, why: str) -> None:
        """Put it off; after the last try say that it failed."""
        self.metrics.retried.labels(why).inc()
        if job.tries < MOST_TRIES:
            pause = AGAIN_AFTER_S[min(job.tries, len(AGAIN_AFTER_S)) - 1]
            logger.info("request %s: %s; again in %s s", job.key, why, pause)
            self._held.discard(job.key)
            await asyncio.to_thread(self.inbox.release, job.key, pause)
            return
        logger.error("request %s given up after %s tries: %s", job.key, job.tries, why)
        self.metrics.failed.labels(why).inc()
        with contextlib.suppress(LaterError, UndeliverableError, *NETWORK):
            parts = posts([section(OWNED_UP.format(tries=job.tries, why=why))], "I could not finish this answer")
            await self.sender.say(job.incoming, parts[0])
        await self._close(job)

    async def _close(self, job: TakenRequest) -> None:
        self._held.discard(job.key)
        await asyncio.to_thread(self.inbox.finish, job)

    def _tidy(self) -> None:
        """Forget what is older than the site wants to keep."""
        for kept in (self.inbox, self.answering.downloads, self.alive):
            kept.forget_before(self.settings.keep_days)
