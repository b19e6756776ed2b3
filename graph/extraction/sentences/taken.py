"""Which characters of a text are spoken for: asked thousands of times of a long paste, so it keeps a mark for each."""

from __future__ import annotations


class Taken:
    """Pieces of a text that were claimed."""

    def __init__(self) -> None:
        self._marks = bytearray()

    def is_free(self, start: int, end: int) -> bool:
        """Whether no character of the piece was claimed."""
        return 1 not in self._marks[start:end]

    def add(self, start: int, end: int) -> None:
        self._marks.extend(bytes(max(0, end - len(self._marks))))
        self._marks[start:end] = b"\1" * (end - start)
