"""The conversations so far, the last one first: search in all that was said, open one, give it a name."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList
from textual.widgets.option_list import Option

from assistant.errors import MapleError
from assistant.turns import Thread, Turns

# One line to be typed.


class PromptScreen(ModalScreen[str | None]):
    """What was typed; None on Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    def __init__(self, question: str, value: str = "") -> None:
        super().__init__()
        self.question, self.value = question, value

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Label(self.question, markup=False)
            yield Input(self.value)
            yield Label("Enter takes it · Esc goes back", classes="hint")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())


LONGEST = 44


class ThreadsScreen(ModalScreen[str | None]):
    """The name of the thread that was chosen; None on Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back"),
        Binding("ctrl+r", "rename", "Rename", priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
    ]

    def __init__(self, turns: Turns, words: str = "") -> None:
        super().__init__()
        self.turns = turns
        self.words = words
        self.threads: tuple[Thread, ...] = ()

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Label("Conversations")
            yield Input(self.words, placeholder="words that were said in it")
            yield OptionList()
            yield Label("Enter opens · ^r renames · Esc goes back", classes="hint")

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self.look(self.words)

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        self.look(event.value)

    @work(exclusive=True, group="look")
    async def look(self, words: str) -> None:
        """Search; a short pause first, so that a word typed in one go is searched once."""
        await asyncio.sleep(0.1 if words else 0)
        try:
            self.show(await asyncio.to_thread(self.turns.threads, words))
        except MapleError as error:
            self.query_one(Label).update(str(error))

    def show(self, threads: Sequence[Thread]) -> None:
        self.threads = tuple(threads)
        listed = self.query_one(OptionList)
        listed.clear_options()
        listed.add_options(Option(row(thread), id=thread.name) for thread in threads)
        listed.highlighted = 0 if threads else None

    def action_move(self, step: int) -> None:
        listed = self.query_one(OptionList)
        (listed.action_cursor_down if step > 0 else listed.action_cursor_up)()

    @property
    def marked(self) -> Thread | None:
        place = self.query_one(OptionList).highlighted
        return self.threads[place] if place is not None and place < len(self.threads) else None

    @on(Input.Submitted)
    def submitted(self) -> None:
        if self.marked:
            self.dismiss(self.marked.name)

    @on(OptionList.OptionSelected)
    def selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)

    @work(group="rename")
    async def action_rename(self) -> None:
        thread = self.marked
        if thread is None:
            return
        title = await self.app.push_screen_wait(PromptScreen("Name of this conversation", thread.title or name(thread)))
        if title is not None:
            await asyncio.to_thread(self.turns.entitle, thread.name, title)
            self.look(self.query_one(Input).value)


def name(thread: Thread) -> str:
    """How a conversation is called: its title, else how it began."""
    return thread.title or " ".join(thread.begins.split())[:LONGEST] or "(a log)"


def row(thread: Thread) -> Content:
    turns = f"{thread.turns} turn{'' if thread.turns == 1 else 's'}"
    return Content.assemble(
        f"{thread.at.astimezone():%d %b %H:%M}  ", (name(thread), "bold"), (f"  {turns}, {thread.name}", "$text-muted")
    )
