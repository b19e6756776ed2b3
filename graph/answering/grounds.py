"""What an answer may stand on: typed facts, and passages. Found by rules; a model may word it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph.answering.ask import Ask
from graph.answering.fact_answer import FactAnswer
from graph.answering.facts import answer_from_facts
from graph.context import Context
from knowledge.cluster import Cluster
from knowledge.common_questions import is_common
from knowledge.types import Passage
from knowledge.wording import covered, stems

MOST = 3
NEARLY = 0.85
"""A further passage is told when its score is so near to the first one's."""
SURE = 0.7
"""From this score on a passage speaks of the question's own words: it answers, or adds to an answer from the facts."""
COMMON_SURE, CERTAIN, OF_JOBS = 0.75, 0.9, 0.7
"""From this score on a common question is asked, unless its topic is as certain as that; one about jobs, as this."""
OF_THREAD = frozenset(("script", "log", "machine", "option", "us", "next"))
"""Topics that the thread or the facts answer."""
OWN_WORDS = 3
"""A question of fewer words that goes on from another one has too little of its own for a page to answer."""
SAID_ALREADY = 0.7
"""A passage that shares so much of its words with what the facts said adds nothing."""
# Where pages say more than a machine's facts.
OF_LAUNCH = ("option", "script.launch")
CAUSES = "Failure causes"
LONGEST = 2000
METHODS = re.compile(r"\b(?:fsdp|ddp|zero[- ]?[123]|deepspeed|megatron|lightning|accelerate|torchrun)\b", re.I)
VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")
VENDOR_WORDS = {
    "nvidia": re.compile(r"\b(?:CUDA|NVLS|[AH]100|nvcc)\b"),
    "amd": re.compile(r"\b(?:ROCm|RCCL|MIOpen|HIP|MI\d{2,3}\w?)\b"),
    "intel": re.compile(r"\b(?:xccl|oneCCL|XPU|torch-ccl|ipex|SYCL|PVC)\b", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """Facts first, then passages, best first. Neither: nothing is known about it."""

    question: str
    machine: str = ""
    fact: FactAnswer | None = None
    passages: tuple[Passage, ...] = ()

    @property
    def known(self) -> bool:
        return self.fact is not None or bool(self.passages)


def grounds(ask: Ask, context: Context) -> AnswerContext:
    """Everything known that answers the question, before it is worded."""
    question, about = ask.text, ask.machine
    fact = answer_from_facts(ask)
    if fact and ask.topic not in OF_LAUNCH:
        return AnswerContext(question, about.id if about else "", fact)
    if leans(ask) and not fact and not ask.utterance.mentions:
        return AnswerContext(question, about.id if about else "")
    found = sorted(folded(search(question, about, context)), key=lambda one: of_others(one, question))
    if fact:
        found = [one for one in found if one.score >= SURE and adds(one, fact, question)][: MOST - 1]
    return AnswerContext(question, about.id if about else "", fact, tuple(near_the_best(found)))


def common_grounds(ask: Ask, context: Context) -> AnswerContext | None:
    """The answer to a common question that the words plainly ask, where their topic is less certain than that.

    What a machine's facts, a script or a log answers is left to these.
    """
    topic, certain = ask.topic.partition(".")[0], ask.clause.confidence
    known = topic in OF_THREAD or (topic == "job" and certain >= OF_JOBS)
    if certain >= CERTAIN or known or leans(ask) or ask.machine or ask.script or ask.report:
        return None
    sure = max(COMMON_SURE, certain)
    found = [one for one in folded(search(ask.text, None, context)) if one.score >= sure]
    return AnswerContext(ask.text, "", None, (found[0],)) if found and is_common(found[0]) else None


def leans(ask: Ask) -> bool:
    """Whether a question goes on from what was said before, and has too little of its own for a page to answer."""
    return bool(ask.before or ask.output) and len(stems(ask.text)) < OWN_WORDS


def methods(text: str) -> set[str]:
    return {re.sub(r"\W", "", name.lower()) for name in METHODS.findall(text)}


def of_others(passage: Passage, question: str) -> bool:
    """Whether a text's title names a method that the question does not, where that names some."""
    asked = methods(question)
    return bool(asked) and not methods(passage.title) <= asked


def search(question: str, about: Cluster | None, context: Context) -> list[Passage]:
    """The passages for a question. With no machine named, a fact of some machine is no answer."""
    if context.knowledge is None:
        return []
    text = question[:LONGEST]
    if about:
        near = context.knowledge.search(text, machine=about.id, scheduler=about.scheduler, limit=4 * MOST)
        return [one for one in near if one.machine or of_its_vendor(one, about)]
    found = context.knowledge.search(text, limit=4 * MOST)
    return [one for one in found if not (one.kind == "fact" and (one.machine or (is_common(one) and one.scheduler)))]


def of_its_vendor(passage: Passage, about: Cluster) -> bool:
    """Whether a text about one vendor's software is about this machine's."""
    text = f"{passage.title} {passage.text}"
    named = {vendor for vendor, words in VENDOR_WORDS.items() if words.search(text)}
    return not named or bool(named & {node.gpus.vendor for node in about.node_types})


def folded(found: list[Passage]) -> list[Passage]:
    """Of the texts of one page on one variable the fullest, where the first of them was; of one question's answers that
    for the scheduler."""
    kept: dict[tuple[str, str, str], Passage] = {}
    for one in found:
        key = (one.title, one.source, "" if VARIABLE.fullmatch(one.title) or is_common(one) else one.text)
        kept[key] = max(kept.get(key, one), one, key=lambda passage: (bool(passage.scheduler), len(passage.text)))
    return list(kept.values())


def near_the_best(found: list[Passage]) -> list[Passage]:
    return [one for one in found if one.score >= NEARLY * found[0].score][:MOST]


def adds(passage: Passage, fact: FactAnswer, question: str) -> bool:
    """Whether a passage says something that the facts did not: not the machine again, a failure, another method."""
    if passage.kind == "fact" and passage.machine:
        return False
    if (methods(passage.title) and not methods(question)) or passage.path[:1] == (CAUSES,):
        return False
    own = dict.fromkeys(stems(passage.text), 1.0)
    return covered(own, stems(fact.text)) < SAID_ALREADY
