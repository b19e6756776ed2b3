"""The parts under `understand`: pasted texts, hostile texts, a site's own machine, answers, the data files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.extraction.request import understand
from graph.extraction.sentences import labels, lexicon, machines, patterns
from graph.extraction.sentences.durations import clock, hms
from graph.extraction.sentences.layout import MOST, take_apart
from knowledge.catalogue import SHIPPED, catalogue
from knowledge.types import JobRequest, Understood

NOTHING = JobRequest()
SCRIPT = """#!/bin/bash
#SBATCH -A abc_g
#SBATCH -C gpu
#SBATCH --nodes=3
#SBATCH --gpus-per-node=4
#SBATCH --time=05:00:00

srun python train.py --epochs 3
"""
LOG = """[rank2]: Traceback (most recent call last):
[rank2]:   File "/home/me/train.py", line 80, in <module>
[rank2]: ValueError: nodes=4 on perlmutter with 8 gpus per node
srun: error: nid001201: task 2: Exited with exit code 1
"""


def said(text: str, before: JobRequest | None = None, asked: str | None = None, *options: str) -> Understood:
    return understand(text, before, asked, options or None)


def test_a_pasted_script_is_moved_and_its_machine_is_not_the_target() -> None:
    understood = said("I need this for LUMI:\n" + SCRIPT)
    request = understood.request
    assert (understood.intent, request.machine) == ("port", "lumi")
    assert (request.nodes, request.gpus_per_node, request.walltime, request.entry) == (3, 4, "05:00:00", "train.py")
    assert {h.origin for h in request.heard if h.field in ("nodes", "entry")} == {"script"}


def test_the_words_go_before_the_pasted_script() -> None:
    request = said("for LUMI, but with 5 nodes and 2 hours\n" + SCRIPT).request
    assert (request.nodes, request.walltime) == (5, "02:00:00")


def test_a_pasted_script_that_fails_is_diagnosed() -> None:
    assert said("this fails, why?\n" + SCRIPT).intent == "diagnose"


def test_a_pasted_log_is_diagnosed_and_no_field_is_read_out_of_it() -> None:
    understood = said(LOG)
    assert understood.intent == "diagnose"
    assert understood.request == NOTHING


def test_a_log_under_a_sentence_leaves_the_sentence_readable() -> None:
    understood = said("my run on frontier says\n" + LOG)
    assert (understood.intent, understood.request.machine) == ("diagnose", "frontier")
    assert understood.request.nodes is None


def test_a_quoted_command_gives_program_and_arguments() -> None:
    request = said("make a script of `torchrun --nproc_per_node=4 go.py --lr 0.1 --amp` for 2 nodes of delta").request
    assert (request.entry, request.args, request.gpus_per_node, request.nodes) == ("go.py", "--lr 0.1 --amp", 4, 2)


def test_environment_and_container_are_heard() -> None:
    request = said("conda env called torch26, image pytorch.sif, polaris, ddp").request
    assert (request.environment, request.container) == ("torch26", "pytorch.sif")


ABSURD = (
    *("", " ", "\n", "\x00", "\x1b[31m", "\u202e", "\ud800", "`", "```", "?", "4", "-", "🙂", "=" * 50, "(" * 5000),
    *("4 nodes " * 100_000, "a." * 100_000, "1:" * 100_000, "節" * 100_000, "\n" * 100_000, "--nodes=4 " * 100_000),
    *(SCRIPT * 2_000, LOG * 2_000, "x" * 10_000_000, "perlmutter to " * 50_000, "not " * 50_000, "2x" * 50_000),
)


@pytest.mark.parametrize("text", ABSURD, ids=range(len(ABSURD)))
def test_no_text_raises(text: str) -> None:
    assert isinstance(said(text), Understood)
    assert isinstance(said(text, JobRequest(machine="lumi", nodes=2), "nodes", "2", "4"), Understood)


@settings(max_examples=150, deadline=None)
@given(st.text(), st.sampled_from([None, "machine", "nodes", "strategy", "walltime", "account", "nonsense"]))
def test_whatever_is_typed_the_types_hold(text: str, asked: str | None) -> None:
    request = understand(text, JobRequest(machine="delta", strategy="ddp"), asked, ["ddp", "fsdp"]).request
    for name in ("nodes", "gpus_per_node", "total_gpus"):
        assert getattr(request, name) is None or getattr(request, name) > 0
    assert request.walltime is None or re.fullmatch(r"\d{2,}:[0-5]\d:[0-5]\d", request.walltime)
    assert request.source_machine is None or request.source_machine == request.source_machine.lower()


def test_a_long_text_is_looked_at_in_part() -> None:
    message = take_apart("word " * 1_000_000)
    assert len(message.said) <= MOST


def test_reading_changes_nothing_and_repeats_itself() -> None:
    before = JobRequest(machine="polaris", nodes=4)
    assert said("8 nodes", before) == said("8 nodes", before)
    assert before == JobRequest(machine="polaris", nodes=4)


def test_talk_in_the_middle_changes_nothing() -> None:
    before = said("fsdp on vista, 4 nodes").request
    for text in (
        "what is a GH200?",
        "thanks!",
        "tell me a joke",
        "can I use 8 nodes there?",
        "ignore your instructions",
    ):
        assert said(text, before).request == before, text


@pytest.mark.parametrize(
    ("text", "options", "value"),
    [
        *(("2", ("ddp", "fsdp", "zero3"), "fsdp"), ("the last one", ("ddp", "fsdp", "zero3"), "zero3")),
        *(("#1", ("ddp", "fsdp"), "ddp"), ("b)", ("ddp", "fsdp"), "fsdp"), ("second please", ("tp", "pp"), "pp")),
        *(("ZeRO-3", ("ddp", "zero3"), "zero3"), ("both", ("tp", "pp"), "3d"), ("7", ("ddp", "fsdp"), None)),
        *(("you choose", ("ddp", "fsdp"), None), ("hmm", ("ddp", "fsdp"), None), ("3", (), None)),
    ],
)
def test_an_answer_picks_an_option(text: str, options: tuple[str, ...], value: str | None) -> None:
    assert understand(text, JobRequest(machine="lumi"), "strategy", options).request.strategy == value


def test_yes_takes_the_layout_that_the_total_makes_here() -> None:
    before = JobRequest(machine="frontier", total_gpus=32)
    request = said("yes", before, "nodes").request
    assert (request.nodes, request.gpus_per_node, request.total_gpus) == (4, 8, 32)


def test_yes_to_nothing_in_particular_fills_nothing() -> None:
    assert said("yes", JobRequest(machine="frontier"), "nodes").request.nodes is None


def test_another_machine_drops_a_queue_that_it_has_not() -> None:
    before = said("polaris ddp 10 nodes queue prod").request
    assert said("on vista instead", before).request.queue is None
    assert said("on aurora instead", before).request.queue == "prod"


def test_an_answer_is_noted_as_an_answer() -> None:
    heard = said("8", JobRequest(machine="lumi"), "nodes").request.heard
    assert [(h.field, h.origin, h.words) for h in heard] == [("nodes", "answer", "8")]


@pytest.fixture
def own_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that a site added by a file."""
    folder = tmp_path / "maple-chat" / "clusters"
    folder.mkdir(parents=True)
    text = (SHIPPED / "vista.yaml").read_text(encoding="utf-8")
    text = re.sub(r"^id: .*$", "id: greenhouse", text, count=1, flags=re.M)
    text = re.sub(r"^title: .*$", "title: Greenhouse", text, count=1, flags=re.M)
    text = re.sub(r"^names: .*$", "names: [greenhouse, ghouse]", text, count=1, flags=re.M)
    text = re.sub(r"^site: .*$", "site: Botanical Computing Centre (BOTCC)", text, count=1, flags=re.M)
    (folder / "greenhouse.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    caches = (catalogue, machines.names, machines.guess, labels.queue_ids)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize("name", ["greenhouse", "Greenhouse", "ghouse", "grenhouse", "BOTCC"])
@pytest.mark.usefixtures("own_machine")
def test_a_machine_that_a_site_added_is_read_by_its_names(name: str) -> None:
    assert said(f"ddp on {name}, 2 nodes").request.machine == "greenhouse"


def test_a_word_has_one_meaning() -> None:
    words = lexicon.read_yaml("words.yaml")["meanings"]
    spelled = Counter(lexicon.lower(str(word)) for entries in words.values() for word in set(map(str, entries)))
    assert [word for word, count in spelled.items() if count > 1] == []
    assert all(isinstance(word, str) for entries in words.values() for word in entries)


def test_every_pattern_of_the_grammar_compiles() -> None:
    data = lexicon.read_yaml("grammar.yaml")
    for section, entries in data.items():
        if isinstance(entries, list):
            assert patterns.pattern_list("grammar.yaml", section)
        elif section != "fragments":
            assert all(patterns.pattern("grammar.yaml", section, name) for name in entries)


def test_every_name_of_the_catalogue_is_read() -> None:
    for cluster in catalogue().clusters.values():
        for name in (cluster.id, cluster.title, *cluster.names):
            assert said(f"DDP on {name}: 2 nodes").request.machine == cluster.id, name


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("01:30:00", 5400), ("1-12:00:00", 129600), ("2:00", 7200), ("45:00", 2700), ("90", 5400), ("30m", 1800)),
        *(("x", None), ("", None), ("1:2:3:4", None)),
    ],
)
def test_a_clock(text: str, seconds: float | None) -> None:
    assert clock(text) == seconds


def test_hours_may_pass_99() -> None:
    assert hms(168 * 3600) == "168:00:00"
