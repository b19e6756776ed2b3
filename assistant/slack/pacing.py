"""No faster than Slack takes it: about one message a second and channel, with a burst.

https://docs.slack.dev/apis/web-api/rate-limits . What is refused all the same waits as long as Slack says (the SDK's
AsyncRateLimitErrorRetryHandler).
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict

BURST, EVERY_S = 4, 1.0
MOST_CHANNELS = 10_000


class Pacer:
    """A bucket for each channel: BURST messages at once, then one every EVERY_S seconds."""

    def __init__(self) -> None:
        # Channel -> the time at which its bucket will be full again.
        self._full_at: OrderedDict[str, float] = OrderedDict()

    async def wait(self, channel: str) -> None:
        """Wait until a message may go to the channel. Callers are served in the order in which they come."""
        now = time.monotonic()
        full_at = max(self._full_at.get(channel, now), now) + EVERY_S
        self._full_at[channel] = full_at
        self._full_at.move_to_end(channel)
        while len(self._full_at) > MOST_CHANNELS:
            self._full_at.popitem(last=False)
        pause = full_at - now - BURST * EVERY_S
        if pause > 0:
            await asyncio.sleep(pause)
