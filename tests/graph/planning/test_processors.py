"""Jobs without GPUs: the queues that have nodes for them, and never a word of GPUs in the script."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from graph.planning.plan import plan
from graph.undescribed import stand_in
from graph.usecases.write_script import Written, write_script
from knowledge.catalogue import catalogue
from knowledge.types import JobRequest, LaunchPlan, Refusal

CLUSTERS = catalogue().clusters
JOB = JobRequest(cpu_only=True, entry="tokenize.py", account="abc123", walltime="00:30:00")
# Words of GPU jobs. The heads of a script say `a job without GPUs`.
OF_GPUS = re.compile(r"gres|--gpu|nccl|rccl|torchrun|MASTER_|CUDA|ROCR|--nv\b|mem-per-gpu|=gpu|=480G", re.I)
QUEUES = [(one.id, queue.id) for one in CLUSTERS.values() for queue in one.queues if queue.cpu_nodes]


def written(machine: str, **fields: object) -> Written:
    made = write_script(replace(JOB, machine=machine, **fields), CLUSTERS[machine])  # type: ignore[arg-type]
    assert isinstance(made, Written), made
    return made


def refused(machine: str, **fields: object) -> Refusal:
    made = plan(replace(JOB, machine=machine, **fields), CLUSTERS[machine])  # type: ignore[arg-type]
    assert isinstance(made, Refusal)
    assert made.instead
    return made


def test_many_machines_have_queues_without_gpus() -> None:
    assert len({machine for machine, _ in QUEUES}) >= 8


@pytest.mark.parametrize(("machine", "queue"), QUEUES)
def test_no_word_of_gpus_stands_in_the_script(machine: str, queue: str) -> None:
    found = next(one for one in CLUSTERS[machine].queues if one.id == queue)
    nodes = max(found.min_nodes, min(found.max_nodes or 2, 2))
    for fields in ({"cpus_per_task": 4, "memory_gb": 8}, {"processes_per_node": 2}):
        made = written(machine, queue=queue, nodes=nodes, **fields)
        assert not OF_GPUS.search(made.bundle.script), made.bundle.script
        assert queue in made.bundle.script
        assert [one for one in made.findings if one.severity == "error"] == []


def test_deltas_job_is_charged_to_its_cpu_account() -> None:
    script = written("delta", cpus_per_task=32, memory_gb=64).bundle.script
    for line in ("--account=abc123-delta-cpu", "--partition=cpu", "--cpus-per-task=32", "--mem=64G"):
        assert f"#SBATCH {line}\n" in script
    assert refused("delta", account="abc123-delta-gpu").instead[0].change == (("account", "abc123-delta-cpu"),)


def test_a_part_of_a_node_goes_to_the_shared_queue() -> None:
    assert written("lumi", cpus_per_task=16).plan.queue == "small"
    assert written("lumi", cpus_per_task=128).plan.queue == "standard"
    assert written("lonestar6", cpus_per_task=8, memory_gb=60).plan.queue == "normal"


def test_perlmutters_cores_are_two_hardware_threads() -> None:
    made = written("perlmutter", cpus_per_task=32)
    assert "#SBATCH --cpus-per-task=64\n" in made.bundle.script
    assert "#SBATCH --constraint=cpu\n" in made.bundle.script
    assert written("perlmutter", cpus_per_task=100).plan.queue == "regular"


def test_whole_nodes_need_no_option_for_memory() -> None:
    made = written("stampede3", memory_gb=100, cpus_per_task=8)
    assert "--mem" not in made.bundle.script
    assert any("100 GB need no option" in note for note in made.plan.notes)


def test_more_than_a_node_has_is_refused() -> None:
    assert "128 cores" in refused("delta", cpus_per_task=200).says
    assert "256 GB" in refused("delta", memory_gb=900).says
    assert "not described" in refused("frontier").says


def test_a_queue_without_gpus_takes_no_job_that_has_some() -> None:
    made = refused("delta", cpu_only=None, queue="cpu", strategy="ddp", nodes=1, gpus_per_node=4)
    assert [dict(way.change).get("queue") for way in made.instead][:1] == ["gpuA100x4"]


def test_a_queue_or_a_count_of_none_says_it_too() -> None:
    assert not written("anvil", cpu_only=None, queue="shared").plan.on_gpus
    assert not written("anvil", cpu_only=None, gpus_per_node=0).plan.on_gpus


def test_a_training_follows_on_the_gpu_nodes() -> None:
    from knowledge.job_parts import Program

    made = plan(replace(JOB, then=(Program("train.py", nodes=2, gpus_per_node=4),)), CLUSTERS["delta"])
    assert isinstance(made, LaunchPlan)
    assert [(job.queue, job.account, job.ranks) for job in made.jobs] == [("gpuA100x4", "abc123-delta-gpu", 8)]


def test_a_machine_that_nobody_described_has_such_jobs_too() -> None:
    for words, line in (
        ("a slurm cluster", "#SBATCH --cpus-per-task=12"),
        ("a PBS cluster", "#PBS -l select=1:ncpus=12:mpiprocs=1:mem=20gb"),
        ("an LSF cluster", '#BSUB -R "span[ptile=12]"'),
        ("a flux cluster", "# flux: --cores-per-slot=12"),
    ):
        asked = replace(JOB, machine="hill", site_words=words, cpus_per_task=12, memory_gb=20)
        asked = replace(asked, memory_gb=None) if "flux" in words else asked
        made = write_script(asked, stand_in(asked))
        assert isinstance(made, Written), made
        assert f"{line}\n" in made.bundle.script
        assert not OF_GPUS.search(made.bundle.script)


def test_one_process_meets_nobody() -> None:
    script = written("delta", cpu_only=None, strategy="none", nodes=1, gpus_per_node=1).bundle.script
    assert "--gpus-per-node=1" in script
    assert "MASTER_" not in script


def test_memory_becomes_cores_where_no_option_takes_it() -> None:
    made = written("marenostrum5", memory_gb=64, cpus_per_task=16)
    assert "--cpus-per-task=32" in made.bundle.script and "--mem" not in made.bundle.script
