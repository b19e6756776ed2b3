"""Machines: their names in a text, nicknames and misspellings included.

Names come from the catalogue, so a site's own file counts at once; places.yaml adds machines that nobody described.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rapidfuzz.distance import OSA

from graph.extraction.sentences.lexicon import fold, read_yaml
from graph.extraction.sentences.line import NameSpan
from graph.extraction.sentences.methods import find_methods
from graph.extraction.sentences.taken import Taken
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster

SHORTEST_GUESS = 5  # letters; shorter words are too near to each other to mend


@dataclass(frozen=True, slots=True)
class Names:
    """pattern finds every known name; ids tells whose it is; a misspelling is held against guesses."""

    pattern: re.Pattern[str]
    ids: Mapping[str, str]
    shy: frozenset[str]
    heads_only: frozenset[str]
    sites: frozenset[str]
    stores: frozenset[str]
    own_cards: Mapping[str, re.Pattern[str]]
    guesses: Mapping[str, str]
    not_names: frozenset[str]


def squeeze(name: str) -> str:
    """A name without case, accents, blanks, hyphens and dots."""
    return re.sub(r"[\s_.-]+", "", fold(name))


def _aliases(cluster: Cluster) -> Iterator[str]:
    names = (cluster.id, *cluster.names, re.sub(r"\(.*?\)", "", cluster.title))
    yield from names
    for name in names:
        if re.fullmatch(r"[a-z]{5,}[ -]?\d", fold(name)):
            yield re.sub(r"[ -]?\d$", "", name)


def _sites(clusters: Mapping[str, Cluster]) -> dict[str, str]:
    """Acronyms in `site` that name one machine only: CINECA -> leonardo, PSC -> bridges2."""
    owners: dict[str, set[str]] = {}
    for cluster in clusters.values():
        for acronym in re.findall(r"\b[A-Z][A-Z0-9]{2,}\b", cluster.site):
            owners.setdefault(fold(acronym), set()).add(cluster.id)
        for name in re.findall(r"^[A-Z][a-z]{5,}", cluster.site):
            owners.setdefault(fold(name), set()).add(cluster.id)
    return {acronym: next(iter(ids)) for acronym, ids in owners.items() if len(ids) == 1}


@cache
def names() -> Names:
    """All names, read once a process."""
    data = read_yaml("places.yaml")
    clusters = catalogue().clusters
    spelled = {name: cluster.id for cluster in reversed(tuple(clusters.values())) for name in _aliases(cluster)}
    guesses = {squeeze(name): cluster for name, cluster in spelled.items()}
    for place, others in data["machines"].items():
        spelled = dict.fromkeys((place, *others), place) | spelled
    ids = {squeeze(name): cluster for name, cluster in spelled.items()}
    sites = {name: one for name, one in _sites(clusters).items() if name not in ids and name not in data["not_sites"]}
    shy, stores = frozenset(data["shy"]), data["stores"]
    cards = {one: _cards(clusters[one]) for name in shy if (one := ids.get(name, "")) in clusters}
    return Names(
        pattern=_pattern([*spelled, *sites, *stores]),
        ids=ids | sites | stores,
        shy=shy,
        heads_only=frozenset(data["heads_only"]),
        sites=frozenset(sites),
        stores=frozenset(stores),
        own_cards=cards,
        guesses={name: one for name, one in guesses.items() if len(name) >= SHORTEST_GUESS and name not in shy},
        not_names=frozenset(data["not_names"]),
    )


def _cards(cluster: Cluster) -> re.Pattern[str]:
    """The machine's GPUs and those of its queues that say one, as words: `a100`, `a40`, `gpu-h100s`."""
    models = {fold(kind.gpus.model).split()[0] for kind in cluster.node_types if kind.gpus.per_node}
    queues = {fold(queue.id) for queue in cluster.queues if re.search(r"[a-z]\d", fold(queue.id))}
    words = "|".join(map(re.escape, sorted(models | queues, key=len, reverse=True)))
    return re.compile(rf"(?<![\w-])(?:{words or '(?!)'})s?(?![\w-])")


def _pattern(spelled: list[str]) -> re.Pattern[str]:
    """Between the words of a name, and before its number, may stand a blank, a hyphen or nothing."""
    parts = [re.findall(r"\d+|[^\W\d_]+", fold(name)) for name in spelled]
    loose = sorted(map(_loose, parts), key=len, reverse=True)
    return re.compile(rf"(?<![\w$])(?<!\w-)(?:{'|'.join(dict.fromkeys(loose))})(?!\w)")


def _loose(words: list[str]) -> str:
    out = ""
    for before, word in zip(["", *words], words, strict=False):
        least = 1 if before.isdigit() and word.isdigit() else 0
        out += (rf"[\s_.-]{{{least},2}}" if before else "") + re.escape(word)
    return out


# What stands before a name that is also an everyday word, when it is meant as a machine.
POINTS = re.compile(
    r"(?:\b(?:on|at|from|to|onto|for|auf|fur|von|nach|sur|pour|en|para|su|per|de|da|em|machine|cluster|system|supercomputer|host|target)|[:=@>])\s*(?:the\s+|is\s+)?[\"']?$"
)
LEADS = re.compile(
    r"\s*(?:[,:;/|(?]|\.\s+\d|\d|$|(?:ddp|fsdp|zero|z[123]|deepspeed|pytorch|torch|accelerate|lightning|megatron|debug|one|two|four|single|a100|h100|mi|gpu)\b)"
)
# What may stand before the name at the head of a request that goes on from a talk: `ok helma, ...`.
GOING_ON = re.compile(
    r"(?:(?:ok(?:ay|e)?|then|so|and|but|yes|yep|no|well|better|rather|use|take|try|let'?s (?:use|take|try|go with)"
    r"|go with|i(?:'ll)? take"
    r"|dann|also|und|aber|ja|nein|lieber|doch|nimm|nehme|prends|alors|et|oui|bon|vale|entonces|pues|y|si|mejor|usa|allora|e|entao|sim)"
    r"[\s,.:;!-]+)+"
)
# Verbs that take a machine.
USED = re.compile(r"\b(?:use|uses|using|take|try|choose|pick|prefer|nimm|nehme|nehmen|nutze|prends|usa|usar|uso)\s+$")
# Two machines of one sentence, of which one may bear a person's name: `alex a100 vs helma`.
JOINED = re.compile(
    r"[\s,(]*(?:vs\.?|versus|or|and|oder|und|than|ou|et|o|y|e|ja|als|/|->)\s*(?:(?:on|the|auf|sur|en|su)\s+)*"
)
LAUNCHERS = (
    "jsrun",
    "srun",
    "lrun",
    "mpirun",
    "mpiexec",
    "torchrun",
    "flux",
    "bsub",
    "sbatch",
    "qsub",
    "node",
    "nodes",
)
# The same behind the name, where a language puts it there: "Firで", "Alex에서", "Fir 上".
POINTED = re.compile(r"\s*(?:で|に|から|へ|上|에서|에\b|로\b)")
# `Summit-like Lassen` is another machine, `Aurora from HR says I may use Leonardo` a person.
LIKE = re.compile(r"-(?:like|ish|esque)\b")
PERSON = re.compile(
    r"\s+(?:(?:from|in|of)\s+(?:[\w&]+\s+){1,4}?)?"
    r"(?:says?|said|tells?|told|asked|asks|wrote|writes|thinks?|thought|wants?|mentioned|suggest\w*|recommend\w*)"
    r"\s+(?:that\s+)?(?:i|we|you|me|us)\b"
)
# What a person says before their own name, and before that of whom they speak to.
SELF = re.compile(
    r"\b(?:i'?m|i am|my name is|this is|ich bin|ich hei(?:ss|ß)e|je suis|je m'appelle|soy|me llamo|sono|sou|here'?s"
    r"|h(?:i|ello|allo|ola)|hey|thanks?|thank you|danke|merci|gracias|grazie|obrigad[oa]|dear|dr|mr|ms|prof)[\s,.]*$"
)
STORE = re.compile(r"\s*(?::/|bucket|storage)")


def find_machines(text: str, folded: str) -> list[NameSpan]:
    """Every name of a machine, as mentions; a site's acronym is weak. Misspellings only where no name is found."""
    written = [(squeeze(match[0]), match) for match in names().pattern.finditer(folded)]
    meant = [_is_meant(name, text, folded, match) for name, match in written]
    meant = [one or _is_joined(at, written, meant, folded) for at, one in enumerate(meant)]
    weak = names().sites | names().stores
    return [NameSpan("machine", names().ids[name], *match.span(), weak=name in weak)
            for (name, match), one in zip(written, meant, strict=True) if one]  # fmt: skip


def _is_joined(at: int, written: Sequence[tuple[str, re.Match[str]]], meant: Sequence[bool], folded: str) -> bool:
    """Whether a name that is an everyday word too stands beside a machine that is meant: `narval or fir`."""
    name, match = written[at]
    if name in names().heads_only or names().ids[name] not in names().own_cards or LIKE.match(folded, match.end()):
        return False
    for other in (at - 1, at + 1):
        if 0 <= other < len(written) and meant[other]:
            first, second = sorted((match.span(), written[other][1].span()))
            between = folded[first[1] : second[0]]
            cards = names().own_cards.get(names().ids[written[min(at, other)][0]])
            if JOINED.fullmatch(cards.sub("", between) if cards else between):
                return True
    return False


def people(folded: str, machines: list[NameSpan]) -> list[NameSpan]:
    """The names that a person bears, where a machine is named too: `Aurora from HR says I may use Leonardo`."""
    found = [one for one in machines if PERSON.match(folded, one.end)]
    return found if len(found) < len(machines) else []


def _is_meant(name: str, text: str, folded: str, match: re.Match[str]) -> bool:
    before, after = folded[: match.start()].rstrip(), folded[match.end() : match.end() + 16]
    if LIKE.match(folded, match.end()):
        return False
    if len(name) <= 2 and (before[-1:].isdigit() or STORE.match(after)):
        return False
    if name in names().stores:
        return before[-1:] != "/"
    if name not in names().shy:
        return True
    return _is_pointed_at(name, text, folded, match)


def _is_pointed_at(name: str, text: str, folded: str, match: re.Match[str]) -> bool:
    """Whether a name that is an everyday word too is meant: it heads a request, has its own GPUs beside it, or words
    that point at a machine."""
    before, after = folded[: match.start()].rstrip(), folded[match.end() : match.end() + 16]
    heads = not GOING_ON.sub("", before + " ", count=1).strip() and bool(LEADS.match(after) or _leads(after))
    if heads or name in names().heads_only:
        return heads
    cards = names().own_cards.get(names().ids[name])
    if cards and (_has_card(cards, folded, match) or USED.search(folded[: match.start()])):
        return True
    if POINTS.search(folded[max(0, match.start() - 24) : match.start()]) or POINTED.match(after):
        return not STORE.match(after)
    return text[match.start()].isupper() and before != "" and before[-1] not in ".!?:" and not SELF.search(before)


def _has_card(cards: re.Pattern[str], folded: str, match: re.Match[str]) -> bool:
    """Whether one of the machine's own GPUs or queues stands beside its name: `alex a100`, `h100 helma`."""
    behind = cards.match(folded, match.end() + len(re.match(r"[\s(,-]*", folded[match.end() :])[0]))  # type: ignore[index]
    before = next((one for one in cards.finditer(folded) if not folded[one.end() : match.start()].strip(" ,/")), None)
    return behind is not None or (before is not None and before.end() <= match.start())


def _leads(after: str) -> bool:
    """Whether a request goes on behind a name that heads it: `tuo N=8`, `lassen jsrun pytorch`."""
    word = re.match(r"\s+([a-z][\w-]*)", after)
    if word is None:
        return False
    return after[word.end() :].startswith("=") or bool(word[1] in LAUNCHERS or find_methods(word[1], word[1]))


WORD = re.compile(r"(?<![\w$/.-])([^\W\d_]{3,})([ -]?(?:\d{1,2}|[^\W\d_]{2,8}))?(?![\w/])(?!-\w|\.\w)")


def guess_machines(folded: str, taken: list[NameSpan]) -> list[NameSpan]:
    """Words one slip away from a name of the catalogue (two for long names)."""
    found, spoken_for = [], Taken()
    for one in taken:
        spoken_for.add(one.start, one.end)
    at = 0
    while match := WORD.search(folded, at):
        at = match.end(1)
        for group in (0, 1):
            start, end = match.span(group)
            if not spoken_for.is_free(start, end) or LIKE.match(folded, end):
                continue
            word = match[group]
            if (name := guess(word)) and not (group == 0 and word[-1].isdigit() and not name[-1].isdigit()):
                found.append(NameSpan("machine", name, start, end))
                at = end
                break
    return found


@cache
def guess(word: str) -> str | None:
    """The machine that a misspelt word means, or None."""
    squeezed = squeeze(word)
    if (
        squeezed != (single := re.sub(r"(.)\1+", r"\1", squeezed))
        and len(single) > 3
        and single in names().ids
        and single not in names().shy
    ):
        return names().ids[single]
    if len(squeezed) == SHORTEST_GUESS - 1 and squeezed not in names().not_names and (swapped := _swapped(squeezed)):
        return swapped
    if len(squeezed) < SHORTEST_GUESS or squeezed in names().not_names or word in names().not_names:
        return None
    best, least = None, 4
    for name, cluster in names().guesses.items():
        limit = 1 if len(name) < 8 else 2 if len(name) < 12 else 3
        distance = OSA.distance(squeezed, name, score_cutoff=limit)
        same_start = squeezed[0] == name[0] or squeezed[:2] == name[1::-1]
        if distance <= limit and distance < least and same_start:
            best, least = cluster, distance
    return best


def _swapped(word: str) -> str | None:
    """The machine whose short name has two neighbouring letters the other way round: lmui."""
    orders = (word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1))
    clusters = catalogue().clusters
    return next((names().ids[o] for o in orders if names().ids.get(o) in clusters and o not in names().shy), None)
