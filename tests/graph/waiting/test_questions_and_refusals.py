"""The person's own question is answered, what was refused is told whole, and all of it in the person's language."""

from __future__ import annotations

import json

import pytest

from assistant.commands.pending import as_json
from graph.usecases.explain_pending import explain_pending
from knowledge.document import Paragraph, Steps
from tests.graph.waiting.test_sums_beside_it import HEAD, whole

MIX = (
    "$ sinfo -p gpu\nPARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\ngpu up 1-00:00:00 3 mix n[1-3]\n"
    "gpu up 1-00:00:00 2 alloc n[4-5]\n"
)
OTHERS = (
    f"{HEAD} 910 gpu a ada PD 0:00 1 (QOSGrpGRES)\n 908 gpu b bob R 1:00:00 2 n[1-2]\n 907 gpu c {{}} R 2:00:00 1 n3\n"
    "\n"
    "$ scontrol show assoc_mgr qos=pool flags=qos | grep GrpTRES=\n    GrpTRES=cpu=N(64),gres/gpu=24(24)\n"
)
PARTITION = (
    "JobId 911 PENDING (PartitionNodeLimit)\n\nPartitionName=quick\n   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL\n"
    "   MaxNodes=3 MaxTime=01:00:00 MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED\n   State=UP TotalNodes=40\n\n"
    "I need 5 nodes and quick has 40\n"
)
WALL = (
    "$ squeue -j 912 -O jobid,timelimit,qos,reason\n"
    "JOBID               TIME_LIMIT          QOS                 REASON              \n"
    "912                 4-00:00:00          tiny                QOSMaxWallDurationPe\n"
    "$ sacctmgr -nP show qos tiny format=name,maxwall\ntiny|2-00:00:00\n"
)
TOO_LARGE = (
    "sbatch: error: Batch job submission failed: Requested node configuration is not available\n\n#SBATCH -p fat\n"
    "#SBATCH --gres=gpu:6\n#SBATCH --mem=900G\n#SBATCH --ntasks-per-node=4\n#SBATCH --cpus-per-task=24\n\n"
    "$ sinfo -p fat -o '%D %c %m %G'\nNODES CPUS MEMORY GRES\n9 48 256000 gpu:2\n"
)
STOPPED = (
    "qstat -fw 913 | grep -E 'comment|walltime'\n"
    "    comment = Not Running: Job would conflict with reservation or top job\n"
    "    Resource_List.walltime = 30:00:00\n\n"
    "Resv ID         Queue         User     State             Start / Duration / End              \n"
    "---------------------------------------------------------------------------------------------\n"
    "M77.srv         M77           root@    CO          Tue Oct 06 07:00 / 36000 / Tue Oct 06 17:00\n\n"
    "now is mon 9:00\n"
)
MEMORY = (
    "$ bjobs -p 914\nJOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n"
    "914     ada     PEND  big        h1                      a          Oct  3 10:00\n"
    " Job's requirements for reserving resource (mem) not satisfied: 7 hosts;\n"
    " Closed by LSF administrator: 2 hosts;\n\n"
    "I asked for 600GB\n\n$ lshosts | awk '{print $1,$6}'\nHOST_NAME maxmem\nm1 1.0T\nm2 1.0T\n"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            f"{HEAD} 915 gpu a ada PD 0:00 1 (Resources)\n{MIX}\nI ask for 4 gpus, there IS space",
            ["mix means only partly in use", "the 4 GPUs that it asks for are free together on one node"],
            id="mix is no free node",
        ),
        pytest.param(OTHERS.format("eve"), ["None of them is a job of ada", "QOS pool"], id="it is the others"),
        pytest.param(OTHERS.format("ada"), ["Of ada itself: 907"], id="it is both"),
        pytest.param(
            PARTITION,
            ["quick gives one job at most 3 (MaxNodes), however many nodes it has"],
            id="the size of the partition",
        ),
        pytest.param(WALL, ["QOS tiny and counts also where the partition allows more"], id="QOS and partition"),
        pytest.param(
            f"{HEAD} 916 std a ada PD 0:00 1 (AssocGrpCPUMinutesLimit)\n\ndoes it start by itself?",
            ["It does not start by waiting alone.", "GrpTRESMins"],
            id="a budget does not come back by itself",
        ),
        pytest.param(
            f"{HEAD} 917 std a ada PD 0:00 1 (Priority)\n\nhow long does that take?",
            ["does not stand in what you pasted"],
            id="how long",
        ),
        pytest.param(
            "sbatch: error: QOSMaxSubmitJobPerUserLimit\nwill the rest come in later?",
            ["does not come in by itself"],
            id="what was refused is in no queue",
        ),
        pytest.param(
            f"{HEAD} 918 gpu a ada R 3:00:00 1 n1\n\nno output at all",
            ["It may hang", "--jobid=918 --overlap"],
            id="hours without output",
        ),
        pytest.param(
            "slurm says InvalidQOS for job 919\n   Priority=1 Nice=0 Account=x QOS=lnog\n"
            "   JobState=PENDING Reason=InvalidQOS Dependency=(null)\n",
            ["`lnog`"],
            id="the QOS by name",
        ),
        pytest.param(
            TOO_LARGE,
            [
                "6 GPUs a node",
                "900 GB of memory a node",
                "96 CPU cores a node",
                "--mem=256000M",
                "--gpus-per-node=2",
                "--cpus-per-task=48",
            ],
            id="all that is too large",
        ),
        pytest.param(
            "qsub: Job violates queue and/or server resource limits\n\n#PBS -q tiny\n#PBS -l select=3:ncpus=9\n"
            "#PBS -l walltime=09:00:00\n",
            ["select=3:ncpus=9", "walltime=09:00:00"],
            id="what was asked",
        ),
        pytest.param(
            "RUNLIMIT: Cannot exceed queue's hard limit(s). Job not submitted.\n\nqueue day, i gave -W 45:00\n",
            ["`-W 45:00` is 45 h", "bsub -W 45", "bqueues -l day"],
            id="hours and minutes of LSF",
        ),
        pytest.param(STOPPED, ["22 h from now", "walltime=19:00:00", "by itself after that"], id="a reservation ahead"),
        pytest.param(
            MEMORY,
            [
                "7 hosts have not enough memory free now and 2 are closed by staff",
                "600 GB of memory",
                "m1 and m2 can give it",
                "lsload",
            ],
            id="memory of hosts",
        ),
        pytest.param(
            "bsub -n 1 -gpu num=6 ./a\nJob <920> is submitted to queue <gpu>.\n$ bjobs -p3 920\n"
            "JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n"
            "920     ada     PEND  gpu        h1                      a          Oct  3 10:00\n"
            " There are no suitable hosts for the job;\n",
            ["6 GPUs on ONE host", 'num=3"'],
            id="one host",
        ),
    ],
)
def test_what_is_asked_is_answered(text: str, said: list[str]) -> None:
    told = whole(text)
    assert [one for one in said if one not in told] == [], told


@pytest.mark.parametrize(
    ("text", "kind", "word"),
    [
        ("[ada@n7 ~]$ squeue --me\nbash: squeue: command not found\n", "client-error", "squeue"),
        ("zsh: command not found: bjobs\n", "client-error", "bjobs"),
        ("./run all.job: line 12: sbatch: command not found\n", "client-error", "`sbatch`"),
        ("Command 'squeue' not found, but can be installed with:\n", "client-error", "`squeue`"),
        ("squeue: Command not found.\n", "client-error", "`squeue`"),
        ("fish: Unknown command: qsub\n", "client-error", "`qsub`"),
        ("$ qstat 92\nbash: line 3: qstat: command not found\n", "client-error", "qstat"),
        (
            "$ qstat 9213\nqstat: 9213.srv Job has finished, use -x or -H to obtain historical job information\n",
            "ended",
            "9213",
        ),
    ],
)
def test_what_a_command_says_is_classed_by_what_it_means(text: str, kind: str, word: str) -> None:
    answer = explain_pending(text)
    assert answer.kind == kind and word in whole(text)
    assert "<JOBID>" not in whole(text)


def shown(text: str) -> str:
    parts = explain_pending(text).document.parts
    words = [part.text for part in parts if isinstance(part, Paragraph)]
    return " ".join(
        [*words, *(f"{one.text} {one.command}" for part in parts if isinstance(part, Steps) for one in part.items)]
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "Warum startet mein Job nicht? im Skript stehen 30 h\n\n"
            f"{HEAD} 930 kurz a ada PD 0:00 1 (PartitionTimeLimit)\n\n"
            "$ sinfo -p kurz,lang -o '%P %l'\nPARTITION TIMELIMIT\nkurz 6:00:00\nlang 3-00:00:00\n",
            ["verlangt 30 h, erlaubt 6 h", "TimeLimit=06:00:00", "Partition=lang"],
            id="the request and the partition that takes it",
        ),
        pytest.param(
            f"ciao, riparte da solo?\n\n{HEAD} 931 std a ada PD 0:00 1 (AssocGrpBillingMinutes)\n"
            " 930 std b ada PD 0:00 1 (AssocGrpBillingMinutes)\n",
            ["aspettando soltanto non riparte", "Aspettano per lo stesso motivo: 930", "tra <...>"],
            id="no by waiting, the other job, what to put in",
        ),
        pytest.param(
            f"¿cuándo arranca mi trabajo?\n\n{HEAD} 932 std a ada PD 0:00 1 (Priority)\n",
            ["Cuándo, no consta aquí"],
            id="when",
        ),
        pytest.param(
            f"dlaczego moje zadanie czeka?\n\n{HEAD} 934 std a ada PD 0:00 1 (Dependency)\n"
            "   JobId=934 JobState=PENDING Reason=Dependency Dependency=afterok:933(unfulfilled)\n",
            ["933, musi zakończyć się sukcesem"],
            id="the condition",
        ),
    ],
)
def test_particulars_are_in_the_language_of_the_question(text: str, said: list[str]) -> None:
    assert [one for one in said if one not in shown(text)] == [], shown(text)


def test_the_answer_that_is_shown_stands_in_the_json() -> None:
    told = as_json(explain_pending(f"Warum wartet mein Job noch?\n{HEAD} 935 std a ada PD 0:00 1 (JobHeldUser)\n"))
    assert "freigeben" in json.loads(json.dumps(told))["answer"]
