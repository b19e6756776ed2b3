"""What came beside a message: a log to be diagnosed, or a script to be carried over."""

from __future__ import annotations

import re
from pathlib import Path

from knowledge.types import Attachment

HEAD_CHARACTERS = 200_000
DIRECTIVE = re.compile(r"^\s*#\s?(?:(?:SBATCH|PBS|BSUB|COBALT)\b|flux:)", re.M)
SHEBANG = re.compile(r"\A\ufeff?\s*#!\s*/.*\b(?:ba|z|k|c)?sh\b")


def read_head(attachment: Attachment) -> str:
    """The beginning of the text; empty where the file has gone."""
    try:
        with Path(attachment.path).open(encoding="utf-8", errors="replace") as file:
            return file.read(HEAD_CHARACTERS)
    except OSError:
        return ""


def is_script(head: str) -> bool:
    """Whether the text is a shell or batch script. A log that only quotes directives further down is not."""
    return bool(SHEBANG.search(head) or DIRECTIVE.search(head[:2000]))
