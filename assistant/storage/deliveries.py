"""Deliveries from outside (an event of Slack): each is worked on once, also when it comes again or its worker dies."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from assistant.storage.database import Database

# Seconds until a delivery that nobody renews is somebody else's; and how long an id is known after its end.
LEASE_S = 60.0
KNOWN_S = 7 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery: its id, and what is needed to work on it again."""

    id: str
    payload: dict[str, Any]


class Deliveries:
    """The deliveries that one worker took.

    owner is the worker's name, the same after a restart (a host and a number): what its earlier life left is its own
    at once; what another worker left only when the lease ran out. The clocks of the workers may differ by seconds.
    """

    def __init__(self, database: Database, owner: str, *, now: Callable[[], float] = time.time) -> None:
        self.database = database
        self.owner = owner
        self.life = uuid.uuid4().hex
        self.now = now

    def begin(self, delivery: str, payload: dict[str, Any]) -> bool:
        """Take a delivery; False where it was taken before, by whomever. payload: JSON. Raises UnavailableError."""
        with self.database.transaction() as talk:
            taken = talk.execute(
                "INSERT INTO deliveries (id, payload, owner, life, until) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                (delivery, json.dumps(payload), self.owner, self.life, self.now() + LEASE_S),
            )
            return taken.rowcount == 1

    def renew(self) -> None:
        """Keep what this worker has begun for another lease; call it more often than that while it lives."""
        with self.database.transaction() as talk:
            talk.execute(
                "UPDATE deliveries SET until = ? WHERE owner = ? AND life = ? AND finished IS NULL",
                (self.now() + LEASE_S, self.owner, self.life),
            )

    def finish(self, delivery: str) -> None:
        """It is answered; ids that are old are forgotten on the way."""
        with self.database.transaction() as talk:
            talk.execute("UPDATE deliveries SET finished = ?, payload = '{}' WHERE id = ?", (self.now(), delivery))
            talk.execute("DELETE FROM deliveries WHERE finished < ?", (self.now() - KNOWN_S,))

    def pending(self) -> tuple[Delivery, ...]:
        """Take over what was begun and left: each by one worker only, in the order of their ids."""
        with self.database.transaction() as talk:
            rows = talk.execute(
                "UPDATE deliveries SET owner = ?, life = ?, until = ? WHERE finished IS NULL "
                "AND (until < ? OR (owner = ? AND life <> ?)) RETURNING id, payload",
                (self.owner, self.life, self.now() + LEASE_S, self.now(), self.owner, self.life),
            ).fetchall()
        return tuple(Delivery(name, json.loads(payload)) for name, payload in sorted(rows))

    def counts(self) -> dict[str, int]:
        """How many are being worked on, and how many were finished lately: for an admin, without a word of them."""
        with self.database.transaction() as talk:
            (working,) = talk.execute("SELECT count(*) FROM deliveries WHERE finished IS NULL").fetchone()
            (finished,) = talk.execute("SELECT count(*) FROM deliveries WHERE finished IS NOT NULL").fetchone()
        return {"working": working, "finished": finished}
