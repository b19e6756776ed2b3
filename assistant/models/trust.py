"""What was measured of each model: it leads a conversation, reads beside the rules, or is off."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from assistant.settings import Settings
from graph.modelling.asking import Trust

FILE = "trust.json"
# A model that nobody tested may read beside the rules, as it always could.
UNTESTED: Trust = "reads"


@dataclass(frozen=True, slots=True)
class Record:
    """One test of a model: what came of it, the day, and its figures."""

    model: str
    trust: Trust
    date: str
    right: int
    cases: int
    harmful: int
    calls_a_turn: float
    seconds_a_turn: float


def key(name: str, backend: str, settings: Settings) -> str:
    """What a test holds for: a file of that size and age, or a name at an address."""
    if backend == "openai":
        return f"{name} at {settings.openai_base_url}"
    try:
        stat = Path(name).expanduser().stat()
    except OSError:
        return name
    return f"{name} {stat.st_size} {stat.st_mtime_ns}"


def records(settings: Settings) -> dict[str, Record]:
    """Every kept test; what cannot be read counts as none."""
    try:
        value = json.loads((settings.models / FILE).read_text(encoding="utf-8"))
        found = {name: Record(**one) for name, one in value.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
    return {name: one for name, one in found.items() if one.trust in get_args(Trust)}


def keep(record: Record, of: str, settings: Settings) -> None:
    """Keep a test, in the place of an older one of the same model."""
    kept = {name: asdict(one) for name, one in {**records(settings), of: record}.items()}
    settings.models.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = settings.models / f"{FILE}.new"
    new.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    new.replace(settings.models / FILE)


def trust_of(name: str, backend: str, settings: Settings) -> Trust:
    """As set (MAPLE_CHAT_MODEL_LEADS), else as measured."""
    if settings.model_leads != "auto":
        return "leads" if settings.model_leads == "always" else "reads"
    found = records(settings).get(key(name, backend, settings))
    return found.trust if found else UNTESTED
