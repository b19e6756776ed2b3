"""Reading logs of any size and shape: a stream of cleaned blocks, with line numbers that are the original's.

Bounded memory: a block holds at most BLOCK + KEEP bytes, also when the log is one line of a gigabyte.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from graph.debugging.formats import binary
from knowledge.errors import InputError
from knowledge.opening import open_plain
from knowledge.printable import printable as without_controls

BLOCK = 4 << 20
# What a block shares with the next one: a traceback that starts here can still be read to its end.
KEEP = 128 << 10

ESCAPES = re.compile(
    rb"\x1b\[[0-9;?<=>]*[ -/]*[@-~]"  # colours, cursor
    rb"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # titles, links, device strings
    rb"|\x1b[ -/]*[0-~]?"
)

# How launchers mark the rank at the start of a line, in the order tried. A group where the number is one. One pattern
# of all, as this is asked of every line.
PREFIX = re.compile(
    "|".join(
        (
            r"\[(?:rank|default|proc|worker|process)[ _:]?(\d{1,6})\]:? ?",  # torchrun, its tee, Lightning
            r"\[\d+,(\d{1,6})\]<std(?:out|err|diag)>: ?",  # mpirun --tag-output
            r"\[\d+,(\d{1,6})\]\[[^\]]{1,80}\]<std(?:out|err)>: ?",  # prterun
            r"\[(\d{1,6})\] (?=\S)",  # Hydra -prepend-rank
            r" {0,6}(\d{1,6}): ",  # srun -l
            r"(?=[\w.-]*\d)[A-Za-z][\w.-]{2,60} (\d{1,6}): ",  # PALS mpiexec -l: names of hosts have a digit
            r"\((?:[\w.]{1,60} )?pid=\d+(?:, ip=[\d.]+)?\) ",  # Ray
            r"\((?:EngineCore|Worker|APIServer)[\w-]* (?:rank=(\d+) )?pid=\d+\) ",  # vLLM
            r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z (?:std(?:out|err) [FP] )?",  # kubectl, CI
            r"\[[a-z][\w.-]{2,40}:\d{2,8}\] (?=\[)",  # [host:pid] before another mark
            # pdsh: worker-1: node01: v100x8-2:, and a traceback's lines behind it
            r"(?:[a-z][a-z-]*-?\d{1,5}|[a-z][a-z0-9]{1,20}-\d{1,5}|ip-[\d-]{7,}): (?=\S| +File \"| {4}\S)",
            r"[a-z0-9-]+-(?:master|worker|launcher|replica)-?\d* \| ",  # docker compose
        )
    )
)


@dataclass(frozen=True, slots=True)
class LogBlock:
    """Cleaned bytes of one log. Only what starts before `limit` is this block's to report; the rest comes again."""

    data: bytes
    first_line: int
    limit: int


class NotTextError(Exception):
    """The file is no text; its words say what it is. Caught where logs are scanned."""


@dataclass(frozen=True, slots=True)
class LogSource:
    """One log: a name for the answer (None: pasted text), and its path, bytes or an open stream."""

    name: str | None
    path: Path | None = None
    stream: BinaryIO | None = None


def from_text(text: str | bytes) -> LogSource:
    """A pasted log. Lone surrogates, which JSON may carry, become question marks."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    return LogSource(None, stream=io.BytesIO(data))


def from_paths(paths: Iterable[Path]) -> list[LogSource]:
    """Logs from files and folders, each folder's files in the order of their numbers. Raises InputError."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted((p for p in path.rglob("*") if p.is_file()), key=natural)
        elif path.exists():
            found.append(path)
        else:
            raise InputError(f"no such file: {path}; give a log file, a folder of logs, or - for standard input")
    if not found:
        raise InputError("the folder holds no files; give a log file, a folder of logs, or - for standard input")
    many = len(found) > 1
    return [LogSource(str(path) if many else None, path=path) for path in found]


def natural(path: Path) -> list[tuple[int, str]]:
    """A sort key in which rank-2 comes before rank-10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", str(path))]


def blocks(source: LogSource) -> Iterator[LogBlock]:
    """The cleaned blocks of one log. Raises InputError when it cannot be read."""
    try:
        if source.stream is not None:
            yield from _blocks(_decompressed(source.stream))
        elif source.path is not None:
            with open_plain(source.path) as stream:
                yield from _blocks(_decompressed(stream))
    except OSError as error:
        where = source.name or source.path or "standard input"
        raise InputError(f"cannot read {where}: {error.strerror or error}; check the file") from error


def _decompressed(stream: BinaryIO) -> BinaryIO:
    """The stream itself, or what gzip holds in it."""
    buffered = stream if hasattr(stream, "peek") else io.BufferedReader(cast("io.RawIOBase", stream))
    head = buffered.peek(2)[:2]
    return cast("BinaryIO", gzip.GzipFile(fileobj=buffered) if head == b"\x1f\x8b" else buffered)


def _blocks(stream: BinaryIO) -> Iterator[LogBlock]:
    kept, line = b"", 1
    while True:
        fresh = _read(stream)
        if line == 1 and not kept and (what := binary(fresh)):
            raise NotTextError(what)
        data = kept + cleaned(fresh)
        if not fresh:
            if data:
                yield LogBlock(data, line, len(data))
            return
        if len(data) <= KEEP:
            kept = data
            continue
        limit = _cut(data)
        yield LogBlock(data, line, limit)
        line += data.count(b"\n", 0, limit)
        kept = data[limit:]


def _read(stream: BinaryIO) -> bytes:
    """The next block of bytes; of a gzip file that is cut off or damaged, all that comes before that."""
    if not isinstance(stream, gzip.GzipFile):
        return stream.read(BLOCK)
    parts, size = [], 0
    while size < BLOCK:
        try:
            part = stream.read1(BLOCK - size)
        except (EOFError, zlib.error):
            break
        except gzip.BadGzipFile:
            if not size:
                raise
            break
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _cut(data: bytes) -> int:
    """Where this block ends and the next begins: after a line feed if there is one, else inside the endless line."""
    newline = data.rfind(b"\n", 0, len(data) - KEEP)
    return newline + 1 if newline >= 0 else len(data) - KEEP


def cleaned(data: bytes) -> bytes:
    """Without escapes, NULs (UTF-16 becomes readable so) and the carriage returns of CRLF. Line feeds all stay."""
    if b"\0" in data:
        data = data.replace(b"\0", b"")
    if b"\x1b" in data:
        data = ESCAPES.sub(b"", data)
    if b"\r\n" in data:
        data = data.replace(b"\r\n", b"\n")
    return data


def message(text: str) -> tuple[str, int | None]:
    """A line without its rank prefixes, and the rank if one of them told it."""
    rank: int | None = None
    for _ in range(4):
        if not (found := PREFIX.match(text)):
            break
        rank = int(found[found.lastindex]) if found.lastindex else rank
        text = text[found.end() :]
    return text, rank


def printable(text: str) -> str:
    """Text that a terminal may show: no control characters, no direction marks."""
    return without_controls(text, " ").strip()
