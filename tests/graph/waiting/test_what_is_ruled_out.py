"""What the paste rules out is not said, and a sum whose numbers stand there is done."""

from __future__ import annotations

import time

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
PER_USER = (
    "JOBID USER QOS NODES TRES_PER_NODE ST REASON\n871 ada std 1 gres/gpu:4 PD QOSMaxGRESPerUser\n"
    "$ sacctmgr -nP show qos std format=name,maxtrespu\nstd|gres/gpu=6\n{}"
)
THREE = (
    "JOBID USER QOS NODES TRES_PER_NODE ST REASON\n881 ada std 4 gres/gpu:4 PD QOSMaxGRESPerUser\n"
    "882 ada std 1 gres/gpu:{0} PD QOSMaxGRESPerUser\n883 ada std 1 gres/gpu:{0} PD QOSMaxGRESPerUser\n"
    "880 ada std 1 gres/gpu:4 R None\n$ sacctmgr -nP show qos std format=name,maxtrespu\nstd|gres/gpu=16\n"
)
LONGER = (
    "JOBID PARTITION NAME ST NODES NODELIST(REASON)\n884 std a PD 1 (PartitionTimeLimit)\n$ sinfo\n"
    "PARTITION AVAIL TIMELIMIT NODES STATE NODELIST\nstd* up 1-00:00:00 4 idle n[1-4]\n"
    "short up 12:00:00 3 idle s[1-3]\nlong up 2-00:00:00 3 alloc l[1-3]\n"
)
PER_CORE = (
    "JobId=885 JobName=a Account=x QOS=q JobState=PENDING Reason=MaxMemPerLimit Dependency=(null)\n"
    "   TimeLimit=1:00:00 Partition=std NumNodes=1 NumCPUs=8 NumTasks=4 CPUs/Task=2 MinMemoryCPU=8G\n"
    "   ReqTRES=cpu=8,mem=64G,node=1\n$ scontrol show partition std\nPartitionName=std MaxMemPerCPU=4000 MaxTime=1-0\n"
)
PARTLY = (
    f"{HEAD} 886 std a ada PD 0:00 {{}} (Resources)\n$ sinfo\nPARTITION AVAIL TIMELIMIT NODES STATE NODELIST\n"
    "std up 1-00:00:00 2 mix n[1-2]\nstd up 1-00:00:00 6 alloc n[3-8]\n"
)
WEEKDAY = (
    "$ date\nMon Nov 23 10:00:00 CET 2026\nJob Id: 887.srv\n    job_state = Q\n    queue = q\n"
    "    Resource_List.walltime = 24:00:00\n"
    "    comment = Not Running: Job would conflict with reservation or top job\n"
    "$ pbs_rstat\nM21 M21 root CO Tue Nov 24 06:00 / 43200 / Tue Nov 24 18:00\n"
)
OPTIONS = (
    BLOCK.format(priority=9, reason="Resources", restarts=0).replace("NumCPUs=4", "NumCPUs={0}")
    + "$ sinfo -o '%P %t %c %D'\nPARTITION STATE CPUS NODES\nstd alloc 64 4\n{1}\n"
)
REQUEUED = (
    BLOCK.format(priority=9, reason="BeginTime", restarts=1)
    + "$ scontrol show partition\nPartitionName=std MaxTime=1-0 PreemptMode=REQUEUE PriorityTier=2\n"
    "PartitionName=fast MaxTime=1-0 PreemptMode=REQUEUE PriorityTier={}\n"
)
EITHER = (
    BLOCK.format(priority=9, reason="Licenses", restarts=0) + "   Licenses=abaqus:4|comsol:1\n$ scontrol show lic\n"
    "LicenseName=abaqus\n    Total={1} Used=1 Free=1 Reserved=0 Remote=no\n"
    "LicenseName=comsol\n    Total={0} Used={0} Free=0 Reserved=0 Remote=no\n"
)
OF_AN_ARRAY = (
    f"{HEAD} 892 std b ada PD 0:00 1 (Dependency)\n$ scontrol show job 892 | grep Depend\n"
    "   JobState=PENDING Reason=Dependency Dependency=afterok:891_*(failed)\n"
    "$ sacct -j 891 -X -o JobID,State,ExitCode\nJobID             State ExitCode \n------------ ---------- -------- \n"
    "891_1         COMPLETED      0:0 \n891_2            FAILED      1:0 \n891_3         COMPLETED      0:0 \n"
)
OWN_HOSTS = (
    "Job <893>, User <ada>, Status <PEND>, Queue <std>, Command <a>{}\n"
    "Tue Nov 24 10:02:11: Submitted from host <l2>, CWD <$HOME>;\n PENDING REASONS:\n {}\n"
)
PER_JOB = (
    "JOBID PARTITION ACCOUNT STATE NODES CPUS TIME_LIMIT NODELIST(REASON)\n"
    "894 std chem PENDING 4 512 7-00:00:00 ({})\n"
    "$ sacctmgr -P show assoc user=$USER format=account,maxtres,maxwall\nAccount|MaxTRES|MaxWall\n"
    "chem|cpu=256|2-00:00:00\nbio||7-00:00:00\n"
)
CLOSED = (
    "JOBID PARTITION NAME ST NODES NODELIST(REASON)\n895 phys a PD 1 (PartitionConfig)\n"
    "$ scontrol show partition phys\nPartitionName=phys\n   AllowGroups=phys,opt AllowAccounts=ALL AllowQos=ALL\n$ {}\n"
)
WHOLE = (
    BLOCK.format(priority=9, reason="Resources", restarts=0) + "   OverSubscribe={} Contiguous=0\n   "
    "TresPerNode=gres/gpu:1\n$ scontrol show node n1\nNodeName=n1 CPUAlloc=4 CPUTot=64 Gres=gpu:4\n   RealMemory=500000"
    " AllocMem=4000 State=MIXED Partitions=std\n   CfgTRES=cpu=64,mem=500000M,gres/gpu=4\n"
    "   AllocTRES=cpu=4,gres/gpu=1\n"
)
FEW_NODES = (
    f"{HEAD} 896 std a ada PD 0:00 3 (Resources)\n$ sinfo -p std\nPARTITION AVAIL TIMELIMIT NODES STATE NODELIST\n"
    "std up 1-00:00:00 2 mix n[1-2]\nstd up 1-00:00:00 6 drain n[3-8]\n"
)
HOURS_LEFT = (
    "JOBID ACCOUNT NODES TIME_LIMIT REASON\n897 ast 16 1-00:00:00 AssocGrpBillingMinutes\n"
    "$ showusage\nast  Remaining: 190 node-hours\n"
)
ONE_AT_ONCE = (
    f"{HEAD} 898 debug a ada PD 0:00 1 (QOSMaxJobsPerUserLimit)\n 899 debug b ada PD 0:00 1 (QOSMaxJobsPerUserLimit)\n"
    "$ sacctmgr -nP show qos debug format=name,maxjobspu\ndebug|1\n"
)
SEVERAL = (
    "JOBID PARTITION NAME STATE TIME_LIMIT NODES NODELIST(REASON)\n905 std,long a PENDING 2-00:00:00 2 (Priority)\n"
    "$ sinfo -s\nPARTITION AVAIL TIMELIMIT NODES(A/I/O/T) NODELIST\nstd* up 1-00:00:00 20/4/0/24 n[001-024]\n"
    "long up 7-00:00:00 8/0/0/8 m[1-8]\n"
)
THROTTLE = f"{HEAD} 906_[3-9%{{}}] std a ada PD 0:00 1 (Priority)\n 906_1 std a ada R 1:00 1 n1\n" + (
    " 906_2 std a ada R 1:00 1 n2\n"
)
KILLED = (
    "Job Id: 908.srv\n    job_state = H\n    queue = q\n    Hold_Types = s\n    depend = afterok:907.srv@srv\n"
    "Job Id: 907.srv\n    job_state = F\n    Exit_status = 271\n"
)
TOO_LONG = (
    "srun -p dev -t 8:00:00 --pty bash\nsrun: error: Unable to allocate resources: Requested time limit is invalid "
    "(missing or exceeds some limit)\n$ sinfo -p dev\nPARTITION AVAIL TIMELIMIT NODES STATE NODELIST\n"
    "dev up 2:00:00 2 idle d[1-2]\n"
)
LEAST = (
    "JOBID QOS CPUS NODES REASON\n909 large 64 1 QOSMinCpuNotSatisfied\n"
    "$ sacctmgr -nP show qos format=name,mintres\nnormal|\nhuge|cpu=900\nlarge|cpu=512\n"
)
RESERVED = (
    "JOBID USER ACCOUNT ST TIME_LIMIT NODES RESERVATION NODELIST(REASON)\n910 ada edu PD 2:00:00 1 ml (Reservation)\n"
    "$ scontrol show res ml\nReservationName=ml StartTime=2026-11-24T09:00:00 EndTime=2026-11-24T12:00:00 "
    "Duration=03:00:00\n   Nodes=n[1-4] NodeCnt=4 Flags=\n   Users={} Groups=(null) Accounts={} State=INACTIVE\n"
)
BY_SETTINGS = (
    "$ scontrol show job 911 | grep -E 'Part|Limit|Reason'\n   JobState=PENDING Reason=PartitionTimeLimit\n"
    "   RunTime=00:00:00 TimeLimit=2-00:00:00 TimeMin=N/A\n   Partition=short AllocNode:Sid=l1:1\n"
    "$ scontrol show partition\nPartitionName=short\n   MaxNodes=UNLIMITED MaxTime=04:00:00 MinNodes=0\n"
    "PartitionName=shut\n   MaxNodes=9 MaxTime=9-00:00:00 State=DOWN\n"
    "PartitionName=long\n   MaxNodes=4 MaxTime=7-00:00:00\n"
)
ON_A_USER = (
    "JOBID USER ACCOUNT NODES TRES_PER_NODE ST REASON\n913 ada lab 1 gres/gpu:4 PD AssocGrpGRES\n"
    "914 ada lab 1 gres/gpu:4 R None\n915 ada lab 1 gres/gpu:4 R None\n916 bob lab 1 gres/gpu:4 R None\n"
    "$ sacctmgr -P show assoc account=lab format=account,user,grptres\nAccount|User|GrpTRES\nlab||gres/gpu={}\n"
    "lab|ada|gres/gpu=8\nlab|bob|gres/gpu=4\n"
)
IDLE_BUT = (
    f"{HEAD} 920 gpu a ada PD 0:00 1 (Resources)\n$ sinfo -p gpu\nPARTITION AVAIL TIMELIMIT NODES STATE NODELIST\n"
    "gpu {} 1-00:00:00 8 {} g[1-8]\n"
)
TYPED = (
    f"{HEAD} 929 gpu a ada PD 0:00 1 (Resources)\n$ scontrol show job 929 | grep Tres\n   TresPerNode=gres/gpu:a100:2\n"
    "$ sinfo -p gpu -N -O nodehost,statecompact,gres,gresused\n"
    "HOSTNAMES           STATE               GRES                GRES_USED\n"
    "gpu1                mix                 gpu:a100:4          gpu:a100:3(IDX:0-2)\n"
    "gpu2                mix                 gpu:v100:4          gpu:v100:0(IDX:N/A)\n"
)
LONG_FORM = (
    "Job <930>, User <ada>, Project <x>, Status <PEND>, Queue <short>, Command <a>\nThu Nov 26 08:00:10: Submitted "
    "from host <l1>, CWD <$HOME>, 32 Task(s);\n PENDING REASONS:\n"
    " User has reached the per-user job slot limit of the queue;\n"
    "$ bqueues -l short\nQUEUE: short\n  -- Short queue\n\nPARAMETERS/STATISTICS\n"
    "PRIO NICE STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN SSUSP USUSP  RSV PJOBS\n"
    " 40   20  Open:Active       -   64    -    -   812   700   112     0     0    0   700\n"
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
            MAINTENANCE.format("it needs 19 h"),
            "yes",
            ["do not fit before it", "nothing: it starts after that"],
            ["TimeLimit="],
            id="no time is advised that is shorter than what it needs",
        ),
        pytest.param(
            MAINTENANCE.format("it takes 17 h 30 min"),
            "yes",
            ["With 18 h asked for", "TimeLimit=18:00:00"],
            ["17 h asked", "leaves some room"],
            id="hours and minutes are one time",
        ),
        pytest.param(
            PER_USER.format("why is my job not running? It asks for 4 GPUs"),
            "yes",
            ["the limit is 6"],
            ["in use", "your running job"],
            id="what does not run holds nothing",
        ),
        pytest.param(
            PER_USER.format("why do my 3 jobs wait? They want 4 GPUs each"),
            "yes",
            ["the limit is 6"],
            ["in use"],
            id="jobs that wait hold nothing",
        ),
        pytest.param(
            PER_USER.format("my other job is running with 4 GPUs"), "yes", ["2 are left"], [], id="what runs holds some"
        ),
        pytest.param(THREE.format(4), "yes", ["882 (4 GPUs) and 883"], ["one after the other"], id="two fit together"),
        pytest.param(
            THREE.format(9), "yes", ["9 + 9 = 18 of the two smallest"], [], id="not even the two smallest fit together"
        ),
        pytest.param(LONGER, "no", ["Partition=long"], ["Partition=short"], id="the default partition's own time"),
        pytest.param(
            PER_CORE,
            "no",
            ["5 cores a task in place of 2", "--cpus-per-task=5 --mem-per-cpu=3277M"],
            ["17 cores"],
            id="memory a core of several tasks",
        ),
        pytest.param(PARTLY.format(3), "yes", ["on each of 3 nodes"], ["on one node"], id="several nodes partly used"),
        pytest.param(
            WEEKDAY, "yes", ["20 h from 23 November 2026", "walltime=18:00:00"], ["Zadanie"], id="the year it was seen"
        ),
        pytest.param(
            OPTIONS.format("", "srun -n 1 python train.py -c 128"), "yes", ["next in line"], ["128"], id="of a program"
        ),
        pytest.param(
            OPTIONS.format(4, "#SBATCH -c 128"), "yes", ["next in line"], ["128"], id="more cores than the job has"
        ),
        pytest.param(
            OPTIONS.format(128, "srun -n 1 --cpus-per-task=128 python train.py"),
            "no",
            ["128 CPU cores a node"],
            [],
            id="options of srun",
        ),
        pytest.param(
            REQUEUED.format(2), "yes", ["its node failed"], ["PreemptMode", "QOS=<OTHER_QOS>"], id="no higher tier"
        ),
        pytest.param(REQUEUED.format(3), "yes", ["with a higher PriorityTier"], [], id="a higher tier"),
        pytest.param(EITHER.format(3, 2), "yes", ["one of them is enough"], ["never starts"], id="either licence"),
        pytest.param(EITHER.format(0, 5), "yes", ["one of them is enough"], ["taken out"], id="one of either is gone"),
        pytest.param(
            f"{HEAD} 890 std b ada PD 0:00 1 (Dependency)\n 889_[3-9%2] std a ada PD 0:00 1 (JobArrayTaskLimit)\n"
            "with --dependency=afterok:889",
            "depends",
            ["tasks 3-9 are waiting"],
            ["3-9%2 are"],
            id="tasks without the array's throttle",
        ),
        pytest.param(OF_AN_ARRAY, "no", ["891_2 failed (exit code 1:0"], ["COMPLETED"], id="which task it was"),
        pytest.param(
            OWN_HOSTS.format("", "Not enough GPUs on the hosts: 22 hosts;\n Closed by LSF administrator: 2 hosts;"),
            "yes",
            ["22 hosts have not enough GPUs free now and 2 are closed", "not for those closed"],
            [],
            id="hosts by what they lack",
        ),
        pytest.param(
            OWN_HOSTS.format(
                ", Exclusive Execution", "Job's requirements for exclusive execution not satisfied: 3 hosts;"
            ),
            "yes",
            ["a host is wholly free", "bmod -xn 893"],
            [],
            id="a host of its own",
        ),
        pytest.param(
            PER_JOB.format("AssocMaxCpuPerJobLimit"),
            "no",
            ["2 nodes with 128 CPU cores each"],
            [],
            id="what fits a job",
        ),
        pytest.param(
            PER_JOB.format("AssocMaxWallDurationPerJobLimit"),
            "no",
            ["where the partition allows more", "your account bio allows 7 days", "Account=bio"],
            [],
            id="an account that allows more",
        ),
        pytest.param(
            CLOSED.format("id -Gn\nada chem users"),
            "no",
            ["members of phys and opt; you are in ada, chem and users"],
            ["compare"],
            id="the partition's groups",
        ),
        pytest.param(
            CLOSED.format("id\nuid=5(ada) gid=6(ada) groups=6(ada),7(opt)"),
            "no",
            ["you are in opt"],
            ["in none"],
            id="in one of the groups",
        ),
        pytest.param(WHOLE.format("NO"), "yes", ["asks for whole nodes"], ["has that free", "has 3"], id="whole nodes"),
        pytest.param(WHOLE.format("OK"), "yes", ["n1 has that free"], ["whole nodes"], id="shared nodes"),
        pytest.param(
            FEW_NODES,
            "depends",
            ["only 2 can be used now"],
            ["on each of 3 nodes", "No node of std"],
            id="too few are left",
        ),
        pytest.param(
            HOURS_LEFT, "depends", ["at most 11 h, or take at most 7 nodes", "=11:00"], [], id="nodes or hours"
        ),
        pytest.param(ONE_AT_ONCE, "yes", ["one after the other: 1 + 1 = 2"], [], id="one job at once"),
        pytest.param(
            "maintenance starts 3 December 08:00. It's 1 December 20:00 now. job 900 wants 48 h, it says "
            "ReqNodeNotAvail, Reserved for maintenance",
            "yes",
            ["36 h are left", "12 h too many", "TimeLimit=1-08:00:00"],
            [],
            id="a reason in words has the same look",
        ),
        pytest.param(
            "$ sacct -X -j 901 -o JobID,State,Reason\nJobID             State                 Reason \n"
            "------------ ---------- ---------------------- \n901             PENDING AssocGrpCPURunMinutes+ \n",
            "depends",
            ["shrinks by itself as they run on"],
            ["no reason of Slurm's own"],
            id="a word cut by sacct",
        ),
        pytest.param(
            "账户 lab 限制 6 节点\nJOBID USER ACCOUNT ST NODES REASON\n902 ada lab PD 3 AssocGrpNodeLimit\n"
            "903 bob lab R 5 None\n",
            "yes",
            ["the limit is 6, of which 5 are in use"],
            [],
            id="a limit told in Chinese",
        ),
        pytest.param(
            "Job Id: 904.srv\n    job_state = Q\n    comment = Not Running: Insufficient amount of resource: ngpus "
            "(R: 8 A: 4 T: 64)\n$ qstat -f 904 | grep select\n    Resource_List.select = 2:ngpus=4\nhow long?",
            "yes",
            ["qstat -T 904"],
            ["qstat -f 904"],
            id="what was looked at is not asked for again",
        ),
        pytest.param(
            SEVERAL,
            "yes",
            ["std takes up to 1 day: it can start only in long", "TimeLimit=1-00:00:00"],
            ["4 nodes", "Partition=std"],
            id="which of its partitions take its time",
        ),
        pytest.param(
            THROTTLE.format(8), "yes", ["`%8` does not hold it: 2 tasks run"], [], id="it is not the throttle"
        ),
        pytest.param(THROTTLE.format(2), "yes", ["by priority"], ["does not hold it"], id="it may be the throttle"),
        pytest.param(
            KILLED,
            "no",
            ["907, for which it waits, can never", "ended by signal 15 (TERM)", 'depend="" 908', "qdel 908"],
            ["goes away by itself", "while that one"],
            id="a parent of PBS that failed",
        ),
        pytest.param(
            LEAST,
            "no",
            ["takes no job below 512", "QOS=normal"],
            ["QOS huge", "QOS=huge"],
            id="a QOS without that minimum",
        ),
        pytest.param(RESERVED.format("eva,tom", "(null)"), "no", ["leaves out this job, of ada"], [], id="left out"),
        pytest.param(
            RESERVED.format("eva,ada", "(null)"), "yes", ["fit into these 3 h"], ["anybody else"], id="let in"
        ),
        pytest.param(
            RESERVED.format("eva", "edu"),
            "depends",
            ["users eva and accounts edu", "whether both have to be"],
            ["anybody else"],
            id="by one of two",
        ),
        pytest.param(
            RESERVED.format("-eva", "(null)"), "yes", ["fit into these 3 h"], ["anybody else"], id="all but eva"
        ),
        pytest.param(RESERVED.format("-ada", "(null)"), "no", ["It leaves out ada"], [], id="all but this one"),
        pytest.param(
            RESERVED.format("(null)", "edu"), "yes", ["fit into these 3 h"], ["anybody else"], id="by its account"
        ),
        pytest.param(BY_SETTINGS, "no", ["Partition=long"], ["shut"], id="partitions by their settings"),
        pytest.param(
            ON_A_USER.format(16),
            "yes",
            ["the limit is 8, of which 8 are in use", "set on ada in the account lab", "when 914 or 915 ends"],
            ["colleagues'", "everybody", "916"],
            id="a limit on one user of the account",
        ),
        pytest.param(
            ON_A_USER.format(12).replace("915 ada lab 1 gres/gpu:4 R", "915 eva lab 1 gres/gpu:4 R"),
            "yes",
            ["12 are in use", "eva: 915"],
            ["set on ada"],
            id="the limit on the account that is full",
        ),
        pytest.param(
            ON_A_USER.format(12).replace("lab|ada|gres/gpu=8\n", ""),
            "yes",
            ["12 are in use", "bob: 916"],
            [],
            id="on all",
        ),
        pytest.param(
            f"{HEAD} 917 std a ada PD 0:00 1 (QOSMaxGRESPerUser)\n 918 std j ada R 2:00:00 1 n1\n"
            "MaxTRESPU gres/gpu=2, I have one job running with 1 gpu and this asks for 2",
            "yes",
            ["1 short", "can start when 918 ends"],
            ["not even"],
            id="what one job holds is not told",
        ),
        pytest.param("my job 919 says (Resources) and its start is N/A", "yes", ["does not mean never"], [], id="N/A"),
        pytest.param(
            IDLE_BUT.format("down", "idle"),
            "depends",
            ["closed for starting jobs", "staff open it"],
            ["next in line", "are idle"],
            id="a closed partition",
        ),
        pytest.param(IDLE_BUT.format("drain", "alloc"), "yes", ["next in line", "as drain"], [], id="one that drains"),
        pytest.param(IDLE_BUT.format("up", "resv"), "yes", ["kept by a reservation"], [], id="reserved nodes"),
        pytest.param(
            f"meu job está com (Priority)?\n{HEAD} 921 gpu a ada PD 0:00 2 (Priority)\n"
            " 922 gpu b bob PD 0:00 8 (Resources)\n",
            "yes",
            ["922 of bob (`Resources`) is next"],
            ["jobid=922"],
            id="the job whose reason is named",
        ),
        pytest.param(
            'my job 923 has (BadConstraints). #SBATCH -C "v100|p100" --gres=gpu:2\n$ sinfo -o "%N %f %G"\n'
            "NODELIST AVAIL_FEATURES GRES\ng[1-8] a100,ib gpu:a100:4\ng[9-12] l40s gpu:l40s:2\n",
            "no",
            ["v100 and p100 are on no node shown", "a100 (g[1-8])"],
            [],
            id="a constraint of the script",
        ),
        pytest.param(
            f"{HEAD} 925 std b ada CA 0:00 1 (DependencyNeverSatisfied)\n 924 std a ada F 1:00 1 (NonZeroExitCode)\n"
            "where is 925?",
            "no",
            ["Slurm itself cancelled it"],
            ["somebody cancelled"],
            id="cancelled for its parent",
        ),
        pytest.param(
            f"{HEAD} 926 inter b ada PD 0:00 1 (QOSMaxCpuPerUserLimit)\n 927 gpu a ada R 1:00 1 n1\n",
            "yes",
            ["as far as they are in the same QOS: 927"],
            [],
            id="another partition's QOS may be another",
        ),
        pytest.param(
            "job 928\nState: Idle\n"
            "NOTE:  job cannot run in any partition  (insufficient idle procs available: 0 < 64)\n",
            "depends",
            ["asks for 64 cores and 0 are idle"],
            ["this site"],
            id="Moab's note",
        ),
        pytest.param(
            TYPED,
            "yes",
            ["asks for 2 a100 GPUs", "gpu1 comes closest with 1 of 4"],
            ["gpu2 has that free"],
            id="GPUs of its type alone",
        ),
        pytest.param(
            LONG_FORM, "yes", ["asks for 32 slots; the limit is 64"], [], id="a queue of LSF in its long form"
        ),
        pytest.param(
            "300 jobs, only 50 run, the rest is PD (QOSMaxJobsPerUserLimit).\nsacctmgr: MaxJobsPU 50, MaxSubmitPU 500",
            "yes",
            ["as many running jobs as this QOS allows"],
            ["refused"],
            id="a sentence with a command's name is no refusal",
        ),
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


def test_a_refused_time_stands_beside_the_partitions() -> None:
    told = whole(TOO_LONG)
    assert "It asks for 8 h; the limit is 2 h" in told and "`-t 02:00:00`" in told


def test_a_budget_without_its_use_is_not_told_as_left_in_another_language() -> None:
    budget = (
        "JOBID QOS NODES REASON\n912 std 2 QOSGrpCPUMinutesLimit\n$ sacctmgr -nP show qos std format=name,grptresmins\n"
    )
    shown = explain_pending(f"¿por qué no arranca?\n{budget}std|cpu=6000000\n").document
    text = " ".join(getattr(part, "text", "") for part in shown.parts)
    assert "permitido 100,000" in text and "queda" not in text


def test_thousands_that_hold_a_limit_are_added_up_in_time() -> None:
    rows = "".join(f" {n} u{n % 50} lab std R 1:00:00 1-00:00:00 1 gres/gpu:4 n{n}\n" for n in range(1001, 3001))
    head = "JOBID USER ACCOUNT PARTITION ST TIME TIME_LIMIT NODES TRES_PER_NODE NODELIST(REASON)\n"
    waits = " 1000 ada lab std PD 0:00 1-00:00:00 1 gres/gpu:4 (AssocGrpGRES)\n"
    limit = (
        "$ sacctmgr -P show assoc account=lab format=account,user,grptres\nAccount|User|GrpTRES\nlab||gres/gpu=160\n"
    )
    began = time.process_time()
    told = whole(f"{head}{waits}{rows}{limit}")
    assert "the limit is 160, of which 8,000 are in use" in told
    assert time.process_time() - began < 14
