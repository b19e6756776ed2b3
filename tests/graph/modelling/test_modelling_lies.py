"""A model that lies as well as its schema allows lowers nothing, over our own requests and messages."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scripted_model import Scripted

from graph.debugging.diagnosis import diagnose
from graph.debugging.log import from_text
from graph.extraction.request import understand
from graph.modelling.asking import Models
from graph.modelling.diagnosing import help_with
from graph.modelling.extracting import fill
from graph.modelling.model import Completion, ModelMessage, Schema
from knowledge.catalogue import catalogue

TESTS = Path(__file__).parent.parent
FIELDS = ("machine", "framework", "strategy", "nodes", "gpus_per_node", "total_gpus")
STEPS = "".join(f"[rank0]: step {n} loss {9 / (n + 1):.3f} lr 1e-4\n" for n in range(9))


class Liar(Scripted):
    """Chooses any value but null or unknown, by chance; what was asked is counted."""

    def complete(self, messages: Sequence[ModelMessage], *, schema: Schema | None = None, **rest: Any) -> Completion:
        assert schema is not None
        dice = random.Random(hashlib.sha256(messages[-1].text.encode()).digest())
        chosen = {
            name: dice.choice([value for value in of["enum"] if value not in (None, "unknown")])
            for name, of in schema["properties"].items()
        }
        if "total_gpus" in chosen and "gpus_per_node" in chosen:
            chosen[dice.choice(["total_gpus", "gpus_per_node"])] = None
        self.answers = [json.dumps(chosen)]
        return super().complete(messages, schema=schema, **rest)


def wrong(case: dict[str, Any], request: Any) -> set[str]:
    alt = case.get("alt", {})
    return {f for f in FIELDS if getattr(request, f) not in (case["fields"].get(f), *alt.get(f, []))}


def test_no_request_is_read_worse() -> None:
    liar = Liar("")
    models = Models({"small": lambda: liar})
    worse = []
    for line in (TESTS / "extraction/requests.jsonl").read_text(encoding="utf-8").splitlines()[::2]:
        case = json.loads(line)
        read = understand(case["text"], None, None, None)
        if read.intent in ("generate", "port"):
            request = fill(case["text"], read.request, catalogue(), models).request
            if not wrong(case, request) <= wrong(case, read.request):
                worse.append(case["text"])
    assert worse == []


def test_no_message_is_diagnosed_worse() -> None:
    liar = Liar("")
    models = Models({"large": lambda: liar})
    worse = []
    known = [line.split(" | ", 1) for line in (TESTS / "debugging/messages.txt").read_text().splitlines()]
    harmless = [["no-failure", line] for line in (TESTS / "debugging/harmless.txt").read_text().splitlines()]
    for case in [*known[::4], *harmless]:
        if len(case) == 2 and case[1] and not case[0].startswith("#"):
            found = diagnose(f"{STEPS}{case[1]}\n")
            if help_with(found, [from_text(f"{STEPS}{case[1]}\n")], models).diagnosis.cause != found.cause:
                worse.append(case)
    assert worse == []


def test_the_liar_is_asked_and_lies() -> None:
    """Where nobody can know better, it is believed: so the tests above can fail."""
    liar = Liar("")
    text = "shard the model weights, please"
    filled = fill(text, understand(text, None, None, None).request, catalogue(), Models({"small": lambda: liar}))
    assert len(liar.asked) == 1 and filled.chosen
