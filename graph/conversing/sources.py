"""The pages behind a thread: one number each, given when a model is first shown it, and never another page's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

# A note, `[2] page`; `2. https://...` alone too, but no step of a list that begins with an address.
NOTE = re.compile(
    r"^[ \t]*(?:- )?(?:\[(\d+)\]"
    r"|(\d+)\.(?=[ \t]+(?:<|\[[^\]\n]*\]\()?https?://\S+(?: \([^)\n]*\))?[ \t]*$))[ \t]+(?P<page>[^\n]*https?://[^\n]*)$\n?",
    re.M,
)
ROW = re.compile(r"^([ \t]*(?:- )?[Ss]ources?: ?)([^\n]*https?://[^\n]*)$", re.M)
# `Sources: [host](address) (as of 2026-10), ...`, as an answer's pages are printed.
LINKS = re.compile(r"^(Sources?: )(\[[^\n]*\]\(https?://[^\n]*)$", re.M)
LINK = re.compile(r"\[[^\]\n]+\]\((?P<address>https?://[^)\s]+)\)(?P<date> \(as of [^)]*\))?")
# Numbers in brackets behind a blank or a sign; `argv[1]` and `x[0][1]` are indexes, and no page has the number 0.
CITED = re.compile(r"(?:([ \t])|(?<![\w\])}]))((?:\[[1-9]\d{0,2}\][, ]*(?=\[))*\[[1-9]\d{0,2}\])")
ONE = re.compile(r"([, ]*)\[(\d+)\]")
MOST_PAGES = 120
CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.S)
# `... are purged. https://a.example/x and, for the rest,\n  https://b.example/y`: as facts name their sources.
BARE = re.compile(
    r"(?P<end>(?<!\n\d)(?<!\n\d\d)[.!?)])\s+(?=https?://)(?P<pages>https?://\S+(?:[\s,]+(?:[a-z(][^\s:/]*[\s,]+){0,6}https?://\S+)*)"
)
HEADING = re.compile(r"^[ \t]*\*{0,2}Sources?:?\*{0,2}:?[ \t]*$\n?", re.M)


class Numbered:
    """The pages of a thread by their numbers. kept: those of the turns before; named: the numbers that this turn's
    answer cites."""

    def __init__(self, kept: Iterable[tuple[int, str]] = ()) -> None:
        self.pages: dict[int, str] = dict(kept)
        self.named: set[int] = set()

    def number(self, page: str) -> int:
        page = " ".join(page.split())
        found = next((at for at, one in self.pages.items() if one == page), 0)
        if not found:
            found = max(self.pages, default=0) + 1
            self.pages[found] = page
        return found

    def kept(self) -> tuple[tuple[int, str], ...]:
        """The pages that the next turn goes on from, the newest where they are too many."""
        return tuple(sorted(self.pages.items()))[-MOST_PAGES:]

    def numbered(self, text: str) -> str:
        """A tool's answer with its own notes replaced by the turn's numbers, and the pages of its rows too."""
        text = "".join(self._with_notes(text))
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

    def _with_notes(self, text: str) -> Iterator[str]:
        """The parts of an answer, each with the thread's numbers for those of the notes behind it."""
        groups: list[list[re.Match[str]]] = []
        for found in NOTE.finditer(text):
            if not groups or text[groups[-1][-1].end() : found.start()].strip():
                groups.append([])
            groups[-1].append(found)
        begin, local = 0, dict[str, str]()
        for notes in groups:
            local = {one[1] or one[2]: f"[{self.number(one['page'])}]" for one in notes}
            yield with_numbers(text[begin : notes[0].start()], local)
            begin = notes[-1].end()
        yield with_numbers(text[begin:], local)

    def cited(self, text: str) -> str:
        """The answer without numbers that no page has; those that have one are noted."""

        def again(number: str) -> str:
            if int(number) not in self.pages:
                return ""
            self.named.add(int(number))
            return f"[{number}]"

        return in_words(text, again)

    def listed(self) -> str:
        """The pages that were cited."""
        rows = [f"[{at}] {self.pages[at]}" for at in sorted(self.named)]
        return "\n".join(["Sources:", *rows]) if rows else ""


def with_numbers(text: str, local: Mapping[str, str]) -> str:
    """A part of a text with other numbers, and without the heading of its notes."""
    return in_words(HEADING.sub("", text), lambda at: local.get(at, f"[{at}]")) if local else text


def in_words(text: str, again: Callable[[str], str]) -> str:
    """The text with its citations written again, by their numbers; `argv[1]` in code is none. One that goes leaves no
    gap before the full stop."""

    def written(found: re.Match[str]) -> str:
        told = "".join(f"{gap}{new}" for gap, at in ONE.findall(found[2]) if (new := again(at)))
        return f"{found[1] or ''}{told}" if told else ""

    return "".join(part if at % 2 else CITED.sub(written, part) for at, part in enumerate(CODE.split(text)))
