"""Commands, completions, chips, log, findings, themes and conversations, as a person uses them."""

from __future__ import annotations

import gzip
import random
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, OptionList, Sparkline, Static

from assistant.commands.chat import left_open
from assistant.events import Event, Streaming, Text
from assistant.session import Session
from assistant.settings import Settings
from assistant.tui.actions.tools import found
from assistant.tui.commands import COMMANDS
from assistant.tui.logfile import LogFile
from assistant.tui.screens.picker import PickerScreen
from assistant.tui.screens.threads import ThreadsScreen
from assistant.tui.widgets import watch_pane
from assistant.tui.widgets.chips import ChipView
from assistant.tui.widgets.conversation import Said
from assistant.tui.widgets.script_pane import CodeView
from assistant.tui.work.engine import ChildEngine
from knowledge.types import Attachment

LOG = "".join(f"[rank{n % 4}]: step {n // 4} loss 0.5\n" for n in range(400)) + (
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    "[rank1]:[E ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4)\n"
)
TELLING = 401
# Those that take a person away, or that have a test of their own.
ELSEWHERE = {"quit", "open", "sessions", "theme", "rehearse", "why", "log", "watch"}


async def test_every_command_runs(chat: Any, here: Path) -> None:
    (here / "a.log").write_text("one\n")
    async with chat() as it:
        await it.say("Train with PyTorch FSDP on Perlmutter, 4 nodes, 4 GPUs per node")
        for command in COMMANDS.values():
            if command.name not in ELSEWHERE:
                await it.say(f"/{command.name}" + (" a.log" if command.needs_more else ""))
                assert not it.screen.query_one("#status").has_class("problem"), (command.name, it.status)
                if it.app.screen is not it.screen:
                    await it.press("escape")


async def test_commands_and_files_are_completed(chat: Any, here: Path) -> None:
    (here / "job.log").write_text("x\n")
    (here / "jobs").mkdir()
    async with chat() as it:
        box, listed = it.screen.composer, it.screen.composer.completions
        await it.press("slash", "r", "e")
        assert [one.value for one in listed.candidates] == ["/rehearse", "/rename"]
        await it.press("down", "tab")
        assert box.text == "/rename " and not listed.display
        await it.press("ctrl+u", "s", "e", "e", "space", "@", "j", "o")
        assert [one.value for one in listed.candidates] == ["@job.log", "@jobs/"]
        await it.press("escape")
        assert not listed.display and box.text == "see @jo"
        await it.press("b", "enter")
        assert box.text == "see @job.log "


async def test_a_run_is_followed_beside_the_conversation(
    chat: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_pane, "LOOK", 0.05)
    log = here / "train.log"
    log.write_text("step 1/100 loss 2.50\n")
    async with chat() as it:
        await it.say("/watch train.log")
        pane = it.screen.watch_pane
        assert it.screen.view == "watch" and pane.display
        for number in range(2, 9):
            with log.open("a") as stream:
                stream.write(f"step {number}/100 loss {2.5 - number / 10:.2f}\n")
            await it.until(lambda number=number: pane.watching.run.step == number)
        await it.until(lambda: "step 8 of 100" in str(pane.query_one("#watch-line", Static).content))
        curve = pane.query_one("#loss-curve", Sparkline).data
        assert curve is not None and curve[0] == 2.5 and curve[-1] == pytest.approx(1.7)
        assert "2.5 to 1.7" in str(pane.query_one("#watch-loss", Static).content)
        assert pane.query_one("#pace-curve", Sparkline).data
        with log.open("a") as stream:
            stream.write("step 9/100 loss nan\nstep 10/100 loss nan\n")
        await it.until(lambda: pane.told)
        await it.pilot.press("f2")
        assert it.screen.view == "chat" and not pane.display
        assert len(pane.told) == 1 and "the loss is NaN" in pane.told[0]
        await it.say("/watch stop")
        assert pane.timer is None
        await it.say("/watch")
        assert it.screen.view == "watch"


async def test_what_cannot_be_watched_is_said(chat: Any, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(here))
    async with chat() as it:
        await it.say("/watch")
        assert "name what to watch" in it.status
        await it.say("/watch 4711")
        assert "login node" in it.status and it.screen.view == "chat"


async def test_a_chip_opens_what_the_machine_offers_and_says_it(chat: Any) -> None:
    async with chat() as it:
        await it.say("Train with PyTorch FSDP on Perlmutter, 4 nodes, 4 GPUs per node")
        chips = [view.chip.field for view in it.screen.query(ChipView)]
        await it.press("f5", *["right"] * chips.index("queue"))
        assert "assumed, the usual GPU queue" in it.status
        await it.pilot.press("enter")
        await it.until(lambda: isinstance(it.app.screen, PickerScreen))
        assert "debug, 1-8 nodes, at most 00:30:00" in it.shown
        await it.press(*"debug", "enter")
        assert str(it.screen.query(Said).last().content) == "queue debug"
        assert it.screen.chips.value("queue") == "debug"


async def test_the_log_is_shown_at_the_telling_line_and_filtered_by_rank(chat: Any, here: Path) -> None:
    (here / "slurm-1.out").write_text(LOG)
    async with chat() as it:
        await it.say("/why slurm-1.out")
        assert "gpu-oom" in it.answers[-1]
        await it.press("f4")
        view, pane = it.screen.log_pane.view, it.screen.log_pane
        assert view.here == TELLING and f"{TELLING} ▶ [rank3]: torch.OutOfMemoryError" in it.shown
        await it.press("n")
        assert view.here == TELLING + 1
        await it.press("n", "p", "t")
        assert view.here == TELLING
        await it.pilot.press("r")
        await it.until(lambda: isinstance(it.app.screen, PickerScreen))
        await it.press("3", "enter")
        await it.until(lambda: pane.rank == 3 and view.count == 101)
        assert "[rank2]" not in it.shown and "rank 3 only (101 lines)" in it.shown
        await it.press("escape")
        assert it.screen.view == "chat" and it.screen.composer.has_focus


async def test_the_second_log_takes_the_place_of_the_first(chat: Any) -> None:
    async with chat() as it:
        await it.say("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")
        await it.press("f4")
        await it.press("f2")
        await it.say("slurmstepd: error: *** JOB 9 ON n CANCELLED AT 2026-11-21T10:00:00 DUE TO TIME LIMIT ***")
        await it.press("f4")
        assert "slurmstepd: error" in it.shown and "OutOfMemory" not in it.shown


async def test_the_only_file_of_a_folder_is_its_log(chat: Any, here: Path) -> None:
    (here / "logs" / "deep").mkdir(parents=True)
    (here / "logs" / "deep" / "slurm-1.out").write_text(LOG)
    async with chat() as it:
        await it.say("/why logs")
    async with chat() as it:
        await it.press("f4")
        await it.until(lambda: f"{TELLING} ▶ [rank3]: torch.OutOfMemoryError" in it.shown)
        (here / "logs" / "b.out").write_text("step 1\n")
        await it.say("/log logs")
        assert "a folder of 2 files" in it.status


async def test_a_log_that_was_cut_off_is_shown_as_far_as_it_goes(chat: Any, here: Path) -> None:
    (here / "a.log.gz").write_bytes(gzip.compress(random.Random(1).randbytes(9_000).hex().encode())[:-900])
    async with chat() as it:
        await it.say("/log a.log.gz")
        assert it.screen.view == "log" and it.screen.log_pane.view.log_file.size > 15_000


async def test_what_a_command_found_is_back_at_the_next_start(chat: Any, here: Path) -> None:
    (here / "slurm-1.out").write_text(LOG)
    async with chat() as it:
        await it.say("Train with PyTorch FSDP on Perlmutter, 4 nodes, 4 GPUs per node")
        await it.say("/check")
        assert "checked on Perlmutter" in it.notes
        await it.say("/why slurm-1.out")
    async with chat() as it:
        assert [str(said.content) for said in it.screen.query(Said)][1:] == [
            "/check",
            "/why slurm-1.out\n[slurm-1.out, 402 lines]",
        ]
        assert "checked on Perlmutter" in it.notes and "gpu-oom" in it.answers[-1]
        await it.press("up")
        assert it.screen.composer.text == "/why slurm-1.out"
        await it.press("f4")
        await it.until(lambda: f"{TELLING} ▶ [rank3]: torch.OutOfMemoryError" in it.shown)


async def test_why_a_command_found_nothing_stays_in_the_conversation(chat: Any, here: Path) -> None:
    (here / "job.sh").write_text("#!/bin/bash\n#SBATCH -N 2\nsrun python train.py\n")
    async with chat() as it:
        await it.say("/check job.sh nowhere")
        assert "nowhere" in it.shown
    async with chat() as it:
        assert [str(said.content) for said in it.screen.query(Said)] == ["/check job.sh nowhere"]
        assert "no machine 'nowhere'" in it.shown


async def test_what_a_command_found_goes_to_its_own_conversation(chat: Any, here: Path) -> None:
    pipe = long_log(here / "slow.log", 100, LOG)
    (here / "logs").mkdir()
    async with chat() as it:
        await it.say("hello")
        session = it.screen.session

        async def slow() -> None:
            given = (Attachment("slow.log", str(pipe), 0),)
            await found(it.screen, "/why slow.log", given, "slow.log", "Reading", "why", (str(pipe),), None)

        it.screen.start(slow())
        await it.until(lambda: "tool" in it.screen.answering.running)
        await it.screen.open("other")
        await it.until(lambda: "in the conversation 't'" in it.status)
        assert [turn.text for turn in session.history()] == ["hello", "/why slow.log"]
        assert not it.screen.session.history() and "gpu-oom" not in "".join(it.answers)


async def test_a_trouble_that_nobody_foresaw_is_a_line(chat: Any, settings: Settings) -> None:
    async def fail() -> None:
        raise ZeroDivisionError("on purpose")

    async with chat() as it:
        it.screen.start(fail())
        await it.until(lambda: "ZeroDivisionError" in it.status)
        assert "on purpose" in settings.log.read_text()
        await it.say("/export " + "x" * 300)
        await it.say("/save ~nosuch/x")
        await it.say("look at @~nosuch/x.log")
        assert "correct the name" in it.status


@pytest.mark.parametrize("size", [(80, 24), (110, 30)])
async def test_the_way_out_is_in_sight_whatever_has_the_focus(chat: Any, size: tuple[int, int]) -> None:
    async with chat(size) as it:
        await it.say("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")
        for key in ("f4", "f2", "f5"):
            await it.press(key)
            await it.pilot.pause(0.1)
            last = it.shown.splitlines()[-1]
            assert "^q Quit" in last and "^p All" in last and "f2 Chat" in last
        await it.pilot.resize_terminal(160, 48)
        await it.settled()
        assert "f5 Details" in it.shown.splitlines()[-1]


async def test_a_child_survives_a_file_that_cannot_be_read(chat: Any) -> None:
    async with chat() as it:
        process = it.screen.answering.engines["tool"]._process

        async def read() -> None:
            async for _ in it.screen.work("tool", "Reading", "lines_of_rank", "/gone/away.log", 1):
                pass

        it.screen.start(read())
        await it.until(lambda: "FileNotFoundError" in it.status)
        it.screen.start(read())
        await it.settled()
        now = it.screen.answering.engines["tool"]._process
        assert now is not None and now.poll() is None and (process is None or now is process)


async def test_a_pasted_failure_has_its_log_too(chat: Any) -> None:
    async with chat() as it:
        await it.say("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")
        await it.press("f4")
        assert "1 ▶ torch.OutOfMemoryError" in it.shown


async def test_findings_stand_beside_their_lines(chat: Any) -> None:
    async with chat() as it:
        await it.say("Train with PyTorch FSDP on Perlmutter, 4 nodes, 4 GPUs per node")
        await it.press("f3")
        assert "4! #SBATCH --account=YOUR_ACCOUNT" in it.shown
        listed = it.screen.query_one("#findings", OptionList)
        assert listed.display and "directive-placeholder" in it.shown
        listed.focus()
        await it.press("down", "enter")
        assert it.screen.query_one(CodeView).cursor_location[0] == 3
        await it.press("f6")
        assert "first script" in it.status
        await it.say("8 nodes")
        await it.press("f6")
        assert "+#SBATCH --nodes=8" in it.shown


def long_log(path: Path, megabytes: int = 600, end: str = "") -> Path:
    """A log that takes seconds to read."""
    with path.open("w") as log:
        for _ in range(megabytes):
            log.write("[rank0]: step 1 loss 0.5\n" * 40_000)
        log.write(end)
    return path


async def test_escape_stops_what_runs(chat: Any, tmp_path: Path) -> None:
    pipe = long_log(tmp_path / "long.log")
    async with chat() as it:

        async def read() -> None:
            async for _ in it.screen.work("tool", "Reading", "why", (str(pipe),), None):
                pass

        it.screen.start(read())
        await it.until(lambda: "tool" in it.screen.answering.running and it.screen.working.display)
        assert "Esc stops" in it.shown
        await it.pilot.pause(1.0)
        await it.pilot.press("escape")
        await it.until(lambda: it.status == "Stopped." and not it.screen.working.display)


async def test_leaving_lets_a_tool_tidy_up(chat: Any, tmp_path: Path) -> None:
    """It is asked to end before it is killed."""
    pipe = long_log(tmp_path / "long.log")
    async with chat(own=True) as it:
        tools = it.screen.answering.engines["tool"]
        it.screen.start(found(it.screen, "/why", (), "log", "Reading", "why", (str(pipe),), None))
        await it.until(lambda: tools._process is not None)
        await it.pilot.pause(1.5)
        process = tools._process
        await it.pilot.press("ctrl+q")
    assert process.wait(10) == 130


async def test_a_child_that_is_killed_in_a_turn_is_followed_by_one_that_finishes_it(chat: Any, tmp_path: Path) -> None:
    """The log is long, so that the child is still reading it when it is killed."""
    log = tmp_path / "job.log"
    log.write_text("[rank0]: step 1 loss 0.5\n" * 800_000 + LOG)
    async with chat(own=True) as it:
        await it.say("hello")
        engine, turns = it.screen.answering.engines["turn"], it.screen.session.turns
        it.screen.start(it.screen.say("why?", (Attachment("job.log", str(log), 1),)))
        await it.until(lambda: (left := turns.unfinished("t")) is not None and left.tries == 1)
        engine._process.kill()
        await it.until(lambda: "gpu-oom" in it.answers[-1])
        assert [(turn.text, turn.tries) for turn in turns.history("t")] == [("hello", 1), ("why?", 2)]


async def test_a_message_said_before_the_engine_has_loaded_is_answered_at_the_next_start(
    chat: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chat(own=True) as it:
        session = it.screen.session
        it.screen.answering.engines["turn"].close()
        it.screen.answering.engines["turn"] = ChildEngine()
        monkeypatch.setattr("assistant.tui.work.engine.CHILD", (sys.executable, "-c", "import time; time.sleep(30)"))
        it.screen.start(it.screen.say("hello"))
        await it.until(lambda: it.screen.answering.busy)
        it.screen.answering.engines["turn"].close()
    assert [(turn.text, turn.answer) for turn in session.history()] == [("hello", None)]
    answered = [event async for event in Session(session.settings, "t").resume()]
    assert answered and [turn.answer for turn in session.history()] == [tuple(answered)]


async def test_an_answer_grows_while_it_is_worded_and_is_replaced_by_the_whole(chat: Any) -> None:
    async def worded() -> AsyncIterator[Event]:
        yield Streaming("It **gr")
        await it.pilot.pause()
        assert "It" in it.answers[-1]
        yield Streaming("ows**")
        yield Text("It has grown.")

    async with chat() as it:
        before = len(it.answers)
        await it.screen.answering.take(worded())
        await it.settled()
        assert it.answers[before:] == ["It has grown."]


async def test_the_theme_is_kept(chat: Any) -> None:
    async with chat() as it:
        await it.say("/theme contrast")
        assert it.app.theme == "maple-contrast"
        await it.say("/theme purple")
        assert "dark, light, contrast" in it.status
    async with chat() as it:
        assert it.app.theme == "maple-contrast"


async def test_conversations_are_found_renamed_and_exported(chat: Any, here: Path) -> None:
    async with chat() as it:
        await it.say("hello there")
        await it.say("/new second")
        await it.say("something about Frontier")
        await it.say("/rename Exascale")
        await it.say("/export")
        assert "something about Frontier" in (here / "second.md").read_text()
        await it.send("/sessions hello")
        await it.until(lambda: isinstance(it.app.screen, ThreadsScreen) and len(it.app.screen.threads) == 1)
        it.app.screen.query_one(Input).value = "exascale"
        await it.until(lambda: [thread.title for thread in it.app.screen.threads] == ["Exascale"])
        await it.pilot.press("ctrl+r")
        await it.until(lambda: not isinstance(it.app.screen, ThreadsScreen))
        await it.pilot.press("ctrl+u", "N", "e", "w", "enter")
        it.app.screen.query_one(Input).value = "new"
        await it.until(lambda: [thread.title for thread in it.app.screen.threads] == ["New"])


def test_the_thread_of_ask_is_not_taken_for_the_one_left_open(settings: Settings, say: Any) -> None:
    assert left_open(settings) == "chat"
    say("hello")
    assert left_open(settings) == "chat"


async def test_the_one_left_open_is_back(chat: Any, settings: Settings) -> None:
    async with chat(thread="mine"):
        assert left_open(settings) == "mine"


async def test_a_line_that_the_index_has_found_and_nobody_has_drawn_is_gone_to(chat: Any, here: Path) -> None:
    (here / "a.log").write_text("".join(f"line {number}\n" for number in range(1, 500)))
    async with chat() as it:
        file = LogFile(here / "a.log")
        it.screen.show_view("log")
        it.screen.log_pane.view.open(file)
        assert list(file.index(lambda: False))
        it.screen.log_pane.view.go(400)
        await it.settled()
        assert "line 400" in it.shown
