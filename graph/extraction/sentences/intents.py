"""What a message is for: a script, a move to another machine, a failure, a question, smalltalk, or something else."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from graph.extraction.sentences.lexicon import fold, read_yaml
from graph.extraction.sentences.line import Line
from graph.extraction.sentences.patterns import pattern
from knowledge.types import Intent
from knowledge.word_lists import word_set

LONGEST_SIGN = 12  # characters of a message without words that is smalltalk: an emoji, "?!"
CLAUSE = re.compile(r"[.,;:!?\n]")
SENTENCE = re.compile(r"(?<=[!?。])|(?<=[.;])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Signs:
    """What the readers found, as far as it bears on the intent."""

    said: str
    line: Line
    printed: bool
    has_script: bool
    move: bool
    fields: frozenset[str]
    in_dialogue: bool
    answers: bool


@cache
def _groups() -> Mapping[str, Any]:
    data: Mapping[str, Any] = read_yaml("intents.yaml")
    return data


@cache
def group(name: str) -> re.Pattern[str]:
    """A group of patterns of intents.yaml as one."""
    value = _groups()[name]
    return re.compile("|".join(value) if isinstance(value, list) else value)


@cache
def small_words() -> frozenset[str]:
    return frozenset(fold(str(word)) for word in _groups()["small_words"])


def _asking(name: str) -> re.Pattern[str]:
    return pattern("grammar.yaml", "asking", name)


def has(name: str, folded: str) -> bool:
    return group(name).search(folded) is not None


def sentences(text: str) -> list[tuple[int, int]]:
    """Where each sentence of a text begins and ends."""
    cuts = [0, *(m.end() for m in SENTENCE.finditer(text)), len(text)]
    return [(a, b) for a, b in itertools.pairwise(cuts) if text[a:b].strip()]


def is_question(sentence: str) -> bool:
    """Whether one sentence asks for knowledge (and not, politely, for a script)."""
    folded = fold(sentence).strip()
    body = group("question_heads").sub("", folded).strip(" ¿¡\"'(")
    body = group("question_odd").sub("", body)
    if has("asks_to_make", folded) or has("question_no", body):
        return False
    if group("question_strong").match(body):
        return True
    if has("question_signs", folded) or has("question_behind", folded):
        return True
    if not folded.rstrip("\"') ").endswith(("?", "؟")):
        return False
    return bool(group("question_words").match(body) or group("question_inside").search(body))


def asked(said: str, line: Line) -> list[bool]:
    """For each sentence, whether it is a question; "Where? Juwels Booster." answers itself."""
    spans = sentences(said)
    asks = [is_question(said[a:b]) or chooses(said[a:b], keys(line, a, b)) for a, b in spans]
    for i, (a, b) in enumerate(spans[:-1]):
        begin, end = spans[i + 1]
        names = any(t.mention or t.key.isdigit() for t in line.tokens if begin <= t.start < end)
        if asks[i] and not asks[i + 1] and names and len(said[a:b].split()) <= 5 and len(said[begin:end].split()) <= 5:
            asks[i] = False
    return asks


def keys(line: Line, begin: int, end: int) -> str:
    """The row of meanings of one stretch of the text."""
    return " " + "".join(f"{t.key} " for t in line.tokens if begin <= t.start < end)


def chooses(sentence: str, canon: str) -> bool:
    """Whether a sentence asks which of two it should be: `FSDP or DDP for 7B?`, `A100 vs H100`."""
    asks = sentence.rstrip("\"') ").endswith(("?", "\u061f")) or re.search(r" (?:vs|versus) ", canon)
    return bool(asks and _asking("either").search(canon)) and not has("asks_to_make", fold(sentence))


def is_small(folded: str) -> bool:
    words = re.findall(r"[^\W_]+(?:'[^\W_]+)?|[:;]-?[)dp(]", folded)
    if not words:
        return 0 < len(folded.strip()) <= LONGEST_SIGN
    return (
        len(words) <= 14
        and any(not w.isdigit() for w in words)
        and all(w in small_words() or _laugh(w) or _all_small(w) for w in words)
    )


def _laugh(word: str) -> bool:
    return bool(
        re.fullmatch(r"(?:ha){2,}h?|(?:he){2,}|lo+l|h+m+|o+k+|y+o+|he+y+|hi+|thx+|(?:ja){2,}|哈+|w{3,}|\d?", word)
    )


def _all_small(word: str) -> bool:
    """Words of a script without blanks: greedy pieces."""
    if word.isascii():
        return False
    while word:
        piece = next((word[:n] for n in range(min(len(word), 10), 0, -1) if word[:n] in small_words()), "")
        if not piece:
            return False
        word = word[len(piece) :]
    return True


JOB = word_set("machine source_machine framework strategy nodes gpus_per_node total_gpus entry account queue model")
# Without any of these, what ends on a question mark is a question.
ASKED_OF = frozenset(("strategy", "nodes", "gpus_per_node", "total_gpus", "entry", "walltime", "account"))
COMPLETE = frozenset(("machine", "strategy", "nodes"))
SIZED = frozenset(("machine", "nodes"))
METHOD = frozenset(("framework", "strategy"))


def decide(signs: Signs) -> Intent:
    """The intent of a message. Order matters: what must not be missed comes first."""
    folded, canon = fold(signs.said), signs.line.canon
    job = bool(signs.fields & JOB)
    full = {"machine", "strategy"} <= signs.fields
    if has("orders", folded) and not full:
        return "other"
    asks = asked(signs.said, signs.line)
    if folded.rstrip(" \"')").endswith("?") and len(folded.split()) > 2 and not signs.fields & ASKED_OF:
        asks[-1:] = [True]
    asked_for = group("asks_to_look").sub(" ", folded)
    makes = has("asks_to_make", asked_for) or (bool(_asking("makes").search(canon)) and not all(asks))
    if signs.has_script:
        return _with_script(signs, folded, any(asks), makes)
    if signs.printed and not makes:
        return "diagnose"
    if _troubled(signs, folded) and not _goes_on(signs, makes) and not _neutral(folded, asks):
        return "diagnose"
    if has("off_topic", folded) and not signs.fields & (METHOD | {"machine"}):
        return "other"
    if has("other_work", folded) and not signs.fields & METHOD and not any(asks):
        return "other"
    if signs.move and (makes or not all(asks) or _moves(signs)):
        return "port"
    if not (job or "walltime" in signs.fields) and (
        has("about_you", folded) or is_small(folded) or (_greets(folded, signs) and not any(asks))
    ):
        return "smalltalk"
    return _rest(signs, folded, asks, makes, job)


def _troubled(signs: Signs, folded: str) -> bool:
    """Whether the words tell of a failure; in a complete request a mere sign of trouble is its reason."""
    complete = signs.fields >= COMPLETE
    folded = group("guarded").sub(" ", folded)
    return has("failing", folded) or has("pending", folded) or (not complete and has("symptoms", folded))


def _greets(folded: str, signs: Signs) -> bool:
    """Thanks or a greeting with a few words that say nothing of the work."""
    if has("thanked", folded.strip()) and len(folded.split()) <= 9 and not signs.fields:
        return True
    return (
        has("greet", folded.strip())
        and len(folded.split()) <= 12
        and not has("topics", folded)
        and not signs.fields
        and not _asking("wants").search(signs.line.canon)
    )


def _rest(signs: Signs, folded: str, asks: list[bool], makes: bool, job: bool) -> Intent:
    canon = signs.line.canon
    if any(asks) and not makes and not _asks_for_a_job(signs, asks):
        groups = ("topics", "about_service", "failing")
        known = job or bool(signs.line.mentions("gpu")) or any(has(group, folded) for group in groups)
        return "question" if known else "other"
    if (
        job
        or (_asking("wish").search(canon) and not has("off_topic", folded))
        or (makes and (" script " in canon or " run " in canon))
    ):
        return "generate"
    if signs.answers or (signs.in_dialogue and signs.fields):
        return "generate"
    return "other"


def _asks_for_a_job(signs: Signs, asks: list[bool]) -> bool:
    """A question that asks for a job after all: it counts nodes for a run, or statements around it tell a whole one."""
    if all(asks):
        counts, what = signs.fields & {"nodes", "gpus_per_node"}, signs.fields & (METHOD | {"entry"})
        run = " run " in signs.line.canon and not _asking("either").search(signs.line.canon)
        return bool(counts and what) and run
    wished = _asking("wish").search(signs.line.canon) is not None and bool(signs.fields & JOB)
    whole = signs.fields >= SIZED and bool(signs.fields & METHOD)
    return wished or signs.answers or (not asks[-1] and whole)


def _with_script(signs: Signs, folded: str, asks: bool, makes: bool) -> Intent:
    """A pasted job script: to be moved, or it fails, or it is asked about."""
    if signs.move:
        return "port"
    if signs.printed or has("failing", folded):
        return "diagnose"
    if asks and not makes:
        return "question"
    return "generate" if has("completes", folded) else "port"


def _goes_on(signs: Signs, makes: bool) -> bool:
    """Whether a failure is only the reason for a request: "it ran out of memory, use stage 3"."""
    if signs.move and not signs.printed and makes:
        return True
    if not signs.in_dialogue:
        return (makes and bool(signs.fields & JOB)) or _concludes(signs)
    changes = [
        signs.said[a:b]
        for a, b in sentences(signs.said)
        if not (has("failing", fold(signs.said[a:b])) or has("symptoms", fold(signs.said[a:b])))
        or _asking("makes").search(signs.line.canon)
    ]
    ordered = any(has("ordering", clause.strip()) for clause in CLAUSE.split(fold(signs.said)))
    return bool(signs.fields) and bool(changes or ordered) and not has("pending", fold(signs.said))


def _concludes(signs: Signs) -> bool:
    """Whether a whole request follows from the failure: "DDP ran out of memory, so FSDP"."""
    whole = signs.fields >= COMPLETE and not any(asked(signs.said, signs.line))
    return whole and _asking("concludes").search(signs.line.canon) is not None


def _neutral(folded: str, asks: list[bool]) -> bool:
    """Whether a question only touches on failure: "how do I set a timeout?", not "what does exit code 13 mean?"."""
    return bool(asks) and all(asks) and has("question_of_use", folded) and not has("failed", folded)


def _moves(signs: Signs) -> bool:
    """Whether a question about two machines is how to move a job, and not whether it would run or how they differ."""
    folded = fold(signs.said)
    if " port " in signs.line.canon or pattern("intents.yaml", "moving", "asked").search(folded):
        return True
    return " script " in signs.line.canon and not pattern("intents.yaml", "moving", "whether").search(folded)
