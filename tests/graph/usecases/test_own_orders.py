"""A person's own script changed by tagged words: what is put where, what is told, and which of two readings counts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graph.extraction import weighing
from graph.reading.wishes.tagger import Span, Wishes
from graph.usecases import edit_script as module
from graph.usecases.edit_script import Edited, edit_script
from graph.usecases.own_orders import for_a_person, put_tagged, weigh_scripts

SCRIPT = """#!/bin/bash
#SBATCH --nodes=2
#SBATCH --time=04:00:00
#SBATCH --requeue
module load cuda/11.7
srun python train.py --lr 1e-4 --amp
"""
Tags = Callable[..., str]


@pytest.fixture
def tags(monkeypatch: pytest.MonkeyPatch) -> Tags:
    """The words of a message, with its spans as (slot, words) or (slot, words, sign)."""

    def use(text: str, *given: tuple[str, ...], whole: float = 0.9) -> str:
        spans = tuple(
            Span(at, at + len(words), words, slot, sign[0] if sign else "", 0.95)
            for slot, words, *sign in given
            for at in [text.index(words)]
        )
        monkeypatch.setattr(weighing, "orders_of", lambda *_, **__: Wishes("do", 1.0, spans, {}, whole))
        return text

    return use


def put(words: str) -> tuple[list[str], tuple[str, ...]]:
    """The lines that are new, and what is told."""
    found = put_tagged(SCRIPT, words, None)
    assert found is not None
    return [row for row in found[0].text.splitlines() if row not in SCRIPT.splitlines()], found[0].told


def test_each_field_gets_its_line(tags: Tags) -> None:
    words = tags(
        "call it big, 8 hours and cuda/12.4 please",
        ("job_name", "big"),
        ("walltime", "8 hours"),
        ("module", "cuda/12.4"),
    )
    assert put(words) == (["#SBATCH --time=08:00:00", "#SBATCH --job-name=big", "module load cuda/12.4"], ())


def test_an_argument_of_the_script_is_set_once(tags: Tags) -> None:
    words = tags("learning rate must be 5e-5 now", ("arg_name", "learning rate"), ("arg_value", "5e-5"))
    assert put(words) == (["srun python train.py --lr 5e-5 --amp"], ())


def test_an_option_that_is_only_told_by_name_is_none(tags: Tags) -> None:
    words = tags("use a warmup of 5 please", ("arg_name", "warmup"), ("arg_value", "5"))
    found = put_tagged(SCRIPT, words, None)
    assert found is not None and found[0].text == SCRIPT


def test_a_config_file_is_the_value_of_its_option(tags: Tags) -> None:
    words = tags("the config is now b.yaml please", ("framework_config", "b.yaml"))
    found = put_tagged(SCRIPT.replace("--amp", "--cfg a.yaml"), words, None)
    assert found is not None and "--cfg b.yaml" in found[0].text and "a.yaml" not in found[0].text


def test_what_goes_is_taken_out(tags: Tags) -> None:
    words = tags("drop --amp and no requeue any more", ("arg", "--amp", "-"), ("requeue", "requeue", "-"))
    found = put_tagged(SCRIPT, words, None)
    assert found is not None and "--amp" not in found[0].text and "--requeue" not in found[0].text


def test_a_further_program_is_a_line_behind_the_launch(tags: Tags) -> None:
    words = tags("then eval.py --best last.pt after it", ("then", "eval.py --best last.pt"))
    assert put(words)[0] == ["python eval.py --best last.pt"]


def test_what_has_no_place_is_told_with_its_words_and_without_a_callers_ways(tags: Tags) -> None:
    words = tags("start it by torchrun and call it big", ("launcher", "torchrun"), ("job_name", "big"))
    new, told = put(words)
    assert new == ["#SBATCH --job-name=big"]
    assert len(told) == 1 and "*torchrun*" in told[0] and "patch" not in told[0]
    assert for_a_person("lsf has no such option; give it as a patch") == "lsf has no such option"
    assert for_a_person("give the launch line as a patch").startswith("the script has no place")


def test_what_the_rules_read_whole_stays(tags: Tags, monkeypatch: pytest.MonkeyPatch) -> None:
    words = tags("call it big and 8 hours please", ("job_name", "big"), ("walltime", "8 hours"))
    ruled = Edited(SCRIPT.replace("04:", "08:"), ("time",), (words,))
    monkeypatch.setattr("graph.usecases.own_orders.left_open", lambda *_: ())
    assert weigh_scripts(SCRIPT, words, None, ruled) == ruled
    monkeypatch.setattr("graph.usecases.own_orders.left_open", lambda *_: ("big",))
    now = weigh_scripts(SCRIPT, words, None, ruled)
    assert now is not None and "--job-name=big" in now.text and not now.doubtful


def test_an_unsure_reading_is_doubtful(tags: Tags) -> None:
    words = tags("call it big and 8 hours please", ("job_name", "big"), whole=0.4)
    now = weigh_scripts(SCRIPT, words, None, None)
    assert now is not None and now.doubtful  # the hours are open
    few = tags("now call it big please", ("job_name", "big"), whole=0.4)
    now = weigh_scripts(SCRIPT, few, None, None)
    assert now is not None and not now.doubtful


def test_few_words_are_the_rules(tags: Tags) -> None:
    assert put_tagged(SCRIPT, tags("call it big", ("job_name", "big")), None) is None


def test_a_script_is_weighed_wherever_it_is_edited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert module.edit_script is edit_script
    monkeypatch.setattr(module, "by_patterns", lambda *_: None)
    monkeypatch.setattr("graph.usecases.own_orders.weigh_scripts", lambda *_: Edited("new", ()))
    assert edit_script(SCRIPT, "anything", None) == Edited("new", ())


def test_a_launcher_that_no_line_gets_is_named(tags: Tags, monkeypatch: pytest.MonkeyPatch) -> None:
    words = tags("drop --amp and start it by mpiexec please", ("arg", "--amp", "-"), ("launcher", "mpiexec"))
    monkeypatch.setattr(module, "read_wishes", lambda *_: weighing.orders_of())
    now = edit_script(SCRIPT, words, None)
    assert now is not None and "--amp" not in now.text
    told = " ".join((*now.told, *module.left_open(SCRIPT, now, words)))
    assert "mpiexec" in told
