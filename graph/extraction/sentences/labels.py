"""Accounts and queues: words that a cue names ("account bsc99", "debug queue"), or that only a queue is called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from graph.extraction.sentences.lexicon import IDEOGRAPH, fold, lexicon, read_yaml
from graph.extraction.sentences.line import Mention
from graph.extraction.sentences.machines import names, squeeze
from knowledge.catalogue import catalogue

BEING = r"\s*(?:(?:name|code|id|number|nr)\b\.?\s*)?(?P<being>(?:should\s+be|shall\s+be|will\s+be|is|=|:|->|named|called|ist|heisst|es|est|e|sera|は|是|为|to)(?=\W|$))?\s*(?:the\s+)?[\"'`<]?"
VALUE = r"(?P<value>[A-Za-z][\w.@-]*\w|\w*[A-Za-z_]\w*)"
PLACEHOLDER = re.compile(
    r"^(?:(?:your|my|the|some)?[_-]?(?:account|project|allocation|queue|partition)s?[_-]?(?:name|id|code)?|x{2,}|xyz|foo_bar|tbd|none|null)$",
    re.I,
)


@cache
def cues() -> Mapping[str, re.Pattern[str]]:
    """Patterns made of labels.yaml: queue_after, queue_before, account_after, account_before, shapes."""
    data = read_yaml("labels.yaml")
    queue, account = (_words(data[name]) for name in ("queue", "account"))
    edge = rf"(?<![a-z0-9_-]){{}}(?![a-z0-9_-])"
    return {
        "any_queue": re.compile(edge.format(queue)),
        "queue_after": re.compile(edge.format(queue) + BEING + VALUE),
        "queue_before": re.compile(rf"(?<![\w-])[\"'`]?{VALUE}[\"'`]?[\s-]+" + rf"{queue}(?![a-z0-9_])"),
        "account_after": re.compile(edge.format(account) + BEING + VALUE),
        "account_before": re.compile(
            rf"(?<![\w-]){VALUE}[\s-]+(?:as\s+)?" + rf"{_words(data['account_behind'])}(?![a-z0-9_])"
        ),
        "account_under": re.compile(
            r"\b(?:under|unter|bajo|sous|sotto|charge|charging)\s+(?:(?:account|project)\s+)?(?P<value>[a-z]{2,}[\w-]*\d[\w-]*)"
        ),
        "shapes": re.compile(rf"(?<![\w/.-])(?:{'|'.join(data['account_shapes'])})(?![\w-])"),
    }


@cache
def stop_words() -> frozenset[str]:
    return frozenset(map(str, read_yaml("labels.yaml")["stop"]))


def _words(words: list[str]) -> str:
    spelled = sorted((re.escape(fold(w)).replace(r"\ ", r"\s+") for w in words), key=len, reverse=True)
    return rf"(?:{'|'.join(spelled)})"


@cache
def queue_ids() -> Mapping[str, Mapping[str, str]]:
    """Machine -> folded queue name -> the queue's id."""
    return {
        cluster.id: {fold(name): queue.id for queue in cluster.queues for name in (queue.id, *queue.names)}
        for cluster in catalogue().clusters.values()
    }


def _known(value: str, machines: frozenset[str], whole: bool = False) -> str | None:
    """The queue as said, in the catalogue's capitals, where one of the machines named has it.

    Without `whole`, the end of one queue's name will do: A100x8 for gpuA100x8.
    """
    for machine in machines:
        if one := queue_ids().get(machine, {}).get(fold(value)):
            return one if fold(one) == fold(value) else value
        ends = [one for name, one in queue_ids().get(machine, {}).items() if name.endswith(fold(value))]
        if not whole and len(value) > 3 and _odd(value) and len(machines) == 1 and len(ends) == 1:
            return ends[0]
    return None


def _anywhere(value: str) -> str | None:
    return _known(value, frozenset(queue_ids()), whole=True)


def _odd(value: str) -> bool:
    """Whether a word looks like a name made by an administrator: digits, underscores or inner hyphens."""
    return bool(re.search(r"[\d_]|\w-\w", value)) and not re.fullmatch(r"[\d.]+\w?", value)


def _plain_word(value: str) -> bool:
    folded = fold(value)
    return folded in stop_words() or lexicon().knows(folded)


def find_queues(text: str, folded: str, machines: frozenset[str]) -> list[Mention]:
    """Queues named by a cue, and words that are a queue's name on the machine meant."""
    found: list[Mention] = []
    for name in ("queue_after", "queue_before"):
        for match in cues()[name].finditer(folded):
            start, end = match.span("value")
            value = text[start:end].rstrip(".-")
            being = name == "queue_after" and bool(match["being"])
            if one := _queue(value, machines, being, before=name == "queue_before"):
                found.append(Mention("queue", one, start, start + len(value)))
    return found + list(_bare_queues(text, folded, machines))


def _queue(value: str, machines: frozenset[str], being: bool, before: bool) -> str | None:
    known = _known(value, machines)
    if not known and squeeze(value) in names().ids:
        return None
    if known or PLACEHOLDER.match(value):
        return known if known else None
    if fold(value) in stop_words():
        return None
    if _odd(value):
        return _anywhere(value) or value
    if _anywhere(value) and not lexicon().knows(fold(value)):
        return _anywhere(value)
    if (being or before) and not _plain_word(value):
        return value
    return None


def _bare_queues(text: str, folded: str, machines: frozenset[str]) -> Iterator[Mention]:
    data = read_labels()
    for match in re.finditer(r"(?<![\w.-])[a-z][\w-]*\w(?!\w)", folded):
        word, before, after = match[0], folded[: match.start()], folded[match.end() :]
        gpu = word in data["gpu_queues"]
        one = _known(word, machines, whole=True) or (
            _anywhere(word) if not gpu and (_odd(word) or not machines) else None
        )
        if one is None or (word in data["verbs"] and _is_verb(before, after)):
            continue
        beside = _names_machine(before) and word not in data["never_beside"]
        pointed = bool(machines) and (bool(POINTED.search(before)) or cues()["any_queue"].search(folded) is not None)
        if _odd(word) or word in data["bare"] or gpu or beside or pointed or _listed(before, after):
            if (
                _odd(word)
                or word not in data["never_bare"]
                or beside
                or (_listed(before, after) and word not in ("gpu", "gpus"))
            ):
                yield Mention("queue", one, *match.span())


POINTED = re.compile(r"\b(?:use|using|into|via|to|take|with|in|on)\s+(?:the\s+)?$")


def _is_verb(before: str, after: str) -> bool:
    """debug my job; to debug"""
    return bool(
        re.match(r"\s+(?:my|this|why|the|it|a|an|what|how|our|these|that|and fix)\b", after)
        or re.search(r"(?:\bto|help(?: me)?|please|can you|let's|we)\s+$", before)
    )


def _listed(before: str, after: str) -> bool:
    return bool(
        re.search(r"(?:[,;/|]|^|\bin|\bon|\binto|\bvia)\s*(?:the\s+)?$", before) and re.match(r"\s*(?:[,;/|]|$)", after)
    )


def _names_machine(before: str) -> bool:
    ends = re.search(r"([\w.-]+)[\s/|]+$", before)
    return bool(ends) and bool(names().pattern.fullmatch(ends[1] if ends else ""))


@cache
def read_labels() -> Mapping[str, frozenset[str]]:
    data = read_yaml("labels.yaml")
    return {
        name: frozenset(map(str, data[name])) for name in ("verbs", "never_beside", "bare", "gpu_queues", "never_bare")
    }


def find_accounts(text: str, folded: str) -> list[Mention]:
    """Accounts named by a cue, or whose shape is that of a site's accounts."""
    found = [Mention("account", text[m.start() : m.end()], *m.span()) for m in cues()["shapes"].finditer(folded)]
    for match in cues()["account_after"].finditer(folded):
        start, end = match.span("value")
        value = text[start:end].rstrip(".-")
        ends = re.match(r"\s*(?:[,.;!)\"']|and\b|$)", folded[match.end("value") :]) is not None
        if _is_account(value, bool(match["being"]) and ends, folded[match.start() : start]):
            found.append(Mention("account", value, start, start + len(value)))
    for match in (*cues()["account_before"].finditer(folded), *cues()["account_under"].finditer(folded)):
        start, end = match.span("value")
        value = text[start:end]
        if re.search(r"\d|_", value) and not _plain_word(value) and not PLACEHOLDER.match(value):
            found.append(Mention("account", value, start, end))
    return found


def _is_account(value: str, being: bool, cue: str) -> bool:
    if PLACEHOLDER.match(value) or _plain_word(value) or value.endswith(".py") or squeeze(value) in names().ids:
        return False
    if _odd(value) or re.search(r"\d", value) or re.fullmatch(r"[A-Z]{3,}", value):
        return True
    direct = ("account" in cue or "konto" in cue) and not re.search(r"\b(?:is|ist|es|est)\b", cue)
    return being or direct or (value[0].isupper() and "group" not in cue)
