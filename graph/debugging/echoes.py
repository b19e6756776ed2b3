"""What a line says of its own, and what it only repeats: source code, a command's arguments, another rank's words."""

from __future__ import annotations

import re
from itertools import pairwise

# An argument list that a launcher repeats: three words and more, one of them an option or a path.
ARGUMENTS = re.compile(r"\[['\"][^,]*['\"], ['\"].*?(?:['\"]\]|$)")
OPTION = re.compile(r"['\"](?:--?\w|/)")
# One type written by several ranks at once: `ImportErrorImportError: : cannot import`.
GLUED = re.compile(r"^((?:\w+\.)*(\w*?(?:Error|Exception|Interrupt|Timeout)))(?:(?:\w+\.)*\2)+[:\s]*")
# Another rank begins in the midst of a line.
MID_MARK = re.compile(rb"(?<=[^\s\]>:(])(?=\[(?:rank|default)\d{1,6}\]:)")
FRAME = re.compile(r'File ".{1,400}", line \d+|\.py:\d+: \w*Warning: ')
# Statements that hold a message and do not say it.
STATEMENT = re.compile(
    r"(?:raise\b|return\b|assert\b|warnings\.warn\(|_?log(?:ger|ging)?\.\w+\(|print\(|f[\"']|super\(\)|self\.\w|with \w"
    r"|if \w|elif \w|for \w|[\w.]+\(|[\w.]+ = |\"|')"
)
ALWAYS_SOURCE = re.compile(r"(?:raise (?:\w+\.)*\w+(?:\(|$| from)|warnings\.warn\()")


def spoken(text: str) -> str:
    """The message without argument lists that it repeats, and with a type that several ranks wrote written once."""
    if "', '" in text or '", "' in text:
        text = ARGUMENTS.sub(lambda found: "[...]" if OPTION.search(found[0]) else found[0], text)
    return GLUED.sub(r"\1: ", text) if text[:1].isalpha() else text


def is_source(shown: str, above: str) -> bool:
    """Whether an indented line is a statement that a traceback or a warning shows. above: the line before it."""
    bare = shown.strip()
    if not shown[:2].isspace() or bare == shown:
        return False
    return ALWAYS_SOURCE.match(bare) is not None or (FRAME.search(above) is not None and bool(STATEMENT.match(bare)))


def piece(raw: bytes, hit: int) -> tuple[int, bytes]:
    """The part of a line in which the hit stands, where another rank's mark begins inside it, and where it starts."""
    if raw.count(b"[rank") + raw.count(b"[default") < 1 or (raw.startswith(b"[rank") and raw.count(b"]:") < 2):
        return 0, raw
    cuts = [0, *(found.start() for found in MID_MARK.finditer(raw)), len(raw)]
    for first, last in pairwise(cuts):
        if first <= hit < last:
            return first, raw[first:last]
    return 0, raw
