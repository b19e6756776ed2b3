"""A message taken apart: what the person says, what they quote (commands, a job script), and what a program printed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from graph.extraction.sentences.lexicon import IDEOGRAPH, read_yaml

MOST = 20_000  # characters looked at: two thirds from the beginning, the rest from the end
MOST_SAID = 4_000  # characters of a person's own words; nobody writes more, and the rules are not made for it

ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
# Nobody's words: cut, so that no pattern has to look far.
LONG_WORD = re.compile(r"([!-~]{200})[!-~]+")
LONG_GAP = re.compile(r"\n{4,}|[ \t]{9,}")
STOPS = re.compile(r"([\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f])(?=\S)")  # of scripts without blanks
BESIDE = re.compile(rf"(?<=[{IDEOGRAPH}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[{IDEOGRAPH}])")
# GPUs with their memory as Bridges-2's `--gpus` takes them, which counts the whole job: `h100-80:16`.
# Source: https://www.psc.edu/resources/bridges-2/user-guide/
TYPED = re.compile(r"(?<![\w:=-])([a-zA-Z]{1,2}\d{2,4}[a-zA-Z]?)-\d{2,3}(?:[gG][bB]?)?:(\d{1,3})(?![\w:])")
TIMES = re.compile(
    r"(?<![\w.])(\d{1,4}(?:[nN](?=\s?[*\u00d7]))?)\s?[xX\u00d7*](?=\s?\d{1,3}(?![\w.]|\s?x)|\s?[A-Za-z]{1,5}\d|\s?gpu|\s?GPU|\s?nodes?\b)"
)
HALF_PAST = re.compile(r"(?<=\d)h([0-5]\d)(?!\w)")
COMMA = re.compile(
    r"(?<=\d),(?=\d{1,2}\s*(?:h\b|hours?|std|stund|heure|hora|ore\b|uur|godz|час|tage?\b|jours?|d[ií]a))", re.I
)


# 1 1/2 hours, 1/2 hour, 2½ h: `whole` and a fraction before a unit of time, or a fraction that is one character.
FRACTION = re.compile(
    r"(?<![\w./])(?:(?P<whole>\d{1,3})[ -])?(?P<part>[13])/(?P<of>[24])"
    r"(?=[\s-]*(?:h\b|hrs?\b|hours?\b|days?\b|std|stund|heure|hora|ore\b))",
    re.I,
)
VULGAR = {"\u00bc": ".25", "\u00bd": ".5", "\u00be": ".75"}
VULGAR_FRACTION = re.compile(rf"(\d*)[ ]?([{''.join(VULGAR)}])")


@dataclass(frozen=True, slots=True)
class LaidOutMessage:
    """said: a person's own words, quoted pieces blanked. quoted: commands and scripts. printed: what a program says."""

    said: str
    quoted: tuple[str, ...] = ()
    printed: str = ""
    has_script: bool = False


def _decimal(match: re.Match[str]) -> str:
    return f"{int(match['whole'] or 0) + int(match['part']) / int(match['of']):g}"


def clean(text: str) -> str:
    """A bounded text without control characters, with blanks between scripts and around `x` in counts."""
    if len(text) > MOST:
        text = text[: MOST * 2 // 3] + "\n" + text[-MOST // 3 :]
    text = LONG_WORD.sub(r"\1", LONG_GAP.sub(lambda m: m[0][:3], text))
    text = VULGAR_FRACTION.sub(lambda m: (m[1] or "0") + VULGAR[m[2]], text)
    text = unicodedata.normalize("NFKC", STOPS.sub(r"\1 ", ANSI.sub("", text)))
    text = CONTROL.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = FRACTION.sub(_decimal, BESIDE.sub(" ", text))
    return HALF_PAST.sub(r"h \1min", COMMA.sub(".", TIMES.sub(r"\1 x ", TYPED.sub(r"\2 \1 gpus in total", text))))


@cache
def _lines() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    data = read_yaml("pasted.yaml")
    return (
        re.compile("|".join(data["directives"])),
        re.compile("|".join(data["commands"])),
        re.compile("|".join(data["printed"])),
        re.compile("|".join(data["printed_inside"])),
    )


@cache
def _goes_on() -> re.Pattern[str]:
    return re.compile("|".join(read_yaml("pasted.yaml")["goes_on"]), re.IGNORECASE)


FENCE = re.compile(r"```[^\n]*\n?(.*?)(?:```|\Z)", re.DOTALL)
REMARK = re.compile(
    r"\s(?:\(([^()]{3,80})\)|((?:on|at|auf|en|sur|su)\s+[\w-]+(?:\s[\w-]+)?))\s*[.?!]*$"
)  # what a person adds behind a pasted line
QUOTE = re.compile(r"(?:^|[\s(:])([\"'])[^\"']*$")
TICKS = re.compile(r"`([^`\n]+)`")


def take_apart(text: str) -> LaidOutMessage:
    """Split a message. Pure, and linear in the (bounded) text."""
    text = clean(text)
    quoted: list[str] = []
    text = FENCE.sub(lambda m: "\n" + m[1] + "\n", text)
    printed: list[str] = []
    text = TICKS.sub(lambda m: _tick(m, quoted, printed), text)
    lines = text.split("\n")
    first, last = _script(lines)
    script = lines[first : last + 1] if first >= 0 else []
    if script:
        quoted.append("\n".join(script))
    rest = lines[:first] + lines[last + 1 :] if script else lines
    said, output = _printed(rest)
    printed += output
    return LaidOutMessage("\n".join(said)[:MOST_SAID], tuple(quoted), "\n".join(printed), bool(script))


def _tick(match: re.Match[str], quoted: list[str], printed: list[str]) -> str:
    """A command or a program's line in backquotes is blanked; a single word in backquotes is the person's own."""
    _, command, output, inside = _lines()
    if " " not in match[1].strip() and not command.match(match[1]):
        return f" {match[1]} "
    if output.match(match[1]) or inside.search(match[1]):
        printed.append(match[1])
        return " <printed> "
    quoted.append(match[1])
    return " <command> "


def _script(lines: Sequence[str]) -> tuple[int, int]:
    """The first and last line of a pasted job script; (-1, -1) without any directive."""
    directive, command, printed, _ = _lines()
    marks = [i for i, line in enumerate(lines) if directive.match(line)]
    if not marks:
        return -1, -1
    last = marks[-1]
    for i in range(last + 1, len(lines)):
        if printed.match(lines[i]):
            break
        if command.match(lines[i]) or (i > 0 and lines[i - 1].rstrip().endswith("\\") and last == i - 1):
            last = i
    return marks[0], last


def _quote_ends(line: str, start: int) -> int:
    """Where the quotation ends that a printed piece stands in; 0 where it stands in none."""
    opened = QUOTE.search(line[:start])
    closed = re.compile(rf"{opened[1]}(?!\w)").search(line, start) if opened else None
    return closed.start() if closed else 0


def _prose_begins(line: str, match: re.Match[str]) -> int:
    """Where a person goes on behind what a program printed: `... when I run it on Frontier`."""
    back = _goes_on().search(line, match.start(), match.end())
    remark = REMARK.search(line[: match.end()], match.start())
    return back.start() if back else remark.start() if remark else match.end()


def _printed(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The person's own lines, and the lines that a program printed."""
    _, _, printed, inside = _lines()
    said, output, in_traceback = [], [], False
    for line in lines:
        if printed.match(line) or (in_traceback and line[:1] in (" ", "\t")):
            output.append(line)
            in_traceback = in_traceback or line.lstrip().startswith("Traceback")
            back = None if in_traceback else _goes_on().search(line)
            remark = REMARK.search(line)
            said.append(line[back.start() :] if back else (remark[1] or remark[2]) if remark else "")
            continue
        in_traceback = False
        match = inside.search(line)
        if match:
            end = _quote_ends(line, match.start()) or _prose_begins(line, match)
            output.append(line[match.start() :])
            said.append(line[: match.start()] + " <printed> " + line[end:])
        else:
            said.append(line)
    return said, output
