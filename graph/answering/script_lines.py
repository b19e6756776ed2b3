"""The lines of our own scripts: which one a question means, and what it does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from graph.answering.fact_answer import as_sentence
from knowledge.wording import FILLER

POINTED = re.compile(r"\b(?:this|that|the|these|those|which) lines?\b", re.I)
WHICH = "Which line? Say its number, as in *what does line 12 do?*, or paste it"
TELLING = re.compile(r"`([^`]+)`|(--?[A-Za-z][\w-]*)|\$?\{?([A-Z][A-Z0-9]*_[A-Z0-9_]+)|([\w./:+-]+)")
COMMON = FILLER | {"line", "lines", "script", "explain", "meaning", "wrote", "put", "reason", "point"}
# The comment of a variable that the person asked for says nothing of what it does.
SAID = "as you said"
MOST_LINES = 3
SHORT = {
    **{"-A": "--account", "-C": "--constraint", "-q": "--qos", "-p": "--partition", "-N": "--nodes", "-t": "--time"},
    **{"-n": "--ntasks", "-c": "--cpus-per-task", "-G": "--gpus", "-J": "--job-name", "-o": "--output"},
}


@dataclass(frozen=True, slots=True)
class Line:
    """One command or directive: its number, its text with what continues it, and the comment above."""

    number: int
    text: str
    comment: str

    def part(self, word: str) -> Line:
        """Of a command over several rows, the row with that word."""
        rows = self.text.splitlines()
        at = next((at for at, row in enumerate(rows) if word and holds(row, word)), None)
        return self if at is None or len(rows) == 1 else Line(self.number + at, rows[at].rstrip("\\"), self.comment)


def of_lines(question: str, script: str) -> list[str]:
    """The lines that are meant, each with its comment and what it does; nothing is told twice."""
    known, rows = lines(script), script.splitlines()
    number = re.search(r"\bline (\d+)\b", question, re.I)
    if number:
        at = int(number[1])
        found = [line for line in known if line.number <= at <= line.number + line.text.count("\n")]
        if not found and 1 <= at <= len(rows):
            return [f"Line {at} only says: `{rows[at - 1]}`" if rows[at - 1].strip() else f"Line {at} is empty"]
        return [told_of(line, "") for line in found] or [f"The script has {len(rows)} lines"]
    found, word = meant(question, known)
    told: dict[tuple[str, ...], str] = {}
    for line in found:
        part = line.part(word)
        if says := tuple(filter(None, (line.comment * (line.comment != SAID), *explained(part.text, word)))):
            told.setdefault(says, told_of(part, word))
    return list(told.values()) or ([WHICH] if POINTED.search(question) else [])


def lines(script: str) -> list[Line]:
    """The commands and directives of a script, with the comments that stand right above them."""
    found, comment, rows = [], "", script.splitlines()
    number = 0
    while number < len(rows):
        start, text = number, rows[number]
        while text.endswith("\\") and number + 1 < len(rows):
            number += 1
            text += "\n" + rows[number]
        number += 1
        if re.match(r"#(?! ?(?:SBATCH|PBS|BSUB|flux:|!))", text):
            comment = "" if text.startswith("# ---") else f"{comment} {text.lstrip('# ')}".strip()
            continue
        if text.strip():
            found.append(Line(start + 1, text, comment))
        comment = ""
    return found


def meant(question: str, known: Sequence[Line]) -> tuple[list[Line], str]:
    """The lines that are pasted into the question, or have a telling word of it that few lines have; and that word."""
    whole = [line for line in known if len(line.text) > 5 and line.text.strip() in question]
    if whole:
        return whole[:MOST_LINES], ""
    words = [next(part for part in found.groups() if part) for found in TELLING.finditer(question)]
    words = [SHORT.get(word, word) for one in words if (word := one.rstrip("?.,:;!")).lower() not in COMMON]
    for word in sorted(set(words), key=len, reverse=True):
        having = [line for line in known if len(word) > 2 and holds(line.text, word)]
        setting = [line for line in having if re.match(rf"(?:export )?{re.escape(word)}=", line.text)]
        if setting or 0 < len(having) <= MOST_LINES:
            return setting[:1] or having, word
    return [], ""


def holds(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w)(?<!\w-){re.escape(word)}(?![\w-])", text, re.I) is not None


def told_of(line: Line, word: str) -> str:
    shown = " ".join(line.text.replace("\\\n", " ").split())
    says = " ".join(as_sentence(one) for one in (line.comment, *explained(line.text, word)) if one)
    return f"Line {line.number}, `{shown}`: {says}" if says else f"Line {line.number} is `{shown}`"


def explained(text: str, word: str) -> list[str]:
    """What a line does; where a word of it is asked for, what that part does."""
    parts = [part for part in text.split() if holds(part, word)] if word else [text]
    found = (says for part in parts for pattern, says in explanations() if re.search(pattern, part, re.M))
    return list(dict.fromkeys(found))


@cache
def explanations() -> Sequence[tuple[str, str]]:
    rows = yaml.safe_load((Path(__file__).parent / "lines.yaml").read_text(encoding="utf-8"))
    return tuple((pattern, says) for pattern, says in rows)
