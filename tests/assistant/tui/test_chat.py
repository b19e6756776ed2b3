"""The chat, key by key, at 80x24 unless told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Markdown, OptionList, Static

from assistant.settings import Settings
from assistant.tui.app import MapleApp
from assistant.tui.commands import COMMANDS, find
from assistant.tui.screens.chat import ChatScreen
from assistant.tui.screens.confirm import ConfirmScreen
from assistant.tui.screens.help import HelpScreen
from assistant.tui.screens.threads import ThreadsScreen
from assistant.tui.widgets.chips import Chips
from assistant.tui.widgets.conversation import Conversation, Said
from assistant.tui.widgets.script_pane import Code, ScriptPane

NAME = "perlmutter-pytorch-fsdp.sh"
Say = Callable[[Pilot[int], str], Awaitable[ChatScreen]]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Scripts are saved into the current folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def app(settings: Settings) -> MapleApp:
    return MapleApp(settings, "t")


def screen_of(pilot: Pilot[int]) -> ChatScreen:
    return next(screen for screen in pilot.app.screen_stack if isinstance(screen, ChatScreen))


async def settled(pilot: Pilot[int]) -> ChatScreen:
    """Wait for the answer: nothing is being worked on, and everything is drawn."""
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
    return screen_of(pilot)


async def say(pilot: Pilot[int], text: str) -> ChatScreen:
    """Type (at once) and send."""
    screen = await settled(pilot)
    screen.composer.text = text
    await pilot.press("enter")
    return await settled(pilot)


def status(screen: ChatScreen) -> str:
    return str(screen.query_one("#status", Static).content)


def answers(screen: ChatScreen) -> list[str]:
    return [markdown.source for markdown in screen.query_one(Conversation).query(Markdown)]


async def test_a_first_start_shows_what_to_try(app: MapleApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        assert "Three things to try" in answers(screen)[0]
        await pilot.press("up")
        assert screen.composer.text == "help me run my training"


async def test_a_conversation_from_nothing_to_a_saved_script(app: MapleApp, here: Path) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await say(pilot, "help me run my training")
        for answer in ("perlmutter", "pytorch", "fsdp"):
            screen = await say(pilot, answer)
        assert "How many nodes?" in answers(screen)[-1]
        screen = await say(pilot, "4")
        await pilot.press("ctrl+s")
        await settled(pilot)
        assert f"Saved {here / NAME}" in status(screen)
        assert "--nodes=4" in (here / NAME).read_text()


async def test_chips_show_what_is_known_assumed_and_missing(app: MapleApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await say(pilot, "I need a job script for Perlmutter")
        assert "perlmutter" in str(screen.query_one(Chips).content)
        assert "nodes ?" in str(screen.query_one(Chips).content)


async def test_nothing_is_overwritten_unasked(app: MapleApp, here: Path, whole: str) -> None:
    (here / NAME).write_text("mine")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await say(pilot, whole)
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert isinstance(app.screen, ConfirmScreen)
        await pilot.press("n")
        await settled(pilot)
        assert (here / NAME).read_text() == "mine" and "Nothing was saved" in status(screen)
        await pilot.press("ctrl+s")
        await pilot.pause()
        await pilot.press("y")
        await settled(pilot)
        assert "#SBATCH" in (here / NAME).read_text()


async def test_a_narrow_terminal_shows_one_pane_at_a_time(app: MapleApp, whole: str) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await say(pilot, whole)
        talk, pane = screen.query_one(Conversation), screen.query_one(ScriptPane)
        assert talk.display and not pane.display
        await pilot.press("ctrl+t")
        assert pane.display and not talk.display
        assert "--nodes=4" in screen.query_one(Code).text
        await pilot.press("ctrl+t")
        assert talk.display and not pane.display


async def test_the_files_beside_the_script_come_after_it(app: MapleApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await say(pilot, "DeepSpeed ZeRO-3 on Perlmutter, 4 nodes, 4 GPUs per node")
        pane = screen.query_one(ScriptPane)
        seen = []
        for _ in range(2):
            await pilot.press("ctrl+t")
            await pilot.pause()
            seen.append(pane.code.text.splitlines()[0])
        assert seen == ["#!/bin/bash", "{"]
        await pilot.press("ctrl+t")
        assert screen.query_one(Conversation).display and not pane.display


async def test_an_answer_that_does_not_fit_is_read_from_its_first_line(app: MapleApp, whole: str) -> None:
    async with app.run_test(size=(80, 16)) as pilot:
        screen = await say(pilot, whole)
        await pilot.pause(0.2)
        talk = screen.query_one(Conversation)
        answer = talk.query(Markdown).last()
        assert answer.outer_size.height > talk.size.height
        assert answer.region.y >= talk.region.y


async def test_typing_goes_into_the_box_wherever_the_focus_is(app: MapleApp, whole: str) -> None:
    async with app.run_test(size=(160, 48)) as pilot:
        screen = await say(pilot, whole)
        screen.query_one(Code).focus()
        await pilot.press("x")
        assert screen.composer.has_focus and screen.composer.text == "x"


async def test_what_is_half_typed_survives_a_look_at_older_messages(app: MapleApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        await pilot.press("x", "up", "down")
        assert screen.composer.text == "x"


async def test_a_wide_terminal_shows_both(app: MapleApp, whole: str) -> None:
    async with app.run_test(size=(160, 48)) as pilot:
        screen = await say(pilot, whole)
        assert screen.query_one(Conversation).size.width > 60
        assert screen.query_one(ScriptPane).size.width > 60


async def test_enter_sends_and_ctrl_j_starts_a_line(app: MapleApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        await pilot.press("a", "ctrl+j", "b", "shift+enter", "c")
        assert screen.composer.text == "a\nb\nc"
        await pilot.press("enter")
        await settled(pilot)
        assert screen.composer.text == ""
        assert str(screen.query(Said).last().content) == "a\nb\nc"


async def test_a_long_paste_becomes_an_attachment(app: MapleApp) -> None:
    log = "epoch 1 loss 0.5\n" * 12_331
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        app.post_message(events.Paste(log))
        await settled(pilot)
        attached = screen.query_one("#attached", Static)
        assert attached.display and "pasted, 12,331 lines" in str(attached.content)
        assert screen.composer.text == ""
        (kept,) = screen.composer.attachments
        assert Path(kept.path).read_text() == log
        await pilot.press("backspace")
        await pilot.pause()
        assert not attached.display and not screen.composer.attachments


async def test_a_short_paste_is_typed_in(app: MapleApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        app.post_message(events.Paste("two\r\nlines"))
        await pilot.pause()
        assert screen.composer.text.split() == ["two", "lines"]


async def test_the_conversation_is_back_at_the_next_start(app: MapleApp, settings: Settings, whole: str) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await say(pilot, whole)
    again = MapleApp(settings, "t")
    async with again.run_test(size=(80, 24)) as pilot:
        screen = await settled(pilot)
        assert str(screen.query(Said).last().content) == whole
        assert NAME in answers(screen)[-1]
        assert screen.bundle and screen.bundle.name == NAME
        await pilot.press("up")
        assert screen.composer.text == whole
        screen = await say(pilot, "make it 8 nodes")
        assert "nodes: 4 → 8" in answers(screen)[-1]


async def test_copy_writes_a_file_and_offers_it_to_the_terminal(app: MapleApp, settings: Settings, whole: str) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await say(pilot, whole)
        await pilot.press("ctrl+o")
        await settled(pilot)
        copied = settings.data / "copied" / NAME
        assert app.clipboard == copied.read_text()
        assert str(copied) in status(screen)


async def test_new_and_open_change_the_conversation(app: MapleApp, whole: str) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await say(pilot, whole)
        screen = await say(pilot, "/new second")
        assert screen.session.thread == "second" and screen.bundle is None
        await say(pilot, "hello")
        screen.composer.text = "/open"
        await pilot.press("enter")
        while not isinstance(app.screen, ThreadsScreen):
            await pilot.pause(0.02)
        options = app.screen.query_one(OptionList)
        assert [option.id for option in options.options] == ["second", "t"]
        await pilot.press("down", "enter")
        await settled(pilot)
        assert screen.session.thread == "t" and screen.bundle


@pytest.mark.parametrize("command", [c for c in COMMANDS.values() if c.name not in ("attach", "quit", "open")])
async def test_every_command_runs(app: MapleApp, command: object) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await say(pilot, f"/{command.name}")  # type: ignore[attr-defined]
        assert "No command" not in status(screen)


async def test_commands_that_are_none_are_said_to_be_none(app: MapleApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await say(pilot, "/frobnicate")
        assert "No command /frobnicate" in status(screen)
        assert screen.composer.text == "/frobnicate"


async def test_help_lists_every_command(app: MapleApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("f1")
        assert isinstance(app.screen, HelpScreen)
        text = str(app.screen.query_one(Static).content)
        assert all(command.usage in text for command in COMMANDS.values())
        await pilot.press("escape")
        assert isinstance(app.screen, ChatScreen)


async def test_attach_takes_a_file_and_refuses_what_is_none(app: MapleApp, here: Path) -> None:
    (here / "job.log").write_text("one\ntwo\n")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await say(pilot, "/attach job.log")
        assert [a.name for a in screen.composer.attachments] == ["job.log"]
        screen = await say(pilot, "/attach gone.log")
        assert "gone.log" in status(screen)


async def test_quit_leaves(app: MapleApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+q")
    assert app.return_code == 0


@pytest.mark.parametrize("text", ["/home/me/job.log", "what does / do", "/", "/save\nmore", "1/2"])
def test_what_is_no_command(text: str) -> None:
    called = find(text)
    assert called is None or called[0] is None
