"""Each failure that is answered is kept, and its answer says who had it before and who else has it now."""

from __future__ import annotations

import getpass
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from assistant.events import Answer, Diagnosed, Event, Known
from assistant.settings import Settings
from assistant.storage.database import Database, LostError, Transaction, open_database
from assistant.storage.diagnoses import Asker, Diagnoses, KeptFailure, add, named
from assistant.storage.incidents import Incidents
from graph.incidents.incident import Rules
from graph.incidents.subjects import subjects_of
from graph.reporting.record import record_of
from graph.usecases.seen_before import told_with
from knowledge.job_record import JobRecord

NO_FAILURE = "no-failure"
# Of one message with many jobs' logs no more are kept.
MOST_TICKETS = 20
AT_ONCE = 1_000
logger = logging.getLogger("maple-chat")


@dataclass(frozen=True, slots=True)
class PastDiagnoses:
    """What a conversation needs of the kept diagnoses. asker: whose conversation it is, and where."""

    database: Database
    asker: Asker

    @property
    def kept(self) -> Diagnoses:
        return Diagnoses(self.database)

    def tickets(
        self, thread: str, turn: int, at: datetime, question: str, events: Iterable[Event]
    ) -> list[KeptFailure]:
        """The failures that an answer tells, as they are kept."""
        events = list(events)
        chips = {chip.field: chip.value for event in events if isinstance(event, Known) for chip in event.chips}
        found = [event.diagnosis for event in events if isinstance(event, Diagnosed)]
        failed = [one for one in found if one.cause != NO_FAILURE][:MOST_TICKETS]
        if not failed:
            return []
        who = self.kept.pseudonym(self.asker.who or getpass.getuser())
        asked = words_asked(question)
        machine, queue = chips.get("machine", ""), chips.get("queue", "")
        records = [record_of(one, thread, machine=machine, queue=queue, ended=at.timestamp()) for one in failed]
        return [
            named(
                KeptFailure(f"{thread}:{turn}:{n}", thread, "ticket", record, one.says, one.fix, asked), self.asker, who
            )
            for n, (one, record) in enumerate(zip(failed, records, strict=True))
        ]

    def told(self, events: Sequence[Event], tickets: Sequence[KeptFailure]) -> list[Event]:
        """The answer with what is known of the like behind each diagnosis. It never costs the answer itself."""
        if not tickets:
            return list(events)
        try:
            more = self._more(tickets[-1])
        except LostError:
            raise
        except Exception:
            logger.exception("past tickets cannot be looked up")
            return list(events)
        last = max(n for n, event in enumerate(events) if isinstance(event, Diagnosed))
        return [*events[: last + 1], *more, *events[last + 1 :]]

    def _more(self, ticket: KeptFailure) -> list[Event]:
        now = Incidents(self.database, Rules()).ongoing(subjects_of(ticket.record), ticket.record.user)
        document = told_with(now, self.kept.like(ticket, self.asker.sees))
        return [Answer(document)] if document else []

    def keep(self, talk: Transaction, tickets: Sequence[KeptFailure]) -> None:
        """Within the transaction that stores the answer."""
        if tickets:
            add(talk, tickets)


def keep_jobs(settings: Settings, records: Iterable[JobRecord]) -> int:
    """Keep the failures that a report found; how many those are. Without a time of its end a job cannot be placed.

    Nobody is shown another one's job as a ticket of before: they are private, and counted.
    """
    database = open_database(settings)
    kept, failed = Diagnoses(database), [one for one in records if one.failed and one.ended is not None]
    mine = [replace(one, user=kept.pseudonym(f"job {one.user}"), source="") for one in failed]
    for start in range(0, len(mine), AT_ONCE):
        kept.put(
            KeptFailure(f"job:{one.machine}:{one.job}:{one.ended:.0f}", f"job:{one.job}", "job", one, private=True)
            for one in mine[start : start + AT_ONCE]
        )
    return len(mine)


def words_asked(text: str) -> str:
    """The person's own words of a message, masked; what was pasted with them is no part of it."""
    from graph.reading.message import take_apart  # not needed where nothing failed
    from knowledge.masking import mask

    return mask(take_apart(text).words).text if text else ""
