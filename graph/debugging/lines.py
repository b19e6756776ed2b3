"""What a line of a log says of itself: its level and its time."""

from __future__ import annotations

import re
from typing import Any

import re2

from knowledge.signatures.matcher import options

STAMP = re.compile(rb"(?:(\d{4})[-/](\d\d)[-/](\d\d)[T _]|\b[WEIFV](\d\d)(\d\d) )(\d\d):(\d\d):(\d\d)")
LEVEL = re.compile(r"(?<![=\w])(?:WARN(?:ING)?|INFO|DEBUG|TRACE)\b|(?:User|Future|Deprecation|Runtime)Warning\b")
ERROR_FIRST = re.compile(r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception): ")
SAID_ERROR = re.compile(r"\b(?:ERROR|FATAL|CRITICAL)\b|\berror: |(?:Error|Exception)\b")
OPENING = 4 << 10
# A log that is cut inside a traceback begins with lines that every rank prints: no new run begins there.
TRACEBACK = re.compile(rb'Traceback|File "|\^\^|^(?:\[\w+\]: ?)?(?:\w+\.)*\w*(?:Error|Exception)\b', re.MULTILINE)
VARYING = re.compile(
    rb"(\d+| +|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)\b)"
)
# LSF's report, which stands above the output in a mail, and below it in a file.
REPORT, REPORT_BELOW = b"Sender: LSF System", b"The output (if any) is above this job summary"
# It holds the job script.
LONGEST_REPORT = 16 << 10
PROGRESS = re2.compile(
    rb"(?i)it/s[\],]|s/it[\],]|\d(?:it/s|s/it|ms/step)\b"
    rb"|\b(?:step|iter|iteration|epoch|batch)s?[ \[:=/#]*\d+.*(?:loss|acc|lr|time|tflops|speed|norm|train|val|eta)"
    rb"|\bepochs? \d+[,)]|\b(?:loss|acc(?:uracy)?|mAP|PSNR|ppl) (?:is|was)[: ]+-?\d"
    rb"|\"(?:GET|POST|PUT) \S+ HTTP/[\d.]+\"? 200\b"
    rb"|\bApplication startup complete|\bUvicorn running on |\b(?:[Ll]istening (?:on|at)|[Ss]erving on) \S*:\d"
    rb"|(?:router|server)\S* .*\bConnected\s*$"
    rb"|\b(?:epoch|step|iter(?:ation)?)s?[ :#\[]*\d+ ?(?:/|of) ?\d+|\bloss[\"']?\s*[:=]\s*(?:tensor\()?-?\d",
    options(),
)
# What every stamp has, found in a tenth of the time.
CLOCK = re2.compile(rb"\d\d:\d\d:\d\d", options())
# How compilers show a line of the program that they speak of.
SHOWN_SOURCE = re.compile(r"\d{1,6} \| ")
# Advice on what would be better, and what a login shell or a site's prologue says before the job's own commands.
ADVICE = re.compile(
    r"(?i)\b(?:please (?:consider|install|upgrade|update|note|be aware)|you (?:may|might) want to"
    r"|(?:may|might|could|will) be (?:slower|slow|sub-?optimal|less|inefficient|deprecated|removed)|sub-?optimal"
    r"|(?:it is|we) recommend(?:ed)?|for (?:better|best|optimal|maximum|faster) (?:performance|speed|results)"
    r"|to (?:suppress|silence|disable) this)\b"
)
PROLOGUE = re.compile(
    r"(?:-?(?:ba|z|c|tc|k)?sh: |\S*/(?:ba|z|c|tc|k)?sh: )?(?:/etc/\S*|/usr/share/\S*|\S*/\.(?:bash|z|c|tc|k|profile)\w*"
    r"|\S*(?:prolog|epilog)\S*): (?:line \d+: )?"
)
# glog's mark of a warning, as PyTorch's C++ and its launcher print it; their after-effects are warnings too.
NOTICE = re.compile(r"\[?W(?:\d{3,4})? |NCCL WARN|\S+ \[\d+\] NCCL WARN")


def opening(data: bytes) -> Any:
    """What finds the two lines with which a log begins again, whatever their numbers and dates; None: too plain."""
    lines = data[:OPENING].lstrip(b"\n").split(b"\n")[:2]
    told = len(lines) == 2 and min(len(line.strip()) for line in lines) >= 8 and sum(map(len, lines)) >= 40
    if not told or TRACEBACK.search(b"\n".join(lines)):
        return None
    return re2.compile(rb"\n" + rb"\n".join(map(_shape, lines)) + rb"\n", options())


def _shape(line: bytes) -> bytes:
    """The line as a pattern in which numbers, days and months may differ."""
    parts = VARYING.split(line)
    return b"".join(_any(part) if number % 2 else re.escape(part) for number, part in enumerate(parts))


def _any(part: bytes) -> bytes:
    return rb"\d+" if part.isdigit() else rb" +" if part.isspace() else rb"\w+"


def begins_no_run(data: bytes, start: int, raw: bytes) -> bool:
    """Whether this line heads a report of LSF that stands below the job's output: the run ends there."""
    return raw.startswith(REPORT) and REPORT_BELOW in data[start : start + LONGEST_REPORT].partition(b"\n" + REPORT)[0]


# A word of a tool on itself in front of the message, as srun and compilers print it.
WARNS = re.compile(r"^(?:[\w./-]+(?:\[\d+\])?: )?(?:[Ww]arning: |WARN\[\d+\] )")
# An exception that stands in brackets behind other words: who prints it so has caught it.
CAUGHT = re.compile(r"^(?!\s*(?:\w+\.)*\w*(?:Error|Exception)\b).{8,}\((?:\w+\.)*\w+(?:Error|Exception)[:(]")


def level(text: str) -> str:
    """The level a line gives itself near its start: warning, info, notice (a warning that may tell much), or empty."""
    if WARNS.match(text) or CAUGHT.match(text):
        return "warning"
    found = LEVEL.search(text, 0, 160)
    if not found and not SAID_ERROR.search(text) and (ADVICE.search(text) or PROLOGUE.match(text)):
        return "warning"
    if not found or "NCCL WARN" in text or ERROR_FIRST.match(text):
        return "notice" if NOTICE.match(text) else ""
    return "warning" if found[0].lower().startswith("warn") or found[0].endswith("Warning") else "info"


def stamp(data: bytes, start: int, raw: bytes) -> int | None:
    """Seconds since the month began, from the line itself or the nearest stamp above it. Only for ordering."""
    found = STAMP.search(raw)
    if not found and CLOCK.search(data, max(0, start - 4000), start):
        above = list(STAMP.finditer(data, max(0, start - 4000), start))
        found = above[-1] if above else None
    if not found:
        return None
    return clock(found)


def clock(found: re.Match[bytes]) -> int:
    """Seconds since the month began, from a match of STAMP."""
    day = int(found[3] or found[5])
    return ((day * 24 + int(found[6])) * 60 + int(found[7])) * 60 + int(found[8])
