"""`maple-chat verify --submit` against a real Slurm: submit, follow, fetch, judge; here and through a stand-in ssh."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from virtual_site import environment, with_gpus
from virtual_slurm import missing, small

from assistant.cli import main
from graph.verification.jobs import fetch, follow, judge, submit
from graph.verification.on_machine.reach import reaching
from graph.verification.on_machine.trial import Trial, TrialWishes, trial_of
from knowledge.catalogue import catalogue
from knowledge.errors import InputError

SCRIPT = Path(__file__).parents[1] / "golden" / "delta" / "pytorch-ddp.sh"
QUICK = (0.2, 0.2)
# Runs the command as sshd does, in a fresh home: by the login shell, with nothing of our environment but Slurm's.
SSH = """\
#!/bin/bash
case "$1" in -G) printf "controlmaster auto\\ncontrolpath /tmp/already-shared\\n"; exit;; esac
while [ "$1" != -- ]; do shift; done
echo "$2" >> "{folder}/hosts"
cd "$HOME" && exec bash -c "$3"
"""


@pytest.fixture
def at_login(small_slurm, tmp_path, monkeypatch):  # type: ignore[no-untyped-def]
    """This process as one on Delta's login node; the current folder is the home folder there."""
    slurm = small_slurm("delta")
    site = environment(tmp_path, 4)
    for name, value in {**site, "SLURM_CONF": slurm.environment["SLURM_CONF"]}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return slurm


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch not installed (extra: rehearse)")
def test_the_mini_app_forms_its_world_on_two_nodes(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    if reason := missing():
        pytest.skip(reason)
    cluster = with_gpus(catalogue().clusters["delta"], 1)
    trial = trial_of(
        SCRIPT.read_text().replace("gpus-per-node=4", "gpus-per-node=1"), cluster, TrialWishes(account="abc")
    )
    assert isinstance(trial, Trial) and trial.plan.ranks == 2
    with small(cluster) as slurm, reaching(None, str(tmp_path / "trial")) as reach:
        for name, value in {**environment(tmp_path, 1), "SLURM_CONF": slurm.environment["SLURM_CONF"]}.items():
            monkeypatch.setenv(name, value)
        job = submit(trial, reach)
        states = list(follow(job, QUICK))
        outcome = judge(trial, job, states[-1], fetch(job))
    assert outcome.passed, outcome
    assert [rank["rank"] for rank in outcome.ranks] == [0, 1] and states[-1].word == "COMPLETED"
    assert "running" in {state.phase for state in states}


def test_a_failed_trial_through_ssh_is_diagnosed(at_login, tmp_path, monkeypatch, capsys) -> None:  # type: ignore[no-untyped-def]
    """The far side has no torchrun: the job fails, its output comes back, and the cause is told."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "ssh").write_text(SSH.format(folder=tmp_path))
    (bin_folder / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_folder}:/usr/bin:/bin")
    (tmp_path / ".bash_profile").write_text("echo Welcome to Delta\n")
    words = ["verify", str(SCRIPT), "--machine", "delta", "--submit", "--yes", "--account", "abc", "--poll", "0.2"]
    assert main([*words, "--host", "me@login.delta", "--folder", "$SCRATCH/a trial's place", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["sent"] and not answer["passed"] and answer["state"]["word"] == "FAILED"
    assert answer["output"].startswith("Welcome to Delta\n")
    assert answer["diagnosis"]["cause"] != "unknown" and "torchrun" in answer["output"]
    assert "torchrun" in Path(answer["kept"]).read_text()
    assert set((tmp_path / "hosts").read_text().split()) == {"me@login.delta"}
    assert list((tmp_path / "a trial's place" / "maple-chat").glob("delta-*/preflight.py"))


def test_what_slurm_refuses_is_said_in_its_words(at_login, tmp_path) -> None:  # type: ignore[no-untyped-def]
    trial = trial_of(SCRIPT.read_text(), catalogue().clusters["delta"], TrialWishes(account="abc", queue="gpuA40x4"))
    assert isinstance(trial, Trial)
    with reaching(None, str(tmp_path / "trial")) as reach, pytest.raises(InputError, match=r"[Ii]nvalid partition"):
        submit(trial, reach)


def test_an_interrupt_leaves_the_job_and_says_how_to_end_it(at_login, tmp_path) -> None:  # type: ignore[no-untyped-def]
    with (tmp_path / "site.sh").open("a") as site:
        site.write("module() { sleep 60; }\nexport -f module\n")
    code = "import sys; from assistant.cli import main; sys.exit(main())"
    words = ["verify", str(SCRIPT), "--machine", "delta", "--submit", "--yes", "--account", "abc", "--poll", "0.2"]
    root = str(Path(__file__).parents[2])
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": root}
    )
    assert process.stderr is not None
    said = ""
    while "RUNNING" not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=30)[1]
    assert process.returncode == 130 and "goes on" in rest
    cancel = next(line.removeprefix("End it: ") for line in rest.splitlines() if line.startswith("End it: "))
    assert states(at_login) == ["RUNNING"]
    subprocess.run(["bash", "-c", cancel], check=True)
    deadline = time.monotonic() + 20
    while states(at_login) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert states(at_login) == []


def states(slurm) -> list[str]:  # type: ignore[no-untyped-def]
    return [word for word in slurm.run("squeue", "--noheader", "--format=%T").stdout.split() if word != "COMPLETING"]
