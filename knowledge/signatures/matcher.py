"""All signatures as one scan.

Two steps. An automaton over the patterns' fixed words runs over the raw bytes at memory speed and finds the lines worth
a look: a superset, whatever stands before or after the message. A set over the same words then tells which few patterns
a cleaned line may match, and only those are tried. Latin-1, so that invalid UTF-8 cannot fail.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import re2

from knowledge.errors import FactsError
from knowledge.signatures.loader import library
from knowledge.signatures.model import Signature

# Kinds that only matter on a line that something else has hit.
NOT_SOUGHT = frozenset({"harmless", "frame"})
MEMORY = 64 << 20
# A harmless message silences the whole line, but for signatures of this strength that match beside it, and for a sure
# word on how a program ended.
LOUD, SURE_END = 70, 30


def options() -> Any:
    """RE2's options for signatures: bytes as Latin-1, bounded memory, no output of its own."""
    chosen = re2.Options()
    chosen.encoding = re2.Options.Encoding.LATIN1
    chosen.max_mem = MEMORY
    chosen.log_errors = False
    return chosen


class Matcher:
    """Finds the signatures of a line, and the next line worth a look in a block."""

    def __init__(self, signatures: Sequence[Signature]) -> None:
        self.signatures = tuple(s for s in signatures if s.kind != "frame")
        self._frames = tuple(s for s in signatures if s.kind == "frame")
        self._of_word = _by_word(self.signatures)
        self._words = tuple(self._of_word)
        self._set = re2.Set.SearchSet(options())
        for word in self._words:
            self._set.Add(_escaped(word))
        self._set.Compile()
        self._sought = sorted({word for s in self.signatures if s.kind not in NOT_SOUGHT for word in s.literals})
        self._unions: dict[frozenset[bytes], Any] = {}
        self.union = self.without(frozenset())

    def without(self, words: frozenset[bytes]) -> Any:
        """The union, but for these words as they stand in a log."""
        known = self._unions.get(words)
        if known is None:
            left_out = {word.decode("latin-1").lower() for word in words}
            sought = [_escaped(word) for word in self._sought if word.removeprefix("(?i)").lower() not in left_out]
            # No word at all matches nothing: `\\z.` cannot be met.
            known = self._unions[words] = re2.compile(b"|".join(sought) or rb"\z.", options())
        return known

    def words(self, line: bytes) -> tuple[int, ...]:
        """The numbers of the fixed words in this line."""
        return tuple(sorted(self._set.Match(line) or ()))

    def match(self, line: bytes) -> list[Signature]:
        """The signatures that match this cleaned line, in the order of the files."""
        line = plain_quotes(line)
        maybe = {n for word in self._set.Match(line) or () for n in self._of_word[self._words[word]]}
        return [self.signatures[n] for n in sorted(maybe) if compiled(self.signatures[n].pattern).search(line)]

    def telling(self, line: bytes) -> list[Signature]:
        """The signatures that count on this line: none of the harmless, nor what the harmless silence."""
        matched = self.match(line)
        harmless = [s for s in matched if s.kind == "harmless"]
        if not harmless:
            return matched
        line = plain_quotes(line)
        quiet = [found.span() for s in harmless for found in compiled(s.pattern).finditer(line)]
        loud = [s for s in matched if s.strength >= (SURE_END if s.kind == "final" else LOUD)]
        return [s for s in loud if _outside(s, line, quiet)]

    def sought_in(self, line: bytes) -> list[str]:
        """The fixed words at which the scan stops in this line."""
        return [found.decode("latin-1") for found in self.union.findall(line)]

    def frame(self, path: str) -> Signature | None:
        """What it means that a Python exception was raised in the file at this path."""
        text = path.encode("utf-8", "replace")
        return next((s for s in self._frames if compiled(s.pattern).search(text)), None)

    def captured(self, signature: Signature, line: bytes) -> dict[str, str]:
        """The named groups of one signature on a line it matches; path and path2 are both called path."""
        found = compiled(signature.pattern).search(plain_quotes(line))
        if not found:
            return {}
        named = ((_text(name), value) for name, value in found.groupdict().items() if value)
        return {name.rstrip("0123456789"): _text(value) for name, value in named}


def _outside(signature: Signature, line: bytes, quiet: Sequence[tuple[int, int]]) -> bool:
    """Whether the signature matches somewhere beside the silenced parts of the line."""
    spans = (found.span() for found in compiled(signature.pattern).finditer(line))
    return any(all(end <= first or start >= last for first, last in quiet) for start, end in spans)


@cache
def _escaped(word: str) -> bytes:
    """A fixed word as a pattern; its mark for any case is kept."""
    bare = word.removeprefix("(?i)")
    text = re.escape(bare)  # 20 times as fast as re2.escape, and RE2 reads it the same way
    return (text if bare == word else f"(?i:{text})").encode("latin-1")


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def plain_quotes(line: bytes) -> bytes:
    """GNU programs print curly quotes in UTF-8 locales; patterns are written with straight ones."""
    if b"\xe2\x80" not in line:
        return line
    return (
        line.replace(b"\xe2\x80\x98", b"'")
        .replace(b"\xe2\x80\x99", b"'")
        .replace(b"\xe2\x80\x9c", b'"')
        .replace(b"\xe2\x80\x9d", b'"')
    )


def _by_word(signatures: Iterable[Signature]) -> dict[str, list[int]]:
    """Which signatures each fixed word may mean."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for number, signature in enumerate(signatures):
        for word in signature.literals:
            found[word].append(number)
    return dict(found)


@cache
def compiled(pattern: str) -> Any:
    """One pattern, compiled when first needed. Raises FactsError."""
    try:
        return re2.compile(pattern.encode("latin-1"), options())
    except (re2.error, UnicodeEncodeError) as error:
        raise FactsError(f"the pattern {pattern} does not compile: {error}") from error


@cache
def matcher() -> Matcher:
    """The matcher over all shipped and site signatures, built once a process (about 15 ms)."""
    return Matcher(library().signatures)
