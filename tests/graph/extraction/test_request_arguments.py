"""The program's own options, said in a sentence, stay with the program."""

from __future__ import annotations

import pytest

from graph.extraction.request import understand

SAID = {
    "4 nodes of polaris, deepspeed zero3, tune.py --epochs 3": "--epochs 3",
    "run python fit.py --fp16 on perlmutter with 2 nodes ddp": "--fp16",
    "lumi ddp 2 nodes fit.py --data $SCRATCH/x --name 'a b', 3 hours": "--data $SCRATCH/x --name 'a b'",
    "perlmutter ddp 2 nodes, fit.py with arguments --lr 1e-4 --config c.yaml": "--lr 1e-4 --config c.yaml",
    "fit.py --temperature -0.5 --seed=7.": "--temperature -0.5 --seed=7",
    "fsdp on delta, fit.py --nodes 4 --account abc": None,
    "fit.py on delta": None,
}


@pytest.mark.parametrize("text", SAID)
def test_options_of_the_program(text: str) -> None:
    assert understand(text, None, None, None).request.args == SAID[text]
