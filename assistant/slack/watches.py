"""Runs that a thread asked to be told of: each sign of trouble, and the end, once each into that thread.

A run is looked at with the bot's own account, so a site allows it (MAPLE_CHAT_SLACK_WATCH) where that account may read
what it tells of. What is watched lives in this process: a restart ends it, and the thread is told so at the end.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Sequence
from contextlib import suppress

from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from assistant.errors import InputError
from assistant.slack.text import escape
from assistant.watching import LOOK, Watching, started
from knowledge.masking import hide
from knowledge.schedulers.asking import scheduler_here
from knowledge.schedulers.live import JOB_ID

MOST = 32
JOB = r"(?:job )?(?P<{}>\d[\w.\[\]]*|[ƒf][1-9A-HJ-NP-Za-km-z]{{5,}})\b"
TURNS = r"(?:stalls?|hangs?|gets stuck|stops|ends|fails?|crash(?:es)?|is (?:done|over|stuck))"
WISH = re.compile(
    rf"(?i)\b(?:watch|follow|keep an eye on) (?:my )?{JOB.format('job')}|"
    r"\b(?:tell|ping|notify|warn|message) (?:me|us) (?:when|if|once|as soon as) "
    rf"(?:it|this|that|the job|my job|the run|{JOB.format('other')}) {TURNS}"
)
NAMED = re.compile(r"(?i)\b(?:job|jobid|slurm-|-j)\s*(?:id\s*)?[#:=]?\s*(\d{2,}(?:_\d+)?)\b")
OFF = "I am not set up to follow jobs here. On the login node run: `maple-chat watch {job} --notify`"
NOWHERE = "No scheduler can be reached from where I run. On the login node run: `maple-chat watch {job} --notify`"
WHICH = "Which job? Say its id: `watch 12345`."
FULL = "I follow {most} runs already, the most I may. On the login node run: `maple-chat watch {job} --notify`"
BEGUN = "I follow {name} and say here when it stalls, a rank falls behind, its loss is no number, or it ends. {line}"
ENDED = "I am being stopped and follow {name} no more; ask me again, or run `maple-chat watch {job} --notify`."
logger = logging.getLogger("maple-slack")


def wish_to_watch(text: str, before: Sequence[str] = ()) -> str | None:
    """The job that a message wants to be followed; empty where it does not say which, None where it is no such wish.

    `before`: what was said in the thread, oldest first: `it` is the job named last.
    """
    found = WISH.search(text)
    if not found:
        return None
    named = found["job"] or found["other"] or next(iter(NAMED.findall(text)), "")
    return named or next((ids[-1] for said in reversed(before) if (ids := NAMED.findall(said))), "")


class Watches:
    """The runs that are followed, each by a task of its own."""

    def __init__(self, client: AsyncWebClient, allowed: bool) -> None:
        self.client = client
        self.allowed = allowed
        self.tasks: dict[tuple[str, str, str], asyncio.Task[None]] = {}

    async def begin(self, job: str, channel: str, thread: str) -> str:
        """Follow a job for a thread; what is to be answered."""
        if not job or not JOB_ID.fullmatch(job):
            return WHICH
        if not self.allowed:
            return OFF.format(job=job)
        if await asyncio.to_thread(scheduler_here) is None:
            return NOWHERE.format(job=job)
        self.tasks = {key: task for key, task in self.tasks.items() if not task.done()}
        key = (channel, thread, job)
        if key in self.tasks:
            return f"I follow job {job} for this thread already."
        if len(self.tasks) >= MOST:
            return FULL.format(most=MOST, job=job)
        try:
            watching = await asyncio.to_thread(started, [job], None)
        except InputError as error:
            return escape(hide(str(error)))
        await asyncio.to_thread(watching.look, time.monotonic())
        self.tasks[key] = asyncio.create_task(self._follow(watching, job, channel, thread))
        return BEGUN.format(name=watching.name, line=escape(watching.run.line(time.monotonic())))

    async def _follow(self, watching: Watching, job: str, channel: str, thread: str) -> None:
        """Look until it is over or this program ends."""
        try:
            over = None
            while over is None:
                await asyncio.sleep(LOOK)
                now = time.monotonic()
                notices = await asyncio.to_thread(watching.look, now)
                over = await asyncio.to_thread(watching.over, now)
                for notice in [*notices, *([over] if over else [])]:
                    await self._say(channel, thread, f":warning: {escape(hide(notice.text))}")
        except asyncio.CancelledError:
            await self._say(channel, thread, ENDED.format(name=watching.name, job=job))
            raise

    async def _say(self, channel: str, thread: str, text: str) -> None:
        with suppress(TimeoutError, OSError):
            try:
                await self.client.chat_postMessage(channel=channel, thread_ts=thread, text=text)
            except SlackClientError as error:
                logger.warning("a watched run cannot be told of: %s", error)

    async def stop(self) -> None:
        """End all, and say so in their threads."""
        tasks = [task for task in self.tasks.values() if not task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
