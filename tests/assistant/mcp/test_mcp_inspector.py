"""The MCP server, driven by the Inspector's command line: a client in another language, which nobody here wrote.

It is installed once into pytest's cache (npm, with a node of its own: the Inspector needs a newer one than many have).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

pytest.importorskip("mcp")
pytestmark = pytest.mark.xdist_group("inspector")
PACKAGES = ("node@22", "@modelcontextprotocol/inspector@2.12.0")
TOKEN = "a-token-of-the-tests-0123456789"
SERVER = (sys.executable, "-c", "import sys; from assistant.cli import main; sys.exit(main())", "mcp")
SCRIPT = """#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=2
#SBATCH --gpus-per-node=2
#SBATCH --time=00:10:00
export MASTER_ADDR=localhost MASTER_PORT=29513 WORLD_SIZE=$SLURM_NTASKS
srun bash -c 'RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID python train.py'
"""
# Each tool, what is given to it, and what its answer must hold.
CALLS: dict[str, tuple[dict[str, str], str]] = {
    "list_clusters": ({}, "frontier"),
    "cluster_facts": ({"machine": "pm"}, "Perlmutter"),
    "compare_clusters": ({"machines": '["delta"]'}, "delta"),
    "write_script": (
        {"machine": "lumi", "framework": "pytorch", "strategy": "ddp", "nodes": "2", "account": "p1"},
        "#SBATCH --nodes=2",
    ),
    "check_script": ({"script": SCRIPT, "machine": "any"}, "findings"),
    "mend_script": ({"script": SCRIPT, "machine": "delta"}, "diff"),
    "port_script": ({"script": SCRIPT, "machine": "frontier", "account": "abc1"}, "#SBATCH"),
    "rehearse_script": ({"script": SCRIPT, "machine": "delta", "nodes": "1", "gpus_per_node": "2"}, "passed"),
    "diagnose_log": ({"log": "torch.OutOfMemoryError: CUDA out of memory."}, "gpu-oom"),
    "explain_pending": ({"output": "JOBID ST REASON\n7 PD AssocGrpGRES"}, "AssocGrpGRES"),
    "plan_resources": ({"model": "7B", "machines": '["perlmutter"]'}, "options"),
    "search_knowledge": ({"question": "NCCL timeout"}, "passages"),
}


@pytest.fixture(scope="module")
def inspector(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The command. Where npm is missing or the packages cannot be had: skips, but in CI it fails."""
    folder = Path(request.config.cache.mkdir("mcp-inspector-2.12.0"))
    node, program = (folder / "node_modules" / ".bin" / name for name in ("node", "mcp-inspector"))
    if not (node.exists() and program.exists()):
        npm = shutil.which("npm")
        if npm is None:
            cannot_be_had("npm is not here, and the Inspector comes by it")
        words = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *PACKAGES]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            cannot_be_had(f"the Inspector cannot be installed: {done.stderr.strip()[-200:]}")
    return (str(node), str(program), "--cli")


def cannot_be_had(why: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("inspector")
    return {**os.environ, "HOME": str(home), "MAPLE_CHAT_DATA": str(home / "data"), "MAPLE_CHAT_MCP_TOKEN": TOKEN}


@pytest.fixture(scope="module")
def address(environment: dict[str, str]) -> Iterator[str]:
    with subprocess.Popen([*SERVER, "--http", "0"], env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            yield server.stderr.readline().split()[-1]
        finally:
            server.terminate()


def asked(
    inspector: tuple[str, ...], environment: dict[str, str], *words: str
) -> tuple[int, dict[str, Any] | None, str]:
    """Exit status, the answer where there is one, and what was said on the way."""
    done = subprocess.run([*inspector, *words], env=environment, capture_output=True, text=True, timeout=120)
    return done.returncode, json.loads(done.stdout) if done.stdout.strip() else None, done.stderr


def over_http(address: str, token: str = TOKEN) -> tuple[str, ...]:
    return ("--server-url", address, "--transport", "http", "--header", f"Authorization: Bearer {token}")


def test_tools_pages_and_prompts_over_stdio(inspector: tuple[str, ...], environment: dict[str, str]) -> None:
    """--strict: its own check of the tools' schemas fails the call on what some client could not take."""
    status, listed, said = asked(inspector, environment, *SERVER, "--method", "tools/list", "--strict")
    assert status == 0 and listed, said
    assert {one["name"] for one in listed["tools"]} >= set(CALLS)
    assert all(one["annotations"]["readOnlyHint"] and one["outputSchema"] for one in listed["tools"])
    words = ("--method", "prompts/get", "--prompt-name", "why_did_my_job_fail", "--prompt-args", "log=/logs/1.out")
    status, prompt, said = asked(inspector, environment, *SERVER, *words)
    assert status == 0 and "/logs/1.out" in json.dumps(prompt), said


@pytest.mark.parametrize("tool", CALLS)
def test_each_tool_over_http(tool: str, inspector: tuple[str, ...], environment: dict[str, str], address: str) -> None:
    given, holds = CALLS[tool]
    pairs = [f"{name}={value}" for name, value in given.items()]
    words = ["--method", "tools/call", "--tool-name", tool, *(["--tool-arg", *pairs] if pairs else [])]
    status, answer, said = asked(inspector, environment, *over_http(address), *words)
    assert status == 0 and answer, said
    assert not answer.get("isError") and holds in json.dumps(answer["structuredContent"])


def test_what_is_refused_over_http(inspector: tuple[str, ...], environment: dict[str, str], address: str) -> None:
    status, _, said = asked(
        inspector, environment, *over_http(address, "wrong-token-wrong-token"), "--method", "tools/list"
    )
    assert status and "auth" in said
    words = ("--method", "tools/call", "--tool-name", "cluster_facts", "--tool-arg", "machine=perlmuter")
    status, answer, _ = asked(inspector, environment, *over_http(address), *words)
    assert status and answer and answer["isError"] and "perlmutter" in answer["content"][0]["text"]
    words = ("--method", "tools/call", "--tool-name", "diagnose_log", "--tool-arg", "file=/etc/passwd")
    status, answer, _ = asked(inspector, environment, *over_http(address), *words)
    assert status and answer and answer["isError"] and "root:" not in json.dumps(answer)


def test_a_page_over_http(inspector: tuple[str, ...], environment: dict[str, str], address: str) -> None:
    words = ("--method", "resources/read", "--uri", "maple://clusters/lumi")
    status, page, said = asked(inspector, environment, *over_http(address), *words)
    assert status == 0 and page and "LUMI" in page["contents"][0]["text"], said
