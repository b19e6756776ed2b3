"""What came beside a message or inside it: a log to be diagnosed, or a script to be carried over."""

from __future__ import annotations

import re
from pathlib import Path

from knowledge.types import Attachment

HEAD_CHARACTERS = 64_000
FEWEST_LINES = 3
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]?(?:(?:SBATCH|PBS|BSUB|COBALT)\b|flux:)", re.M)
SHEBANG = re.compile(r"^\ufeff?#!\s*/.*\b(?:ba|z|k|c)?sh\b", re.M)


def read_head(attachment: Attachment) -> str:
    """The beginning of the text; empty where the file has gone."""
    try:
        with Path(attachment.path).open(encoding="utf-8", errors="replace") as file:
            return file.read(HEAD_CHARACTERS)
    except OSError:
        return ""


def is_script(head: str) -> bool:
    """Whether the text is a shell or batch script. A log that only quotes directives further down is not."""
    return bool(SHEBANG.match(head) or DIRECTIVE.search(head[:2000]))


def split_script(text: str) -> tuple[str, str]:
    """The words of a message and the script pasted into it (empty: there is none)."""
    starts = [found.start() for found in (SHEBANG.search(text), DIRECTIVE.search(text)) if found]
    if not starts or text.count("\n", min(starts)) + 1 < FEWEST_LINES:
        return text, ""
    return text[: min(starts)].rstrip(), text[min(starts) :]
