"""Texts that say nearly the same meet; others do not."""

from __future__ import annotations

import random

from graph.incidents.likeness import BANDS, bands, likeness, text_id, words_of

LINE = "RuntimeError: NCCL error in ProcessGroupNCCL.cpp unhandled system error peer closed connection socket timeout"


def test_numbers_and_the_words_of_any_question_tell_nothing() -> None:
    assert words_of("why did my job 123 fail? please help") == frozenset()
    assert words_of("step 12 of 400") == words_of("step 99 of 800") == {"step"}
    assert bands(frozenset()) == () and text_id(frozenset()) == 0


def test_of_texts_with_more_than_half_their_words_in_common_nearly_all_meet() -> None:
    dice, words = random.Random(3), [f"{a}{b}" for a in "abcdefghij" for b in "klmnopqrst"]
    met = {0.6: 0, 0.1: 0}
    for share in met:
        for _ in range(200):
            one = dice.sample(words, 10)
            kept = round(2 * 10 * share / (1 + share))
            other = one[:kept] + dice.sample([w for w in words if w not in one], 10 - kept)
            met[share] += bool(set(bands(one)) & set(bands(other)))
    assert met[0.6] > 190 and met[0.1] < 60


def test_ids_and_bands_fit_into_a_database_and_stay_the_same() -> None:
    words = words_of(LINE)
    assert likeness(words, words_of(LINE.replace("timeout", "reset"))) > 0.7
    assert len(bands(words)) == BANDS and all(-(2**63) <= n < 2**63 for n in (*bands(words), text_id(words)))
    assert text_id(words) == text_id(set(words)), "kept ids have to be found again by later versions"
