"""A message of any length is read in a time that does not grow with it, and what was not read is named."""

from __future__ import annotations

import time

import pytest

from graph.extraction.request import NOT_READ, understand
from graph.reading.message import Apart, split
from graph.reading.reader import read_utterance
from graph.reading.utterance import LONGEST_MESSAGE, ThreadView

WISH = "train ViT with FSDP on Perlmutter, 4 nodes. "


@pytest.mark.quick
def test_what_was_not_read_of_a_long_message_is_named() -> None:
    read = understand(WISH + "so it is. " * LONGEST_MESSAGE, None, None, None)
    assert (read.request.nodes, read.left[-1]) == (4, NOT_READ)
    assert NOT_READ not in understand(WISH, None, None, None).left
    assert understand(f"{WISH} {'9' * 2000}", None, None, None).left[-1] == NOT_READ


@pytest.mark.quick
def test_clauses_of_a_long_message_end_with_what_is_read() -> None:
    read = read_utterance(WISH * 2000, ThreadView())
    assert max(clause.end for clause in read.clauses) <= LONGEST_MESSAGE


@pytest.mark.quick
@pytest.mark.parametrize("text", ["{\n" * 20_000, f"my hosts.json:\n{'1' * 60_000}!\nx\n"])
def test_files_beside_a_script_are_sought_once(text: str) -> None:
    began = time.process_time()
    split(text, Apart())
    assert time.process_time() - began < 5
