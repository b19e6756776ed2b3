"""Words and relations that the rules hold scripts against, as data (words.yaml)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from knowledge.data_file import read_data

WORDS: dict[str, Any] = read_data(Path(__file__).with_name("words.yaml"))
