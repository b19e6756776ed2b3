"""Daily life on a machine: what is told comes from its facts, with the person's own file and job in the commands."""

import re

import pytest

from graph.answering.job_deeds import explain_deed
from graph.answering.site_days import TELLERS, tell_site
from graph.answering.situation import Situation, named_scheduler
from graph.answering.table import ANSWERERS, answerer
from graph.answering.terms import explain_terms
from graph.reading.defining import find_terms
from knowledge.catalogue import catalogue
from knowledge.document import Document, Paragraph, Sources, Steps
from knowledge.general_facts import job_life


def words(document: Document | None) -> str:
    assert document is not None
    paragraphs = [part.text for part in document.parts if isinstance(part, Paragraph)]
    steps = [f"{step.text} {step.command}" for part in document.parts if isinstance(part, Steps) for step in part.items]
    return "\n".join([*paragraphs, *steps])


def at(machine: str, text: str = "?", job: str = "77") -> Situation:
    return Situation(text, catalogue().find(machine), job=job)


@pytest.mark.parametrize("machine", sorted(catalogue().clusters))
@pytest.mark.parametrize("topic", sorted(TELLERS))
def test_each_topic_of_each_machine_reads_as_an_answer(machine: str, topic: str) -> None:
    told = tell_site(topic, at(machine))
    if told is None:  # nobody wrote it down: the caller says so
        return
    assert words(told).strip()
    assert not any(isinstance(part, Sources) and not part.items for part in told.parts)


def test_the_account_is_found_by_the_machines_own_command() -> None:
    assert "accounts" in words(tell_site("site.account", at("delta"))).split("\n")[0]
    assert "-A" in words(tell_site("site.account", at("polaris")))


def test_terabytes_go_by_the_way_for_much_data_first() -> None:
    small = words(tell_site("site.transfer", at("frontier", "copy my script"))).split("\n")[0]
    large = words(tell_site("site.transfer", at("frontier", "best way for 4 TB"))).split("\n")[0]
    assert small.startswith("**A few files") and large.startswith("**Much data")


def test_a_site_answer_cites_its_pages_with_the_date_of_the_file() -> None:
    told = tell_site("site.quota", at("perlmutter"))
    assert told is not None
    sources = [part for part in told.parts if isinstance(part, Sources)]
    assert sources and sources[0].items[0].address.startswith("https://docs.nersc.gov") and sources[0].items[0].date


@pytest.mark.parametrize("scheduler", ["slurm", "pbs", "lsf", "flux"])
def test_every_scheduler_knows_every_deed(scheduler: str) -> None:
    assert set(job_life()[scheduler]) == set(job_life()["slurm"])  # type: ignore[index]


def test_the_commands_hold_the_job_and_the_file_of_the_person() -> None:
    assert "qdel 77" in words(explain_deed("cancel", at("polaris")))
    submitted = explain_deed("submit", Situation("?", catalogue().find("delta"), script="job.txt"))
    assert "sbatch job.txt" in words(submitted)


def test_without_a_machine_each_schedulers_command_is_named() -> None:
    told = words(explain_deed("cancel", Situation("how do I cancel it?", job="5")))
    assert all(command in told for command in ("scancel 5", "qdel 5", "bkill 5", "flux cancel 5"))
    assert "--state=PENDING" not in told
    assert "sbatch job.sh" in words(explain_deed("submit", Situation("how do I start it?")))


@pytest.mark.parametrize(
    ("text", "scheduler"),
    [
        ("my cluster has qsub", "pbs"),
        ("squeue says PD", "slurm"),
        ("bjobs prints PEND", "lsf"),
        ("flux jobs", "flux"),
        ("sbatch or qsub?", None),
        ("a flood of jobs", None),
    ],
)
def test_a_scheduler_is_known_by_its_commands(text: str, scheduler: str | None) -> None:
    assert named_scheduler(text) == scheduler


def test_terms_are_found_by_any_of_their_names_as_whole_words() -> None:
    assert find_terms("What's a partition, and is FSDP better than DDP?") == ("queue", "fsdp", "ddp")
    assert find_terms("nodejs") == ()


def test_two_terms_are_set_apart_and_numbers_come_from_the_machine() -> None:
    assert "whole model" in words(explain_terms(Situation("difference between fsdp and ddp")))
    assert "A100" in words(explain_terms(at("perlmutter", "what is a node?")))
    assert explain_terms(Situation("how are you")) is None


@pytest.mark.parametrize(
    ("topic", "machine", "question", "first"),
    [
        (
            "site.backup",
            "perlmutter",
            "my checkpoints on scratch are gone, any backup?",
            "No: scratch of Perlmutter",
        ),
        ("site.backup", "lumi", "backup of scratch?", "No: scratch of LUMI"),
        ("site.quota", "frontier", "quota in home?", "On Frontier, home: 50 GB"),
        ("site.quota", "perlmutter", "disk quota exceeded when pip installing", "A place is full."),
        ("site.login", "vista", "it says: your account has no active project. Is that it?", "Yes, that is it"),
        ("site.login", "vista", "Permission denied (publickey)", "In this order"),
        ("site.environment", "aurora", "can I use conda?", "**Conda:**"),
        ("site.environment", "lumi", "can I use my conda from my mac?", "An environment from another computer"),
        ("site.container", "polaris", "can I use docker images?", "Docker itself no"),
        ("site.localdisk", "polaris", "does the node have nvme?", "Yes, on the nodes of Polaris"),
        ("site.storage", "tuolumne", "can I write checkpoints to workspace too", "workspace: /usr/workspace"),
        ("site.jupyter", "polaris", "how do I get jupyter in that?", "On Polaris"),
    ],
)
def test_the_first_sentence_answers_the_question(topic: str, machine: str, question: str, first: str) -> None:
    told = tell_site(topic, Situation(question, catalogue().clusters[machine]))
    assert told and getattr(told.parts[0], "text", "").startswith(first), told


@pytest.mark.parametrize("machine", sorted(catalogue().clusters))
def test_no_answer_speaks_of_how_its_facts_were_kept(machine: str) -> None:
    told = [tell_site(topic, Situation("how does that go?", catalogue().clusters[machine])) for topic in TELLERS]
    text = " ".join(getattr(part, "text", "") for one in told if one for part in one.parts)
    assert not re.search(r"text index|see corrections|\[NOTES\]|page read here", text)


@pytest.mark.parametrize(
    ("name", "question", "first"),
    [
        ("runtime", "it prints step 1400/50000 after 35 min and limit is 24h", "About 20.2 h more"),
        ("runtime", "it did 5,000 of 10,000 steps in 3 hours, limit 4 h", "About 3.0 h more"),
        ("cancel", "oops, can I get them back?", "No: a cancelled job is gone"),
    ],
)
def test_what_the_words_decide_is_said_first(name: str, question: str, first: str) -> None:
    for situation in (Situation(question), Situation(question, catalogue().clusters["delta"])):
        told = explain_deed(name, situation)
        assert told and getattr(told.parts[0], "text", "").startswith(first)


def test_a_time_that_is_too_short_for_the_steps_is_said() -> None:
    told = explain_deed("runtime", Situation("step 5000/10000 after 3 hours, limit is 4 h"))
    assert told and "It does not fit" in getattr(told.parts[0], "text", "")


ENDS_MORE = ("scancel --", "$(qselect", "bkill 0", "bkill -", "flux cancel --all")


@pytest.mark.parametrize("text", ["how do I cancel it?", "cancel job 5", "kill my run", "cancel everything but job 5"])
@pytest.mark.parametrize("machine", [None, "isambard-ai", "anvil", "polaris", "lassen", "tuolumne"])
def test_for_one_job_nothing_that_ends_others_is_told(text: str, machine: str | None) -> None:
    cluster = catalogue().clusters[machine] if machine else None
    told = words(explain_deed("cancel", Situation(text, cluster, job="5")))
    assert not [part for part in ENDS_MORE if part in told]
    assert ("cancel 5" in told) == (machine not in ("polaris", "lassen") and "but" not in text)


def test_who_would_end_all_is_told_how() -> None:
    assert "scancel --me" in words(explain_deed("cancel", Situation("how do I cancel all my jobs?")))


@pytest.mark.parametrize("place", sorted({place for places in ANSWERERS.values() for place in places}))
def test_each_topic_names_a_function_that_is_there(place: str) -> None:
    assert callable(answerer(place))
