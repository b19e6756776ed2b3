"""The options that a program rejects, and those of its usage that are meant."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from knowledge.slurm_options import slurm_options

REJECTED = re.compile(r"unrecognized arguments?: (?P<given>.+)")
SLURM = re.compile(
    r"\b(?P<command>sbatch|srun|salloc): (?:error: )?(?:unrecognized|unknown) option '?(?P<given>--[a-z][a-z-]{1,40})"
)
USAGE = re.compile(r"(?m)^usage: .*(?:\n[ \t]*[\[{<-].*)*")
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
ALIKE = 0.75
SHORTEST = 4


def facts_of_arguments(line: str, text: str) -> dict[str, str]:
    """All that the line rejects, and for each the nearest option of the usage that the log shows, in words."""
    if of_slurm := SLURM.search(line):
        known = dict.fromkeys(f"--{name}" for name in slurm_options().of(of_slurm["command"]))
        option = nearest(of_slurm["given"], known)
        return {"spelled": option} if option else {}
    if (found := REJECTED.search(line)) is None:
        return {}
    given = OPTION.findall(found["given"]) or found["given"].split()
    usage = USAGE.search(text)
    known = dict.fromkeys(OPTION.findall(usage[0])) if usage else {}
    near = {one: option for one in given if (option := nearest(one, known))}
    facts = {"argument": ", ".join(given), "rejected": ", ".join(f"`{one}`" for one in given)}
    if near:
        facts["nearest"] = ", ".join(f"`{option}` for `{one}`" for one, option in near.items())
    return facts


def nearest(given: str, known: dict[str, None]) -> str:
    """The option that is spelled nearly so, or shortens it; empty where there is none."""
    word = plain(given)
    rated = [(SequenceMatcher(None, word, plain(one)).ratio() + shortened(plain(one), word), one) for one in known]
    best, option = max(rated, default=(0.0, ""))
    return option if best >= ALIKE else ""


def plain(option: str) -> str:
    return option.strip("-").replace("_", "-").lower()


def shortened(short: str, whole: str) -> float:
    """1 where each word of one is the beginning of the other's word, or its letters in their order; else 0."""
    parts, words = short.split("-"), whole.split("-")
    if len(short) < SHORTEST or len(parts) != len(words):
        return 0.0
    return float(all(_letters(part, word) for part, word in zip(parts, words, strict=True)))


def _letters(part: str, word: str) -> bool:
    rest = iter(word)
    return part[:1] == word[:1] and all(letter in rest for letter in part)
