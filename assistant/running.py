"""A message on its way to its answer, through killed programs and lost connections.

The thread is held; the message is written down; the graph runs; its state and the answer are stored together where the
database can do that; the hold ends; only then the answer is said. So whatever breaks off in between is done again or
was done whole, and nothing is said twice.
"""

from __future__ import annotations

import copy
import gc
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from assistant.cli import YOUNG
from assistant.errors import MapleError
from assistant.events import Done, Error, Event, Known, Progress, Text, event_of, passing
from assistant.known import known
from assistant.past import PastDiagnoses
from assistant.settings import Settings
from assistant.storage.database import Database, Hold, LostError
from assistant.storage.diagnoses import Asker
from assistant.storage.own_machines import OwnMachines
from assistant.trouble import unforeseen
from assistant.turns import Turn, Turns
from knowledge.printable import printable_in
from knowledge.types import AskField, Attachment, JobRequest, LaunchBundle, Refusal, Working, Writing

if TYPE_CHECKING:
    from graph.build import Graph
    from graph.context import Context, Lent
    from graph.state import State

MOST_TRIES = 2
# While the same program tries again after a lost connection: the message is not to blame.
MOST_LOST = 5
PAUSE_S = 0.5
GIVEN_UP = "The message before this one stopped the program twice, so I leave it. Say it in other words."
STOPPED = "Stopped. The request is as it was before this message."
RECONNECTING = "waiting for the database"
WARMING = (
    "FSDP on 2 nodes of Perlmutter, train.py",
    "srun: error: nid001234: task 3: Exited with exit code 1\ntorch.OutOfMemoryError: CUDA out of memory.",
    "how do I use a proxy on Aurora?",
)


@dataclass(frozen=True, slots=True)
class Engine:
    """What a turn runs on; costs the slow imports."""

    graph: Graph
    context: Context

    def on(self, saver: Any) -> Graph:
        """The graph with its state kept there."""
        graph = copy.copy(self.graph)
        graph.checkpointer = saver
        return graph


LOADING = threading.Lock()


@cache
def _engine(settings: Settings) -> Engine:
    from assistant.models.table import open_models
    from assistant.stores import open_knowledge, open_library
    from graph.build import build
    from graph.context import Context
    from knowledge.schedulers.asking import BoundedAsking
    from knowledge.web import open_web

    library, knowledge = open_library(settings.data), open_knowledge(settings.data)
    web = open_web(settings.web or "ask", settings.search_url)
    model = open_models(settings)
    asking = BoundedAsking if settings.jobs else None
    return Engine(
        build(), Context(library=library, knowledge=knowledge, model=model, web=web, lent=lent, asking=asking)
    )


def lent() -> Lent:
    """What a model that leads works with: loaded with its first turn."""
    from assistant.drawing import markdown
    from assistant.mcp.tools import TABLE
    from graph.context import Lent

    return Lent(TABLE, lambda part: markdown(event_of(part)))


def load_engine(settings: Settings) -> Engine:
    """One engine for all conversations of a process, however many threads ask for it at once."""
    with LOADING:
        return _engine(settings)


def warm_up(settings: Settings) -> None:
    """For a process that answers many: a turn of each kind, stored nowhere and asking no model, loads what is loaded at
    its first use; and the garbage collector no longer walks it (that took a seventh of the time)."""
    from graph.state import new_turn

    engine = load_engine(settings)
    context = replace(engine.context, model=None, web=None)
    for text in WARMING:
        engine.graph.invoke(new_turn(1, text), context=context)
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG)


EXACT = (LaunchBundle,)
"""What is handed over byte for byte; where it is shown, it is made printable there."""


@dataclass(frozen=True, slots=True)
class SentMessage:
    """What a person said. at tells it from all others of the thread, also after a lost connection."""

    text: str
    attachments: tuple[Attachment, ...]
    at: datetime


class Run:
    """Answers what was left on a thread, then the message (None: only what was left)."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        thread: str,
        message: SentMessage | None,
        stopping: threading.Event,
        hear: Callable[[Event], None],
        asker: Asker,
    ) -> None:
        """hear: is told at once what passes by while the graph runs, in the thread that runs it."""
        self.settings, self.database, self.thread, self.message = settings, database, thread, message
        self.stopping, self.hear = stopping, hear
        self.turns = Turns(database)
        self.past = PastDiagnoses(database, asker)
        self.asker = asker
        # The person's machines after this turn, where it said something of them.
        self.machines_told: tuple[str, ...] | None = None
        self.lost = False
        # The turn that was run when the connection went: it may be stored, or not.
        self.open: Turn | None = None

    def events(self) -> Iterator[Event]:
        """All that is said. Raises UnavailableError where the database stays away."""
        patience = time.monotonic() + self.settings.wait_s
        while True:
            try:
                over, answer = self._one()
            except LostError:
                self.lost = True
                if time.monotonic() > patience:
                    raise
                yield Progress(RECONNECTING)
                time.sleep(PAUSE_S)
                continue
            patience = time.monotonic() + self.settings.wait_s
            yield from answer
            if over:
                return

    def _one(self) -> tuple[bool, list[Event]]:
        """Answer one turn. Gives whether that was the last, and what to say once the hold has ended."""
        with self.database.alone(self.thread, self.settings.wait_s) as hold:
            if self.open and (stored := self.turns.begun(self.thread, self.open.at)) and stored.answer is not None:
                ours = stored.tries == self.open.tries
                self.open = None
                return self._is_mine(stored), list(stored.answer) if ours else []
            turn = self._next_turn()
            if turn is None:
                return True, []
            self.open = turn
            answer = self._answer(hold, turn)
        self.open = None
        return self._is_mine(turn), answer

    def _is_mine(self, turn: Turn) -> bool:
        return self.message is not None and turn.at == self.message.at

    def _next_turn(self) -> Turn | None:
        """The turn that was left, or the message as a new one; None: there is nothing more to do."""
        left = self.turns.unfinished(self.thread)
        if left:
            return self.turns.try_again(self.thread, left, self.settings.pasted)
        message = self.message
        if message is None or (self.lost and self.turns.begun(self.thread, message.at)):
            return None
        return self.turns.begin(self.thread, message.text, message.attachments, message.at)

    def _answer(self, hold: Hold, turn: Turn) -> list[Event]:
        """Run the graph and store what it said. Empty: somebody else answered it."""
        if turn.tries > (MOST_LOST if self.lost else MOST_TRIES):
            answer: list[Event] = [Error(GIVEN_UP)]
        else:
            answer = self._tried(hold, turn)
        tickets = self.past.tickets(self.thread, turn.number, turn.at, turn.text, answer)
        answer = [printable_in(event, EXACT) for event in self.past.told(answer, tickets)] + [Done(turn.number)]
        with hold.transaction() as talk:
            closed = self.turns.close(talk, self.thread, turn, answer)
            if closed:
                self.past.keep(talk, tickets)
            if closed and self.machines_told is not None:
                self.own_machines().keep(talk, self.machines_told)
        return answer if closed else []

    def _tried(self, hold: Hold, turn: Turn) -> list[Event]:
        """What the graph said, or what went wrong. Raises LostError."""
        try:
            with hold.attempt():
                return list(self._run(hold, turn))
        except Exception as error:
            known_error = error if isinstance(error, MapleError) else self.database.trouble(error)
            if isinstance(known_error, LostError):
                raise known_error from error
            if known_error:
                return [Error(str(known_error))]
            told = unforeseen(error, self.settings.log, f"thread {self.thread}, turn {turn.number}")
            return [Error(f"{told}; a new conversation may help.")]

    def _run(self, hold: Hold, turn: Turn) -> Iterator[Event]:
        from graph.conversation.own_machines import kept_words
        from graph.state import State, new_turn

        graph_context = load_engine(self.settings).context
        saver = hold.saver()
        graph = load_engine(self.settings).on(saver)
        before = state = self._settled(graph, saver)
        if before.get("turn") != turn.number:
            own = self.own_machines().read()
            entry = State(**{**new_turn(turn.number, turn.text, turn.attachments), "own_machines": own})
            with closing(self._steps(graph, entry)) as steps:
                for step in steps:
                    if self.stopping.is_set():
                        yield Text(STOPPED)
                        yield known_of(before)
                        return
                    state = step
            saver.prune([self.thread])
            told = tuple(state.get("own_machines", ()))
            if told != own:
                self.machines_told = told
                note = kept_words(told, graph_context)
                yield from () if note in state["said"] else (event_of(note),)
        yield from map(event_of, state["said"])
        yield known_of(state)

    def own_machines(self) -> OwnMachines:
        return OwnMachines(self.settings, self.database, self.asker.who)

    @property
    def _config(self) -> Any:
        return {"configurable": {"thread_id": self.thread}}

    def _steps(self, graph: Graph, entry: State) -> Generator[State, None, None]:
        """The state after each step of the graph. Its nodes run in this thread."""

        def tell(part: Writing | Working) -> None:
            self.hear(passing(part))

        context = replace(load_engine(self.settings).context, stopped=self.stopping.is_set, tell=tell)
        for state in graph.stream(entry, self._config, context=context, durability="exit", stream_mode="values"):
            yield cast("State", state)

    def _settled(self, graph: Graph, saver: Any) -> State:
        """The conversation after its last whole turn. What a turn left half done when it broke off is dropped."""
        last = graph.get_state(self._config)
        if last.next and not last.interrupts:
            parent = last.parent_config
            saver.rewind(self.thread, parent["configurable"]["checkpoint_id"] if parent else None)
            last = graph.get_state(self._config)
        return cast("State", last.values)


def known_of(state: State) -> Known:
    """The request as it stands; while something is open or refused, what the last script decided is not part of it."""
    undecided = isinstance(state.get("pending"), AskField) or isinstance(state.get("outcome"), Refusal)
    plan = None if undecided else state.get("plan")
    return known(state.get("request") or JobRequest(), plan, tuple(state.get("left_to_us") or ()))
