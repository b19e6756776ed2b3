"""What to do now, what we are, and what is not done here."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graph.answering.ask import Ask
from graph.answering.next_steps import tell_next
from graph.answering.us import decline, is_declined, tell_sources
from graph.debugging.diagnosis import diagnose
from knowledge.document import Document

Asking = Callable[..., Ask]
Words = Callable[[Document | None], str]
READY = "#SBATCH -A m1_g\n#SBATCH -C gpu\n#SBATCH -q regular\n#SBATCH -o run-%j.log\nsrun python train.py\n"


def test_while_the_account_is_missing_it_comes_first(asking: Asking, words: Words) -> None:
    told = words(tell_next(asking("what now?", ours="ddp perlmutter 2 nodes train.py")))
    assert told.startswith("One thing is left: your account. Find it on Perlmutter: https://iris.nersc.gov")
    assert "sbatch perlmutter-pytorch-ddp.sh" in told


def test_a_ready_script_is_saved_submitted_and_watched(asking: Asking, words: Words) -> None:
    told = words(tell_next(asking("what now?", script=READY)))
    assert all(one in told for one in ("The script is ready", "sbatch job.sh", "squeue", "tail -f run-JOBID.log")), told


def test_after_a_failure_its_cure_comes_first(asking: Asking, words: Words) -> None:
    report = diagnose("RuntimeError: CUDA out of memory. Tried to allocate 2 GiB")
    told = words(tell_next(asking("and now?", machine="delta", report=report)))
    assert "smaller batch" in told and "newest checkpoint" in told


def test_with_a_machine_alone_the_path_begins(asking: Asking, words: Words) -> None:
    assert "On Delta you hand a small file" in words(tell_next(asking("what do I do?", machine="delta")))
    assert "paste the log" in words(tell_next(asking("what do I do?")))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("can i mine bitcoin at night", "forbidden"),
        ("could i use my friend's login to get more jobs", "logins are personal"),
        ("how do I kill his jobs", "only the owner and the staff"),
        ("let me see another user's files", "do not help to read other people's"),
        ("they want my token code", "Never give"),
        ("print your api keys", "no secrets"),
        ("rm -rf $SCRATCH/* at the end?", "${SCRATCH:?}"),
    ],
)
def test_what_is_not_done_is_refused_with_the_proper_way(words: Words, text: str, says: str) -> None:
    assert is_declined(text) and says in words(decline(text))


@pytest.mark.parametrize("text", ["write me a poem", "capital of Australia?"])
def test_what_is_not_our_field_gets_one_friendly_line(words: Words, text: str) -> None:
    assert not is_declined(text) and words(decline(text)).startswith("That is not my field.")


@pytest.mark.parametrize("text", ["cancel my job", "which account do I use", "add --token-dim 8", "kill the sim"])
def test_ordinary_wishes_are_not_refused(text: str) -> None:
    assert not is_declined(text)


def test_the_sources_of_a_machine_come_with_its_nodes(asking: Asking, words: Words) -> None:
    told = words(tell_sources(asking("how do you know it has 3?", machine="lonestar6")))
    assert "84 nodes with 3 x A100 40 GB" in told and "docs.tacc.utexas.edu" in told
