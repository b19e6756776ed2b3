"""What kind of text was given: a log, prose about failures, or source code.

Only a log tells why a job failed. A page that explains Xid errors, or a program that raises them, names causes too.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Literal

from graph.debugging.log import message, printable

# words: sentences that a person or a program may have written.
Look = Literal["log", "prose", "words", "source"]

SAMPLE = 24 << 10
# A document has so many lines of prose, a question fewer.
DOCUMENT = 6
MOSTLY, FEW, HALF, MORE = 0.6, 0.12, 0.5, 0.8
# A program's lines start alike, but for numbers; sentences of a person do not.
MANY, START, ALIKE = 24, 24, 0.7
# A line is judged by so much of its beginning: names in it are looked for in all ways, which takes the square of it.
LONGEST_START = 200
DIGITS = re.compile(r"\d+")

# How a line of a log starts, or what stands near its start.
MARK = re.compile(
    r"^\s*(?:Traceback \(most|File \"|\w+(?:\.\w+)*(?:Error|Exception|Warning|Interrupt|Exit)\b:?(?: |$)"
    r"|\S+\.\w+:\d+: |[-=*#_~]{12,}|\[[\w :.,/-]{1,60}\](?![(:])|=>>|\$ |TERM_|NVRM: |NCCL|PBS|\w+ERROR|Lmod has)"
    r"|\d\d:\d\d:\d\d|\d{4}-\d\d-\d\d[T ]|\b(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|CRITICAL)\b"
    r"|\b(?:loss|step|epoch|iter|it/s|s/it)\b['\"]?[ =:\[/]*\d|\d+%\||^\[ *\d+%\]|^-- \w"
    r"|^\S+@[\w.-]+[: ]\S*[$#%>] |^\++ \S|(?:^|\s)-?\d[\d.e+-]*(?:\s+-?\d[\d.e+-]*){3}"
)
# The frame in which Open MPI and PRRTE print what they have to say, in sentences.
FRAMED = "-" * 74
# Where a program's own output begins or ends with one of these, what stands between is its own too.
STAMPED = re.compile(
    r"\W?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d.{0,90}?\b(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL)\b"
    r"|# nThread \d+ nGpus \d+ |# NCCL version |\s*\.\. \S+ pid \d+: Test failure "
)
# Loggers of structured lines write one JSON object a line.
OBJECT = re.compile(r"\W{0,4}\w{0,12} ?\{\"\w+\": ?[^\n]")
# A library's exception may be explained over many lines.
RAISED = re.compile(r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception):(?: |$)")
SOMEBODY = re.compile(r"\?|\b(?:I|I'm|[Mm]y|[Hh]elp me)\b")
QUOTED = re.compile(r"> ?")
# A program that says its name; a key of YAML looks alike, if nothing follows that a message begins with.
NAMED = re.compile(r"^(?:[a-z][\w./-]*|[\w./-]*[\d/][\w./-]*)(?:\[\d+\])?: ")
FAILING = re.compile(r"(?:line \d+|\S+): |can't open|cannot |could not |unable to ")
KEY = re.compile(r"^\s*(?:- )?[\"']?[a-z][\w.-]*[\"']?:(?: |$)|^\s*- |^\s*#")
SENTENCE = re.compile(r"[A-Za-z][A-Za-z'/-]*[.,;:!?)\"'`]*|[(\"'`*]+[A-Za-z][\w'-]*[.,;:!?)\"'`*]*")
SMALL = re.compile(
    r"(?i)\b(?:the|a|an|is|are|was|be|to|of|and|or|if|in|on|with|for|that|this|it|you|your|my|i|we|when|not|can|do)\b"
)
BULLET = re.compile(r"^\s*(?:[-*+>|•]+|#{1,6}|\d{1,2}[.)])\s+")
ASKING = re.compile(r"\?|\b(?:I|I'm|[Mm]y|[Ww]e|[Oo]ur|[Hh]elp me)\b")
MARKUP = re.compile(r"^\s*(?:\||#{1,6} |```|[-*+] \S|\d{1,2}[.)] \S|\.\. |:\w+: )|\]\(|</?\w+[^>]*>|`[^`]+`.*`[^`]+`")
DOCUMENTED = re.compile(r"^\s*(?:\||#{1,6} |```|\.\. |:\w+: )|\]\(|</?\w+[^>]*>|`[^`]+`.*`[^`]+`")
CODE = re.compile(
    r"^\s*(?:def|class|import|from \S+ import|return|if|for|while|else|elif|try|except|raise|with|assert|async|yield"
    r"|await|public|private|static|void|int|const|let|var|func|fn|struct|template|namespace|using|switch|case|break|export"
    r"|set|then|fi|do|done|module|source|srun|mpiexec|torchrun|python3?)\b.*[:;{}()=\[\],\"'\w\\]$"
    r"|^\s*(?:#include|#define|#if|#endif|#!|#SBATCH|#PBS|#BSUB|# |//|/\*|\*/|@\w|\"\"\"|'''|[)}\]]+[;,:]?$)"
    r"|^\s*[\w.\[\]\"']+(?:: \w+)? ?[-+*/]?= ?\S|[;{}]\s*$|^\s*[\w.]+\(.*[),(\[]$|^\s*\"[\w.-]+\": "
)
# What a list of settings lacks, though its lines look like assignments.
PROGRAM = re.compile(
    r"^\s*(?:def|class|import|from|return|if|for|while|try|fi|done|module|source|srun|mpiexec|torchrun|function)\b"
    r"|^\s*(?:#include|#define|#!|#SBATCH|#PBS|//|/\*)|[;{}]\s*$|^\s*\w+(?:==|>=)[\d.]+$"
)


def look(head: bytes) -> Look:
    """Whether the first lines of a text are those of a log. In doubt they are."""
    lines = list(dict.fromkeys(line for line in head[:SAMPLE].decode("utf-8", "replace").splitlines() if line.strip()))
    if not lines:
        return "log"
    if sum(line[0] == ">" for line in lines) >= MORE * len(lines):  # a log, as a mail or an issue quotes it
        lines = list(dict.fromkeys(QUOTED.sub("", line, count=1) for line in lines))
    if len(lines) >= DOCUMENT and _is_yaml(lines):
        return "source"
    if FRAMED in lines or _is_output(lines):
        return "log"
    marked = (line for line in lines if marked_as_log(line))
    if next(islice(marked, int(FEW * len(lines)), None), None) is not None:
        return "log"
    prose = [line for line in lines if _is_prose(line)]
    if len(lines) < DOCUMENT:
        asked = len(prose) >= MOSTLY * len(lines) and ASKING.search(" ".join(prose))
        return "prose" if asked else "log"
    text = sum(1 for line in lines if MARKUP.search(line) or _is_prose(line))
    code = sum(1 for line in lines if CODE.search(line))
    if max(text, code) < HALF * len(lines) and text + code < MORE * len(lines):
        return "log"
    if text < code:
        return "source" if any(PROGRAM.search(line) for line in lines) else "log"
    if len(lines) >= MANY and len({DIGITS.sub("0", line)[:START] for line in lines}) < ALIKE * len(lines):
        return "log"
    # Programs explain themselves in sentences and lists too; a title, a link or a person's words they do not print.
    written = any(DOCUMENTED.search(line) for line in lines) or any(SOMEBODY.search(line) for line in prose)
    return "prose" if written else "words"


def marked_as_log(line: str, among: Look = "log") -> bool:
    """Whether the line starts as lines of logs do: a rank, a time, a level, a program's name, an exception."""
    text, rank = message(printable(line))
    if rank is not None or (MARK.search(text[:LONGEST_START]) and text[:1] != "#"):
        return True
    named = NAMED.match(text[:LONGEST_START])
    return named is not None and (among == "log" or FAILING.match(text, named.end()) is not None)


def _is_output(lines: list[str]) -> bool:
    """Whether the first line or the last one is plainly a program's, whatever it prints between."""
    if STAMPED.match(lines[0]) or STAMPED.match(lines[-1]):
        return True
    if sum(OBJECT.match(line) is not None for line in lines) > MORE * len(lines):
        return True
    return RAISED.match(lines[0]) is not None and not any(SOMEBODY.search(line) for line in lines)


def _is_yaml(lines: list[str]) -> bool:
    """Whether nearly all lines are keys or items, many of them indented, and none has a time of day."""
    keys = [line for line in lines if KEY.match(line)]
    inner = sum(1 for line in lines if line[:1] in " \t")
    return len(keys) > 0.7 * len(lines) and inner > 0.3 * len(lines) and not any(MARK.search(k[:40]) for k in keys)


def _is_prose(line: str) -> bool:
    """Whether it reads as a sentence, or a heading, of a person."""
    bare = BULLET.sub("", line).strip()
    words = bare.split()
    plain = sum(1 for word in words if SENTENCE.fullmatch(word))
    heading = bare != line.strip() and plain == len(words)
    return heading or (len(words) >= 4 and plain >= 0.7 * len(words) and SMALL.search(bare) is not None)
