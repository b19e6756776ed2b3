"""Trouble in words that no signature knows, and the state in which a log ends. Looked for in the last part of a log.

What stands after the last line of progress may tell why there is no further one; of equals the first line counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, islice, pairwise

from graph.debugging.echoes import is_source, spoken
from graph.debugging.lines import LEVEL, PROGRESS, SHOWN_SOURCE
from graph.debugging.log import message, printable
from knowledge.signatures.matcher import Matcher

# What of a log's end is looked at, in bytes, and how many of its lines.
TAIL = 48 << 10
MOST_LINES = 400
LONGEST = 2_000
# Lines of progress among so many last lines: the run was going on when the log stops.
LAST = 6

SURE = re.compile(
    r"(?i)^(?:[\w./-]+(?:\[\d+\])?: )*(?:fatal|panic|error|fehler|erreur|errore|abort\w*|critical)\b"
    r"|\b(?:fatal|unrecoverable|giving up|abort(?:ed|ing)|crash(?:ed)?|panick?(?:ed)?"
    r"|abbruch|abgebrochen|interromp\w+|interrump\w+|interrott\w|abortado)\b"
    r"|(?:^|[\s\]|>])(?:ERROR|FATAL|CRITICAL|PANIC)\b|\b[A-Z]\w+(?:Error|Exception)\b(?!s)"
)
PLAIN = re.compile(
    r"(?i)\b(?:failed|failure|fails?|error|exception|cannot|can't|could not|couldn't|unable to|denied|refused|killed"
    r"|died|\w*fehler|fehlgeschlagen|nicht (?:gefunden|endlich|m[öo]glich|lesbar)|kann nicht|erreur|échec|échoué"
    r"|impossible|fallo|falló|no se (?:puede|pudo)|errore|fallit[oa]|non è possibile)\b"
)
WEAK = re.compile(
    r"(?i)\b(?:invalid|illegal|not found|no such|unknown|unrecogni[sz]ed|missing|exceed(?:s|ed)|corrupt(?:ed)?|mismatch"
    r"|unsupported|not (?:allowed|permitted|supported|available|valid|enough|set)|undefined|expired|stuck|hung"
    r"|too (?:large|small|many|few|long|old)|must (?:be|have|not)|expected|diverged|insufficient|rejected|violat\w+"
    r"|conflict\w*|disconnected|unbound|unexpected)\b"
)
ENDED = re.compile(
    r"(?i)\b(?:status|(?:exit|return|error|with|nonzero)[ _-]?code|rc|exit(?:ed)?|rückgabewert"
    r"|code de (?:sortie|retour)|código de salida|codice di uscita)\b"
    r"\W{0,4}(?:with |is |value )?\W?-?[1-9]\d{0,2}\b|\bsignal \d+"
    r"|\b(?:terminated|killed) by\b|\bSIG(?:KILL|SEGV|BUS|ABRT|TERM|FPE|ILL|HUP|INT)\b"
)
NATIVE = re.compile(r"\S+\.so[\d.]*\(\+?\S*\) ?\[0x[0-9a-f]+\]|^#\d+ +0x[0-9a-f]+ in |^\S*\[0x[0-9a-f]{6,}\]$")
# glog's mark of a remark or a warning behind the time, as TensorFlow and XLA print it.
GLOG = re.compile(r"(?:[\d:./ T-]{8,32}: )?[IW] \w[\w./-]*\.(?:cc|h|cpp):\d+\]")
# How Lightning and others warn, with the file and line in front.
REMARK = re.compile(r"/\S*(?:site|dist)-packages/\S+\.py:\d+: (?!\w+(?:Error|Exception)\b)")
FRAME = re.compile(r'^\s*File ".{1,400}", line \d+')
# Fewer words than these are a heading or a field, and no message.
PLAIN_WORD, FEWEST = re.compile(r"[A-Za-z]{2,}"), 3
# What only sounds like trouble: settings, counts of none, rates, remarks on what is optional.
CALM = re.compile(
    r"(?i)[\w.-]*(?:error|fail|timeout|abort|exception|invalid|missing|signal|exit)[\w.-]*[\"']?\s*[:=]+\s*"
    r"(?:0\b|0\.\d|none|false|true|no\b|null|\[\])"
    r"|\b(?:no|0|zero|without|ohne|keine?|sans|aucune?|sin|senza|nessun) (?:\w+ )?"
    r"(?:errors?|failures?|exceptions?|problems?|fehler|erreurs?|échec|errores|errori|errore)\b"
    r"|\berrors? (?:rate|bars?|analysis|is|of)\b|(?:error|fehler|erreur|errore)(?: \w+){0,2}\s*[:=]?\s*\d+[.,]\d"
    r"|\b(?:mean|squared|absolute|rms|relative|train\w*|val\w*|test|std|standard|max\w*|l2|approximation"
    r"|reconstruction)[ _-]\w*[ _-]?error\b"
    r"|\bwarn|deprecat|\bignor|\bskip|optional|recommend|fall(?:ing)? ?back|will be|instead\b|default|\bretry|if you"
    r"|you can|code:? 0\b|status:? 0\b|exit(?:ed)? 0\b|successful|gracefully|normally|(?:unk|unknown)[_ ]token"
    r"|\bINFO\b|\bDEBUG\b"
)
STILL = re.compile(
    r"(?i)\b(?:done|finished|completed?|fertig|beendet|abgeschlossen|terminée?|terminad[oa]|terminat[oa]"
    r"|success\w*|saved|ended|end of|total (?:run ?)?time|elapsed|bye|all ok|(?:\d+|all)(?: \w+)? pass(?:ed)?"
    r"|exit(?:ed)?(?: code| status)? 0|0 (?:\w+ )?(?:failed|errors?|failures?)(?: \w+)?|best (?:config|trial|value))\b"
)


# So far, of all.
OF_ALL = re.compile(r"(?<![\d.])(\d{1,9})\s?(?:/|of)\s{0,8}(\d{1,9})(?![\d.])")
# What has a number as its name, and the words of who came through.
NUMBERED = re.compile(r"(?i)\b[a-z]\w*_\d+\b|\b(?:trial|rank|worker|replica|attempt|task|fold|run|job) #?\d+\b")
CAME_THROUGH = re.compile(r"(?i)\b(?:completed|recovered|succeeded|finished successfully|resumed)\b")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
# The time in front of a message counts up by itself; columns are filled up with blanks.
CLOCK_OR_GAP = re.compile(r"\d{4}[-/]\d\d[-/]\d\d[ T_-]?|\b[WEIFV]\d{3,4} |\d\d?:\d\d(?:[.,:]\d+)*(?: ?\|)?|(?<=\s)\s+")
# What is counted up and is no progress: frames, ranks, processes, the launchers' own words.
COUNTED = re.compile(
    r"(?i)frame #|\br\d+\b"
    r"|^\s*#?\d+[:.)]?\s*(?:0x|\[)|\b(?:rank|pid|task|exitcode|local_rank|traceback|port|errno)\b|NCCL"
    r"|File \"|\.py:\d|warn|^\s*\||^\s*\[\d+\]:?\s*$"
)
# What LSF reports of a job's memory.
PEAK = re.compile(rb"Max Memory :\s+(\d+(?:\.\d+)?) (\w+)")
REQUESTED, ALL_OF = re.compile(rb"Total Requested Memory :\s+(\d+(?:\.\d+)?) (\w+)"), 0.98
# A shape of line counts up when it came so often, and one of its first few numbers is nearly always higher.
OFTEN, RISING, FEW = 5, 0.8, 3


@dataclass(frozen=True, slots=True)
class Tail:
    """The last part of a log, and the number of its first line."""

    data: bytes
    first_line: int


@dataclass(frozen=True, slots=True)
class Trouble:
    """A line that tells of trouble, its number, its rank, and how plainly: 1 to 4."""

    line: int
    text: str
    rank: int | None
    score: int


LOSS = re.compile(
    rb"(?i)\b(?:loss|verlust|perte|p\xc3\xa9rdida|perdita)"
    rb"[\w ]{0,40}[\"']?[\s:=|]{1,20}(?:tensor\()?([-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?|[-+]?inf)\b"
)
LOST = re.compile(rb"(?i)\b(?:loss|grad(?:ient)?[ _]?norm)[\w ]{0,40}[\"']?[\s:=|]{1,20}(?:tensor\()?[-+]?nan\b")
# DeepSpeed's word that a step was thrown away. A scale begins high and falls in the first steps, which is
# as it should be; so often in a row and so low it tells that no step is taken any more.
OVERFLOW = re.compile(
    rb"OVERFLOW!.{0,60}?[Aa]ttempted loss scale: [\d.]+, (?:but hysteresis.{0,40}|reducing to) ?(\d+(?:\.\d+)?)"
)
OVERFLOWS, SMALL_SCALE, STEPS_EACH = 4, 64, 3
# So many last lines of progress without a number: no longer a step that a loss scaler skipped.
LOST_STEPS = 3
# A loss that large, or so many times all of the first half, and so many times the smallest one, has diverged.
LARGE, TIMES = 1e5, 1e4


@dataclass(frozen=True, slots=True)
class LogEnding:
    """How a log ends: `progress` in the middle of steps, `reached` with the last step of all, `closed` with words of an
    end, `whole` where these count all of something as done (in the line `counted`), else `open`. line: the last."""

    kind: str
    line: int
    text: str
    counted: int = 0


def tail_of(data: bytes, first_line: int, limit: int) -> Tail:
    """The last part of a block that ends at `limit`, cut at a line."""
    start = max(0, limit - TAIL)
    if start:
        newline = data.find(b"\n", start, limit)
        start = newline + 1 if newline >= 0 else start
    return Tail(data[start:limit], first_line + data.count(b"\n", 0, start))


def ending(tail: Tail) -> LogEnding:
    """How this log ends, told from its last lines alone."""
    numbered = enumerate(tail.data.replace(b"\r", b"\n").split(b"\n"), tail.first_line)
    lines = [(number, line.decode("utf-8", "replace")) for number, line in numbered if line.strip()][-LAST:]
    last = tail.first_line + tail.data.rstrip().count(b"\n")
    text = printable(lines[-1][1])[:LONGEST] if lines else ""
    counting = counting_lines(tail)
    steps = [at for at, (_, line) in enumerate(lines) if PROGRESS.search(line.encode())]
    after = lines[max(steps, default=-1) + 1 :]
    told = [(number, line) for number, line in after if STILL.search(line) and not ENDED.search(line)]
    whole = next((number for number, line in told if _is_last(line) and not plainness(line)), 0)
    kind = "whole" if whole else "closed" if told else "open"
    if not told and (steps or (counting and counting[-1] > last - LAST)):
        kind = "reached" if any(_is_last(line) for _, line in lines) else "progress"
    return LogEnding(kind, last, text, whole)


def _is_last(text: str) -> bool:
    """Whether a line of progress is that of the last step: `90/90`, `step 500 of 500`; the first count of a line is
    that of the whole run."""
    found = OF_ALL.search(text)
    return found is not None and int(found[1]) == int(found[2]) > 1


@lru_cache(maxsize=16)
def counting_lines(tail: Tail) -> list[int]:
    """The numbers of lines that count something up, whatever it is: the program was at work when it printed them."""
    shapes: dict[str, list[tuple[int, list[float]]]] = {}
    example: dict[str, str] = {}
    for number, raw in enumerate(tail.data.split(b"\n"), tail.first_line):
        text = CLOCK_OR_GAP.sub("", message(raw[-LONGEST // 4 :].decode("utf-8", "replace"))[0])
        if counts := [float(found) for found in NUMBER.findall(text)[:FEW]]:
            shape = NUMBER.sub("0", text)
            shapes.setdefault(shape, []).append((number, counts))
            example.setdefault(shape, text)
    found: list[int] = []
    for shape, lines in shapes.items():
        rises = sum(later[1] > earlier[1] for earlier, later in pairwise(lines))
        # Asked last, once a shape: most lines of a run have one, and the question costs more than all others.
        if len(lines) >= OFTEN and rises >= RISING * (len(lines) - 1) and not COUNTED.search(example[shape]):
            found += [number for number, _ in lines]
    return sorted(found)


def diverged(tail: Tail) -> Trouble | None:
    """The first line whose loss is beyond all bounds or no number, where the losses stay so to the end."""
    if lost := _no_numbers(tail) or _overflows(tail):
        return lost
    losses = list(islice(LOSS.finditer(tail.data), 10 * MOST_LINES))
    values = [abs(float(found[1])) for found in losses]
    half = len(values) // 2
    large = LARGE if half < OFTEN else min(LARGE, TIMES * max(values[:half]))
    if not values or values[-1] < large or values[-1] < TIMES * min(values[:-1], default=1.0):
        return None
    first = next(found for found, value in zip(losses, values, strict=True) if value >= large)
    start = tail.data.rfind(b"\n", 0, first.start()) + 1
    number = tail.first_line + tail.data.count(b"\n", 0, start)
    text, rank = message(printable(tail.data[start : first.end() + 120].partition(b"\n")[0].decode("utf-8", "replace")))
    return Trouble(number, text, rank, 3)


def _no_numbers(tail: Tail) -> Trouble | None:
    """The first of the last lines of progress, all of which give NaN for the loss or the norm of its gradient."""
    steps: list[tuple[int, bytes]] = []
    for number, line in enumerate(tail.data.split(b"\n"), tail.first_line):
        if LOST.search(line):
            steps.append((number, line))
        elif PROGRESS.search(line):
            steps.clear()
    if len(steps) < LOST_STEPS:
        return None
    number, line = steps[0]
    text, rank = message(printable(line[:LONGEST].decode("utf-8", "replace")))
    return Trouble(number, text, rank, 3)


def _overflows(tail: Tail) -> Trouble | None:
    """The first of the last steps, each of which overflowed and halved the loss scale; between them none went well."""
    found = list(OVERFLOW.finditer(tail.data))
    scales = [float(one[1]) for one in found]
    since = next((n for n in range(len(scales) - 1, 0, -1) if scales[n - 1] <= scales[n]), 0)
    if len(found) - since < OVERFLOWS or scales[-1] > SMALL_SCALE:
        return None
    steps = sum(1 for _ in PROGRESS.finditer(tail.data, found[since].start()))
    if steps > STEPS_EACH * (len(found) - since):
        return None
    start = tail.data.rfind(b"\n", 0, found[since].start()) + 1
    text, rank = message(printable(tail.data[start : found[since].end()].decode("utf-8", "replace")))
    return Trouble(tail.first_line + tail.data.count(b"\n", 0, start), text, rank, 3)


def memory_spent(tail: Tail) -> Trouble | None:
    """Where a scheduler's report says that all of the requested memory was used: the line with the peak."""
    asked, used = REQUESTED.search(tail.data), PEAK.search(tail.data)
    if not asked or not used or asked[2] != used[2] or float(used[1]) < ALL_OF * float(asked[1]):
        return None
    start = tail.data.rfind(b"\n", 0, used.start()) + 1
    text = printable(tail.data[start : used.end()].decode("utf-8", "replace"))
    return Trouble(tail.first_line + tail.data.count(b"\n", 0, start), text, None, 4)


@lru_cache(maxsize=16)
def troubles(tail: Tail, matcher: Matcher) -> list[Trouble]:
    """The lines after the last progress that tell of trouble in words of their own, in their order."""
    lines = tail.data.decode("utf-8", "replace").split("\n")
    after = list(zip(["", *lines], lines, count(tail.first_line)))[_after_progress(tail, lines) :]
    seen = [told for above, text, number in after[: 4 * MOST_LINES] if (told := _told(text, above, number, matcher))]
    well = [(number, text) for number, text in enumerate(lines, tail.first_line) if CAME_THROUGH.search(text)]
    return [told for told in seen if not _overcome(told, well[-MOST_LINES:])]


def _overcome(trouble: Trouble, well: Sequence[tuple[int, str]]) -> bool:
    """Whether what the line names by a number of its own (`trial_0001`, `rank 3`) came through later, in a line of
    those that tell it.
    """
    names = sorted({found[0] for found in NUMBERED.finditer(trouble.text)})
    named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")
    return bool(names) and any(number > trouble.line and named.search(line) for number, line in well)


def _after_progress(tail: Tail, lines: Sequence[str]) -> int:
    """Which of the tail's lines is the first after the last progress."""
    steps = [at for at, line in enumerate(lines, 1) if PROGRESS.search(line.encode())]
    return max([0, *steps[-1:], *(number + 1 - tail.first_line for number in counting_lines(tail)[-1:])])


def _told(line: str, above: str, number: int, matcher: Matcher) -> Trouble | None:
    """What a line tells of trouble, or None."""
    shown, rank = message(line.rpartition("\r")[2][:LONGEST].rstrip())
    text = printable(shown)
    if is_source(shown, above[:LONGEST]) or SHOWN_SOURCE.match(text):
        return None
    score = plainness(text)
    known = matcher.match(spoken(text).encode("utf-8", "replace")) if score else []
    if not score or any(s.kind != "fallback" or s.cause != "unknown" for s in known):
        return None
    return Trouble(number, text, rank, score)


def tells_an_end(trouble: Trouble) -> bool:
    """Whether the line tells that a process ended or crashed; a remark that something cannot be done does not."""
    return trouble.score in (1, 4) or NATIVE.search(trouble.text) is not None


def plainness(text: str) -> int:
    """How plainly a line tells of trouble in its own words, 0 to 4."""
    said = spoken(text)
    few = len(PLAIN_WORD.findall(said)) < FEWEST
    if NATIVE.search(said):
        return 2
    if FRAME.match(said):
        return 1
    found = LEVEL.search(said, 0, 160)
    if GLOG.match(said) or REMARK.match(said):
        return 0
    if (found and not SURE.match(said)) or CALM.search(said):
        return 0
    if SURE.search(said):
        return 1 if few else 4
    return 3 if PLAIN.search(said) and not few else 2 if WEAK.search(said) else 1 if ENDED.search(said) else 0
