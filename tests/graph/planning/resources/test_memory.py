"""Memory of a GPU: published peaks, and laws that must hold whatever the constants are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.planning.resources.layout import Layout
from graph.planning.resources.memory import estimate_memory, judge, states_gib, usable_gib
from graph.planning.resources.parameters import find_model, scale_model
from graph.planning.resources.serving import cache_bytes, estimate_serving, fewest_gpus_to_serve

MODELS = ("1.3B", "Llama-3-8B", "Llama-3-70B", "Mixtral-8x7B", "ViT-L")
GPUS = (1, 2, 4, 8, 16, 64, 256, 1024)


def test_states_are_those_of_the_zero_paper() -> None:
    """7.5 billion parameters on 64 GPUs: 120, 31.4, 16.6 and 1.9 GB."""
    spreads = ("ddp", "zero1", "zero2", "zero3")
    found = [states_gib(7.5e9, Layout(spread=spread, gpus=64)) * 2**30 / 1e9 for spread in spreads]  # type: ignore[arg-type]
    assert [round(gb, 1) for gb in found] == [120.0, 31.4, 16.6, 1.9]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", ["full", "lora"])
def test_more_gpus_never_need_more_memory_each_when_sharded(name: str, method: str) -> None:
    model = find_model(name)
    assert model
    needs = [estimate_memory(model, Layout(gpus=g, method=method)) for g in GPUS]  # type: ignore[arg-type]
    assert [n.gib for n in needs] == sorted((n.gib for n in needs), reverse=True)
    assert [n.most for n in needs] == sorted((n.most for n in needs), reverse=True)


@pytest.mark.parametrize("name", MODELS)
def test_what_saves_memory_never_needs_more(name: str) -> None:
    model = find_model(name)
    assert model
    base = Layout(gpus=16, micro_batch=2)

    def need(**change: object) -> float:
        return estimate_memory(model, replace(base, **change)).gib  # type: ignore[arg-type]

    assert need(spread="fsdp") <= need(spread="zero2") <= need(spread="zero1") <= need(spread="ddp")
    assert need(recompute="full") <= need(recompute="none")
    assert need(method="qlora") <= need(method="lora") <= need(method="full", spread="ddp")
    assert need(loss="chunked") <= need(loss="fused") <= need(loss="plain")
    assert need(micro_batch=1) <= need(micro_batch=2) <= need(micro_batch=4)
    assert need(sequence=2048) <= need(sequence=4096)
    assert need(optimizer="adam8bit") <= need(optimizer="adam")
    assert need(offload_optimizer=True) <= need()


@pytest.mark.parametrize("billions", [0.1, 1, 3, 7, 13, 30, 70, 180, 405, 1000])
def test_larger_models_need_more(billions: float) -> None:
    small, large = (
        estimate_memory(scale_model(size), Layout(gpus=64)).part("states") for size in (billions, billions * 1.3)
    )
    assert small < large


def test_the_worst_is_never_below_what_is_expected() -> None:
    for name in MODELS:
        model = find_model(name)
        assert model
        for layout in (Layout(), Layout(spread="ddp", gpus=4), Layout(tensor=2, gpus=8), Layout(method="qlora")):
            for part in estimate_memory(model, layout).parts:
                assert 0 <= part.gib <= part.most, part


@pytest.mark.parametrize(
    ("name", "layout", "gb"),
    [
        ("Llama-2-7B", Layout(spread="none"), 40),
        ("MPT-70B", Layout(gpus=8), 80),
        ("Llama-2-70B", Layout(spread="ddp", method="qlora"), 40),
        ("Llama-3-8B", Layout(spread="ddp", gpus=8), 80),
        ("Llama-3-8B", Layout(gpus=4), 40),
    ],
)
def test_what_ran_out_of_memory_never_fits(name: str, layout: Layout, gb: float) -> None:
    model = find_model(name)
    assert model and judge(estimate_memory(model, layout), gb) == "no"


def test_room_is_less_than_the_label() -> None:
    assert usable_gib(40) == pytest.approx(35.3) and usable_gib(80) == pytest.approx(72.1)


def test_the_cache_counts_grouped_heads() -> None:
    eight, seventy = find_model("Llama-3-8B"), find_model("Llama-3-70B")
    assert eight and seventy
    assert (cache_bytes(eight), cache_bytes(seventy)) == (131_072, 327_680)
    assert estimate_serving(seventy, 80, 1).sequences == 0 < estimate_serving(seventy, 80, 4).sequences


def test_latent_attention_keeps_little_and_whole_nodes_split_the_layers() -> None:
    latent, plain = find_model("DeepSeek-V3"), find_model("Llama-3.1-405B")
    assert latent and plain
    assert cache_bytes(latent) == 2 * 61 * 576
    # In a tensor split each GPU holds the whole of it, so two more of them win nothing there.
    four, eight = (estimate_serving(latent, 141, gpus, 8192, "int4").cache_each for gpus in (4, 8))
    assert four == eight
    # 812 GB of weights: three nodes of 4 x 96 GB hold them, two do not.
    assert fewest_gpus_to_serve(plain, 96, 32768, "bf16", each=4) == 12
    assert estimate_serving(plain, 96, 12, 32768, "bf16", 4).sequences == 14
