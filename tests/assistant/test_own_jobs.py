"""In the chat: why does my job wait, is it still well, why did it fail, cancel it; on a login node and elsewhere."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from assistant.drawing import markdown
from assistant.session import Session
from assistant.settings import Settings
from graph.conversation.jobs import CANCEL

SHOW = """\
#!/bin/sh
case "$1 $2 $3" in
"show job 12") echo "JobId=12 JobName=sft
   UserId=me(1) GroupId=a(1) MCS_label=N/A
   Account=a QOS=normal
   JobState=RUNNING Reason=None Dependency=(null)
   RunTime=00:10:00 TimeLimit=02:00:00 TimeMin=N/A
   Partition=gpu AllocNode:Sid=login1:1
   NodeList=g01
   StdOut={log}";;
"show job 13") echo "JobId=13 JobName=sft
   UserId=me(1) GroupId=a(1) MCS_label=N/A
   JobState=FAILED Reason=NonZeroExitCode Dependency=(null)
   ExitCode=1:0
   RunTime=00:10:00 TimeLimit=02:00:00 TimeMin=N/A
   StdOut={failed}";;
"show job 14") echo "JobId=14 ArrayJobId=14 ArrayTaskId=0-3%1 JobName=sweep
   UserId=me(1) GroupId=a(1) MCS_label=N/A
   JobState=PENDING Reason=Priority Dependency=(null)
   RunTime=00:00:00 TimeLimit=02:00:00 TimeMin=N/A
   Partition=gpu AllocNode:Sid=login1:1";;
"show partition gpu") echo "PartitionName=gpu
   MaxNodes=4 MaxTime=1-00:00:00 State=UP";;
*) echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1;;
esac
"""
HEAD = "JOBID|PARTITION|NAME|USER|STATE|TIME|TIME_LIMIT|NODES|START_TIME|QOS|ACCOUNT|REASON|NODELIST"
SQUEUE = f"""\
#!/bin/sh
echo "{HEAD}
21|gpu|big|me|PENDING|0:00|2:00:00|9|N/A|normal|a|PartitionNodeLimit|
22|gpu|late|me|PENDING|0:00|2:00:00|1|N/A|normal|a|Priority|
23|gpu|held|me|PENDING|0:00|2:00:00|1|N/A|normal|a|JobHeldUser|
24|gpu|after|me|PENDING|0:00|2:00:00|1|N/A|normal|a|DependencyNeverSatisfied|"
"""


@pytest.fixture
def login_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    log, failed = tmp_path / "slurm-12.out", tmp_path / "slurm-13.out"
    log.write_text("step 130/400 loss 2.27\nstep 131/400 loss 2.26\n")
    failed.write_text("step 1 loss 2\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")
    commands = tmp_path / "bin"
    commands.mkdir()
    texts = {
        "scontrol": SHOW.format(log=log, failed=failed),
        "squeue": SQUEUE,
        "sacct": "#!/bin/sh\n",
        "sinfo": "#!/bin/sh\n",
    }
    for name, text in texts.items():
        (commands / name).write_text(text)
        (commands / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    return commands


def says(settings: Settings, *messages: str) -> str:
    """The answer to the last of these messages in one conversation."""
    session = Session(settings, "jobs")

    async def turn(words: str) -> str:
        return "\n".join([markdown(event) async for event in session.send(words)])

    return [asyncio.run(turn(words)) for words in messages][-1]


def test_why_my_jobs_wait_is_asked_here_and_none_is_left_out(login_node: Path, settings: Settings) -> None:
    told = says(settings, "why is my job pending?")
    assert "It asks for 9 nodes; gpu gives one job at most 4" in told
    assert "scontrol release 23" in told and "scancel 24" in told
    assert "Waiting for other reasons: 22 (`Priority`)" in told


def test_whether_it_is_well_is_read_from_its_output_and_it_is_not_cancelled(
    login_node: Path, settings: Settings
) -> None:
    told = says(settings, "is 12 still running well?")
    assert "running since 10 min on g01" in told and "step 131 of 400, loss 2.26" in told
    told = says(settings, "is job 12 still running well?", "cancel it")
    assert "I cancel nothing myself" in told and "scancel 12" in told


def test_of_an_array_only_the_waiting_tasks_are_named_to_end(login_node: Path, settings: Settings) -> None:
    told = says(settings, "cancel job 14", "cancel it")
    assert "scancel --state=PENDING 14" in told and "14_[0-3%1] (sweep), which is waiting" in told
    told = says(settings, "cancel my jobs")
    assert "scancel 21" in told and "scancel --me" not in told


@pytest.mark.parametrize(
    "words", ["cancel that line", "remove that flag from the script", "delete it from the script", "kill that option"]
)
def test_what_is_no_job_is_not_cancelled(login_node: Path, settings: Settings, words: str) -> None:
    told = says(settings, "is job 12 still running well?", words)
    assert "I cancel nothing myself" not in told
    assert "scancel 12" in says(settings, "is job 12 still running well?", words, "cancel it please")


def test_it_is_the_job_until_the_talk_is_of_a_script(login_node: Path, settings: Settings) -> None:
    script = "train ViT with FSDP on Perlmutter, 4 nodes, account m1"
    assert "I cancel nothing myself" not in says(settings, "is job 12 still running well?", script, "cancel it")
    assert "step 131" not in says(settings, "is job 12 still running well?", "is it fine to use FSDP with 4 GPUs?")


@pytest.mark.parametrize("words", ["why doesn't my job run?", "what is holding my job?", "my job is still pending"])
def test_a_wait_in_other_words(login_node: Path, settings: Settings, words: str) -> None:
    assert "It asks for 9 nodes; gpu gives one job at most 4" in says(settings, words)


@pytest.mark.parametrize(
    "words", ["how far is job 12?", "is job 12 hanging?", "did job 12 finish?", "why does job 12 not go on?"]
)
def test_of_a_job_that_is_named_its_state_decides_what_is_told(
    login_node: Path, settings: Settings, words: str
) -> None:
    assert "step 131 of 400" in says(settings, words)
    assert "gpu-oom" in says(settings, words.replace("12", "13"))


def test_how_something_is_done_is_not_asked_of_the_scheduler(login_node: Path, settings: Settings) -> None:
    assert "scontrol release" in says(settings, "how do I release job 12?")


def test_my_last_failed_job_is_found_in_the_accounting(login_node: Path, settings: Settings) -> None:
    head = "JobID|JobName|User|State|ExitCode|End"
    rows = "13|sft|me|FAILED|1:0|2026-11-22T10:00:00\n11|sft|me|FAILED|1:0|2026-11-21T10:00:00"
    (login_node / "sacct").write_text(
        f"#!/bin/sh\necho '{head}\n{rows}\n15|sft|me|COMPLETED|0:0|2026-11-22T11:00:00'\n"
    )
    told = says(settings, "why did my last job fail?")
    assert "**13 (sft)**" in told and "gpu-oom" in told


def test_why_a_job_failed_is_told_by_its_id(login_node: Path, settings: Settings) -> None:
    told = says(settings, "why did job 13 fail?")
    assert "gpu-oom" in told and "script itself ended with code 1" in told


def test_a_job_that_nobody_knows_and_a_scheduler_that_is_down(login_node: Path, settings: Settings) -> None:
    assert "knows no job 99" in says(settings, "why does job 99 wait?")
    (login_node / "scontrol").write_text(
        "#!/bin/sh\necho 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1\n"
    )
    told = says(settings, "is job 12 still running?")
    assert "could not be asked" in told and "says nothing of the job" in told


def test_without_a_scheduler_the_command_to_run_is_told(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "maple-chat watch 12345" in says(settings, "is 12345 still running well?")
    assert "scancel 12345" in says(settings, "is 12345 still running well?", "cancel it")
    assert "maple-chat pending 881" in says(settings, "why is job 881 pending?")


@pytest.mark.parametrize(
    ("words", "is_one"),
    [("cancel that line", False), ("delete that module", False), ("remove it from the script", False),
     ("stop my job from writing core files", False), ("cancel it", True), ("please kill that job now", True),
     ("scancel 12345", True), ("cancel it, it hangs", True)],
)  # fmt: skip
def test_an_edit_is_no_wish_to_cancel_a_job(words: str, is_one: bool) -> None:
    assert bool(CANCEL.search(words)) is is_one
