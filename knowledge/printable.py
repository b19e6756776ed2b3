"""The one function that makes text fit to be shown: nothing in it steers a terminal or turns the order of letters.

Every door prints through it, whatever the text comes from: a script, a log, a page, a model, a rehearsal. It removes
escape sequences whole (colours, cursor, titles, links, the clipboard's OSC 52), the control characters C0 and C1 but
for line feed and tab, and the invisible marks that turn or hide text (Unicode TR9, TR36).
"""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any

ESCAPES = (
    r"(?:\x1b\[|\x9b)[0-9;:?<=>!]*[ -/]*[@-~]"  # colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # titles, links, clipboard
    r"|\x1b[ -/]*[0-~]?"
)
TURNING = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Marks that turn the order of letters: a script then reads otherwise than it runs (CVE-2021-42574)."""
HIDDEN = "\u00ad\u180e\u200b\u2028\u2029\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
UNPRINTABLE = re.compile(rf"{ESCAPES}|\r\n|[\x00-\x08\x0b-\x1f\x7f-\x9f{TURNING}{HIDDEN}\ud800-\udfff]")


def printable(text: str, instead: str = "") -> str:
    """The text without what a person cannot see, `instead` in its place; line feeds (also for CR LF) and tabs stay."""
    return UNPRINTABLE.sub(lambda found: "\n" if found[0] == "\r\n" else instead, text)


def printable_in(value: Any, exact: tuple[type, ...] = ()) -> Any:
    """The value with every text in it printable: in tuples, lists, dicts and dataclasses, not in `exact` ones."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, exact):
        return value
    if isinstance(value, (tuple, list)):
        return type(value)(printable_in(one, exact) for one in value)
    if isinstance(value, dict):
        return {name: printable_in(one, exact) for name, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changed = {one.name: printable_in(getattr(value, one.name), exact) for one in fields(value) if one.init}
        return replace(value, **changed)
    return value
