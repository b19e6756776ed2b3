"""A model behind an address, and all that a server may do wrong: the rules' answer comes, with one line."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
import tiny_model
from stand_in import StandIn

from assistant.models.openai_server import load
from assistant.models.table import open_models
from assistant.running import lent
from assistant.settings import Settings
from graph.build import build
from graph.context import Context
from graph.conversing import loop
from graph.modelling.asking import Models
from graph.modelling.extracting import fill
from graph.modelling.model import ModelError, ModelMessage
from graph.state import new_turn
from knowledge.catalogue import catalogue
from knowledge.types import JobRequest

TEXT = "a quartet of boxes, user=mvarga"
Serve = Callable[[str], tuple[StandIn, str]]
At = Callable[..., Settings]


def opened(settings: Settings) -> Models:
    found = open_models(settings)
    assert found is not None
    return found


def test_a_server_answers(serve: Serve, at: At) -> None:
    stand_in, address = serve("right")
    models = opened(at(openai_base_url=address, openai_api_key="k"))
    assert fill(TEXT, JobRequest(), catalogue(), models).request.nodes == 4
    body = stand_in.bodies[0]
    assert body["response_format"]["json_schema"]["schema"]["properties"]["nodes"]["enum"] == [None, 4]
    assert "mvarga" not in str(body["messages"]) and body["temperature"] == 0


def test_a_server_that_knows_no_schema_is_asked_in_plain_words(serve: Serve, at: At) -> None:
    stand_in, address = serve("refuse_schema")
    models = opened(at(openai_base_url=address))
    assert fill(TEXT, JobRequest(), catalogue(), models).request.nodes == 4
    tried = len(stand_in.bodies)
    assert fill(TEXT, JobRequest(), catalogue(), models).request.nodes == 4
    assert len(stand_in.bodies) == tried + 1


def test_a_server_that_takes_only_the_newest_names(serve: Serve, at: At) -> None:
    stand_in, address = serve("modern")
    assert fill(TEXT, JobRequest(), catalogue(), opened(at(openai_base_url=address))).request.nodes == 4
    assert "max_completion_tokens" in stand_in.bodies[-1] and "response_format" in stand_in.bodies[-1]


@pytest.mark.parametrize(
    "fault", ["hang", "drip", "endless", "garbage", "page", "error", "limit", "drop", "empty", "broken"]
)
def test_a_fault_is_one_line(serve: Serve, at: At, fault: str) -> None:
    _, address = serve(fault)
    models = opened(at(openai_base_url=address, model_timeout_s=1.0))
    started = time.monotonic()
    filled = fill(TEXT, JobRequest(), catalogue(), models)
    assert filled.request == JobRequest() and "rules alone" in filled.trouble and "\n" not in filled.trouble
    assert time.monotonic() - started < 30


def test_a_dead_server_costs_one_turn_only(at: At) -> None:
    models = opened(at(openai_base_url="http://127.0.0.1:9/v1"))
    assert "does not answer" in fill(TEXT, JobRequest(), catalogue(), models).trouble
    assert fill(TEXT, JobRequest(), catalogue(), models).trouble == ""
    assert len(models.uses) == 1


def test_an_address_alone_sends_nothing_anywhere(at: At) -> None:
    assert open_models(at(model_small="", openai_base_url="http://127.0.0.1:9/v1")) is None


def test_an_answer_in_words_does_not_prove_the_way_to_json(serve: Serve, at: At) -> None:
    _, address = serve("refuse_schema")
    models = opened(at(openai_base_url=address))
    assert models.ask("answer", "large", (ModelMessage("user", "hello"),)).text
    assert fill(TEXT, JobRequest(), catalogue(), models).request.nodes == 4


def test_a_server_that_was_broken_is_asked_as_before_once_it_works(serve: Serve, at: At) -> None:
    stand_in, address = serve("error")
    model = load("m", at(openai_base_url=address))
    asked = {"messages": (ModelMessage("user", "hello"),), "schema": {"type": "object", "properties": {}}}
    with pytest.raises(ModelError):
        model.complete(**asked)  # type: ignore[arg-type]
    stand_in.behaviour = "right"
    model.complete(**asked)  # type: ignore[arg-type]
    assert stand_in.bodies[-1]["response_format"]["type"] == "json_schema" and "max_tokens" in stand_in.bodies[-1]


def test_no_address_is_one_line(at: At) -> None:
    assert "OPENAI_BASE_URL" in fill(TEXT, JobRequest(), catalogue(), opened(at())).trouble


def test_llama_cpp_as_a_server(tiny: Path, at: At, tmp_path: Path) -> None:
    """The real server of llama-cpp-python, asked by the real client: the schema becomes a grammar there."""
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed (extra llm)")
    pytest.importorskip("starlette_context", reason="llama-cpp-python's server is not installed")
    port = free_port()
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(tiny), "--port", str(port), "--n_ctx", "4096"]
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen([*command, "--n_threads", "1"], stdout=log, stderr=log)
    try:
        wait_for(f"http://127.0.0.1:{port}/v1/models", server)
        models = opened(at(openai_base_url=f"http://127.0.0.1:{port}/v1", model_context=4096))
        filled = fill(TEXT, JobRequest(), catalogue(), models)
        assert not filled.trouble and filled.request.nodes in (None, 4)
        assert models.uses[0].went_well and models.uses[0].tokens_out > 0
    finally:
        end(server)


def test_a_turn_is_led_by_tool_calls_at_llama_cpps_server(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real server with made weights: the tools are taken, and whatever comes ends in an answer."""
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed (extra llm)")
    pytest.importorskip("starlette_context", reason="llama-cpp-python's server is not installed")
    monkeypatch.setattr(loop, "ANSWER_TOKENS", 60)
    monkeypatch.setattr(loop, "LONG_ANSWER_TOKENS", 60)
    port, path = free_port(), tiny_model.make(tmp_path / "long.gguf", context=16_384)
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(path), "--port", str(port), "--n_ctx", "16384"]
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen([*command, "--n_threads", "1"], stdout=log, stderr=log)
    try:
        wait_for(f"http://127.0.0.1:{port}/v1/models", server)
        models = opened(at(openai_base_url=f"http://127.0.0.1:{port}/v1", model_leads="always"))
        context = Context(model=models, lent=lent)
        state = build().invoke(new_turn(1, "ddp on delta, 2 nodes, train.py"), context=context)  # type: ignore[call-overload]
        assert models.uses and models.prompts[0].tools and state["said"]
        assert models.loaded["large"].takes_tools and models.uses[0].tokens_out > 0
    finally:
        end(server)


def end(server: subprocess.Popen[bytes]) -> None:
    """Ends the server, also one that still words an answer which nobody waits for any more."""
    server.terminate()
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def free_port() -> int:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    """Until it answers; fails after a minute or when the server has ended."""
    for _ in range(240):
        assert server.poll() is None, "the server ended"
        try:
            urllib.request.urlopen(address, timeout=2).close()
            return
        except OSError:
            time.sleep(0.25)
    raise AssertionError("the server did not start")
