"""A question that no topic answers, held against what was said before it and what stands behind that.

The statements of the last answers, the lines of the script in hand, what is known of the limit, the failure or the step
that was spoken of, and common questions. The likeliest is told, if a fitted model finds it likely enough.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from graph.answering.ask import Ask
from graph.answering.grounds import search
from graph.answering.in_hand import in_hand
from graph.answering.logistic import chance
from graph.answering.situation import cite, write_document
from graph.context import Context
from graph.extraction.sentences.lexicon import fold
from graph.reading.coverage import SMALL
from graph.reading.defining import find_terms
from graph.reading.mentions import find_mentions
from knowledge.background import background_of
from knowledge.document import Document
from knowledge.embedding import embedder
from knowledge.errors import UnavailableError
from knowledge.glossary import difference, glossary
from knowledge.techniques import find_techniques, plainly_named, technique_table
from knowledge.types import ToldStatement
from knowledge.wording import ADDRESS, FILLER, rarity, stem

WEIGHTS = Path(__file__).parent / "recalling.json"
LIKELY = 0.3  # from this probability on a statement is told: two of three are right then
BESIDE = 0.8  # of the best one's probability, for a second of the same subject
MOST_TOLD, MOST_PAGES = 2, 3
RECENT = 14  # statements that the last answer may have
WORD = re.compile(r"[^\W_][\w+.-]*[^\W_]|[^\W_]")
TELLS_OF = "On **{}**, from {}: "
WHERE = {
    "said": "what was said",
    "line": "the script",
    "behind": "what stands behind it",
    "around": "what is known of it",
    "page": "common questions",
    "term": "the glossary",
}


@dataclass(frozen=True, slots=True)
class Recallable:
    """A statement that may answer. kind: a key of WHERE; age: how many statements ago it was said; score: a page's;
    of: the topic that it belongs to (empty: none, or not known)."""

    told: ToldStatement
    kind: str
    age: int = 0
    score: float = 0.0
    of: str = ""

    @property
    def text(self) -> str:
        return f"{self.told.about}: {self.told.text}" if self.told.about else self.told.text


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is told, how probable it is that it answers, 0 to 1, and of which kind it is (a key of WHERE)."""

    document: Document
    sure: float
    kind: str


def recall(ask: Ask, context: Context) -> Recalled | None:
    """The statement that answers, with what it is about and its page; None: none is likely enough."""
    found = ranked(ask, [*candidates(ask), *pages(ask, context)]) if concepts(ask.text) else []
    if not found or found[0][0] < LIKELY:
        return None
    best, first = found[0]
    more = [
        one
        for sure, one in found[1:]
        if sure >= BESIDE * best and one.told.about == first.told.about and one.kind == first.kind
    ]
    told = [first, *more[: MOST_TOLD - 1]]
    head = TELLS_OF.format(first.told.about.rstrip(".:"), WHERE[first.kind]) if first.told.about else ""
    pages_of = cite([one.told.source for one in told], "")
    return Recalled(
        write_document(head + first.told.text, *(one.told.text for one in told[1:]), pages_of), best, first.kind
    )


def candidates(ask: Ask) -> Iterator[Recallable]:
    """What was said, the script's lines, and what stands behind the limit, the failure, the step or the topic."""
    for at, said in enumerate(ask.statements):
        yield Recallable(said, "said", at, of=ask.last_topic if at < RECENT else "")
    yield from (Recallable(one, "line", of="script.line") for one in of_script(ask))
    yield from (Recallable(one, "behind") for _, one in background_of(held_by(ask)))
    yield from (Recallable(one, "around", of=of) for of, one in background_of({ask.last_topic, ask.topic} - {""}))
    yield from (Recallable(one, "around") for one in of_steps(ask))
    yield from (Recallable(one, "term") for one in of_terms(ask))


def of_script(ask: Ask) -> Iterator[ToldStatement]:
    """Each line with its comment and what it does, and how its processes were counted."""
    hand = in_hand(ask)
    if hand is None:
        return
    from graph.answering.script import tell_line
    from graph.answering.script_parts import explain_briefly, lines

    if hand.plan:
        yield ToldStatement(f"It starts {hand.plan.counting}.", f"the processes of {hand.name}")
    for line in lines(hand.text):
        if told := tell_line(line, [explain_briefly(line, hand)]):
            yield ToldStatement(told, hand.name)


def held_by(ask: Ask) -> Iterator[str]:
    """The limit that holds the job that was told of, and the cause of the failure."""
    if ask.output:
        from graph.usecases.follow_waiting import case_of
        from knowledge.schedulers.limit_words import limit_word

        case = case_of(ask.output, ask.machine)
        limit = limit_word(case.found.reason.word) or limit_word(case.job.reason)
        yield from (f"limit-{limit.whose}", f"counts-{limit.counts}") if limit else ()
    if ask.report:
        yield ask.report.cause


def of_steps(ask: Ask) -> Iterator[ToldStatement]:
    """What is known of the steps that the question, or the last answer, names."""
    named = {one.id for _, _, one in find_techniques(ask.text)}
    heads = dict.fromkeys(one.about for one in ask.statements[:RECENT])
    named |= plainly_named((ask.before, *heads, *(ask.report.fix if ask.report else ())))
    for step in technique_table().techniques:
        if step.id in named:
            says = (step.says, step.costs, step.saves, step.usual, *step.more)
            yield from (ToldStatement(text, step.title, step.source) for text in says)


def of_terms(ask: Ask) -> Iterator[ToldStatement]:
    """What the glossary says of the words that the question names, and what sets two of them apart."""
    terms = find_terms(ask.text)
    yield from (ToldStatement(glossary()[one].text, glossary()[one].names[0]) for one in terms)
    pairs = ((one, other) for at, one in enumerate(terms) for other in terms[at + 1 :])
    yield from (ToldStatement(text, f"{one} and {other}") for one, other in pairs if (text := difference(one, other)))


def pages(ask: Ask, context: Context) -> Iterator[Recallable]:
    """The answers to common questions that are near to the words."""
    for one in search(ask.text, None, context)[:MOST_PAGES]:
        told = ToldStatement(one.text.partition("\n\n")[0], one.title, one.source)
        yield Recallable(told, "page", 0, one.score)


def ranked(ask: Ask, found: Sequence[Recallable]) -> list[tuple[float, Recallable]]:
    """Each with the probability that it answers, the likeliest first."""
    seen = list(dict.fromkeys(found))
    rows = pair_features(ask, seen)
    sure = [chance(WEIGHTS, row) for row in rows]
    return sorted(zip(sure, seen, strict=True), key=lambda pair: -pair[0])


def pair_features(ask: Ask, found: Sequence[Recallable]) -> list[dict[str, float]]:
    """What the model sees of a question and each statement: shared words by their rarity, meaning, numbers, place, and
    whether it is of the topic that the question was read as."""
    if not found:
        return []
    question = ask.text
    bags = [concepts(one.text) for one in found]
    having = Counter(word for bag in bags for word in bag)
    asked = concepts(question)
    weights = {word: rarity(having[word], len(bags)) for word in asked}
    whole = sum(weights.values())
    near = meanings(question, tuple(one.text for one in found))
    numbers = set(re.findall(r"\d+", question))
    rows = []
    for one, bag, cosine in zip(found, bags, near, strict=True):
        shared = sum(weight for word, weight in weights.items() if word in bag)
        rows.append(
            {
                "bias": 1.0,
                "share": shared / whole if whole else 0.0,
                "shared": min(shared / 5, 3.0),
                "cosine": cosine,
                "numbers": len(numbers & set(re.findall(r"\d+", one.text))) / len(numbers) if numbers else 0.0,
                "words": math.log1p(len(asked)),
                "new": float(one.kind == "said" and one.age < RECENT),
                "page score": one.score,
                "topic": ask.clause.confidence if one.of and one.of == ask.topic else 0.0,
                f"is {one.kind}": 1.0,
            }
        )
    return with_leads(rows)


def with_leads(rows: list[dict[str, float]]) -> list[dict[str, float]]:
    """How far each is from the best of all, by words and by meaning."""
    for name in ("share", "cosine"):
        best = max(row[name] for row in rows)
        rows = [{**row, f"{name} behind": best - row[name]} for row in rows]
    return rows


def concepts(text: str) -> frozenset[str]:
    """The words that say something, by their meaning where the lexicon knows it (`Knoten`: node), else their stem."""
    line, _ = find_mentions(ADDRESS.sub(" ", text))
    known = {token.key for token in line.tokens if token.key and token.key.isalpha()}
    plain = (fold(word) for word in WORD.findall(text))
    stems = {stem(word) for word in plain if word not in SMALL and word not in FILLER and not word.isdigit()}
    return frozenset(known | {one for one in stems if len(one) > 2})


def meanings(question: str, texts: tuple[str, ...]) -> list[float]:
    """The cosine of MiniLM of the question with each text; 0 where its weights are not installed."""
    try:
        asked = vectors((question,))[0]
        return [float(one @ asked) for one in vectors(texts)]
    except UnavailableError:
        return [0.0] * len(texts)


@lru_cache(maxsize=16)
def vectors(texts: tuple[str, ...]) -> Any:
    """A row of MiniLM a text."""
    return embedder().embed(list(texts))
