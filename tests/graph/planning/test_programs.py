"""Programs as people write them, and changes of single arguments."""

from __future__ import annotations

import pytest

from graph.planning.programs import edited, take_apart
from knowledge.errors import InputError
from knowledge.job_parts import ArgumentEdit


@pytest.mark.parametrize(
    ("text", "entry", "kind", "args"),
    [
        ("train.py", "train.py", "script", ()),
        ("train.py --lr 3", "train.py", "script", ("--lr", "3")),
        ("python train.py", "train.py", "script", ()),
        ("python3.11 -u -W ignore train.py --x", "train.py", "script", ("--x",)),
        ("python -m pkg.train --lr 1", "pkg.train", "module", ("--lr", "1")),
        ("-m pkg.train", "pkg.train", "module", ()),
        ("./run.sh a b", "./run.sh", "program", ("a", "b")),
        ("bash run.sh", "bash", "program", ("run.sh",)),
        ("my train.py", "my train.py", "script", ()),
        ("uv run train.py", "train.py", "script", ()),
        ("vllm serve a/b", "vllm", "program", ("serve", "a/b")),
    ],
)
def test_a_program_is_taken_apart(text: str, entry: str, kind: str, args: tuple[str, ...]) -> None:
    started = take_apart(text)
    assert (started.entry, started.kind, started.args) == (entry, kind, args)


def test_what_stands_before_a_program_becomes_a_variable() -> None:
    started = take_apart("OMP_NUM_THREADS=4 python train.py")
    assert [(one.name, one.value) for one in started.variables] == [("OMP_NUM_THREADS", "4")]
    assert started.entry == "train.py"


def test_a_notebook_is_run_as_one() -> None:
    assert take_apart("forecast.ipynb").args[:3] == ("nbconvert", "--to", "notebook")


@pytest.mark.parametrize("text", ["torchrun --nproc 4", "srun -n 4", "python", "-c 'x'", "", "'open"])
def test_what_is_no_program_is_said(text: str) -> None:
    with pytest.raises(InputError):
        take_apart(text)


ARGS = ("--lr", "1e-3", "--batch_size", "8", "--amp", "--betas", "0.9", "0.95", "data")


@pytest.mark.parametrize(
    ("args", "edit", "after"),
    [
        (("--lr", "1"), ArgumentEdit("add", "--seed", "1"), ("--lr", "1", "--seed", "1")),
        (("--seed", "3", "x"), ArgumentEdit("add", "--seed", "1"), ("--seed", "1", "x")),
        (("--lr", "1", "--n", "2"), ArgumentEdit("set", "lr", "3"), ("--lr", "3", "--n", "2")),
        (("--batch_size=8",), ArgumentEdit("set", "--batch-size", "16"), ("--batch_size=16",)),
        (("data=im", "model=a"), ArgumentEdit("set", "model", "b"), ("data=im", "model=b")),
        (("data=im",), ArgumentEdit("add", "optimizer.lr", "2e-4"), ("data=im", "optimizer.lr=2e-4")),
        (("--lr", "-1", "--n", "2"), ArgumentEdit("remove", "--lr"), ("--n", "2")),
        (("--betas", "0.9", "0.95"), ArgumentEdit("set", "--betas", "0.8 0.9"), ("--betas", "0.8", "0.9")),
        ((), ArgumentEdit("add", "lr", "1"), ("--lr", "1")),
        (("a",), ArgumentEdit("add", "", "b c"), ("a", "b", "c")),
        (("--amp", "data"), ArgumentEdit("set", "--amp"), ("--amp", "data")),
    ],
)
def test_one_argument_changes_and_the_others_stay(
    args: tuple[str, ...], edit: ArgumentEdit, after: tuple[str, ...]
) -> None:
    assert edited(args, (edit,)) == after
