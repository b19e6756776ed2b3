"""What the words of an error make likely where no signature knows the message."""

from __future__ import annotations

import pytest

from knowledge.signatures import wording
from knowledge.signatures.loader import library
from knowledge.signatures.matcher import matcher
from knowledge.signatures.wording import PLAIN, likely_cause, most_likely, scores_of, words


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        (
            "RuntimeError: There are currently no available devices found, must be one of 'XPU', 'CUDA'",
            "gpu-not-visible",
        ),
        ("RuntimeError: number of heads 12 must be divisible by tensor parallel size 8", "fw-config"),
    ],
)
def test_words_that_no_signature_knows_speak_for_a_cause(message: str, cause: str) -> None:
    assert all(s.kind == "fallback" for s in matcher().telling(message.encode()))
    found, chance = likely_cause(message)
    assert found == cause and chance >= PLAIN


def test_meaning_tells_what_words_leave_open() -> None:
    message = "fatal: the caching allocator of the device found no block of that size"
    assert most_likely(scores_of(message))[1] < PLAIN
    found, chance = likely_cause(message)
    assert found == "gpu-oom" and chance >= PLAIN


def test_without_the_weights_the_words_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wording, "meaning_model", lambda path: None)
    likely_cause.cache_clear()
    message = "fatal: the caching allocator of the device found no block of that size"
    assert likely_cause(message) == most_likely(scores_of(message))
    likely_cause.cache_clear()


def test_words_of_nothing_known_decide_nothing() -> None:
    assert likely_cause("quoll.errors.FlimselError: the brim of flimsel 7 is not level")[1] < PLAIN


def test_numbers_paths_and_bare_types_do_not_count() -> None:
    assert words("RuntimeError: shard 17 of /data/x-3.bin") == words("ValueError: shard 4 of /y/z.bin")


def test_it_speaks_of_known_causes_alone() -> None:
    assert {likely_cause(text)[0] for text in ("denied", "timeout", "no such file")} <= {*library().causes, "calm"}
