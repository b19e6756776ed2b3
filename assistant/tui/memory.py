"""What the terminal program keeps from one start to the next: the conversation that was left open, and the theme.

Two small files in the data folder, each replaced at once, so that kill -9 leaves the old or the new one.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from platformdirs import user_data_path

from knowledge.opening import read_plain

OPEN, THEME = "left-open", "theme"
LONGEST = 200


def data_folder() -> Path:
    """Where the settings will say that our data lies; known before the settings are read, which takes a while."""
    set_by_hand = os.environ.get("MAPLE_CHAT_DATA")
    return Path(set_by_hand) if set_by_hand else user_data_path("maple-chat")


def recall(data: Path, name: str) -> str:
    """What was kept under a name; empty where nothing was."""
    try:
        return read_plain(data / name, 4 * LONGEST).decode()[:LONGEST].strip()
    except (OSError, UnicodeDecodeError):
        return ""


def remember(data: Path, name: str, value: str) -> None:
    """Keep it. A full disk costs the memory, not the conversation."""
    with contextlib.suppress(OSError):
        beside = data / f".{name}.{os.getpid()}"
        beside.write_text(value, encoding="utf-8")
        beside.replace(data / name)
