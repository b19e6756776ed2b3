"""How a step is done with a framework, and what it costs, saves and takes: by the table of techniques.

The step is named in the question, or it is the one that was spoken of last (`how do I turn that on in Lightning?`).
"""

from __future__ import annotations

import re
from functools import cache

from graph.answering.ask import Ask
from graph.answering.log import framework_of_logs
from graph.answering.situation import cite, write_document
from graph.reading.referring import DOING, FILLERS
from knowledge.document import Code, Document, Part
from knowledge.techniques import (
    ANY,
    Technique,
    TechniqueLines,
    asks,
    find_framework,
    find_techniques,
    framework_spans,
    plainly_named,
    technique_table,
)
from knowledge.word_lists import word_set

FEW = 14  # words of a question that goes on from a step
WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
# What is asked of jobs and machines, or with numbers, is answered by these, unless a framework is named.
OF_PLACES = ("job.", "site.", "machine.", "method.checkpoint")
CLEAR = 0.4  # from it on a reading as a question about a job or a machine holds
RECENT = 30  # statements in which a step still counts as spoken of
# `What would make it faster?` asks for steps, not of the one that was told.
FASTER = re.compile(r"(?i)^\W*(?:(?:and|so|ok|but)\W+)*(?:what|how)\b.*\bfaster\b")
SHOWN = ("pytorch", "trainer", "lightning")
WITH = "**{} with {}:**"
SAME = "**{}** (the same for every framework on PyTorch):"
NOT_THERE = "How {} is done with {} I have no line for. {}"
OTHERS = "Name your framework ({}) and I give its own lines."


def tell_technique(ask: Ask) -> Document | None:
    """The lines for the framework, or the side of the step that is asked; None where no step is spoken of."""
    known = plainly_named(texts_before(ask))
    named = [one for _, _, one in find_techniques(ask.text, known)]
    framework = find_framework(ask.text)
    of_script = (
        ask.topic in ("script.cost", "site.charging")
        and ask.clause.confidence >= CLEAR
        and not find_techniques(ask.before)
    )
    step = named[0] if named else spoken_of(ask) if goes_on(ask) and not of_script else None
    if step is None or (len({one.id for one in named}) > 1 and asks("choosing", ask.text)):
        return None
    elsewhere = ask.topic.startswith(OF_PLACES) or any(ask.utterance.of_kind("Quantity", "Duration"))
    if named and not framework and elsewhere and ask.clause.confidence >= CLEAR:
        return None
    if side := side_asked(ask, step, framework, bool(named)):
        return write_document(f"**{step.title}:** {side}", cite([step.source], technique_table().as_of))
    if asks("choosing", ask.text) or not (asks("how", ask.text) or (framework and is_bare(ask.text))):
        return None
    return written(step, framework or framework_in_hand(ask))


def side_asked(ask: Ask, step: Technique, framework: str, named: bool) -> str:
    """What it costs, saves, takes or is, where that is asked of it and not how it is written."""
    text = ask.text
    if asks("how", text) and not asks("amount", text):
        return ""
    for side, says in (("saves", step.saves), ("costs", step.costs), ("usual", step.usual)):
        if asks(side, text) and (named or not FASTER.search(text)):
            return says
    if named and asks("helps", text) and ask.report is None:
        return f"{step.says} {step.costs}"
    return step.says if not named and not framework and asks("means", text) else ""


@cache
def closed_words() -> frozenset[str]:
    return DOING | FILLERS | word_set(technique_table().closed)


def goes_on(ask: Ask) -> bool:
    """Whether the words hold nothing but what points at a step, asks of it and names a framework."""
    text, spans = ask.text, [span for _, span in framework_spans(ask.text)]
    words = [one for one in WORD.finditer(text) if not any(a <= one.start() < b for a, b in spans)]
    closed = all(
        word in closed_words() for one in words for word in re.split(r"['\u2019]", one[0].lower()) if len(word) > 1
    )
    return closed and len(words) <= FEW and not re.search(r"\d", text)


def is_bare(text: str) -> bool:
    """`and in DeepSpeed?`: a framework and little else."""
    return len(text.split()) <= FEW and text.rstrip().endswith(("?", "\uff1f"))


def texts_before(ask: Ask) -> tuple[str, ...]:
    """The last question, and what was answered to it and before, the newest first."""
    return (ask.before, *(one.text for one in ask.statements[:RECENT]))


def spoken_of(ask: Ask) -> Technique | None:
    """The step that the last question, else the answers, name; of several the first that was advised."""
    known = plainly_named(texts_before(ask))
    return next((found[0][2] for text in texts_before(ask) if (found := find_techniques(text, known))), None)


def framework_in_hand(ask: Ask) -> str:
    """The framework of the script in hand, or that was named in this thread before."""
    texts = (ask.before, ask.since, ask.script.text if ask.script else "", *(one.text for one in ask.logs))
    told = find_framework(ask.request.framework or "") or framework_of_logs(ask.logs)
    return told or next((name for text in texts if (name := find_framework(text)) and name != "pytorch"), "")


def written(step: Technique, framework: str) -> Document:
    """The lines for that framework; where none is named, for the usual ones."""
    table = technique_table()
    ways: list[tuple[str, TechniqueLines]] = []
    if framework and (way := step.way(framework)):
        ways = [(framework if framework in step.ways else ANY, way)]
    elif not framework:
        ways = [(name, step.ways[name]) for name in ((ANY,) if ANY in step.ways else SHOWN) if name in step.ways]
    missing = (
        NOT_THERE.format(step.title, table.frameworks[framework].title, step.says) if framework and not ways else ""
    )
    ways = ways or [(name, way) for name, way in step.ways.items() if name in ("pytorch", ANY)]
    parts: list[Part | str] = [missing]
    for name, way in ways:
        head = SAME.format(step.title) if name == ANY else WITH.format(step.title, table.frameworks[name].title)
        parts += [head, Code(way.write.rstrip("\n"), "python"), way.also]
    left = [table.frameworks[name].title for name in step.ways if name != ANY and name not in {one for one, _ in ways}]
    ask_for = OTHERS.format(", ".join(left)) if left and not framework else ""
    return write_document(*parts, ask_for, cite([way.source for _, way in ways], table.as_of))
