"""What a chip's picker offers, from the facts of the machine."""

from __future__ import annotations

from assistant.events import Chip
from assistant.tui.offers import FIELDS, pick
from assistant.tui.widgets.chips import label, why, without_placeholder
from graph.wishes import cards
from knowledge.catalogue import catalogue
from knowledge.types import JobRequest


def offered(field: str, **values: str) -> dict[str, str]:
    """Value -> note."""
    chips = [Chip(name, value, "known") for name, value in values.items()]
    return {offer.value: offer.note for offer in pick(field, chips).offers}


def test_a_machine_offers_its_own_queues_with_their_limits() -> None:
    assert "at most 00:30:00" in offered("queue", machine="perlmutter")["debug"]
    assert not offered("queue")


def test_counts_and_times_end_at_the_limit_of_the_queue() -> None:
    assert list(offered("nodes", machine="perlmutter", queue="debug")) == ["1", "2", "4", "8"]
    assert offered("nodes", machine="perlmutter")["4"] == "16 GPUs in all"
    assert list(offered("walltime", machine="perlmutter", queue="debug")) == ["00:30:00"]


def test_a_machine_that_gives_whole_nodes_offers_whole_nodes() -> None:
    assert list(offered("gpus_per_node", machine="frontier")) == ["8"]
    assert list(offered("gpus_per_node", machine="perlmutter")) == ["4", "2", "1"]


def test_kinds_of_node_are_offered_in_words_that_choose_them() -> None:
    perlmutter = catalogue().clusters["perlmutter"]
    for offer in pick("node_type", [Chip("machine", "perlmutter", "known")]).offers:
        heard = cards(offer.says, JobRequest(), JobRequest(), perlmutter)
        assert heard and heard[0].node_type == offer.value


def test_what_the_framework_runs_comes_first() -> None:
    assert list(offered("strategy", framework="deepspeed"))[:3] == ["zero1", "zero2", "zero3"]


def test_every_field_has_a_sentence_for_a_typed_value() -> None:
    for field in FIELDS:
        assert "{}" in pick(field, ()).typed


def test_a_chip_says_where_its_value_came_from() -> None:
    assert label(Chip("nodes", "1", "known")) == "1 node"
    assert label(Chip("gpus_per_node", "4", "assumed", "all of a node")) == "~4 GPUs/node"
    assert "assumed, all of a node" in why(Chip("gpus_per_node", "4", "assumed", "all of a node"))
    assert without_placeholder(Chip("account", "YOUR_ACCOUNT_g", "assumed")).state == "missing"
