"""A scheduler that hangs, prints without end, or has a queue of 50,000 jobs: each door answers, after bounded work."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from assistant.cli import main
from assistant.drawing import markdown
from assistant.events import Event
from assistant.session import Session
from assistant.settings import Settings
from graph.usecases.explain_pending import explain_pending
from knowledge.schedulers import asking, tables
from knowledge.schedulers.asking import BoundedAsking, CouldNotAsk, ask_command

COMMANDS = ("squeue", "scontrol", "sacct", "sinfo", "sacctmgr", "sbatch", "sprio")
HANGS = '#!/bin/sh\necho "$0 $*" >> {log}\nexec sleep 60\n'
SHOWS = """\
#!/bin/sh
echo "JobId=7 JobName=sft
   UserId=me(1) GroupId=a(1) MCS_label=N/A
   JobState=PENDING Reason=Priority Dependency=(null)
   RunTime=00:00:00 TimeLimit=02:00:00 TimeMin=N/A
   Partition=gpu AllocNode:Sid=login1:1
   NumNodes=2 NumCPUs=2"
"""


@pytest.fixture
def hung(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of Slurm's commands that never return, first on the path; each writes down that it was started."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in COMMANDS:
        (folder / name).write_text(HANGS.format(log=tmp_path / "started"))
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin:/bin")
    monkeypatch.setattr(asking, "PATIENCE", 0.2)
    return folder


def started(folder: Path) -> list[str]:
    log = folder.parent / "started"
    return [Path(line.split()[0]).name for line in log.read_text().splitlines()] if log.exists() else []


@pytest.mark.parametrize(
    "words",
    ["pending", "pending 7", "why 7", "watch 7", "clusters discover", "clusters check perlmutter"],
)
def test_every_command_says_that_nobody_answered(hung: Path, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    said = capsys.readouterr().err
    assert "could not be asked (no answer within 0.2 s)" in said
    assert "knows no job" not in said and "no job of yours" not in said
    assert len(started(hung)) == len(set(started(hung))), "one that hung was asked again"


@pytest.mark.parametrize(
    "words",
    ["why is my job pending?", "is 7123 still running well?", "why did job 7123 fail?", "cancel job 7123"],
)
def test_the_chat_says_it_too(hung: Path, settings: Settings, words: str) -> None:
    session = Session(settings, "jobs")

    async def turn() -> str:
        return "\n".join([markdown(event) async for event in session.send(words)])

    told = asyncio.run(turn())
    assert "no answer within 0.2 s" in told and "says nothing of the job" in told
    assert ("scancel 7123" in told) == words.startswith("cancel")
    assert len(started(hung)) == 1


def test_what_answers_is_told_and_what_hangs_beside_it_is_named(hung: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (hung / "scontrol").write_text(SHOWS)
    assert main(["pending", "7"]) == 0
    told = capsys.readouterr()
    assert "It starts by itself." in told.out
    assert "`sinfo -p gpu` could not be asked" in told.err


def test_all_commands_of_a_question_share_one_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text("#!/bin/sh\nexec sleep 60\n")
        (tmp_path / name).chmod(0o755)
    ask = BoundedAsking(together=0.3)
    first, second = ask([f"{tmp_path}/a"]), ask([f"{tmp_path}/b"])
    assert isinstance(first, CouldNotAsk) and "no answer within 0.3 s" in first.why
    assert isinstance(second, CouldNotAsk) and "for all questions are over" in second.why


def test_what_prints_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "MOST_PRINTED", 1 << 20)
    told = ask_command(["yes"])
    assert isinstance(told, CouldNotAsk) and "printed more than 1 MiB" in told.why


REASONS = ("Priority", "Resources", "JobHeldUser", "PartitionTimeLimit", "QOSMaxJobsPerUserLimit")
HEAD = "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)"


def queue(jobs: int) -> str:
    """`squeue` of so many jobs."""
    rows = (
        f"{4000 + i:18} {'gpu':>9} {f'job{i}':>8} {f'u{i % 99}':>8} PD       0:00      2 ({REASONS[i % 5]})"
        for i in range(jobs)
    )
    return "\n".join((HEAD, *rows))


def queue_json(jobs: int) -> str:
    """`squeue --json` of so many jobs."""
    told = [
        {
            "job_id": 4000 + i,
            "name": f"job{i}",
            "user_name": "me",
            "job_state": ["PENDING"],
            "state_reason": REASONS[i % 5],
        }
        for i in range(jobs)
    ]
    return json.dumps({"jobs": told}, indent=1)


@pytest.mark.parametrize("made", [queue, queue_json])
def test_a_queue_of_any_length_costs_by_its_length(made: object) -> None:
    explain_pending(made(10))  # type: ignore[operator]
    few, many = (calls_of(made(jobs)) for jobs in (400, 1600))  # type: ignore[operator]
    assert many < 4.4 * few


def calls_of(text: str) -> int:
    """How many functions are called to explain it: work that no other program on this computer changes."""
    count = 0

    def see(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(see)
    try:
        explain_pending(text)
    finally:
        sys.setprofile(None)
    return count


def test_rows_that_stand_under_their_columns_need_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "cheapest", None)
    assert explain_pending(queue(50)).starts == "no"


def test_anothers_job_in_a_listing_is_no_misuse(say: Callable[..., list[Event]]) -> None:
    """A question about one's own job is answered, whatever the reader takes the words beside it for."""
    table = (
        "JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n"
        "88120   tlarsen PSUSP normal     hpcl02                  vasp_opt   Nov 21 08:12\n"
        "88131   eberg   PSUSP normal     hpcl02                  vasp_md    Nov 21 08:15\n"
    )
    events = say(
        "lsf job is PSUSP, how do i start. bresume gave: Job <88120>: Operation permission denied? no wait that was "
        f"for the colleague's, mine is 88131\n\n$ bjobs -u all 88120 88131\n{table}"
    )
    shown = "\n".join(map(markdown, events))
    assert "bresume 88131" in shown and "harms others" not in shown


BUDGET = (
    "why? (AssocGrpGRESMinutes), 8 gpus for 24h\n$ scontrol show assoc_mgr account=nlp flags=assoc\n"
    "ClusterName=h Account=nlp UserName= Partition= Priority=0 ID=812\n"
    "    ParentAccount=root(1) Lft=2210 DefAssoc=No\n    GrpTRESMins=cpu=N(4801220),gres/gpu=600000(592300)\n"
)
MINE = (
    "why?\n$ squeue -u liwei -o '%.8i %.8j %.2t %.11M %.11l %.12b %.5D %R'\n"
    "   JOBID     NAME ST        TIME  TIME_LIMIT TRES_PER_NOD NODES NODELIST(REASON)\n"
    "  318840   sft_7b  R    10:12:40  1-00:00:00   gres:gpu:8     1 gpu05\n"
    "  318852  eval_mm  R     1:05:09     2:00:00   gres:gpu:4     1 gpu09\n"
    "  318860  sft_14b PD        0:00  1-00:00:00   gres:gpu:8     1 (QOSMaxGRESPerUser)\n"
    "$ sacctmgr -nP show qos gpu format=maxtrespu\ngres/gpu=16\n"
)


CHAIN = (
    "why?\n$ squeue --me -o '%i %j %t %D %r %E'\nJOBID NAME ST NODES REASON DEPENDENCY\n"
    "702 train PD 4 Resources (null)\n703 eval PD 1 Dependency afterok:702(unfulfilled)\n"
    "704 clean PD 1 Dependency afterany:702(unfulfilled)\n"
)
QUOTA = (
    "Job Id: 501.srv\n    Job_Name = train\n    Job_Owner = mara@l1\n    job_state = Q\n    queue = gpuq\n"
    "    comment = Not Running: would exceed user mara's limit on resource ngpus in queue gpuq\n"
    "    Resource_List.select = 4:ncpus=32:ngpus=4\n    Resource_List.walltime = 48:00:00\n"
)
AFTER = (
    "       JOBID QUEUE    USER     NAME       ST NTASKS NNODES     TIME INFO\n"
    "  fA8k2Qm1Zs pbatch   nreyes   ablate-16   D     64     16       4h depends:after-success=fA8jzR7cWd\n"
    "  fA8jzR7cWd pbatch   nreyes   ablate-24   S     96     24       2h eta:3.5h\n"
)
TURN = (
    "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"
    "            482913       gpu whisper-    tkoch PD       0:00      4 (Priority)\n"
)
TOO_LONG = (
    "$ squeue -j 41 -o '%i %T %l %q %r'\nJOBID STATE TIME_LIMIT QOS REASON\n"
    "41 PENDING 5-00:00:00 short QOSMaxWallDurationPerJobLimit\n"
    "$ sacctmgr show qos format=name%12,maxwall,priority\n        Name     MaxWall   Priority\n"
    "------------ ----------- ----------\n       short  2-00:00:00        100\n"
)


@pytest.mark.parametrize(
    ("paste", "then", "told"),
    [
        (BUDGET, "if I take 4 gpus, how long could I run max", "32 h 05 min"),
        (MINE, "改成4卡可以吗", "12 in use + 4 = 16"),
        (MINE, "and if I ask 6 gpus?", "No, 6 GPUs are still too many now"),
        (MINE, "when then at the latest?", "318852 frees enough in 54 min"),
        (MINE, "what if I kill 318852?", "8 + 8 = 16 of 16"),
        (MINE, "is that for the whole lab or just me?", "Per user"),
        (MINE, "who is using them all?", "318840 sft_7b (8 GPUs"),
        (CHAIN, "can I scancel the first one?", "703 waits for 702 by `afterok`, which a cancelled job does not"),
        (CHAIN, "cancel 702 then?", "704 waits for 702 by `afterany`, and a cancelled job counts as ended"),
        (QUOTA, "who holds them?", "qstat -u $USER"),
        (QUOTA, "and with 24 h?", "the time does not count against this limit"),
        (AFTER, "what happens if I cancel ablate-24?", "it is cancelled by Flux"),
        (AFTER, "can I bump its priority?", "`flux job urgency` goes up to 16"),
        (TURN, "would half the nodes be quicker?", "NumNodes=2-2"),
        (TURN, "it needs 6 nodes for 1 hour, better?", "larger gap"),
        (TOO_LONG, "it does need five days though", "chain of 3 jobs of at most 48 h"),
    ],
)
def test_what_goes_on_from_a_waiting_job_is_answered_from_its_paste(
    say: Callable[..., list[Event]], paste: str, then: str, told: str
) -> None:
    say(paste)
    assert told in "\n".join(map(markdown, say(then)))


@pytest.mark.parametrize("then", ["I have 2 nodes elsewhere, how do I ssh to them?", "what does QOS mean?", "thanks"])
def test_what_asks_something_else_is_not_taken_for_the_waiting_job(say: Callable[..., list[Event]], then: str) -> None:
    say(TURN)
    told = "\n".join(map(markdown, say(then)))
    assert "smaller gap" not in told and "starts by itself" not in told
