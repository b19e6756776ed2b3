"""Files of one job are judged together, different jobs apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.debugging.jobs import jobs


def made(folder: Path, names: list[str], text: str = "step 1 loss 0.3\n") -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    "names",
    [
        ["rank-0.log", "rank-1.log", "rank-10.log"],
        ["rank_0/stdout", "rank_0/stderr", "rank_1/stdout"],
        ["none_ab12/attempt_0/0/stderr.log", "none_ab12/attempt_0/1/stderr.log"],
        ["gpu04.log", "gpu05.log"],
        ["nid001234/train.log", "nid001235/train.log"],
        ["x3004c0s7b0n0/0.log", "x3004c0s19b0n0/1.log"],
        ["slurm-4711.out", "slurm-4711.err"],
        ["train.o4711", "train.e4711"],
        ["out-0.txt", "out-1.txt", "out-2.txt"],
        ["job-123456-rank0.log", "job-123456-rank1.log"],
        ["train.log", "launch.log", "slurm-4711.out"],
        ["20261121-rank0.log", "20261121-rank1.log"],
        ["stdout.log", "stderr.log"],
        ["train.out", "train.err"],
        ["train_0.log", "train_1.log"],
        ["gpu04.log", "gpu05.log", "launch.log"],
        ["train-rank0.log", "train-rank1.log", "launch.log"],
    ],
)
def test_files_of_one_job(names: list[str], tmp_path: Path) -> None:
    assert [len(job.paths) for job in jobs([made(tmp_path, names)])] == [len(names)]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["slurm-1.out", "slurm-2.out"], ["job 1", "job 2"]),
        (["slurm-7_1.out", "slurm-7_2.out"], ["job 7_1", "job 7_2"]),
        (["train.o4711", "train.e4711", "train.o4712"], ["job 4711", "job 4712"]),
        (["vit/train.log", "gpt/train.log"], ["gpt", "vit"]),
        (["run-1/rank_0.log", "run-1/rank_1.log", "run-2/rank_0.log"], ["run-1", "run-2"]),
        (["run1.log", "run2.log"], ["run1", "run2"]),
        (["oom.out", "oom.err", "nccl.out", "mod.out", "good1.out"], ["good", "mod", "nccl", "oom"]),
        (["4711.out", "4711.err", "14712.out"], ["job 14712", "job 4711"]),
        (["a.log", "14712.out", "14713.out"], ["files without a job's number", "job 14712", "job 14713"]),
    ],
)
def test_files_of_several_jobs(names: list[str], said: list[str], tmp_path: Path) -> None:
    assert sorted(job.name for job in jobs([made(tmp_path, names)])) == said


def test_the_number_in_the_text_parts_files_that_are_named_alike(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"train-{number}.log").write_text(f"SLURM_JOB_ID={4710 + number}\nstep 1 loss 0.3\n")
    assert [job.name for job in jobs([tmp_path])] == ["job 4711", "job 4712"]


def test_files_named_one_by_one_are_grouped_too(tmp_path: Path) -> None:
    made(tmp_path, ["slurm-1.out", "slurm-2.out", "slurm-1.err"])
    found = jobs(sorted(tmp_path.iterdir()))
    assert [(job.name, len(job.paths)) for job in found] == [("job 1", 2), ("job 2", 1)]


def test_files_named_one_by_one_stay_one_job_where_nothing_parts_them(tmp_path: Path) -> None:
    made(tmp_path, ["train.log", "launch.log"])
    assert [len(job.paths) for job in jobs(sorted(tmp_path.iterdir()))] == [2]
