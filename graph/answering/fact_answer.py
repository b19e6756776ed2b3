"""What comes back: plain sentences, the pages they stand on, and their date."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from graph.planning.queues import plural
from knowledge.cluster import Cluster, walltime_seconds

ADDRESS = re.compile(r"https?://[^\s,;)]+")
LABEL = re.compile(r"^[a-z ]{3,25} note: ", re.IGNORECASE)
TAIL = re.compile(r"\s*\(?(?:[Ss]ources?:? )?(?:(?:,|;| and| or)?\s*https?://[^\s,;)]+)+\)?\.?$")
# An address behind an option belongs to the command: `--index-url https://...`.
OPTION = re.compile(r"(?:^|\s)-{1,2}[\w-]+$")


@dataclass(frozen=True, slots=True)
class FactAnswer:
    """An answer out of the facts. sources are addresses (best first, perhaps none); as_of is their date."""

    text: str
    sources: tuple[str, ...]
    as_of: str


def say(cluster: Cluster, sentences: Iterable[str], sources: Iterable[str | None] = ()) -> FactAnswer:
    """Sentences about one machine; those that are empty are left out. An address at a sentence's end is a source."""
    texts, found = [], [source for source in sources if source]
    for sentence in sentences:
        tail = TAIL.search(sentence)
        if tail and not OPTION.search(sentence[: tail.start()]):
            found += ADDRESS.findall(tail[0])
            sentence = sentence[: tail.start()]
            sentence += ")" * (sentence.count("(") - sentence.count(")"))
        texts.append(as_sentence(LABEL.sub("", sentence)))
    pages = tuple(dict.fromkeys(page.rstrip(".") for page in found))[:3]
    fallback = (cluster.docs,) if cluster.docs else ()
    return FactAnswer(" ".join(text for text in texts if text), pages or fallback, cluster.as_of)


def as_sentence(text: str) -> str:
    """With a capital (unless it starts with a name such as --gres or NCCL_NET) and a full stop."""
    text = text.strip()
    if not text:
        return ""
    first = text.split()[0].rstrip(",;:!?.")
    if first.isalpha() and first.islower():
        text = text[0].upper() + text[1:]
    return text if text[-1] in ".!?:" or text.endswith("```") else f"{text}."


def spell(walltime: str) -> str:
    """`48 h`, `30 min`, `1 h 30 min` from HH:MM:SS."""
    minutes = walltime_seconds(walltime) // 60
    hours, rest = divmod(minutes, 60)
    return " ".join(
        part for part in (f"{hours} h" if hours else "", f"{rest} min" if rest or not hours else "") if part
    )


def nodes_in_words(least: int, most: int | None) -> str:
    if most is None:
        return f"{least} nodes or more" if least > 1 else "any number of nodes that is known"
    if least == most:
        return plural(least, "node")
    return f"{least} to {most} nodes" if least > 1 else f"up to {plural(most, 'node')}"


def listed(words: Iterable[str], last: str = "and") -> str:
    """`a, b and c`."""
    *most, end = [*words] or [""]
    return f"{', '.join(most)} {last} {end}" if most else end
