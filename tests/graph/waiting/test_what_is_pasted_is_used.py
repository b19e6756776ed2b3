"""What stands beside the reason (numbers, nodes, modes, dates, the person's words) is laid beside what it speaks of."""

from __future__ import annotations

import json
from pathlib import Path

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


# Whole messages of four schedulers: class, whether it starts by itself, and what has to be said and may not be.
FIGURES = [
    json.loads(row) for row in Path(__file__).with_name("pasted_figures.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("figures", FIGURES, ids=[one["id"] for one in FIGURES])
def test_pasted_figures_settle_the_verdict(figures: dict[str, object]) -> None:
    answer = explain_pending(str(figures["text"]))
    told = (
        f"{' '.join(answer.says)} {' '.join(f'{step.text} {step.command}' for step in (*answer.look, *answer.change))}"
    )
    assert (answer.kind, answer.starts) == (figures["class"], figures["starts"]), told
    said, unsaid = figures["said"], figures["unsaid"]
    assert isinstance(said, list) and isinstance(unsaid, list)
    assert [one for one in said if one.lower() not in told.lower()] == [], told
    assert [one for one in unsaid if one.lower() in told.lower()] == [], told


@pytest.mark.parametrize(
    ("text", "said", "never"),
    [
        pytest.param(
            "JobId=31 JobName=a\n   JobState=PENDING Reason=Resources Dependency=(null)\n   NumNodes=3-3 NumCPUs=9\n"
            "   Switches=1@12:00:00\n$ sinfo -p std -t idle\nPARTITION AVAIL TIMELIMIT NODES STATE NODELIST\n"
            "std up 1:00:00 4 idle n[1-2,11-12]\n$ scontrol show topology\n"
            "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-9]\nSwitchName=s2 Level=0 LinkSpeed=1 Nodes=n[10-19]\n",
            ["3 nodes below 1 switch", "2 below s1 and 2 below s2", "12 h"],
            ["do not have what this one asks for", "Partition=std"],
            id="one switch",
        ),
        pytest.param(
            f"#SBATCH -w n7\n{HEAD} 32 gpu a ada PD 0:00 1 (Resources)\nNodeName=n7 Arch=x86_64 CoresPerSocket=32\n"
            "   CPUAlloc=8 CPUEfctv=64 CPUTot=64 CPULoad=1\n   Gres=gpu:h100:4\n   RealMemory=400000 AllocMem=300000\n"
            "   State=MIXED ThreadsPerCore=1\n   Partitions=gpu\n   AllocTRES=cpu=8,mem=300000M,gres/gpu=1\n"
            "#SBATCH --gres=gpu:1\n#SBATCH --mem=200G\n",
            ["102.3 GB short", "3 of 4 GPUs free", "the share that goes with 1 of a node's 4 GPUs"],
            [],
            id="room on the named node",
        ),
        pytest.param(
            " Resource (ngpus_physical) limit defined on user group has been reached "
            "(Resource: ngpus_physical, Limit Name: lab, Limit Value: 16);\n$ blimits -w -n lab\n"
            "    NAME  USERS  SLOTS  JOBS  ngpus_physical\n"
            "    lab   ug     -      -     12/16\nbsub -n 1 -gpu num=6\n",
            ["16, of which 12 are in use, so 4 are left, 2 short"],
            ["never starts"],
            id="blimits",
        ),
        pytest.param(
            "$ flux jobs -a\n       JOBID QUEUE    USER     NAME       ST NTASKS NNODES     TIME INFO\n"
            "   f9aLr2xxD small    ana      t           F     64      9        - \n$ flux job eventlog -H f9aLr2xxD\n"
            '[  +0.05] exception type="alloc" severity=0 note="alloc denied due to type=\\"unsatisfiable\\""\n'
            "$ flux resource list -q small\n     STATE QUEUE      NNODES   NCORES    NGPUS NODELIST\n"
            "      free small          3      192        8 t[1-3]\n allocated small          1        0        0 t4\n"
            "      down small          0        0        0 \n",
            ["It asks for 9 nodes, and the queue small has 4"],
            [],
            id="nodes of the queue",
        ),
        pytest.param(
            "$ flux jobs\n       JOBID QUEUE    USER     NAME       ST NTASKS NNODES     TIME INFO\n"
            "   f5TuKKnw9 big      ana      two         D      1      1      30m depends:after-success=f5TuJ1aaR\n"
            "   f5TuJ1aaR big      ana      one         R     12      3     1.5h t[1-3]\n"
            "$ flux jobs -no '{id} {t_remaining!F}' f5TuJ1aaR ; date +%H:%M\nf5TuJ1aaR 0.5h\n09:10\n",
            ["f5TuKKnw9 (two)", "for 30 min at most (until about 09:40)"],
            ["f5TuJ1aaR (one)"],
            id="the one that waits, not the one that a command looks at",
        ),
        pytest.param(
            "srun: Job 812 step creation temporarily disabled, retrying (Requested nodes are busy)\n\n"
            f"{HEAD} 812 gpu bash ada R 5:00 1 n1\n",
            ["what waits is this step", "without another `srun`"],
            ["slurm-812.out"],
            id="a step waits",
        ),
        pytest.param(
            "JobId=33 JobName=a\n   JobState=PENDING Reason=BeginTime Dependency=(null)\n   Requeue=1 Restarts=2\n"
            "   SubmitTime=2026-10-02T09:00:00 EligibleTime=2026-10-03T09:02:00\n\n"
            "$ sacct -D -X -j 33 -o JobID,State,Start,End\n"
            "JobID             State               Start                 End \n"
            "------------ ---------- ------------------- ------------------- \n"
            "33            PREEMPTED 2026-10-02T09:10:00 2026-10-02T11:00:00 \n"
            "33            PREEMPTED 2026-10-02T20:10:00 2026-10-03T09:00:05 \n"
            "33              PENDING 2026-10-03T09:02:00             Unknown \n",
            [
                "2 times: the last run",
                "3 October 2026 09:00",
                "`--begin` has nothing to do with it",
                "handed in 2 October",
            ],
            ["StartTime=now", "11:00"],
            id="the last of several runs",
        ),
        pytest.param(
            "#SBATCH --begin=07:30\nJobId=34 JobName=a\n   JobState=PENDING Reason=BeginTime Dependency=(null)\n"
            "   Requeue=1 Restarts=0\n   SubmitTime=2026-10-02T07:31:00 EligibleTime=2026-10-03T07:30:00\n",
            ["`--begin=07:30` had passed when it was handed in (07:31:00)"],
            [],
            id="a begin that was over",
        ),
        pytest.param(
            "4 days left, is that the budget?\nGrpTRESRunMins=cpu=60000(54000)   (account x)\n"
            "3 jobs of it, 100 cores each\nmine: 9912, 200 cores, TimeLimit=01:00:00, AssocGrpCPURunMinutesLimit\n",
            ["It is not the budget", "300 minutes in each minute", "20 min until it fits"],
            [],
            id="run minutes in words",
        ),
        pytest.param(
            "Account                    User  RawShares  NormShares    RawUsage  EffectvUsage  FairShare \n"
            "-------------------- ---------- ---------- ----------- ----------- ------------- ---------- \n"
            "lab                                     1    0.100000        9999      0.700000   0.020000 \n"
            " lab                        ana         1    0.500000        5555      0.550000   0.020000 \n"
            "squeue -j 35 -o '%i %T %r'\nJOBID STATE REASON\n35 PENDING Priority\n",
            ["its part of the use is 0.700000, its share 0.100000"],
            ["0.550000"],
            id="the account's own share",
        ),
        pytest.param(
            "It won't fit\nMaxMemPerLimit with --mem=300G\n$ scontrol show partition few\n"
            "PartitionName=few\n   MaxNodes=9 MaxTime=1-00:00:00 MinNodes=0 MaxMemPerNode=100000\n"
            "   State=UP TotalNodes=9\n"
            "$ sinfo -p few,full,tiny -o '%P %m %D %l'\nPARTITION MEMORY NODES TIMELIMIT\nfew 400000 9 1-00:00:00\n"
            "full 400000 9 1-00:00:00\ntiny 200000 9 1-00:00:00\n",
            ["Partition=full"],
            ["partition few (", "tiny"],
            id="a partition with the memory",
        ),
    ],
)
def test_what_stands_there_is_laid_beside_the_request(text: str, said: list[str], never: list[str]) -> None:
    told = whole(text)
    assert [one for one in said if one not in told] == [], told
    assert [one for one in never if one in told] == [], told
