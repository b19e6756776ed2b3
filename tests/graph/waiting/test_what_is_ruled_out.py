"""What the paste rules out is not said, and a sum whose numbers stand there is done."""

from __future__ import annotations

import pytest

from graph.usecases.explain_pending import explain_pending
from tests.graph.waiting.test_sums_beside_it import HEAD, whole

RUN_MINUTES = (
    '$ squeue -A optics -o "%i %u %t %L %D %r"\nJOBID USER ST TIME_LEFT NODES REASON\n'
    "810 ada PD 1-00:00:00 2 AssocGrpGRESRunMinutes\n806 bob R 10:00:00 3 None\n805 bob R 5:00:00 3 None\n\n"
    "each node has 2 gpus. the account has GrpTRESRunMins=gres/gpu={}. when?"
)
BLOCK = (
    "JobId=811 JobName=a\n   UserId=ada(5) GroupId=x(6) MCS_label=N/A\n   Priority={priority} Nice=0 Account=x QOS=q\n"
    "   JobState=PENDING Reason={reason} Dependency=(null)\n   Requeue=1 Restarts={restarts} BatchFlag=1 Reboot=0\n"
    "   RunTime=00:00:00 TimeLimit=1-00:00:00 TimeMin=N/A\n   SubmitTime=2026-10-02T09:00:00 "
    "EligibleTime=2026-10-02T21:00:00\n   StartTime=2026-10-02T21:00:00 EndTime=Unknown Deadline=N/A\n"
    "   LastSchedEval=2026-10-02T20:59:00 Scheduler=Main\n   Partition=std AllocNode:Sid=l1:1\n"
    "   NumNodes=1 NumCPUs=4 NumTasks=4\n"
)
MAINTENANCE = (
    "$ date\nTue Oct  6 10:00:00 CEST 2026\n$ squeue -j 812 -o '%i %l %R'\nJOBID TIME_LIMIT NODELIST(REASON)\n"
    "812 2-00:00:00 (ReqNodeNotAvail, Reserved for maintenance)\n$ scontrol show reservation\n"
    "ReservationName=maint StartTime=2026-10-07T06:00:00 EndTime=2026-10-07T18:00:00 Duration=12:00:00\n"
    "   Nodes=n[1-9] NodeCnt=9 CoreCnt=9 Features=(null) PartitionName=(null) Flags=MAINT,IGNORE_JOBS\n\n{}"
)
LICENCE = "$ squeue -o '%i %T %R'\nJOBID STATE NODELIST(REASON)\n813 PENDING (Licenses)\n$ scontrol show lic\n" + (
    "LicenseName=abaqus\n    Total={0} Used={0} Free=0 Reserved=0 Remote=no\n"
)
ARRAY = (
    f"{HEAD} 820 std post ada PD 0:00 1 (Dependency)\n 819_[5-8] std mc ada PD 0:00 1 (Priority)\n"
    " 819_4 std mc ada R 1:00:00 1 n4\n 819_3 std mc ada R 1:00:00 1 n3\n\n"
    "submitted with --dependency=afterok:819\n"
)
AGAIN = (
    "$ sacct -D -X -j 821 -o jobid,state,start,end,reason\n"
    "JobID             State               Start                 End                 Reason \n"
    "------------ ---------- ------------------- ------------------- ---------------------- \n"
    "821           PREEMPTED 2026-10-02T20:00:00 2026-10-03T03:00:00                   None \n"
    "821             PENDING             Unknown             Unknown                   None \n"
    f"$ squeue -j 821\n{HEAD} 821 scav a ada PD 0:00 1 (Resources)\n"
)
SHARES = (
    "          JOBID PARTITION   PRIORITY       SITE        AGE  FAIRSHARE    JOBSIZE        QOS\n"
    "            831 std              900          0        700         20         80        100\n"
    "            832 std             9200          0         20       9000         80        100\n\n"
    f"{HEAD} 831 std a ada PD 0:00 1 (Priority)\nwhy is 831 behind?"
)
KINDS = (
    BLOCK.format(priority=0, reason="BadConstraints", restarts=0)
    + "   Features=zen3 DelayBoot=00:00:00\n   TresPerNode=gres/gpu:l40:1\n\n"
    "$ sinfo -p std -o '%N %G %f'\nNODELIST GRES AVAIL_FEATURES\nn[1-4] gpu:a30:2 zen3,eth\nn[5-6] gpu:l40:4 zen4,eth\n"
)
PLANNED = (
    "      JOBID PARTITION     NAME     USER ST          START_TIME  NODES SCHEDNODES           NODELIST(REASON)\n"
    "        841       std        a      ada PD 2026-10-03T02:00:00      2 n[1-2]               (Priority)\n"
    "        842       std        b      ada PD 2026-10-03T07:00:00      1 n1                   (Priority)\n"
)
ONE_BY_ONE = (
    "JOBID ACCOUNT ST TIME CPUS REASON\n852 lab PD 0:00 96 AssocGrpCpuLimit\n851 lab PD 0:00 96 AssocGrpCpuLimit\n"
    "850 lab R 1:00:00 96 None\n\n$ sacctmgr -nP show assoc where account=lab user= format=account,grptres\n"
    "lab|cpu=150\n"
)
TRIED = "Job Id: 861.srv\n    Job_Name = a\n    job_state = H\n    queue = q\n" + (
    "    comment = job held, too many failed attempts to run\n    Hold_Types = s\n"
    "    run_count = 21\n    substate = 20\n"
)
MAUI = (
    "checking job 871\n\nState: Idle\nCreds:  user:ada  group:x  class:batch  qos:DEFAULT\nTotal Tasks: 40\n\n"
    "Messages:  job 871 violates active HARD MAXPROC limit of 100 for user ada  (R: 40, U: 90)\n"
)
OLD_BLOCK = (
    BLOCK.format(priority=9, reason="QOSMaxMemoryPerUser", restarts=0) + "   TRES=cpu=4,mem=60G,node=1\n\n"
    "$ squeue -u ada -t R -o '%i %m %L'\nJOBID MIN_MEMORY TIME_LEFT\n809 50G 2:00:00\n"
    "$ sacctmgr -nP show qos q format=maxtrespu\nmem=100G\n"
)


@pytest.mark.parametrize(
    ("text", "starts", "said", "never"),
    [
        # 6 x 600 + 6 x 300 = 5400 of 9000 GPU minutes are taken; 4 x 1440 = 5760 more are too many now.
        pytest.param(
            RUN_MINUTES.format(9000),
            "yes",
            ["96 GPU hours", "60 of 150 that are left", "36 short", "in 3 h at the latest"],
            ["150 GPU hours are left", "never starts"],
            id="run minutes of the others are counted",
        ),
        pytest.param(RUN_MINUTES.format(5000), "no", ["more than the 83.33 that are allowed"], [], id="alone too much"),
        pytest.param(
            f"{HEAD} 810 gpu a ada PD 0:00 2 (AssocGrpGRESRunMinutes)\n\nGrpTRESRunMins=gres/gpu=9000\n",
            "depends",
            ["The limit is 150 GPU hours in all"],
            ["are left"],
            id="a whole limit is not what is left",
        ),
        pytest.param(
            MAINTENANCE.format("it needs 8 hours"),
            "yes",
            ["TimeLimit=10:00:00", "within 10 h"],
            ["19:5"],
            id="the change keeps to its own words",
        ),
        pytest.param(
            MAINTENANCE.format("it needs 30 hours"),
            "yes",
            ["do not fit before it"],
            ["can still start"],
            id="what it needs is too long",
        ),
        pytest.param(
            LICENCE.format(0), "depends", ["only when staff bring it back"], ["starts by itself"], id="total 0"
        ),
        pytest.param(LICENCE.format(6), "yes", ["%W %L"], ["total is 0", "total of 0"], id="a total that is not 0"),
        pytest.param(
            "srun: job 88 queued and waiting for resources\n",
            "depends",
            ["whatever it waits for"],
            ["waits for free resources"],
            id="srun says the same of every reason",
        ),
        pytest.param(
            BLOCK.format(priority=0, reason="JobHeldUser", restarts=0),
            "no",
            ["Restarts=0"],
            ["requeue", "it ran and was put back"],
            id="a hold of a job that never ran",
        ),
        pytest.param(
            BLOCK.format(priority=9, reason="BeginTime", restarts=0),
            "yes",
            ["given with `--begin`"],
            ["put back", "this was printed"],
            id="a start of its own",
        ),
        pytest.param(
            BLOCK.format(priority=9, reason="BeginTime", restarts=2),
            "yes",
            ["preemption", "from the scheduler's last look", "put back into the queue 2 October"],
            ["in the queue since"],
            id="put back twice",
        ),
        pytest.param(TRIED, "no", ["tried to start it 21 times"], ["ran before"], id="failed starts are no runs"),
        pytest.param(
            ARRAY,
            "depends",
            ["every task of array 819", "tasks 5-8 are waiting", "4 and 3 are running"],
            ["819 is waiting"],
            id="tasks of an array",
        ),
        pytest.param(
            AGAIN,
            "yes",
            ["3 October 2026 03:00 as PREEMPTED", "next in line"],
            ["not judged"],
            id="the queue's reason before the accounting's",
        ),
        pytest.param(SHARES, "yes", ["20 points where 832 has 9000"], ["weighs it little"], id="another's share"),
        pytest.param(
            KINDS,
            "no",
            ["n[1-4] (gpu:a30:2, zen3,eth) lack a GPU of type l40", "lack `zen3`", "Features=zen4"],
            ["no node of std has that"],
            id="each word is on some node",
        ),
        pytest.param(PLANNED, "yes", ["842 for 3 October 2026 07:00"], [], id="each has its own start"),
        pytest.param(ONE_BY_ONE, "yes", ["96 + 96 = 192", "one after the other"], [], id="not both at once"),
        pytest.param(
            MAUI, "yes", ["10 are left, 30 short", "at most 10 CPU cores"], ["never starts"], id="Maui's numbers"
        ),
        pytest.param(
            OLD_BLOCK,
            "yes",
            ["50 GB of memory are left, 10 GB of memory short", "809 ends"],
            ["never starts"],
            id="TRES of an older Slurm",
        ),
    ],
)
def test_what_is_printed_decides(text: str, starts: str, said: list[str], never: list[str]) -> None:
    answer, told = explain_pending(text), whole(text)
    assert answer.starts == starts, told
    assert [one for one in said if one not in told] == [], told
    assert [one for one in never if one in told] == [], told


def test_a_licence_that_the_job_does_not_ask_for_holds_nothing() -> None:
    asked = "$ squeue -j 814 -h -o '%i %T %r %W %D'\n814 PENDING Licenses abaqus:2 1\n$ scontrol show lic\n"
    gone = "LicenseName=scratch9\n    Total=0 Used=0 Free=0 Reserved=0 Remote=no\n"
    full = "LicenseName=abaqus\n    Total=6 Used=6 Free=0 Reserved=0 Remote=no\n"
    answer = explain_pending(asked + gone + full)
    assert answer.starts == "yes" and "scratch9" not in " ".join(answer.says)


def test_a_printed_start_of_pbs_leaves_no_other_cause() -> None:
    block = "Job Id: 862.srv\n    job_state = W\n    Execution_Time = Sat Oct  3 06:00:00 2026\n    Hold_Types = n\n"
    assert "could not be copied in" not in whole(block)
