"""A month of jobs of a made-up cluster: their logs, scripts and accounting, with planted causes, nodes and rates.

    .venv/bin/python bench/job_logs.py FOLDER [--jobs 20000] [--seed 1] [--steps 220]

Writes FOLDER/logs/USER/slurm-ID.out, now and then the script beside it, FOLDER/accounting.txt as `sacct -P` prints it,
and FOLDER/truth.json: the bad nodes, the cause that is new in the last week and each job's cause. Nodes that only look
bad are planted too: a user who sends a failing job again to one node forty times, a course whose students share two
nodes and all fail, an hour without the file system, jobs of many nodes beside a bad one.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

DAYS = 28
MOST_STEPS = 220
END = datetime(2026, 11, 20, 12)
NEW_CAUSE = "env-shared-library"
FRAMEWORKS = ("torchrun", "deepspeed", "lightning", "accelerate")
TRACE = """\
Traceback (most recent call last):
  File "/home/{user}/proj/train.py", line {n}, in <module>
    main()
  File "/home/{user}/proj/train.py", line {n2}, in main
    {code}
"""
# Cause -> the end of such a log. Two ways for one cause, where people see two.
ENDS: dict[str, tuple[str, ...]] = {
    "gpu-oom": (
        TRACE.replace("{code}", "loss.backward()")
        + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {n}.00 MiB. GPU {g} has a total capacity of "
        "79.15 GiB of which 312.00 MiB is free. Process {n2} has 78.8 GiB memory in use.\n",
    ),
    "user-code": (
        TRACE.replace("{code}", "x = batch['labels']") + "KeyError: 'labels'\n",
        TRACE.replace("{code}", "y = a @ b") + "IndexError: list index out of range\n",
    ),
    "env-python-package": (
        TRACE.replace("{code}", "import flash_attn") + "ModuleNotFoundError: No module named 'flash_attn'\n",
    ),
    "env-file-missing": (
        TRACE.replace("{code}", "open(path)")
        + "FileNotFoundError: [Errno 2] No such file or directory: '/scratch/{user}/data/part-{n}.bin'\n",
    ),
    "user-arguments": (
        "usage: train.py [-h] [--lr LR]\ntrain.py: error: unrecognized arguments: --learning-rate {n}\n",
    ),
    "sched-time-limit": ("slurmstepd: error: *** JOB {job} ON {node} CANCELLED AT {end} DUE TO TIME LIMIT ***\n",),
    "sched-host-oom": (
        "slurmstepd: error: Detected 1 oom_kill event in StepId={job}.0. Some of the step tasks have been OOM Killed.\n"
        "srun: error: {node}: task {g}: Out Of Memory\n",
    ),
    "env-disk": (TRACE.replace("{code}", "torch.save(state, path)") + "OSError: [Errno 28] No space left on device\n",),
    "gpu-hardware": (
        TRACE.replace("{code}", "loss = model(x)") + "RuntimeError: CUDA error: uncorrectable ECC error encountered\n",
    ),
    "comm-nccl-system": (
        TRACE.replace("{code}", "dist.all_reduce(t)")
        + "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, unhandled system error (run "
        "with NCCL_DEBUG=INFO for details), NCCL version 2.21.5\nncclSystemError: System call (e.g. socket, malloc) or "
        "external library call failed or device error.\n",
    ),
    "env-shared-library": (
        TRACE.replace("{code}", "import fused_kernels")
        + "ImportError: libcublasLt.so.13: cannot open shared object file: No such file or directory\n",
    ),
    "unknown": (
        "flurb[{n}]: shard {g} gave up its lease, the coordinator left without a word\nsrun: error: {node}: task {g}: "
        "Exited with exit code 3\n",
        "palisade: refusing to go on: ledger epoch {n} behind quorum {n2}\nsrun: error: {node}: task {g}: Exited with "
        "exit code 4\n",
    ),
}
STATES = {"sched-time-limit": "TIMEOUT", "sched-host-oom": "OUT_OF_MEMORY", "no-failure": "COMPLETED"}
OF_BAD_NODES = ("gpu-hardware", "comm-nccl-system", "gpu-hardware")
ORDINARY = (
    "gpu-oom", "user-code", "user-code", "env-python-package", "env-file-missing", "user-arguments",
    "sched-time-limit", "sched-host-oom", "env-disk", "unknown",
)  # fmt: skip
# Rare where nothing is wrong.
NOISE = ("gpu-hardware", "comm-nccl-system")
SCRIPT = """\
#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --partition={queue}
#SBATCH --nodes={nodes}
#SBATCH --gpus-per-node=4
#SBATCH --time=04:00:00
{wrong}srun {launcher} train.py
"""
HEAD = (
    "JobID|JobIDRaw|JobName|User|Account|Partition|State|ExitCode|Submit|Start|End|Elapsed|NNodes|NodeList|AllocTRES|"
    "Cluster"
)


@dataclass
class Planted:
    """What a report should find."""

    bad: list[str] = field(default_factory=list)
    new_cause: str = NEW_CAUSE
    causes: dict[str, str] = field(default_factory=dict)


@dataclass
class MadeJob:
    """One job before it is written."""

    id: int
    user: str
    queue: str
    nodes: tuple[str, ...]
    cause: str
    start: datetime
    seconds: int
    framework: str

    @property
    def account(self) -> str:
        return "course" if self.queue == "teaching" else f"proj{int(self.user[4:]) % 12:02d}"


def month(count: int, seed: int, planted: Planted) -> Iterator[MadeJob]:
    """The jobs, in the order of their ids."""
    draw = random.Random(seed)
    nodes = min(192, max(24, count // 10))
    names = [f"gpu{n:04d}" for n in range(nodes)]
    pinned, course, free = names[0], names[-2:], names[1:-2]
    planted.bad = sorted(draw.sample(free, max(1, nodes // 48)))
    people = [f"user{n:03d}" for n in range(min(60, max(12, count // 40)))]
    faults = {name: draw.choice((0.04, 0.08, 0.15, 0.3)) for name in people}
    # Some like one part of the machine, some nodes are in use more than others.
    likes = {name: draw.sample(free, len(free) // 3) for name in people}
    outage = END - timedelta(days=16)
    students = [f"user{n:03d}" for n in range(900, 925)]
    for number in range(count):
        start = END - timedelta(days=DAYS) + timedelta(days=DAYS) * (number / count)
        user, queue, where = draw.choice(people), "gpu", ()
        kind, cause = draw.random(), ""
        if kind < 0.02:
            user, queue, where = draw.choice(students), "teaching", (draw.choice(course),)
            cause = "env-file-missing" if draw.random() < 0.7 else "no-failure"
        elif kind < 0.022:
            user, where, cause = "user003", (pinned,), "env-file-missing"
        else:
            size = draw.choice((1, 1, 1, 2, 4, 8))
            pool = likes[user] if draw.random() < 0.5 else free
            first = draw.randrange(len(pool))
            where = tuple(pool[(first + n) % len(pool)] for n in range(size))
        hurt = [node for node in where if node in planted.bad]
        if not cause:
            cause = "no-failure"
            if outage < start < outage + timedelta(hours=1):
                cause = "env-disk"
            elif hurt and draw.random() < 0.4:
                cause = draw.choice(OF_BAD_NODES)
            elif END - start < timedelta(days=6) and draw.random() < 0.06:
                cause = NEW_CAUSE
            elif draw.random() < faults[user]:
                cause = draw.choice(NOISE) if draw.random() < 0.03 else draw.choice(ORDINARY)
        length = (
            draw.randrange(600, 14_000) if cause in ("no-failure", "sched-time-limit") else draw.randrange(20, 9000)
        )
        made = MadeJob(4_000_000 + number, user, queue, where, cause, start, length, draw.choice(FRAMEWORKS))
        planted.causes[str(made.id)] = cause
        yield made


def log_of(job: MadeJob, draw: random.Random, most_steps: int) -> str:
    """Steps of a training run, and the end that the cause leaves."""
    lines = [f"Running on {','.join(job.nodes)}\n", f"+ srun {job.framework} train.py\n"]
    steps = draw.randrange(min(30, most_steps // 2), most_steps)
    for step in range(steps):
        at = job.start + timedelta(seconds=job.seconds * step // steps)
        lines.append(
            f"[rank0]: {at:%Y-%m-%d %H:%M:%S},000 step {step} loss {4 / (1 + step / 40):.4f} lr 1.0e-04 "
            f"tokens/s {8000 + draw.randrange(900)}\n"
        )
    if job.cause == "no-failure":
        return "".join([*lines, "Training complete.\n"])
    end = job.start + timedelta(seconds=job.seconds)
    told = draw.choice(ENDS[job.cause]).format(
        user=job.user, n=draw.randrange(2, 900), n2=draw.randrange(900, 9000), g=draw.randrange(4), job=job.id,
        node=job.nodes[0], end=f"{end:%Y-%m-%dT%H:%M:%S}",
    )  # fmt: skip
    return "".join([*lines, told])


def row_of(job: MadeJob) -> str:
    end, gpus = job.start + timedelta(seconds=job.seconds), 4 * len(job.nodes)
    state = STATES.get(job.cause, "FAILED")
    code = {"COMPLETED": "0:0", "TIMEOUT": "0:15", "OUT_OF_MEMORY": "0:125"}.get(state, "1:0")
    clock = f"{job.seconds // 3600:02}:{job.seconds // 60 % 60:02}:{job.seconds % 60:02}"
    submit = job.start - timedelta(minutes=20)
    return "|".join(
        (
            *(str(job.id), str(job.id), "train", job.user, job.account, job.queue, state, code),
            *(f"{moment:%Y-%m-%dT%H:%M:%S}" for moment in (submit, job.start, end)),
            *(
                clock,
                str(len(job.nodes)),
                ",".join(job.nodes),
                f"billing=1,gres/gpu={gpus},node={len(job.nodes)}",
                "made",
            ),
        )
    )


def make(folder: Path, count: int, seed: int, most_steps: int = MOST_STEPS) -> Planted:
    """Write all; returns what was planted."""
    planted, draw, rows = Planted(), random.Random(seed + 1), [HEAD]
    for job in month(count, seed, planted):
        place = folder / "logs" / job.user
        place.mkdir(parents=True, exist_ok=True)
        (place / f"slurm-{job.id}.out").write_text(log_of(job, draw, most_steps))
        rows.append(row_of(job))
        if draw.random() < 0.3:
            wrong = "#SBATCH --gpu-per-nodes=4\n" if draw.random() < 0.1 else ""
            script = SCRIPT.format(
                name=f"train{job.id % 40}", queue=job.queue, nodes=len(job.nodes), wrong=wrong, launcher=job.framework
            )
            (place / f"job-{job.id}.sh").write_text(script)
    (folder / "accounting.txt").write_text("\n".join(rows) + "\n")
    truth = {"bad": planted.bad, "new_cause": planted.new_cause, "causes": planted.causes}
    (folder / "truth.json").write_text(json.dumps(truth))
    return planted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=MOST_STEPS, help="lines of a log at most (4 and more)")
    options = parser.parse_args()
    planted = make(options.folder, options.jobs, options.seed, options.steps)
    print(f"{options.jobs} jobs; bad nodes {', '.join(planted.bad)}; new in the last week {planted.new_cause}")


if __name__ == "__main__":
    main()
