"""The edits of tagged values, from spans made by hand; and what a span is not, by what stands beside it."""

from __future__ import annotations

import pytest

from graph.reading.edits import Edit, Set, apply_edits
from graph.reading.wishes.tagger import Span, Wishes
from graph.reading.wishes.taking import as_sure_as_their_list, is_bracketed, is_late, meant_spans
from graph.reading.wishes.values import EVENTS, edits_of
from knowledge.job_parts import ArrayAxis, JobArray, Mail
from knowledge.types import JobRequest

JOB = JobRequest(machine="perlmutter", nodes=2, gpus_per_node=4, entry="train.py", output="logs/run.out")


def spans_in(text: str, *given: tuple[str, ...]) -> list[Span]:
    """Spans of (slot, words) or (slot, words, sign), in the order of the text."""
    out, at = list[Span](), 0
    for slot, words, *sign in given:
        at = text.index(words, at)
        out.append(Span(at, at + len(words), words, slot, sign[0] if sign else "", 0.9))
        at += len(words)
    return out


def after(*given: tuple[str, ...], job: JobRequest = JOB) -> JobRequest:
    """The job after spans that stand beside each other."""
    text = " ".join(words for _, words, *_ in given)
    edits: list[Edit] = [edit for one in edits_of(spans_in(text, *given), job) for edit in one.edits]
    return apply_edits(job, edits).request


def test_errors_in_a_file_of_their_own_or_with_the_output() -> None:
    apart = after(("joined_output", "errors separate"))
    assert apart.extra_directives == ("--error=logs/run.err",)
    assert after(("joined_output", "in their own file", "-")).extra_directives == ("--error=logs/run.err",)
    assert after(("joined_output", "one file for both"), job=apart).extra_directives == ()
    assert after(("joined_output", "errors separate"), job=JobRequest()).extra_directives == ()


def test_what_is_copied_back_goes_from_one_path_to_the_other() -> None:
    assert after(("copy_out", "runs/"), ("copy_out", "/home/x/res")).after == (
        "mkdir -p /home/x/res && cp -r runs/ /home/x/res",
    )
    assert after(("copy_out", "runs/")).after == ()
    assert after(("copy_out", "results"), ("copy_out", "home")).after == ()


def test_a_task_a_file() -> None:
    held = JobArray((ArrayAxis("--config", ("configs/*.yaml",)),))
    assert after(("sweep_files", "configs/*.yaml"), ("arg", "--config")).array == held
    assert after(("sweep_files", "configs/*.yaml"), ("sweep_name", "--config")).array == held
    assert after(("sweep_files", "configs/list.txt")).array is None


@pytest.mark.parametrize("words", ["one", "a single", "just one", "un solo", "einen", "une seule"])
def test_one_is_a_number(words: str) -> None:
    assert after(("nodes", words)).nodes == 1


def test_mail_of_all_events_or_of_those_that_are_told() -> None:
    assert after(("mail", "on all events"), ("mail_to", "a@b.org")).mail == Mail("a@b.org", tuple(EVENTS.values()))
    told = after(("mail_to", "a@b.org"), ("mail_fail", "dies")).mail
    assert told == Mail("a@b.org", ("fail",))


def test_a_range_counts_tasks_or_the_values_of_the_argument_that_is_named() -> None:
    assert after(("array", "1-5")).array == JobArray((), 5, first=1)
    assert after(("array", "1-3"), ("sweep_name", "--seed")).array == JobArray((ArrayAxis("--seed", ("1", "2", "3")),))


def meant(text: str, *given: tuple[str, ...]) -> list[str]:
    return [one.slot for one in meant_spans(text, Wishes("do", 1.0, tuple(spans_in(text, *given))), lambda _: 0.1)]


@pytest.mark.parametrize(
    ("text", "slot", "words", "counts"),
    [
        ("take the 80GB cards", "memory", "80GB", False),
        ("give it 80GB", "memory", "80GB", True),
        ("tensorboard on port 6006", "port", "6006", False),
        ("copy /a/b.tar to the local disk first", "stage_in", "/a/b.tar", True),
        ("copy /a/b.tar back at the end", "stage_in", "/a/b.tar", False),
        ("start it with srun, not torchrun", "launcher", "torchrun", False),
        ("start it with torchrun", "launcher", "torchrun", True),
        ("hugging face cache in /w/hf", "venv", "/w/hf", False),
        ("take $(rm -rf x)/mine.py please", "after", "rm -rf", False),
        ("afterwards rm -rf /tmp/x", "after", "rm -rf", True),
        ("only gpu[001-004]", "array", "001-004", False),
        ("array 1-4", "array", "1-4", True),
    ],
)
def test_what_stands_beside_a_value_tells_what_it_is_not(text: str, slot: str, words: str, counts: bool) -> None:
    assert (slot in meant(text, (slot, words))) is counts


def test_a_number_more_is_added() -> None:
    text = "2 nodes more please"
    (span,) = meant_spans(text, Wishes("do", 1.0, tuple(spans_in(text, ("nodes", "2 nodes")))), lambda _: 0.1)
    assert span.sign == "+"


def test_the_members_of_a_list_are_as_sure_as_the_surest() -> None:
    text = "not on gpu04 and gpu17, queue debug"
    first, second, third = spans_in(text, ("exclude", "gpu04"), ("exclude", "gpu17"), ("queue", "debug"))
    weak = Span(second.start, second.end, second.text, second.slot, "", 0.2)
    assert [one.sure for one in as_sure_as_their_list(text, [first, weak, third])] == [0.9, 0.9, 0.9]
    other = Span(third.start, third.end, third.text, third.slot, "", 0.2)
    assert as_sure_as_their_list(text, [first, other])[1].sure == 0.2


def test_places_and_brackets() -> None:
    text = "copy it to /w/a and gpu[001-004]"
    (path, hosts) = spans_in(text, ("stage_in", "/w/a"), ("array", "001-004"))
    assert not is_bracketed(text, path) and is_bracketed(text, hosts)
    assert not is_late(text, path, 0, len(text))
    both = "copy /d/x to /w/a"
    (target,) = spans_in(both, ("stage_in", "/w/a"))
    assert is_late(both, target, 0, len(both))


def test_a_set_keeps_the_words_that_were_said() -> None:
    ((meant_one),) = edits_of(spans_in("8 nodes", ("nodes", "8")), JOB)
    assert meant_one.edits == (Set("nodes", 8, "8"),)
