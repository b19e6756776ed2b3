"""What passes by while a turn runs, stopping it, and a listener that leaves."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest
from langgraph.runtime import get_runtime

import graph.usecases.write_script
from assistant.events import Done, Error, Event, Known, Progress, Script, Streaming, Text, to_json
from assistant.running import STOPPED
from assistant.session import Session
from assistant.settings import Settings
from graph.context import Context
from knowledge.types import LaunchBundle, LaunchPlan, Working, Writing

render = graph.usecases.write_script.render


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The node that writes the script tells how far it is and waits at the gate. Open: it does not wait."""
    gate = threading.Event()

    def slow(plan: LaunchPlan) -> LaunchBundle:
        tell = get_runtime(Context).context.tell
        tell(Working("writing", 1, 3))
        tell(Writing("#SBATCH"))
        assert gate.wait(30)
        return render(plan)

    monkeypatch.setattr("graph.usecases.write_script.render", slow)
    yield gate
    gate.set()


def test_what_passes_by_is_heard_while_the_turn_runs(session: Session, whole: str, gate: threading.Event) -> None:
    async def talk() -> list[Event]:
        events = []
        async for event in session.send(whole):
            events.append(event)
            if isinstance(event, Streaming):
                gate.set()  # the node goes on only because its words were heard before its end
        return events

    events = asyncio.run(talk())
    assert events[:2] == [Progress("writing", 1, 3), Streaming("#SBATCH")]
    assert [event.type for event in events[2:]] == ["script", "known", "done"]
    (turn,) = session.history()
    assert turn.answer == tuple(events[2:])
    assert "streaming" not in to_json(events)


async def until_streaming(session: Session, text: str, then: Callable[[], None]) -> list[Event]:
    """Say it, do something at the first words, and hear the rest."""
    events = []
    async for event in session.send(text):
        events.append(event)
        if isinstance(event, Streaming):
            then()
    return events


def test_a_stopped_turn_leaves_the_request_as_it_was(session: Session, whole: str, gate: threading.Event) -> None:
    gate.set()
    before = asyncio.run(until_streaming(session, whole, lambda: None))
    stopped = asyncio.run(until_streaming(session, "make it 8 nodes", session.stop))
    assert stopped[2:] == [Text(STOPPED), next(e for e in before if isinstance(e, Known)), Done(2)]
    after = asyncio.run(until_streaming(session, "use DDP", lambda: None))
    script = next(e for e in after if isinstance(e, Script))
    assert script.made.changes == ("strategy: fsdp → ddp",)


def test_a_first_turn_can_be_stopped(session: Session, whole: str, gate: threading.Event) -> None:
    gate.set()
    assert Text(STOPPED) in asyncio.run(until_streaming(session, whole, session.stop))
    events = asyncio.run(until_streaming(session, "make it 8 nodes", lambda: None))
    assert not any(isinstance(event, Script | Error) for event in events)


def test_a_listener_that_leaves_does_not_stop_the_turn(settings: Settings, whole: str, gate: threading.Event) -> None:
    async def leave() -> None:
        answers = Session(settings, "t").send(whole)
        async for event in answers:
            if isinstance(event, Streaming):
                break
        await answers.aclose()  # type: ignore[attr-defined]
        gate.set()

    asyncio.run(leave())
    session = Session(settings, "t")
    events = asyncio.run(until_streaming(session, "make it 8 nodes", lambda: None))
    assert [e.made.changes for e in events if isinstance(e, Script)] == [("nodes: 4 → 8",)]
    assert [turn.number for turn in session.history()] == [1, 2]


def test_a_turn_that_broke_off_leaves_nothing_half_done(
    session: Session, whole: str, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate.set()
    asyncio.run(until_streaming(session, whole, lambda: None))
    with monkeypatch.context() as broken:
        broken.setattr("graph.usecases.write_script.render", lambda plan: 1 / 0)
        assert isinstance(asyncio.run(until_streaming(session, "make it 8 nodes", lambda: None))[0], Error)
    events = asyncio.run(until_streaming(session, "use DDP", lambda: None))
    assert [e.made.changes for e in events if isinstance(e, Script)] == [("strategy: fsdp → ddp",)]
