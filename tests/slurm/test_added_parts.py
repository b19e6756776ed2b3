"""What people add to a job, on a real Slurm: arrays, chains, restarts after a signal, programs side by side, mail."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from test_runs import have, printed, run_job
from virtual_site import environment

from graph.planning.plan import plan
from knowledge.catalogue import catalogue
from knowledge.job_parts import ArrayAxis, JobArray, LimitSignal, Mail, Program
from knowledge.types import JobRequest, LaunchPlan
from templates.render import render

# Writes what it was told; no framework is needed to see that.
TELL = """\
import os, sys
with open(f"told-{os.environ.get('TASK', '0')}-{sys.argv[0].rpartition('/')[2]}", "a") as file:
    file.write(" ".join(sys.argv[1:]) + " " + os.environ.get("CUDA_VISIBLE_DEVICES", "") + "\\n")
"""
# Acts on USR1 as a training program should: a flag, a checkpoint, an orderly end; the next start goes on from it.
SAVES = """\
import os, signal, time
rank, flag = os.environ["RANK"], []
signal.signal(signal.SIGUSR1, lambda *_: flag.append(1))
saved = f"step-{rank}"
start = int(open(saved).read()) if os.path.exists(saved) else 0
open(f"started-{rank}", "a").write(f"{start}\\n")
for step in range(start, start + (600 if start == 0 else 1)):
    time.sleep(0.1)
    if flag:
        open(saved, "w").write(str(step + 1))
        break
"""


# Saves each step under a new name and renames, as a program should; the first run never ends by itself.
STEADY = """\
import os, time
rank = os.environ["RANK"]
saved = f"step-{rank}"
start = int(open(saved).read()) if os.path.exists(saved) else 0
open(f"started-{rank}", "a").write(f"{start}\\n")
for step in range(start, start + (6000 if start == 0 else 1)):
    time.sleep(0.05)
    open(saved + ".new", "w").write(str(step + 1))
    os.replace(saved + ".new", saved)
"""


def bundle_in(folder: Path, program: str, **fields: object) -> Path:
    """The bundle for Perlmutter with a program in the folder. Returns what is submitted."""
    asked = {"machine": "perlmutter", "framework": "pytorch", "account": "m1", "entry": "train.py", **fields}
    decided = plan(JobRequest(**asked), catalogue().clusters["perlmutter"])  # type: ignore[arg-type]
    assert isinstance(decided, LaunchPlan), decided
    bundle = render(decided)
    texts = {bundle.name: bundle.script} | {file.name: file.text for file in bundle.files}
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "train.py").write_text(program)
    return folder / bundle.submit.split()[-1]


def wait_until(done: object, seconds: float = 60, folder: Path | None = None) -> None:
    """Wait; folder: whose files a failure shows."""
    deadline = time.monotonic() + seconds
    while not done():  # type: ignore[operator]
        assert time.monotonic() < deadline, f"nothing happened\n{printed(folder) if folder else ''}"
        time.sleep(0.2)


@pytest.fixture(scope="module")
def requeued(small_slurm, tmp_path_factory) -> Path:  # type: ignore[no-untyped-def]
    """The folder of a job that was told to save and went back into the queue, where Slurm holds it for two minutes."""
    folder = tmp_path_factory.mktemp("requeued")
    script = bundle_in(
        folder, SAVES, strategy="ddp", nodes=1, gpus_per_node=2, requeue=True, signal=LimitSignal(), queue="regular"
    )
    slurm = small_slurm("perlmutter")
    words = ["env", *(f"{name}={value}" for name, value in environment(folder, 4).items())]
    sent = slurm.run(*words, "sbatch", "--parsable", script.name, folder=folder)
    assert sent.returncode == 0, sent.stderr
    wait_until(lambda: len(list(folder.glob("started-*"))) == 2)
    slurm.run("scancel", "--batch", "--signal=USR1", sent.stdout.strip())
    return folder


@have("torch")
def test_a_job_saves_at_the_signal(requeued: Path) -> None:
    """The signal passes launcher and torchrun and reaches the ranks alone."""
    wait_until(lambda: len(list(requeued.glob("step-*"))) == 2)


@have("torch")
def test_a_program_that_does_not_know_the_signal_is_put_back_before_the_limit(small_slurm, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    script = bundle_in(
        tmp_path, STEADY, strategy="ddp", nodes=1, gpus_per_node=1, requeue=True, signal=LimitSignal("USR1", 20),
        queue="regular",
    )  # fmt: skip
    slurm = small_slurm("perlmutter")
    words = ["env", *(f"{name}={value}" for name, value in environment(tmp_path, 4).items())]
    job = slurm.run(*words, "sbatch", "--parsable", script.name, folder=tmp_path).stdout.strip()
    wait_until(lambda: list(tmp_path.glob("step-*")), 120, tmp_path)
    slurm.run("scancel", "--batch", "--signal=USR1", job)
    wait_until(lambda: "Restarts=1" in slurm.run("scontrol", "show", "job", job).stdout, 120, tmp_path)
    slurm.run("scancel", job)


# Acts on TERM as on USR1 above; it is the tasks' own, and srun that gets it ends them at once.
ENDS = """\
import os, signal, sys, time
flag = []
signal.signal(signal.SIGTERM, lambda *_: flag.append(1))
open("up-" + os.environ["SLURM_PROCID"], "w").close()
while not flag:
    time.sleep(0.1)
time.sleep(1)
open("saved-" + os.environ["SLURM_PROCID"], "w").close()
"""


def test_a_signal_that_ends_srun_reaches_the_tasks_alone(small_slurm, tmp_path) -> None:  # type: ignore[no-untyped-def]
    term = LimitSignal("TERM", 300)
    script = bundle_in(tmp_path, ENDS, strategy="none", nodes=1, gpus_per_node=1, signal=term, queue="regular")
    slurm = small_slurm("perlmutter")
    words = ["env", *(f"{name}={value}" for name, value in environment(tmp_path, 4).items())]
    sent = slurm.run(*words, "sbatch", "--parsable", script.name, folder=tmp_path)
    assert sent.returncode == 0, sent.stderr
    wait_until(lambda: (tmp_path / "up-0").exists(), folder=tmp_path)
    slurm.run("scancel", "--batch", "--signal=TERM", sent.stdout.strip())
    wait_until(lambda: (tmp_path / "saved-0").exists(), folder=tmp_path)


def test_each_task_of_an_array_has_its_arguments(small_slurm, tmp_path) -> None:  # type: ignore[no-untyped-def]
    array = JobArray((ArrayAxis("--lr", ("1e-3", "1e-4", "3e-4")),), None, 2)
    script = bundle_in(tmp_path, TELL, strategy="none", nodes=1, gpus_per_node=1, array=array, queue="regular")
    slurm = small_slurm("perlmutter")
    words = ["env", *(f"{name}={value}" for name, value in environment(tmp_path, 4).items())]
    sent = slurm.run(*words, "sbatch", "--wait", script.name, folder=tmp_path)
    assert sent.returncode == 0, sent.stderr + printed(tmp_path)
    told = {path.name: path.read_text().split()[:2] for path in tmp_path.glob("told-*")}
    assert told == {f"told-{n}-train.py": ["--lr", lr] for n, lr in enumerate(("1e-3", "1e-4", "3e-4"))}


def test_a_chain_runs_one_job_after_the_other(small_slurm, tmp_path) -> None:  # type: ignore[no-untyped-def]
    submits = bundle_in(tmp_path, TELL, strategy="none", nodes=1, gpus_per_node=1, chain=2, queue="regular")
    slurm = small_slurm("perlmutter")
    words = ["env", *(f"{name}={value}" for name, value in environment(tmp_path, 4).items())]
    sent = slurm.run(*words, "bash", submits.name, folder=tmp_path)
    assert sent.returncode == 0, sent.stderr
    first, second = (line.split()[-1] for line in sent.stdout.splitlines())
    waits = slurm.run("scontrol", "show", "job", second).stdout
    assert f"afterany:{first}" in waits or "JobState=" in waits
    wait_until(lambda: (tmp_path / "told-0-train.py").exists() and len(list(tmp_path.glob("*.out"))) == 2)
    wait_until(lambda: not slurm.run("squeue", "--noheader", f"--jobs={first},{second}").stdout.strip())
    assert len((tmp_path / "told-0-train.py").read_text().splitlines()) == 2, printed(tmp_path)


@have("torch")
def test_a_chain_goes_on_from_the_newest_checkpoint_of_a_killed_job(small_slurm, tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The first job is killed outright, with no signal to save at; the next in the chain starts where it had saved."""
    submits = bundle_in(tmp_path, STEADY, strategy="ddp", nodes=1, gpus_per_node=2, chain=2, queue="regular")
    slurm = small_slurm("perlmutter")
    words = ["env", *(f"{name}={value}" for name, value in environment(tmp_path, 4).items())]
    sent = slurm.run(*words, "bash", submits.name, folder=tmp_path)
    assert sent.returncode == 0, sent.stderr
    first, second = (line.split()[-1] for line in sent.stdout.splitlines())
    wait_until(lambda: len(list(tmp_path.glob("step-[01]"))) == 2)
    slurm.run("scancel", "--full", "--signal=KILL", first)
    wait_until(lambda: all(len(p.read_text().split()) == 2 for p in tmp_path.glob("started-*")), 180)
    for path in tmp_path.glob("started-*"):
        before, after = (int(word) for word in path.read_text().split())
        assert before == 0 < after, printed(tmp_path)
    wait_until(lambda: not slurm.run("squeue", "--noheader", f"--jobs={second}").stdout.strip())


@have("torch")
def test_two_programs_run_side_by_side_on_their_own_gpus(small_slurm, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "sim.py").write_text(TELL)
    beside = (Program("sim.py", "--of 1", gpus_per_node=1),)
    script = bundle_in(tmp_path, TELL, strategy="ddp", nodes=1, gpus_per_node=3, beside=beside, queue="regular")
    state = run_job(small_slurm("perlmutter"), script, environment(tmp_path, 4))
    assert state == "COMPLETED", printed(tmp_path)
    assert (tmp_path / "told-0-sim.py").read_text().splitlines() == ["--of 1 0"]
    assert (tmp_path / "told-0-train.py").read_text().split() == ["1,2", "1,2"]


def test_mail_is_accepted(small_slurm, tmp_path) -> None:  # type: ignore[no-untyped-def]
    script = bundle_in(tmp_path, TELL, strategy="none", nodes=1, gpus_per_node=1, mail=Mail("a@b.org"), queue="regular")
    judged = small_slurm("perlmutter").run("sbatch", "--test-only", script.name, folder=tmp_path)
    assert judged.returncode == 0, judged.stderr


@have("torch")
def test_a_requeued_job_goes_on_from_where_it_saved(requeued: Path) -> None:
    """Last of all: the test waits with the job. A start that is brought forward is lost, or comes while the first run
    still ends on the node, and then the second run fails. A busy machine takes minutes more."""
    wait_until(lambda: all(len(p.read_text().split()) == 2 for p in requeued.glob("started-*")), 600, requeued)
    for path in requeued.glob("started-*"):
        first, second = (int(word) for word in path.read_text().split())
        assert first == 0 and second > 0
