"""Files as people give them: job scripts, and logs that may go away while they are read."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from assistant.errors import InputError
from knowledge.data_file import parse_json
from knowledge.opening import open_plain, read_plain
from knowledge.types import SideFile

Found = TypeVar("Found")

LARGEST = 8_000_000
SIDE_ENDINGS = (".json", ".yaml", ".yml", ".sh", ".py", ".toml", ".txt")
MOST_SIDE_FILES = 200
LARGEST_SIDE_FILE = 1 << 20
MOST_LISTINGS = 5


def script_text(name: str) -> str:
    """The script's text; - is standard input. Raises InputError where it is none.

    Line ends stay as they are, since batch systems mind them; bytes that are no UTF-8 too, for who writes them back.
    """
    try:
        with sys.stdin.buffer if name == "-" else open_plain(name) as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"{name} cannot be read ({error.strerror}); give the path of a job script") from error
    text = data.decode("utf-8", "surrogateescape")
    if not text.strip() or "\x00" in text or len(data) > LARGEST:
        raise InputError(f"{'standard input' if name == '-' else name} holds no job script; give the script's text")
    return text


def shown_script(name: str) -> str:
    """The same fit to be shown: bytes that are no UTF-8 are replaced. Raises InputError as script_text does."""
    return script_text(name).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def argument_text(argument: str) -> str:
    """The argument, or standard input for '-'; bytes that are no UTF-8 are replaced."""
    return sys.stdin.buffer.read().decode("utf-8", "replace") if argument == "-" else argument


def is_agreed(question: str) -> bool:
    """Ask on stderr. Anything but yes is a no; so is a closed input."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def files_beside(name: str) -> tuple[SideFile, ...]:
    """The small files in the script's folder, which it may name; one that cannot be read is left out."""
    path, found = Path(name), []
    with contextlib.suppress(OSError):
        beside = [other for other in sorted(path.parent.iterdir()) if other.suffix in SIDE_ENDINGS and other != path]
        for other in beside[:MOST_SIDE_FILES]:
            with contextlib.suppress(OSError):
                if other.is_file() and other.stat().st_size <= LARGEST_SIDE_FILE:
                    found.append(SideFile(other.name, read_plain(other, LARGEST_SIDE_FILE).decode("utf-8", "replace")))
    return tuple(found)


def json_cases(lines: Iterable[bytes], key: str) -> Iterator[tuple[Any, str]]:
    """The id and the text under `key` of each line's JSON object. Raises InputError with the line that is none."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                case = parse_json(line)
                yield case["id"], str(case[key])
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f'line {number} is no JSON object with "id" and "{key}"; write one a line') from error


def listed(list_files: Callable[[], Found]) -> Found:
    """What a listing of folders gives; made again where one of them went away meanwhile. Raises InputError."""
    for _ in range(MOST_LISTINGS):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            return list_files()
    raise InputError("the folder changes while it is read; give the log files themselves")


def left_out(paths: Sequence[Path], read: Callable[[Sequence[Path]], Found]) -> tuple[Found, int]:
    """What is read from files, and how many went away meanwhile. Raises InputError for any other trouble."""
    there = paths
    while True:
        try:
            return read(there), len(paths) - len(there)
        except InputError:
            still = [path for path in there if path.exists()]
            if not still or len(still) == len(there):
                raise
            there = still
