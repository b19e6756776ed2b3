"""What is told from inside the jail to the rehearsal: messages on a socket, of known kinds and bounded size.

Only programs of ours hold that socket: the jail and the nodes' own processes. It is closed where a program of the
script starts, and a socket, unlike a file or a pipe, cannot be opened a second time. What comes out is checked all the
same: a message of another form is counted and left out, and no text keeps a control character.
"""

from __future__ import annotations

import json
import os
from typing import Any

from knowledge.printable import printable_in

LONGEST_MESSAGE = 1 << 16
"""Bytes of one message; a longer one is cut before it is sent, and left out where it comes uncut."""
LONGEST_TEXT, LONGEST_LIST = 2000, 300
MOST_RECORDS = 20_000

_OPTIONAL = {"loss"}
KINDS: dict[str, dict[str, type]] = {
    "jail": {"isolation": str, "network": str},
    "proved": {"held": list, "open": list, "tried": int},
    "limit": {"what": str, "says": str},
    "start": {"nodes": list},
    "end": {"code": int},
    "launch": {"launcher": str, "ntasks": int, "nodes": list, "counts": list, "command": list, "warnings": list},
    "not_modelled": {"launcher": str, "option": str},
    "refused": {"launcher": str, "words": list, "says": str},
    "seen": {"node": str, "variables": dict, "group": str},
    "adopted": {"names": list, "group": str, "step": bool},
    "inner": {"program": str, "words": list},
    "inner_failed": {"program": str, "says": str},
    "program": {"program": str, "words": list},
    "lost": {"says": str},
    "not_run": {"name": str, "words": list},
    "shell": {"what": str, "words": list},
    "missing": {"name": str, "words": list},
    "container": {"image": str},
    "crashed": {"name": str, "says": str},
    "rank": {
        "rank": int, "local_rank": int, "world_size": int, "node": str, "device": str, "devices_seen": list,
        "master": str, "backend": str, "strategy": str, "sums_right": bool, "loss": float, "wrapper": str,
        "seconds": float, "error": str, "group": str,
    },
}  # fmt: skip
"""The kinds of message and the type of each of their fields. Lists hold texts, but for counts, which are numbers."""


def send(channel: int, kind: str, facts: dict[str, object]) -> None:
    """One message, sent whole or not at all, so that many processes may do it at once."""
    for text, items in ((LONGEST_TEXT, LONGEST_LIST), (200, 100), (40, 20)):
        body = json.dumps({"kind": kind, **{name: cut(value, text, items) for name, value in facts.items()}}).encode()
        if len(body) < LONGEST_MESSAGE:
            break
    try:
        os.write(channel, body)
    except OSError:  # nobody listens any more
        return


def cut(value: object, text: int, items: int) -> object:
    """The value with texts of at most that many characters and lists of at most that many items."""
    if isinstance(value, str):
        return value[:text]
    if isinstance(value, (list, tuple)):
        return [cut(one, text, items) for one in value[:items]]
    if isinstance(value, dict):
        return {cut(name, text, items): cut(one, text, items) for name, one in list(value.items())[:items]}
    return value


def received(message: bytes) -> dict[str, Any] | None:
    """The record, each field of its type and every text printable; None where the message is not of a known form."""
    try:
        found = json.loads(message) if len(message) <= LONGEST_MESSAGE else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("kind"), str) or found["kind"] not in KINDS:
        return None
    record: dict[str, Any] = {"kind": found["kind"]}
    for name, kind in KINDS[found["kind"]].items():
        value = found.get(name)
        if not is_of(kind, value, name):
            return None
        record[name] = printable_in(value)
    return record


def is_of(kind: type, value: object, name: str) -> bool:
    """Whether a field has its type; a bool is no number here, and a whole number is a fraction, too."""
    if value is None:
        return name in _OPTIONAL
    if kind in (int, float):
        return not isinstance(value, bool) and isinstance(value, int if kind is int else (int, float))
    if kind is list:
        return isinstance(value, list) and all(type(one) is (int if name == "counts" else str) for one in value)
    if kind is dict:
        return isinstance(value, dict) and all(type(one) is str for one in value.values())
    return isinstance(value, kind)
