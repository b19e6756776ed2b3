"""What a model that leads a conversation is told, the same in every turn: the fixed beginning of each prompt."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graph.modelling.model import Schema, Tool

INSTRUCTIONS = Path(__file__).with_name("instructions.md").read_text(encoding="utf-8").strip()
STEPS = """\

One step at a time, each as one JSON object: {"tool": NAME, "arguments": {...}} to call a tool, or {"tool": "answer", \
"say": "..."} for the answer in Markdown. The tools:
"""
ANSWER = "answer"


def fixed_part(tools: Sequence[Tool], *, as_json: bool) -> str:
    """The instructions; with the tools in them for a model that takes none by itself."""
    if not as_json:
        return INSTRUCTIONS
    return INSTRUCTIONS + STEPS + "\n".join(f"- {one.name}({arguments(one.parameters)}): {one.says}" for one in tools)


def arguments(schema: Schema) -> str:
    """A tool's arguments in short: `machine, about?: nodes|queues`."""
    required = schema.get("required", ())
    return ", ".join(
        f"{name}{'' if name in required else '?'}{kind(one)}" for name, one in schema["properties"].items()
    )


def kind(schema: dict[str, Any]) -> str:
    if schema["type"] == "array":
        inner = schema["items"]
        return (
            f": [{'|'.join(inner['enum'])}]"
            if "enum" in inner
            else ": list"
            if inner["type"] != "object"
            else ": [{old, new}]"
        )
    if "enum" in schema:
        return f": {'|'.join(map(str, schema['enum']))}"
    return {"string": "", "object": ": {}"}.get(schema["type"], f": {schema['type']}")


def step_schema(tools: Sequence[Tool]) -> Schema:
    """One step: a call of one of the tools, or the answer."""
    calls = [
        {
            "type": "object",
            "properties": {
                "tool": {"type": "string", "enum": [one.name]},
                "arguments": {**one.parameters, "additionalProperties": False},
            },
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }
        for one in tools
    ]
    says = {"tool": {"type": "string", "enum": [ANSWER]}, "say": {"type": "string"}}
    answer = {"type": "object", "properties": says, "required": ["tool", "say"], "additionalProperties": False}
    return {"anyOf": [answer, *calls]}


def size(tools: Sequence[Tool]) -> str:
    """The instructions and tools as one text, to be counted."""
    shown = [{"name": one.name, "description": one.says, "parameters": one.parameters} for one in tools]
    return INSTRUCTIONS + json.dumps(shown, separators=(",", ":"))
