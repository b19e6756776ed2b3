"""Which log belongs to the conversation, and what is known of it: the evidence pane is filled from here."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.errors import InputError, UnavailableError
from assistant.tui.logfile import unpacked
from assistant.tui.work.found import LogReport, RankLines, TroubleSign
from assistant.turns import Turn
from knowledge.types import Attachment, Diagnosis

if TYPE_CHECKING:
    from assistant.tui.screens.chat import ChatScreen

NO_LOG = "No log yet. Paste one, attach a file, or type /why FILE."


class Logs:
    """The newest log: its files, its diagnosis, its hits (None: not looked for yet)."""

    def __init__(self, screen: ChatScreen) -> None:
        self.screen = screen
        self.forget()

    def forget(self) -> None:
        self.text = ""
        self.sent: tuple[str, ...] = ()
        self.paths: tuple[str, ...] = ()
        self.diagnosis: Diagnosis | None = None
        self.hits: tuple[TroubleSign, ...] | None = None
        self.shown: Path | None = None

    def said(self, text: str, attachments: Sequence[Attachment]) -> None:
        """A message went off; its log is the one that a diagnosis speaks of."""
        self.text, self.sent = text, tuple(attachment.path for attachment in attachments)

    async def recall(self, turns: Sequence[Turn]) -> None:
        """The newest diagnosis of a conversation that is opened."""
        self.forget()
        told = [(turn, event.diagnosis) for turn in turns for event in turn.answer or () if event.type == "diagnosis"]
        for turn, diagnosis in told[-1:]:
            self.said(turn.text, turn.attachments)
            await self.diagnosed(diagnosis)

    async def diagnosed(self, diagnosis: Diagnosis) -> None:
        """The log that was sent last is the one; words that were typed become a file. Raises UnavailableError."""
        self.paths, self.diagnosis, self.hits, self.shown = self.sent, diagnosis, None, None
        if self.sent:
            return
        path = self.screen.settings.pasted / f"typed-{self.screen.session.thread}.log"
        try:
            await asyncio.to_thread(path.write_text, self.text, encoding="utf-8", errors="replace")
        except OSError as error:
            raise UnavailableError(f"cannot keep the log in {path.parent}: {error.strerror}; free some room") from error
        self.paths = (str(path),)

    async def keep(self, paths: Sequence[str], diagnosis: Diagnosis | None, hits: Sequence[TroubleSign]) -> None:
        """A log that a command named."""
        self.paths, self.diagnosis, self.hits = tuple(paths), diagnosis, tuple(hits)
        self.shown = None
        if diagnosis is not None:
            self.screen.status("F4 shows the log with the telling line.")

    async def open(self) -> None:
        """Show the log, the telling line in sight; then look for all signs, if nobody did yet."""
        if not self.paths:
            raise InputError(NO_LOG)
        self.screen.show_view("log")
        if self.shown is None:
            await self.show(self.hits if self.hits is not None else shown_by(self.diagnosis))
        if self.hits is None:
            await self.look()

    async def show(self, hits: Sequence[TroubleSign]) -> None:
        """Open the file in which the telling line is; that of the first log otherwise."""
        first = next((hit.file for hit in hits if hit.telling and hit.file), None)
        path = await asyncio.to_thread(only_file, Path(first or self.paths[0]))
        try:
            plain = await asyncio.to_thread(unpacked, path, self.screen.settings.pasted)
            self.screen.log_pane.show(plain, of_file(hits, first))
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}; check the name") from error
        self.shown = path

    async def look(self) -> None:
        """All signs of trouble, in a process of its own."""
        what = f"Looking through {Path(self.paths[0]).name}"
        async for report in self.screen.work("tool", what, "why", self.paths, None):
            if isinstance(report, LogReport):
                self.hits = report.hits
                if self.shown:
                    self.screen.log_pane.set_hits(of_file(report.hits, str(self.shown)))

    async def filter(self, rank: int | None) -> None:
        """Only what one rank wrote."""
        pane = self.screen.log_pane
        pane.filter(rank)
        if rank is None or pane.path is None:
            return
        async for found in self.screen.work("tool", f"Finding rank {rank}", "lines_of_rank", str(pane.path), rank):
            if isinstance(found, RankLines) and pane.rank == found.rank:
                pane.add(found.numbers)


def only_file(path: Path) -> Path:
    """The file; of a folder the one that it holds, since hits name their file where there are more."""
    if not path.is_dir():
        return path
    files = [one for one in path.rglob("*") if one.is_file()]
    if len(files) != 1:
        raise InputError(f"{path} is a folder of {len(files)} files; /log FILE shows one of them")
    return files[0]


def of_file(hits: Sequence[TroubleSign], file: str | None) -> tuple[TroubleSign, ...]:
    """The hits of one file; where there is only one file, hits name none."""
    return tuple(hit for hit in hits if hit.file in (None, file))


def shown_by(diagnosis: Diagnosis | None) -> tuple[TroubleSign, ...]:
    """What the diagnosis itself shows, and what it weighed."""
    if diagnosis is None:
        return ()
    telling = {
        e.line: TroubleSign(e.line, e.text, diagnosis.cause, e.rank, e.file, e.count, place)
        for place, e in enumerate(diagnosis.evidence, 1)
    }
    others = {
        c.evidence.line: TroubleSign(
            c.evidence.line, c.evidence.text, c.cause, c.evidence.rank, c.evidence.file, c.evidence.count
        )
        for c in diagnosis.considered
        if c.evidence
    }
    return tuple(sorted((others | telling).values(), key=lambda hit: hit.line))
