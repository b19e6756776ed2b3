"""Monotone laws of the planner's arithmetic, for models, machines and ways drawn at random."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as draw

from graph.planning.resources.communication import step_seconds
from graph.planning.resources.device import Device, devices
from graph.planning.resources.layout import Layout
from graph.planning.resources.limits import chains
from graph.planning.resources.memory import estimate_memory, judge, usable_gib
from graph.planning.resources.parameters import SizedModel, scale_model, sized
from graph.planning.resources.saving import plan_saving
from graph.planning.resources.search import ease
from graph.planning.resources.serving import estimate_serving, fewest_gpus_to_serve
from graph.planning.resources.speed import tokens_per_second, training_hours
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.model_shapes import model_shapes

PAIRS = [(cluster, device) for cluster in catalogue().clusters.values() for device in devices(cluster)]
MODELS = draw.one_of(
    draw.floats(0.05, 1500).map(scale_model),
    draw.sampled_from([sized(shape) for shape in model_shapes().shapes if shape.kind == "decoder"]),
)
ON = draw.sampled_from(PAIRS)
POWERS = draw.integers(0, 9).map(lambda power: 1 << power)
WAYS = draw.builds(
    Layout,
    spread=draw.sampled_from(["ddp", "zero1", "zero2", "zero3", "fsdp"]),
    gpus=draw.integers(1, 10).map(lambda power: 1 << power),
    tensor=draw.sampled_from([1, 2]),
    micro_batch=draw.sampled_from([1, 2, 4]),
    sequence=draw.sampled_from([512, 1024, 4096, 16384]),
    recompute=draw.sampled_from(["none", "selective", "full"]),
    precision=draw.sampled_from(["mixed", "pure", "fp32"]),
    optimizer=draw.sampled_from(["adam", "adam8bit", "sgd", "adafactor"]),
    method=draw.sampled_from(["full", "lora", "qlora"]),
    loss=draw.sampled_from(["plain", "fused", "chunked"]),
)
ORDER = {"fits": 2, "tight": 1, "no": 0}
SLACK = 1 + 1e-9
LAW = settings(max_examples=150, deadline=None, derandomize=True)


def need(model: SizedModel, layout: Layout) -> tuple[float, float]:
    """GiB on one GPU, as expected and at worst."""
    found = estimate_memory(model, layout)
    return found.gib, found.most


def at_most(small: tuple[float, float], large: tuple[float, float]) -> bool:
    return small[0] <= large[0] * SLACK and small[1] <= large[1] * SLACK


@LAW
@given(MODELS, WAYS)
def test_more_gpus_never_need_more_memory_each(model: SizedModel, layout: Layout) -> None:
    """Once it is shared out at all: the first two take the layers that are gathered on top."""
    assume(layout.data > 1)
    assert at_most(need(model, replace(layout, gpus=2 * layout.gpus)), need(model, layout))


@LAW
@given(MODELS, WAYS)
def test_a_longer_sequence_never_needs_less(model: SizedModel, layout: Layout) -> None:
    assert at_most(need(model, layout), need(model, replace(layout, sequence=2 * layout.sequence)))


@LAW
@given(MODELS, WAYS)
def test_a_larger_batch_never_needs_less(model: SizedModel, layout: Layout) -> None:
    assert at_most(need(model, layout), need(model, replace(layout, micro_batch=2 * layout.micro_batch)))


@LAW
@given(MODELS, WAYS)
def test_recomputing_never_needs_more(model: SizedModel, layout: Layout) -> None:
    ways = ("full", "selective", "none")
    full, some, none = (need(model, replace(layout, recompute=way)) for way in ways)  # type: ignore[arg-type]
    assert at_most(full, none) and at_most(some, none)


@LAW
@given(MODELS, WAYS)
def test_sharding_more_never_needs_more_for_states(model: SizedModel, layout: Layout) -> None:
    """What lies in memory all the time; the layers that are gathered come on top."""
    layout = replace(layout, method="full", precision="mixed", tensor=1)
    ways = ("zero3", "zero2", "zero1", "ddp")
    states = [estimate_memory(model, replace(layout, spread=way)).part("states") for way in ways]  # type: ignore[arg-type]
    assert states == sorted(states)


@LAW
@given(MODELS, WAYS)
def test_a_split_of_the_tensors_never_needs_more_for_states(model: SizedModel, layout: Layout) -> None:
    layout = replace(layout, gpus=16, method="full")
    one, two = (
        estimate_memory(model, replace(layout, tensor=split, gpus=8 * split)).part("states") for split in (1, 2)
    )
    assert two <= one * SLACK


@LAW
@given(MODELS, WAYS, draw.floats(8, 200), draw.floats(0, 100))
def test_a_larger_card_never_holds_less(model: SizedModel, layout: Layout, gb: float, more: float) -> None:
    found = estimate_memory(model, layout)
    assert usable_gib(gb) <= usable_gib(gb + more) < gb + more
    assert ORDER[judge(found, gb)] <= ORDER[judge(found, gb + more)]


@LAW
@given(MODELS, WAYS, ON)
def test_what_surely_fits_has_its_worst_case_inside_the_room(
    model: SizedModel, layout: Layout, on: tuple[Cluster, Device]
) -> None:
    fit = ease(model, layout, on[1])
    assert fit.verdict != "fits" or fit.memory.gib <= fit.memory.most <= usable_gib(on[1].gb) < on[1].gb


@LAW
@given(MODELS, WAYS, ON, draw.floats(1.0, 20))
def test_a_faster_fabric_is_never_slower(
    model: SizedModel, layout: Layout, on: tuple[Cluster, Device], times: float
) -> None:
    assume(on[1].network)
    faster = replace(on[1], network=on[1].network * times)
    assert step_seconds(model, layout, faster) <= step_seconds(model, layout, on[1]) * SLACK
    before, now = (tokens_per_second(model, layout, device) for device in (on[1], faster))
    assert before.low <= now.low * SLACK and before.usual <= now.usual * SLACK and before.best <= now.best * SLACK


@LAW
@given(MODELS, WAYS, ON, draw.floats(1e6, 1e13), draw.floats(1.0, 50))
def test_more_tokens_never_take_fewer_hours(
    model: SizedModel, layout: Layout, on: tuple[Cluster, Device], tokens: float, times: float
) -> None:
    few, many = (training_hours(model, amount, layout, on[1]) for amount in (tokens, tokens * times))
    assert 0 < few.usual <= many.usual * SLACK and few.low <= many.low * SLACK and few.best <= many.best * SLACK
    assert few.low <= few.usual * SLACK <= few.best * SLACK * SLACK


@LAW
@given(draw.sampled_from(PAIRS), draw.integers(1, 64), draw.floats(0.1, 5000), draw.floats(1.0, 10))
def test_a_longer_limit_never_needs_more_jobs(
    on: tuple[Cluster, Device], nodes: int, hours: float, times: float
) -> None:
    found = chains(on[0], on[1].node_type, nodes, hours)
    for queue in {chain.queue.id: chain for chain in found}.values():
        assume(queue.limit_h)
        longer = [one for one in found if one.limit_h and one.limit_h >= (queue.limit_h or 0)]
        assert all(one.jobs <= queue.jobs for one in longer)
    more = {chain.queue.id: chain.jobs for chain in chains(on[0], on[1].node_type, nodes, hours * times)}
    assert all(more.get(chain.queue.id, chain.jobs) >= chain.jobs for chain in found)


@LAW
@given(MODELS, draw.integers(1, 4096), draw.integers(1, 8))
def test_more_gpus_never_save_more_seldom(model: SizedModel, gpus: int, times: int) -> None:
    few, many = (plan_saving(model, count, max(1, count // 4), None, 60.0) for count in (gpus, gpus * times))
    assert many.interval_s <= few.interval_s * SLACK and many.mtbf_h <= few.mtbf_h * SLACK
    capped = plan_saving(model, gpus, max(1, gpus // 4), 3600.0, 60.0)
    assert capped.interval_s <= min(few.interval_s, 1800.0) * SLACK


@LAW
@given(MODELS, draw.sampled_from([24.0, 40.0, 80.0, 141.0]), POWERS.filter(lambda g: g <= 64))
def test_more_gpus_never_serve_fewer(model: SizedModel, gb: float, gpus: int) -> None:
    few, many = (estimate_serving(model, gb, count, 8192, "bf16").sequences for count in (gpus, 2 * gpus))
    assert few <= many
    least, longer = (fewest_gpus_to_serve(model, gb, length, "bf16", 8) for length in (2048, 16384))
    assert longer is None or (least is not None and least <= longer)
    four, sixteen = (fewest_gpus_to_serve(model, gb, 8192, weights, 8) for weights in ("int4", "bf16"))
    assert sixteen is None or (four is not None and four <= sixteen)
