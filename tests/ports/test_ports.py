"""Five scripts on nine clusters: ported, checked, sound to bash and shellcheck, and there and back."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graph.extraction.script import read_script
from graph.extraction.script_record import understand_script
from graph.porting.parts import user_part
from graph.porting.port import Ported, port
from graph.verification.checks import check

HERE = Path(__file__).parent
spec = importlib.util.spec_from_file_location("ports_make", HERE / "make.py")
assert spec and spec.loader
make = importlib.util.module_from_spec(spec)
sys.modules["ports_make"] = make
spec.loader.exec_module(make)

GRID = tuple(make.grid())
SHELLCHECK = shutil.which("shellcheck", path=str(Path(sys.executable).parent)) or shutil.which("shellcheck")


@pytest.mark.parametrize(("model", "target"), GRID)
def test_a_port_has_no_error_and_keeps_ranks_and_strategy(model: str, target: str) -> None:
    made = make.ported(model, target)
    findings = check(made.bundle.script, make.cluster(target))
    assert [one for one in findings if one.severity == "error"] == []
    before = made.record
    assert made.plan.strategy == (before.strategy or "ddp")
    # A program of the Hugging Face Trainer takes DeepSpeed by an argument of its own, so it is planned as such.
    assert made.plan.framework in (before.framework, "hf-trainer")
    again = understand_script(made.bundle.script)
    assert (again.nodes, again.walltime) == (made.plan.nodes, before.walltime)
    if (model, target) != ("bert-base", "anvil"):
        assert made.plan.ranks == before.nodes * before.gpus_per_node


@pytest.mark.parametrize("target", make.CLUSTERS)
def test_bash_and_shellcheck_find_nothing(target: str, tmp_path: Path) -> None:
    if SHELLCHECK is None:
        pytest.skip("shellcheck is not installed")
    for model in make.TITLES:
        path = tmp_path / f"{model}.sh"
        path.write_text(make.ported(model, target).bundle.script)
        assert subprocess.run(["bash", "-n", path], capture_output=True, text=True, check=False).stderr == ""
    # SC1091: the user's environment is not here. SC2016: '...' is meant for the task's shell. The others: lines of
    # theirs that stand as they stood.
    words = [
        SHELLCHECK,
        "--shell=bash",
        "--exclude=SC1091,SC2016,SC2086,SC2164,SC2206,SC2207,SC2034",
        *sorted(tmp_path.glob("*.sh")),
    ]
    assert subprocess.run(words, capture_output=True, text=True, check=False).stdout == ""


def letters(text: str, machine: str) -> tuple[object, ...]:
    """The user's part of a script as it can be compared."""
    home = make.cluster(machine)
    part = user_part(read_script(text), home, home)
    assert part is not None
    variables = {one.name: (one.value, one.expand) for one in part.variables}
    return part.entry, part.is_module, part.args, variables, part.files


@pytest.mark.parametrize(("model", "target"), [one for one in GRID if one != ("bert-base", "anvil")])
def test_there_and_back_keeps_the_users_part_to_the_letter(model: str, target: str) -> None:
    machine, text = make.sources()[model]
    there = make.ported(model, target)
    back = port(there.bundle.script, make.cluster(machine))
    assert isinstance(back, Ported)
    assert letters(back.bundle.script, machine) == letters(text, machine)
    again = port(back.bundle.script, make.cluster(target))
    assert isinstance(again, Ported)
    assert letters(again.bundle.script, target) == letters(there.bundle.script, target)


def test_fewer_ranks_come_back_with_the_accumulation_that_keeps_the_batch() -> None:
    made = make.ported("bert-base", "anvil")
    assert made.plan.ranks == 8
    assert made.plan.args[made.plan.args.index("--gradient_accumulation_steps") + 1] == "2"
    assert any("the global batch stays 512" in note.says for note in made.notes)


def test_the_page_says_what_is_ported_today() -> None:
    kept = make.kept_rows()
    for model, target in GRID:
        told, _ = make.row(model, target)
        old = kept.get((told.model, told.target))
        assert old is not None, "run tests/ports/make.py and read the diff"
        assert (old.strategy, old.layout, old.launch, old.check) == (
            told.strategy,
            told.layout,
            told.launch,
            told.check,
        )
    assert make.PAGE.read_text() == make.page([kept[key] for key in kept])


@pytest.mark.parametrize(
    ("model", "target"), [("gpt2-xl", "lonestar6"), ("llama-3.1-8b", "aurora"), ("bert-base", "vista")]
)
def test_some_rehearsals_form_all_ranks(model: str, target: str) -> None:
    for name in ("torch", "deepspeed", "accelerate"):
        pytest.importorskip(name, reason=f"the rehearsal needs {name}")
    told, made = make.row(model, target)
    assert make.rehearsed(told, made, target).rehearsal == f"{made.plan.ranks} ranks"
