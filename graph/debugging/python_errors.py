"""Python tracebacks in a log: the frames, the exception, and the last frame in the person's own file.

Ranks interleave: lines of another rank, progress bars and doubled headers inside a traceback are stepped over.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph.debugging.log import message

WINDOW = 96 << 10
MOST_LINES = 700
MOST_STRAY = 30

FRAME = re.compile(r'^\s*(?:\| )?\s*File "(?P<file>[^"]{1,400})", line (?P<line>\d+)(?:, in (?P<name>.{1,200}))?')
# A path that the width of a terminal has broken: its end and the line number stand on the next line.
BROKEN = re.compile(r'^\s*File "[^"]{20,400}$')
EXCEPTION = re.compile(
    r"^(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Expired|Warning|Failure|Timeout|Abort\w*"
    r"|Iteration|Empty|Full|Refused|Reset|NotFound\w*|Unavailable|Denied))(?::\s?(?P<text>.*))?$"
)
ANY_EXCEPTION = re.compile(r"^(?P<type>(?:[A-Za-z_]\w*\.)+(?:[A-Z]\w*|\w*error)|[A-Z]\w+)(?::\s(?P<text>.*))?$")
LIBRARY = re.compile(
    r"site-packages|dist-packages|/lib(?:64)?/python\d|^<(?!stdin|string)|\bPython\d+\\\\?Lib|/torch/|\.pex/|runpy\.py"
    r"|/bin/[\w-]+$|/sitecustomize\.py$"
)
STANDARD = re.compile(
    r"/lib(?:64)?/python\d[\d.]*/(?!site-packages|dist-packages)|^<frozen |\bPython\d+\\+Lib\\+(?!site-)"
)


# Scripts that a site runs before and after the job's own commands.
SITE_SCRIPT = re.compile(
    r"^/etc/|^/usr/libexec/|^/(?:usr|opt|var|cm|apps?|sw|cvmfs)/(?:[^/]+/){0,4}?"
    r"(?:lmod|easybuild/hooks|modulefiles|profile\.d|[\w.-]*(?:prolog|epilog)(?:ue)?(?:\.d)?)/"
)


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: file, its line there, the function, the line of the log that shows it, and the source line below."""

    file: str
    at: int
    name: str
    log_line: int
    text: str
    source: str = ""

    @property
    def own(self) -> bool:
        """Whether the file is the person's own, and not a library's or a text that a library made (a dataclass's)."""
        made = self.file == "<string>" and self.name != "<module>"
        return not made and not LIBRARY.search(self.file)

    @property
    def standard(self) -> bool:
        """Whether the file is of Python's own library."""
        return bool(STANDARD.search(self.file))


@dataclass(frozen=True, slots=True)
class PythonError:
    """A traceback. offset is where its exception's line starts in the block; chained: another one follows from it."""

    type: str
    text: str
    log_line: int
    offset: int
    frames: tuple[Frame, ...]
    ignored: bool = False

    @property
    def first_line(self) -> int:
        """The line of the log where its traceback begins."""
        return self.frames[0].log_line - 1 if self.frames else self.log_line

    @property
    def own_frame(self) -> Frame | None:
        """The innermost frame in the person's own code."""
        return next((frame for frame in reversed(self.frames) if frame.own), None)


def read_traceback(data: bytes, start: int, line: int) -> PythonError | None:
    """The traceback whose header's line begins at `start` (line `line` of the log); None where no exception ends it."""
    window = data[start : start + WINDOW].split(b"\n")[:MOST_LINES]
    first, rank = message(window[0].decode("utf-8", "replace"))
    frames: list[Frame] = []
    margin = first[: len(first) - len(first.lstrip())]  # a program that shows another's output sets it off so
    offset, stray, broken = start + len(window[0]) + 1, 0, ""
    for number, raw in enumerate(window[1:], line + 1):
        text, of = message(raw[:2000].decode("utf-8", "replace"))
        if rank is not None and of is not None and of != rank:
            offset += len(raw) + 1
            continue
        text, broken = broken + text.removeprefix(margin), ""
        if BROKEN.match(text):
            broken = text
        elif frame := FRAME.match(text):
            frames.append(Frame(frame["file"], int(frame["line"]), frame["name"] or "", number, text.strip()))
        elif found := _exception(text, bool(frames)):
            ignored = first.startswith("Exception ignored") or _ignored_above(data, start) or _of_site(frames)
            kind, words = found
            return PythonError(kind, words, number, offset, tuple(frames), ignored)
        elif frames and text[:1] == " " and not frames[-1].source:
            frames[-1] = replace(frames[-1], source=text.strip())
        elif text[:1] not in (" ", "\t", "") and "Traceback" not in text:
            stray += 1
            if stray > MOST_STRAY:
                return None
        offset += len(raw) + 1
    return None


def read_frames_above(data: bytes, start: int, line: int, text: str) -> PythonError | None:
    """The traceback that ends at the line `text` and whose header is missing: a log that was cut at its start."""
    frames: list[Frame] = []
    if data[start - 1 : start] != b"\n":  # the piece of a line after a carriage return
        return None
    above = data[max(0, start - WINDOW // 8) : start - 1].split(b"\n")
    for number, raw in enumerate(reversed(above), 1):
        shown, _ = message(raw[:2000].decode("utf-8", "replace"))
        if frame := FRAME.match(shown):
            frames.insert(
                0, Frame(frame["file"], int(frame["line"]), frame["name"] or "", line - number, shown.strip())
            )
        elif EXCEPTION.match(shown.strip()) or (shown[:1] not in (" ", "\t") and (frames or number > 6)):
            break  # a traceback that has its exception has no second one
    found = _exception(text, framed=True)
    ignored = any(b"Error processing line" in one for one in above[-len(frames) * 2 - 5 :])
    return PythonError(*found, line, start, tuple(frames), ignored) if frames and found else None


def read_swallowed(data: bytes, start: int, line: int, text: str) -> PythonError | None:
    """The exception of a line right below Python's word that it was ignored, with no traceback between; else None."""
    found = _exception(text, framed=True) if _ignored_above(data, start) else None
    return PythonError(*found, line, start, (), ignored=True) if found else None


def _exception(text: str, framed: bool) -> tuple[str, str] | None:
    """The exception that a line names, or None. A bare class name counts only after frames."""
    found = EXCEPTION.match(text) or (ANY_EXCEPTION.match(text) if framed else None)
    if not found or found["type"] in ("Traceback", "During", "The"):
        return None
    return found["type"], (found["text"] or "").strip()


def _of_site(frames: Sequence[Frame]) -> bool:
    """Whether all that was at work is a script that the site runs round the job, and no library or program of it."""
    return bool(frames) and all(f.own and SITE_SCRIPT.search(f.file) for f in frames)


def _ignored_above(data: bytes, start: int) -> bool:
    """Whether the line above the header says that Python swallowed the exception, or a .pth file raised it."""
    above = data[max(0, start - 600) : start].rstrip(b"\n").rpartition(b"\n")[2]
    return any(words in above for words in (b"Exception ignored ", b"Error processing line"))
