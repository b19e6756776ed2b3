"""What stands beside a waiting job and bears on it is said: limits, use, who frees what when, other places."""

from __future__ import annotations

import pytest

from graph.usecases.explain_pending import explain_pending
from graph.waiting.evidence import good_answers

HEAD = "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"
WIDE = "JOBID PARTITION QOS ST TIME TIME_LIMIT TIME_LEFT NODES TRES_PER_NODE NODELIST(REASON)\n"
OWN = (
    f"{WIDE}30 gpu normal PD 0:00 1-00:00:00 1-00:00:00 1 gres/gpu:4 (QOSMaxGRESPerUser)\n"
    "28 gpu normal R 21:30:00 1-00:00:00 2:30:00 1 gres/gpu:4 g017\n"
    "29 gpu normal R 4:10:11 1-00:00:00 19:49:49 1 gres/gpu:4 g022\n"
    "$ sacctmgr -nP show qos where name=normal format=name,maxtrespu\nnormal|gres/gpu=8\n"
)
GROUP = (
    "JOBID ACCOUNT QOS TRES_PER_NODE NODES STATE REASON\n44 lab normal gres/gpu:4 2 PENDING AssocGrpGRES\n"
    "$ scontrol show assoc_mgr account=lab flags=assoc | grep GrpTRES=\n    GrpTRES=cpu=N(1200),gres/gpu=32(28)\n"
)
BUDGET = (
    "JobId=55 JobName=a\n   JobState=PENDING Reason=AssocGrpCPUMinutesLimit Dependency=(null)\n"
    "   TimeLimit=02:00:00\n   NumNodes=2 NumCPUs=256 NumTasks=256\n"
    "$ scontrol show assoc_mgr account=chem flags=assoc | grep GrpTRESMins\n    GrpTRESMins=cpu=600000(590400)\n"
)
LONG = (
    "PARTITION AVAIL  TIMELIMIT   NODES(A/I/O/T) NODELIST\ngpu*         up 2-00:00:00       40/3/1/44 g[01-44]\n"
    "long         up 7-00:00:00         0/8/0/8 l[01-08]\n\n"
    "     JOBID PARTITION     NAME ST   TIME_LIMIT NODES NODELIST(REASON)\n"
    "        77       gpu   pretra PD   3-00:00:00     2 (PartitionTimeLimit)\n"
)
MEMORY = (
    "JobId=88 JobName=e\n   JobState=PENDING Reason=BadConstraints Dependency=(null)\n   Partition=gpu\n"
    "   NumNodes=1 NumCPUs=32\n   MinCPUsNode=32 MinMemoryNode=900G MinTmpDiskNode=0\n"
    '$ sinfo -p gpu -o "%N %c %m %G"\nNODELIST CPUS MEMORY GRES\ng[01-20] 64 515000 gpu:a100:4\n'
)
ORDER = (
    "   JOBID   PRIORITY      USER NODES  TIME_LIMIT REASON\n    9001      81200      arne    4  1-00:00:00 Resources\n"
    "    9020      61234     sofia    2  2-00:00:00 Priority\nwhat of 9020?\n"
)
CHAIN = (
    f"{HEAD}     63       gpu   two    oky PD       0:00      2 (DependencyNeverSatisfied)\n"
    "     64       gpu   three    oky PD       0:00      2 (Dependency)\n"
    "$ scontrol show job 64 | grep Depend\n   JobState=PENDING Reason=Dependency Dependency=afterok:63(unfulfilled)\n"
    "\nwhat of 64?\n"
)
PBS_QUEUE = (
    "Job ID          Username Queue    Jobname    SessID NDS TSK Memory Time  S Time\n"
    "--------------- -------- -------- ---------- ------ --- --- ------ ----- - -----\n"
    "55121.pbs01     tamara   short    sweep11       --    1  16   32gb 04:00 Q   -- \n"
    "   Not Running: User has reached queue short running job limit.\n"
    "$ qstat -Qf short | grep max_run\n    max_run = [u:PBS_GENERIC=10]\n"
)
LSF_QUEUE = (
    "JOBID      USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n"
    "77120      nils    PEND  normal     login2                  ens-9      Nov 22 06:10\n"
    " The user has reached his/her job slot limit of the queue;\n"
    "$ bqueues normal\nQUEUE_NAME      PRIO STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN  SUSP \n"
    "normal           30  Open:Active       -  128    -    -  4012  1200  2812     0\n"
    "$ busers nils\nUSER/GROUP          JL/P    MAX  NJOBS   PEND    RUN  SSUSP  USUSP    RSV \n"
    "nils                   -      -    144     16    128      0      0      0\n"
)
FLUX = (
    "       JOBID QUEUE    USER     NAME       ST NTASKS NNODES     TIME INFO\n"
    "    fQ7aa2bB batch    kai      dpo         S     32      4        -\n"
    "$ flux resource list\n     STATE QUEUE NNODES   NCORES    NGPUS NODELIST\n"
    "      free batch      2       96        8 corona[7-8]\n allocated batch     60     2880      240 corona[9-68]\n"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OWN, "the limit is 8, of which 8 are in use"),
        (OWN, "28 frees enough in 2 h 30 min at the latest"),
        (GROUP, "asks for 8 GPUs; the limit is 32, of which 28 are in use, so 4 are left"),
        (GROUP, "with at most 4 GPUs"),
        (BUDGET, "= 512 CPU core hours, more than the 160 of 10,000 that are left"),
        (LONG, "long (if you may use it and its nodes fit) is up, takes up to 7 days and has 8 idle nodes"),
        (LONG, "scontrol update jobid=77 Partition=long"),
        (MEMORY, "900 GB of memory a node, and no node shown has more than 502.9 GB"),
        (ORDER, "1 job stands before it by priority (9001 of arne with 81200); its own is 61234"),
        (CHAIN, "63 can itself never start"),
        (PBS_QUEUE, "The limit is 10 jobs"),
        (LSF_QUEUE, "The limit is 128 slots, of which 128 are in use"),
        (LSF_QUEUE, "in the queue since Nov 22 06:10"),
        (FLUX, "2 nodes of batch are idle, fewer than the 4"),
    ],
)
def test_what_stands_beside_it_is_said(text: str, said: str) -> None:
    told = explain_pending(text)
    assert said in " ".join([*told.says, *(f"{step.text} {step.command}" for step in told.change)])


def test_a_limit_of_another_qos_is_not_this_jobs() -> None:
    other = OWN.replace("where name=normal ", "").replace("normal|gres/gpu=8", "big|gres/gpu=64\nnormal|gres/gpu=8")
    assert "the limit is 8," in " ".join(explain_pending(other).says)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("normal|gres/gpu=8", "normal|gres/gpu:a100=2,gres/gpu=8"),
        ("normal|gres/gpu=8", "normal|gres/gpu=8\nwaiting for 20 h"),
    ],
)
def test_no_number_beside_it_is_taken_for_another(before: str, after: str) -> None:
    told = " ".join(explain_pending(OWN.replace(before, after)).says)
    assert "the limit is 8, of which 8 are in use" in told
    assert "20 h" not in told


def test_the_least_and_the_most_are_told_apart() -> None:
    text = (
        f"{HEAD}               55     small     wrf  tomas PD       0:00      1 (PartitionNodeLimit)\n"
        "$ scontrol show part small\nPartitionName=small\n   MaxNodes=8 MaxTime=1-00:00:00 MinNodes=2 LLN=NO\n"
    )
    assert "asks for 1 node; the partition takes no job below 2." in " ".join(explain_pending(text).says)
    least = OWN.replace("name,maxtrespu", "name,mintres,maxtrespu").replace("normal|", "normal|gres/gpu=1|")
    assert "the limit is 8, of which 8 are in use" in " ".join(explain_pending(least).says)


def test_a_limit_on_somebody_else_is_not_said_for_this_one() -> None:
    other = OWN.replace("maxtrespu", "grptres").replace("gres/gpu=8", "gres/gpu=64")
    assert "64" not in " ".join(explain_pending(other).says)


def test_which_project_pays_is_not_chosen() -> None:
    text = (
        f"{HEAD}             33001     gpu     sed    hana PD       0:00      1 (InvalidAccount)\n"
        "$ sacctmgr -nP show assoc where user=hana format=account,partition,qos\nast-hi||normal\nast-lo||normal\n"
    )
    told = explain_pending(text)
    assert "ast-hi" in " ".join(told.says) and "ast-lo" in " ".join(told.says)
    assert all("Account=ast" not in step.command for step in told.change)


def test_the_parts_of_a_long_listing_cut_out_by_grep_are_read() -> None:
    text = (
        "$ bjobs -l 502 | grep -A2 -i depend\n Dependency Condition <done(501)>\n PENDING REASONS:\n"
        " Job dependency condition not satisfied;\n"
    )
    told = explain_pending(text)
    assert (told.job, told.kind) == ("502", "dependency")
    assert "It waits for 501 to end with success" in " ".join(told.says)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (f"{HEAD}     71       gpu   two    oky PD       0:00      2 (Resources)\n", "squeue -j 71 --start"),
        ("Job Id: 72.pbs\n    job_state = Q\n    queue = q\n    comment = Not Running: "
         "Not enough free nodes available\n", "qstat -T 72"),
        ("JOBID USER STAT QUEUE FROM_HOST JOB_NAME SUBMIT_TIME\n73 me PEND gpu l1 a Nov 22 09:00\n"
         " User has reached the per-user job slot limit of the queue;\n", "bqueues -l gpu"),
    ],
)  # fmt: skip
def test_a_part_that_nothing_told_has_the_command_that_tells_it(text: str, command: str) -> None:
    assert command in [step.command for step in explain_pending(text).look]


def test_the_parts_of_an_answer_stand_in_their_order() -> None:
    told = " ".join(explain_pending(OWN).says)
    assert told.index("Yours that run") < told.index("asks for 4 GPUs; the limit is 8")
    assert {"wait", "node", "dependency", "hold", "limit-aggregate", "config"} <= set(good_answers().parts)
