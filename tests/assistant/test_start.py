"""What a light command may not load: each in its own process, over what stands in sys.modules at its end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "langgraph", "langchain_core", "langsmith", "chromadb", "onnxruntime", "numpy", "scipy", "bm25s", "textual",
    "torch", "pydantic", "httpx", "ssl", "sqlite3", "asyncio",
}  # fmt: skip
# What a question about a machine does without: other packages, and what writes, checks and carries over a script.
BEYOND_A_FACT = {
    "numpy", "jinja2", "yaml", "bm25s", "chromadb", "graph.nodes.write", "graph.nodes.converse",
    "graph.usecases.write_script", "graph.usecases.mend_script", "graph.porting.port", "graph.verification.checks.run",
    "graph.debugging.diagnosis", "templates.render",
}  # fmt: skip
CODE = """
import sys
from assistant.cli import main
main(sys.argv[1:])
print("loaded:", *sorted(sys.modules))
"""
LOG = "RuntimeError: CUDA out of memory. Tried to allocate 20 GiB\n"
SCRIPT = "#!/bin/bash\n#SBATCH -A m1 -C gpu -q regular -N 2 --gpus-per-node=4 -t 01:00:00\nsrun python train.py\n"
WAITING = "JobId=12 JobName=x\n   UserId=me(1) JobState=PENDING Reason=Priority Partition=gpu\n   NumNodes=2\n"
COMMANDS = {
    "why": (LOG, ["why", "FILE"]),
    "check": (SCRIPT, ["check", "FILE", "--machine", "perlmutter"]),
    "pending": (WAITING, ["pending", "FILE"]),
    "clusters": ("", ["clusters", "perlmutter"]),
    "script": ("", ["script", "--machine", "frontier", "--strategy", "fsdp", "--nodes", "2", "--account", "abc123"]),
}


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A cache that is filled by the first command: only reading data files for the first time needs pydantic."""
    return {**os.environ, "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_light_command_loads_nothing_heavy(name: str, tmp_path: Path, surroundings: dict[str, str]) -> None:
    text, words = COMMANDS[name]
    file = tmp_path / "input.txt"
    file.write_text(text)
    command = [sys.executable, "-c", CODE, *(str(file) if word == "FILE" else word for word in words)]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, env=surroundings)
    assert done.stdout.splitlines()[-1].startswith("loaded:"), done.stderr
    assert not HEAVY & {module.partition(".")[0] for module in done.stdout.splitlines()[-1].split()}


def test_a_question_about_a_machine_loads_what_answers_it(tmp_path: Path, surroundings: dict[str, str]) -> None:
    question = ["ask", "--new", "How many GPUs has a node of Perlmutter?"]
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", CODE, *question],
            capture_output=True,
            text=True,
            env={**surroundings, "XDG_DATA_HOME": str(tmp_path)},
        )
    assert "4 NVIDIA A100" in done.stdout, done.stderr
    assert not BEYOND_A_FACT & set(done.stdout.splitlines()[-1].split())
