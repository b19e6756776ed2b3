"""Waits provoked on a real Slurm with accounting, and what `maple-chat pending JOBID` makes of each."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from accounting_slurm import accounting_slurm, missing_accounting
from virtual_slurm import VirtualSlurm

from assistant.cli import main
from assistant.commands.pending import asked_here
from assistant.errors import InputError
from graph.usecases.explain_pending import PendingAnswer
from graph.usecases.explain_waiting_here import explain_waiting_here
from graph.waiting.script_change import changed_script
from knowledge.schedulers import asking
from knowledge.schedulers.asking import BoundedAsking
from knowledge.schedulers.live import script_of

# What is submitted, in this order, and what is to be said of it. {first}: the id of the first job.
WAITS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "partition-time": (("-p", "debug", "-t60"), "limit-request", "no"),
    "partition-nodes": (("-p", "debug", "-N2", "-t5"), "limit-request", "no"),
    "partition-down": (("-p", "closed"), "config", "depends"),
    "account-not-allowed": (("-p", "others"), "config", "no"),
    "qos-jobs": (("-q", "one", "-t5"), "limit-aggregate", "yes"),
    "qos-nodes-of-a-user": (("-q", "small", "-N2", "-t5"), "limit-aggregate", "no"),
    "qos-time": (("-q", "short", "-t60"), "limit-request", "no"),
    "qos-minimum": (("-q", "wide", "-N1", "-t5"), "limit-request", "no"),
    "qos-nodes-of-a-job": (("-q", "node", "-N2", "-t5"), "limit-request", "no"),
    "budget": (("-A", "poor", "-t60"), "limit-budget", "depends"),
    "held": (("-H", "-t5"), "hold", "no"),
    "begin": (("--begin=now+1hour", "-t5"), "wait", "yes"),
    "dependency": (("-d", "afterok:{first}", "-t5"), "dependency", "depends"),
    "never": (("-d", "afternotok:{done}", "-t5"), "dependency", "no"),
    "licence": (("-L", "sim:1", "-t5"), "wait", "yes"),
    "array": (("-a", "0-5%1", "-t5"), "wait", "yes"),
    "resources": (("-N3", "--exclusive", "-t5"), "wait", "yes"),
    "priority": (("-N3", "--exclusive", "-t5", "--nice=500"), "wait", "yes"),
    "qos-nodes-of-all": (("-q", "tight", "-N2", "-t5"), "limit-aggregate", "no"),
    "association-time": (("-A", "brief", "-t60"), "limit-request", "no"),
    "association-nodes": (("-A", "narrow", "-N2", "-t5"), "limit-request", "no"),
    "association-nodes-of-all": (("-A", "shared", "-N2", "-t5"), "limit-aggregate", "no"),
    "drained": (("-p", "spare", "-t5"), "wait", "depends"),
    "reservation": (("--reservation=later", "-t5"), "wait", "yes"),
    "maintenance": (("-w", "127.0.2.2", "-t110"), "node", "yes"),
    "held-by-staff": (("-t5",), "hold", "no"),
    "partition-minimum": (("-p", "large", "-N1", "-t5"), "limit-request", "no"),
    "partition-qos": (("-p", "listed", "-t5"), "config", "no"),
    "qos-jobs-of-all": (("-q", "few", "-t5"), "limit-aggregate", "yes"),
    "qos-jobs-of-an-account": (("-q", "team", "-t5"), "limit-aggregate", "yes"),
    "qos-minutes-of-a-job": (("-q", "minutes", "-t60"), "limit-request", "no"),
    "association-jobs": (("-A", "single", "-t5"), "limit-aggregate", "yes"),
    "association-jobs-of-all": (("-A", "pair", "-t5"), "limit-aggregate", "yes"),
    "bad-constraint": (("-C", "fast", "-t5", "--begin=now+1hour"), "limit-request", "no"),
}
# What staff do before the jobs are sent, and to one of them afterwards.
BEFORE = (
    "scontrol create reservation reservationname=later starttime=now+1hour duration=60 users=root nodes=127.0.2.1",
    "scontrol create reservation reservationname=maint starttime=now+90minutes duration=60 users=root "
    "nodes=127.0.2.2 flags=maint,ignore_jobs",
    "scontrol update nodename=127.0.2.4 state=drain reason=disk",
)
AFTER = (
    "scontrol hold {held-by-staff}",
    "scontrol update nodename=127.0.2.3 availablefeatures=slow activefeatures=slow",
    "scontrol update jobid={bad-constraint} starttime=now priority=4294901760",
)
# Jobs that fill the limits of numbers of jobs; they share one node.
HOLDING = (("-q", "few"), ("-q", "team"), ("-A", "single"), ("-A", "pair"))


@pytest.fixture(scope="module")
def slurm() -> Iterator[VirtualSlurm]:
    if reason := missing_accounting():
        pytest.skip(reason)
    with accounting_slurm() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in running.environment.items():
            patch.setenv(name, value)
        yield running


def submit(slurm: VirtualSlurm, *words: str) -> str:
    job = slurm.run("sbatch", "--parsable", "-A", "proj", "-o", "/dev/null", "--wrap", "sleep 90", *words)
    assert job.returncode == 0, (words, job.stderr)
    return job.stdout.strip()


@pytest.fixture(scope="module")
def timed(slurm: VirtualSlurm, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The jobs that end at their time limit: sent first, the minute goes by while the waits are provoked."""
    folder = tmp_path_factory.mktemp("timed")
    return {name: send_failure(slurm, folder, name) for name in TIMED}


def send_failure(slurm: VirtualSlurm, folder: Path, name: str) -> str:
    body, _, seen = FAILURES[name]
    script = folder / f"{name}.sh"
    script.write_text(f"#!/bin/bash\n#SBATCH -A proj -t 1 -J {name} -o {SEEN[seen]} --no-requeue\n{body}\n")
    partition = "timed" if name in TIMED else "spare" if name == "node-failure" else "gpu"
    sent = slurm.run("sbatch", "--parsable", "--mem=300", "-p", partition, script.name, folder=folder)
    assert sent.returncode == 0, sent.stderr
    return sent.stdout.strip()


def others(slurm: VirtualSlurm, kept: set[str]) -> list[str]:
    """The jobs that wait or run, without those and the ones that wait for their time limit."""
    rows = (line.split() for line in slurm.run("squeue", "-h", "-o", "%A %P").stdout.splitlines())
    return [job for job, partition in rows if partition != "timed" and job not in kept]


@pytest.fixture(scope="module")
def waiting(slurm: VirtualSlurm, timed: dict[str, str]) -> dict[str, str]:
    """The ids of the jobs that wait, once Slurm has judged them all."""
    done = submit(slurm, "-t1", "--wrap", "true")
    while slurm.run("squeue", "-h", "-t", "PD,R,CG", "-j", done).stdout.strip():
        time.sleep(0.2)
    for line in BEFORE:
        assert slurm.run(*line.split()).returncode == 0, line
    first = submit(slurm, "-q", "one", "-N1", "--exclusive", "-t5")
    submit(slurm, "-L", "sim:1", "--mem=300", "-t5")
    for words in HOLDING:
        submit(slurm, *words, "--mem=300", "-t5")
    ids = {
        name: submit(slurm, *(w.format(first=first, done=done) for w in words)) for name, (words, _, _) in WAITS.items()
    }
    for line in AFTER:
        assert slurm.run(*line.format(**ids).split()).returncode == 0, line
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        rows = slurm.run("squeue", "-h", "-t", "PD", "-o", "%A %r").stdout.splitlines()
        if not any(row.endswith(" None") for row in rows):
            break
        time.sleep(0.3)
    return ids


@pytest.fixture(scope="module")
def answers(slurm: VirtualSlurm, waiting: dict[str, str]) -> dict[str, tuple[str, PendingAnswer]]:
    """Slurm's own reason of each wait, and what is said of it."""
    found = {}
    for name, job in waiting.items():
        shown = slurm.run("squeue", "-h", "-j", job, "-o", "%r").stdout.splitlines()[0]
        told = explain_waiting_here(asked_here(job), BoundedAsking())
        # A controller that has just been sent 40 jobs may not answer one of ten questions.
        told = explain_waiting_here(asked_here(job), BoundedAsking()) if told.failures else told
        assert not told.failures, told.failures
        found[name] = (shown, told.answer)
    return found


@pytest.mark.parametrize("name", WAITS)
def test_a_provoked_wait_is_explained(
    waiting: dict[str, str], answers: dict[str, tuple[str, PendingAnswer]], name: str
) -> None:
    shown, answer = answers[name]
    _, kind, starts = WAITS[name]
    assert (answer.kind, answer.starts) == (kind, starts), shown
    assert answer.job.startswith(waiting[name])


# The waits that a change cures, and which of the offered commands does it.
CURES = {
    "partition-time": "TimeLimit=00:30:00",
    "partition-nodes": "NumNodes=1-1",
    "partition-minimum": "NumNodes=2-2",
    "partition-down": "Partition=",
    "partition-qos": "QOS=short",
    "account-not-allowed": "Partition=",
    "qos-nodes-of-a-user": "NumNodes=1-1",
    "qos-nodes-of-a-job": "NumNodes=1-1",
    "qos-nodes-of-all": "NumNodes=1-1",
    "qos-minimum": "NumNodes=2-2",
    "qos-time": "TimeLimit=00:05:00",
    "association-time": "TimeLimit=00:05:00",
    "association-nodes": "NumNodes=1-1",
    "association-nodes-of-all": "NumNodes=1-1",
    "held": "release",
    "begin": "StartTime=now",
    "dependency": "Dependency=",
    "reservation": "ReservationName=",
    "maintenance": "ReqNodeList=",
    "drained": "Partition=",
}


@pytest.fixture(scope="module")
def cured(
    slurm: VirtualSlurm, waiting: dict[str, str], answers: dict[str, tuple[str, PendingAnswer]]
) -> dict[str, str]:
    """Each offered command carried out with nothing else in the way: how far its job and its changed script came."""
    kept = {waiting[name] for name in CURES}
    slurm.run("scancel", *others(slurm, kept))
    slurm.run("scontrol", "hold", ",".join(kept - {waiting["held"]}))
    found = {}
    for name, wanted in CURES.items():
        offered = (step.command for step in answers[name][1].change)
        command = next((one for one in offered if wanted in one and "<" not in one), "")
        done = slurm.run(*command.split()) if command else None
        slurm.run("scontrol", "release", waiting[name])
        ways = (
            [came_to_run(slurm, waiting[name])]
            if done and not done.returncode
            else [f"not done: {command or answers[name][1].change}"]
        )
        script = "#!/bin/bash\n#SBATCH -A proj\n" + directives(WAITS[name][0]) + "sleep 90\n"
        if "{" not in script and (changed := changed_script(script, [command])) != script:
            sent = slurm.run("sbatch", "--parsable", "-o", "/dev/null", text_file(slurm, changed))
            ways.append(came_to_run(slurm, sent.stdout.strip()) if not sent.returncode else sent.stderr)
        found[name] = " and ".join(dict.fromkeys(ways))
    return found


def directives(words: tuple[str, ...]) -> str:
    """One `#SBATCH` line an option."""
    joined = " ".join(words).replace(" -", "\n-").splitlines()
    return "".join(f"#SBATCH {line}\n" for line in joined)


def text_file(slurm: VirtualSlurm, text: str) -> str:
    path = slurm.folder / "changed.sh"
    path.write_text(text)
    return str(path)


def came_to_run(slurm: VirtualSlurm, job: str) -> str:
    """`starts` once the job runs, which ends it; else its state and reason."""
    deadline = time.monotonic() + 20
    shown = ""
    while time.monotonic() < deadline:
        shown = slurm.run("squeue", "-h", "-j", job, "-o", "%T %r").stdout.strip()
        if shown.startswith(("RUNNING", "COMPL")) or not shown:
            slurm.run("scancel", job)
            wait_for(slurm, "", job)
            return "starts"
        time.sleep(0.1)
    slurm.run("scancel", job)
    return shown


@pytest.mark.parametrize("name", CURES)
def test_the_offered_change_starts_the_job_and_the_changed_script(cured: dict[str, str], name: str) -> None:
    assert cured[name] == "starts"


def test_a_job_that_nobody_knows_is_told_apart_from_no_answer(
    slurm: VirtualSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="knows no job 99999"):
        asked_here("99999")
    # Without its configuration Slurm looks for one by DNS, for 15 seconds.
    monkeypatch.setattr(asking, "PATIENCE", 2.0)
    monkeypatch.setenv("SLURM_CONF", "/nonexistent")
    with pytest.raises(InputError, match="could not be asked"):
        asked_here("1", BoundedAsking())


def test_the_script_comes_back_from_the_scheduler(waiting: dict[str, str]) -> None:
    assert "sleep 90" in script_of("slurm", waiting["held"])


def test_a_controller_that_hangs_is_told_by_every_command(
    slurm: VirtualSlurm, waiting: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    controller = next(child.pid for child in slurm.children if "slurmctld" in str(child.args))
    monkeypatch.setattr(asking, "PATIENCE", 0.5)
    os.kill(controller, signal.SIGSTOP)
    try:
        for words in ("pending", f"pending {waiting['held']}", f"watch {waiting['held']}", "clusters discover"):
            assert main(words.split()) == 2
            assert "could not be asked (no answer within" in capsys.readouterr().err
        # The accounting is another daemon's: it still knows the job, and answers in its own time beside other tests.
        monkeypatch.setattr(asking, "PATIENCE", 5.0)
        assert main(["why", waiting["held"]]) != 2
        told = capsys.readouterr()
        assert "could not be asked" in told.err and waiting["held"] in told.out
    finally:
        os.kill(controller, signal.SIGCONT)


# Failing jobs: the script's body, the cause, and where it is told: by the log, by the record alone, or by both.
FAILURES: dict[str, tuple[str, str, str]] = {
    "import": ("python3 -c 'import nosuchpackage'", "env-python-package", "log"),
    "no-file": ("python3 train_no.py", "env-file-missing", "log"),
    "no-command": ("torchrun-nosuch train.py", "user-shell", "log"),
    "no-module": ("module load cuda", "env-module", "log"),
    "permission": ("echo 'exit 0' > run.sh; chmod 644 run.sh; ./run.sh", "env-permission", "log"),
    "library": (
        "echo 'ImportError: libcudart.so.12: cannot open shared object file: No such file or directory'; exit 1",
        "env-shared-library",
        "log",
    ),
    "argument": (
        "python3 -c 'import argparse; p = argparse.ArgumentParser(prog=\"train.py\"); p.parse_args()' --lrr 1",
        "user-arguments",
        "log",
    ),
    "port": (
        'python3 -c \'import socket\na, b = socket.socket(), socket.socket()\na.bind(("", 0)); a.listen()\n'
        'b.bind(("", a.getsockname()[1]))\'',
        "comm-port-in-use",
        "log",
    ),
    "gpu-memory": (
        "echo 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.' >&2; exit 1",
        "gpu-oom",
        "log",
    ),
    "program": ("python3 -c 'print({}[\"loss\"])'", "user-code", "log"),
    "numbers": (
        "echo 'step 10 loss nan'; echo 'FloatingPointError: loss is NaN, stopping'; exit 1",
        "user-numerics",
        "log",
    ),
    "time-limit": ("sleep 200", "sched-time-limit", "both"),
    "time-limit-unseen": ("sleep 200", "sched-time-limit", "record"),
    "cancelled": ("sleep 200", "sched-cancelled", "record"),
    "node-failure": ("sleep 200", "sched-node-failure", "record"),
}
TIMED = ("time-limit", "time-limit-unseen")
SEEN = {"log": "out-%x-%j.log", "both": "out-%x-%j.log", "record": "/dev/null"}


@pytest.fixture(scope="module")
def failed(
    slurm: VirtualSlurm, cured: dict[str, str], timed: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """The ids of jobs that ended badly, all sent at once."""
    slurm.run("scancel", *others(slurm, set()))
    for line in ("update nodename=127.0.2.4 state=resume", "delete reservation=maint", "delete reservation=later"):
        slurm.run("scontrol", *line.split())
    folder = tmp_path_factory.mktemp("failed")
    ids = timed | {name: send_failure(slurm, folder, name) for name in FAILURES if name not in TIMED}
    wait_for(slurm, "R", ids["cancelled"], ids["node-failure"])
    slurm.run("scancel", ids["cancelled"])
    slurm.run("scontrol", "update", "nodename=127.0.2.4", "state=down", "reason=power")
    wait_for(slurm, "", *ids.values())
    return ids


def wait_for(slurm: VirtualSlurm, state: str, *jobs: str, seconds: float = 200) -> None:
    """Until all of them are in that state, or ("") have left the queue."""
    states = state or "PD,R,CG"
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        rows = slurm.run("squeue", "-h", "-t", states, "-j", ",".join(jobs), "-o", "%A").stdout.split()
        if set(rows) == (set(jobs) if state else set()):
            return
        time.sleep(0.5)
    raise AssertionError(slurm.run("squeue").stdout)


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_told_by_its_job_id(
    failed: dict[str, str], name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, cause, seen = FAILURES[name]
    code = main(["why", failed[name]])
    out, err = capsys.readouterr()
    assert code == 1, err
    assert f"cause: {cause}" in out, out
    if seen == "log":
        assert f"out-{name}-{failed[name]}.log; its script as the scheduler keeps it" in out


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_that_the_controller_has_forgotten_is_told_by_the_accounting(
    failed: dict[str, str],
    name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forgets = tmp_path / "scontrol"
    forgets.write_text("#!/bin/sh\necho 'slurm_load_jobs error: Invalid job id specified' >&2\nexit 1\n")
    forgets.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert main(["why", failed[name]]) == 1
    assert f"cause: {FAILURES[name][1]}" in capsys.readouterr().out


@pytest.mark.parametrize("name", [name for name, (_, _, seen) in FAILURES.items() if seen == "log"])
def test_the_log_alone_tells_the_same_cause(
    failed: dict[str, str], name: str, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    (log,) = tmp_path_factory.getbasetemp().rglob(f"out-{name}-{failed[name]}.log")
    assert main(["why", str(log)]) == 1
    assert f"cause: {FAILURES[name][1]}" in capsys.readouterr().out


PAGE = Path(__file__).parents[2] / "docs" / "provoked.md"
HEAD = """\
# Waits and failures provoked on a real Slurm

Written by `MAPLE_CHAT_WRITE=1 uv run pytest tests/slurm/test_pending.py`: slurmctld, slurmdbd and MariaDB, five nodes.
Each job below waited or failed there; what `maple-chat pending JOBID` and `maple-chat why JOBID` say of it is held by
the tests.

## {waits} waits

The last column: the command that was offered, carried out on the waiting job with nothing else in its way, and (where a
directive holds the value) its script with the offered change submitted anew. Both ran.

| wait | Slurm's reason | class | starts by itself | change that started it |
|---|---|---|---|---|
"""
FAILED = """
## {failures} failures

Each by its job id, and again where the controller has forgotten it (from the accounting). Where the log tells, the log
alone gives the same cause.

| failure | cause | told by |
|---|---|---|
"""


def test_the_page_shows_what_was_provoked(
    answers: dict[str, tuple[str, PendingAnswer]], cured: dict[str, str], failed: dict[str, str]
) -> None:
    rows = [
        f"| {name} | {answers[name][0].split(',')[0]} | {kind} | {starts} "
        f"| {f'`{CURES[name]}`' if cured.get(name) == 'starts' else ''} |"
        for name, (_, kind, starts) in WAITS.items()
    ]
    ends = [f"| {name} | {cause} | {seen} |" for name, (_, cause, seen) in FAILURES.items()]
    text = HEAD.format(waits=len(rows)) + "\n".join(rows) + "\n" + FAILED.format(failures=len(ends)) + "\n".join(ends)
    if os.environ.get("MAPLE_CHAT_WRITE"):
        PAGE.write_text(text + "\n")
    assert len(rows) >= 25 and len(failed) >= 15
    kept, made = (without_reasons(page) for page in (PAGE.read_text(), text + "\n"))
    assert kept == made, "write it anew with MAPLE_CHAT_WRITE=1"


def without_reasons(page: str) -> list[list[str]]:
    """The cells of its lines without Slurm's reason: Resources and Priority change places from run to run."""
    rows = (line.split(" | ") for line in page.splitlines())
    return [[*row[:1], *row[2:]] if len(row) > 3 else row for row in rows]
