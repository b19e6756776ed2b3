"""Fits the weights of graph/answering/recalling.json, and says how often what is recalled answers.

    python bench/fit_recalling.py [--check]

A line of tests/graph/answering/recalled.jsonl: {"before": [messages], "ask": the question that goes on from them,
"tells": words of every statement that answers it (empty: nothing does)}. Each conversation is had; the statements that
could be told for its last question are pairs of the fit. A question of one fold is ranked by weights of the others.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from assistant.session import Session
from assistant.settings import Settings
from graph.answering import recalling
from graph.answering.ask import Ask
from graph.context import Context
from graph.usecases import answer

CASES = Path(__file__).parent.parent / "tests" / "graph" / "answering" / "recalled.jsonl"
FOLDS = 8
STRENGTH = 1.0


def asked_in(case: dict[str, Any], data: Path) -> tuple[Ask, Context] | None:
    """The last question of a case with all that it may be answered from; None where no answer is looked for."""
    seen: list[tuple[Ask, Context]] = []
    found = answer.find_answer

    def watched(ask: Ask, context: Context) -> Any:
        seen.append((ask, context))
        return found(ask, context)

    session = Session(Settings(data=data), "default")
    for words in case["before"]:
        asyncio.run(said(session, words))
    answer.find_answer = watched  # type: ignore[assignment]
    try:
        asyncio.run(said(session, case["ask"]))
    finally:
        answer.find_answer = found
    return seen[-1] if seen else None


async def said(session: Session, words: str) -> None:
    async for _ in session.send(words):
        pass


def pairs(case: dict[str, Any]) -> list[tuple[dict[str, float], bool, str]]:
    """(features, whether it answers, text) of each statement that could be told."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "data" / "pasted").mkdir(parents=True)
        found = asked_in(case, Path(folder) / "data")
    if found is None:
        return []
    ask, context = answer.as_planned(answer.as_question(found[0])), found[1]
    one = list(dict.fromkeys([*recalling.candidates(ask), *recalling.pages(ask, context)]))
    rows = recalling.pair_features(ask, one)
    tells = case["tells"].lower()
    return [(row, bool(tells) and tells in c.text.lower(), c.text) for row, c in zip(rows, one, strict=True)]


def main() -> None:
    """Fit, say how right it is, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    found = [pairs(case) for case in cases]
    vector = DictVectorizer(sparse=False)
    vector.fit([row for one in found for row, _, _ in one])
    told = right = wrong = 0
    for at, (case, rows) in enumerate(zip(cases, found, strict=True)):
        if not rows or (case["tells"] and not any(answers for _, answers, _ in rows)):
            print("nothing to find:", case["ask"], len(rows))
            continue
        others = [pair for n, one in enumerate(found) if n % FOLDS != at % FOLDS for pair in one]
        model = fitted(vector, others)
        sure = model.predict_proba(vector.transform([row for row, _, _ in rows]))[:, 1]
        best = int(np.argmax(sure))
        told += sure[best] >= recalling.LIKELY
        right += bool(sure[best] >= recalling.LIKELY and rows[best][1])
        wrong += bool(sure[best] >= recalling.LIKELY and not rows[best][1])
        sign = "+" if rows[best][1] else "-"
        print(f"{sure[best]:.2f} {sign} {case['ask'][:50]} | {case['tells'][:20]} | {rows[best][2][:80]}")
    print(f"{told} told of {len(cases)}: {right} right, {wrong} wrong")
    model = fitted(vector, [pair for one in found for pair in one])
    weights = {name: round(float(w), 4) for name, w in zip(vector.feature_names_, model.coef_[0], strict=True)}
    print(json.dumps(weights))
    if not options.check:
        recalling.WEIGHTS.write_text(json.dumps(weights, indent=0) + "\n", encoding="utf-8")


def fitted(vector: DictVectorizer, rows: list[tuple[dict[str, float], bool, str]]) -> LogisticRegression:
    seen, right = vector.transform([row for row, _, _ in rows]), [answers for _, answers, _ in rows]
    return LogisticRegression(C=STRENGTH, max_iter=3000, fit_intercept=False).fit(seen, right)


if __name__ == "__main__":
    main()
