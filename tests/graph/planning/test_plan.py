"""Request + cluster -> plan: what is decided, what is assumed, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from graph.planning.patches import patched, standing
from graph.planning.plan import plan
from graph.planning.questions import still_missing
from knowledge.catalogue import SHIPPED
from knowledge.cluster_file import read_cluster
from knowledge.errors import InputError
from knowledge.job_parts import Patch
from knowledge.types import Heard, JobRequest, LaunchPlan, Refusal

CLUSTERS = {path.stem: read_cluster(path) for path in SHIPPED.glob("*.yaml")}


def decided(machine: str, **fields: Any) -> LaunchPlan:
    outcome = plan(JobRequest(machine=machine, **{"strategy": "ddp", "nodes": 2, **fields}), CLUSTERS[machine])
    assert isinstance(outcome, LaunchPlan), outcome
    return outcome


def refused(machine: str, **fields: Any) -> Refusal:
    outcome = plan(JobRequest(machine=machine, **{"strategy": "ddp", "nodes": 2, **fields}), CLUSTERS[machine])
    assert isinstance(outcome, Refusal), outcome
    return outcome


def assumed(outcome: LaunchPlan) -> dict[str, str]:
    return {taken.field: taken.value for taken in outcome.assumptions}


def changes(outcome: Refusal) -> list[dict[str, Any]]:
    return [dict(way.change) for way in outcome.instead]


@pytest.mark.parametrize("gpus", [None, 6, 12])
def test_aurora_counts_cards_or_tiles(gpus: int | None) -> None:
    outcome = decided("aurora", gpus_per_node=gpus)
    assert outcome.ranks == 24
    assert ("gpus_per_node" in assumed(outcome)) == (gpus != 12)


def test_part_of_a_tiled_node_counts_tiles() -> None:
    assert decided("aurora", gpus_per_node=3).ranks_per_node == 3


@pytest.mark.parametrize(
    ("machine", "total", "nodes", "ranks"),
    [("frontier", 64, 8, 8), ("aurora", 48, 4, 12), ("perlmutter", 16, 4, 4), ("perlmutter", 2, 1, 4)],
)
def test_a_total_becomes_nodes(machine: str, total: int, nodes: int, ranks: int) -> None:
    outcome = decided(machine, nodes=None, total_gpus=total)
    assert outcome.nodes == nodes
    assert outcome.ranks_per_node == (total if total < ranks else ranks)


def test_a_total_over_nodes_is_divided() -> None:
    assert decided("polaris", nodes=2, total_gpus=8).ranks_per_node == 4
    assert "7 GPUs over 2 nodes" in refused("polaris", nodes=2, total_gpus=7).says


def test_lonestar6_has_three_gpus_a_node() -> None:
    outcome = refused("lonestar6", nodes=3, gpus_per_node=4)
    assert "3 A100 GPUs, not 4" in outcome.says
    assert {"nodes": 4, "gpus_per_node": 3, "total_gpus": None} in changes(outcome)
    assert outcome.source


def test_no_queue_of_aurora_takes_64_nodes_for_three_hours() -> None:
    outcome = refused("aurora", nodes=64, walltime="03:00:00")
    found = changes(outcome)
    assert {"walltime": "01:00:00", "queue": "debug-scaling"} in found
    assert {"nodes": 16, "queue": "capacity", "total_gpus": None} in found
    for way in found:
        fields = {"nodes": 64, "walltime": "03:00:00", **way}
        assert isinstance(plan(JobRequest(machine="aurora", strategy="ddp", **fields), CLUSTERS["aurora"]), LaunchPlan)


def test_a_named_queue_that_is_wrong_offers_the_one_that_takes_the_job_as_it_is() -> None:
    found = changes(refused("aurora", nodes=2, walltime="03:00:00", queue="prod"))
    assert found[0] == {"queue": "capacity"}
    assert [way["nodes"] for way in found if "nodes" in way] == [256], "only the nearest count, not every bound"


def test_a_limit_on_gpus_offers_the_nodes_that_fit() -> None:
    outcome = refused("anvil", nodes=9)
    assert any(change.get("nodes") == 3 for change in changes(outcome)), outcome


def test_a_routing_queue_has_limits_by_node_count() -> None:
    assert decided("aurora", nodes=300, walltime="12:00:00").queue == "prod"
    refused("aurora", nodes=300, walltime="13:00:00")
    assert decided("aurora", nodes=2000, walltime="24:00:00").queue == "prod"


def test_a_named_queue_is_kept_or_refused_by_name() -> None:
    assert decided("perlmutter", queue="debug").queue == "debug"
    assert decided("perlmutter", queue="debug").walltime == "00:30:00"
    assert "debug" in refused("perlmutter", queue="debug", walltime="05:00:00").says
    assert "no queue 'fast'" in refused("perlmutter", queue="fast").says


def test_the_usual_queue_costs_nothing_special() -> None:
    for name, cluster in CLUSTERS.items():
        queue = cluster.queue(decided(name).queue)
        assert queue and (queue.default or queue.purpose in ("production", "debug")), name


@pytest.mark.parametrize(
    ("machine", "given", "written"),
    [
        ("perlmutter", "m1234", "m1234"),
        ("perlmutter", None, "YOUR_ACCOUNT_g"),
        ("delta", "bxyz-delta-gpu", "bxyz-delta-gpu"),
        ("delta", "bxyz", "bxyz-delta-gpu"),
    ],
)
def test_account_suffixes(machine: str, given: str | None, written: str) -> None:
    outcome = decided(machine, account=given)
    assert outcome.account == written
    assert ("account" in assumed(outcome)) == (given != written)


def test_every_default_says_why() -> None:
    for name in CLUSTERS:
        for taken in decided(name).assumptions:
            assert taken.why, (name, taken)


@pytest.mark.parametrize("machine", sorted(CLUSTERS))
def test_nothing_is_left_open_on_any_machine(machine: str) -> None:
    outcome = decided(machine)
    assert outcome.directives and outcome.rendezvous_host
    for directive in outcome.directives:
        assert "{" not in directive.text.replace("{{", ""), directive


def test_strategies_go_to_their_frameworks() -> None:
    assert decided("polaris", strategy="zero3").framework == "deepspeed"
    assert decided("polaris", strategy="zero3", framework="pytorch").framework == "deepspeed"
    assert decided("polaris", strategy="tp").framework == "megatron"
    outcome = refused("polaris", strategy="fsdp", framework="deepspeed")
    assert {"framework": "pytorch"} in changes(outcome)


def test_a_job_is_not_larger_than_the_machine() -> None:
    assert "nodes, not 100000" in refused("frontier", nodes=100_000).says
    assert "nodes, not 50000" in refused("perlmutter", nodes=50_000).says


@pytest.mark.parametrize(("machine", "workers"), [("perlmutter", "ranks"), ("delta", "ranks"), ("vista", "torchrun")])
def test_lightning_starts_where_it_reads_its_ranks(machine: str, workers: str) -> None:
    assert decided(machine, framework="lightning").launch.workers == workers


@pytest.mark.parametrize("machine", ["frontier", "abci3"])
def test_lightning_is_warned_of_where_it_cannot(machine: str) -> None:
    outcome = decided(machine, framework="lightning")
    warned = any("ClusterEnvironment" in note for note in outcome.notes)
    assert warned == (outcome.launch.workers == "ranks")


def test_parallel_sizes_make_up_the_world() -> None:
    for strategy in ("tp", "pp", "3d"):
        for nodes in (1, 2, 3, 4):
            outcome = decided("perlmutter", strategy=strategy, nodes=nodes)
            assert outcome.ranks % (outcome.tensor_parallel * outcome.pipeline_parallel) == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"nodes": 0},
        {"nodes": -1},
        {"nodes": 10**9},
        {"gpus_per_node": -1},
        {"walltime": "2h"},
        {"walltime": "00:00:00"},
    ],
)
def test_impossible_numbers_are_one_line(fields: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        plan(JobRequest(machine="polaris", **{"strategy": "ddp", "nodes": 2, **fields}), CLUSTERS["polaris"])
    assert "\n" not in str(caught.value)


def test_only_what_is_open_is_asked() -> None:
    asked = [question.field for question in still_missing(JobRequest(), None, ["perlmutter"])]
    assert asked == ["machine", "framework", "strategy", "nodes"]
    request = JobRequest(machine="perlmutter", strategy="fsdp")
    assert [question.field for question in still_missing(request, CLUSTERS["perlmutter"])] == ["nodes"]
    assert still_missing(JobRequest(machine="perlmutter", strategy="fsdp", total_gpus=8), CLUSTERS["perlmutter"]) == ()


@pytest.mark.parametrize(
    ("machine", "said", "queue"),
    [
        ("delta", "preemptible", "gpuA100x4-preempt"),
        ("frontier", "regular", "batch"),
        ("lumi", "debug", "dev-g"),
        ("lumi", "shared", "small-g"),
        ("perlmutter", "production", "regular"),
    ],
)
def test_a_kind_of_queue_is_the_queue_of_that_kind(machine: str, said: str, queue: str) -> None:
    outcome = decided(machine, nodes=1, queue=said)
    assert outcome.queue == queue
    assert any(one.field == "queue" and said in one.why for one in outcome.assumptions)


def test_a_gpu_that_is_named_decides_the_nodes() -> None:
    outcome = decided("lonestar6", nodes=1, node_type="h100")
    assert (outcome.gpu_model, outcome.queue) == ("H100", "gpu-h100")
    assert any("Perlmutter has no H100" in one.why for one in decided("perlmutter", node_type="h100").assumptions)


@pytest.mark.parametrize(("words", "ranks"), [("4 GCDs per node", 4), ("4 ranks per node", 4), ("4 GPUs per node", 8)])
def test_tiles_that_are_called_so_are_counted_as_tiles(words: str, ranks: int) -> None:
    heard = (Heard("gpus_per_node", "said", words),)
    assert decided("frontier", gpus_per_node=4, heard=heard).ranks_per_node == ranks


@pytest.mark.parametrize(
    ("model", "strategy", "nodes", "warned"),
    [("70B", "ddp", 4, True), ("70B", "fsdp", 4, True), ("70B", "fsdp", 16, False), ("1B", "ddp", 1, False)],
)
def test_a_model_that_cannot_fit_is_warned_of(model: str, strategy: str, nodes: int, warned: bool) -> None:
    outcome = decided("perlmutter", strategy=strategy, nodes=nodes, model=model)
    assert any("it will not fit" in note for note in outcome.notes) == warned


def test_a_patch_that_stands_already_is_not_told_as_lost() -> None:
    one = Patch(("a",), ("b",), "top", "end")
    assert patched("top\nb\nend\n", (one,)) == ("top\nb\nend\n", ())
    assert patched("other\n", (one,))[1] == (one,)
    assert standing("top\nb\nend\n", (one,)) == (one,) and standing("other\n", (one,)) == ()


def test_what_a_lightning_trainer_sets_is_told_and_no_argument_is_invented() -> None:
    request = JobRequest(
        machine="delta", framework="lightning", strategy="ddp", nodes=2, entry="fit.py", precision="bf16"
    )
    decided = plan(request, CLUSTERS["delta"])
    assert isinstance(decided, LaunchPlan)
    assert "--trainer.precision" not in " ".join(decided.args)
    assert any('num_nodes=2, precision="bf16-mixed"' in note for note in decided.notes)
