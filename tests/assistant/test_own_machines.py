"""A person's machines: told in a conversation, by the command or by a setting, they are what every door compares."""

from __future__ import annotations

import asyncio
import json

import pytest

from assistant.cli import main
from assistant.drawing import markdown
from assistant.mcp.tools import plan_resources
from assistant.session import ALONE, Session
from assistant.settings import Settings, read_settings
from assistant.storage.diagnoses import Asker


def told(settings: Settings, thread: str, text: str, asker: Asker = ALONE) -> str:
    async def collect() -> str:
        return "\n".join([markdown(event) async for event in Session(settings, thread, asker).send(text)])

    return asyncio.run(collect())


def machines(capsys: pytest.CaptureFixture[str], *words: str) -> set[str]:
    main(["plan", "--model", "7B", "--json", *words])
    return {option["machine"] for option in json.loads(capsys.readouterr().out)["options"]}


def test_what_was_told_once_holds_in_every_door(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Your machines: Perlmutter, Delta" in told(settings, "one", "I have access to perlmutter and delta")
    again = told(settings, "two", "Which machine should I use for a full fine-tune of Llama 3 70B?")
    assert "Over your machines: Perlmutter, Delta" in again and "lumi" not in again
    assert "ABCI" in told(settings, "three", "Which of all machines for a full fine-tune of Llama 3 70B?")
    assert machines(capsys) == {"perlmutter", "delta"}
    assert machines(capsys, "--machine", "vista") == {"vista"}
    assert {option.machine for option in plan_resources("7B").options} <= {"perlmutter", "delta"}


def test_the_command_keeps_them_too(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert machines(capsys, "--machines", "leonardo, vista") == {"leonardo", "vista"}
    assert "Leonardo, Vista" in told(settings, "one", "which machines do I have?")
    assert main(["plan", "--model", "7B", "--machines", "nowhere"]) == 2
    assert len(machines(capsys, "--machines", "all")) > 10
    assert machines(capsys) == {None}


def test_a_setting_names_them_until_more_is_said(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MAPLE_CHAT_MACHINES", "lumi")
    assert machines(capsys) == {"lumi"}
    told(read_settings(), "one", "I also have access to Polaris")
    assert machines(capsys) == {"lumi", "polaris"}


def test_they_are_one_persons_own(settings: Settings) -> None:
    told(settings, "one", "I have access to perlmutter and delta", Asker("T1:U1"))
    assert "I know of no machines" in told(settings, "two", "which machines do I have?", Asker("T1:U2"))
    assert "Perlmutter, Delta" in told(settings, "three", "which machines do I have?", Asker("T1:U1"))


def test_what_else_a_message_says_is_done(settings: Settings) -> None:
    both = told(settings, "one", "I have access to Vista. train.py with DDP, 2 nodes")
    assert "Your machines: Vista" in both and "#SBATCH -p gh" in both
