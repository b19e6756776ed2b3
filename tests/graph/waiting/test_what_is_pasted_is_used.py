"""What stands beside the reason (numbers, nodes, modes, dates, the person's words) is laid beside what it speaks of."""

from __future__ import annotations

import pytest

from graph.usecases.explain_pending import explain_pending
from tests.graph.waiting.test_sums_beside_it import HEAD, whole

NO_HOST = (
    "$ bjobs -p 641\nJOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n"
    "641     ada     PEND  a100       l1                      t5         Oct  3 10:02\n"
    " There are no suitable hosts for the job;\n$ bjobs -noheader -o 'gpu_num' 641\n12\nour hosts have 6 GPUs\n"
)
OF_EACH_USER = (
    "bjobs -l 642 says\n PENDING REASONS:\n Resource limit defined on user(s) has been reached (Resource: "
    "ngpus_physical, Limit Name: g6, Limit Value: 6);\nI run 3 jobs with 2 GPUs each\n"
)
ASSEMBLY = (
    "Job <643>, Job Name <a>, User <ada>, Project <p>, Status <PEND>, Queue <fat>\n"
    "Sun Oct  4 09:00:00: Submitted from host <l1>, CWD <$HOME>, 8 Task(s), Requested Resources <rusage[mem=409600]>;\n"
    " PENDING REASONS:\n Job's requirements for reserving resource (mem) not satisfied: 5 hosts;\n"
    " Load information unavailable: 2 hosts;\n"
)
CORES = (
    "comment = Not Running: would exceed user ada's limit on resource ncpus in queue std\n\n"
    "$ qstat -Qf std | grep max_run_res\n    max_run_res.ncpus = [u:PBS_GENERIC=100]\n"
    "$ qstat -f 644 | grep Resource_List.ncpus\n    Resource_List.ncpus = 48\nI have a job running with 80 cores.\n"
)
MEMORY = (
    "JOBID|PARTITION|STATE|REASON|MIN_MEMORY|CPUS\n645|std|PENDING|MaxMemPerLimit|30G|4\n\n"
    "$ scontrol show partition std | grep MaxMem\n   DefMemPerCPU=1000 MaxMemPerCPU=6000\n{}"
)
SPENT = (
    f"{HEAD} 646 gpu a ada PD 0:00 1 (AssocGrpGRESMinutes)\n$ scontrol show assoc_mgr account=opt flags=assoc | "
    "grep GrpTRESMins\n    GrpTRESMins=cpu=N(5),gres/gpu=90000(90120)\nwe got a new project in October\n"
)
SUSPENDED = (
    f"{HEAD} 647 idle a ada S 3:00 1 n4\n$ scontrol show partition idle | grep -o 'PreemptMode=[A-Z]*'\n"
    "PreemptMode=SUSPEND\n"
)
REQUEUED = (
    "JobId=648 JobName=a\n   UserId=ada(5) GroupId=x(6) MCS_label=N/A\n   Priority=7 Nice=0 Account=x QOS=scavenge\n"
    "   JobState=PENDING Reason=BeginTime Dependency=(null)\n   Requeue=1 Restarts=1 BatchFlag=1 Reboot=0\n"
    "   SubmitTime=2026-10-02T09:00:00 EligibleTime=2026-10-02T09:02:00\n   StartTime=2026-10-02T09:02:00\n"
    "   Partition=std AllocNode:Sid=l1:1\n"
)
HELD = (
    REQUEUED.replace("BeginTime", "launch_failed_requeued_held") + "\n$ sacct -D -X -j 648 -o jobid,state,nodelist\n"
    "JobID             State             NodeList\n------------ ---------- --------------------\n"
    "648            REQUEUED             n[21-22]\n648             PENDING        None assigned\n"
)
PARTS = (
    f"{HEAD} 65+0 cpu a ada PD 0:00 8 (Priority)\n 65+1 gpu a ada PD 0:00 2 (None)\nwhy has the gpu part no reason?\n"
)
ENDED = (
    "$ sacct -X -j 652 -o JobID,State,Submit,Start,End,Reason%30\n"
    "JobID             State              Submit               Start                 End               Reason \n"
    "------------ ---------- ------------------- ------------------- ------------------- -------------------- \n"
    "652           COMPLETED 2026-10-01T08:00:00 2026-10-01T21:30:00 2026-10-01T22:00:00 QOSMaxJobsPerUserLimit\n"
)
STOPPED = (
    "       JOBID QUEUE    USER     NAME       ST NTASKS NNODES     TIME INFO\n"
    "   fB8yP3d1S debug    ada      dns         S     64      2       1h \n$ flux queue status -q debug\n"
    "debug: Job submission is enabled\ndebug: Scheduling is stopped: upgrade\n40 nodes free\n"
)
QOS = (
    f"{HEAD} 653 gpu a ada PD 0:00 1 (QOSMaxJobsPerUserLimit)\n 654 gpu b ada R 1:00:00 1 n1\n"
    "$ sacctmgr -nP show qos gpu-normal format=name,maxjobspu\ngpu-normal|1\n"
)


@pytest.mark.parametrize(
    ("text", "said", "never"),
    [
        pytest.param(NO_HOST, ["12 GPUs a node", "more than 6", '-n 2 -gpu "num=6"'], [], id="GPUs against a host's"),
        pytest.param(OF_EACH_USER, ["6 are in use", "when one of your 3 jobs ends"], [], id="who holds it, in words"),
        pytest.param(
            ASSEMBLY, ["provided that some host", "2 do not answer"], ["It starts by itself. It"], id="a proviso"
        ),
        pytest.param(
            CORES,
            ["80 are in use", "20 are left, 28 short", "end of your running job"],
            ["hold together"],
            id="one runs",
        ),
        pytest.param(
            MEMORY.format("30 GB per core"),
            ["30,720 MB of memory a core", "at most 6,000 MB", "take 21 cores in place of 4"],
            ["MinMemoryNode"],
            id="memory a core, in words",
        ),
        pytest.param(
            MEMORY.format(""), ["7,680 MB of memory a core", "take 6 cores"], ["MinMemoryNode"], id="memory a core"
        ),
        pytest.param(
            SPENT,
            ["is used up", "90,120 of 90,000 minutes", "no shorter or smaller job fits", "Account=", "new project"],
            ["TimeLimit"],
            id="nothing is left",
        ),
        pytest.param(SUSPENDED, ["PreemptMode=SUSPEND", "goes on by itself, where it stopped"], [], id="suspended"),
        pytest.param(
            REQUEUED,
            ["most likely preempted", "QOS scavenge", "put back into the queue 2 October"],
            ["its node failed", "handed in"],
            id="its QOS gives way",
        ),
        pytest.param(HELD, ["The run before was on n[21-22]", "ExcNodeList=n[21-22]"], ["<NODE>"], id="its last nodes"),
        pytest.param(PARTS, ["65+1 waits for the same reason"], ["not judged it yet"], id="parts start together"),
        pytest.param(
            ENDED, ["It waited 13 h 30 min", "you already have as many running jobs"], [], id="how long it waited"
        ),
        pytest.param(STOPPED, ["upgrade", "Free nodes do not help"], ["kept for a job"], id="idle, and stopped"),
        pytest.param(QOS, ["limit is 1 job", "QOS gpu-normal"], [], id="an option inside a name is none"),
    ],
)
def test_what_is_pasted_is_used(text: str, said: list[str], never: list[str]) -> None:
    told = whole(text)
    assert [one for one in said if one not in told] == [], told
    assert [one for one in never if one in told] == [], told


ROW = f"{HEAD} 660 gpu a ada PD 0:00 2 ({{}})\n"
BLOCK_W = (
    "Job Id: 661.s\n    Job_Name = a\n    job_state = W\n    queue = q\n    Execution_Time = Sun Oct  4 22:00:00 2026\n"
    "    Hold_Types = n\n"
)


@pytest.mark.parametrize(
    ("text", "said", "never"),
    [
        (f"$ salloc -N 2\nsalloc: Pending job allocation 660\n{ROW}may I close my laptop?", ["No, keep"], []),
        (f"may I log out of this session?\n{ROW}", ["terminal may be closed"], ["No, keep"]),
        (f"#!/bin/bash\nsrun python a.py\n{ROW}can I close the terminal?", ["terminal may be closed"], ["No, keep"]),
        (ROW.replace("{}", "PartitionDown") + "should I kill it and submit it again?", ["keeps its place"], []),
        (ROW.replace("{}", "JobHeldUser") + "why is the priority 0?", ["how Slurm shows the hold"], []),
        (f"{BLOCK_W}why W?", ["an earliest start was set", "4 October 2026 22:00"], ["its turn"]),
        (f"$ squeue -u ana\n{HEAD}\nsubmitted 6601, where is it?", ["sacct -X -j 6601", "drops such"], ["never acc"]),
        (
            "why does mine wait?\nPARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\ngpu up 1:00 3 idle n[1-3]\n",
            [],
            ["Yes"],
        ),
        (ROW.replace("{}", "Dependency"), ["If that job ends otherwise than the dependency demands"], []),
        (f"{HEAD} 662 gpu a ana CF 6:00 2 n[1-2]\n", ["tell support the nodes n[1-2]"], []),
    ],
)
def test_the_question_itself_is_answered(text: str, said: list[str], never: list[str]) -> None:
    told = whole(text.replace("{}", "Priority"))
    assert [one for one in said if one not in told] == [], told
    assert [one for one in never if one in told] == [], told


def test_a_printed_date_makes_no_question_french_and_what_is_left_is_reckoned_from_it() -> None:
    text = (
        f"date: Mon Oct 5 10:00 2026\n{HEAD} 670 std a ada PD 0:00 4 (ReqNodeNotAvail, Reserved for maintenance)\n"
        "$ squeue -j 670 -h -o %l\n2-00:00:00\n$ scontrol show res\nReservationName=pm StartTime=2026-10-06T06:00:00 "
        "EndTime=2026-10-06T18:00:00 Duration=12:00:00\n   Nodes=n[1-9] NodeCnt=9 Flags=MAINT\n"
    )
    assert explain_pending(text).language == ""
    assert "20 h are left" in whole(text)
    assert "TimeLimit=18:00:00" in whole(text)


@pytest.mark.parametrize(
    ("text", "said", "never"),
    [
        (
            f"pourquoi ? est-ce normal ?\n{HEAD} 7_[4-90%3] std a ada PD 0:00 1 (JobArrayTaskLimit)\n",
            "le suivant",
            "heures",
        ),
        (f"Warum startet mein Job nicht?\n{BLOCK_W}", "2026-10-04 22:00", "Sun Oct"),
        (
            f"¿por qué?\n{HEAD} 8 gpu a ada RD 0:00 1 (Reservation ai-lab was deleted)\n",
            "La reserva que pide",
            "cambiar",
        ),
        (f"Soll ich abbrechen?\n{HEAD} 9 gpu a ada PD 0:00 1 (Licenses)\n", "In der Queue lassen", "seinen Zug"),
    ],
)
def test_in_another_language_the_reason_is_told_too(text: str, said: str, never: str) -> None:
    answer = explain_pending(text)
    assert answer.language
    told = " ".join(getattr(part, "text", "") for part in answer.document.parts)
    told += " ".join(step.text for part in answer.document.parts for step in getattr(part, "items", ()))
    assert said in told, told
    assert never not in told, told
    assert told.count("In der Queue lassen") < 2
