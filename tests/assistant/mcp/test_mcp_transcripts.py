"""An agent with these tools alone writes the paper's 36 and 45 scripts: its calls, replayed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

pytest.importorskip("mcp")
from mcp.client.client import Client

from assistant.commands.extract import script_answer
from assistant.mcp.server import make_server
from tests.assistant.mcp.transcripts import replay, transcripts

ALL = {one["id"]: one for one in transcripts()}
# Two that are quick: `python bench/agent_scripts.py` rehearses all.
REHEARSED = ("36-vista-zero3", "45-polaris-resnet-18")


def test_the_cases_are_the_papers() -> None:
    assert Counter(name.split("-")[0] for name in ALL) == {"36": 36, "45": 45}
    assert all(one["asked"] and len(one["calls"]) == 3 for one in ALL.values())


@pytest.mark.parametrize("part", ["36", "45"])
async def test_each_script_is_written_as_asked_and_has_no_error(part: str) -> None:
    async with Client(make_server([])) as client:
        for name, one in ALL.items():
            if name.startswith(part):
                made, checked = await replay(client, one, rehearsed=False)
                assert made["written"] and not made["missing"] and made["submit"], name
                assert checked["errors"] == 0, (name, checked["findings"])
                read: dict[str, Any] = script_answer(made["script"])["fields"]
                assert {field: read[field] for field in one["script"]} == one["script"], name


@pytest.mark.parametrize("name", REHEARSED)
async def test_a_sample_is_rehearsed(name: str) -> None:
    pytest.importorskip("torch")
    async with Client(make_server([])) as client:
        *_, outcome = await replay(client, ALL[name], rehearsed=True)
    assert outcome["passed"], outcome["report"]
