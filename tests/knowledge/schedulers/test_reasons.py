"""What reasons mean: each kind of word once, and every file of reasons as it is shipped."""

from __future__ import annotations

import re

import pytest

from knowledge.schedulers.limit_words import limit_word
from knowledge.schedulers.reason_types import FOLDER
from knowledge.schedulers.reasons import find_reason, message_reason, reason_file, spoken_reason


@pytest.mark.parametrize(
    ("word", "kind", "starts"),
    [
        ("QOSMaxGRESPerUser", "limit-aggregate", "yes"),
        ("AssocGrpCpuLimit", "limit-aggregate", "yes"),
        ("QOSGrpBillingMinutes", "limit-budget", "depends"),
        ("AssocGrpCPURunMinutesLimit", "limit-aggregate", "depends"),
        ("QOSMaxMemoryMinutesPerJob", "limit-request", "no"),
        ("QOSMinCpuNotSatisfied", "limit-request", "no"),
        ("MaxJobsPerAccount", "limit-aggregate", "yes"),
        ("AssocMaxWallDurationPerJobLimit", "limit-request", "no"),
        ("MaxMemPerLimit", "limit-request", "no"),
        ("AssocGrpFooQuuxMinutes", "limit-budget", "depends"),
        ("QOSMaxQuantumPerJob", "limit-request", "no"),
        ("priority", "wait", "yes"),
        ("ReqNodeNotAvail,_Reserved_for_maintenance", "node", "yes"),
        ("Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved", "wait", "depends"),
    ],
)
def test_a_word_of_slurm_is_judged(word: str, kind: str, starts: str) -> None:
    found = find_reason("slurm", word)
    assert found is not None
    assert (found.reason.kind, found.reason.starts) == (kind, starts)


def test_a_limit_is_read_by_its_parts() -> None:
    limit = limit_word("MaxGRESRunMinsPerAccount")
    assert limit is not None
    assert (limit.resource, limit.counts, limit.whose, limit.set_on) == ("gres", "run-minutes", "account", "qos")


def test_a_cut_word_is_known_only_where_one_limit_begins_so() -> None:
    whole = find_reason("slurm", "AssocGrpCpuLim")
    assert whole is not None
    assert (whole.reason.word, whole.cut) == ("AssocGrpCpuLimit", True)
    assert find_reason("slurm", "QOSMaxGRESPe") is None


def test_can_never_run_beats_the_comment_behind_it() -> None:
    comment = "Insufficient amount of resource: ncpus (R: 128 A: 64 T: 64)"
    soft, hard = find_reason("pbs", f"Not Running: {comment}"), find_reason("pbs", f"Can Never Run: {comment}")
    assert soft is not None
    assert hard is not None
    assert (soft.reason.starts, hard.reason.starts) == ("yes", "no")


def test_of_lsf_s_reasons_that_of_most_candidate_hosts_decides() -> None:
    found = find_reason(
        "lsf",
        "Candidate host pending reasons (781 of 795 hosts):; Not enough slots or resources for whole duration of the "
        "job: 781 hosts; Non-candidate host pending reasons (14 of 795 hosts):; Closed by LSF administrator: 790 hosts",
    )
    assert found is not None
    assert found.reason.word == "not enough resources for whole duration"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("my job says QOSMaxGRESPerUser, why?", "QOSMaxGRESPerUser"),
        ("squeue shows  (AssocGrpCpuLim  then it's cut off", "AssocGrpCpuLimit"),
        ("4 a100s, slurm says Priority, still no start", "Priority"),
        ("it says launch failed requeued held", "launch failed requeued held"),
        ("resources are my top priority", None),
        ("Train ViT with FSDP on Perlmutter, 4 nodes", None),
    ],
)
def test_a_reason_inside_a_sentence(text: str, word: str | None) -> None:
    found = spoken_reason(text)
    assert (found.reason.word if found else None) == word


def test_the_last_words_of_a_command_are_known_by_their_meaning() -> None:
    found = message_reason("slurm", "sbatch: error: Batch job submission failed: Invalid partition name specified")
    assert found is not None
    assert (found.reason.word, found.reason.kind) == ("bad partition", "client-error")


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.yaml")))
def test_every_file_of_reasons_is_valid(name: str) -> None:
    file = reason_file(name)
    assert file.source
    for reason in (*file.reasons, *file.sentences):
        re.compile(reason.match)
        assert not reason.says.endswith("."), reason.word
