"""The terminal program, driven by Textual's pilot on the real session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.widgets import Markdown, OptionList, Static

from assistant.settings import Settings
from assistant.tui.actions.talk import ConfirmScreen
from assistant.tui.app import MapleApp
from assistant.tui.commands import COMMANDS, find
from assistant.tui.screens.chat import KEYS, ChatScreen, HelpScreen
from assistant.tui.screens.threads import ThreadsScreen
from assistant.tui.widgets.chips import Chips
from assistant.tui.widgets.conversation import Conversation, Said
from assistant.tui.widgets.script_pane import CodeView, ScriptPane

NAME = "perlmutter-pytorch-fsdp.sh"
WIDE = (160, 48)


async def test_a_first_start_shows_what_to_try(chat: Any) -> None:
    async with chat() as it:
        assert "Three things to try" in it.answers[0]
        await it.press("up")
        assert it.screen.composer.text == "help me run my training"


async def test_a_conversation_from_nothing_to_a_saved_script(chat: Any, here: Path) -> None:
    async with chat() as it:
        await it.say("help me run my training")
        for answer in ("perlmutter", "pytorch", "fsdp"):
            await it.say(answer)
        assert "How many nodes?" in it.answers[-1]
        await it.say("4")
        await it.press("ctrl+s")
        assert f"Saved {here / NAME}" in it.status
        assert "--nodes=4" in (here / NAME).read_text()


async def test_chips_show_what_is_known_assumed_and_missing(chat: Any) -> None:
    async with chat() as it:
        screen = await it.say("I need a job script for Perlmutter")
        assert "perlmutter" in screen.query_one(Chips).text
        assert "nodes ?" in screen.query_one(Chips).text


async def test_nothing_is_overwritten_unasked(chat: Any, here: Path, whole: str) -> None:
    (here / NAME).write_text("mine")
    async with chat() as it:
        await it.say(whole)
        await it.pilot.press("ctrl+s")
        await it.until(lambda: isinstance(it.app.screen, ConfirmScreen))
        await it.press("n")
        assert (here / NAME).read_text() == "mine" and "Nothing was saved" in it.status
        await it.pilot.press("ctrl+s")
        await it.until(lambda: isinstance(it.app.screen, ConfirmScreen))
        await it.press("y")
        assert "#SBATCH" in (here / NAME).read_text()


async def test_a_narrow_terminal_shows_one_pane_at_a_time(chat: Any, whole: str) -> None:
    async with chat() as it:
        screen = await it.say(whole)
        talk, pane = screen.query_one(Conversation), screen.query_one(ScriptPane)
        assert talk.display and not pane.display
        await it.press("f3")
        assert pane.display and not talk.display
        assert "--nodes=4" in screen.query_one(CodeView).text
        await it.press("f2")
        assert talk.display and not pane.display


async def test_the_files_beside_the_script_come_after_it(chat: Any) -> None:
    async with chat() as it:
        screen = await it.say("DeepSpeed ZeRO-3 on Perlmutter, 4 nodes, 4 GPUs per node")
        pane = screen.query_one(ScriptPane)
        seen = []
        for _ in range(2):
            await it.press("f3")
            seen.append(pane.code.text.splitlines()[0])
        assert seen == ["#!/bin/bash", "{"]
        await it.press("f3")
        assert screen.query_one(Conversation).display and not pane.display


async def test_an_answer_that_does_not_fit_is_read_from_its_first_line(chat: Any, whole: str) -> None:
    async with chat((80, 16)) as it:
        screen = await it.say(whole)
        await it.pilot.pause(0.2)
        talk = screen.query_one(Conversation)
        answer = talk.query(Markdown).last()
        assert answer.outer_size.height > talk.size.height
        assert answer.region.y >= talk.region.y


async def test_typing_goes_into_the_box_wherever_the_focus_is(chat: Any, whole: str) -> None:
    async with chat(WIDE) as it:
        screen = await it.say(whole)
        screen.query_one(CodeView).focus()
        await it.press("x")
        assert screen.composer.has_focus and screen.composer.text == "x"


async def test_what_is_half_typed_survives_a_look_at_older_messages(chat: Any) -> None:
    async with chat() as it:
        await it.press("x", "up", "down")
        assert it.screen.composer.text == "x"


async def test_a_wide_terminal_shows_both(chat: Any, whole: str) -> None:
    async with chat(WIDE) as it:
        screen = await it.say(whole)
        assert screen.query_one(Conversation).size.width > 60
        assert screen.query_one(ScriptPane).size.width > 60


async def test_enter_sends_and_three_keys_start_a_line(chat: Any) -> None:
    async with chat() as it:
        await it.press("a", "ctrl+j", "b", "shift+enter", "c", "backslash", "enter", "d")
        assert it.screen.composer.text == "a\nb\nc\nd"
        await it.press("enter")
        assert it.screen.composer.text == ""
        assert str(it.screen.query(Said).last().content) == "a\nb\nc\nd"


async def test_a_long_paste_becomes_an_attachment(chat: Any) -> None:
    log = "epoch 1 loss 0.5\n" * 12_331
    async with chat() as it:
        it.app.post_message(events.Paste(log))
        screen = await it.settled()
        attached = screen.query_one("#attached", Static)
        assert attached.display and "pasted, 12,331 lines" in str(attached.content)
        assert screen.composer.text == ""
        (kept,) = screen.composer.attachments
        assert Path(kept.path).read_text() == log
        await it.press("backspace")
        assert not attached.display and not screen.composer.attachments


async def test_a_short_paste_is_typed_in(chat: Any) -> None:
    async with chat() as it:
        it.app.post_message(events.Paste("two\r\nlines"))
        screen = await it.settled()
        assert screen.composer.text.split() == ["two", "lines"]


async def test_the_conversation_is_back_at_the_next_start(chat: Any, whole: str) -> None:
    async with chat() as it:
        await it.say(whole)
    async with chat() as it:
        screen = it.screen
        assert str(screen.query(Said).last().content) == whole
        assert NAME in it.answers[-1]
        assert screen.bundle and screen.bundle.name == NAME
        await it.press("up")
        assert screen.composer.text == whole
        await it.say("make it 8 nodes")
        assert "nodes: 4 → 8" in it.answers[-1]


async def test_copy_writes_a_file_and_offers_it_to_the_terminal(chat: Any, settings: Settings, whole: str) -> None:
    async with chat() as it:
        await it.say(whole)
        await it.press("ctrl+o")
        copied = settings.data / "copied" / NAME
        assert it.app.clipboard == copied.read_text()
        assert str(copied) in it.status


async def test_new_and_open_change_the_conversation(chat: Any, whole: str) -> None:
    async with chat() as it:
        await it.say(whole)
        screen = await it.say("/new second")
        assert screen.session.thread == "second" and screen.bundle is None
        await it.say("hello")
        await it.send("/open")
        await it.until(lambda: isinstance(it.app.screen, ThreadsScreen) and bool(it.app.screen.threads))
        options = it.app.screen.query_one(OptionList)
        assert [option.id for option in options.options] == ["second", "t"]
        await it.press("down", "enter")
        assert screen.session.thread == "t" and screen.bundle


async def test_commands_that_are_none_are_said_to_be_none(chat: Any) -> None:
    async with chat() as it:
        screen = await it.say("/frobnicate")
        assert "No command /frobnicate" in it.status
        assert screen.composer.text == "/frobnicate"


async def test_help_lists_every_command(chat: Any) -> None:
    async with chat() as it:
        await it.press("f1")
        assert isinstance(it.app.screen, HelpScreen)
        named = {name for name, _ in it.app.screen.rows}
        assert {command.usage for command in COMMANDS.values()} <= named
        assert "Ctrl+J" in it.shown
        await it.press("escape")
        assert it.app.screen is it.screen


async def test_attach_takes_a_file_and_refuses_what_is_none(chat: Any, here: Path) -> None:
    (here / "job.log").write_text("one\ntwo\n")
    async with chat() as it:
        screen = await it.say("/attach job.log")
        assert [a.name for a in screen.composer.attachments] == ["job.log"]
        await it.say("/attach gone.log")
        assert "gone.log" in it.status


async def test_quit_leaves(chat: Any) -> None:
    async with chat() as it:
        await it.pilot.press("ctrl+q")
    assert it.app.return_code == 0


@pytest.mark.parametrize("text", ["/home/me/job.log", "what does / do", "/", "/save\nmore", "1/2"])
def test_what_is_no_command(text: str) -> None:
    called = find(text)
    assert called is None or called[0] is None


def test_the_page_lists_every_key_and_command() -> None:
    page = (Path(__file__).parents[3] / "docs" / "terminal.md").read_text()
    for command in COMMANDS.values():
        assert f"| `{command.usage}` | {command.says} |" in page
    for key, says in KEYS:
        assert f"| `{key}` | {says} |" in page


async def test_while_the_screen_is_made_there_is_no_chat_yet(chat: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async with chat() as it:
        made = it.screen
        monkeypatch.setattr(MapleApp, "screen_stack", [ChatScreen(made.settings, "t2", *it.app.engines), made])
        assert it.app.chat is made
        monkeypatch.setattr(MapleApp, "screen_stack", [ChatScreen(made.settings, "t2", *it.app.engines)])
        it.app.on_key(events.Key("x", "x"))
        assert it.app.chat is None and it.app.typed == "x"
        monkeypatch.undo()
