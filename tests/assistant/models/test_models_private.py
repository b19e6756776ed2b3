"""A whole conversation with a server that records what it gets: nothing private, in no message, head or address."""

from __future__ import annotations

import ast
import asyncio
import getpass
import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from stand_in import StandIn

from assistant.cli import main
from assistant.session import Session
from assistant.settings import read_settings
from knowledge.types import Attachment

ROOT = Path(__file__).parents[3]
PRIVATE = {
    "user": "mvarga",
    "other user": "okonkwo7",
    "person": "Mara Varga",
    "address": "10.140.57.28",
    "long address": "2001:db8:85a3::8a2e:370:7334",
    "mail": "mara.v@some-uni.edu",
    "token": "hf_QwErTyUiOpAsDfGh1234",
    "server key": "sk-proj-QwErTyUiOpAsDfGh1234",
    "tracking key": "0123456789abcdef0123456789abcdef01234567",
    "claim": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123456",
    "cookie": "sid0123456789abcdef",
    "model": "mvarga/hidden-7b",
    "password": "hunter2hunter2",
}
REQUEST = """\
PyTorch on the exascale machine at Argonne, a quartet of boxes, shard everything. Charge it to labx9999,
my username is mvarga, data in /lus/flare/projects/labx9999/mvarga/secret-llm-run, mail mara.v@some-uni.edu.
My name is Mara Varga
"""
LOG = """\
[mvarga@x3005c0s7b0n0 ~]$ export HF_TOKEN=hf_QwErTyUiOpAsDfGh1234 OPENAI_API_KEY=sk-proj-QwErTyUiOpAsDfGh1234
+ srun --account=phy230017p python train.py
SLURMD_NODENAME=nid004217
wandb: Currently logged in as: mvarga (biolab-x). Appending key 0123456789abcdef0123456789abcdef01234567
drwxr-x--- 2 okonkwo7 labx9999 4096 Jan 1 10:00 /pscratch/sd/m/mvarga/secret-llm-run
failed: client 10.140.57.28 and [2001:db8:85a3::8a2e:370:7334]:29500 by b8:3f:d2:aa:bb:0c, error on nid004218
https://huggingface.co/mvarga/hidden-7b/resolve/main/a.json with eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123456
Cookie: session=sid0123456789abcdef; failed for GPU-5a1b2c3d-aaaa-bbbb-cccc-1234567890ab of okonkwo7
fatal: no block came back from the allocator in postgresql://app:hunter2hunter2@db/x
Author: Mara Varga <mara.v@some-uni.edu> stopped, error
"""
DOCUMENT = """\
# Wobbler partition

The wobbler partition of nid004217 runs preemptible jobs for at most 37 minutes. Ask mara.v@some-uni.edu, who keeps
/home/mvarga/secret-llm-run, or use `--account=phy230017p` with the wobbler partition.
"""


def converse(tmp_path: Path, *texts: str) -> None:
    log = tmp_path / "job.log"
    log.write_text(LOG)

    async def say() -> None:
        session = Session(read_settings(), f"t{len(texts)}")
        for text in texts:
            attached = (Attachment("job.log", str(log), LOG.count("\n")),) if text.startswith("Why did") else ()
            async for _ in session.send(text, attached):
                pass

    asyncio.run(say())


def test_nothing_private_reaches_a_server(
    serve: Callable[[str], tuple[StandIn, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in, address = serve("right")
    values = {"MAPLE_CHAT_DATA": str(tmp_path / "data"), "MAPLE_CHAT_MODEL_SMALL": "m", "OPENAI_BASE_URL": address}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "wobbler.md").write_text(DOCUMENT)
    assert main(["knowledge", "add", str(tmp_path / "wobbler.md")]) == 0
    question = "How long may a preemptible job of mvarga run in the wobbler partition of nid004217?"
    converse(tmp_path, REQUEST, "Why did my job fail?")
    converse(tmp_path, question)

    asked = [body["messages"][0]["content"][:40] for body in stand_in.bodies]
    assert len(set(asked)) == 3, "a request, a log and a question have to reach the server"
    everything = json.dumps(stand_in.bodies) + json.dumps(stand_in.heads)
    assert "back from the allocator" in everything and "37 minutes" in everything and "quartet of boxes" in everything
    private = {**PRIVATE, "me": getpass.getuser(), "here": socket.gethostname()}
    leaked = {name: value for name, value in private.items() if value in everything and value != "root"}
    assert leaked == {}


def test_one_place_alone_asks_models() -> None:
    """Every question goes through Models.ask, which masks: nobody else calls a model or a vendor's interface."""
    callers = set()
    for path in (p for part in ("assistant", "graph", "knowledge", "templates") for p in (ROOT / part).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "complet" in text else ():
            if isinstance(node, ast.Call) and {word.arg for word in node.keywords} & {"max_tokens", "prompt", "model"}:
                called = ast.unparse(node.func)
                if called.endswith((".complete", ".create", "create_completion", "create_chat_completion")):
                    callers.add(str(path.relative_to(ROOT)))
    assert callers == {"graph/modelling/asking.py", "assistant/models/openai_server.py"}
