"""A change read twice: what is done, what is said first, and what is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.extraction import weighing
from graph.extraction.weighing import tagged_change, weigh
from graph.reading.wishes.tagger import Span, Wishes
from knowledge.job_parts import ArrayAxis, JobArray
from knowledge.types import JobRequest, Understood

JOB = JobRequest(machine="perlmutter", framework="pytorch", strategy="ddp", nodes=2, gpus_per_node=4, entry="train.py")
TEXT = "please take 8 nodes and call it big"


def spans_of(text: str, *given: tuple[str, str, float], sign: str = "") -> tuple[Span, ...]:
    return tuple(
        Span(at, at + len(words), words, slot, sign, sure) for slot, words, sure in given for at in [text.index(words)]
    )


@pytest.fixture
def tags(monkeypatch: pytest.MonkeyPatch) -> object:
    def use(*given: tuple[str, str, float], whole: float = 0.9, text: str = TEXT) -> None:
        wishes = Wishes("do", 1.0, spans_of(text, *given), {}, whole)
        monkeypatch.setattr(weighing, "orders_of", lambda *_, **__: wishes)

    return use


def understood(**changes: object) -> Understood:
    return Understood("generate", replace(JOB, **changes))  # type: ignore[arg-type]


def test_what_both_read_alike_is_done(tags) -> None:  # type: ignore[no-untyped-def]
    tags(("nodes", "8", 0.9), ("job_name", "big", 0.9))
    read = replace(understood(nodes=8, job_name="big"), left=("the job name", "take 8 nodes", "and 7", "as we said"))
    heard = weigh(read, JOB, TEXT)
    assert not heard.doubtful and heard.request == read.request
    assert heard.left == ("and 7", "as we said")  # what names a field that was read, or its value, is no more open


def test_what_both_read_alike_and_neither_is_sure_of_is_said_first(tags) -> None:  # type: ignore[no-untyped-def]
    tags(("nodes", "8", 0.9), whole=0.1)
    assert not weigh(understood(nodes=8), JOB, TEXT).doubtful  # a short order that leaves nothing open
    assert weigh(replace(understood(nodes=8), left=("call it big",)), JOB, TEXT).doubtful
    longer = "please take 8 nodes, that is what the others have as well"
    tags(("nodes", "8", 0.9), whole=0.1, text=longer)
    assert weigh(understood(nodes=8), JOB, longer).doubtful


def test_a_sure_reading_goes_before_the_rules(tags) -> None:  # type: ignore[no-untyped-def]
    tags(("nodes", "8", 0.9), ("job_name", "big", 0.9))
    heard = weigh(understood(nodes=16), JOB, TEXT)
    assert (heard.request.nodes, heard.request.job_name, heard.doubtful) == (8, "big", False)


def test_a_sure_reading_drops_nothing_that_the_rules_read(tags) -> None:  # type: ignore[no-untyped-def]
    tags(("nodes", "8", 0.9))
    read = understood(nodes=8, queue="prod")
    heard = weigh(read, JOB, TEXT)
    assert heard.doubtful and heard.request == read.request and heard.rival == replace(JOB, nodes=8)


def test_an_unsure_reading_is_offered_beside_that_of_the_rules(tags) -> None:  # type: ignore[no-untyped-def]
    tags(("nodes", "8", 0.9), whole=0.4)
    read = understood(walltime="08:00:00")
    heard = weigh(read, JOB, TEXT)
    assert heard.doubtful and heard.request == read.request and heard.rival == replace(JOB, nodes=8)
    alone = weigh(understood(), JOB, TEXT)
    assert alone.doubtful and alone.request.nodes == 8 and alone.rival is None


def test_two_degrees_are_three_dimensions_once_they_change(tags) -> None:  # type: ignore[no-untyped-def]
    split = replace(JOB, strategy="tp", tensor_parallel=2, pipeline_parallel=2)
    tags(("nodes", "8", 0.9))
    change = tagged_change(TEXT, split)
    assert change is not None and change.request.strategy == "tp"


def test_what_only_the_rules_read_is_theirs(tags) -> None:  # type: ignore[no-untyped-def]
    tags()
    read = understood(walltime="08:00:00")
    assert weigh(read, JOB, TEXT) == read


def test_rules_that_hold_all_that_is_tagged_and_an_open_tag_go_before_it(tags) -> None:  # type: ignore[no-untyped-def]
    tags(("nodes", "8", 0.9), ("begin", "big", 0.9))
    read = understood(nodes=8, begin="big")
    assert weigh(read, JOB, TEXT).request == read.request


def test_a_span_without_an_edit_is_named(tags) -> None:  # type: ignore[no-untyped-def]
    tags(("nodes", "8", 0.9), ("begin", "big", 0.9))
    assert weigh(understood(), JOB, TEXT).left == ("big",)


def test_few_words_ports_and_programs_with_sizes_stay_with_the_rules(tags) -> None:  # type: ignore[no-untyped-def]
    tags(("nodes", "16", 0.9), text="make it 16")
    assert weigh(understood(gpus_per_node=16), JOB, "make it 16").request.gpus_per_node == 16
    tags(("nodes", "8", 0.9))
    begun = replace(JOB, entry=None)
    first = Understood("generate", replace(begun, walltime="08:00:00"))
    assert weigh(first, begun, TEXT) == first
    port = Understood("port", replace(JOB, machine="delta"))
    assert weigh(port, JOB, TEXT) == port
    text = "then eval.py on 1 node please"
    tags(("then", "eval.py", 0.9), ("nodes", "1", 0.9), text=text)
    read = understood(walltime="01:00:00")
    assert weigh(read, JOB, text).request == read.request


def test_another_machine_is_no_change_of_what_stands(tags) -> None:  # type: ignore[no-untyped-def]
    tags(("machine", "big", 0.9), ("nodes", "8", 0.9))
    assert tagged_change(TEXT, JOB) is None


def test_of_counts_that_exclude_each_other_the_new_ones_stay(tags) -> None:  # type: ignore[no-untyped-def]
    tags(("nodes", "8", 0.9))
    change = tagged_change(TEXT, replace(JOB, total_gpus=8))
    assert change is not None and (change.request.nodes, change.request.total_gpus) == (8, None)


@pytest.mark.parametrize("text", ["an array, seeds 1 to 5, as --seed please", "as --seed please, 1 to 5"])
def test_a_range_of_an_argument_is_an_array_wherever_it_stands(tags, text: str) -> None:  # type: ignore[no-untyped-def]
    given = [("sweep_value", "1 to 5", 0.9), ("sweep_name", "--seed", 0.9)]
    tags(*sorted(given, key=lambda one: text.index(one[1])), text=text)
    change = tagged_change(text, JOB)
    assert change is not None
    assert change.request.array == JobArray((ArrayAxis("--seed", ("1", "2", "3", "4", "5")),))


def test_what_either_reads_is_not_named_as_open(tags) -> None:  # type: ignore[no-untyped-def]
    tags(("nodes", "8", 0.9), whole=0.4)
    read = replace(understood(walltime="08:00:00"), left=("take 8 nodes", "and 7"))
    assert weigh(read, JOB, TEXT).left == ("and 7",)
