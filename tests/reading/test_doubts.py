"""Where a message can be read in two ways, `extract` says so, the reading that is taken first."""

from __future__ import annotations

import json

import pytest

from assistant.cli import main
from graph.extraction.request import understand
from graph.reading.doubts import find_doubts


@pytest.mark.parametrize(
    ("text", "field", "readings"),
    [
        ("4 nodes, no wait, 6 nodes. frontier. ddp.", "nodes", (6, 4)),
        ("lumi... hmm, no, leonardo, 4 nodes, ddp", "machine", ("leonardo", "lumi")),
    ],
)
def test_a_rival_that_is_named_is_a_doubt(text: str, field: str, readings: tuple[str | int, ...]) -> None:
    doubts = {d.field: d.readings for d in find_doubts(text, understand(text, None, None, None))}
    assert doubts[field] == readings


@pytest.mark.parametrize(
    "text",
    ["FSDP on Perlmutter, 4 nodes", "DDP on Perlmutter, not FSDP, 2 nodes 4 GPUs", "what is a node?", "good morning"],
)
def test_a_plain_message_has_no_doubt(text: str) -> None:
    assert find_doubts(text, understand(text, None, None, None)) == ()


def test_extract_prints_act_topic_and_doubts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["extract", "--json", "how do I cancel my job?"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["act"], record["topic"], record["doubts"]) == ("ask", "job.cancel", [])
    main(["extract", "lumi... hmm, no, leonardo, 4 nodes, ddp"])
    assert "in doubt: machine (leonardo or lumi)" in capsys.readouterr().out
