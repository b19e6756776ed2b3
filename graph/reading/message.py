"""A message taken apart, once: the person's words, and the scripts, logs and printed outputs that came with them.

In any order, fenced or not, typed, pasted or attached. A text is read line by line: what a program prints is known by
its form (pasted.yaml), a script by a directive, a shebang or a launch; what is neither is the person's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from io import TextIOWrapper
from itertools import groupby
from typing import Literal, NamedTuple

from graph.extraction.sentences.lexicon import read_yaml
from knowledge.opening import open_plain
from knowledge.schedulers.outputs import scheduler_output
from knowledge.types import Attachment, Paste

Kind = Literal["words", "script", "log", "output"]
# How much of a file is read to tell what it is.
HEAD_CHARACTERS = 64_000
SHEBANG = re.compile(r"\ufeff?#!\s*/.*\b(?:ba|z|k|c|da|fi)?sh\b")
DIRECTIVE = re.compile(r"[ \t]*#[ \t]?(?:(?:SBATCH|PBS|BSUB|COBALT)\b|flux:)")
LAUNCH = re.compile(
    r"\s*(?:(?:time|exec|nohup)\s+)?(?:srun|mpiexec|mpirun|aprun|jsrun|lrun|ibrun|flux\s+run|torchrun|deepspeed"
    r"|accelerate\s+launch)\s+\S"
)
SETS = re.compile(r"\s*(?:export\s+\w+=|module\s+(?:load|purge|use|swap)\b|source\s+\S*/|conda\s+activate\b|set\s+-\w)")
LABEL = re.compile(
    r"\W*(?:(?:and|so|here(?:'s| is| are| comes)?|this is|below|attached|the|my|our|it|its|full|whole|current|old|job"
    r"|batch|slurm|pbs|launch|error|std(?:out|err)|from|of)\W+)*(?:script|log|output|error|file|traceback|head|header"
    r"|message|job|sbatch|stderr|stdout|logs?|run\.\w+)(?:\s+(?:is|says|file|was|in question))?\W*",
    re.I,
)
# Words of somebody who tells or asks; no program prints them to a job's output at a line's beginning.
TALK = re.compile(
    r"(?:^|\W)(?:i|i'm|i've|when|where|who|will|my|me|we|our|you|your|please|pls|plz|why|how|what|which|can|could|should|would|thanks|hi|hello"
    r"|hey|help|want|need|fix|make|also|then|just|instead|explain|it's|does|is this|was ist|warum|bitte|por ?qu[eé]"
    r"|pourquoi|perch[eé]|come|ist|das|mein|je|mon|il)(?:$|\W)",
    re.I,
)
# Small words of which no command line has two outside of its quotes, whatever options a person names between them.
SMALL_WORDS = re.compile(
    r"(?<![\w$/=.-])(?:the|an?|my|it|its|this|that|these|to|with|without|of|and|or|but|not|no|at|is|are|was|be|i|we|you|for|from|into"
    r"|instead|please|pls|also|only|so|all|as|der|die|das|den|ein\w*|und|mit|auf|bitte|nur|nicht|ich|le|la|les|un|une|et|pour|avec"
    r"|el|los|las|una|y|con|para|que|por|il|lo|di|per|e)(?![\w/=.-])",
    re.I,
)
# A program with an option: small words are its values (`--langs en de it el no is`), unless it has a sentence's marks.
CALL = re.compile(
    r"(?:\w+=\S*\s+)*(?:(?:time|exec|nohup)\s+)?(?:srun|mpiexec|mpirun|aprun|jsrun|lrun|ibrun|flux\s+run|torchrun|deepspeed"
    r"|accelerate|python[\d.]*|bash|singularity|apptainer|shifter|podman-hpc)\s(?:.*\s)?--?\w"
)
SENTENCE_MARK = re.compile(r",\s|[.?!]$")
PRINTS = re.compile(
    r"\s*(?:#|(?:echo|printf|print|cat|logger|trap|alias|read)\b|(?:if|while|until|for|elif|case)\b.*[\[;$(])"
)
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
SHELL_MARK = re.compile(r"[=$|&;{}<>\\`]|--\w|(?:^|\s)-\w\b|^\s*[/.~#]|/\S+/")
INLINE = re.compile(
    r"(?P<words>[^\n]{3,}?\s)(?P<code>#(?:SBATCH|PBS|BSUB)\s.+)"
    r"|(?P<words2>[^\n]{3,}?(?::|[?!]|\bscript\b|\bhere)\s+)(?P<code2>(?:srun|mpiexec|jsrun)\s.+)"
)
# `add #SBATCH --exclusive`: a line that somebody wants in the script, and no script.
ORDERED = re.compile(
    r"\W*(?:(?:please|and|also|ok|can you|could you)\W+)*"
    r"(?:add|put|insert|set|include|append|use|stick|i (?:want|need))\b"
    r"[^#\n]{0,40}#(?:SBATCH|PBS|BSUB|flux:)\s+-[^#\n]*",
    re.I,
)
PIECES = re.compile(r"\s*(?:/|,|\band\b|;)\s+(?=#|srun\b|mpiexec\b|python|torchrun|export\b|module\b|source\b)")
REFUSED = r"\b(?:qsub|bsub|flux(?:[ -]\w+)?|sbatch|salloc|srun|jsrun|mpiexec): (?:[A-Z][\w-]*\b|error|would exceed|"
REFUSED += r"cannot|could not|invalid|illegal|unknown|unable|unauthorized|script|job|no|not|request|directive)\b[^\n]*"
CRASHED = (r"\s*(?:Caught signal|={3,} ?backtrace|\*\*\* Process received)", r"\s*#?\d+ +(?:0x[0-9a-f]+|/\S+\.so)")
FENCE = re.compile(r"\s*(`{3,}|~{3,})")
HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")


@dataclass(frozen=True, slots=True)
class Message:
    """What came in. words: only the person's own."""

    words: str
    scripts: tuple[Paste, ...] = ()
    logs: tuple[Paste, ...] = ()
    outputs: tuple[Paste, ...] = ()


@dataclass(slots=True)
class Apart:
    """What was found so far."""

    words: list[str] = field(default_factory=list)
    scripts: list[Paste] = field(default_factory=list)
    logs: list[Paste] = field(default_factory=list)
    outputs: list[Paste] = field(default_factory=list)

    def add(self, kind: Kind, lines: Sequence[str], name: str = "") -> None:
        text = "\n".join(lines).strip("\n")
        if not text.strip():
            return
        if kind == "words":
            self.words.append(text)
            return
        place = {"script": self.scripts, "log": self.logs, "output": self.outputs}[kind]
        place.append(Paste(name or {"script": "job.sh", "log": "pasted log", "output": "pasted output"}[kind], text))

    def message(self) -> Message:
        came = bool(self.scripts or self.logs or self.outputs)
        words = [line for text in self.words for line in text.split("\n") if not (came and LABEL.fullmatch(line))]
        joined = Paste("pasted log", "\n".join(one.text for one in self.logs if not one.path))
        logs = [one for one in self.logs if one.path] + ([joined] if joined.text else [])
        return Message("\n".join(words).strip(), tuple(self.scripts), tuple(logs), tuple(self.outputs))


def take_apart(text: str, attachments: Sequence[Attachment] = ()) -> Message:
    """The message in its parts. Never raises: a file that has gone is a log that cannot be read, and is said later."""
    apart = Apart()
    split(text, apart)
    for attachment in attachments:
        add_attachment(attachment, apart)
    return apart.message()


def add_attachment(attachment: Attachment, apart: Apart) -> None:
    """A file by its beginning. What a person pasted may hold their words too."""
    head = read_head(attachment)
    if attachment.name == "pasted" and len(head) < HEAD_CHARACTERS:
        pasted = Apart()
        split(head, pasted)
        if pasted.scripts or pasted.outputs or not pasted.logs:
            for one in ("words", "scripts", "logs", "outputs"):
                getattr(apart, one).extend(getattr(pasted, one))
            return
        apart.words += pasted.words
    kind = kind_of_file(head)
    piece = Paste(attachment.name, head if kind == "script" else "", attachment.path)
    {"script": apart.scripts, "output": apart.outputs}.get(kind, apart.logs).append(piece)


def read_head(attachment: Attachment) -> str:
    """The beginning of the text; empty where the file has gone."""
    try:
        with (
            open_plain(attachment.path) as file,
            TextIOWrapper(file, encoding="utf-8", errors="replace", newline="") as text,
        ):
            return text.read(HEAD_CHARACTERS)
    except OSError:
        return ""


def kind_of_file(head: str) -> Kind:
    """A log that only quotes directives further down is a log."""
    begins = head[:2000]
    if SHEBANG.match(head) or any(DIRECTIVE.match(line) for line in begins.split("\n")):
        return "script"
    found = printed_by_scheduler(begins)
    return "output" if found and min(found) <= 1 else "log"


def printed_by_scheduler(text: str) -> set[int]:
    """The lines, from 0, of what a scheduler printed about jobs; a refusal of a submission reads like a log."""
    found = scheduler_output(text)
    return {n for one in found if one.kind != "refusal" for n in range(one.first, one.last + 1)}


def split(text: str, apart: Apart) -> None:
    """A typed text: fenced blocks as they are marked, the rest by its lines."""
    for fenced, lines in blocks(text.split("\n")):
        if fenced:
            apart.add(kind_of_block(lines), lines)
        else:
            for kind, run in runs(lines, printed_by_scheduler("\n".join(lines))):
                apart.add(kind, run)


def blocks(lines: Iterable[str]) -> Iterator[tuple[bool, list[str]]]:
    """The stretches inside and outside of fences."""
    fenced, stretch = False, list[str]()
    for line in lines:
        if FENCE.match(line):
            yield fenced, stretch
            fenced, stretch = not fenced, []
        else:
            stretch.append(line)
    yield fenced, stretch


def kind_of_block(lines: Sequence[str]) -> Kind:
    """What a fence holds, by the first line that tells."""
    if printed_by_scheduler("\n".join(lines)):
        return "output"
    for line in lines:
        if SHEBANG.match(line) or DIRECTIVE.match(line) or LAUNCH.match(line) or SETS.match(line):
            return "script"
        if printed().match(line) or inside().search(line):
            return "log"
    return "log" if any(line.strip() for line in lines) else "words"


def runs(lines: Sequence[str], outputs: set[int]) -> Iterator[tuple[Kind, list[str]]]:
    """Neighbouring lines of one kind. A blank line belongs to what it stands in. outputs: the schedulers' lines."""
    marked = list(zip(kinds(lines, outputs), lines, strict=True))
    for kind, group in groupby(marked, key=lambda pair: pair[0]):
        yield from pieces(kind, [line for _, line in group])


def pieces(kind: Kind, lines: list[str]) -> Iterator[tuple[Kind, list[str]]]:
    """A line of words that ends in a line of a script or of a log: `my script: srun python t.py`."""
    if kind != "words":
        yield kind, lines
        return
    for line in lines:
        found = INLINE.fullmatch(line)
        if found and not ORDERED.match(line):
            yield "words", [found["words"] or found["words2"]]
            yield "script", PIECES.split(found["code"] or found["code2"])
        else:
            told = inside().search(line)
            start, end = (told.start(), end_of(line, told.start())) if told else (len(line), len(line))
            yield "log", [line[start:end]]
            yield "words", [f"{line[:start]}{line[end:]}"]


def end_of(line: str, start: int) -> int:
    """Where what was printed ends: at its closing quote, where the person goes on, or with the line."""
    quote = line[start - 1] if start and line[start - 1] in "\"'`" else ""
    # An apostrophe inside a word (`queue generic's limit`) closes nothing.
    found = re.compile(rf"{quote}(?!\w)").search(line, start) if quote else None
    closed = found.start() if found else -1
    back = goes_back().search(line, start)
    return closed if closed >= 0 else back.start() if back else len(line)


def kinds(lines: Sequence[str], outputs: set[int]) -> list[Kind]:
    """What each line is."""
    found: list[Kind] = []
    state = Lines()
    alone = sum(bool(line.strip()) for line in lines) == 1
    for at, (line, behind) in enumerate(zip(lines, behind_each(lines), strict=True)):
        if at in outputs:
            state.now = "output"
            found.append("output")
        else:
            found.append(state.kind(line, alone, behind))
    return found


class Behind(NamedTuple):
    """What follows a line: the one below it, and the first that is not blank; empty where there is none."""

    below: str
    said: str


def behind_each(lines: Sequence[str]) -> list[Behind]:
    """Found from the end, so that no line looks through all that follows it."""
    found = [Behind("", "")]
    for line in reversed(lines[1:]):
        found.append(Behind(line, line if line.strip() else found[-1].said))
    return found[::-1][: len(lines)]


@dataclass(slots=True)
class Lines:
    """Where the reading stands: inside which kind of text, and what holds the next line to it."""

    now: Kind = "words"
    until: str = ""
    continued: bool = False

    def kind(self, line: str, alone: bool, behind: Behind) -> Kind:
        self.now = self.next(line, alone, behind)
        self.continued = line.rstrip().endswith("\\")
        return self.now

    def next(self, line: str, alone: bool, behind: Behind) -> Kind:
        if self.until:
            self.until = "" if line.strip() == self.until else self.until
            return "script"
        if self.now == "script" and (self.continued or is_shell(line)):
            self.until = document[1] if (document := HEREDOC.search(line)) else ""
            return "script"
        if begins_script(line, alone):
            return "script"
        if printed().match(line):
            return "log"
        if self.now == "log" and not is_talk(line):
            return "log"
        if not line.strip() and self.now == "script":
            return "script" if goes_on(behind.said) else "words"
        return "log" if self.now == "words" and leads_to_log(line, behind.below) else "words"


def begins_script(line: str, alone: bool) -> bool:
    if SHEBANG.match(line) or DIRECTIVE.match(line):
        return True
    return not alone and bool(LAUNCH.match(line) or SETS.match(line)) and not is_sentence(line)


def is_shell(line: str) -> bool:
    """Whether a line goes on with the script that it stands under."""
    if printed().match(line) or not line.strip():
        return False
    return (
        line.lstrip().startswith("#")
        or (bool(shell().match(line)) and not is_sentence(line))
        or (bool(SHELL_MARK.search(line)) and not is_sentence(line))
    )


def goes_on(line: str) -> bool:
    """Whether the script goes on with what follows a blank line."""
    return bool(line) and (is_shell(line) or begins_script(line, alone=False))


def leads_to_log(line: str, below: str) -> bool:
    """A line of figures right above what a program printed: `epoch 3 loss 0.21`."""
    return bool(printed().match(below)) and bool(re.search(r"\d", line)) and not is_talk(line)


def is_talk(line: str) -> bool:
    """Whether a person says it, and no program."""
    text = line.strip()
    if not text or printed().match(line) or line[:1] in " \t":
        return False
    words = re.findall(r"[^\W\d_]{2,}", text)
    plain = len(words) >= 2 and not SHELL_MARK.search(text)
    return plain and (text.endswith(("?", "\uff1f")) or bool(TALK.search(text)) or LABEL.fullmatch(text) is not None)


def is_sentence(line: str) -> bool:
    """Whether a line that begins like a command goes on as a sentence: `set nodes to 8 please`."""
    text = line.strip()
    if line[:1] in " \t" or text.startswith(("#", "-", "export ", "module ")):
        return False
    called = CALL.match(text) and not (SENTENCE_MARK.search(text) or TALK.search(QUOTED.sub(" ", text)))
    if (
        not (PRINTS.match(line) or called)
        and len({one.lower() for one in SMALL_WORDS.findall(QUOTED.sub(" ", text))}) > 1
    ):
        return True
    marks = SHELL_MARK.search(re.sub(r"(?<=\w)-(?=\w)", "", text))
    return is_talk(line) or (not marks and sum(word.strip(",.;:!?'").isalpha() for word in text.split()) >= 4)


@cache
def printed() -> re.Pattern[str]:
    """The beginnings of lines that programs print."""
    return re.compile("|".join([*read_yaml("pasted.yaml")["printed"], *CRASHED]))


@cache
def inside() -> re.Pattern[str]:
    """What a program printed in the middle of a line."""
    return re.compile("|".join([*read_yaml("pasted.yaml")["printed_inside"], REFUSED]))


@cache
def goes_back() -> re.Pattern[str]:
    """Where a person goes on in a line that a program printed."""
    return re.compile("|".join(read_yaml("pasted.yaml")["goes_on"]), re.IGNORECASE)


@cache
def shell() -> re.Pattern[str]:
    """The beginnings of commands."""
    return re.compile("|".join(read_yaml("pasted.yaml")["commands"]))
