"""Trial jobs without a real batch system: what is sent, how answers are read, PBS by a small stand-in on PATH."""

from __future__ import annotations

import io
import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.cli import main
from graph.verification import jobs
from graph.verification.jobs import SubmittedJob, fetch, follow, judge, reports, submit
from graph.verification.on_machine.reach import CommandResult, Reach, reaching
from graph.verification.on_machine.schedulers import (
    SCHEDULERS,
    JobState,
    read_qstat,
    read_sacct,
    read_scontrol,
    read_squeue,
)
from graph.verification.on_machine.trial import Trial, TrialWishes, trial_of
from knowledge.catalogue import catalogue
from knowledge.errors import InputError, UnavailableError

GOLDEN = Path(__file__).parents[2] / "golden"
# qsub runs the job at once and keeps its exit status; qstat answers as PBS Pro does, with a folded line.
QSUB = """\
#!/bin/bash
echo "$@" > "$STAND_IN/given"
out=/dev/null
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
[ -e "$STAND_IN/refuse" ] && { echo "qsub: Unknown queue" >&2; exit 170; }
PBS_O_WORKDIR=$PWD PBS_JOBID=77.pbs01 PBS_NODEFILE=$STAND_IN/nodes bash "$1" > "$out" 2>&1 < /dev/null
echo $? > "$STAND_IN/status"
echo 77.pbs01
"""
QSTAT = """\
#!/bin/bash
[ "$1" = -x ] || { echo "qstat: 77.pbs01 Job has finished, use -x or -H to obtain" >&2; exit 35; }
n=$(cat "$STAND_IN/asked" 2>/dev/null || echo 0); echo $((n + 1)) > "$STAND_IN/asked"
echo "Job Id: 77.pbs01"
case $n in
  0) printf '    job_state = Q\\n    comment = Not Running: Insufficient amount of\\n\\t resource: ngpus\\n';;
  1) printf '    job_state = R\\n';;
  *) printf '    job_state = F\\n    Exit_status = %s\\n' "$(cat "$STAND_IN/status")";;
esac
"""
TORCHRUN_LINE = "[default0]:"


def rank_line(rank: int, size: int, error: str = "") -> str:
    one = {"rank": rank, "local_rank": 0, "world_size": size, "node": f"n{rank}", "sums_right": not error}
    return json.dumps({**one, "error": error, "backend": "gloo", "wrapper": "DistributedDataParallel"})


def trial(machine: str, name: str = "pytorch-ddp", asked: TrialWishes = TrialWishes(account="abc")) -> Trial:  # noqa: B008
    made = trial_of((GOLDEN / machine / f"{name}.sh").read_text(), catalogue().clusters[machine], asked)
    assert isinstance(made, Trial), made
    return made


@pytest.fixture
def pbs(tmp_path, monkeypatch) -> Path:  # type: ignore[no-untyped-def]
    """A stand-in PBS, first on PATH; its folder."""
    place = tmp_path / "pbs"
    place.mkdir()
    for name, text in {"qsub": QSUB, "qstat": QSTAT}.items():
        (place / name).write_text(text)
        (place / name).chmod(0o755)
    monkeypatch.setenv("STAND_IN", str(place))
    monkeypatch.setenv("PATH", f"{place}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    return place


def with_script(made: Trial, text: str) -> Trial:
    """The trial with another script: what a node would have printed."""
    return replace(made, files=(replace(made.files[0], text=text), *made.files[1:]))


def test_a_pbs_job_is_followed_to_its_end(pbs: Path, tmp_path: Path) -> None:
    made = trial("polaris")
    lines = "\n".join(f"echo '{TORCHRUN_LINE}{rank_line(rank, 8)}'" for rank in range(8))
    with reaching(None, str(tmp_path / "trial")) as reach:
        job = submit(with_script(made, lines), reach)
        states = list(follow(job, (0, 0), lambda _: None))
        outcome = judge(made, job, states[-1], fetch(job))
    assert [(one.phase, one.word) for one in states] == [
        ("waiting", "queued"), ("running", "running"), ("ended", "finished"),
    ]  # fmt: skip
    assert states[0].says == "Not Running: Insufficient amount of resource: ngpus"
    assert job.id == "77.pbs01" and job.cancel.endswith("&& qdel 77.pbs01")
    assert outcome.passed and len(outcome.ranks) == 8
    assert (pbs / "given").read_text().strip() == f"-j oe -k doe -o preflight.out {made.files[0].name}"
    assert (tmp_path / "trial" / "preflight.py").exists()


def test_a_pbs_job_that_fails_is_diagnosed(pbs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The golden script itself: here it ends at the first command that this computer does not have."""
    script = str(GOLDEN / "polaris" / "pytorch-ddp.sh")
    assert (
        main(["verify", script, "--machine", "polaris", "--submit", "--yes", "--account", "abc", "--poll", "0.01"]) == 1
    )
    said = capsys.readouterr()
    assert "0 of 8 ranks reported." in said.out and "cause: " in said.out
    assert "finished (exit status" in said.err and "not seen:" in said.err


def test_what_pbs_refuses_is_said(pbs: Path, tmp_path: Path) -> None:
    (pbs / "refuse").touch()
    with reaching(None, str(tmp_path / "trial")) as reach, pytest.raises(InputError, match="Unknown queue"):
        submit(trial("polaris"), reach)


@pytest.mark.parametrize("answer", ["", "n\n", "what?\n"])
def test_nothing_is_sent_without_a_yes(pbs: Path, tmp_path: Path, monkeypatch, capsys, answer: str) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    script = str(GOLDEN / "polaris" / "pytorch-ddp.sh")
    assert main(["verify", script, "--machine", "polaris", "--submit", "--account", "abc"]) == 1
    said = capsys.readouterr().err
    assert "qsub -j oe -k doe -o preflight.out polaris-pytorch-ddp.sh" in said and "nothing was sent" in said
    assert not (pbs / "given").exists() and not (tmp_path / "maple-chat").exists()


def test_without_submit_it_only_shows(pbs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = str(GOLDEN / "perlmutter" / "pytorch-ddp.sh")
    assert main(["verify", script, "--host", "me@login", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["sent"] is False and shown["host"] == "me@login" and shown["queue"] == "debug"
    assert shown["command"].startswith("ssh me@login ") and "sbatch --parsable" in shown["command"]
    assert "PROGRAM=(preflight.py" in shown["files"][0]["text"]
    assert not list(tmp_path.glob("maple-chat*"))


@pytest.mark.parametrize(
    ("machine", "words", "reason"),
    [("polaris", [], "give --account"), ("lassen", ["--account", "abc"], "not on lsf"),
     ("polaris", ["--account", "abc", "--host", "-oProxyCommand=touch x"], "no host name"),
     ("polaris", ["--account", "abc", "--queue", "nosuch"], "no queue 'nosuch'")],
)  # fmt: skip
def test_what_cannot_be_submitted_is_said_first(pbs: Path, machine, words, reason, capsys) -> None:  # type: ignore[no-untyped-def]
    script = str(GOLDEN / machine / "pytorch-ddp.sh")
    assert main(["verify", script, "--machine", machine, "--submit", "--yes", *words]) == 2
    assert reason in capsys.readouterr().err
    assert not (pbs / "given").exists()


def test_only_the_account_the_environment_and_network_variables_go_along() -> None:
    text = (GOLDEN / "leonardo" / "pytorch-ddp.sh").read_text()
    text = text.replace('VENV="$WORK/venvs/train"', "VENV=/own/env").replace("YOUR_ACCOUNT", "proj_1")
    text = text.replace(
        "# --- Launch", "export NCCL_DEBUG=INFO HF_TOKEN=secret FI_LOG=$(date)\nrm -rf $SCRATCH/old\n# --- Launch"
    )
    made = trial_of(text, catalogue().clusters["leonardo"], TrialWishes())
    assert isinstance(made, Trial)
    sent = made.files[0].text
    assert "--account=proj_1" in sent and "/own/env" in sent and "NCCL_DEBUG=INFO" in sent
    assert "rm -rf" not in sent and "secret" not in sent and "date" not in sent and "train.py" not in sent
    assert (made.plan.nodes, made.plan.walltime, made.plan.queue) == (2, "00:10:00", "boost_qos_dbg")


def test_a_debug_queue_that_does_not_take_it_gives_way_to_the_script_s() -> None:
    assert trial("anvil").plan.queue == "gpu"  # its debug queue takes one node


def test_a_queue_that_was_asked_for_is_the_only_one() -> None:
    assert trial("perlmutter").plan.queue == "debug"
    assert trial("perlmutter", asked=TrialWishes(account="abc", queue="regular")).plan.queue == "regular"


def test_a_script_of_another_framework_is_no_torch_trial() -> None:
    text = "#!/bin/bash\n#SBATCH -N 2\nexport JAX_PLATFORMS=cuda\nsrun python -m maxtext.train jax.yml\n"
    with pytest.raises(InputError, match="uses jax"):
        trial_of(text, catalogue().clusters["perlmutter"], TrialWishes())
    with pytest.raises(InputError, match="no launch script"):
        trial_of("login07\n", catalogue().clusters["perlmutter"], TrialWishes())


def test_an_output_that_shows_late_is_waited_for() -> None:
    late = Scripted(CommandResult(1, b"", "cannot open"), None, CommandResult(0, b"here", ""))
    assert fetch(SubmittedJob("5", "slurm", late), lambda _: None) == "here"  # type: ignore[arg-type]
    never = Scripted(*[CommandResult(1, b"", "cannot open")] * 9)
    assert fetch(SubmittedJob("5", "slurm", never), lambda _: None) == ""  # type: ignore[arg-type]
    with pytest.raises(UnavailableError, match="its output is in x"):
        fetch(SubmittedJob("5", "slurm", Scripted(*[None] * 9)), lambda _: None)  # type: ignore[arg-type]


def test_words_for_the_far_side_are_quoted() -> None:
    reach = Reach("$SCRATCH/it's; here", "login")
    words = reach.words(("tail", "-c", "5", "a b; rm -rf ~"))
    assert words[:3] == ("ssh", "--", "login") and len(words) == 4
    shell, option, command = shlex.split(words[3])
    assert (shell, option) == ("bash", "-lc")
    assert shlex.split(command) == ["cd", "$SCRATCH/it's; here", "&&", "tail", "-c", "5", "a b; rm -rf ~"]


def ended(word: str, fine: bool | None, says: str = "") -> JobState:
    return JobState("ended", word, says, fine)


# What `maple-chat pending` says of the same reason.
NEXT_IN_LINE = "it is next in line: the nodes, GPUs, memory or cores that it asks for are in use now"
AS_MANY_JOBS = "you already have as many running jobs as this account allows one user"


@pytest.mark.parametrize(
    ("read", "answer", "state"),
    [
        (read_squeue, "PENDING|Resources\n", JobState("waiting", "PENDING", NEXT_IN_LINE)),
        (read_squeue, "PENDING|None\n", JobState("waiting", "PENDING", "")),
        (read_squeue, "PENDING|AssocMaxJobsLimit\n", JobState("waiting", "PENDING", AS_MANY_JOBS)),
        (read_squeue, "COMPLETING|None\n", JobState("running", "COMPLETING")),
        (read_squeue, "TIMEOUT|TimeLimit\n", ended("TIMEOUT", False)),
        (read_squeue, "", None),
        (read_squeue, "Welcome | 2026\nRUNNING|None\n", JobState("running", "RUNNING")),
        (read_sacct, "Welcome to Delta\n", None),
        (read_sacct, "NOTICE: down on Monday\nTIMEOUT\n", ended("TIMEOUT", False)),
        (read_scontrol, "JobState=FAILED Reason=NonZeroExitCode", ended("FAILED", False)),
        (read_sacct, "CANCELLED by 1001\n", ended("CANCELLED", False)),
        (read_sacct, "CANCELLED+\n", ended("CANCELLED", False)),
        (read_sacct, "COMPLETED\n", ended("COMPLETED", True)),
        (read_qstat, "  job_state = F\n  Exit_status = -29\n", ended("finished", False, "exit status -29")),
        (read_qstat, "    job_state = F\n", JobState("ended", "finished", "no exit status", None)),
        (read_qstat, "    job_state = E\n", JobState("running", "ending")),
        (read_qstat, "<Data></Data>", None),
    ],
)  # fmt: skip
def test_states_are_read(read, answer, state) -> None:  # type: ignore[no-untyped-def]
    assert read(answer) == state


@pytest.mark.parametrize(
    ("scheduler", "answer", "job"),
    [
        ("slurm", "4242\n", ["4242"]),
        ("slurm", "4242;cluster2\n", ["4242"]),
        ("slurm", "Welcome to 2026\n4242\n", ["4242"]),
        ("slurm", "sbatch: lua: no account\n", []),
        ("pbs", "1234.polaris-pbs-01.hsn\n", ["1234.polaris-pbs-01.hsn"]),
        ("pbs", "1234.x; rm -rf ~\n", []),
    ],
)
def test_job_numbers_are_read(scheduler: str, answer: str, job: list[str]) -> None:
    assert SCHEDULERS[scheduler].job_id.findall(answer) == job


class Scripted:
    """Answers in the place of a login node, one a command; None: it does not answer."""

    folder, host = "x", None

    def __init__(self, *answers: CommandResult | None) -> None:
        self.answers = list(answers)

    def run(self, argv: tuple[str, ...]) -> CommandResult:
        answer = self.answers.pop(0)
        if answer is None:
            raise UnavailableError("connection refused")
        return answer

    def shown(self, argv: tuple[str, ...]) -> str:
        return " ".join(argv)


UNKNOWN = CommandResult(1, b"", "slurm_load_jobs error: Invalid job id specified")
BUSY = CommandResult(1, b"", "slurm_load_jobs error: Socket timed out on send/recv operation")
RUNS = CommandResult(0, b"RUNNING|None\n", "")
COMPLETE = CommandResult(0, b"COMPLETED\n", "")


def followed(*answers: CommandResult | None) -> list[str]:
    job = SubmittedJob("5", "slurm", Scripted(*answers))  # type: ignore[arg-type]
    return [one.word for one in follow(job, (0, 0), lambda _: None)]


def test_a_job_is_followed_over_what_goes_wrong_on_the_way() -> None:
    assert followed(UNKNOWN, UNKNOWN, UNKNOWN, RUNS, UNKNOWN, COMPLETE) == ["submitted", "RUNNING", "COMPLETED"]
    assert followed(RUNS, BUSY, BUSY, BUSY, None, None, None, RUNS, UNKNOWN, COMPLETE) == ["RUNNING", "COMPLETED"]
    assert followed(RUNS, UNKNOWN, UNKNOWN, UNKNOWN)[-1] == "unknown to the scheduler"


def test_a_scheduler_that_never_answers_ends_the_wait_not_the_job() -> None:
    with pytest.raises(UnavailableError, match=r"job 5 goes on.*squeue --jobs=5"):
        followed(RUNS, *[None] * 3 * jobs.MOST_UNANSWERED)


def test_the_whole_world_must_have_formed() -> None:
    made = trial("vista")
    job = SubmittedJob("5", "slurm", Reach("x"))
    fine = JobState("ended", "COMPLETED", "", True)
    both = f"noise\n0: {rank_line(0, 2)}\n[1,1]<stdout>: {rank_line(1, 2)}\n"
    assert judge(made, job, fine, both).passed
    assert judge(made, job, JobState("gone"), both).passed
    assert judge(made, job, fine, rank_line(0, 2)).says == ("1 of 2 ranks reported.",)
    assert "Rank 1 on n1: boom" in judge(made, job, fine, f"{rank_line(0, 2)}\n{rank_line(1, 2, 'boom')}").says
    assert judge(made, job, fine, f"{rank_line(0, 1)}\n{rank_line(1, 1)}").says == ("The world has 1 ranks, not 2.",)
    assert not judge(made, job, replace(fine, word="FAILED", fine=False), both).passed
    assert reports('{"rank": "x"} {"rank": 0') == ()
