"""What people suppose or ask beside a job is answered from what stands there, in the right cases only."""

from __future__ import annotations

import pytest

from graph.usecases.explain_pending import explain_pending

HEAD = "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"


def row(job: str, name: str, state: str, reason: str, time: str = "0:00", user: str = "me") -> str:
    return f"{job:>18} {'gpu':>9} {name:>8} {user:>8} {state:>2} {time:>10} {2:>6} {reason}\n"


def pending(reason: str) -> str:
    return HEAD + row("771", "sft", "PD", f"({reason})")


SAID = [
    (pending("AssocGrpGRESMinutes") + "is the queue so full?", "That the queue is full is not the cause."),
    (pending("DependencyNeverSatisfied") + "Die Warteschlange ist wohl voll", "not the cause"),
    (pending("QOSMaxJobsPerUserLimit") + "but 9 nodes are free", "Free nodes do not help"),
    (pending("ReqNodeNotAvail, UnavailableNodes:g1") + "do I have to resubmit?", "Submitting it again does not help"),
    (pending("Resources") + "is the scheduler broken?", "Nothing of it is broken."),
    (pending("PartitionTimeLimit") + "can I raise its priority?", "A higher priority does not help."),
    (
        pending("PartitionTimeLimit") + row("772", "b", "R", "g1", "1:00") + "will it start when 772 is over?",
        "The end of 772 changes nothing for it.",
    ),
    (HEAD + row("5", "oom_test", "R", "g1", "1:00") + "why oom?", "`oom_test` is only its name"),
    (HEAD + row("5", "sft", "CG", "g1", "1:00") + "like this for 4 hours", "4 hours is too long for that"),
    (pending("Dependency").replace("Dependency", "BadConstraints") + row("772", "b", "PD", "(BadConstraints)"), "772"),
]


@pytest.mark.parametrize(("text", "line"), SAID)
def test_what_is_supposed_is_answered(text: str, line: str) -> None:
    assert line in " ".join(explain_pending(text).says)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (pending("Resources") + "why?", "broken"),
        (pending("JobHeldUser") + "is it broken?", "Nothing of it is broken"),
        (pending("Priority") + "is it full?", "not the cause"),
        (HEAD + row("5", "oom_test", "R", "g1", "1:00") + "does it wait?", "only its name"),
        (HEAD + row("5", "sft", "CG", "g1", "1:00") + "why?", "too long"),
    ],
)
def test_and_not_where_it_is_not_so(text: str, line: str) -> None:
    assert line not in " ".join(explain_pending(text).says)


GPUS = "$ sinfo -p gpu -o '%G %D'\nGRES NODES\ngpu:a100:4 32\n"
JOB = "JobId=5 JobName=x\n   JobState=PENDING Reason={} Dependency={}\n   NumNodes=1 Partition=gpu {}\n\n"


def test_more_gpus_than_a_node_has_never_start_and_are_named_where_sbatch_refused_them() -> None:
    told = explain_pending(JOB.format("Resources", "(null)", "TresPerNode=gres:gpu:a100:8") + GPUS)
    assert (told.kind, told.starts) == ("limit-request", "no")
    refused = "sbatch: error: Batch job submission failed: Requested node configuration is not available\n"
    told = explain_pending(f"{refused}#SBATCH --gpus-per-node=8\n#SBATCH --mem=480000\n{GPUS}")
    assert (told.kind, told.job) == ("client-error", "")
    assert "It asks for 8 GPUs a node, and no node shown has more than 4." in told.says
    fits = explain_pending(JOB.format("Resources", "(null)", "TresPerNode=gres:gpu:a100:4") + GPUS)
    assert fits.starts == "yes"


def test_singleton_waits_for_the_job_of_its_name_and_not_for_ever() -> None:
    other = "JobId=4 JobName=x\n   JobState=RUNNING Reason=None\n   RunTime=01:00:00 TimeLimit=02:00:00\n"
    told = explain_pending(JOB.format("Dependency", "singleton(unfulfilled)", "") + other + "for ever?")
    assert told.starts == "yes" and "4 x (running for 1 h, at most 1 h left) has that name." in " ".join(told.says)


def test_a_gone_output_folder_is_read_from_slurms_own_signal() -> None:
    text = (
        "JobId=5 JobName=x\n   JobState=FAILED Reason=RaisedSignal:53(Real-time_signal_19) Dependency=(null)\n"
        "   ExitCode=0:53\n   RunTime=00:00:01 TimeLimit=01:00:00\n   StdOut=/work/me/logs/5.out\n"
    )
    assert "Make the folder /work/me/logs" in " ".join(explain_pending(text).says)


CHECKJOB = "$ checkjob 331\njob 331\n\nState: {}\nWallTime: 00:00:00 of 2:00:00\n{}\n"
BLOCKED = "BLOCK MSG: job 331 violates active HARD MAXPROC limit of 64 for user me  partition ALL (Req: 32  InUse: 64)"


@pytest.mark.parametrize(
    ("text", "kind", "starts"),
    [
        (CHECKJOB.format("Idle", BLOCKED), "limit-aggregate", "yes"),
        (CHECKJOB.format("Hold", "Holds:          Batch  (hold reason:  NoResources)"), "hold", "no"),
        ("41.pbs  H\n    comment = job held, too many failed attempts to run\n    Hold_Types = s\n"
         "    run_count = 21\n    Exit_status = -3\n", "hold", "no"),
        ("771  me  PEND  gpu  l1  x  Nov 22 08:00\n Job's resource requirements not satisfied: 96 hosts;\n"
         "bhosts: 96 hosts", "limit-request", "no"),
        ("srun: job 81 queued and waiting for resources\nsrun: Job allocation 81 has been revoked.", "ended", "no"),
        ("my job says (ReqNodeNotAvail, May be reserved for other job)\n  JOBID  NAME  USER  ST  TIME_LIMIT NODES\n"
         "  229017  dpo  me  PD  1-00:00:00  2", "node", "yes"),
    ],
)  # fmt: skip
def test_what_decides_is_found(text: str, kind: str, starts: str) -> None:
    told = explain_pending(text)
    assert (told.kind, told.starts) == (kind, starts), told.says


def test_hosts_outside_the_choice_decide_nothing_beside_others() -> None:
    text = (
        "Job <77>, User <me>, Project <p>, Status <PEND>, Queue <gpu>, Command <t>\n"
        "Sat Nov 22 10:00:00: Submitted from host <l1>, CWD </h>;\n PENDING REASONS:\n"
        " Job's requirements for reserving resource (ngpus_physical) not satisfied: 12 hosts;\n"
        " Not specified in job submission: 88 hosts;\n"
    )
    assert explain_pending(text).reason == "resource in use"


def test_a_command_ends_the_table_above_it() -> None:
    text = (
        "sinfo -R\nREASON               USER      TIMESTAMP           NODELIST\n"
        "Not responding       slurm     2025-11-21T03:11:20 g[01-04]\nsinfo -p a40\n"
        "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\na40          up 1-00:00:00      4  down* g[01-04]\n"
        "squeue --me\n" + HEAD + row("812", "cnn", "PD", "(Resources)").replace("gpu", "a40")
    )
    told = explain_pending(text)
    assert (told.job, told.starts) == ("812", "depends") and "g[01-04]" in " ".join(told.says)


def test_a_priority_is_that_of_the_job_that_is_named() -> None:
    text = (
        "$ sprio -j 41,42\n          JOBID PARTITION   PRIORITY       SITE        AGE  FAIRSHARE\n"
        "            411 gpu             1000          0        900        100\n"
        "            422 gpu               10          0          9          1\n422 is mine"
    )
    assert explain_pending(text).job == "422"


def test_an_account_that_may_is_found_among_ones_own() -> None:
    text = (
        "771 gpu t5 me PENDING AccountNotAllowed\nPartitionName=gpu\n   AllowGroups=ALL AllowAccounts=nlp,core\n"
        "$ sacctmgr -nP show assoc user=me format=account\nbio\nnlp\n(submitted with -A bio)"
    )
    told = explain_pending(text)
    assert "The partition takes nlp and core, not account bio; of these you have nlp." in told.says


def test_what_pbs_reserves_and_on_which_host_a_job_insists() -> None:
    text = (
        "   comment = Not Running: Job would conflict with reservation or top job\n    queue = prod\n"
        "Resv ID         Queue         User     State             Start / Duration / End\n-----------------\n"
        "M5.adm01        M5            root@ad  CO      Mon 06:00 / 43200 / Mon 18:00\n"
    )
    assert "begins Mon 06:00" in " ".join(explain_pending(text).says)
    text = (
        "g07   offline\n    job_state = Q\n    comment = Not Running: Node is in an ineligible state: offline\n"
        "    Resource_List.select = 1:ncpus=16:host=g07\n"
    )
    told = explain_pending(text)
    assert "it insists on host g07, which staff have set offline" in told.says[0].lower()
    assert told.change[0].command.startswith("qalter -l select=1:ncpus=16 ")
