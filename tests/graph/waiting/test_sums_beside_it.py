"""What can be worked out of the paste and the words is worked out: budgets, room, hours, holders, owners."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from graph.usecases.explain_pending import explain_pending
from knowledge.document import Paragraph, Steps

ROWS = Path(__file__).parents[3] / "bench/accuracy/development/pending.jsonl"
HEAD = "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"


def rows() -> list[dict[str, Any]]:
    told = (json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines())
    return [row for row in told if row["id"].startswith(("sum", "told", "own"))]


def whole(text: str) -> str:
    told = explain_pending(text)
    return " ".join([*told.says, *(f"{step.text} {step.command}" for step in (*told.change, *told.look))])


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["id"])
def test_what_can_be_worked_out_is_said(row: dict[str, Any]) -> None:
    told, answer = whole(row["text"]).lower(), explain_pending(row["text"])
    assert (answer.kind, answer.starts) == (row["class"], row.get("starts_by_itself"))
    assert [word for word in row["says"] if word.lower() not in told] == []


@pytest.mark.parametrize(
    ("text", "never"),
    [
        # Another's hold is not the person's to release, whoever holds it and whichever job waits for it.
        (
            f"[judy@login1 ~]$ squeue\n{HEAD} 44120 gpu big hank PD 0:00 8 (JobHeldUser)\ncan I release 44120?\n",
            "scontrol release",
        ),
        # What is left of a run's time is no budget.
        (HEAD + " 7 gpu a ana PD 0:00 2 (AssocGrpGRESMinutes)\nmy other run has 3 hours left\n", "GPU hours"),
        # A maintenance after its end keeps nothing from it.
        (
            HEAD + " 7 gpu a ana PD 0:00 2 (Resources)\nnow 10:00, maintenance tomorrow 8:00, I asked for 4 h\n",
            "maintenance begins",
        ),
    ],
)
def test_what_does_not_follow_is_not_said(text: str, never: str) -> None:
    assert never not in whole(text)


# Words that no answer in another language holds, outside of what the scheduler itself prints.
ENGLISH = re.compile(r"\b(?:the|it|is|asks|of|by|that|your|jobs of|leave|other)\b", re.IGNORECASE)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Warum wartet mein Job? ich habe 4 h verlangt, die Wartung beginnt morgen 8:00, jetzt ist es 6:00\n"
            f"{HEAD} 7 gpu a ana PD 0:00 2 (ReqNodeNotAvail, Reserved for maintenance)\n",
            ["bis dahin 26 h", "verlangt 4 h"],
        ),
        (
            f"pourquoi ? chaque nœud a 4 GPU, il reste 100 heures GPU, j'ai demandé 48 h\n{HEAD}"
            " 7 gpu a ana PD 0:00 1 (AssocGrpGRESMinutes)\n",
            ["demandé 192", "reste 100", "manque 92", "durée plus courte"],
        ),
        (
            f"¿por qué no arranca mi trabajo?\n{HEAD} 9 gpu b ana PD 0:00 1 (Dependency)\n 8 gpu a ana R 1:00 1 g1\n"
            "   JobId=9 JobState=PENDING Reason=Dependency Dependency=afterok:8(unfulfilled)\n",
            ["espera a: 8 (R)"],
        ),
        (f"作业坏了吗?\n{HEAD} 7 gpu a ana PD 0:00 2 (Resources)\n", ["没有故障。", "排队"]),
    ],
)
def test_an_answer_is_in_the_language_of_the_question(text: str, said: list[str]) -> None:
    parts = explain_pending(text).document.parts
    words = [part.text for part in parts if isinstance(part, Paragraph)]
    words += [step.text for part in parts if isinstance(part, Steps) for step in part.items]
    told = " ".join(words)
    assert [one for one in said if one.lower() not in told.lower()] == []
    assert not ENGLISH.search(re.sub(r"`[^`]*`", "", told)), told
