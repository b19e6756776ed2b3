"""What an experienced reader found wrong in scripts for these machines, each held."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graph.planning.plan import plan
from knowledge.catalogue import SHIPPED
from knowledge.cluster_file import read_cluster
from knowledge.job_parts import ArgumentEdit
from knowledge.types import JobRequest, LaunchPlan, Refusal
from templates.render import render

CLUSTERS = {path.stem: read_cluster(path) for path in SHIPPED.glob("*.yaml")}
GOLDEN = Path(__file__).parents[2] / "golden"


def made(machine: str, **fields: object) -> LaunchPlan:
    base = JobRequest(framework="pytorch", strategy="ddp", nodes=2, entry="train.py")
    decided = plan(replace(base, **fields), CLUSTERS[machine])  # type: ignore[arg-type]
    assert isinstance(decided, LaunchPlan), decided
    return decided


def script(machine: str, **fields: object) -> str:
    return render(made(machine, **fields)).script


def test_megatron_with_tensor_parallel_queues_one_connection() -> None:
    assert "CUDA_DEVICE_MAX_CONNECTIONS=1" in script("perlmutter", framework="megatron", strategy="tp")
    assert "CUDA_DEVICE_MAX_CONNECTIONS=1" in script("lumi", framework="megatron", strategy="tp")
    assert "CUDA_DEVICE_MAX" not in script("aurora", framework="megatron", strategy="tp")
    assert "CUDA_DEVICE_MAX" not in script("perlmutter", framework="megatron", strategy="ddp")


@pytest.mark.parametrize(
    ("machine", "fields", "line"),
    [
        ("perlmutter", {"environment": "vit"}, 'conda activate "$ENVIRONMENT"'),
        ("perlmutter", {"environment": "vit"}, "module load conda"),
        ("leonardo", {"environment": "$WORK/v", "environment_kind": "venv"}, 'source "$VENV/bin/activate"'),
        ("anvil", {"environment": "$HOME/v", "environment_kind": "venv"}, 'source "$CONDA_ENV/bin/activate"'),
        ("perlmutter", {"environment": "~/p", "environment_kind": "uv"}, 'source "$ENVIRONMENT/.venv/bin/activate"'),
        ("bridges2", {"environment": "/x/y.sif"}, "export SIF=/x/y.sif"),
        ("delta", {"environment": "/x/y.sif"}, "export IMAGE=/x/y.sif"),
        ("perlmutter", {"container": "nersc/pytorch:25.06.01"}, "#SBATCH --image=nersc/pytorch:25.06.01"),
        ("alps-clariden", {"environment": "my.toml"}, "export EDF=my.toml"),
        ("alps-clariden", {"environment": "pytorch/v2.8", "environment_kind": "uenv"}, "#SBATCH --uenv=pytorch/v2.8"),
        ("perlmutter", {"modules": ("pytorch/2.6.0",)}, "module load pytorch/2.6.0"),
    ],
)
def test_kinds_of_environment_are_told_apart(machine: str, fields: dict[str, object], line: str) -> None:
    assert any(one.startswith(line) for one in script(machine, **fields).splitlines())


def test_an_environment_of_no_said_kind_is_looked_at_when_it_runs() -> None:
    assert '[ -d "$VENV/conda-meta" ]' in script("leonardo", environment="/x/env")


def test_a_virtual_environment_takes_the_place_of_an_image() -> None:
    made_there = script("bridges2", environment="/x/v", environment_kind="venv")
    assert "singularity" not in made_there


def test_delta_loads_what_can_be_loaded() -> None:
    assert "module load pytorch-conda/2.12" in script("delta")
    assert "module load nccl-ofi-plugin" in script("delta")


def test_no_head_ends_a_pipe_early_under_pipefail() -> None:
    for path in GOLDEN.glob("*/*.sh"):
        assert "| head" not in path.read_text(), path


@pytest.mark.parametrize(("nodes", "queue"), [(64, "boost_usr_prod"), (65, "boost_qos_bprod"), (3, "boost_qos_dbg")])
def test_leonardos_qos_have_their_node_counts(nodes: int, queue: str) -> None:
    asked = JobRequest(framework="pytorch", strategy="ddp", nodes=nodes, queue=queue)
    assert isinstance(plan(asked, CLUSTERS["leonardo"]), Refusal) == (queue == "boost_qos_dbg")


def test_the_node_type_is_chosen_by_its_name() -> None:
    assert "gpu&hbm80g" in script("perlmutter", node_type="gpu-a100-80")
    assert "v100-32:16" in script("bridges2", node_type="v100-32")


def test_accounts_are_completed_or_asked_about() -> None:
    assert made("isambard-ai", account="u5x").account == "brics.u5x"
    assert made("delta", account="bdfe").account == "bdfe-delta-gpu"
    asked = JobRequest(framework="pytorch", strategy="ddp", nodes=1, account="bdfe-delta-cpu")
    questioned = plan(asked, CLUSTERS["delta"])
    assert isinstance(questioned, Refusal)
    assert dict(questioned.instead[0].change)["account"] == "bdfe-delta-gpu"


def test_ranks_sit_beside_their_gpus() -> None:
    assert "--cpu-bind=list:24-31:16-23:8-15:0-7" in script("polaris")
    assert "mask_cpu:0xffff000000000000ffff000000000000," in script(
        "perlmutter", framework="deepspeed", strategy="zero2"
    )


def test_tuolumne_has_the_rendezvous_that_rccl_needs() -> None:
    text = script("tuolumne")
    assert "FI_CXI_RDZV_PROTO=alt_read" in text
    assert 'if [ -d "/collab' in text


def test_a_v100_says_what_it_needs() -> None:
    assert any("sm_70" in note for note in made("bridges2", node_type="v100-32").notes)


def test_shared_nodes_have_a_port_of_the_job() -> None:
    for machine in ("perlmutter", "delta", "anvil", "leonardo"):
        assert "MASTER_PORT=$((10000 + SLURM_JOB_ID % 50000))" in script(machine)


def test_each_rank_knows_how_many_are_on_its_node() -> None:
    assert 'LOCAL_WORLD_SIZE="$RANKS_PER_NODE"' in script("frontier")
    assert any("LOCAL_RANK is 0 in every task" in note for note in made("frontier").notes)


def test_clariden_brings_its_environment_file() -> None:
    bundle = render(made("alps-clariden"))
    assert "workdir" in next(file.text for file in bundle.files if file.name == "pytorch.toml")


def test_frontier_broadcasts_to_its_nvme() -> None:
    text = script("frontier", stage_in=("/x/data.tar",), args="--data /x/data.tar")
    assert "#SBATCH -C nvme" in text
    assert "sbcast -pf /x/data.tar" in text
    assert '"$LOCAL_DATA/data.tar"' in text


def test_polaris_has_a_short_temporary_folder_on_one_node() -> None:
    assert "export TMPDIR=/tmp" in script("polaris", nodes=1)
    assert "export TMPDIR=/tmp" not in script("polaris")


def test_the_trainer_gets_deepspeed_in_its_own_way() -> None:
    bundle = render(made("delta", framework="hf-trainer", strategy="zero3"))
    assert "--deepspeed ds_zero3.json" in bundle.script
    assert "--deepspeed_config" not in bundle.script
    assert '"auto"' in bundle.files[0].text


def test_a_count_of_cards_is_told_as_such() -> None:
    taken = {one.field: one.why for one in made("lumi", gpus_per_node=4).assumptions}
    assert "*4 GCDs*" in taken["gpus_per_node"]


def test_preemptable_queues_are_offered_with_their_least_time() -> None:
    asked = JobRequest(framework="pytorch", strategy="ddp", nodes=4, walltime="00:30:00", queue="preempt")
    refused = plan(asked, CLUSTERS["perlmutter"])
    assert isinstance(refused, Refusal)
    assert any("02:00:00" in way.says for way in refused.instead)
    long = plan(replace(asked, queue=None, walltime="70:00:00", nodes=2), CLUSTERS["polaris"])
    assert isinstance(long, LaunchPlan) or any("preemptable" in way.says for way in long.instead)


def test_one_gpu_takes_the_shared_queue() -> None:
    assert made("abci3", nodes=1, gpus_per_node=1).queue == "rt_HG"
    assert made("perlmutter", nodes=1, gpus_per_node=1, strategy="none").queue == "shared"


def test_lightning_is_told_its_counts_and_strategy() -> None:
    text = script("leonardo", framework="lightning", strategy="fsdp", entry="python main.py fit -c conf.yaml")
    assert "--trainer.num_nodes 2" in text
    assert "--trainer.devices 4" in text
    assert "--trainer.strategy fsdp" in text
    assert "torchrun" not in text


def test_vllm_over_nodes_runs_on_ray() -> None:
    text = script("vista", framework="vllm", strategy=None, entry="vllm serve M", pipeline_parallel=2)
    assert "--pipeline-parallel-size 2" in text
    assert "--distributed-executor-backend ray" in text
    assert "ray start" in text
    assert "torchrun" not in text
    one = script("vista", framework="vllm", strategy=None, nodes=1, entry="vllm serve M", precision="fp8")
    assert "ray" not in one.lower().replace("array", "")
    assert "--quantization fp8" in one


def test_sizes_that_do_not_come_out_even_are_refused() -> None:
    base = JobRequest(framework="megatron", nodes=16, tensor_parallel=4, pipeline_parallel=2, global_batch=512)
    assert isinstance(plan(replace(base, micro_batch=2), CLUSTERS["juwels-booster"]), LaunchPlan)
    assert isinstance(plan(replace(base, micro_batch=3), CLUSTERS["juwels-booster"]), Refusal)
    assert isinstance(plan(replace(base, pipeline_parallel=3), CLUSTERS["juwels-booster"]), Refusal)


def test_what_only_the_program_can_set_is_said() -> None:
    assert any("MICRO_BATCH" in note for note in made("delta", micro_batch=4).notes)
    edits = (ArgumentEdit("set", "--bs", "4"),)
    assert "train.py --bs 4" in script("delta", argument_edits=edits)


def test_optimizer_states_go_to_memory_when_asked() -> None:
    bundle = render(made("delta", framework="deepspeed", strategy="zero3", offload_optimizer=True))
    assert "offload_optimizer" in bundle.files[0].text
