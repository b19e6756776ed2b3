"""Serving with keys and values kept in main memory: read from words, written, checked; left alone elsewhere."""

from __future__ import annotations

import json
import shlex

import pytest

from graph.extraction.request import understand
from graph.planning.plan import plan
from graph.verification.checks import check
from knowledge.catalogue import catalogue
from knowledge.types import LaunchPlan
from templates.render import render

SERVE = "serve mistralai/Mistral-7B-v0.3 with vLLM on {}, 1 node, account m1, {}"


def script(machine: str, wish: str) -> str:
    decided = plan(understand(SERVE.format(machine, wish), None, None, None).request, catalogue().clusters[machine])
    assert isinstance(decided, LaunchPlan), decided
    return render(decided).script


@pytest.mark.parametrize("wish", ["keep the KV cache with LMCache", "reuse the kv cache", "use lmcache"])
@pytest.mark.parametrize(("machine", "gb"), [("perlmutter", 32), ("leonardo", 64)])
def test_the_server_gets_the_connector_and_its_memory(wish: str, machine: str, gb: int) -> None:
    text = script(machine, wish)
    words = shlex.split(text, comments=True)
    config = json.loads(words[words.index("--kv-transfer-config") + 1])
    assert config == {"kv_connector": "LMCacheConnectorV1", "kv_role": "kv_both"}
    assert f"export LMCACHE_MAX_LOCAL_CPU_SIZE={gb}" in text and "LMCACHE_CONFIG_FILE" not in text
    assert not [one for one in check(text, catalogue().clusters[machine]) if one.severity == "error"]


def test_without_a_server_nothing_is_written() -> None:
    asked = understand("train.py with ddp on perlmutter, 1 node, account m1, use lmcache", None, None, None).request
    assert not asked.variables and not asked.argument_edits


def test_settings_that_cannot_be_read_are_found() -> None:
    text = script("perlmutter", "use lmcache")
    broken = text.replace(
        '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}', "{kv_connector:LMCacheConnectorV1}"
    )
    twice = text.replace("export LMCACHE_CHUNK_SIZE", "export LMCACHE_CONFIG_FILE=l.yaml\nexport LMCACHE_CHUNK_SIZE")
    assert broken != text and twice != text
    for one in (broken, twice):
        assert "serve-kv-settings" in {finding.rule for finding in check(one, catalogue().clusters["perlmutter"])}
