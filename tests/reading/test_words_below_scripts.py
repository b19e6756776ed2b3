"""Words above and below a pasted script are words, in whatever language and with what signs of a shell."""

from __future__ import annotations

import pytest

from graph.reading.message import take_apart

JOB = "#!/bin/bash\n#SBATCH -N 2\nmodule use /soft/modules\nexport A_B=3\nsrun python t.py --lr 1e-3 \\\n    --out $OUT"
SAID = (
    "use 4 nodes, lr=2e-4",
    "mets 4 noeuds et --lr 2e-4",
    "zmień --lr na 2e-4",
    "поменяй --lr на 2e-4",
    "改成 4 个节点,--lr 2e-4",
    "--lr 2e-4 も追加して",
    "--lr 2e-4 instead",
    "$SCRATCH/x als /data einbinden",
    "A_B=5 bitte",
    "source keys.sh zuerst",
)


@pytest.mark.parametrize("said", SAID)
def test_words_are_no_line_of_the_script(said: str) -> None:
    for text in (f"{JOB}\n{said}", f"{JOB}\n\n{said}", f"{said}\n{JOB}"):
        message = take_apart(text)
        assert message.words == said and message.scripts[0].text.strip() == JOB, text


def test_a_file_that_is_sourced_is_not_the_script() -> None:
    assert take_apart(f"please source ~/keys.sh first\n\n{JOB}").scripts[0].name == "job.sh"


@pytest.mark.parametrize(
    "said",
    [
        "Dopisz jeszcze taką linijkę, dokładnie tak jak jest: #SBATCH --hint=nomultithread",
        "the admins want me to have the line #PBS -l place=excl exactly like that",
        'I must add #SBATCH --comment="proj:sea;dmp=yes" as it is, nothing else in my script',
    ],
)
def test_a_line_that_is_wanted_is_no_script(said: str) -> None:
    alone, with_script = take_apart(said), take_apart(f"{said}\n{JOB}")
    assert alone.words == said and not alone.scripts
    assert with_script.words == said and [one.text.strip() for one in with_script.scripts] == [JOB]


def test_a_line_that_is_asked_about_and_several_are_one() -> None:
    assert take_apart("is this valid? #SBATCH --gpus=8").scripts
    assert len(take_apart("I have #SBATCH --gpus=8 and #SBATCH -N 2").scripts[0].text.splitlines()) == 2
