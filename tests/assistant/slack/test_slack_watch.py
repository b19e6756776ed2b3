"""A thread asks to be told of a run: trouble is posted there once; without a scheduler it hears what to run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assistant.slack import watches
from assistant.slack.watches import wish_to_watch
from tests.assistant.slack.conftest import StartBot, said
from tests.assistant.slack.standin.limits import shown
from tests.assistant.slack.standin.server import Slack

SCONTROL = """\
#!/bin/sh
test "$1 $2" = "show job" || exit 1
echo "JobId=4711 JobName=sft
   UserId=alice(1000) GroupId=a(1) MCS_label=N/A
   JobState=RUNNING Reason=None Dependency=(null)
   RunTime=00:10:00 TimeLimit=02:00:00 TimeMin=N/A
   Partition=gpu AllocNode:Sid=login1:1
   StdOut={log}
   StdErr={log}"
"""


@pytest.fixture
def login_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A computer with commands of Slurm, on which job 4711 of this file runs."""
    log = tmp_path / "slurm-4711.out"
    log.write_text("step 1/100 loss 2.5\n")
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, text in (("scontrol", SCONTROL.format(log=log)), ("squeue", "#!/bin/sh\n"), ("sacct", "#!/bin/sh\n")):
        (commands / name).write_text(text)
        (commands / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(watches, "LOOK", 0.05)
    return log


async def test_trouble_of_a_followed_run_is_told_in_the_thread_that_asked(
    slack: Slack, start_bot: StartBot, login_node: Path
) -> None:
    bot = await start_bot(watch=True)
    channel = slack.channel("support")
    asked = await slack.mention(channel, "watch 4711 please")
    begun = shown((await said(slack, channel.id, asked["ts"]))[0])
    assert "I follow job 4711" in begun and "step 1 of 100" in begun
    with login_node.open("a") as stream:
        stream.write("step 2/100 loss nan\nstep 3/100 loss nan\n")
    told = shown((await said(slack, channel.id, asked["ts"], 2))[1])
    assert "the loss is NaN at step 2" in told
    await slack.mention(channel, "tell me when it stalls, job 4711", thread=asked["ts"])
    assert "already" in shown((await said(slack, channel.id, asked["ts"], 3))[2])
    await bot.door.answering.watches.stop()
    answers = await said(slack, channel.id, asked["ts"], 4)
    assert "follow job 4711 no more" in shown(answers[3])
    assert len(answers) == 4


async def test_without_leave_or_scheduler_the_command_to_run_is_told(
    slack: Slack, start_bot: StartBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await start_bot()
    channel = slack.channel("support")
    asked = await slack.mention(channel, "tell me when job 4711 stalls")
    answer = shown((await said(slack, channel.id, asked["ts"]))[0])
    assert "not set up" in answer and "maple-chat watch 4711 --notify" in answer
    await slack.command(channel, "watch 4712")
    question = await slack.until(lambda: next((m for m in channel.messages if "watch 4712" in m.get("text", "")), None))
    assert "maple-chat watch 4712" in shown((await said(slack, channel.id, question["ts"]))[0])


@pytest.mark.parametrize(
    ("text", "before", "job"),
    [
        ("watch 12345", (), "12345"),
        ("please keep an eye on job 12345_7", (), "12345_7"),
        ("tell me when it stalls", ("why is job 881 slow?", "and now?"), "881"),
        ("ping us if the run fails", (), ""),
        ("notify me once job 55 is done", (), "55"),
        ("how do I watch a job on Perlmutter?", (), None),
        ("does it stall often?", ("job 881",), None),
    ],
)
def test_a_wish_to_be_told_is_heard(text: str, before: tuple[str, ...], job: str | None) -> None:
    assert wish_to_watch(text, before) == job
