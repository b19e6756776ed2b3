"""What a language model reads of a text: all that decides, and nothing that is a person's, a group's or a project's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from graph.modelling.asking import is_public_name
from knowledge.masking import Masker
from knowledge.masking_table import invented

TEXTS = Path(__file__).with_name("masked_texts.yaml")
NUMBER = re.compile(r"<([A-Za-z]{2,8})_\d+>")


class Pair(NamedTuple):
    text: str
    stands: list[str]
    gone: list[str]


PAIRS = [Pair(**one) for one in yaml.safe_load(TEXTS.read_text(encoding="utf-8"))]


def masker() -> Masker:
    return Masker({}, is_public_name)


@pytest.mark.parametrize("pair", PAIRS, ids=[one.text[:40] for one in PAIRS])
def test_what_decides_stands_and_what_is_private_is_gone(pair: Pair) -> None:
    masked = masker().mask(pair.text)
    shown = NUMBER.sub(lambda found: f"<{found[1].upper()}>", masked.text)
    assert [part for part in map(str, pair.stands) if part not in shown] == [], shown
    assert [part for part in map(str, pair.gone) if part in shown] == [], shown
    assert "KEY" in shown or masked.restore(masked.text) == pair.text


def test_there_are_pairs_enough() -> None:
    assert len(PAIRS) >= 80


def test_a_person_has_one_number_in_every_text_and_turn() -> None:
    first = masker()
    assert first.mask("data of user mvarga7 in /work/hdd/bdxk/mvarga7/x.py").text == (
        "data of user <USER_1> in /work/hdd/bdxk/<USER_1>/x.py"
    )
    later = masker().go_on(first.kept().items())
    assert later.mask("user=ben of bdxk-delta-cpu, train_mvarga7.py").text == (
        "user=<USER_2> of bdxk-delta-cpu, train_<USER_1>.py"
    )


def test_capitals_and_small_letters_are_one_name_and_come_back_as_they_were() -> None:
    text = "user=MVARGA\ncd /lustre/orion/csc618/scratch/mvarga"
    masked = masker().mask(text)
    assert masked.text == "user=<USER_1>\ncd /lustre/orion/csc618/scratch/<user_1>"
    assert masked.restore(masked.text) == text


@pytest.mark.parametrize(
    ("written", "restored"),
    [
        ("#SBATCH -A <ACCOUNT_1>_g", "#SBATCH -A m4471_g"),
        ("#SBATCH -A ACCOUNT_1_g", "#SBATCH -A m4471_g"),
        ("#SBATCH -A <ACCOUNT_1_g>", "#SBATCH -A m4471_g"),
        (
            "project_<ACCOUNT_1> or project_ACCOUNT_1 or <project_ACCOUNT_1>",
            "project_m4471 or project_m4471 or project_m4471",
        ),
        ("sed -i 's/<ACCOUNT_1>/<ACCOUNT_1>_g/' /u/<USER_1>/a.sh", "sed -i 's/m4471/m4471_g/' /u/mvarga/a.sh"),
        ("cd /global/homes/m/USER_1/runs && ls ~USER_1", "cd /global/homes/m/mvarga/runs && ls ~mvarga"),
        ("--account=account_1 <user_1> <Account_1>", "--account=m4471 mvarga m4471"),
        (r"**<ACCOUNT\_1>** and <`ACCOUNT_1`> and `<ACCOUNT_1>`", "**m4471** and m4471 and `m4471`"),
        (r'"\u003cACCOUNT_1\u003e" &lt;USER_1&gt; %3CUSER_1%3E', '"m4471" mvarga mvarga'),
        ("<ACCOUNT 1> <ACCOUNT-1>", "m4471 m4471"),
        ("user_1 = 3; print(user_1, MY_USER_1)", "user_1 = 3; print(user_1, MY_USER_1)"),
        ("<ACCOUNT_7> and ACCOUNT_12 and <HOST_1>", "<ACCOUNT_7> and ACCOUNT_12 and <HOST_1>"),
    ],
)
def test_a_placeholder_comes_back_however_it_is_written(written: str, restored: str) -> None:
    both = masker().go_on([("ACCOUNT_1", "m4471"), ("USER_1", "mvarga")])  # as an older thread has them
    assert both.restore(written) == restored


def test_a_placeholder_that_stands_for_nothing_is_seen() -> None:
    assert invented("-A <ACCOUNT_7> of <USER_1>, <account_1>", {"ACCOUNT_1": "m4471", "USER_1": "mvarga"}) == (
        "ACCOUNT_7",
    )
