"""Finding over real public documentation, where a folder has it: docs/retrieval.md tells how to make it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from knowledge.documents import FILE, Documents
from knowledge.finding import Knowledge

QUESTIONS = yaml.safe_load((Path(__file__).parent / "docs_questions.yaml").read_text(encoding="utf-8"))
DATA = os.environ.get("MAPLE_CHAT_TEST_DOCS", "")


@pytest.mark.skipif(not DATA, reason="MAPLE_CHAT_TEST_DOCS names no data folder with documentation")
def test_hit_in_the_first_three_over_real_documentation() -> None:
    knowledge = Knowledge(Documents(Path(DATA) / FILE), folder=Path(DATA) / "index")
    missed = [
        case["ask"]
        for case in QUESTIONS
        if not any(
            word.lower() in passage.source.lower()
            for passage in knowledge.search(case["ask"], limit=3)
            for word in case["want"]
        )
    ]
    assert len(QUESTIONS) >= 60
    assert len(missed) <= 0.08 * len(QUESTIONS), missed
