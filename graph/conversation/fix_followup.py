"""After a diagnosis: `that didn't help`. The step that was tried is put aside, and the next one is said."""

from __future__ import annotations

import re

from graph.answering.hub_files import reached_checks
from graph.answering.log import after_failure, means
from graph.debugging.memory_sum import ALLOCATOR
from graph.state import State
from knowledge.types import BY_NUMBERS, Diagnosis, Say
from knowledge.wording import stems

LONGEST = 400
UNHELPED = re.compile(
    r"\b(?:did(?:n['\u2019]?t| not)|do(?:es)?(?:n['\u2019]?t| not)|has(?:n['\u2019]?t| not)|won['\u2019]?t) "
    r"(?:really |seem to |actually )?(?:help|work|chang|fix|solv|cure|make (?:any|a) differ|do (?:it|anything|the tr))"
    r"|\b(?:no|without) (?:luck|change|difference|effect|improvement|success|joy)\b|\bto no avail\b"
    r"|\bstill (?:the same|fail|hang|crash|broken|not working|dies|died|stuck|happen|no\b|get|got|see|there)"
    r"|\bsame (?:\w+ )?(?:error|problem|thing|issue|result|failure|message)\b|\bnot? help\w*"
    r"|\bhilft nicht|\bhat nicht geholfen|\bno (?:ayud|funcion)\w*|\bn['\u2019]a rien chang\w*",
    re.I,
)
SAME = re.compile(
    r"(?i)\b(?:same|still|again|wieder|immer noch|toujours|encore|sigue|mism\w+|ancora|stess\w+)\b"
    r"|同样|还是|同じ|여전히"
)
# Words of any failure: a step that has them too was not named by them.
GENERAL = stems(
    "same error errors message problem issue log job node nodes gpu rank again fail failed hang crash enough alone"
    " put set add line script file place thing exactly"
)
NAME = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|`[^`]+`")
NEXT = "So that was not it, or not all: *{}*. Next: {}"
THEN = "So that was not it. Next: {}"
ALSO = "The log also speaks of {} (line {}: `{}`), which I put second because {}."
NO_MORE = "So none of the steps that I know for this helped: {}"
LOG = (
    "Show me the log of the new run (paste it, or name its file): the same line `{}` means that the change did not "
    "reach the job, another line is another failure."
)


def is_unhelped(text: str, state: State) -> bool:
    """Whether a message says that what was said of a failure did not cure it."""
    return state.get("diagnosed") is not None and len(text) <= LONGEST and UNHELPED.search(text) is not None


def go_on(diagnosis: Diagnosis, tried: tuple[str, ...], text: str, before: str = "") -> tuple[Say, tuple[str, ...]]:
    """What to say next, and the steps tried by now. before: the question before, whose `it` may be meant."""
    left = [step for step in diagnosis.fix if step not in tried and not is_sum(step)]
    elsewhere = NAME.search(text) is not None
    if diagnosis.cause == "gpu-oom" and means("less", text):
        text = f"{text} batch"
    first = [step for step in left if not is_numbers(step)][:1]
    meant = before if means("did", text) else ""
    now = named(text, left) or named(meant, left) or ([] if elsewhere else first)
    if now and before and SAME.search(text) and not tried and (checks := reached_checks(diagnosis)):
        return Say(f"{checks}\n\n{LOG.format(diagnosis.evidence[0].text[:200])}"), (*tried, *now)
    tried = (*tried, *now)
    words = stems(f"{text} {meant}")
    halves = [half for step in now if not is_numbers(step) for half in step.rstrip(".").split(", or ")]
    left = [step for step in left if step not in now]
    if named(text, now) and (other := [half for half in halves if not words & stems(half)]) != halves:
        left = [*(f"{half[:1].upper()}{half[1:]}." for half in other), *left]
    further = after_failure()["further"] if went_further(text) else ""
    parts = [f"{further} {after_failure()['grew'].get(diagnosis.cause, '')}".strip()] if further else []
    if left:
        parts.append(NEXT.format(now[0].rstrip("."), left[0]) if now else THEN.format(left[0]))
    elif not further:
        parts.append(NO_MORE.format(diagnosis.says))
        parts += [
            ALSO.format(other.cause, other.evidence.line, other.evidence.text[:200], other.why_not)
            for other in diagnosis.considered[:1]
            if other.evidence
        ]
        parts += [f"Then I need more: {'; '.join(diagnosis.send_next)}."] if diagnosis.send_next else []
    if diagnosis.evidence and not further:
        parts.append(LOG.format(diagnosis.evidence[0].text[:200]))
    return Say("\n\n".join(parts)), tried


INSTEAD = re.compile(
    r"(?i)(\d+)\D{1,12}(?:instead of|rather than|not|statt|au lieu de|en vez de|invece di)\D{0,16}(\d+)"
)


def went_further(text: str) -> bool:
    """Whether it came further than before: by what is said, and by the two steps where both are."""
    both = INSTEAD.search(text)
    return bool(means("further", text)) and (both is None or int(both[1]) > int(both[2]))


def is_numbers(step: str) -> bool:
    return step.startswith(BY_NUMBERS)


def is_sum(step: str) -> bool:
    """Whether a step is a sum, which nobody can try."""
    return is_numbers(step) and ALLOCATOR not in step


def named(text: str, steps: list[str]) -> list[str]:
    """The steps that the message says were tried: by a variable, or by a word that no other step has."""
    words, names = stems(text) - GENERAL, set(NAME.findall(text))
    bags = [stems(re.sub(r"[=_]", " ", step)) for step in steps]
    own = [bag.difference(*(other for other in bags if other is not bag)) for bag in bags]
    return [step for step, bag in zip(steps, own, strict=True) if names & set(NAME.findall(step)) or words & bag]
