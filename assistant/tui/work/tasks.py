"""What the child process can do. Each function tells Working while it lasts, and what it found as it finds it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.tui.work.found import CheckReport, LogReport, RankLines, RehearsalReport
from knowledge.types import SideFile, Working

if TYPE_CHECKING:
    from assistant.events import Event
    from assistant.session import Session
    from assistant.settings import Settings
    from knowledge.cluster import Cluster

Tell = Callable[[object], None]
REHEARSAL_S = 150.0


def warm(tell: Tell, settings: Settings) -> None:
    """Load the engine."""
    from assistant.running import load_engine

    load_engine(settings)


def resume(tell: Tell, settings: Settings, thread: str) -> None:
    """What was said and is not answered yet."""
    from assistant.session import Session

    session = Session(settings, thread)
    asyncio.run(tell_all(tell, session, session.resume()))


def model(tell: Tell, settings: Settings) -> None:
    """Which language model is set and what was used of it, as this process knows, which asks it."""
    from assistant.models import in_words

    tell(in_words(settings))


async def tell_all(tell: Tell, session: Session, given: AsyncIterator[Event]) -> None:
    """The events as they come. SIGINT ends the turn after the step that it is at, and leaves the engine loaded."""
    before = signal.signal(signal.SIGINT, lambda *_: session.stop())
    try:
        async for event in given:
            tell(event)
    finally:
        signal.signal(signal.SIGINT, before)


def check(tell: Tell, text: str, file: str, machine: str | None) -> None:
    """The findings on a script (file: where it lies, - for nowhere), in words and beside its lines."""
    from assistant.commands.check import judge
    from graph.verification.checks.report import ordered, text_of

    cluster = the_machine(text, machine)
    findings = ordered(judge(text, file, cluster))
    title = cluster.title if cluster else None
    tell(CheckReport(text_of(text, findings, title), tuple(findings), title or ""))


def rehearse(tell: Tell, text: str, files: tuple[SideFile, ...], machine: str | None) -> None:
    """The script, run on a stand-in cluster here."""
    from graph.verification.rehearsal import rehearse as run
    from graph.verification.rehearsal.report import text_of

    cluster = the_machine(text, machine)
    if cluster is None:
        from graph.verification.rehearsal.unknown_machine import unknown_machine

        cluster = unknown_machine(text, None)
    tell(Working("Starting the stand-in cluster"))
    outcome = run(text, files, cluster, timeout=REHEARSAL_S, progress=lambda says: tell(Working(f"Rehearsing: {says}")))
    tell(RehearsalReport(text_of(outcome), outcome.passed, outcome.findings))


def why(tell: Tell, paths: tuple[str, ...], machine: str | None) -> None:
    """Why the job of these logs failed, and where in them each sign of trouble stands."""
    from assistant.reading import left_out, listed
    from assistant.tui.work.scanning import diagnosis_and_hits
    from graph.debugging.log import from_paths

    cluster = the_machine("", machine)
    files = [one.path for one in listed(lambda: from_paths(map(Path, paths))) if one.path]
    (diagnosis, hits), _ = left_out(files, lambda there: diagnosis_and_hits(there, tell))
    if cluster is not None:
        from graph.debugging.advice import for_cluster

        diagnosis = for_cluster(diagnosis, cluster)
    tell(LogReport(diagnosis, hits))


def lines_of_rank(tell: Tell, path: str, rank: int) -> None:
    """The numbers of the lines that a rank wrote, in pieces."""
    from assistant.tui.work.scanning import rank_lines

    for done, total, numbers in rank_lines(Path(path), rank):
        tell(RankLines(rank, numbers))
        tell(Working(f"Finding the lines of rank {rank}", done, total))


def the_machine(text: str, name: str | None) -> Cluster | None:
    """The machine named, or the one that a strong mark tells. Raises InputError for a name nobody knows."""
    from knowledge.catalogue import catalogue

    if name:
        return catalogue().named(name, "/clusters")
    if not text:
        return None
    from graph.verification.script_machine import script_machine

    return script_machine(text).cluster
