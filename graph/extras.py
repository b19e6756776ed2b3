"""Wishes that no script here is written for (an email, an array, a restart): the line to add is told."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import yaml

from knowledge.cluster import Cluster

EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
NUMBER = re.compile(r"(?<![\w.:-])\d{1,5}(?![\w.:])")
NAME = re.compile(
    r"\b(?:named?|call(?:ed)?|reservation)\s+(?:it|is|to|the job|my job|this job|=|:)?\s*['\"`]?([A-Za-z][\w-]{1,40})"
)
TOLD = "I write no line for {what} myself. Add it under the other directives: `{line}`"
BY_COMMAND = "I write no line for {what} myself. Submit with: `{line}`"
NONE = "{title} has no directive for {what} that I know."


def extras(words: str, cluster: Cluster | None) -> tuple[str, ...]:
    """A sentence for each such wish; none where the scheduler is not known yet."""
    if cluster is None:
        return ()
    return tuple(told(one, words, cluster) for one in table() if re.search(one["words"], words, re.I))


def told(one: Mapping[str, str], words: str, cluster: Cluster) -> str:
    if anywhere := one.get("any"):
        return f"I write no {one['what']}: {anywhere}"
    line = one.get(cluster.scheduler, "")
    if not line:
        return NONE.format(title=cluster.title, what=one["what"])
    filled = line.replace("{email}", first(EMAIL, words, "YOUR_EMAIL")).replace("{number}", first(NUMBER, words, "N"))
    name = NAME.search(words)
    filled = filled.replace("{name}", name[1] if name else "NAME")
    return (TOLD if filled.startswith("#") else BY_COMMAND).format(what=one["what"], line=filled)


def first(pattern: re.Pattern[str], words: str, otherwise: str) -> str:
    found = pattern.search(words)
    return found[0] if found else otherwise


@cache
def table() -> Sequence[Mapping[str, str]]:
    rows: Sequence[Mapping[str, str]] = yaml.safe_load(
        Path(__file__).with_name("extras.yaml").read_text(encoding="utf-8")
    )
    return rows
