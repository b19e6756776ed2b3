"""What comes with the program, as passages: facts of every machine, network variables, guides, causes, known issues.

Made by code from the files, so that they never say anything else than the files do; kept between processes (kept.py).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge.catalogue import Catalogue, catalogue
from knowledge.fact_passages import cluster_passages
from knowledge.kept import keep, kept
from knowledge.types import Passage
from knowledge.wording import stems

if TYPE_CHECKING:
    from knowledge.cards import Card

HERE = Path(__file__).parent
CAUSES = HERE / "causes.yaml"
CAUSES_AS_OF = "2026-08"
SCHEDULERS = {"slurm": "Slurm", "pbs": "PBS", "lsf": "LSF", "flux": "Flux"}
TELLING, MOST_LINES = 12, 6
"""How long a fixed part of a signature must be to be told, in letters, and how many (of the first, and longest)."""
OPTIONAL = re.compile(r"\[[^\[\]]*\{\w+\}[^\[\]]*\]")


@dataclass(frozen=True, slots=True)
class ShippedIndex:
    """The passages; in how many of them each stem stands, how telling it is; the causes of each card, by address."""

    passages: tuple[Passage, ...]
    having: Mapping[str, int]
    causes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def files() -> tuple[Path, ...]:
    """All files that the passages are made from."""
    from knowledge.signatures.loader import signature_files

    folders = (HERE / name for name in ("cards", "guides", "common_questions"))
    ours = (CAUSES, HERE / "network_env.yaml", *(path for folder in folders for path in folder.glob("*.yaml")))
    return (*sorted(ours), *signature_files(), *catalogue().files.values())


@cache
def shipped() -> ShippedIndex:
    """All of it, read once a process. Raises FactsError on a wrong file."""
    paths = files()
    found: ShippedIndex | None = kept("passages", paths)
    if found is None:
        found = lay_out(tuple(passages(catalogue())), {card.address: card.causes for card in cards()})
        keep("passages", paths, found)
    return found


def lay_out(texts: tuple[Passage, ...], causes: Mapping[str, tuple[str, ...]]) -> ShippedIndex:
    # What makes a word rare is the texts that tell of it, not the many ways to ask for one of them.
    having = Counter(stem for one in texts for stem in stems(whole(replace(one, asks=()))))
    return ShippedIndex(texts, dict(having), dict(causes))


def whole(passage: Passage) -> str:
    """Everything that a passage is found by."""
    return "\n".join((" > ".join((*passage.path, passage.title)), *passage.asks, passage.text))


def passages(known: Catalogue) -> Iterator[Passage]:
    """Facts of the machines, then what holds for any."""
    from knowledge.cards import GUIDES, Guide, card_passage, guide_passages
    from knowledge.checked_file import read_checked
    from knowledge.common_questions import FILES, CommonQuestion, question_passages
    from knowledge.network import FILE, NetworkFacts, network_passages

    for cluster in known.clusters.values():
        yield from cluster_passages(cluster)
    yield from network_passages(read_checked(FILE, NetworkFacts))
    for path in sorted(GUIDES.glob("*.yaml")):
        for guide in read_checked(path, tuple[Guide, ...]):
            yield from guide_passages(guide)
    for path in sorted(FILES.glob("*.yaml")):
        for question in read_checked(path, tuple[CommonQuestion, ...]):
            yield from question_passages(question)
    yield from cause_passages()
    yield from map(card_passage, cards())


def cards() -> list[Card]:
    """The known issues, file by file."""
    from knowledge.cards import CARDS, Card
    from knowledge.checked_file import read_checked

    return [card for path in sorted(CARDS.glob("*.yaml")) for card in read_checked(path, tuple[Card, ...])]


def cause_passages() -> Iterator[Passage]:
    """What each failure cause means and how it is cured; the steps of one scheduler on their own."""
    from knowledge.signatures.loader import library

    signatures = library()
    shown: dict[str, list[str]] = {}
    for signature in signatures.signatures:
        words = [word for word in signature.literals if len(word) >= TELLING and not word.startswith("(?")]
        shown.setdefault(signature.cause, []).extend(words)
    for name, cause in signatures.causes.items():
        if cause.group == "none":
            continue
        usual = list(dict.fromkeys(shown.get(name, ())))
        longest = sorted(usual, key=len, reverse=True)
        lines = "; ".join(dict.fromkeys((*usual[:MOST_LINES], *longest[:MOST_LINES])))
        says = " ".join(re.sub(r"\{\w+\}", "...", OPTIONAL.sub("", cause.says)).split())
        path = ("Failure causes", cause.group)
        title = f"{name}: {cause.means}"
        signs = f"\n\nWords of log lines that show it: {lines}" if lines else ""
        yield cause_passage(title, f"{says} What to do: {' '.join(cause.fix)}{signs}", path)
        for scheduler, steps in cause.by.items():
            text = f"{says} On {SCHEDULERS.get(scheduler, scheduler)}: {' '.join(steps)}"
            yield cause_passage(title, text, path, scheduler)


def cause_passage(title: str, text: str, path: tuple[str, ...], scheduler: str = "") -> Passage:
    source = f"maple-chat, causes of failures ({title.partition(':')[0]})"
    return Passage(text, title, source, CAUSES_AS_OF, path, kind="fact", scheduler=scheduler)
