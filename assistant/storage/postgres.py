"""PostgreSQL: conversations that several workers share, each able to take any message.

A thread is held by an advisory lock of a transaction that lasts as long as the turn. What the turn stores is stored in
that transaction, so who lost the lock stores nothing. The server ends the transaction when the worker's connection
closes: at once when the process is killed, after KEEPALIVE when its machine is gone. Nothing depends on a session
(no session locks, no prepared statements, no start-up options), so it also works through a pooler in transaction mode;
one that pools statements cannot be used.
"""

from __future__ import annotations

import logging
import re
import select
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from assistant.errors import InputError, UnavailableError
from assistant.settings import Settings
from assistant.storage.database import BUSY, LostError, Rows, Transaction
from assistant.storage.schema import set_up

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
    from psycopg_pool import ConnectionPool, PoolTimeout
except ImportError as error:
    raise UnavailableError(
        "MAPLE_CHAT_DATABASE needs PostgreSQL's client; install it: pip install 'maple-chat[postgres]'"
    ) from error

if TYPE_CHECKING:
    from graph.postgres_checkpoints import PostgresCheckpoints

Connection = psycopg.Connection[tuple[Any, ...]]
Begin = Callable[[Connection], AbstractContextManager[Any]]
CONNECT_S = 5
# Idle and between probes in seconds, and the number of probes: a machine that is gone frees its threads within 25 s.
KEEPALIVE = {"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3"}
# A turn may wait for a model for minutes; these limits of a server are for other uses.
UNLIMITED = {"idle_in_transaction_session_timeout": "0", "statement_timeout": "0"}
SCHEMA_LOCK = "maple-chat schema"
# What a refused connection says (libpq's and the server's words) -> what to do.
REFUSED = {
    r"password authentication failed|no password supplied": "correct user and password in MAPLE_CHAT_DATABASE",
    r'database "[^"]*" does not exist': "make it with `createdb`, or correct the name in MAPLE_CHAT_DATABASE",
    r'role "[^"]*" does not exist': "make it with `createuser`, or correct the user in MAPLE_CHAT_DATABASE",
    r"no pg_hba.conf entry": "let this host in by the server's pg_hba.conf",
    r"could not translate host name|[Nn]ame or service not known": "correct the host in MAPLE_CHAT_DATABASE",
    r"too many clients|remaining connection slots": "raise max_connections there, or lower MAPLE_CHAT_WORKERS",
    r"refused|timeout|timed out|starting up|shutting down": "see that the server runs and can be reached from here",
}
# Connection gone, server going or coming, a deadlock undone: nothing of the transaction is stored.
PASSING_STATES = re.compile(r"08|57P0|25P0[34]|40")
# Its warnings are told in our own line.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


def open_from(settings: Settings) -> Postgres:
    return Postgres(settings.database.get_secret_value(), settings.workers)


class Postgres:
    """Two pools: one for the threads that are held, one for everything short, so that neither waits for the other."""

    shared = True

    def __init__(self, address: str, workers: int) -> None:
        try:
            parts = conninfo_to_dict(address)
        except psycopg.ProgrammingError as error:
            raise InputError("MAPLE_CHAT_DATABASE cannot be read; write postgresql://USER@HOST/NAME") from error
        name = parts.get("dbname", parts.get("user", "default"))
        self.where = f"PostgreSQL at {parts.get('host', 'this host')}, database {name}"
        self.address = address
        self.kept: dict[str, Any] = {"connect_timeout": CONNECT_S, "prepare_threshold": None, "keepalives_idle": 10}
        self._try_connection()
        self.held = self._pool(workers)
        self.short = self._pool(min(workers, 8))
        with self._alone_on_schema() as connection:
            set_up(Dialect(connection))
        self.saver_ready = False

    def _pool(self, most: int) -> ConnectionPool[Connection]:
        return ConnectionPool(
            self.address,
            kwargs=self.kept,
            min_size=1,
            max_size=most,
            open=True,
            check=still_there,
            configure=prepare,
            reconnect_timeout=1.0,
        )

    def _try_connection(self) -> None:
        """A pool keeps the reason to itself: ask for it. Raises UnavailableError."""
        try:
            psycopg.connect(self.address, **self.kept).close()
        except psycopg.Error as error:
            raise self._refused(error) from error

    def _refused(self, error: psycopg.Error) -> UnavailableError:
        lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        reason = next((line for line in lines if any(re.search(p, line) for p in REFUSED)), lines[0])
        reason = re.sub(r".*(?:FATAL|ERROR|failed):\s*", "", reason).strip()
        todo = next((do for pattern, do in REFUSED.items() if re.search(pattern, reason)), "see to the server")
        return UnavailableError(f"{self.where} does not let us in ({reason}); {todo}")

    @contextmanager
    def _connected(
        self, pool: ConnectionPool[Connection], wait_s: float, begin: Begin = psycopg.Connection.transaction
    ) -> Iterator[Connection]:
        try:
            with pool.connection(timeout=wait_s) as connection, begin(connection):
                yield connection
        except psycopg.Error as error:
            raise self.trouble(error) or error from error

    @contextmanager
    def _alone_on_schema(self) -> Iterator[Connection]:
        """One worker makes tables; IF NOT EXISTS alone fails where two begin at once."""
        with self._connected(self.short, CONNECT_S) as connection:
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (SCHEMA_LOCK,))
            yield connection

    def ready_saver(self) -> None:
        """Make the tables of the checkpoints, once a process. Costs LangGraph's import."""
        from graph.postgres_checkpoints import set_up as set_up_checkpoints

        if not self.saver_ready:
            with self._alone_on_schema() as connection:
                set_up_checkpoints(connection)
            self.saver_ready = True

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[Transaction]:
        begin = psycopg.Connection.transaction if durable else without_waiting_for_the_disk
        with self._connected(self.short, CONNECT_S, begin) as connection:
            yield Dialect(connection)

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Without words that begin and end a transaction: two round trips less."""
        with self._connected(self.short, CONNECT_S, nullcontext) as connection:
            yield Dialect(connection)

    @contextmanager
    def alone(self, thread: str, wait_s: float) -> Iterator[HeldThread]:
        with self._connected(self.held, wait_s) as connection:
            limits = {**KEEPALIVE, **UNLIMITED, "lock_timeout": f"{int(wait_s * 1000)}ms"}
            setting = ", ".join(["set_config(%s, %s, true)"] * len(limits))
            connection.execute(f"SELECT {setting}", [x for pair in limits.items() for x in pair])
            try:
                lock = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
                connection.execute(lock, (f"maple-chat thread {thread}",))
            except psycopg.errors.LockNotAvailable as error:
                raise UnavailableError(BUSY.format(thread)) from error
            yield HeldThread(connection, self.ready_saver)

    def trouble(self, error: Exception) -> UnavailableError | None:
        if isinstance(error, PoolTimeout):
            return self._why_no_connection()
        if not isinstance(error, psycopg.Error):
            return None
        lost = isinstance(error, psycopg.InterfaceError) or (
            isinstance(error, psycopg.OperationalError)
            and (error.sqlstate is None or PASSING_STATES.match(error.sqlstate) is not None)
        )
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        if lost:
            return LostError(f"{self.where} went away ({reason}); try again when it is back")
        return UnavailableError(f"{self.where} cannot do that ({reason}); see to the server")

    def _why_no_connection(self) -> UnavailableError:
        try:
            self._try_connection()
        except UnavailableError as error:
            return LostError(str(error))
        return LostError(f"all connections to {self.where} are taken; raise MAPLE_CHAT_WORKERS")

    def close(self) -> None:
        """End all connections; a process that ends need not."""
        self.held.close()
        self.short.close()


def prepare(connection: Connection) -> None:
    """A statement sees what was stored before it began, whatever the database's default is."""
    connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
    connection.autocommit = True  # each transaction is begun by name


@contextmanager
def without_waiting_for_the_disk(connection: Connection) -> Iterator[None]:
    """A transaction whose end does not wait until it is on the disk: a power cut there may undo the last second.

    One word to the server begins it and says so.
    """
    connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit TO off")
    try:
        yield
    except BaseException:
        with suppress(psycopg.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def still_there(connection: Connection) -> None:
    """Raise OperationalError for a connection that the server closed while it lay unused: only then is there something
    to read, so a live one costs no round trip."""
    unread = select.poll()
    unread.register(connection, select.POLLIN)
    if unread.poll(0):
        ConnectionPool.check_connection(connection)


class Dialect:
    """Our statements in PostgreSQL's words."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Rows:
        return self.connection.execute(translated(sql), values)


@lru_cache(maxsize=256)
def translated(sql: str) -> str:
    return sql.replace("%", "%%").replace("?", "%s")


class HeldThread:
    """A thread that is held, by its connection."""

    def __init__(self, connection: Connection, ready: Callable[[], None]) -> None:
        self.connection = connection
        self.ready = ready

    def saver(self) -> PostgresCheckpoints:
        from graph.postgres_checkpoints import PostgresCheckpoints

        self.ready()
        return PostgresCheckpoints(self.connection)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        with self.connection.transaction():
            yield

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        yield Dialect(self.connection)
