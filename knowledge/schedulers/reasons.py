"""What a reason means: whether the job starts by itself, where to look, what helps (reason_data/*.yaml)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from knowledge.data_file import read_facts
from knowledge.schedulers.limit_reasons import limit_reason
from knowledge.schedulers.limit_words import LimitWord, cut_word, family_word, limit_word
from knowledge.schedulers.reason_types import FOLDER, ReasonFile
from knowledge.schedulers.reason_types import WaitReason as WaitReason
from knowledge.schedulers.records import Scheduler
from knowledge.types import SCHEDULERS


@cache
def reason_file(name: str) -> ReasonFile:
    """The reasons of a scheduler, or `messages`. Raises FactsError on a wrong file."""
    return read_facts(FOLDER / f"{name}.yaml", ReasonFile)


@dataclass(frozen=True, slots=True)
class FoundReason:
    """A reason as it was met: what its sentence named (`nodes`, `res`, `parent`), and the limit that its word is."""

    reason: WaitReason
    named: Mapping[str, str]
    limit: LimitWord | None = None
    scheduler: Scheduler | None = None
    """Whose words they are, where they stood in a sentence."""
    cut: bool = False
    """The word was cut by its column, and is the only one that begins so."""


def sentence_reason(name: str, text: str) -> FoundReason | None:
    """The first sentence of a file that the text holds."""
    for reason in reason_file(name).sentences:
        if found := re.search(reason.match, text):
            # The same part of two forms of a sentence is `res` in the one and `res2` in the other.
            named = ((key.rstrip("2"), value) for key, value in found.groupdict().items())
            return FoundReason(reason, {key: value for key, value in named if value})
    return None


def find_reason(scheduler: Scheduler, text: str) -> FoundReason | None:
    """What a reason as a scheduler printed it means; None where it is not known."""
    readers = {"slurm": slurm_reason, "pbs": pbs_reason, "lsf": lsf_reason, "flux": flux_reason}
    said = text.strip()
    return readers[scheduler](said.strip("()") if said.startswith("(") else said)


@cache
def slurm_words() -> dict[str, WaitReason]:
    """Slurm's reasons of one word, by it in lower case."""
    return {reason.word.lower(): reason for reason in reason_file("slurm").reasons}


def slurm_reason(text: str) -> FoundReason | None:
    """A word, a word for a limit, a sentence of Slurm's, or a word that a column has cut."""
    word = text.split(",")[0].split(":")[0].strip().rstrip("+")  # sacct marks what its column has cut
    known = slurm_words()
    if found := sentence_reason("slurm", text):
        return found
    if word.lower() in known:
        return FoundReason(known[word.lower()], {})
    if limit := limit_word(word):
        return FoundReason(limit_reason(limit), {}, limit)
    if limit := cut_word(word):
        return FoundReason(limit_reason(limit), {}, limit, cut=True)
    begun = [reason for name, reason in known.items() if name.startswith(word.lower())] if len(word) >= 8 else []
    if len(begun) == 1:
        return FoundReason(begun[0], {}, cut=True)
    family = family_word(word)
    return guessed(word, family) if family else None


def guessed(word: str, family: LimitWord) -> FoundReason:
    """A word that is in no list: what its parts say, told as no more than that."""
    reason = limit_reason(family)
    says = f"`{word}` is in no list of Slurm's words that is known here; going by its form alone, {reason.says}"
    return FoundReason(replace(reason, says=says), {}, family)


def pbs_reason(text: str) -> FoundReason | None:
    """A comment of the scheduler; `Can Never Run:` before it says that it never starts as it is."""
    found = sentence_reason("pbs", text)
    if found is None or not text.startswith("Can Never Run"):
        return found
    return replace(found, reason=replace(found.reason, kind="limit-request", starts="no"))


def lsf_reason(text: str) -> FoundReason | None:
    """The reason that decides: one for the whole job before those for hosts; of these the one with most candidates.

    Hosts outside its choice decide nothing beside others, known or not.
    """
    lines = [line.strip() for line in text.split(";") if line.strip()]
    found = [(line, reason) for line in lines if (reason := sentence_reason("lsf", line))]
    for _, reason in found:
        if not reason.reason.per_host:
            return reason
    own = candidate_lines(lines)
    held = [pair for pair in found if pair[1].reason.word != "other hosts"]
    held = [pair for pair in held if pair[0] in own] or held
    if not held and any(host_count(line) for line in own if line not in dict(found)):
        return None
    ranked = sorted(held or found, key=lambda pair: (pair[0] in own, host_count(pair[0])), reverse=True)
    return ranked[0][1] if ranked else None


def candidate_lines(lines: list[str]) -> list[str]:
    """The reasons below the heading of candidate hosts; all where there is no such heading."""
    heads = [i for i, line in enumerate(lines) if re.search(r"andidate host pending reasons", line)]
    if not heads:
        return lines
    kept: list[str] = []
    for line in lines:
        if re.search(r"andidate host pending reasons", line):
            kept_now = not re.search(r"[Nn]on-candidate", line)
            rest = line.split("):", 1)[1].strip() if "):" in line else ""
            line = rest
        if kept_now and line:
            kept.append(line)
    return kept


def host_count(line: str) -> int:
    found = re.search(r"(\d+) hosts?", line)
    return int(found[1]) if found else 0


def flux_reason(text: str) -> FoundReason | None:
    return sentence_reason("flux", text.removeprefix("depends:"))


def message_reason(scheduler: Scheduler, text: str) -> FoundReason | None:
    """What a command said in words (message_at in messages.py found the line)."""
    speaker = r"^(?!allocation failure|\w+: (?:[Cc]ommand )?not found\.?$)[\w .-]+?: (?:error: |fatal: |ERROR: )?"
    return sentence_reason(f"messages_{scheduler}", re.sub(speaker, "", text))


# Plain words of English that are also reasons: in a sentence they are one only where it speaks of a reason or a state.
PLAIN = frozenset({"none", "prolog", "priority", "dependency", "resources", "licenses", "reservation", "constraints",
                   "cleaning", "timelimit", "outofmemory", "systemfailure"})  # fmt: skip
SPEAKS_OF_REASONS = re.compile(
    r"(?i)\b(reason|pending|PD|status|squeue|slurm|says?|shows?|stuck|waiting|queue|state|nodelist|held|start)\b|[()]"
)


def spoken_reason(text: str) -> FoundReason | None:
    """The reason that a sentence names: `my job says QOSMaxGRESPerUser, why?`, also cut or in brackets."""
    found_in = [found for name in SCHEDULERS if (found := find_in(name, text))]
    # A pattern that would fit any limit gives way to the sentence that one scheduler prints.
    found_in.sort(key=lambda one: one.reason.word == "some-limit")
    if found_in:
        return found_in[0]
    for word in spoken_words(text):
        found = slurm_reason(word)
        if found and (word.lower() not in PLAIN or (word[0].isupper() and SPEAKS_OF_REASONS.search(text))):
            return replace(found, scheduler="slurm")
    return None


def find_in(name: Scheduler, text: str) -> FoundReason | None:
    """A scheduler's own sentence inside a person's; the catch-all and the patterns of a word or two are no proof."""
    found = sentence_reason(name, text)
    if found is None or len(found.reason.match) < 13 or found.reason.per_host:
        return None
    return replace(found, scheduler=name)


def spoken_words(text: str) -> Iterator[str]:
    """Words that could be a reason: with a capital, longest first, so that a limit wins over `Priority` beside it."""
    words = re.findall(r"(?<![\w/.-])[A-Za-z]{4,}(?![\w/-])", text)
    yield from sorted(
        (word for word in words if word[0].isupper() or (word.lower() == word and len(word) > 11)),
        key=len,
        reverse=True,
    )
