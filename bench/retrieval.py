"""How often the right passage is among the first three: by words alone, by meaning alone, and as the program does it.

    python bench/retrieval.py [DATA]

Over what is shipped (tests/knowledge/questions.yaml, outside.yaml) and, where DATA is a data folder into which the
documentation of docs/retrieval.md was read, over that too (docs_questions.yaml).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from knowledge.documents import FILE, Documents
from knowledge.finding import CollectionPart, Knowledge
from knowledge.judging import read
from knowledge.retrieval import RankedEntry, fuse
from knowledge.types import Passage

TESTS = Path(__file__).parent.parent / "tests" / "knowledge"
FIRST = 3
Ranking = Callable[[Sequence[RankedEntry]], list[int]]


def by_words(found: Sequence[RankedEntry]) -> list[int]:
    return [one.position for one in sorted(found, key=lambda one: -one.words) if one.words > 0]


def by_meaning(found: Sequence[RankedEntry]) -> list[int]:
    return [one.position for one in sorted(found, key=lambda one: -(one.cosine or 0.0))]


def fused(found: Sequence[RankedEntry]) -> list[int]:
    return [hit.position for hit in fuse([by_words(found)[:100], by_meaning(found)[:100]], FIRST)]


RANKINGS: dict[str, Ranking] = {
    "words alone (BM25)": by_words,
    "meaning alone (MiniLM)": by_meaning,
    "both, reciprocal ranks": fused,
}


def cases(name: str) -> list[dict[str, Any]]:
    loaded = yaml.safe_load((TESTS / name).read_text(encoding="utf-8"))
    return [{"ask": case} if isinstance(case, str) else case for case in loaded]


def hit(passages: Sequence[Passage], wanted: Sequence[str]) -> bool:
    return any(word.lower() in f"{p.title} {p.source}".lower() for p in passages for word in wanted)


def by_ranking(
    knowledge: Knowledge, case: dict[str, Any], ranking: Ranking, parts: Sequence[CollectionPart]
) -> list[Passage]:
    """The first three of one ranking alone, each collection's merged by its own score."""
    assert knowledge._known is not None
    asked = read(case["ask"], knowledge._known.having, len(knowledge._known.passages), case.get("of"))
    facts = {"machine": {"", case["of"]}} if case.get("of") else {}
    (part,) = parts
    found = part.index.candidates(asked.words, part.among(facts))
    return [part.passages[at] for at in ranking(found)[:FIRST]]


def table(
    title: str, knowledge: Knowledge, asked: Sequence[dict[str, Any]], part: CollectionPart, **filters: Any
) -> None:
    print(f"{title}: {len(asked)} questions, {len(part.passages)} passages")
    for name, ranking in RANKINGS.items():
        hits = [hit(by_ranking(knowledge, case, ranking, [part]), case["want"]) for case in asked]
        print(f"  {name:<28} {100 * sum(hits) / len(hits):5.1f} %")
    found = [knowledge.search(case["ask"], machine=case.get("of"), limit=FIRST, **filters) for case in asked]
    hits = [hit(one, case["want"]) for one, case in zip(found, asked, strict=True)]
    print(f"  {'as the program does it':<28} {100 * sum(hits) / len(hits):5.1f} %")
    for case, passages, good in zip(asked, found, hits, strict=True):
        if not good:
            print(f"    missed: {case['ask']}  ->  {[p.title for p in passages]}")


def silence(knowledge: Knowledge) -> None:
    outside = cases("outside.yaml")
    wrong = []
    for case in outside:
        found = knowledge.search(case["ask"], machine=case.get("of"))
        wrong += [(case["ask"], p.title) for p in found[:1] if case.get("of") or not p.machine]
    print(f"outside: {len(outside)} questions, {len(wrong)} answered")
    for ask, title in wrong:
        print(f"    answered: {ask}  ->  {title}")


def main() -> None:
    shipped = Knowledge()
    shipped.refresh()
    table("shipped", shipped, cases("questions.yaml"), shipped._held)
    silence(shipped)
    if len(sys.argv) > 1:
        data = Path(sys.argv[1])
        knowledge = Knowledge(Documents(data / FILE), folder=data / "index")
        knowledge.refresh()
        table("documentation", knowledge, cases("docs_questions.yaml"), knowledge._parts["docs"], kinds=("doc",))
        table("documentation among all", knowledge, cases("docs_questions.yaml"), knowledge._parts["docs"])
        silence(knowledge)


if __name__ == "__main__":
    main()
