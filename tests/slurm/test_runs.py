"""Golden scripts, not a letter changed, really run over two nodes of a real Slurm; the mini-app is their program."""

from __future__ import annotations

import importlib.util
import json
import time
from pathlib import Path
from typing import Any

import pytest
from virtual_site import environment, with_gpus
from virtual_slurm import missing, small

from graph.planning.plan import plan
from knowledge.catalogue import catalogue
from knowledge.types import JobRequest, LaunchPlan
from templates.render import render

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
# Stands where the user's program would stand. A node is known by Slurm's name for it: all are this computer.
PROGRAM = """\
import os, runpy, sys
os.environ["MAPLE_REHEARSAL_NODE"] = os.environ["SLURMD_NODENAME"]
sys.argv[1:] = ["--strategy", "{strategy}", "--framework", "{framework}", "--out", "{out}"]
runpy.run_path("{miniapp}", run_name="__main__")
"""


def have(*packages: str) -> pytest.MarkDecorator:
    absent = [name for name in packages if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(absent), reason=f"{', '.join(absent)} not installed (extra: rehearse)")


def lay_out(folder: Path, framework: str, strategy: str, texts: dict[str, str]) -> Path:
    """The script (the first of texts) and its side files, the program, and the site's commands. Returns the script."""
    for name, text in texts.items():
        (folder / name).write_text(text)
    wanted = "accelerate" if framework == "accelerate" else strategy
    miniapp = ROOT / "templates" / "miniapp" / "preflight.py"
    text = PROGRAM.format(strategy=wanted, framework=framework, out=folder / "ranks.jsonl", miniapp=miniapp)
    (folder / "train.py").write_text(text)
    return folder / next(iter(texts))


def run_job(slurm: Any, script: Path, extra: dict[str, str], seconds: int = 240) -> str:
    """Submit, wait for the end, and return Slurm's word for it."""
    words = ["env", *(f"{name}={value}" for name, value in extra.items())]
    sent = slurm.run(*words, "sbatch", "--parsable", script.name, folder=script.parent)
    assert sent.returncode == 0, sent.stderr
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        asked = slurm.run("squeue", "--noheader", "--states=all", f"--jobs={sent.stdout.strip()}", "--format=%T")
        if (state := asked.stdout.strip()) not in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING"):
            return state
        time.sleep(0.2)
    raise AssertionError(f"not done after {seconds} s:\n{printed(script.parent)}")


def printed(folder: Path) -> str:
    """All that the jobs printed: on a busy machine a launcher ends with pages of its own."""
    return "\n".join(file.read_text(errors="replace") for file in folder.glob("*.out"))


def check_ranks(folder: Path, devices: int) -> None:
    """The world formed: every rank once, each on a device of its own, sums right."""
    ranks = [json.loads(line) for line in (folder / "ranks.jsonl").read_text().splitlines()]
    assert sorted(rank["rank"] for rank in ranks) == list(range(2 * devices))
    assert {rank["world_size"] for rank in ranks} == {2 * devices}
    assert all(rank["sums_right"] and not rank["error"] for rank in ranks), ranks
    places = {(rank["node"], rank["device"]) for rank in ranks}
    assert places == {(f"127.0.1.{node}", str(gpu)) for node in (1, 2) for gpu in range(devices)}


@have("torch")
def test_a_golden_script_runs_over_two_nodes(small_slurm, tmp_path) -> None:  # type: ignore[no-untyped-def]
    script = GOLDEN / "perlmutter" / "pytorch-ddp.sh"
    copied = lay_out(tmp_path, "pytorch", "ddp", {script.name: script.read_text()})
    state = run_job(small_slurm("perlmutter"), copied, environment(tmp_path, 4))
    assert state == "COMPLETED", printed(tmp_path)
    check_ranks(tmp_path, 4)
    assert "module load pytorch" in (tmp_path / "site.log").read_text()


@pytest.mark.parametrize(
    ("machine", "framework", "strategy"),
    [
        pytest.param("leonardo", "accelerate", "ddp", marks=have("torch", "accelerate")),
        pytest.param("anvil", "lightning", "ddp", marks=have("torch")),
    ],
)
def test_scripts_run_on_machines_with_two_gpus_a_node(tmp_path, machine, framework, strategy) -> None:  # type: ignore[no-untyped-def]
    """The same machines with fewer GPUs, and the scripts that planning writes for those: four ranks, not eight."""
    cluster = with_gpus(catalogue().clusters[machine], 2)
    asked = JobRequest(machine=machine, framework=framework, strategy=strategy, nodes=2)
    decided = plan(asked, cluster)
    assert isinstance(decided, LaunchPlan), decided
    bundle = render(decided)
    texts = {bundle.name: bundle.script} | {file.name: file.text for file in bundle.files}
    script = lay_out(tmp_path, framework, strategy, texts)
    if reason := missing():
        pytest.skip(reason)
    with small(cluster) as slurm:
        state = run_job(slurm, script, environment(tmp_path, 2))
    assert state == "COMPLETED", printed(tmp_path)
    check_ranks(tmp_path, 2)


@have("torch")
def test_a_script_that_starts_too_few_ranks_is_seen(small_slurm, tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The other way round: one launcher that waits for a node which never starts ends in an error, not in silence."""
    text = (GOLDEN / "perlmutter" / "pytorch-ddp.sh").read_text()
    script = lay_out(tmp_path, "pytorch", "ddp", {"job.sh": text})
    assert 'srun --ntasks="$NNODES"' in text
    script.write_text(text.replace('srun --ntasks="$NNODES" ', "timeout 5 srun --nodes=1 --ntasks=1 "))
    assert run_job(small_slurm("perlmutter"), script, environment(tmp_path, 4)) == "FAILED"
    assert not (tmp_path / "ranks.jsonl").exists()
