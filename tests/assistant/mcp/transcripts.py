"""Replays what an agent called: transcripts.jsonl beside this.

A line: what the person asked, the calls with their inputs, and what the script must start. In an input
{"answer": 0, "field": "script"} stands for that field of the first call's answer, {"file": PATH} for a file's text.
The cases are those of Maple's paper: 9 clusters x 4 ways of training, and 5 programs moved to 9 clusters. Where a moved
program keeps its number of ranks and leaves GPUs of a node idle, the rehearsal is told how many are meant.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mcp.client.client import Client

FILE = Path(__file__).with_suffix(".jsonl")
TOP = Path(__file__).parents[3]


def transcripts() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def filled(value: Any, answers: list[Any]) -> Any:
    """An input with what stands for something else put in."""
    if isinstance(value, dict) and set(value) == {"answer", "field"}:
        return answers[value["answer"]][value["field"]]
    if isinstance(value, dict) and set(value) == {"file"}:
        return (TOP / value["file"]).read_text(encoding="utf-8")
    return value


async def replay(client: Client, transcript: dict[str, Any], *, rehearsed: bool) -> list[Any]:
    """The answers of its calls; without the rehearsal unless it is wanted. Raises AssertionError on a refusal."""
    answers: list[Any] = []
    for call in transcript["calls"]:
        if call["tool"] == "rehearse_script" and not rehearsed:
            continue
        given = {name: filled(value, answers) for name, value in call["arguments"].items()}
        result = await client.call_tool(call["tool"], given)
        assert not result.is_error, (transcript["id"], call["tool"], result.content)
        answers.append(result.structured_content)
    return answers
