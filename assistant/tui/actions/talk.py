"""Commands about the conversation and its script: save, copy, attach, open, rename, export."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Label

from assistant.attachments import attach
from assistant.errors import InputError
from assistant.paths import exists, expanded
from assistant.tui.screens.threads import ThreadsScreen

if TYPE_CHECKING:
    from assistant.tui.screens.chat import ChatScreen


async def save(screen: ChatScreen, argument: str) -> None:
    """Write the script and the files beside it; what would be overwritten is asked about first."""
    from assistant.saving import in_the_way
    from assistant.saving import save as write

    bundle, folder = screen.bundle, expanded(argument or ".")
    if bundle is None:
        screen.status("No script to save yet. Say what to run and where, and it is made.")
        return
    taken = ", ".join(path.name for path in await asyncio.to_thread(in_the_way, bundle, folder))
    where = "here" if folder.resolve() == Path.cwd() else f"in {folder.resolve()}"
    question = f"{taken} {where} differs from this. Overwrite?"
    if taken and not await screen.app.push_screen_wait(ConfirmScreen(question, "Overwrite")):
        screen.status("Nothing was saved. /save FOLDER saves elsewhere.")
        return
    paths = await asyncio.to_thread(write, bundle, folder, overwrite=bool(taken))
    beside = f" (with {', '.join(path.name for path in paths[1:])})" if paths[1:] else ""
    screen.status(f"Saved {paths[0].resolve()}{beside}. Submit it there with: {bundle.submit}")


async def copy(screen: ChatScreen, argument: str) -> None:
    """A file first, which is certain; the terminal's clipboard beside it, which may refuse without a word."""
    from assistant.saving import save as write

    if screen.bundle is None:
        screen.status("No script to copy yet.")
        return
    folder = screen.settings.data / "copied"
    paths = await asyncio.to_thread(write, screen.bundle, folder, overwrite=True)
    screen.app.copy_to_clipboard(screen.bundle.script)
    screen.status(f"Offered to the terminal's clipboard; in case it takes none, the script is in {paths[0]}")


async def attach_file(screen: ChatScreen, argument: str) -> None:
    if not argument:
        raise InputError("name the file: /attach slurm-123.out")
    screen.composer.attach(await asyncio.to_thread(attach, Path(argument)))


async def new(screen: ChatScreen, argument: str) -> None:
    await screen.open(argument or time.strftime("%Y-%m-%d-%H%M%S"))


async def open_thread(screen: ChatScreen, argument: str) -> None:
    """By the name of its thread, or by a word of it where there is only one such."""
    if not argument:
        await sessions(screen, "")
        return
    threads = await asyncio.to_thread(screen.session.turns.threads)
    wanted = argument.lower()
    named = [t.name for t in threads if wanted in (t.name.lower(), t.title.lower())]
    if named:
        await screen.open(named[0])
    else:
        await sessions(screen, argument)


async def sessions(screen: ChatScreen, argument: str) -> None:
    chosen = await screen.app.push_screen_wait(ThreadsScreen(screen.session.turns, argument))
    if chosen:
        await screen.open(chosen)


async def rename(screen: ChatScreen, argument: str) -> None:
    if not argument:
        raise InputError("say the name: /rename ViT on Perlmutter")
    await asyncio.to_thread(screen.session.turns.entitle, screen.session.thread, argument)
    screen.status(f"This conversation is called '{argument}'.")


async def export(screen: ChatScreen, argument: str) -> None:
    """Write the conversation as Markdown. What is there already is asked about."""
    text = await asyncio.to_thread(screen.session.export)
    path = expanded(argument or f"{screen.session.thread}.md")
    if exists(path) and not await screen.app.push_screen_wait(
        ConfirmScreen(f"{path.resolve()} is there already. Overwrite?", "Overwrite")
    ):
        screen.status("Nothing was written. /export FILE writes elsewhere.")
        return
    try:
        await asyncio.to_thread(path.write_text, text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; give another file") from error
    screen.status(f"Wrote {path.resolve()}.")


async def leave(screen: ChatScreen, argument: str) -> None:
    screen.app.exit(0)


# A question with yes or no.


class ConfirmScreen(ModalScreen[bool]):
    """True where the person says yes; Esc and n say no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape", "answer(False)", "No"),
    ]

    def __init__(self, question: str, yes: str) -> None:
        super().__init__()
        self.question = question
        self.yes = yes

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Label(self.question, markup=False)
            with Horizontal(classes="buttons"):
                yield Button(f"{self.yes} (y)", id="yes", variant="warning")
                yield Button("No (n)", id="no")

    def on_mount(self) -> None:
        self.query_one("#no").focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
