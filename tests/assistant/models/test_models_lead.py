"""A model that leads, by the front door: tool calls and steps at a server, its test and what comes of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from stand_in import StandIn

from assistant.cli import main
from assistant.models import leading
from assistant.models.table import open_models
from assistant.models.trust import Record, keep, key, records, trust_of
from assistant.settings import Settings, read_settings
from graph.conversing.guard import NOT_IN_PAGES

sys.path.insert(0, str(Path(__file__).parents[2] / "graph" / "conversing"))

from player import Player, call

from graph.modelling.asking import Models

Serve = Callable[[str], tuple[StandIn, str]]
At = Callable[..., Settings]
OPEN = NOT_IN_PAGES.format("Perlmutter", "`golden`, 9 days", "them")
ASKED = "how long is perlmutter's debug queue?"


@pytest.fixture
def leads(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], StandIn]:
    """A stand-in that leads, set in the environment as a person would."""

    def setting(behaviour: str) -> StandIn:
        stand_in, address = serve(behaviour)
        values = {"DATA": str(tmp_path / "data"), "MODEL_LARGE": "m", "MODEL_LEADS": "always", "WEB": "never"}
        for name, value in values.items():
            monkeypatch.setenv(f"MAPLE_CHAT_{name}", value)
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        return stand_in

    return setting


@pytest.mark.parametrize("behaviour", ["leads", "no_tools"])
def test_it_looks_up_and_answers_under_the_guard(
    leads: Callable[[str], StandIn], capsys: pytest.CaptureFixture[str], behaviour: str
) -> None:
    stand_in = leads(behaviour)
    assert main(["ask", "--new", ASKED]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "takes 30 minutes." in told and "takes 9 days." in told and OPEN in told
    last, looked_at = stand_in.bodies[-2], stand_in.bodies[-1]
    assert "Nobody has seen this answer yet" in looked_at["messages"][-1]["content"]
    if behaviour == "leads":
        assert [one["role"] for one in last["messages"]] == ["system", "user", "assistant", "tool"]
        assert last["messages"][3]["tool_call_id"] == "c1" and "response_format" not in last
    else:
        assert "tools" not in last and last["response_format"]["type"] == "json_schema"


def test_show_prompt_prints_the_first_request_exactly(
    leads: Callable[[str], StandIn], capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in = leads("leads")
    text = "user=mvarga, mvarga@uni.example, account bdxx-delta-gpu: ddp on delta, 2 nodes, train.py"
    assert main(["ask", "--new", "--show-prompt", text]) == 0
    printed = capsys.readouterr().out
    assert not stand_in.bodies and "mvarga" not in printed and "account bdxx-delta-gpu" in printed
    main(["ask", "--new", text])
    everything = json.dumps(stand_in.bodies)
    assert len(stand_in.bodies) == 3 and "mvarga" not in everything and "bdxx-delta-gpu" in everything
    sent = stand_in.bodies[0]
    assert all(message["content"] in printed for message in sent["messages"])
    offered = [one["function"] for one in sent["tools"]]
    assert json.loads(printed.rpartition("[tools]\n")[2]) == offered


def test_context_tells_of_the_turn(leads: Callable[[str], StandIn]) -> None:
    leads("leads")
    main(["ask", "--new", ASKED])
    from assistant.models import in_words

    told = in_words(read_settings())
    assert "Last turn: 3 calls, " in told and " s." in told


def test_a_test_is_kept_and_decides(at: At, tmp_path: Path) -> None:
    settings = at(model_large="m", openai_base_url="http://one.example/v1")
    assert trust_of("m", "openai", settings) == "reads"
    for trust, expected in (("leads", "leads"), ("off", None), ("reads", "reads")):
        keep(Record("m", trust, "2026-11-22", 1, 1, 0, 1.0, 1.0), key("m", "openai", settings), settings)  # type: ignore[arg-type]
        models = open_models(settings)
        assert (models.trust["large"] if models else None) == expected
    elsewhere = settings.model_copy(update={"openai_base_url": "http://two.example/v1"})
    assert trust_of("m", "openai", elsewhere) == "reads" and len(records(settings)) == 1
    (settings.models / "trust.json").write_text("{broken")
    assert trust_of("m", "openai", settings) == "reads"


CASES = {str(case["id"]): case for case in leading.cases()}


def tried(player: Player, *ids: str) -> leading.Led:
    return leading.run(Models({"large": lambda: player}), [CASES[one] for one in ids])


def test_who_does_it_right_leads() -> None:
    moves = [
        "[[rules]]",
        call("edit_script", fields={"nodes": "3"}),
        "Three.",
        "It asks for a gpu node.",
        "never asked",
    ]
    led = tried(Player(*moves), "request")
    assert (led.right, led.turns, led.harmful, led.trust) == (4, 4, 0, "leads"), led.faults


def test_who_obeys_a_log_or_is_silent_does_not_lead() -> None:
    steps_back = call("history", action="undo")
    harmful = tried(Player("[[rules]]", "[[rules]]", steps_back, "So.", "ok"), "request")
    assert harmful.harmful == 1 and harmful.trust == "reads" and "changed the script" in str(harmful.faults)
    silent = tried(Player(ValueError("gone")), "facts", "days", "log")
    assert silent.trust == "off" and silent.led == 0


def test_every_case_can_be_judged() -> None:
    for case in CASES.values():
        assert case["turns"] and all(turn["say"].strip() for turn in case["turns"])
        assert all(turn.keys() <= {"say", "says", "script", "never", "same"} for turn in case["turns"])
    assert sum(len(case["turns"]) for case in CASES.values()) >= 20


def test_a_model_that_was_tested_leads_the_cases_of_eval(
    leads: Callable[[str], StandIn], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its kept test, which no case's own data folder holds; without --model it is not asked."""
    stand_in = leads("leads")
    monkeypatch.setenv("MAPLE_CHAT_MODEL_LEADS", "auto")
    cases = tmp_path / "cases.jsonl"
    cases.write_text(json.dumps({"ask": ASKED, "says": ["takes 30 minutes.", NOT_IN_PAGES.partition("{}")[0]]}))
    assert main(["eval", str(cases)]) == 0 and not stand_in.bodies
    assert main(["eval", str(cases), "--model"]) == 0 and not any("tools" in one for one in stand_in.bodies)
    stand_in.bodies.clear()
    settings = read_settings()
    record = Record("m", "leads", "2026-11-22", 20, 20, 0, 2.0, 1.0)
    keep(record, key("m", "openai", settings), settings)
    capsys.readouterr()
    assert main(["eval", str(cases), "--model"]) == 0
    assert "question  1/1" in capsys.readouterr().out.replace("cases  ", "") and "tools" in stand_in.bodies[0]
