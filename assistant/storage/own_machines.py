"""Which machines a person has: said in a conversation, by `maple-chat plan --machines`, or by a setting."""

from __future__ import annotations

from assistant.errors import InputError
from assistant.settings import Settings
from assistant.storage.database import Database, Transaction
from assistant.storage.diagnoses import Diagnoses
from knowledge.catalogue import catalogue


class OwnMachines:
    """One person's. who: as the door knows the person; empty where the data folder has one person only."""

    def __init__(self, settings: Settings, database: Database, who: str = "") -> None:
        self.settings, self.database = settings, database
        self.key = Diagnoses(database).pseudonym(who) if who else ""

    def read(self) -> tuple[str, ...]:
        """Catalogue ids: those kept, else those of the setting. Raises InputError on a wrong name in the setting."""
        with self.database.reading() as talk:
            row = talk.execute("SELECT machines FROM own_machines WHERE who = ?", (self.key,)).fetchone()
        known = tuple(name for name in str(row[0]).split(",") if name in catalogue().clusters) if row else ()
        return known or machines_of(self.settings.machines, "MAPLE_CHAT_MACHINES")

    def keep(self, talk: Transaction, machines: tuple[str, ...]) -> None:
        """In the place of those before; none: the setting's hold again."""
        talk.execute(
            "INSERT INTO own_machines (who, machines) VALUES (?, ?) "
            "ON CONFLICT (who) DO UPDATE SET machines = excluded.machines",
            (self.key, ",".join(machines)),
        )


def machines_of(text: str, named_in: str) -> tuple[str, ...]:
    """`perlmutter, delta` as catalogue ids. Raises InputError on a name that is not known."""
    names = filter(None, (one.strip() for one in text.split(",")))
    try:
        return tuple(dict.fromkeys(catalogue().named(name).id for name in names))
    except InputError as error:
        raise InputError(f"{named_in}: {error}") from error
