"""What was not read is not said: each text once led to a sentence that was false, told beside the verdict."""

from __future__ import annotations

import pytest

from graph.usecases.explain_pending import PendingAnswer, explain_pending

HEAD = "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"
REQUIRED = "(Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions)"
NODES = "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"


def said(answer: PendingAnswer) -> str:
    return " ".join([*answer.says, *(f"{step.text} {step.command}" for step in answer.change)])


def row(job: str, reason: str, state: str = "PD", user: str = "ada", nodes: int = 2, name: str = "a") -> str:
    return f"  {job}  gpu  {name}  {user} {state} {'0:00' if state == 'PD' else '2:00:00'} {nodes} {reason}\n"


NAMED = (
    f"{HEAD}{row('5501', '(Resources)')}$ scontrol show job 5501 | grep NodeList\n"
    "   ReqNodeList=g[01-02] ExcNodeList=(null)\n   NodeList=\n$ sinfo -p gpu\n"
    f"{NODES}gpu up 2-00:00:00 2 {{}} g[01-02]\ngpu up 2-00:00:00 6 idle g[03-08]\n6 nodes are idle, why?"
)
MOST_BUSY = (
    f"{HEAD}{row('5502', REQUIRED)}"
    f"$ sinfo -p gpu\n{NODES}gpu up 1-00:00:00 1 down* g01\ngpu up 1-00:00:00 9 alloc g[02-10]\n"
)
ONLY_SOME = MOST_BUSY.replace("sinfo -p gpu", "sinfo -p gpu -t down,drain").replace(
    "gpu up 1-00:00:00 9 alloc g[02-10]\n", "gpu up 1-00:00:00 1 drain g02\n"
)
AGAIN = (
    f"$ squeue --me\n{HEAD}{row('5503', '(Priority)')}"
    "$ sacct -j 5503 -X --duplicates -o JobID,Partition,State,Start,End\n"
    "JobID         Partition      State               Start                 End \n"
    "------------ ---------- ---------- ------------------- ------------------- \n"
    "5503                gpu  PREEMPTED 2026-11-21T02:10:09 2026-11-21T11:58:30 \n"
    "5503                gpu    PENDING             Unknown             Unknown \n"
)
STALE = (
    "$ date\nMon Nov 23 10:00:00 CET 2026\n$ squeue --me --start\n"
    "      JOBID PARTITION     NAME     USER ST          START_TIME  NODES SCHEDNODES           NODELIST(REASON)\n"
    "       5504       gpu        a      ada PD 2026-11-23T02:00:00      2 (null)               (Priority)\n"
)
NO_STATES = (
    "JOBID PARTITION NAME ST TIME_LIMIT NODES NODELIST(REASON)\n5505 gpu a PD 7-00:00:00 1 (PartitionTimeLimit)\n"
    '$ sinfo -o "%P %l %D"\nPARTITION TIMELIMIT NODES\ngpu* 2-00:00:00 44\nlong 7-00:00:00 6\n'
)
CHAIN = (
    f"{HEAD}{row('5506', '(DependencyNeverSatisfied)', name='part2')}"
    "$ sacct -X -j 5505 -o JobID,JobName,State,ExitCode\n"
    "JobID           JobName      State ExitCode \n------------ ---------- ---------- -------- \n"
    "5505              part1    TIMEOUT      0:0 \nsaved checkpoint step 4800\nmay part2 go now, since part1 wrote it?"
)
EITHER = (
    "JOBID STATE REASON DEPENDENCY\n5508 PENDING Dependency afterok:5506(failed)?afterok:5507(unfulfilled)\n"
    "5507 RUNNING None (null)\n"
)
OVERALL = (
    "$ qstat -f 9917 | grep -E 'comment|ncpus'\n"
    "    comment = Not Running: would exceed overall limit on resource ncpus in complex\n"
    "    Resource_List.ncpus = 256\n"
    "$ qstat -Bf | grep -E 'max_run_res|resources_assigned.ncpus'\n    max_run_res.ncpus = [o:PBS_ALL=8192]\n"
    "    resources_assigned.ncpus = 8064\n"
)
ELSEWHERE = (
    "Job Id: 9918.pbs\n    Job_Owner = ada@l\n    job_state = Q\n    queue = gpu\n"
    "    comment = Not Running: would exceed user ada's limit on resource ngpus in complex\n"
    "    Resource_List.ngpus = 8\n$ qstat -Qf gpu | grep max_run\n    max_run_res.ngpus = [u:PBS_GENERIC=4]\n"
)
SPOKEN = f"{HEAD}{row('5509', '(AssocGrpCPUMinutesLimit)', nodes=64)}our grant had 100k hours left last I looked\n"
NEVER = (
    "JOBID QOS NODES TRES_PER_NODE REASON\n5510 normal 4 gres/gpu:4 QOSMaxGRESPerUser\n"
    "$ sacctmgr -nP show qos normal format=name,maxtrespu\nnormal|gres/gpu=8\nis that normal?"
)
OTHERS = (
    f"{HEAD}{row('5511', '(QOSMaxJobsPerUserLimit)')}{row('5512', 'g1', 'R', 'bob')}{row('5513', 'g2', 'R')}I am ada"
)
CLOSED = (
    '$ bjobs -l 20933 | grep -A12 "Specified Hosts"\n  , Specified Hosts <hg41>, <hg42>;\n PENDING REASONS:\n'
    " Candidate host pending reasons (2 of 90 hosts):\n  Closed by LSF administrator: 2 hosts;\n"
    " Non-candidate host pending reasons (88 of 90 hosts):\n  Not specified in job submission: 88 hosts;\n"
)
UNKNOWN_HOLDER = "my job shows PSUSP in bjobs (LSF) since this morning"
DATED = "Not Running: Dedicated time conflict at Sun Nov 22 19:12 2026\nwhy?"
GROUPS = f"{HEAD}{row('5514', '(uid 60418 not in group permitted to use this partition)')}"
LICENCE = '$ squeue -j 5515 -h -o "%T %r %W"\nPENDING Licenses matlab_par:16\n33 nodes idle, so why wait?'
WEIGHED = (
    "$ sprio -j 5516\n          JOBID PARTITION   PRIORITY       SITE        AGE  FAIRSHARE    JOBSIZE        QOS\n"
    "           5516 gpu            10500          0        400        100          0      10000\n$ sprio -w\n"
    "          JOBID PARTITION   PRIORITY       SITE        AGE  FAIRSHARE    JOBSIZE        QOS\n"
    "        Weights                               1       1000        100       5000      10000\n"
)
UTC = (
    '{"jobs": [{"job_id": 5517, "job_state": ["PENDING"], "partition": "gpu", "state_reason": "Priority",'
    ' "start_time": {"set": true, "infinite": false, "number": 1795550400}}]}'
)
TOGETHER = (
    "Job Id: 9919.pbs\n    job_state = Q\n    queue = gpu\n    comment = Can Never Run: "
    "Insufficient amount of resource: ngpus (R: 80 A: 12 T: 64)\n"
    "    Resource_List.select = 20:ncpus=32:ngpus=4\n"
)
SUMMED = (
    "$ sinfo -s\nPARTITION AVAIL  TIMELIMIT   NODES(A/I/O/T) NODELIST\ngpu* up 2-00:00:00 30/0/10/40 g[01-40]\n"
    f"$ squeue --me\n{HEAD}{row('5523', '(Resources)', nodes=36)}"
)
PLACE = (
    "JOBID PARTITION TIME_LIMIT REASON\n5524 gpu 1-12:00:00 Priority\n$ scontrol show partition debug | grep MaxTime\n"
    "   MaxTime=01:00:00 MaxNodes=2\n"
)
OF_BOB = (
    "JOBID USER ACCOUNT STATE REASON NODES\n3401 nia lab PENDING AssocMaxNodePerJobLimit 8\n"
    "$ sacctmgr -P show assoc where account=lab format=account,user,maxtres\nAccount|User|MaxTRES\n"
    "lab|bob|node=2\nlab|nia|node=4\n"
)
TWO_QOS = (
    "JOBID QOS STATE REASON TRES_PER_NODE NODES\n5525 a PENDING QOSMaxGRESPerUser gres/gpu:8 4\n"
    "5526 b PENDING QOSMaxGRESPerUser gres/gpu:1 1\n"
    "$ sacctmgr -nP show qos format=name,maxtrespu\na|gres/gpu=16\nb|gres/gpu=16\n"
)
EACH = (
    f"{HEAD}{row('5527', '(Resources)', nodes=4)}$ sinfo -p gpu -N -o '%N %t'\nNODELIST STATE\n"
    "g1 drng\ng2 alloc\ng3 mix\ng4 idle~\ng5 idle\n"
)


@pytest.mark.parametrize(
    ("text", "starts", "holds", "not_held"),
    [
        pytest.param(EACH, "yes", "2 nodes of gpu are idle", "No node", id="a row for each node"),
        pytest.param(OF_BOB, "no", "8 nodes; the limit is 4", "the limit is 2", id="another user's row"),
        pytest.param(TWO_QOS, "no", "what each asks for decides", "for the same reason", id="one word, two requests"),
        pytest.param(SUMMED, "depends", "only 30 can be used now: 10 are out", "starts by itself", id="nodes by sums"),
        pytest.param(PLACE, "yes", "Priority", "the limit is 1 h", id="another partition's limit"),
        pytest.param(NAMED.format("alloc"), "yes", "g01 and g02 are in use now", "cannot be used", id="busy, not out"),
        pytest.param(NAMED.format("drain"), "depends", "g01 and g02 cannot be used now", "in use", id="out, not busy"),
        pytest.param(MOST_BUSY, "yes", "1 node of gpu is out, and 9 can be used", "fewer nodes of", id="most busy"),
        pytest.param(ONLY_SOME, "depends", "the nodes' states do", "can be used:", id="list of some states"),
        pytest.param(
            AGAIN,
            "yes",
            "that run ended 21 November 2026 11:58 as PREEMPTED",
            "start planned",
            id="earlier run's start",
        ),
        pytest.param(STALE, "yes", "23 November 2026 02:00, is over", "start planned", id="start in the past"),
        pytest.param(NO_STATES, "no", "takes up to 7 days", "idle", id="counts without states"),
        pytest.param(CHAIN, "no", "5505 (part1) ended as TIMEOUT", "4800", id="exit code 0 of a timeout"),
        pytest.param(EITHER, "depends", "one is enough", "never starts", id="either of two parents"),
        pytest.param(OVERALL, "yes", "the whole system", "own jobs end", id="limit of the whole system"),
        pytest.param(OVERALL, "yes", "8,192, of which 8,064 are in use", "that of overall", id="use of the system"),
        pytest.param(ELSEWHERE, "yes", "asks for 8 GPUs.", "the limit is 4", id="limit of another place"),
        pytest.param(SPOKEN, "depends", "budget", "100 node hours", id="a balance in a sentence"),
        pytest.param(NEVER, "no", "16 GPUs, and the QOS allows 8", "can be normal", id="no normal wait"),
        pytest.param(OTHERS, "yes", "5513", "5512", id="jobs of others"),
        pytest.param(CLOSED, "depends", "names hg41, hg42 (`-m`)", "could take it", id="closed candidates"),
        pytest.param(UNKNOWN_HOLDER, "no", "by you (`bstop`) or by staff", "by the user", id="holder not told"),
        pytest.param(DATED, "yes", "Dedicated time", "**2026**", id="a year is no job"),
        pytest.param(GROUPS, "no", "Unix groups", "takes ,", id="no accounts printed"),
        pytest.param(LICENCE, "yes", "Free nodes do not help", "Comment says", id="licences are no comment"),
        pytest.param(WEIGHED, "yes", "gives at most 100", "has used more", id="a small weight is no much use"),
        pytest.param(UTC, "yes", "24 November 2026 20:00 UTC", "20:00.", id="zone of an estimate"),
        pytest.param(TOGETHER, "no", "asks for 80 ngpus; the nodes", "chunk", id="a sum is no chunk"),
    ],
)
def test_only_what_was_read_is_said(text: str, starts: str, holds: str, not_held: str) -> None:
    answer = explain_pending(text)
    assert answer.starts == starts, answer.says
    assert holds in said(answer)
    assert not_held not in said(answer)


def test_a_job_that_meanwhile_runs_does_not_wait() -> None:
    answer = explain_pending(f"{HEAD}{row('5520', '(Priority)')}\n{HEAD}{row('5520', 'g7', 'R')}why does 5520 wait?")
    assert answer.kind == "not-waiting" and "g7" in said(answer)


def test_a_refusal_beside_a_job_that_was_accepted_is_told() -> None:
    refusal = "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified\n"
    text = f"$ sbatch a.sh\nSubmitted batch job 5521\n$ sbatch b.sh\n{refusal}"
    assert explain_pending(text).kind == "client-error"
    assert "5521) is not touched" in said(explain_pending(text))
    listed = explain_pending(f"{text}$ squeue --me\n{HEAD}{row('5521', '(Priority)')}")
    assert listed.job == "5521" and "Another submission in what you pasted was refused" in said(listed)


def test_several_jobs_of_one_reason_are_all_named_beside_another() -> None:
    text = f"{HEAD}{row('82', '(Priority)')}{row('81', '(JobHeldUser)')}{row('80', '(JobHeldUser)')}"
    answer = explain_pending(text)
    assert (answer.job, answer.starts) == ("81", "no") and "80 waits for the same reason." in answer.says


def test_a_step_that_waits_is_told_from_its_job() -> None:
    text = "srun: Job 31277 step creation temporarily disabled, retrying (Requested nodes are busy)\nwhy?"
    answer = explain_pending(text)
    assert answer.kind == "not-waiting" and "the job itself runs" in said(answer)


def test_the_program_of_a_table_sets_no_language() -> None:
    text = f"{HEAD}{row('5522', '(Priority)')}$ date\nMon Nov 23 15:30:07 EST 2026\nUsers=team1 est=le State=INACTIVE\n"
    assert explain_pending(text).says[0].startswith("**5522")


OF_QOS = (
    "JobId=83 JobName=a\n   UserId=ada(5) GroupId=x(6) MCS_label=N/A\n   Priority=7 Nice=0 Account=x QOS=thin\n"
    "   JobState=PENDING Reason=QOSMaxGRESPerUser Dependency=(null)\n   NumNodes=1 NumCPUs=8\n"
    "   ReqTRES=cpu=8,mem=9G,node=1,gres/gpu=1\n$ sacctmgr -nP show qos thin format=name,maxtrespu\nthin|gres/gpu=0\n"
)
QUEUE_LIMIT = (
    "$ bjobs -p 84\nJOBID      USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n"
    "84         ada     PEND  night      l1                      a          Nov 22 18:44\n"
    " Job will not finish before queue's run window is closed;\n$ bqueues -l night | egrep -A1 'RUN'\n"
    "RUN_WINDOW:  20:00-4:00\n RUNLIMIT\n 900.0 min\n"
)


@pytest.mark.parametrize(
    ("text", "true", "false"),
    [
        pytest.param(OF_QOS, "no job with GPUs starts there", "none of its jobs", id="GPUs alone are closed"),
        pytest.param(QUEUE_LIMIT, "8 h at most", "it asks for 15 h", id="the run limit of a queue"),
        pytest.param(
            f"$ squeue -p gpu\n{HEAD}{row('85', '(Priority)', user='bo')}"
            f"$ squeue --me\n{HEAD}{row('86', '(Priority)')}",
            "86",
            "jobid=85",
            id="a stranger's job",
        ),
        pytest.param(
            f"{HEAD}{row('87', '(ReqNodeNotAvail, Reserved for maintenance)')}$ squeue -j 87 -h -o %l\n4:00:00\n"
            "ReservationName=m StartTime=2026-10-05T06:00:00 EndTime=2026-10-05T18:00:00 Duration=12:00:00\n"
            "   Nodes=g[1-9] NodeCnt=9 Flags=MAINT\n   Users=root State=ACTIVE\n",
            "a shorter time does not help",
            "It begins",
            id="a maintenance shown as active",
        ),
        pytest.param(
            f"{HEAD}{row('88', '(InvalidAccount)')}the announcement of new projects came monday\n",
            "not valid",
            "announced",
            id="an announcement of something else",
        ),
    ],
)
def test_what_only_looks_alike_is_not_told(text: str, true: str, false: str) -> None:
    told = said(explain_pending(text))
    assert true in told and false not in told, told
