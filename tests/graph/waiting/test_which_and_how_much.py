"""Which job is meant, what counts against a limit, and which conditions stay: by what was printed, not by a number."""

from __future__ import annotations

import pytest

from graph.usecases.explain_pending import explain_pending
from tests.graph.waiting.test_sums_beside_it import HEAD, whole

BUSERS = "USER/GROUP          JL/P    MAX  NJOBS   PEND    RUN  SSUSP  USUSP    RSV \n"
BQUEUES = "QUEUE_NAME      PRIO STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN  SUSP \n"
SLOTS = (
    "$ bjobs -l 91\nJob <91>, Job Name <a>, User <nils>, Status <PEND>, Queue <mid>, Command <./a>\n"
    "Mon Nov 23 08:01:12: Submitted from host <l1>, CWD </w>, 32 Task(s);\n PENDING REASONS:\n"
    " User has reached the per-user job slot limit of the queue;\n\n"
    f"$ busers nils\n{BUSERS}nils -  -  92  32 40 20 0 0\n$ bqueues mid\n"
    f"{BQUEUES}mid 40 Open:Active - 64 - - 99 9 80 20\n"
)
PARENTS = (
    f"{HEAD} 712 gpu a ana PD 0:00 4 (DependencyNeverSatisfied)\n$ scontrol show job 712 | grep Dep\n   "
    "JobState=PENDING Reason=DependencyNeverSatisfied Dependency=afterok:705(failed),afterany:706(unfulfilled)\n"
)
NARROWED = (
    f"{HEAD} 70 normal a ana PD 0:00 6 (QOSGrpNodeLimit)\n\n$ sacctmgr -P show qos big format=name,grptres\n"
    "Name|GrpTRES\nbig|node=40\n$ squeue -q big -t R -h -o '%u %D'\nakhan 8\nwzhang 12\nakhan 8\nsroy 8\n"
)
TOP = (
    "comment = Not Running: Job would conflict with reservation or top job\nand mine?\n$ qstat -T workq\n"
    "                                                            Req'd  Req'd   Est\n"
    "Job ID          Username Queue    Jobname    SessID NDS TSK Memory Time  S Start\n"
    "--------------- -------- -------- ---------- ------ --- --- ------ ----- - -----\n"
    "91877.ice       bnorris  workq    hydro_xl      --  200 128    --  24:00 Q 19:30\n"
    "91902.ice       me_wu    workq    dl_pre        --    8 640    --  08:00 Q    --\n"
)
MINUTES = (
    "job says (AssocGrpGRESMinutes), 8 gpus\n$ scontrol show assoc_mgr account=nlp flags=assoc\n"
    "ClusterName=h Account=nlp UserName= Partition= Priority=0 ID=812\n"
    "    ParentAccount=root(1) Lft=2210 DefAssoc=No\n    GrpTRESMins=cpu=N(4801220),gres/gpu=600000(592300)\n"
)


@pytest.mark.parametrize(
    ("text", "job", "said", "never"),
    [
        (SLOTS, "91", ["60 are in use", "so 4 are left", "bmod -n 4 91"], ["bmod -n 24"]),
        (PARENTS, "712", ["Dependency=afterok:<NEW_PARENT>,afterany:706", "Dependency=afterany:706"], ["Dependency= "]),
        (NARROWED, "70", ["of which 36 are in use, so 4 are left, 2 short"], ["it is running", "akhan:  ("]),
        (TOP, "91902", ["qalter -l walltime=<SHORTER> 91902"], ["**91877"]),
        (MINUTES, "", ["128.3"], ["4801220"]),
        (
            f"{HEAD.replace('NODES', ' NODE')} 60 gpu a bo R 1:00 2 g1\n 61 gpu b ana PD 0:00 1 (AssocGrpGRES)\n",
            "61",
            [],
            ["**60"],
        ),
        (
            "bresume: Job <88120>: denied? no wait, mine is 88131\n$ bjobs -u all 88120 88131\n"
            "JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n"
            "88120   tlarsen PSUSP normal     hpcl02                  vasp_opt   Nov 21 08:12\n"
            "88131   eberg   PSUSP normal     hpcl02                  vasp_md    Nov 21 08:15\n",
            "88131",
            ["bresume 88131"],
            ["for the same reason", "bresume 88120"],
        ),
    ],
    ids=["suspended", "parents", "narrowed", "top", "minutes", "cut", "mine"],
)
def test_it_goes_by_what_was_printed(text: str, job: str, said: list[str], never: list[str]) -> None:
    told = whole(text)
    assert explain_pending(text).job == job
    assert [one for one in said if one not in told] == [] and [one for one in never if one in told] == [], told


SPRIO = (
    "which is first?\n$ sprio -u ana\n          JOBID PARTITION     USER   PRIORITY       SITE        AGE  FAIRSHARE\n"
    "             71 gpu            ana       4120          0         20       4100\n"
    "             72 gpu            ana       5120          0       1020       4100\n"
)
IDLE = (
    "idle nodes and I wait with Resources?\n$ sinfo -N -p gpu -o '%N %t %m %G'\nNODELIST STATE MEMORY GRES\n"
    "g1 idle 256000 gpu:a100:4\nbig1 mix 1031000 gpu:a100:4\n$ scontrol show job 9 | grep -E 'TRES|Min'\n"
    "   ReqTRES=cpu=8,mem=600G,node=1,gres/gpu=1\n   MinCPUsNode=8 MinMemoryNode=600G\n"
)
REFUSED = (
    "$ sbatch --array=1-30 a.sh\nsbatch: error: QOSMaxSubmitJobPerUserLimit\n"
    "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size)\n"
    "$ sacctmgr show qos main format=name,maxsubmitpu\n      Name MaxSubmitPU\n---------- -----------\n"
    "      main          40\n$ squeue --me -h -r | wc -l\n25\n"
)
CUT = (
    "JOBID QUEUE    USER     NAME       ST NTASKS NNODES     TIME INFO\n"
    "  fA8k2Qm1Zs pbatch   ana      big         D     64     16       4h depends:max-resources-user-limit\n"
    "  fA8jzR7cWd pbatch   ana      other       R     96     24   2.511h tuo[1204-1227]\n\nlimit is 32 nodes per user\n"
)
NEEDS = "AssocGrpCPURunMinutesLimit on 84, 64 cores, --time=2-00:00:00, it needs 5 h"
FRIDAY = (
    "it's friday 12:00 here\n             JOBID PARTITION     NAME     USER ST          START_TIME  NODES SCHEDNODES "
    "NODELIST(REASON)\n 8 gpu a ana PD 2026-11-28T01:30:00 1 g1 (Resources)\n"
)
TESTED = (
    ("in order of priority", SPRIO, "72 is first by priority"),
    ("only one is large enough", IDLE, "Only big1 of those shown has 600 GB of memory at all"),
    ("idle ones are too small", IDLE, "none of them has more than 250 GB of memory, and it asks for 600 GB"),
    ("what of an array fits", REFUSED, "25 + 30 = 55, 15 too many"),
    ("a header copied without its blanks", CUT, "It asks for 16 nodes; the limit is 32, of which 24 are in use"),
    ("a need that was told", NEEDS, "TimeLimit=06:"),
    ("how far off it is", FRIDAY, "13 h 30 min from now"),
)


@pytest.mark.parametrize(("text", "said"), [pytest.param(text, said, id=name) for name, text, said in TESTED])
def test_the_sum_is_worked_out(text: str, said: str) -> None:
    assert said in whole(text)


def test_a_condition_of_its_own_is_told_by_itself() -> None:
    chain = (
        "$ squeue --me -o '%i %j %t %D %r %E'\nJOBID NAME ST NODES REASON DEPENDENCY\n"
        "70 a PD 1 Resources (null)\n71 b PD 4 Dependency afterok:70(unfulfilled)\n"
        "72 c PD 1 Dependency afterany:71(unfulfilled)\n"
    )
    told = whole(chain)
    assert "It waits for 71 to end, well or not" in told and "72 waits for the same reason" not in told
