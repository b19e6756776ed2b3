"""FLOPs, hours, traffic and saving against published figures."""

from __future__ import annotations

import pytest

from graph.planning.resources.communication import compute_ratio, step_seconds
from graph.planning.resources.device import bare_device, devices
from graph.planning.resources.layout import Layout
from graph.planning.resources.parameters import find_model, scale_model
from graph.planning.resources.saving import daly_seconds, plan_saving, young_seconds
from graph.planning.resources.speed import flops_per_token, gpu_hours, training_hours
from knowledge.catalogue import catalogue


def test_flops_of_a_token_count_attention() -> None:
    model = find_model("Llama-3-8B")
    assert model and flops_per_token(model, 8192) == pytest.approx(5.79e10, rel=0.01)


def test_gpu_hours_of_a_small_model_are_those_of_the_rule() -> None:
    """1.3 B x 26 B tokens x 6 = 2e20 FLOP: some 450 hours of an A100 at 40 %."""
    device = bare_device("A100", 40)
    model = find_model("1.3B")
    assert device and model
    hours = gpu_hours(model, 26e9, device, 2048)
    assert hours.low < 450 < hours.best and 300 < hours.usual < 600


def test_all_reduce_takes_the_seconds_of_the_network() -> None:
    """Llama-3-8B's gradients in 16 bit: 0.4 s over Perlmutter's four cards, 1.6 s over one of Delta."""
    model = find_model("Llama-3-8B")
    assert model
    for name, seconds in (("perlmutter", 0.40), ("polaris", 0.80), ("delta", 1.6)):
        cluster = catalogue().find(name)
        assert cluster
        layout = Layout(spread="zero1", gpus=16)
        assert step_seconds(model, layout, devices(cluster)[0]) == pytest.approx(seconds, rel=0.05)


def test_more_gpus_never_take_longer_inside_one_network() -> None:
    cluster = catalogue().find("perlmutter")
    assert cluster
    device, model = devices(cluster)[0], scale_model(7)
    hours = [training_hours(model, 1e10, Layout(gpus=4 * n, micro_batch=2), device).usual for n in (2, 4, 8, 32)]
    assert hours == sorted(hours, reverse=True)


def test_accumulation_lifts_the_ratio() -> None:
    cluster = catalogue().find("delta")
    assert cluster
    device, model = devices(cluster)[0], scale_model(1)
    once, often = (compute_ratio(model, Layout(spread="ddp", gpus=16), device, n) for n in (1, 8))
    assert once and often and often == pytest.approx(8 * once)
    assert compute_ratio(model, Layout(spread="none"), device) is None


def test_intervals_are_youngs_and_dalys() -> None:
    assert young_seconds(60, 7.9 * 3600) / 60 == pytest.approx(31, rel=0.02)
    assert young_seconds(60, 3.09 * 3600) / 60 == pytest.approx(19, rel=0.02)
    assert daly_seconds(60, 7.9 * 3600) < young_seconds(60, 7.9 * 3600)
    assert daly_seconds(100, 150) == 150


def test_the_queue_limit_decides_for_small_jobs() -> None:
    model = find_model("Llama-3-8B")
    assert model
    short = plan_saving(model, 8, 2, 2 * 3600)
    assert short.by_limit and short.interval_s == 3600
    assert not plan_saving(model, 16384, 2048, 48 * 3600).by_limit
