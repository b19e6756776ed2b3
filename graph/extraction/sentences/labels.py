"""Accounts and queues: words that a cue names ("account bsc99", "debug queue"), or that only a queue is called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from rapidfuzz.distance import OSA

from graph.extraction.sentences.lexicon import fold, lexicon, read_yaml
from graph.extraction.sentences.line import NameSpan
from graph.extraction.sentences.machines import names, squeeze
from graph.extraction.sentences.methods import find_methods
from graph.extraction.sentences.patterns import filled
from knowledge.catalogue import catalogue

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
NEAR = 200  # letters around a word that tell whether it stands as a name
COPULAS = ("is", "ist", "es", "est", "e")
SHORTEST_QUEUE = 6  # letters of a queue's name that is read in spite of a slip
DICTATED = 3  # digits of an account that is spelled out: three letters and three digits at OLCF, NCSA, ACCESS


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    data = read_yaml("labels.yaml")
    return {name: frozenset(map(str, value)) for name, value in data.items() if isinstance(value, list)}


@cache
def _label(name: str) -> re.Pattern[str]:
    """A pattern of labels.yaml with the cue words filled in."""
    data = read_yaml("labels.yaml")
    words = {
        "QUEUE_WORD": _words(data["queue"]),
        "QUEUE_BEHIND": _words([one for one in data["queue"] if one not in data["queue_before_only"]]),
        "ACCOUNT_WORD": _words(data["account"]),
        "ACCOUNT_BEHIND": _words(data["account_behind"]),
        "ACCOUNT_SHAPE": "|".join(dict.fromkeys([*data["account_shapes"], *account_shapes()])),
    }
    return re.compile(filled(data["patterns"][name], words | data["fragments"]))


def account_shapes() -> list[str]:
    """What accounts look like, by the machines' own data."""
    return [one.account.shape for one in catalogue().clusters.values() if one.account.shape]


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
    folded = fold(value)
    for machine in machines:
        if one := queue_ids().get(machine, {}).get(folded):
            return one if fold(one) == folded else value
        described = catalogue().clusters.get(machine)
        if described and (own := described.queue(value)) and own.others:
            return value  # a group's own, and no slip of another's
    if len(machines) != 1:
        return None
    ids = queue_ids().get(next(iter(machines)), {})
    if not whole and len(value) > 3 and _odd(value):
        ends = [one for name, one in ids.items() if name.endswith(folded)]
        if len(ends) == 1:
            return ends[0]
    return _misspelt(folded, ids)


def _misspelt(word: str, ids: Mapping[str, str]) -> str | None:
    """The queue that is one slip away, where only one is and the word means nothing else."""
    if len(word) < SHORTEST_QUEUE or is_plain_word(word) or re.search(r"\d", word):
        return None
    odd = ((name, one) for name, one in ids.items() if name not in _lists()["never_bare"])
    near = [one for name, one in odd if word[0] == name[0] and OSA.distance(word, name, score_cutoff=1) == 1]
    return near[0] if len(near) == 1 else None


@lru_cache(maxsize=4096)
def _anywhere(value: str) -> str | None:
    return _known(value, frozenset(queue_ids()), whole=True)


def _odd(value: str) -> bool:
    """Whether a word looks like a name made by an administrator: digits, underscores or inner hyphens."""
    return bool(re.search(r"[\d_]|\w-\w", value)) and not re.fullmatch(r"[\d.]+\w?", value)


def is_plain_word(value: str) -> bool:
    """Whether a word is one of the language, and no name."""
    folded = fold(value)
    return folded in _lists()["stop"] or lexicon().knows(folded)


def find_queues(text: str, folded: str, machines: frozenset[str]) -> list[NameSpan]:
    """Queues named by a cue, and words that are a queue's name on the machine meant."""
    return [
        *_spelled_queues(folded, machines),
        *_cued_queues(text, folded, machines),
        *_bare_queues(text, folded, machines),
    ]


def _spelled_queues(folded: str, machines: frozenset[str]) -> Iterator[NameSpan]:
    """`the debug scaling queue`: a queue of the machine with blanks where its name has hyphens, beside a cue."""
    ids = {name: one for machine in machines for name, one in queue_ids().get(machine, {}).items()}
    for name, one in ids.items():
        if len(parts := re.split(r"[-_]", name)) > 1:
            spelled = re.compile(rf"(?<![\w-]){'[ ]'.join(map(re.escape, parts))}(?![\w-])")
            for match in spelled.finditer(folded):
                before, after = folded[: match.start()], folded[match.end() :]
                if _label("cue_ends").search(before[-NEAR:]) or _label("cue_begins").match(after):
                    yield NameSpan("queue", one, *match.span())


def _cued_queues(text: str, folded: str, machines: frozenset[str]) -> list[NameSpan]:
    """One queue a cue: before or behind it, the one that the machine has first, else the one behind."""
    found: dict[int, NameSpan] = {}
    for name in ("queue_after", "queue_before"):
        for match in _label(name).finditer(folded):
            start, end = match.span("value")
            value = text[start:end].rstrip(".-")
            cue = match.start() if name == "queue_after" else end + 1
            # `the queue is crazy`: behind a mere copula a plain word tells how it is, and not its name.
            being = name == "queue_after" and bool(match["being"]) and match["being"] not in COPULAS
            one = _queue(value, machines, being, before=name == "queue_before")
            if one and (cue not in found or (_known(value, machines) and not _known(found[cue].value, machines))):
                found[cue] = NameSpan("queue", one, start, start + len(value))
    return list(found.values())


def _next_word(folded: str, at: int) -> int:
    """Where the word behind a cue begins, over `:`, `=` and "is"."""
    match = re.compile(r"\s*(?:is\b|=|:)?\s*").match(folded, at)
    return match.end() if match else at


def _queue(value: str, machines: frozenset[str], being: bool, before: bool) -> str | None:
    known = _known(value, machines)
    if not known and squeeze(value) in names().ids:
        return None
    if known or _label("placeholder").match(value.lower()):
        return known if known else None
    if (
        fold(value) in _lists()["stop"]
        or fold(value).endswith("est")
        or all(lexicon().knows(part) for part in re.split(r"[-_]", fold(value)))
    ):
        return None
    if _odd(value):
        return _anywhere(value) or value
    if _anywhere(value) and not lexicon().knows(fold(value)):
        return _anywhere(value)
    if (being or before) and not is_plain_word(value):
        return value
    return None


def _bare_queues(text: str, folded: str, machines: frozenset[str]) -> Iterator[NameSpan]:
    """Words that are a queue's name, where they stand as one: in a list, beside the machine, behind "in" or "use"."""
    named = any(_odd(word) and _known(word, machines, whole=True) for word in re.findall(r"[a-z][\w-]*\w", folded))
    cued = bool(machines) and (named or _label("any_queue").search(folded) is not None)
    for match in re.finditer(r"(?<![\w.-])[a-z][\w-]*\w(?!\w)", folded):
        one = None if _counts_gpus(match, folded) else _named(match[0], machines)
        if one and (
            _odd(match[0]) or _stands_alone(match, folded, machines, cued) or _of_gpu(match, one, text, folded)
        ):
            yield NameSpan("queue", one, *match.span())


def _of_gpu(match: re.Match[str], one: str, text: str, folded: str) -> bool:
    """`bridges2 GPU h100-80`: the queue in its own capitals, between the machine and the GPUs that are asked of it."""
    written = text[match.start() : match.end()]
    behind = re.match(r"[\s:,]+(?:\d+\s+)?\w*\d[\w-]*", folded[match.end() :])
    as_named = written == one != one.lower() and _names_machine(folded[max(0, match.start() - NEAR) : match.start()])
    return bool(as_named and behind and any(one.kind == "gpu" for one in find_methods(behind[0], behind[0])))


def _counts_gpus(match: re.Match[str], folded: str) -> bool:
    """`4 A40 GPUs`: a queue's name that is a GPU's, behind a number."""
    return (
        match[0] in _lists()["gpu_queues"]
        and re.search(r"(?<![\w.-])\d+\s*x?\s*$", folded[: match.start()]) is not None
    )


def _named(word: str, machines: frozenset[str]) -> str | None:
    """The queue of that name: of the machines meant, else of any where the name is odd or no machine is named."""
    if one := _known(word, machines, whole=True):
        return one
    return _anywhere(word) if word not in _lists()["gpu_queues"] and (_odd(word) or not machines) else None


def _stands_alone(match: re.Match[str], folded: str, machines: frozenset[str], cued: bool) -> bool:
    word, before = match[0], folded[max(0, match.start() - NEAR) : match.start()]
    after = folded[match.end() : match.end() + NEAR]
    if word in _lists()["verbs"] and (_label("verb_after").match(after) or _label("verb_before").search(before)):
        return False
    listed = bool(_label("listed_before").search(before) and _label("listed_after").match(after))
    ends = word not in _lists()["in_names"] and _label("listed_after").match(after) is not None
    beside = _names_machine(before) and (ends or word not in _lists()["never_beside"])
    if word in _lists()["never_bare"]:
        return (
            beside
            or (listed and word not in ("gpu", "gpus"))
            or (cued and _label("pointed").search(before) is not None)
        )
    pointed = bool(machines) and (cued or _label("pointed").search(before) is not None)
    return beside or listed or pointed or word in _lists()["bare"] or word in _lists()["gpu_queues"]


def _names_machine(before: str) -> bool:
    ends = re.search(r"([\w.-]+)[\s/|]+$", before)
    return ends is not None and names().pattern.fullmatch(ends[1]) is not None


def find_accounts(text: str, folded: str) -> list[NameSpan]:
    """Accounts named by a cue, or whose shape is that of a site's accounts."""
    found = [
        NameSpan("account", text[m.start() : m.end()], *m.span()) for m in _label("account_shape").finditer(folded)
    ]
    quoted = [m for m in _label("account_quoted").finditer(folded) if not _no_account(m["value"])]
    numbers = _label("account_number").finditer(folded)
    found += [NameSpan("account", text[slice(*m.span("value"))], *m.span("value")) for m in (*quoted, *numbers)]
    found += _cued_accounts(text, folded)
    found += [NameSpan("account", m["value"], *m.span("value")) for m in _label("account_alone").finditer(text)]
    for match in (*_label("account_before").finditer(folded), *_label("account_under").finditer(folded)):
        start, end = match.span("value")
        value = text[start:end]
        if any(m.start == _next_word(folded, match.end()) for m in found):
            continue
        named = re.search(r"\d|_", value) or len(match.groupdict().get("as") or "") > 1
        if named and not is_plain_word(value) and not _label("placeholder").match(value.lower()):
            found.append(NameSpan("account", value, start, end))
    if not found and _label("account_mentioned").search(folded):
        used = ((m.start("value"), m.end("value")) for m in _label("account_used").finditer(folded))
        found = [NameSpan("account", text[a:b], a, b) for a, b in used if squeeze(folded[a:b]) not in names().ids]
    return found


def _cued_accounts(text: str, folded: str) -> Iterator[NameSpan]:
    """The name behind `account`, `project` and the like, and the one that corrects it."""
    for match in _label("account_after").finditer(folded):
        start, end = match.span("value")
        value, cue, rest = text[start:end].rstrip(".-"), folded[match.start() : start], folded[end:]
        listed = _label("account_listed").search(folded[:start]) and _label("listed_after").match(rest)
        if dictated := _dictated(value, folded[start:]):
            yield NameSpan("account", dictated[0], start, start + dictated[1])
        elif _is_account(value, bool(match["being"] or listed), _label("ends").match(rest) is not None, cue):
            yield NameSpan("account", value, start, start + len(value))
            yield from _corrected(text, folded, start + len(value))


def _dictated(value: str, rest: str) -> tuple[str, int] | None:
    """`CLI 138`, `CLI one three eight`: the account in one word, and how long it is in the text."""
    match = _label("account_digits").match(rest) if value.isalpha() else None
    if not match:
        return None
    words = match["digits"].replace("oh", "zero").split()
    digits = "".join(str(DIGITS.index(word)) if word in DIGITS else word for word in words)
    return (value + digits, match.end()) if len(digits) == DICTATED else None


def _corrected(text: str, folded: str, at: int) -> Iterator[NameSpan]:
    """`account ab12, sorry, ab34`: a name of the same kind right behind a correction."""
    if match := _label("account_again").match(folded, at):
        start, end = match.span("value")
        if squeeze(match["value"]) not in names().ids and not find_methods(match["value"], match["value"]):
            yield NameSpan("account", text[start:end], start, end)


def _no_account(value: str) -> bool:
    """Whether a word is a placeholder, a word of the language, a file or a machine."""
    return bool(
        _label("placeholder").match(value.lower())
        or is_plain_word(value)
        or value.endswith(".py")
        or re.fullmatch(r"[a-z]+ed", value)  # "my account expired"
        or squeeze(value) in names().ids
    )


def _is_account(value: str, being: bool, ends: bool, cue: str) -> bool:
    if _no_account(value):
        return False
    if _odd(value) or re.search(r"\d", value) or re.fullmatch(r"[A-Z]{3,}", value):
        return True
    direct = _label("account_plain").search(cue) and not re.search(r"\b(?:is|ist|es|est)\b", cue)
    return (ends and bool(being or direct)) or (value[0].isupper() and "group" not in cue)
