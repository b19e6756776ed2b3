"""A message taken apart, once: the person's words, and the scripts, logs and printed outputs that came with them.

In any order, fenced or not, typed, pasted or attached. A text is read line by line: what a program prints is known by
its form (pasted.yaml), a script by a directive, a shebang or a launch; what is neither is the person's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from io import TextIOWrapper
from itertools import groupby
from typing import Literal, NamedTuple

from graph.extraction.sentences.lexicon import read_yaml
from graph.reading.commands import spoken_words
from graph.reading.side_files import FILE_NAME, is_config, is_file, name_of, stretches
from knowledge.opening import open_plain
from knowledge.schedulers.command_lines import COMMAND as SCHEDULER
from knowledge.schedulers.command_lines import PROMPT
from knowledge.schedulers.outputs import scheduler_output
from knowledge.types import Attachment, Paste

Kind = Literal["words", "script", "log", "output", "file"]
# How much of a file is read to tell what it is.
HEAD_CHARACTERS = 64_000
# Empty lines in a row; more mean no more, and each is looked at.
MOST_EMPTY = 1_000
# What a script's author says beside a command.
REMARK = re.compile(r"\s#.*")
EMPTY_LINES = re.compile(rf"\n{{{MOST_EMPTY},}}")
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
# A stop or a comma between words: no command that is not known is written so.
CLAUSES = re.compile(r"(?=[^$|&<>{}`;]*$).*?[a-z)]{2}[.,] [A-Za-z]\w+ .{3,}")
# A program's name and a few plain words.
COMMAND = re.compile(r"[a-z~./][\w.+/~-]*(?: [\w.+/~@%-]+){0,4}")
# A program's name that is no word of a sentence, or one with an argument that is none; and what starts a program.
CALLS = re.compile(r"(?=\S*[\d_./]|[a-z]+[A-Z])\S+ \S|\S+ (?:\S+ )*(?:\S*\w[_./]\w|-\w)")
STARTS = re.compile(r"\s*(?:(?:time|exec|nohup)\s+)?(?:python[\d.]*|bash|sh|singularity|apptainer|Rscript|julia)\s+\S")
ASKS = re.compile(r"[?\uff1f](?:\s|$)")
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
# Letters in which no shell's command is written, and a word with an accent.
NAMED_BY = re.compile(
    r"-|(?:module|ml|conda|spack|uv|pip|git)$"
)  # the word behind it is a value or a command of its own
FOREIGN = re.compile(r"[\u0400-\u04ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
ACCENTED = re.compile(r"(?<!\S)[^\W\d_]*[\u00c0-\u024f][^\W\d_]*(?=[\s,.;:!?]|$)")
# `for vista`: no loop over anything.
FOR_WHOM = re.compile(r"\s*for\s+(?!\w+\s*(?:;|$|\s+in\b)|\(\(|\w+\s+in\b)\w|for \w+\s*$")
PRINTS = re.compile(
    r"\s*(?:#|(?:echo|printf|print|cat|logger|trap|alias|read)\b|(?:if|while|until|for|elif|case)\b.*[\[;$(])"
)
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
SHELL_MARK = re.compile(r"[=$|&;{}<>\\`]|--\w|(?:^|\s)-\w\b|^\s*[/.~#]|/\S+/")
# A node's name and a time in front: the whole line was printed.
STAMPED = re.compile(r"\s*(?:[\w.-]+:\s+)?\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
# Directives behind words on one line; a single one in a question (`where does #PBS -q go?`) is spoken of.
INLINE = re.compile(
    r"(?P<words>[^\n]{3,}?\s)(?P<code>#(?:SBATCH|PBS|BSUB)\s+-(?!(?:(?!srun|mpiexec|python|torchrun)[^\n#])*\?\s*$).+)"
    r"|(?P<words2>[^\n]{3,}?(?::|[?!]|\bscript\b|\bhere)\s+)(?P<code2>(?:srun|mpiexec|jsrun)\s.+)"
)
# `add #SBATCH --exclusive`: a line that somebody wants in the script, and no script.
ORDERED = re.compile(
    r"\W*(?:(?:please|and|also|ok|can you|could you)\W+)*"
    r"(?:add|put|insert|set|include|append|use|stick|i (?:want|need))\b"
    r"[^#\n]{0,40}#(?:SBATCH|PBS|BSUB|flux:)\s+-[^#\n]*",
    re.I,
)
ASKED_OF = re.compile(r"(?i)\b(?:check|ok|okay|right|wrong|valid|error|refused|fails?|script|mine|i have|i.ve got)\b")
PIECES = re.compile(r"\s*(?:/|,|\band\b|;)\s+(?=#|srun\b|mpiexec\b|python|torchrun|export\b|module\b|source\b)")
REFUSED = r"\b(?:qsub|bsub|flux(?:[ -]\w+)?|sbatch|salloc|srun|jsrun|mpiexec): (?:[A-Z][\w-]*\b|error|would exceed|"
REFUSED += r"cannot|could not|invalid|illegal|unknown|unable|unauthorized|script|job|no|not|request|directive)\b[^\n]*"
CRASHED = (r"\s*(?:Caught signal|={3,} ?backtrace|\*\*\* Process received)", r"\s*#?\d+ +(?:0x[0-9a-f]+|/\S+\.so)")
# A script's file; `34871120.batch` is a job's step.
SCRIPT_FILE = re.compile(
    r"(?<![\w.$-])(?P<name>(?!\d+\.batch\b)\w[\w.-]*\.(?:sh|bash|slurm|sbatch|pbs|qsub|lsf|bsub|flux|job|sub|cmd|batch))(?![\w/])"
)
RUNS_FILE = re.compile(
    r"(?:^|[;&|(]|\s)(?:(?:bash|sh|source|\.)\s+(?:-\w+\s+)*|(?:srun|mpiexec|mpirun|exec)\s[^\n#]{0,200}?|(?=\./))"
    r"[\"']?(?:[^\s\"';|&#]{0,200}/)?(?P<name>[\w.-]{1,80}\.\w{2,6})(?![\w/.-])",
    re.MULTILINE,
)
SOURCED = re.compile(r"(?i)\bsource\s+(?:[^\s/]*/)*(?P<name>\w[\w.-]*\.\w+)")
# The name behind the command that submits or writes the file.
SUBMITTED = re.compile(
    r"(?:\b(?:sbatch|qsub|bsub\s*<|flux batch)\s+(?:-\S+\s+)*|\bcat\s*>\s*|\bCommand=)(?:[^\s/]*/)*"
    r"(?P<name>\w[\w.-]*\.\w+)(?![\w/])"
)
FENCE = re.compile(r"\s*(`{3,}|~{3,})")
# What ranks' output is marked by: words with a digit and a bracket or a colon; `0: [nid0012]` is enough alone.
MARKS = re.compile(r"\s*(?:(?=\S{0,80}\d)(?=\S{0,80}[\[\]:|])\S{1,80}\s+)+")
LABELLED = re.compile(r"\s*\d{1,5}: \[[a-z][a-z-]*\d[\w.-]*\] ")
HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")


AT_HOST = re.compile(r"\s*(?:\([\w.-]+\)\s*)?\[?[\w.-]+@[\w.-]+[^\n$#%>]{0,60}[$#%>]\s+[a-z./]")
TELLS_WHERE = re.compile(r"(?i)\s(?:on|with|using|auf|mit|sur|avec|con|su|na|em)\s")
# Lines of a paragraph that may be a program's output, and the share of them that nobody says.
LEAST_PRINTED, SPOKEN, MOST_JUDGED = 5, 0.5, 200
CERTAIN, SURE = ("cause", "verdict"), 70  # kinds of signatures, and the strength of one
TEXTS = ("words", "log")
BULLET = re.compile(r"\s*(?:[-*\u2022]|\d{1,2}[.)])\s")
OF_RANK = re.compile(r"\s*\[?(?:rank ?)?\d{1,5}\]?: ")
# A line whose last sign opens a text of several lines (`bash -c "`), and how many these are at most.
OPENS, MOST_QUOTED = re.compile(r"(?:\s|=)(?P<quote>[\"'])\s*$"), 80


# What a pasted script is called where nobody named it.
UNNAMED = "job.sh"


@dataclass(frozen=True, slots=True)
class Message:
    """What came in. words: only the person's own; files: what lies beside the scripts."""

    words: str
    scripts: tuple[Paste, ...] = ()
    logs: tuple[Paste, ...] = ()
    outputs: tuple[Paste, ...] = ()
    files: tuple[Paste, ...] = ()


@dataclass(slots=True)
class Apart:
    """What was found so far. above: the line of words right above what comes next."""

    words: list[str] = field(default_factory=list)
    scripts: list[Paste] = field(default_factory=list)
    logs: list[Paste] = field(default_factory=list)
    outputs: list[Paste] = field(default_factory=list)
    files: list[Paste] = field(default_factory=list)
    above: str = ""

    def add(self, kind: Kind, lines: Sequence[str], name: str = "") -> None:
        text = "\n".join(lines).strip("\n")
        if not text.strip():
            return
        above, self.above = self.above, text.rpartition("\n")[2] if kind == "words" else ""
        if kind == "words":
            self.words.append(text)
            return
        if kind == "script":
            name = name or name_above(above, text) or UNNAMED
        elif kind == "file":
            name = name_of(above, lines)
        else:
            name = f"pasted {kind}"
        place = {"script": self.scripts, "log": self.logs, "output": self.outputs, "file": self.files}[kind]
        place.append(Paste(name, text))

    def message(self) -> Message:
        came = bool(self.scripts or self.logs or self.outputs or self.files)
        words = [line for text in self.words for line in text.split("\n") if not (came and LABEL.fullmatch(line))]
        for at, one in enumerate(self.scripts[1:], 1):  # two files have two names
            if one.name == UNNAMED and not one.path:
                self.scripts[at] = replace(one, name=f"job-{at + 1}.sh")
        named = {one["name"] for text in self.words for one in FILE_NAME.finditer(text)}
        named = {one for one in named if not one.endswith(".py")}
        if len(self.files) == 1 and self.files[0].name.startswith("pasted") and len(named) == 1:
            self.files[0] = replace(self.files[0], name=next(iter(named)))
        joined = Paste("pasted log", "\n".join(one.text for one in self.logs if not one.path))
        logs = [one for one in self.logs if one.path] + ([joined] if joined.text else [])
        return Message(
            "\n".join(words).strip(), tuple(self.scripts), tuple(logs), tuple(self.outputs), tuple(self.files)
        )


def name_above(line: str, script: str) -> str:
    """The file's name in the line right above a script: the one that it ends on, or the only one."""
    runs = files_run(script) | {one["name"] for one in SOURCED.finditer(line)}
    names = [one for one in SCRIPT_FILE.finditer(line) if one["name"] not in runs]
    ends = [one["name"] for one in names if not re.search(r"\w", line[one.end() :])]
    return ends[0] if ends else names[0]["name"] if len(names) == 1 else ""


def told_name(text: str, script: str) -> str:
    """What the file of a pasted script is called: by the words or a fence around it, by who submits or writes it; empty
    where nothing or several things tell. What the script itself runs is another file."""
    inside_ = {row.strip() for row in script.splitlines() if row.strip()}
    around = "\n".join(row for row in text.splitlines() if row.strip() not in inside_)
    sure = dict.fromkeys(one["name"] for one in SUBMITTED.finditer(text))
    named = sure or dict.fromkeys(one["name"] for one in SCRIPT_FILE.finditer(around))
    runs = files_run(script) | {one["name"] for one in SOURCED.finditer(around)}
    found = [one for one in named if one not in runs]
    return found[0] if len(found) == 1 else ""


def files_run(script: str) -> set[str]:
    """The files that a script runs or sources, without their folders: none of them is the script itself.

    What a job submits may be: one that goes on hands itself in. Without directives it is no job, and submits others.
    """
    runs = {found["name"] for found in RUNS_FILE.finditer(script)}
    if not any(DIRECTIVE.match(line) for line in script.splitlines()):
        runs |= {found["name"] for found in SUBMITTED.finditer(script)}
    return runs


def take_apart(text: str, attachments: Sequence[Attachment] = ()) -> Message:
    """The message in its parts. Never raises: a file that has gone is a log that cannot be read, and is said later."""
    apart = Apart()
    split(text, apart)
    if [one.name for one in apart.scripts] == [UNNAMED] and (name := told_name(text, apart.scripts[0].text)):
        apart.scripts = [replace(apart.scripts[0], name=name)]
    for attachment in attachments:
        add_attachment(attachment, apart)
    return apart.message()


def add_attachment(attachment: Attachment, apart: Apart) -> None:
    """A file by its beginning. What a person pasted may hold their words too."""
    head = read_head(attachment)
    if attachment.name == "pasted" and len(head) < HEAD_CHARACTERS:
        pasted = Apart()
        split(head, pasted)
        if pasted.scripts or pasted.outputs or pasted.files or not pasted.logs:
            for one in ("words", "scripts", "logs", "outputs", "files"):
                getattr(apart, one).extend(getattr(pasted, one))
            return
        apart.words += pasted.words
    kind = "file" if is_config(attachment.name, head.split("\n"), printed().match) else kind_of_file(head)
    piece = Paste(attachment.name, head if kind in ("script", "file") else "", attachment.path)
    {"script": apart.scripts, "output": apart.outputs, "file": apart.files}.get(kind, apart.logs).append(piece)


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
    """The lines, from 0, of what a scheduler printed about jobs, each with the command line above it.

    A refusal of a submission reads like a log.
    """
    found, lines = scheduler_output(text), text.split("\n")
    printed = {n for one in found if one.kind != "refusal" for n in range(one.first, one.last + 1)}
    return printed | {n - 1 for n in printed if n and PROMPT.match(lines[n - 1]) and SCHEDULER.search(lines[n - 1])}


def split(text: str, apart: Apart) -> None:
    """A typed text: fenced blocks as they are marked, the rest by its lines."""
    text = EMPTY_LINES.sub("\n" * MOST_EMPTY, text)
    for tag, lines in blocks(text.split("\n")):
        if tag is None:
            for kind, run in (part for one in stretches(lines) for part in typed(*one)):
                apart.add(kind, run)
        elif (kind := kind_of_block(lines, tag, apart.above)) == "script":
            for script in each_script(lines):
                apart.add(kind, script)
        elif kind == "output":
            for part, run in by_whom(lines):
                apart.add(part, run)
        else:
            apart.add(kind, lines)


def by_whom(lines: Sequence[str]) -> Iterator[tuple[Kind, list[str]]]:
    """A fence with what a scheduler printed: where a program's own lines stand in it too, each part by itself."""
    outputs = printed_by_scheduler("\n".join(lines))
    others = [at for at, line in enumerate(lines) if line.strip() and at not in outputs]
    if len(others) < LEAST_PRINTED or not any(is_failure(lines[at]) for at in others):
        yield "output", list(lines)
        return
    for is_output, group in groupby(enumerate(lines), key=lambda pair: pair[0] in outputs):
        yield "output" if is_output else "log", [line for _, line in group]


def typed(of_file: bool, lines: list[str]) -> Iterator[tuple[Kind, list[str]]]:
    """The parts of lines that stand in no fence."""
    if of_file:
        yield "file", lines
    else:
        yield from runs(lines, printed_by_scheduler("\n".join(lines)))


def blocks(lines: Iterable[str]) -> Iterator[tuple[str | None, list[str]]]:
    """The stretches inside of fences with what the fence is marked as, and those outside with None."""
    tag, stretch = None, list[str]()
    for line in lines:
        if found := FENCE.match(line):
            yield tag, stretch
            tag, stretch = (line[found.end() :].strip() if tag is None else None), []
        else:
            stretch.append(line)
    yield tag, stretch


def each_script(lines: Sequence[str]) -> Iterator[list[str]]:
    """The scripts that stand one behind the other: each begins with its first line; what one writes into a file is its
    own."""
    script, until = list[str](), ""
    for line in lines:
        if SHEBANG.match(line) and not until and any(row.strip() for row in script):
            yield script
            script = []
        script.append(line)
        if until:
            until = "" if line.strip() == until else until
        elif document := HEREDOC.search(line):
            until = document[1]
    yield script


def kind_of_block(lines: Sequence[str], tag: str, above: str) -> Kind:
    """What a fence holds, by its mark or the name above it, or by the first line that tells."""
    if printed_by_scheduler("\n".join(lines)):
        return "output"
    if is_file(lines, tag, above, printed().match):
        return "file"
    for line in lines:
        if SHEBANG.match(line) or DIRECTIVE.match(line) or LAUNCH.match(line) or SETS.match(line):
            return "script"
        if printed().match(line) or inside().search(line):
            return "log"
    return "log" if any(line.strip() for line in lines) else "words"


def runs(lines: Sequence[str], outputs: set[int]) -> Iterator[tuple[Kind, list[str]]]:
    """Neighbouring lines of one kind. A blank line belongs to what it stands in. outputs: the schedulers' lines."""
    found = kinds(lines, outputs)
    for at in known_by_failures(lines, found):
        found[at] = "log"
    groups = [(kind, [at for at, _ in group]) for kind, group in groupby(enumerate(found), key=lambda pair: pair[1])]
    for number, (kind, group) in enumerate(groups):
        after = groups[number + 1] if number + 1 < len(groups) else ("words", [])
        if kind == "words" and number and groups[number - 1][0] == "script":
            goes_on = after[0] == "script" and not SHEBANG.match(lines[after[1][0]])
            if is_unknown_code([lines[at] for at in group], inner=goes_on):
                for at in group:
                    found[at] = "script"
    marked = list(zip(found, lines, strict=True))
    for kind, run in groupby(marked, key=lambda pair: pair[0]):
        yield from pieces(kind, [line for _, line in run])


def known_by_failures(lines: Sequence[str], found: Sequence[Kind]) -> Iterator[int]:
    """The lines of paragraphs that are a program's output though nothing in their form tells: those with a failure that
    a signature knows, and what ranks printed right above lines that are known. A few lines are somebody's words about
    an error.
    """
    for is_text, group in groupby(range(len(lines)), key=lambda at: found[at] in TEXTS and bool(lines[at].strip())):
        paragraph = list(group)
        if not is_text or len(paragraph) < LEAST_PRINTED:
            continue
        looked = [*paragraph[:MOST_JUDGED], *paragraph[MOST_JUDGED:][-MOST_JUDGED:]]  # its beginning and its end tell
        first, known = paragraph[0], any(found[at] == "log" for at in looked)
        said = {at for at in looked if is_said(lines[at])}
        spoken = said | {at for at in looked if is_sentence(lines[at])}
        said |= {first} if known or is_sentence(lines[first]) else set()
        printed_most = len(looked) - len(spoken) > SPOKEN * len(looked)
        if printed_most and any(is_failure(lines[at]) for at in looked if at not in said):
            yield from (at for at in paragraph if at not in said)
        elif known:
            yield from (at for at in paragraph if OF_RANK.match(lines[at]))


def is_said(line: str) -> bool:
    """Whether a person says it, names what follows, or lists it."""
    return is_talk(line) or LABEL.fullmatch(line.strip()) is not None or BULLET.match(line) is not None


def is_failure(line: str) -> bool:
    """Whether a signature knows a line as one that names a cause, without a doubt."""
    from knowledge.signatures.matcher import matcher  # compiled when a paragraph may be a log

    found = matcher().telling(line.encode("utf-8", "replace"))
    return any(one.cause and one.kind in CERTAIN and one.strength >= SURE for one in found)


def is_unknown_code(lines: Sequence[str], *, inner: bool) -> bool:
    """Whether lines below a script that nobody knows as commands are of it: no person speaks in them, and the script
    goes on behind them (inner), or they stand right below it and are no words at all."""
    told = [REMARK.sub("", QUOTED.sub('""', line)) for line in lines if line.strip()]
    if any(is_talk(line) or LABEL.fullmatch(line.strip()) or TALK.search(line) for line in told):
        return False
    if inner:
        return not any(is_sentence(line) for line in told)
    return bool(lines[0].strip()) and not any(re.search(r"[^\W\d_]{2}", line) for line in told)


def pieces(kind: Kind, lines: list[str]) -> Iterator[tuple[Kind, list[str]]]:
    """A line of words that ends in a line of a script or of a log: `my script: srun python t.py`. A line that a
    scheduler printed and in which somebody asks is both."""
    if kind == "output":
        yield kind, lines
        yield "words", [line for line in lines if ASKS.search(line) and TALK.search(line)]
        return
    if kind == "script":
        yield from ((kind, one) for one in each_script(lines))
        return
    if kind != "words":
        yield kind, lines
        return
    for line in lines:
        found = INLINE.fullmatch(line)
        code = PIECES.split(found["code"] or found["code2"]) if found else []
        # One directive in an order is a line that somebody wants (`exactly like this: #SBATCH --x`), and no script.
        lone = found and found["code"] and len(code) == 1 and not ("?" in line or ASKED_OF.search(found["words"]))
        if found and not lone and not ORDERED.match(line):
            yield "words", [found["words"] or found["words2"]]
            yield "script", code
        else:
            told = inside().search(line)
            if told and STAMPED.match(line):
                yield "log", [line]
                continue
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
    quoted = 0
    for at, (line, behind) in enumerate(zip(lines, behind_each(lines), strict=True)):
        if at < quoted:
            found.append("script")
        elif at in outputs:
            state.now = "output"
            found.append("output")
        else:
            found.append(state.kind(line, alone, behind))
            quoted = closed_at(lines, at) if found[-1] == "script" and not state.until else 0
    return found


def closed_at(lines: Sequence[str], at: int) -> int:
    """The line behind the one that closes the text which a script's line opens at its end; 0 where none does."""
    opens = OPENS.search(lines[at])
    if not opens or lines[at].lstrip().startswith("#") or lines[at].count(opens["quote"]) % 2 == 0:
        return 0
    for n in range(at + 1, min(len(lines), at + 1 + MOST_QUOTED)):
        if is_talk(lines[n]) or (not lines[n - 1].strip() and is_sentence(lines[n])):
            return 0  # somebody goes on in words: the sign closes nothing
        if re.search(rf"(?<!\\){opens['quote']}", lines[n]):
            return n + 1
    return 0


class Behind(NamedTuple):
    """What follows a line: the one below it, and the first two that are not blank; empty where there is none."""

    below: str
    said: str
    then: str


def behind_each(lines: Sequence[str]) -> list[Behind]:
    """Found from the end, so that no line looks through all that follows it."""
    found = [Behind("", "", "")]
    for line in reversed(lines[1:]):
        last = found[-1]
        found.append(Behind(line, line, last.said) if line.strip() else Behind(line, last.said, last.then))
    return found[::-1][: len(lines)]


@dataclass(slots=True)
class Lines:
    """Where the reading stands: inside which kind of text, what holds the next line to it, and whether the script
    starts its program already."""

    now: Kind = "words"
    until: str = ""
    continued: bool = False
    starts: bool = False

    def kind(self, line: str, alone: bool, behind: Behind) -> Kind:
        self.now = self.next(line, alone, behind)
        self.continued = line.rstrip().endswith("\\")
        self.starts = self.now == "script" and (self.starts or bool(LAUNCH.match(line) or STARTS.match(line)))
        return self.now

    def next(self, line: str, alone: bool, behind: Behind) -> Kind:
        if self.until:
            self.until = "" if line.strip() == self.until else self.until
            return "script"
        if AT_HOST.match(line):  # typed into a terminal: no script holds it
            return "words"
        ends = not self.starts and is_last_command(line, behind.said)
        if self.now == "script" and (self.continued or is_shell(line) or is_between(line, behind.said) or ends):
            self.until = document[1] if (document := HEREDOC.search(line)) else ""
            return "script"
        if begins_script(line, alone):
            return "script"
        if printed().match(line) or is_labelled(line):
            return "log"
        if self.now == "log" and not is_talk(line):
            return "log"
        if not line.strip() and self.now == "script":
            ends = not self.starts and is_last_command(behind.said, behind.then)
            return "script" if goes_on(behind.said) or is_between(behind.said, behind.then) or ends else "words"
        return "log" if self.now == "words" and leads_to_log(line, behind.below) else "words"


def is_labelled(line: str) -> bool:
    """Whether what was printed begins behind marks of ranks, hosts and times alone: `0: n1:51200:51200 [0]`."""
    if LABELLED.match(line):
        return True
    told = inside().search(line)
    return told is not None and bool(MARKS.fullmatch(line[: told.start()]))


def begins_script(line: str, alone: bool) -> bool:
    if SHEBANG.match(line) or DIRECTIVE.match(line):
        return True
    return not alone and bool(LAUNCH.match(line) or SETS.match(line)) and not is_sentence(line)


def is_shell(line: str) -> bool:
    """Whether a line goes on with the script that it stands under."""
    if FOR_WHOM.match(line):
        return False
    if printed().match(line) or not line.strip():
        return False
    return line.lstrip().startswith("#") or bool(
        (shell().match(line) or SHELL_MARK.search(line)) and not is_sentence(line)
    )


def goes_on(line: str) -> bool:
    """Whether the script goes on with what follows a blank line."""
    return bool(line) and (is_shell(line) or begins_script(line, alone=False))


def is_between(line: str, behind: str) -> bool:
    """Whether a line that nobody knows as a command (`nvidia-smi`, `sleep 5`) stands between lines of one script."""
    return is_plain_command(line) and not SHEBANG.match(behind) and goes_on(behind)


def is_last_command(line: str, behind: str) -> bool:
    """Whether the last line of a message calls a program that nobody knows (`nnUNetv2_train 501 3d_fullres 0`): what a
    script without any start was pasted for."""
    return not behind.strip() and is_plain_command(line) and bool(CALLS.match(line.strip()))


def is_plain_command(line: str) -> bool:
    """Whether a line is a name and a few plain words, in which nobody speaks."""
    text = line.strip()
    told = LABEL.fullmatch(text) or TALK.search(text) or printed().match(line) or is_sentence(line)
    return bool(COMMAND.fullmatch(text)) and not told


def leads_to_log(line: str, below: str) -> bool:
    """A line of figures right above what a program printed: `epoch 3 loss 0.21`; none in which somebody says where or
    with what it ran, or that what follows is the log."""
    said = line.rstrip().endswith((":", "\uff1a")) or TELLS_WHERE.search(line)
    return bool(printed().match(below)) and bool(re.search(r"\d", line)) and not (said or is_talk(line))


def is_talk(line: str) -> bool:
    """Whether a person says it, and no program."""
    text = line.strip()
    if not text or printed().match(line) or line[:1] in " \t":
        return False
    if text.endswith(("?", "\uff1f")) and TALK.match(text):
        return True
    words = re.findall(r"[^\W\d_]{2,}", text)
    plain = len(words) >= 2 and not SHELL_MARK.search(text)
    return plain and (text.endswith(("?", "\uff1f")) or bool(TALK.search(text)) or LABEL.fullmatch(text) is not None)


def is_prose(line: str) -> bool:
    """Whether a line at the margin, shell's signs or not, has a word that only people use: `--lr 2e-4 instead`."""
    text = REMARK.sub("", QUOTED.sub(" ", line))
    if not line.strip() or line[0] in " \t#" or PRINTS.match(line):
        return False
    if FOREIGN.search(text):
        return True
    words = text.split()
    if CALL.match(text) or LAUNCH.match(line):
        return False
    spoken = spoken_words("prose")
    return bool(ACCENTED.search(text)) or any(
        word.strip(",.;:!?").lower() in spoken and not NAMED_BY.match(before)
        for before, word in zip(["", *words], words, strict=False)
    )


def is_sentence(line: str) -> bool:
    """Whether a line that begins like a command goes on as a sentence: `set nodes to 8 please`."""
    if is_prose(line):
        return True
    text = line.strip()
    asks = text.endswith(("?", "\uff1f")) and TALK.search(text) is not None  # `module load x is in it. do i need it?`
    if line[:1] in " \t" or (text.startswith(("#", "-", "export ", "module ", "ml ")) and not asks):
        return False
    called = CALL.match(text) and not (SENTENCE_MARK.search(text) or TALK.search(QUOTED.sub(" ", text)))
    if (
        not (PRINTS.match(line) or called)
        and len({one.lower() for one in SMALL_WORDS.findall(QUOTED.sub(" ", text))}) > 1
    ):
        return True
    if CLAUSES.match(QUOTED.sub(" ", text)) and not (shell().match(line) or PRINTS.match(line) or called):
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
