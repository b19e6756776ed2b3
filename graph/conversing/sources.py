"""The pages behind a thread: one number each while an answer cites it, and again in the order of an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import count

# A note, `[2] page`; `2. https://...` too, but no step of a list that names an address on its way.
NOTE = re.compile(
    r"^[ \t]*(?:- )?(?:\[(\d+)\]|(\d+)\.(?=[ \t]+(?:<|\[[^\]\n]*\]\()?https?://))[ \t]+(?P<page>[^\n]*https?://[^\n]*)$\n?",
    re.M,
)
ROW = re.compile(r"^([ \t]*(?:- )?[Ss]ources?: ?)([^\n]*https?://[^\n]*)$", re.M)
# `Sources: [host](address) (as of 2026-10), ...`, as an answer's pages are printed.
LINKS = re.compile(r"^(Sources?: )(\[[^\n]*\]\(https?://[^\n]*)$", re.M)
LINK = re.compile(r"\[[^\]\n]+\]\((?P<address>https?://[^)\s]+)\)(?P<date> \(as of [^)]*\))?")
CITED = re.compile(r"([ \t]?)\[(\d{1,3})\]")
CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.S)
# `... are purged. https://a.example/x and, for the rest,\n  https://b.example/y`: as facts name their sources.
BARE = re.compile(
    r"(?P<end>[.!?)])\s+(?=https?://)(?P<pages>https?://\S+(?:[\s,]+(?:[a-z(][^\s:/]*[\s,]+){0,6}https?://\S+)*)"
)
HEADING = re.compile(r"^[ \t]*\*{0,2}Sources?:?\*{0,2}:?[ \t]*$\n?", re.M)


class Numbered:
    """The pages of a thread by their numbers, and the order in which this turn's answer cites them.

    kept: the pages that the last answers cite, which stay under their numbers.
    """

    def __init__(self, kept: Iterable[tuple[int, str]] = ()) -> None:
        self.pages: dict[int, str] = dict(kept)
        self.order: list[int] = []

    def number(self, page: str) -> int:
        page = " ".join(page.split())
        found = next((at for at, one in self.pages.items() if one == page), 0)
        if not found:
            found = next(at for at in count(1) if at not in self.pages)
            self.pages[found] = page
        return found

    def named_in(self, text: str) -> tuple[tuple[int, str], ...]:
        """The pages that a text cites, with their numbers."""
        cited = {int(one) for _, one in CITED.findall(text)}
        return tuple((at, page) for at, page in self.pages.items() if at in cited)

    def numbered(self, text: str) -> str:
        """A tool's answer with its own notes replaced by the turn's numbers, and the pages of its rows too."""
        local = {found[1] or found[2]: self.number(found["page"]) for found in NOTE.finditer(text)}
        if local:
            text = HEADING.sub("", NOTE.sub("", text))
            text = in_words(text, lambda at: f"[{local.get(at, at)}]")
        text = ROW.sub(self._row, LINKS.sub(self._links, text))
        parts = CODE.split(text)
        return "".join(part if at % 2 else BARE.sub(self._bare, part) for at, part in enumerate(parts))

    def _bare(self, found: re.Match[str]) -> str:
        """A source that stands behind its sentence; an address that the sentence itself speaks of stays."""
        pages = [one.rstrip(".,;)") for one in re.findall(r"https?://\S+", found["pages"])]
        return found["end"] + " " + " ".join(f"[{self.number(page)}]" for page in pages)

    def _links(self, found: re.Match[str]) -> str:
        pages = [f"{one['address']}{one['date'] or ''}" for one in LINK.finditer(found[2])]
        return found[1] + " ".join(f"[{self.number(page)}]" for page in pages)

    def _row(self, found: re.Match[str]) -> str:
        pages = re.split(r" \| |, (?=https?://)", found[2])
        return found[1] + " ".join(f"[{self.number(page)}]" for page in pages)

    def cited(self, text: str) -> str:
        """The answer's citations in the order in which they are first named; a number of no page is left out."""

        def again(number: str) -> str:
            at = int(number)
            if at not in self.pages:
                return ""
            if at not in self.order:
                self.order.append(at)
            return f"[{self.order.index(at) + 1}]"

        return in_words(text, again)

    def listed(self) -> str:
        """The pages that were cited."""
        rows = [f"[{at}] {self.pages[page]}" for at, page in enumerate(self.order, 1)]
        return "\n".join(["Sources:", *rows]) if rows else ""

    def as_on_thread(self, text: str) -> str:
        """What the person was told, without its list of pages, and cited by the numbers of the thread."""

        def again(number: str) -> str:
            at = int(number)
            return f"[{self.order[at - 1]}]" if 1 <= at <= len(self.order) else ""

        return in_words(HEADING.sub("", NOTE.sub("", text)), again).strip()


def in_words(text: str, again: Callable[[str], str]) -> str:
    """The text with its citations written again, by their numbers; `argv[1]` in code is none. One that goes leaves no
    gap before the full stop."""

    def written(found: re.Match[str]) -> str:
        told = again(found[2])
        return f"{found[1]}{told}" if told else ""

    return "".join(part if at % 2 else CITED.sub(written, part) for at, part in enumerate(CODE.split(text)))
