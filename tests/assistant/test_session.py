"""A message goes in, typed events come out; what was said is on disk before anybody hears it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assistant.errors import InputError
from assistant.events import Asked, Done, Error, Event, Known, Script, Text
from assistant.session import Session
from assistant.settings import Settings
from knowledge.types import Attachment

Say = Callable[..., list[Event]]


def kinds(events: list[Event]) -> list[str]:
    """Without what only tells that a busy machine takes its time."""
    return [event.type for event in events if event.type != "progress"]


def test_a_whole_request_gives_a_script(say: Say, whole: str) -> None:
    events = say(whole)
    assert kinds(events) == ["script", "known", "done"]
    assert isinstance(events[0], Script) and "--nodes=4" in events[0].made.bundle.script


def test_what_is_missing_is_asked_and_shown_as_missing(say: Say) -> None:
    events = say("I need a job script for Perlmutter")
    assert kinds(events) == ["question", "known", "done"]
    assert isinstance(events[1], Known)
    assert [(c.field, c.state) for c in events[1].chips][:3] == [
        ("machine", "known"),
        ("framework", "missing"),
        ("strategy", "missing"),
    ]


def test_assumed_values_say_why(say: Say, whole: str) -> None:
    known = next(event for event in say(whole) if isinstance(event, Known))
    walltime = next(chip for chip in known.chips if chip.field == "walltime")
    assert walltime.state == "assumed" and walltime.why


def test_the_thread_goes_on_in_another_process(say: Say, settings: Settings, whole: str) -> None:
    say(whole)
    other = Session(settings, "t")
    events = asyncio.run(collect(other, "make it 8 nodes"))
    script = next(event for event in events if isinstance(event, Script))
    assert script.made.changes == ("nodes: 4 → 8",)


async def collect(session: Session, text: str) -> list[Event]:
    return [event async for event in session.send(text)]


def test_another_thread_knows_nothing_of_it(say: Say, settings: Settings, whole: str) -> None:
    say(whole)
    assert kinds(asyncio.run(collect(Session(settings, "other"), "8 nodes with DDP, please")))[0] == "question"


def test_history_is_what_was_said(say: Say, session: Session, whole: str) -> None:
    events = say(whole)
    (turn,) = session.history()
    assert turn.text == whole
    assert turn.answer == tuple(events)


def test_a_forgotten_thread_starts_anew(say: Say, session: Session, whole: str) -> None:
    say(whole)
    session.forget()
    assert session.history() == ()
    assert isinstance(say("make it 8 nodes")[0], Asked | Text)


def test_a_failure_inside_is_one_line_and_the_conversation_goes_on(
    say: Say, settings: Settings, whole: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("graph.usecases.write_script.render", lambda plan: 1 / 0)
        events = say(whole)
    assert isinstance(events[0], Error) and "ZeroDivisionError" in events[0].text
    assert "Traceback" in settings.log.read_text()
    assert kinds(say(whole))[0] == "script"


@pytest.mark.parametrize("name", ["", "../up", "a b", "x" * 65, "-x", "a\nb"])
def test_a_thread_name_is_a_plain_word(settings: Settings, name: str) -> None:
    with pytest.raises(InputError):
        Session(settings, name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "\x00\x1b[2J\x07\x9b31m",
        "\ud800 lone half",
        "train\x00 with FSDP \x1b]0;title\x07on Perlmutter",
        "'; DROP TABLE turns; --",
        "account=$(rm -rf ~)",
        "{{ 7*7 }} {% raw %}",
        "🦙" * 5000,
        "a" * 7999,
        "\n".join("line" for _ in range(59)),
    ],
)
def test_hostile_text_is_answered(say: Say, text: str) -> None:
    events = say(text)
    assert events and not any(isinstance(event, Error) for event in events), events
    assert all("\x1b" not in str(event) and "\x00" not in str(event) for event in events)


def test_ten_megabytes_become_an_attachment(say: Say, session: Session) -> None:
    events = say("epoch 1 loss 0.5\n" * 620_000)
    assert isinstance(events[-1], Done)
    (turn,) = session.history()
    assert turn.text == "" and turn.attachments[0].lines == 620_000
    assert session.settings.conversations.stat().st_size < 1_000_000


def test_an_attachment_that_has_gone_is_said_to_have_gone(say: Say, tmp_path: Path) -> None:
    events = say("why?", Attachment("gone.log", str(tmp_path / "gone.log"), 3))
    assert kinds(events)[0] == "refusal"


def test_a_long_paste_keeps_the_words_before_its_script(say: Say) -> None:
    steps = "\n".join(f"export SETTING_{n}={n}" for n in range(80))
    script = f"#!/bin/bash\n#SBATCH -N 2 --gpus-per-node=4\n{steps}\nsrun torchrun --nproc-per-node=4 pretrain.py\n"
    events = say(f"port this to Frontier with DDP please:\n{script}")
    made = next(event.made for event in events if isinstance(event, Script))
    assert made.title == "Frontier" and "pretrain.py" in made.bundle.script


def test_nobody_else_on_the_login_node_can_read_a_conversation(settings: Settings) -> None:
    assert settings.data.stat().st_mode & 0o077 == 0


LOADED_LATER = """
import asyncio, sys
from pathlib import Path
from assistant.session import Session
from assistant.settings import Settings
settings = Settings(data=Path(sys.argv[1]))
asyncio.run(Session(settings, "warm").warm())
before = set(sys.modules)
async def say(text):
    return [event.type async for event in Session(settings, "t").send(text)]
print(asyncio.run(say("ValueError: x\\ntorch.OutOfMemoryError: CUDA out of memory.")))
print(asyncio.run(say("DDP on 4 nodes of Frontier with train.py")))
ours = ("assistant", "graph", "knowledge", "templates", "bm25s", "langgraph", "onnxruntime", "tokenizers")
print(sorted(name for name in set(sys.modules) - before if name.split(".")[0] in ours and "checkpoint" not in name))
print(Session(settings, "warm").history())
"""


def test_after_warming_a_turn_loads_nothing_more_and_nothing_was_stored(tmp_path: Path) -> None:
    words = [sys.executable, "-c", LOADED_LATER, str(tmp_path)]
    diagnosis, script, loaded, stored = subprocess.check_output(words, text=True).splitlines()
    assert "diagnosis" in diagnosis and "script" in script
    assert loaded == "[]" and stored == "()"
