"""The placeholders of an exchange: one number for each name, however it is written, and the way back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

HIDDEN = "<hidden>"
# What is never put back: an answer need not repeat a key to be useful.
NEVER_BACK = "KEY"
KINDS = "KEY|USER|ACCOUNT|HOST|MAIL|IP|MAC|DEVICE|PHONE|PERSON|BUCKET|PATH|FOLDER|PUBKEY|PROJECT|REPO"
PLACEHOLDER = re.compile(r"<?\b([A-Z]{2,8}_\d{1,5})\b>?")
NAME = re.compile(r"[A-Za-z]{2,8}_\d{1,5}")
# As a model writes a placeholder: its signs escaped for JSON, HTML, an address or Markdown, in another case, in
# backticks, with what belongs to the name within the signs (`<ACCOUNT_1_g>`), or without any signs.
OPEN, CLOSE = r"(?:\\?<|&lt;|\\u003[cC]|%3[cC])`?\s?", r"\s?`?(?:\\?>|&gt;|\\u003[eE]|%3[eE])"
IN_SIGNS = (
    rf"{OPEN}(?P<before>(?:[a-z]\w{{0,20}}[-_.])?)(?P<kind>[A-Za-z]{{2,8}})(?:\\*_|[ -])(?P<number>\d{{1,5}})"
    rf"(?P<behind>(?:[-_.@][\w.@-]{{1,30}})?){CLOSE}"
)
# Without signs `user_1` may be a variable of a program: in small letters only where a value stands.
BARE = (
    r"(?:(?<![A-Za-z0-9])(?<![A-Z0-9]_)(?P<upper>[A-Z]{2,8})|(?<=[/=@\"'`])(?P<lower>[a-z]{2,8}))"
    r"\\?_(?P<count>\d{1,5})(?![0-9])(?!\s?=)"
)
WRITTEN = re.compile(f"{IN_SIGNS}|{BARE}")
INVENTED = re.compile(rf"(?i)<\s?((?:{KINDS})_\d{{1,5}})\s?>")


@dataclass(frozen=True, slots=True)
class Masked:
    """A text fit to leave the process, and what its placeholders (without brackets) stand for."""

    text: str
    names: Mapping[str, str]

    def restore(self, text: str) -> str:
        """The text with the names put back; a credential becomes <hidden>."""
        return put_back(text, self.names)


def put_back(text: str, names: Mapping[str, str]) -> str:
    """The text with the names put back, a credential as <hidden>; a placeholder that stands for nothing stays."""

    def back(found: re.Match[str]) -> str:
        kind = found["kind"] or found["upper"] or found["lower"]
        name = f"{kind}_{found['number'] or found['count']}"
        name = name if name in names else name.upper()
        if name not in names:
            return found[0]
        value = HIDDEN if name.startswith(NEVER_BACK) else names[name]
        # A backslash before a sign that nothing escapes behind is the text's own.
        own = "\\" if found[0].startswith("\\<") and not found[0].endswith("\\>") else ""
        return f"{own}{found['before'] or ''}{value}{found['behind'] or ''}"

    return WRITTEN.sub(back, text)


def invented(text: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """Placeholders in signs that stand for nothing, as they are written."""
    found = dict.fromkeys(one[1] for one in INVENTED.finditer(text))
    return tuple(one for one in found if one not in names and one.upper() not in names)


@dataclass(slots=True)
class NameTable:
    """names: placeholder -> the name as it was written. One name has one number: in capitals and in small letters, as
    an account, in a path, in a table.
    """

    names: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)
    numbers: Counter[str] = field(default_factory=Counter)

    def keep(self, names: Iterable[tuple[str, str]]) -> None:
        """Take over placeholders (name, value) of an earlier exchange; what is no placeholder is passed over."""
        for name, value in names:
            if NAME.fullmatch(name):
                kind, _, number = name.upper().rpartition("_")
                self.numbers[kind] = max(self.numbers[kind], int(number))
                self.written[value], self.names[name] = name, value
                self.known.setdefault(value.lower(), f"{kind}_{number}")

    def placeholder(self, kind: str, value: str, taken: set[str]) -> str:
        """The placeholder of a name: its own where it has one, else a new number, and none that a text itself holds.

        The second spelling of a name (`abc123` beside `ABC123`) has the same one in small letters.
        """
        if value in self.written:
            return self.written[value]
        first = "" if kind == NEVER_BACK else self.known.get(value.lower(), "")
        name = first.lower()
        if not name or name in self.names:
            self.numbers[kind] += 1
            while f"{kind}_{self.numbers[kind]}" in taken:
                self.numbers[kind] += 1
            name = f"{kind}_{self.numbers[kind]}"
            if kind != NEVER_BACK:
                self.known.setdefault(value.lower(), name)
        self.written[value], self.names[name] = name, value
        return name
