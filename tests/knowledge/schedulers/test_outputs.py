"""Outputs of schedulers found in pasted text. All content is invented; the forms are those that the commands print."""

from __future__ import annotations

import json

import pytest

from knowledge.schedulers.outputs import scheduler_output
from knowledge.schedulers.records import QueuedJob

SQUEUE = """\
             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
   4408312_[3-9%2]       gpu    ddp-a   tvogel PD       0:00      2 (ReqNodeNotAvail, UnavailableNodes:g[001,004])
           4407750       gpu dpo-long   tvogel  R 1-11:42:07      4 gpub[071-074]
"""
QSTAT = """\
polaris-pbs-01:
                                                                Req'd  Req'd   Elap
Job ID          Username Queue    Jobname    SessID NDS TSK Memory Time  S Time
--------------- -------- -------- ---------- ------ --- --- ------ ----- - -----
2351001.polari* pslade   debug    vit_a       11873   1  64    --  01:00 R 00:22 x3101c0s7b0n0/0*64
2351040.polari* pslade   debug    vit_b         --    1  64    --  01:00 Q   --   --
   Not Running: Queue debug job limit reached for user pslade
"""
QSTAT_F = """\
Job Id: 7719034.aurora-pbs-0001.hostmgmt
    Job_Name = climate-vit
    job_state = Q
    queue = capacity
    comment = Not Running: Insufficient amount of resource: filesystems_flare (
\tR: 1 A: 0 T: 1)
    Resource_List.select = 4:ncpus=104+2:ncpus=8
    Resource_List.walltime = 03:00:00
"""
BJOBS = """\
JOBID      USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME
5133902    dkato   PEND  pbatch     lassen709               wmt-b      Nov 20 17:41
 Candidate host pending reasons (781 of 795 hosts):
  Not enough slots or resources for whole duration of the job: 781 hosts;
5133903    dkato   RUN   pbatch     lassen709   lassen12    wmt-c      Nov 20 17:42
"""
BJOBS_L = """\
Job <5120412>, Job Name <oneshot>, User <dkato>, Project <default>, Status <PE
                     ND>, Queue <pbatch>, Command <train.sh>
Sat Nov 21 08:00:01: Submitted from host <lassen709>, CWD <$HOME/run>, 8 Task(s
                     ), Requested GPU <num=8:mode=shared:j_exclusive=yes>;
 PENDING REASONS:
 There are no suitable hosts for the job;

 SCHEDULING PARAMETERS:
           r15s   r1m  r15m   ut      pg    io   ls    it    tmp    swp    mem
 loadSched   -     -     -     -       -     -    -     -     -      -      -
"""
FLUX = """\
       JOBID QUEUE    USER     NAME       ST NTASKS NNODES     TIME INFO
   f2kWm8RtD pbatch   lgomez   cosmo-64    D    256     64       6h depends:max-running-jobs-user-limit
   f2kWhq3Zy pbatch   lgomez   cosmo-4     R     16      4   48.31m tuolumne[1130-1133]
"""
EVENTS = """\
1795000001.1 submit userid=5012 urgency=16 flags=0 version=1
1795000001.3 exception type="alloc" severity=0 note="alloc denied due to type=\\"unsatisfiable\\""
"""
SACCT = """\
JobID           JobName  Partition    Account  AllocCPUS      State ExitCode
------------ ---------- ---------- ---------- ---------- ---------- --------
71208             train        gpu   bio-plan+         16 OUT_OF_ME+    0:125
71208.batch       batch              bio-plan+         16 CANCELLED by 51234 0:125
"""


def jobs(text: str) -> list[QueuedJob]:
    return [job for output in scheduler_output(text) for job in output.jobs]


def test_squeue_gives_jobs_with_reasons_and_places() -> None:
    waiting, running = jobs(SQUEUE)
    assert (waiting.id, waiting.user, waiting.phase, waiting.nodes) == ("4408312_[3-9%2]", "tvogel", "waiting", 2)
    assert waiting.reason == "ReqNodeNotAvail, UnavailableNodes:g[001,004]"
    assert (running.phase, running.where, running.elapsed) == ("running", "gpub[071-074]", 128527.0)


def test_a_row_without_header_and_with_lost_blanks_is_read() -> None:
    (job,) = jobs("9920144 gpuA100x4 vit-pt hnakano PD 0:00 4 (Priority)")
    assert (job.id, job.reason, job.nodes) == ("9920144", "Priority", 4)


@pytest.mark.parametrize(
    ("text", "reason", "limit"),
    [
        (
            "JOBID STATE REASON TIME_LIMIT\n22 PENDING ReqNodeNotAvail, May be reserved for other job 2-00:00:00",
            None,
            172800,
        ),
        ("JOBID|PARTITION|STATE|TIME_LIMIT|REASON\n22|gpu|PENDING|4:00:00|Resources", "Resources", 14400),
        ("$ squeue -j 22 -h -o '%i %T %l %r'\n22 PENDING 30:00 QOSMinGRES", "QOSMinGRES", 1800),
    ],
)
def test_a_person_s_own_columns_are_read(text: str, reason: str | None, limit: float) -> None:
    (job,) = jobs(text)
    assert (job.id, job.phase, job.limit) == ("22", "waiting", limit)
    assert job.reason == (reason or "ReqNodeNotAvail, May be reserved for other job")


def test_words_around_a_table_stay_outside_its_lines() -> None:
    text = f"why is only one of mine running?\n{SQUEUE}is anything free at all?\n2 questions, sorry"
    (output,) = scheduler_output(text)
    assert (output.first, output.last) == (1, 3)


def test_qstat_takes_the_comment_below_and_hosts_behind() -> None:
    running, waiting = jobs(QSTAT)
    assert (running.id, running.elapsed, running.limit) == ("2351001", 1320.0, 3600.0)
    assert waiting.reason == "Not Running: Queue debug job limit reached for user pslade"


def test_qstat_f_joins_a_wrapped_comment_and_counts_chunks() -> None:
    (job,) = jobs(QSTAT_F)
    assert job.reason.endswith("filesystems_flare (R: 1 A: 0 T: 1)")
    assert (job.id, job.nodes, job.limit) == ("7719034", 6, 10800.0)


def test_bjobs_keeps_reasons_with_their_job() -> None:
    waiting, running = jobs(BJOBS)
    assert "whole duration of the job: 781 hosts" in waiting.reason
    assert (waiting.name, waiting.where, running.where) == ("wmt-b", "", "lassen12")


def test_the_long_form_of_bjobs_is_unwrapped() -> None:
    (job,) = jobs(BJOBS_L)
    assert (job.phase, job.reason, job.tasks) == ("waiting", "There are no suitable hosts for the job", 8)
    assert job.printed("Requested GPU") == "num=8:mode=shared:j_exclusive=yes"


def test_flux_tells_the_asked_time_while_a_job_waits() -> None:
    waiting, running = jobs(FLUX)
    assert (waiting.reason, waiting.limit, waiting.elapsed) == ("depends:max-running-jobs-user-limit", 21600.0, None)
    assert (running.where, round(running.elapsed or 0)) == ("tuolumne[1130-1133]", 2899)


def test_events_of_flux_end_in_the_state_that_they_leave() -> None:
    (job,) = jobs(EVENTS)
    assert (job.phase, job.reason) == ("ended", 'alloc: alloc denied due to type="unsatisfiable"')


def test_sacct_rows_with_cut_and_spoken_states() -> None:
    job, step = jobs(SACCT)
    assert (job.phase, job.exit_code, step.id, step.state) == ("ended", "0:125", "71208.batch", "CANCELLED by 51234")


def test_json_of_slurm_old_and_new() -> None:
    new = {"job_id": 7, "job_state": ["PENDING"], "state_reason": "Priority", "time_limit": {"set": True, "number": 60}}
    old = {"job_id": 8, "job_state": "RUNNING", "time_limit": 30, "nodes": "g1"}
    first, second = jobs(json.dumps({"jobs": [new, old]}, indent=1))
    assert (first.phase, first.reason, first.limit) == ("waiting", "Priority", 3600.0)
    assert (second.phase, second.where, second.limit) == ("running", "g1", 1800.0)


def test_what_a_job_s_tasks_say_is_no_scheduler_s_word() -> None:
    log = "srun: error: nid01: task 3: Killed\n2026-11-22 12:00:00 step 100 loss 2.3 R 1.5e6\nTIME is up, NAME it\n"
    assert scheduler_output(log) == []


def test_an_empty_queue_is_an_output_without_jobs() -> None:
    (output,) = scheduler_output(SQUEUE.splitlines()[0] + "\nit was there an hour ago")
    assert (output.jobs, output.first, output.last) == ((), 0, 0)
