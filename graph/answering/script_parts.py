"""The lines of a script, whoever wrote it: which one a question means, and what it does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from graph.answering.in_hand import InHand
from knowledge.data_file import read_data
from knowledge.options import OptionFact, options_named
from knowledge.word_lists import word_set
from knowledge.wording import FILLER

DIRECTIVE = re.compile(r"#\s?(?:SBATCH|PBS|BSUB|COBALT|flux:)", re.I)
TELLING = re.compile(r"`([^`]+)`|(--?[A-Za-z][\w-]*)|\$?\{?([A-Z][A-Z0-9]*_[A-Z0-9_]+)|([\w./:+-]+)")
COMMON = FILLER | word_set(
    "line lines script explain meaning wrote put reason point right wrong number mean does need there this that"
)
# The comment of a variable that the person asked for says nothing of what it does.
SAID = "as you said"
MOST_LINES = 3
LAUNCHERS = re.compile(
    r"\b(srun|mpiexec|mpirun|jsrun|torchrun|accelerate|deepspeed|flux|python)\b|(torch\.distributed\.run)"
)


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """One command or directive: its number, its text with what continues it, and the comment above."""

    number: int
    text: str
    comment: str = ""

    @property
    def shown(self) -> str:
        """On one row."""
        return " ".join(self.text.replace("\\\n", " ").split())

    def part(self, word: str) -> ScriptLine:
        """Of a long command the option with that word, of one over several rows the row."""
        rows = self.text.splitlines()
        option = (
            re.search(rf"(?<!\S){re.escape(word)}(?:[= ]?[^\s-]\S*)?", self.text) if word.startswith("--") else None
        )
        if option and not DIRECTIVE.match(self.text):
            return ScriptLine(self.number + self.text[: option.start()].count("\n"), option[0], self.comment)
        at = next((at for at, row in enumerate(rows) if word and holds(row, word)), None)
        return (
            self if at is None or len(rows) == 1 else ScriptLine(self.number + at, rows[at].rstrip("\\"), self.comment)
        )


def lines(text: str) -> list[ScriptLine]:
    """The commands and directives of a script, with the comments that stand right above them."""
    found, comment, rows = list[ScriptLine](), "", text.splitlines()
    number = 0
    while number < len(rows):
        start, row = number, rows[number]
        while row.endswith("\\") and number + 1 < len(rows):
            number += 1
            row += "\n" + rows[number]
        number += 1
        if re.match(r"\s*#(?!!)", row) and not DIRECTIVE.match(row):
            comment = "" if row.startswith("# ---") else f"{comment} {row.lstrip('# ')}".strip()
            continue
        if row.strip():
            found.append(ScriptLine(start + 1, row, "" if comment == SAID else comment))
        comment = ""
    return found


def line_at(number: int, text: str) -> ScriptLine | None:
    """The command or directive that covers that row; a comment or an empty row as it is; None: behind the end."""
    rows = text.splitlines()
    if not 1 <= number <= len(rows):
        return None
    covering = (one for one in lines(text) if one.number <= number <= one.number + one.text.count("\n"))
    return next(covering, ScriptLine(number, rows[number - 1]))


def lines_meant(question: str, known: Sequence[ScriptLine]) -> tuple[list[ScriptLine], str]:
    """The lines that are pasted into the question, or have a telling word of it that few lines have; and that word."""
    whole = [line for line in known if len(line.text) > 5 and line.text.strip() in question]
    if whole:
        return whole[:MOST_LINES], ""
    words = telling_words(re.sub(r"\b(?:ba)?sh -l?c\b", "", question))
    exact = [word for word in words if word.startswith("-") or word.isupper()]
    return by_word(exact, known) or by_shell_word(question, known) or by_word(words, known) or ([], "")


def by_word(words: Sequence[str], known: Sequence[ScriptLine]) -> tuple[list[ScriptLine], str] | None:
    """The few lines that have the first of the words that any has."""
    for word in words:
        having = [line for line in known if any(holds(line.text, one) for one in spellings(word))]
        setting = [line for line in having if re.match(rf"\s*(?:export )?{re.escape(word)}=", line.text)]
        if setting or 0 < len(having) <= MOST_LINES:
            written = next((one for one in spellings(word) if holds((setting or having)[0].text, one)), word)
            return setting[:1] or having, written
    return None


def by_shell_word(question: str, known: Sequence[ScriptLine]) -> tuple[list[ScriptLine], str] | None:
    """The lines with the shell construct that the question names: backslashes, `bash -c`, a trap."""
    for entry in shell_lines():
        called = next((w for w in entry["words"] if re.search(rf"(?<!\w){re.escape(w)}(?!\w)", question, re.I)), "")
        found = [line for line in known if called and re.search(entry["pattern"], line.text, re.M)]
        if found:
            return found[:MOST_LINES], called
    return None


def telling_words(question: str) -> list[str]:
    """Options, variables, paths and rare words of a question, the most telling first."""
    words = [next(part for part in found.groups() if part) for found in TELLING.finditer(question)]
    words = [word for one in words if (word := split_value(one.rstrip("?.,:;!"))).lower() not in COMMON]
    return sorted({word for word in words if len(word) > 1}, key=lambda word: (not word.startswith("-"), -len(word)))


def split_value(word: str) -> str:
    """`-c7` as `-c`, `--time=1:00` as `--time`."""
    short = re.fullmatch(r"(-[A-Za-z])\d+", word)
    return short[1] if short else word.split("=")[0] if word.startswith("-") else word


def spellings(word: str) -> list[str]:
    """The word and, for an option, its other names: a question may say -c where the script says --cpus-per-task, or
    leave the dashes out."""
    same = [name for fact in options_named(word) if word.startswith("-") for name in fact.names]
    bare = re.fullmatch(r"[a-z]\w*[_-][\w-]*\w", word)
    dashed = [f"--{word}", f"--{word.replace('_', '-')}"] if bare else []
    return list(dict.fromkeys([word, *same, *dashed]))


def holds(text: str, word: str) -> bool:
    """Whether the word stands in the text by itself; an option of one letter may have its value glued on."""
    glued = r"(?=\d)|" if re.fullmatch(r"-[A-Za-z]", word) else ""
    text = re.sub(r"\b(?:ba)?sh -l?c\b", "", text) if word == "-c" else text
    return (
        re.search(rf"(?<![\w-]){re.escape(word)}(?:{glued}(?![\w-]))", text, re.I if len(word) > 2 else 0) is not None
    )


def explain_line(line: ScriptLine, hand: InHand, word: str = "") -> list[str]:
    """What a line does, by its directives, options, variables and shell constructs; or what one word of it does."""
    told = [(fact, name) for name, fact in facts_of(line, hand)]
    if word and not word[0].islower():
        told = [pair for pair in told if set(spellings(word)) & {pair[1], *pair[0].names}] or told
    says = [f"{fact.says} {fact.trap}".strip() if len(told) == 1 else f"`{name}`: {fact.says}" for fact, name in told]
    constructs = [entry["says"] for entry in shell_lines() if re.search(entry["pattern"], line.text, re.M)]
    called = [entry["says"] for entry in shell_lines() if word and word.lower() in entry["words"]]
    if called:
        return called[:1]
    if word.startswith("-") and says:
        return list(dict.fromkeys(says))
    return list(dict.fromkeys([*constructs, *says]))


def explain_briefly(line: ScriptLine, hand: InHand) -> str:
    """A line in a sentence or two: its shell constructs, else its directive, option or variable."""
    constructs = [entry["says"] for entry in shell_lines() if re.search(entry["pattern"], line.text, re.M)]
    facts = [fact.says.split(". ")[0].rstrip(".") + "." for _, fact in facts_of(line, hand)]
    return " ".join(dict.fromkeys(constructs or facts[:MOST_LINES]))


def facts_of(line: ScriptLine, hand: InHand) -> Iterable[tuple[str, OptionFact]]:
    """(name as written, fact) for each known option and variable of a line."""
    rows = range(line.number, line.number + line.text.count("\n") + 1)
    directives = [one for one in hand.script.directives if one.line in rows]
    if directives:
        for one in directives:
            yield from ((one.written, fact) for fact in options_named(one.written, (one.scheduler,))[:1])
        return
    where = [next(filter(None, found)) for found in LAUNCHERS.findall(line.text)] or [*hand.layers]
    where = ["torchrun" if name.startswith("torch.") else name for name in where]
    text = re.sub(r"\b(?:ba)?sh -l?c\b", "", line.text)
    for name in re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", text):
        known = options_named(split_value(name), (*where, "program", "megatron", "hf-trainer"))
        fitting = [one for one in known if set(one.of) & {*where, "program", "megatron", "hf-trainer"}]
        yield from ((split_value(name), fact) for fact in fitting[:1])
    for name in re.findall(r"\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|RANK)\b", line.text):
        yield from ((name, fact) for fact in options_named(name)[:1])


@cache
def shell_lines() -> tuple[dict[str, Any], ...]:
    """shell_lines.yaml: pattern, says, words."""
    rows = read_data(Path(__file__).parent / "shell_lines.yaml")
    return tuple({"words": [], **row} for row in rows)
