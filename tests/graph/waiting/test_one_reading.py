"""Every number, job, date and column of a paste stands in one reading, from which all sentences are filled."""

from __future__ import annotations

import pytest

from graph.usecases.explain_pending import PendingAnswer, explain_pending

HEAD = "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"


def row(job: str, reason: str, state: str = "PD", user: str = "ada", nodes: int = 2, name: str = "a") -> str:
    return f"  {job}  gpu  {name}  {user} {state} {'0:00' if state == 'PD' else '2:00:00'} {nodes} {reason}\n"


def said(answer: PendingAnswer) -> str:
    return " ".join([*answer.says, *(f"{step.text} {step.command}" for step in answer.change)])


def waiting_for(depends: str, *beside: str) -> str:
    state = f"   JobState=PENDING Reason=Dependency Dependency={depends}\n"
    return f"$ scontrol show job 5602\nJobId=5602 JobName=post\n{state}\n" + "".join(beside)


NEVER = (
    "JobId=5604 JobName=tidy\n   JobState=PENDING Reason=DependencyNeverSatisfied Dependency=afternotok:5603(failed)\n"
)
HELD = HEAD + row("5601", "(JobHeldUser)")
TOO_LONG = HEAD + row("5601", "(QOSMaxWallDurationPerJobLimit)")
LSF_EXIT = (
    "Job <801>, Job Name <fit>, User <mo>, Status <PEND>, Queue <long>, Command <a>\n"
    "Mon Nov 23 08:01:22: Submitted from host <l1>, 64 Task(s), Dependency Condition <exit(799)>;\n"
    " PENDING REASONS:\n Job dependency condition not satisfied;\n"
    "$ bjobs 799\nJOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n"
    "799     mo      DONE  long       l1          h1          pre        Nov 23 07:00\n"
)
PBS_OVER = (
    "Job Id: 77.srv\n    Job_Name = n\n    job_state = H\n    Hold_Types = s\n    depend = afterok:76.srv@srv\n"
    "$ qstat -x 76\nJob id            Name             User              Time Use S Queue\n"
    "----------------  ---------------- ----------------  -------- - -----\n"
    "76.srv            m                zoe               00:10:00 F work\n"
)
TWIN = HEAD + row("5606", "(Dependency)", name="night") + row("5605", "g1", state="R", name="night")


@pytest.mark.parametrize(
    ("text", "starts", "holds", "not_held"),
    [
        (f"{NEVER}\n5603|COMPLETED|0:0\n", "no", "5603 ended as COMPLETED", "5603 has failed"),
        (f"{NEVER}\n5603|COMPLETED|0:0\n", "no", "as meant", "afterok"),
        (waiting_for("afterok:5601(unfulfilled)", HELD), "depends", "scontrol release 5601", "nothing while"),
        (waiting_for("afterok:5601(unfulfilled)", TOO_LONG), "no", "change 5601 first", "scancel"),
        (
            f"-d afterany:5601\n{HEAD}{row('5602', '(Dependency)')}{row('5601', 'g1', state='R')}",
            "yes",
            "well or not",
            "fails",
        ),
        (f"{TWIN}my alias has --dependency=singleton", "yes", "5605 night", "<PARENTS>"),
        (
            waiting_for("afterok:5601_*(unfulfilled)", "5601_0|COMPLETED\n5601_1|FAILED\n5601_2|RUNNING\n"),
            "no",
            "5601_1 failed",
            "nothing while",
        ),
        (LSF_EXIT, "no", "799 ended as DONE where `exit` wants it to fail", "fulfilled"),
        (PBS_OVER, "depends", "76 is over", "has failed"),
    ],
)
def test_a_dependency_is_judged_by_its_kind_and_its_parents_states(
    text: str, starts: str, holds: str, not_held: str
) -> None:
    answer = explain_pending(text)
    assert answer.starts == starts, answer.says
    assert holds in said(answer)
    assert not_held not in said(answer)


MINUTES = (
    "JobId=71 JobName=a\n   JobState=PENDING Reason=QOSMaxCpuMinutesPerJobLimit Dependency=(null)\n"
    "   RunTime=00:00:00 TimeLimit=2-00:00:00 TimeMin=N/A\n   NumNodes=1 NumCPUs=64\n   ReqTRES=cpu=64,node=1\n\n"
    "the wiki says cpu=120000 MaxTRESMins\n"
)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (f"vis|node=4||\n{HEAD}{row('72', '(AssocMaxNodePerJobLimit)', nodes=6)}", "NumNodes=4-4"),
        (MINUTES, "TimeLimit=1-07:00:00"),
        (f"{HEAD}{row('73', '(PartitionTimeLimit)')}docs: at most 5 days, i asked 7-00:00:00", "TimeLimit=5-00:00:00"),
        ("Reason=MaxMemPerLimit Dependency=(null)\n...\n   MinCPUsNode=1 MinMemoryNode=900G\n\n"
         "$ scontrol show partition gpu | grep MaxMem\n   DefMemPerCPU=4000 MaxMemPerNode=512000\n", "--mem=512000M"),
        ("    comment = Can Never Run: Not enough total nodes available\n    Resource_List.select = 640:ncpus=8\n"
         "(we are on a 512 node machine)", "asks for 640 nodes, and the machine has 512"),
        ("Job <44>, Job Name <m>, User <s>, Status <PEND>, Queue <n>, Command <r>\n"
         "Mon Nov 23 08:01:22: Submitted from host <l>, 1 Task(s), Requested GPU <num=8:mode=shared>;\n"
         " PENDING REASONS:\n There are no suitable hosts for the job;\n\n(each host has 4)",
         "8 GPUs a node, and no node shown has more than 4"),
    ],
)  # fmt: skip
def test_a_limit_beside_the_request_becomes_the_number_that_fits(text: str, holds: str) -> None:
    answer = explain_pending(text)
    assert answer.starts == "no", answer.says
    assert holds in said(answer)


MAINT = (
    f"{HEAD}{row('74', '(ReqNodeNotAvail, Reserved for maintenance)')}"
    "ReservationName=m StartTime=2026-11-24T18:00:00 EndTime=2026-11-25T20:00:00\n   Flags=MAINT\n\n"
    "   RunTime=00:00:00 TimeLimit={} TimeMin=N/A\nit is Nov 23 10:00 now"
)


def test_what_is_left_until_a_maintenance_is_reckoned_from_the_clock_that_is_told() -> None:
    too_long = said(explain_pending(MAINT.format("2-00:00:00")))
    assert "32 h are left, and it asks for 48 h" in too_long
    assert "TimeLimit=1-04:00:00" in too_long
    fits = said(explain_pending(MAINT.format("1-00:00:00")))
    assert "still fits, if nodes are free for it within 8 h" in fits
    assert "TimeLimit=" not in fits


def test_a_start_in_another_year_is_told_with_its_year() -> None:
    block = "$ scontrol show job 75 | grep StartTime\n   StartTime=2099-11-24T00:00:00 EndTime=Unknown\n"
    text = f"{HEAD}{row('75', '(BeginTime)')}{block}"
    told = said(explain_pending(text))
    assert "24 November 2099" in told
    assert "Mind the year" in told


def test_what_never_starts_is_not_told_to_start_when_others_end() -> None:
    jobs = row("77", "(QOSMaxNodePerUserLimit)", nodes=9) + row("78", "g1", state="R")
    text = f"{HEAD}{jobs}our limit is 8 nodes per user"
    answer = explain_pending(text)
    assert answer.starts == "no"
    assert "can start when" not in said(answer)


def test_a_budget_without_its_use_is_not_told_as_left() -> None:
    row_of = "job 8812 AssocGrpCPUMinutesLimit\nai|cpu=600000{}"
    assert "10,000 CPU core hours in all" in said(explain_pending(row_of.format("")))
    assert "166.7 of 10,000 CPU core hours are left" in said(explain_pending(row_of.format(" used 590000")))


def test_jobs_of_another_account_are_not_in_the_way() -> None:
    text = (
        "JOBID ACCOUNT USER ST NODES TIME_LEFT REASON\n71 bio ann PD 2 10:00:00 MaxGRESPerAccount\n"
        "70 bio bob R 6 2:00:00 None\n69 chem cat R 8 0:10:00 None\n"
    )
    told = said(explain_pending(text))
    assert "70" in told
    assert "69" not in told


def test_a_suspended_job_is_told_for_whom() -> None:
    told = said(
        explain_pending(f"{HEAD}{row('81', 'g[3-4]', state='S')}{row('82', 'g[3-4]', state='R', user='bo')}81?")
    )
    assert "82" in told
    assert "goes on when 82 ends" in told


def test_a_gpu_job_is_not_sent_to_a_partition_of_processors() -> None:
    text = (
        f"{HEAD}  91  gpu_4  t  ada PD 0:00 1 (PartitionDown)\n$ sinfo -s\n"
        "PARTITION AVAIL  TIMELIMIT   NODES(A/I/O/T) NODELIST\ncpu*         up 3-00:00:00     210/12/2/224 n[001-224]\n"
        "gpu_4      down 2-00:00:00        0/30/2/32 g[01-32]\ngpu_8        up 2-00:00:00          6/1/1/8 h[01-08]\n"
    )
    told = said(explain_pending(text))
    assert "Partition=gpu_8" in told
    assert "Partition=cpu" not in told


def test_the_same_number_of_two_schedulers_is_two_jobs() -> None:
    text = f"{HEAD}{row('100', '(JobHeldUser)')}and here:\n100.pbs  a  zoe  0 H workq    Hold_Types = u\n"
    told = said(explain_pending(text))
    assert "scontrol release 100" in told
    assert "qrls 100" in told


def test_a_node_that_fails_each_time_is_left_out_before_the_release() -> None:
    text = f"{HEAD}{row('65', '(launch failed requeued held)')}each time on gn17 says sacct"
    commands = [step.command for step in explain_pending(text).change]
    assert commands.index("scontrol update jobid=65 ExcNodeList=gn17") < commands.index("scontrol release 65")


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (f"{HEAD}{row('66', '(SiteHook:night closed)')}", "no reason of Slurm's own"),
        (f"{HEAD}{row('66', '(QOSMaxWidgetPerUser)')}", "in no list of Slurm's words"),
        ("my job is pending, why?", "bjobs"),
        ("flux-jobs: ERROR: Unable to connect to Flux: broker socket was not found", "says nothing of your jobs"),
        (f"{HEAD}{row('67', 'g1', state='CG')}since 40 minutes", "40 minutes is too long"),
        (f"{HEAD}{row('67', 'g1', state='R')}the log is empty", "empty file"),
        ("JobID|State|Elapsed|Reason\n68|TIMEOUT|06:00:12|QOSMaxNodePerUserLimit\n", "holds nothing any more"),
        ("salloc: Pending job allocation 69\nsalloc: job 69 queued and waiting for resources", "stay open"),
        (f"{HEAD}{row('70', '(PartitionTimeLimit)')}", "MAXTIME: the longest time allowed"),
    ],
)
def test_what_is_asked_or_not_known_is_answered(text: str, holds: str) -> None:
    assert holds in said(explain_pending(text))


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        ("ich bin ada", "Der Job"),
        ("attendre ou annuler ?", "Le job"),
        ("j'ai mis --time=10:00:00, il ne démarre pas", "Le job"),
        ("perché gli altri passano avanti?", "Il job"),
        ("het job. nodes are free, why doesnt it start already", "**76"),
    ],
)
def test_a_few_words_set_the_language_of_the_first_line(words: str, begins: str) -> None:
    assert explain_pending(f"{HEAD}{row('76', '(Priority)')}{words}").says[0].startswith(begins)


def test_the_first_line_and_the_body_say_the_same_of_a_parent_that_may_end_anyhow() -> None:
    text = waiting_for(
        "afterany:5601(unfulfilled)", HEAD + row("5601", "g1", state="R"), "perché non parte il secondo?"
    )
    answer = explain_pending(text)
    assert answer.starts == "yes"
    assert "parte da solo" in answer.says[0]
