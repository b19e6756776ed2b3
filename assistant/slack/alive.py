"""Which workers live. Each holds a lock as long as it does; the operating system or PostgreSQL frees it with its end.

So what a killed worker had taken is free at once, and no clocks have to agree. A computer that vanished is noticed by
PostgreSQL within 25 s.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
import time
from pathlib import Path

from assistant.errors import UnavailableError
from assistant.slack.settings import DAY_S
from assistant.storage.database import Database

# A lock that is free is had at once; 0 would mean to wait for ever.
ASK_S, HOLD_S, CHECK_EVERY_S, AGAIN_S = 0.01, 5.0, 2.0, 0.5
logger = logging.getLogger("maple-slack")


class Alive:
    """This worker's own lock, held by a thread of its own, and a look at the locks of others."""

    def __init__(self, database: Database, folder: Path) -> None:
        """folder: where the database keeps lock files, if it does."""
        self.database = database
        self.folder = folder
        self.name = f"slack-worker-{secrets.token_hex(8)}"
        self._stop = threading.Event()
        self._held = threading.Event()
        self._thread = threading.Thread(target=self._hold, name="alive", daemon=True)

    def start(self) -> None:
        """Hold the lock. Raises UnavailableError where it cannot be had."""
        self._thread.start()
        if not self._held.wait(HOLD_S * 2):
            raise UnavailableError("the lock of this worker cannot be had; see the log, and that the database answers")

    def _hold(self) -> None:
        """Hold it, and take it again when the connection went."""
        while not self._stop.is_set():
            try:
                with self.database.alone(self.name, HOLD_S) as hold:
                    self._held.set()
                    while not self._stop.wait(CHECK_EVERY_S):
                        with hold.transaction() as talk:
                            talk.execute("SELECT 1")
            except UnavailableError as error:
                logger.warning("the lock of this worker is lost: %s", error)
                self._stop.wait(AGAIN_S)

    def is_alive(self, name: str) -> bool:
        """Whether another worker lives: whether its lock cannot be had."""
        return name == self.name or not self._swept(name)

    def _swept(self, name: str) -> bool:
        """Take a lock and delete its file; False: somebody holds it."""
        try:
            with self.database.alone(name, ASK_S):
                (self.folder / f"{name}.lock").unlink(missing_ok=True)
                return True
        except UnavailableError:
            return False

    def forget_before(self, days: float) -> None:
        """Delete the lock files that threads and workers of a while ago left; one that is held stays, however old."""
        oldest = time.time() - days * DAY_S
        for path in self.folder.glob("slack-*.lock"):
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < oldest:
                    self._swept(path.stem)

    def stop(self) -> None:
        """Free the lock."""
        self._stop.set()
        self._thread.join(CHECK_EVERY_S * 2)
        (self.folder / f"{self.name}.lock").unlink(missing_ok=True)
