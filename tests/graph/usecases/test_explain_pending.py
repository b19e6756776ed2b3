"""Why a job waits, as a person pastes it: verdict, evidence beside it, and commands with the job's own values."""

from __future__ import annotations

import pytest

from graph.usecases.explain_pending import PendingAnswer, explain_pending
from knowledge.catalogue import catalogue
from knowledge.document import Diff

HEAD = "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"


def commands(answer: PendingAnswer) -> str:
    return "\n".join(step.command for step in (*answer.change, *answer.look))


def said(answer: PendingAnswer) -> str:
    return " ".join(answer.says)


def test_own_running_jobs_that_hold_a_limit_are_named() -> None:
    rows = (
        "           4408312       gpu    ddp-a   tvogel PD       0:00      2 (QOSMaxGRESPerUser)\n"
        "           4407750       gpu dpo-long   tvogel  R   11:42:07      4 gpub[071-074]\n"
        "           4407544       gpu      mae   osilva  R 1-02:10:55      2 gpub[080-081]\n"
    )
    answer = explain_pending(f"i am tvogel, why does it wait\n{HEAD}{rows}")
    assert (answer.job, answer.kind, answer.starts) == ("4408312", "limit-aggregate", "yes")
    assert "4407750 dpo-long (4 nodes, running for 11 h 42 min)" in said(answer)
    assert "4407544" not in said(answer)


def test_the_job_of_the_user_who_asks_is_told() -> None:
    rows = (
        "             10231       gpu     dock     sroy PD       0:00      1 (JobHeldAdmin)\n"
        "             10233       gpu     swin   iperez PD       0:00      2 (Resources)\n"
    )
    answer = explain_pending(f"[iperez@login2 runs]$ squeue\n{HEAD}{rows}")
    assert (answer.job, answer.reason) == ("10233", "Resources")
    assert "10231" not in said(answer)


def test_limit_and_request_stand_side_by_side_with_a_complete_command() -> None:
    text = (
        f"{HEAD}             40071 gpu-debug      dbg   hadley PD       0:00      1 (PartitionTimeLimit)\n"
        "$ scontrol show partition gpu-debug | grep -o 'MaxTime=[^ ]*'\nMaxTime=00:30:00\n"
        "$ squeue -j 40071 -h -o %l\n4:00:00\n"
    )
    answer = explain_pending(text)
    assert "It asks for 4 h; the limit is 30 min." in said(answer)
    assert "scontrol update jobid=40071 TimeLimit=00:30:00" in commands(answer)


def test_a_reservation_too_short_for_the_job_means_never() -> None:
    text = (
        "JobId=61550 JobName=train\n   JobState=PENDING Reason=Reservation Dependency=(null)\n"
        "   RunTime=00:00:00 TimeLimit=08:00:00 TimeMin=N/A\n   Reservation=course-nov\n\n"
        "ReservationName=course-nov StartTime=2026-11-24T13:00:00 EndTime=2026-11-24T17:00:00 Duration=04:00:00\n"
    )
    answer = explain_pending(text)
    assert (answer.kind, answer.starts) == ("wait", "no")
    assert "TimeLimit=03:30:00" in commands(answer)
    fits = explain_pending(text.replace("TimeLimit=08:00:00", "TimeLimit=03:00:00"))
    assert fits.starts == "yes"


def test_a_put_back_job_is_told_from_one_with_a_begin_time() -> None:
    block = (
        "JobId=77 JobName=t\n   JobState=PENDING Reason=BeginTime Dependency=(null)\n"
        "   Requeue=1 Restarts={}\n   StartTime=2026-11-22T22:00:00\n"
    )
    again, first = explain_pending(block.format(2)), explain_pending(block.format(0))
    assert "put back 2 times" in said(again)
    assert "22 November 2026 22:00" in said(first)
    assert "StartTime=now" in commands(first)
    assert "StartTime=now" not in commands(again)


def test_nodes_that_are_out_are_counted_against_the_request() -> None:
    text = (
        f"{HEAD}             55021  gpu-h100      sft     dlam PD       0:00      4 (Resources)\n$ sinfo -p gpu-h100\n"
        "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
        "gpu-h100     up 2-00:00:00      2  drain h[01-02]\ngpu-h100     up 2-00:00:00      2    mix h[03-04]\n"
    )
    answer = explain_pending(text)
    assert answer.starts == "depends"
    assert "NumNodes=2-2" in commands(answer)


def test_a_budget_is_reckoned_with_its_parts() -> None:
    text = (
        f"{HEAD}           9917733 gpuA100x4  diff-xl   mreyes PD       0:00      4 (QOSGrpBillingMinutes)\n"
        "Project            Balance(Hours)   Deposited(Hours)\nbcex-delta-gpu                212               4000\n"
        "time 48:00:00"
    )
    answer = explain_pending(text)
    assert "4 nodes x 4 GPUs x 48 h = 768 GPU hours" in said(answer)
    assert "TimeLimit=13:00:00" in commands(answer)


def test_a_chunk_larger_than_any_node_never_runs() -> None:
    answer = explain_pending(
        "Job Id: 12.pbs\n    job_state = Q\n"
        "    comment = Not Running: Insufficient amount of resource: ngpus (R: 8 A: 4 T: 4)\n"
        "    Resource_List.select = 2:ncpus=32:ngpus=8\n"
    )
    assert (answer.kind, answer.starts) == ("limit-request", "no")
    assert "#PBS -l select=2:ncpus=32:ngpus=4" in commands(answer)


def test_a_running_job_does_not_wait() -> None:
    row = "            300117   small-g    bloom   agupta  R    3:12:11      2 nid[007001-007002]"
    answer = explain_pending(f"my job doesnt start help\n{HEAD}{row}")
    assert (answer.kind, answer.starts) == ("not-waiting", None)
    assert "3 h 12 min on nid[007001-007002]" in said(answer)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("sbatch: error: Batch job submission failed: Invalid partition name specified", "client-error"),
        ("slurm_load_jobs error: Unable to contact slurm controller (connect failure)", "client-error"),
        (f"$ squeue -u jmorel\n{HEAD}", "no-job"),
        ("why is my job not starting?", "no-job"),
        ("$ bjobs -p\nNo pending job found", "no-job"),
        ("JobID|State|ExitCode\n123|TIMEOUT|0:0\n123.batch|CANCELLED|0:15", "ended"),
        ("Job Id: 9.pbs\n    job_state = F\n    Exit_status = 271\n", "ended"),
    ],
)
def test_what_speaks_of_no_waiting_job(text: str, kind: str) -> None:
    assert explain_pending(text).kind == kind


def test_a_healthy_job_is_never_to_be_cancelled() -> None:
    for word in ("Priority", "Resources", "QOSMaxJobsPerUserLimit", "AssocGrpGRES", "BeginTime", "JobArrayTaskLimit"):
        answer = explain_pending(f"{HEAD}  91 gpu a b PD 0:00 1 ({word})")
        assert "scancel" not in commands(answer), word


def test_a_request_above_the_limit_never_starts() -> None:
    text = (
        "JobId=9 JobName=t\n   JobState=PENDING Reason=QOSMaxGRESPerUser Dependency=(null)\n"
        "   ReqTRES=cpu=128,mem=500G,node=4,billing=128,gres/gpu=16\n\nMaxTRESPU=gres/gpu={}\n"
    )
    above, below = explain_pending(text.format(8)), explain_pending(text.format(32))
    assert (above.starts, below.starts) == ("no", "yes")
    assert "16 GPUs, and the QOS allows 8" in said(above)


def test_a_parent_that_failed_means_never_and_one_that_runs_does_not() -> None:
    text = (
        "JobId=9 JobName=t\n   JobState=PENDING Reason=Dependency "
        "Dependency=afterany:100(unfulfilled),afterok:101({})\n"
    )
    assert explain_pending(text.format("failed")).starts == "no"
    assert explain_pending(text.format("unfulfilled")).starts == "depends"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Warum startet der nicht?", "Der Job ist in Ordnung und wartet nur; er startet von selbst."),
        (
            "pourquoi mon job ne démarre pas ?",
            "Le job est en ordre et attend ; il démarre tout seul.",
        ),
        ("为什么一直是PD？", "作业没有问题，正在排队，会自动开始。"),  # noqa: RUF001
    ],
)
def test_the_verdict_comes_first_in_the_language_of_the_question(text: str, line: str) -> None:
    assert explain_pending(f"{text}\n{HEAD}  91 gpu a b PD 0:00 1 (Priority)").says[0] == line
    assert (
        "other waiting jobs"
        in explain_pending(f"why is it not starting\n{HEAD}  91 gpu a b PD 0:00 1 (Priority)").says[0]
    )


def test_a_node_asked_for_by_name_is_told_from_nodes_that_are_only_listed() -> None:
    text = (
        "JobId=9912 JobName=pre\n   JobState=PENDING "
        "Reason=ReqNodeNotAvail,_UnavailableNodes:g[1-4] Dependency=(null)\n"
        "   ReqNodeList={} ExcNodeList=(null)\n"
    )
    assert "scontrol update jobid=9912 ReqNodeList=" in commands(explain_pending(text.format("g3")))
    assert "any others will do" in said(explain_pending(text.format("(null)")))


def test_idle_nodes_fewer_than_asked_are_counted() -> None:
    text = (
        "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\ngpu*         up 2-00:00:00     12   idle g[001-012]\n"
        f"{HEAD}  555 gpu trn kim PD 0:00 16 (Resources)"
    )
    assert "12 nodes of gpu are idle, fewer than the 16" in said(explain_pending(text))


def test_a_submission_without_an_answer_may_have_been_taken() -> None:
    answer = explain_pending("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation")
    assert "squeue --me" in commands(answer)
    assert "may be in the queue" in said(answer)


def test_the_same_words_of_two_schedulers_are_told_apart() -> None:
    assert "bhist -l 9005" in commands(explain_pending("Job <9005> is not found"))
    assert "sacct -X -j 9005" in commands(explain_pending("slurm_load_jobs error: Invalid job id specified (job 9005)"))


def test_jobs_that_came_later_and_ran_first_are_explained_where_it_is_asked() -> None:
    table = f"{HEAD}  91 gpu a b PD 0:00 1 (Priority)"
    assert "backfill" in said(explain_pending(f"jobs submitted later already run, unfair?\n{table}"))
    assert "handed in later" not in said(explain_pending(f"why?\n{table}"))


def test_the_change_is_shown_in_the_script_that_came_with_it() -> None:
    text = (
        f"{HEAD}             40071 gpu-debug      dbg   hadley PD       0:00      1 (PartitionTimeLimit)\n"
        "$ scontrol show partition gpu-debug\nPartitionName=gpu-debug MaxTime=00:30:00 MaxNodes=2\n"
        "#!/bin/bash\n#SBATCH -p gpu-debug\n#SBATCH -t 04:00:00\nsrun python train.py\n"
    )
    (diff,) = [part for part in explain_pending(text).document.parts if isinstance(part, Diff)]
    assert "-#SBATCH -t 04:00:00\n+#SBATCH --time=00:30:00" in diff.text
    other = explain_pending(text.replace("#SBATCH -t 04:00:00\n", ""))
    assert not any(isinstance(part, Diff) for part in other.document.parts)


def test_the_limit_that_sacctmgr_prints_without_a_header_stands_beside_the_request() -> None:
    job = (
        "JobId=880013 JobName=stage1\n   Priority=1 Nice=0 Account=phys QOS=normal\n"
        "   JobState=PENDING Reason=QOSMaxWallDurationPerJobLimit Dependency=(null)\n"
        "   RunTime=00:00:00 TimeLimit=5-00:00:00 TimeMin=N/A\n"
    )
    limits = "$ sacctmgr -nP show qos format=name,maxwalldurationperjob\ndebug|02:00:00\nnormal|2-00:00:00\n"
    answer = explain_pending(f"{job}\n{limits}")
    assert "It asks for 5 days; the limit is 2 days." in said(answer)
    assert "scontrol update jobid=880013 TimeLimit=2-00:00:00" in commands(answer)


def test_an_account_that_is_refused_is_not_offered_again() -> None:
    job = "JobId=21 JobName=a\n   Account=phys-ai QOS=normal\n   JobState=PENDING Reason=AccountNotAllowed\n"
    assert "Account=phys-ai" not in commands(explain_pending(job))


def test_what_a_running_job_began_at_is_no_estimate() -> None:
    job = (
        "JobId=26 JobName=a\n   JobState=RUNNING Reason=None Dependency=(null)\n"
        "   RunTime=01:39:07 TimeLimit=1-00:00:00\n"
        "   StartTime=2026-11-22T11:02:00 EndTime=2026-11-23T11:02:00\n   NodeList=gn[11-14]\n"
    )
    answer = explain_pending(job)
    assert answer.kind == "not-waiting"
    assert "estimate" not in said(answer)


def test_rows_of_sacct_are_read_by_the_columns_that_the_sentence_below_names() -> None:
    answer = explain_pending(
        "551300|CANCELLED by 61033|0:0|2026-11-21T09:00:00|Unknown|\n"
        "from sacct -XnP -o JobID,State,ExitCode,Submit,Start,Elapsed . did it ever run"
    )
    assert (answer.kind, answer.starts) == ("ended", "no")
    assert "It never started." in said(answer)


def test_a_requirement_of_lsf_with_a_greater_sign_is_read_whole() -> None:
    answer = explain_pending(
        "Job <610034>, Job Name <bertx>, User <hsato>, Project <default>, Status <PEND>,\n"
        "                     Queue <batch>, Command <./run.sh>\n"
        "Sun Nov 22 09:00:00: Submitted from host <login3>, CWD <$HOME/b>, 4 Task(s), R\n"
        "                     equested Resources <select[mem>900000]>;\n"
        " PENDING REASONS:\n Job's resource requirements not satisfied: 44 hosts;\n"
    )
    assert 'It asks for `-R "select[mem>900000]"`.' in said(answer)


def test_nodes_that_are_out_are_named_with_their_reasons() -> None:
    out = (
        "$ sinfo -R\nREASON               USER      TIMESTAMP           NODELIST\n"
        "bad nvlink           root      2026-11-20T09:00:00 gn12\n\n"
    )
    row = (
        "           3121       gpu      big      ana PD       0:00      6 (Nodes required for job are DOWN, DRAINED)\n"
    )
    assert "Out now: gn12 (bad nvlink, since 20 November 2026 09:00)." in said(explain_pending(f"{out}{HEAD}{row}"))


@pytest.mark.parametrize(
    ("machine", "command"),
    [("polaris", "qalter -A datascience -l walltime="), ("aurora", "qalter -l walltime="), ("abci3", "")],
)
def test_a_waiting_job_is_changed_as_its_machine_takes_it(machine: str, command: str) -> None:
    out = (
        "Job Id: 1234567.pbs-01\n    Job_Name = train\n    job_state = Q\n    queue = prod\n"
        "    Account_Name = datascience\n    Resource_List.nodect = 10\n    Resource_List.walltime = 06:00:00\n"
        "    comment = Not Running: Job would conflict with reservation or top job\n"
    )
    told = explain_pending(out, machine=catalogue().find(machine))
    assert any(step.command.startswith(command) for step in told.change) if command else "qalter" not in said(told)
