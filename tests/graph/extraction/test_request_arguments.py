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
    "tune my classifier (fit.py --lr 3e-4) with fsdp on lumi": "--lr 3e-4",
    "(python fit.py --grid (1) --x 2) ddp on lumi": "--grid (1) --x 2",
    'start "fit.py --config a.yaml", ddp on delta': "--config a.yaml",
    "delta fsdp 2 nodes, torchrun --nproc_per_node=4 fit.py --bs 8": "--bs 8",
}


@pytest.mark.parametrize("text", SAID)
def test_options_of_the_program(text: str) -> None:
    assert understand(text, None, None, None).request.args == SAID[text]
